"""Several runs in one table, in a folder or behind a pattern; ranks in place of scores; names of columns by side."""

import io
import itertools
import json
import os
import pathlib
import pickle

import pytest

import fastir

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}
RUNS = {
    "bm25": {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d1": 0.5, "d9": 0.75}},
    "dense": {"q2": {"d1": 9.0}, "q1": {"d1": 0.1 + 0.2, "d7": 0.3}},
}
METRICS = ["ndcg@10", "map"]
ROWS = [(run, q, d, s) for run, queries in RUNS.items() for q, docs in queries.items() for d, s in docs.items()]
NAMES = ("system", "query_id", "doc_id", "score")


def long_table(order=range(7), names=NAMES):
    return pyarrow.table(dict(zip(names, zip(*(ROWS[row] for row in order), strict=True), strict=True)))


def expected(**options):
    return fastir.evaluate_many(QRELS, RUNS, METRICS, **options)


# ---- one long table ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", [range(7), [6, 0, 5, 1, 4, 2, 3]], ids=["grouped", "mixed"])
@pytest.mark.parametrize("shape", ["arrow", "pandas", "polars", "dict", "dataset", "reader"])
def test_a_table_of_several_runs(shape, order):
    table = long_table(order)
    made = {
        "arrow": lambda: table, "pandas": lambda: pytest.importorskip("pandas") and table.to_pandas(),
        "polars": lambda: pytest.importorskip("polars").DataFrame(table), "dict": table.to_pydict,
        "dataset": lambda: pytest.importorskip("pyarrow.dataset").dataset(table), "reader": table.to_reader,
    }[shape]()  # fmt: skip
    results = fastir.evaluate_many(QRELS, made, METRICS)
    assert list(results) == list(dict.fromkeys(ROWS[row][0] for row in order))
    assert dict(results) == dict(expected())


@pytest.mark.parametrize("format", ["parquet", "csv", "jsonl"])
def test_a_file_of_several_runs(tmp_path, format):
    path = tmp_path / f"runs.{format}"
    if format == "parquet":
        parquet.write_table(long_table(), path)
    elif format == "csv":
        path.write_text("".join(",".join(map(str, row)) + "\n" for row in [NAMES, *ROWS]))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in long_table().to_pylist()))
    assert dict(fastir.evaluate_many(QRELS, path, METRICS)) == dict(expected())
    if format == "parquet":
        assert dict(fastir.evaluate_many(QRELS, io.BytesIO(path.read_bytes()), METRICS)) == dict(expected())


def test_names_of_runs_may_be_numbers_or_another_column():
    table = {"k": [7, 7, 8], "query_id": ["q1", "q2", "q1"], "doc_id": ["d1"] * 3, "score": [1.0, 2.0, 3.0]}
    results = fastir.evaluate_many(QRELS, table, "map", columns={"run": "k"}, queries="qrels")
    assert {name: round(found["map"], 9) for name, found in results.items()} == {7: 1.0, 8: 0.5}


def test_a_table_without_a_column_of_runs():
    table = long_table().drop_columns("system")
    message = "runs: the table has no column 'run' or 'system' or 'run_id' or 'system_id'; it has 'query_id'"
    with pytest.raises(ValueError, match=message):
        fastir.evaluate_many(QRELS, table, METRICS)


def test_errors_of_a_run_name_it_and_its_row():
    table = pyarrow.concat_tables([long_table(), long_table([5])])
    with pytest.raises(fastir.DuplicateError, match=r"^run .dense.: run: duplicate document .*, in rows 5 and 7"):
        fastir.evaluate_many(QRELS, table, METRICS)
    with pytest.warns(fastir.FastirWarning, match=r"^run 'dense': 1 duplicate was repaired \(row 7\)"):
        results = fastir.evaluate_many(QRELS, table, METRICS, duplicates="first")
    assert "duplicates" in results["dense"].report.repairs
    assert "duplicates" not in results["bm25"].report.repairs


# ---- folders and patterns ------------------------------------------------------------------------------------------
def test_judgments_in_a_folder_of_runs_are_no_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("runs").mkdir()
    for name, text in {"qrels": "q 0 a 1", "x.run": "q Q0 a 1 2 t", "y.run": "q Q0 b 1 2 t\nq Q0 a 2 1 t"}.items():
        pathlib.Path("runs", name).write_text(text + "\n")
    qrels = pathlib.Path("runs/../runs/qrels")
    calls = [
        lambda runs: fastir.evaluate_many(qrels, runs, "mrr"),
        lambda runs: fastir.Evaluator(qrels, "mrr").evaluate_many(runs),
        lambda runs: fastir.compare(qrels, runs, "mrr").runs,
        lambda runs: fastir.contributions(qrels, runs).teams,
        lambda runs: fastir.leave_one_out(qrels, runs, "mrr").results,
    ]
    for call, runs in itertools.product(calls, ["runs", "runs/*", ["runs"]]):
        with pytest.warns(fastir.FastirWarning, match=r"runs.qrels holds the judgments, and is not taken for a run of"):
            assert list(call(runs)) == ["x", "y"]
    with pytest.raises(fastir.FormatError, match=r"runs.q\*: no file was found except the judgments"):
        fastir.evaluate_many(qrels, "runs/q*", "mrr")


def test_a_folder_or_a_pattern_is_a_run_for_each_file(tmp_path):
    for name, run in RUNS.items():
        fastir.Run.from_dict(run).save(tmp_path / f"{name}.parquet")
    fastir.Run.from_dict(RUNS["bm25"]).save(tmp_path / "third.txt")
    (tmp_path / "_SUCCESS").touch()
    wanted = {**expected(), "third": expected()["bm25"]}
    assert dict(fastir.evaluate_many(QRELS, tmp_path, METRICS)) == wanted
    assert dict(fastir.evaluate_many(QRELS, f"{tmp_path}/*", METRICS)) == wanted
    assert list(fastir.evaluate_many(QRELS, f"{tmp_path}/*.txt", METRICS)) == ["third"]
    assert list(fastir.evaluate_many(QRELS, f"file://{tmp_path}", METRICS)) == list(wanted)
    with pytest.raises(fastir.FormatError, match="no file was found"):
        fastir.evaluate_many(QRELS, f"{tmp_path}/*.gz", METRICS)
    with pytest.raises(TypeError, match=r"a table with a column of runs, got the file .*third\.txt of a single run"):
        fastir.evaluate_many(QRELS, tmp_path / "third.txt", METRICS)


def test_hive_partitions_by_system_are_runs_and_others_one(tmp_path):
    for name, run in RUNS.items():
        for query, docs in run.items():
            folder = tmp_path / "all" / f"system={name}" / f"query_id={query}"
            folder.mkdir(parents=True)
            table = pyarrow.table({"doc_id": list(docs), "score": list(docs.values())})
            parquet.write_table(table, folder / "0.parquet")
    results = fastir.evaluate_many(QRELS, tmp_path / "all", METRICS)
    assert {name: found.to_dict() for name, found in results.items()} == {
        name: found.to_dict() for name, found in expected().items()
    }
    (only,) = fastir.evaluate_many(QRELS, tmp_path / "all" / "system=dense", METRICS).values()
    assert dict(only) == dict(expected()["dense"])


# ---- ranks ---------------------------------------------------------------------------------------------------------
RANKED = {"query_id": ["q1", "q1", "q2", "q2"], "doc_id": ["d2", "d1", "d9", "d1"], "rank": [1, 2, 1, 2]}


@pytest.mark.parametrize("options", [{}, {"duplicates": "first"}, {"convention": "ranx"}, {"n_threads": 2}], ids=str)
def test_ranks_stand_in_for_scores_and_the_report_says_so(options):
    results = fastir.evaluate(QRELS, RANKED, METRICS, **options)
    assert results.to_dict() == fastir.evaluate(QRELS, RUNS["bm25"], METRICS, **options).to_dict()
    assert results.report.repairs == {"ranks as scores": (4, "the run")}
    assert "repaired: ranks as scores" in repr(results.report)


def test_ranks_in_a_file_and_in_a_table_of_runs(tmp_path):
    parquet.write_table(pyarrow.table(RANKED), tmp_path / "run.parquet")
    assert fastir.Run.from_file(tmp_path / "run.parquet")["q1"] == {"d2": -1.0, "d1": -2.0}
    (results,) = fastir.evaluate_many(QRELS, {"run": ["x"] * 4, **RANKED}, METRICS).values()
    assert results == fastir.evaluate(QRELS, tmp_path / "run.parquet", METRICS)


def test_scores_go_before_ranks_and_columns_say_which():
    both = {**RANKED, "score": [1.0, 2.0, 1.0, 2.0]}
    by_score, by_rank = ({"d2": 1.0, "d1": 2.0}, {"d2": -1.0, "d1": -2.0})
    assert fastir.Run.from_table(both)["q1"] == by_score
    assert fastir.Run.from_table(both, {"rank": "rank"})["q1"] == by_rank
    assert fastir.Run.from_table({**RANKED, "place": [2, 1, 2, 1]}, {"rank": "place"})["q1"] == {"d2": -2.0, "d1": -1.0}
    assert fastir.Run.from_table(RANKED, {"score": "rank"})["q1"] == {"d2": 1.0, "d1": 2.0}
    with pytest.raises(ValueError, match="no column 'score' or 'prediction' or 'similarity' or 'rank'"):
        fastir.Run.from_table({"query_id": ["q"], "doc_id": ["d"]})


# ---- names of columns by side --------------------------------------------------------------------------------------
def test_columns_of_one_side_go_before_those_of_both():
    qrels = {"topic": ["q1", "q1", "q2"], "d": ["d1", "d2", "d1"], "grade": [1, 0, 2]}
    run = pyarrow.table(
        {"topic": ["q1", "q1", "q2", "q2"], "passage": ["d2", "d1", "d1", "d9"], "s": [3, 2, 0.5, 0.75]}
    )
    options = {
        "columns": {"query_id": "topic", "doc_id": "d"},
        "qrels_columns": {"label": "grade"},
        "run_columns": {"doc_id": "passage", "score": "s"},
    }
    results = fastir.evaluate(qrels, run, METRICS, **options)
    assert results == expected()["bm25"]
    evaluator = fastir.Evaluator(qrels, METRICS, **options)
    assert evaluator.evaluate(run) == pickle.loads(pickle.dumps(evaluator)).evaluate(run) == results
    assert dict(fastir.evaluate_many(qrels, {"bm25": run}, METRICS, **options)) == {"bm25": results}
    pytest.importorskip("scipy")
    assert fastir.compare(qrels, {"a": run, "b": run}, METRICS, test="sign", **options).pairs[0].difference == 0


# ---- all values as one table ---------------------------------------------------------------------------------------
LONG = ["run", "query_id", "metric", "value"]


def test_results_of_runs_are_a_long_table():
    results = expected()
    rows = [(run, q, m, v) for run, of in results.items() for q, row in of.to_dict().items() for m, v in row.items()]
    table = results.to_arrow(per_query=True)
    assert table.column_names == LONG and [tuple(row.values()) for row in table.to_pylist()] == rows
    assert fastir.ResultsByRun().to_arrow(per_query=True).schema == table.schema
    pytest.importorskip("pandas")
    frame = results.to_pandas(per_query=True)
    assert list(frame.columns) == LONG and list(frame.itertuples(index=False, name=None)) == rows
    assert results.to_pandas().shape == (2, 2), "the means"


def test_a_long_table_of_runs_with_names_of_any_kind():
    results = fastir.evaluate_many({1: {7: 1}}, {("k1", 0.9): {1: {7: 2.0}}, 3: {1: {7: 2.0}}}, "map")
    assert results.to_arrow(per_query=True).to_pydict() == {
        "run": ["('k1', 0.9)", "3"], "query_id": [1, 1], "metric": ["map"] * 2, "value": [1.0, 1.0]
    }  # fmt: skip
    numbered = fastir.evaluate_many({1: {7: 1}}, {3: {1: {7: 2.0}}}, "map").to_arrow(per_query=True)
    assert numbered["run"].to_pylist() == [3]
    pytest.importorskip("pandas")
    assert results.to_pandas(per_query=True)["run"].tolist() == [("k1", 0.9), 3]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links")
def test_links_among_the_runs_of_a_folder(tmp_path):
    """Loops are walked once; a link that leads to no file is named, and not left out."""
    qrels, folder = {"q1": {"d1": 1}}, tmp_path / "runs"
    (folder / "b").mkdir(parents=True)
    for name in ("r.txt", "b/s.txt"):
        (folder / name).write_text("q1 Q0 d1 1 1.0 x\n")
    for name in ("one", "two"):
        (folder / name).symlink_to(".")
    for pattern in ("runs/**/*.txt", "runs/**", "**/*.txt", "r*/**/**/*.txt"):
        assert list(fastir.evaluate_many(qrels, tmp_path / pattern, "mrr")) == ["s", "r"], pattern
    (folder / "gone.txt").symlink_to("no where")
    for place in ("runs", "runs/*.txt", "runs/**/*.txt", "runs/**"):
        with pytest.raises(fastir.FormatError, match=r"runs/gone\.txt: the link leads to 'no where', which does not"):
            fastir.evaluate_many(qrels, tmp_path / place, "mrr")


def test_a_list_of_runs_has_their_names_or_numbers():
    run = {"q": {"a": 1.0}}
    named = [fastir.Run.from_dict(run, name="x"), run]
    assert list(fastir.evaluate_many({"q": {"a": 1}}, named, "mrr")) == ["x", "2"]
    assert list(fastir.evaluate_many({"q": {"a": 1}}, [named[0], named[0]], "mrr")) == ["1", "2"]
    assert fastir.compare({"q": {"a": 1}}, [run, run], "mrr", test="sign").runs == ["1", "2"]
