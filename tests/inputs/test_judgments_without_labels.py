"""Judgments without labels: all that a table of queries and documents lists is relevant."""

import gzip

import pytest

import fastir
from fastir.cli import main

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
ROWS = [("u1", "a"), ("u1", "c"), ("u2", "b")]
FRAME = pandas.DataFrame(ROWS, columns=["user_id", "item_id"])
TIMES = FRAME.assign(time=[3, 1, 2])
RUN = {"u1": {"a": 2.0, "b": 1.0}, "u2": {"b": 1.0}}
LABELLED = {"u1": {"a": 1, "c": 1}, "u2": {"b": 1}}
CONTAINERS = {
    "frame": lambda frame: frame,
    "objects": lambda frame: frame.astype(object),
    "categories": lambda frame: frame.astype({"user_id": "category", "item_id": "category"}),
    "many rows": lambda frame: frame.astype("string[pyarrow]"),
    "polars": polars.from_pandas,
    "arrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False),
    "dict of lists": lambda frame: frame.to_dict("list"),
    "dict of arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
}


def write(frame, suffix, folder):
    """The path of a file with the frame."""
    path = str(folder / f"rows{suffix}")
    if suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_tables_of_two_columns_say_what_is_relevant(make):
    results = fastir.evaluate(make(FRAME), RUN, ["map", "ndcg@2"])
    assert results == fastir.evaluate(LABELLED, RUN, ["map", "ndcg@2"])
    assert results.report.repairs["rows without a label"] == (3, "label 1")


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_an_option_is_the_label_of_tables_with_more_columns(make):
    table = make(TIMES if make is not CONTAINERS["many rows"] else FRAME.assign(time="x").astype("string[pyarrow]"))
    doubled = {query: dict.fromkeys(docs, 2) for query, docs in LABELLED.items()}
    assert fastir.Qrels.from_table(table, label=2).to_dict() == doubled
    with pytest.raises(ValueError, match=r"no column 'label'.*label=1 says that all rows are relevant"):
        fastir.evaluate(table, RUN, "map")
    results = fastir.evaluate(table, RUN, "map", label=1)
    assert results["map"] == fastir.evaluate(LABELLED, RUN, "map")["map"]


@pytest.mark.parametrize("rows", [ROWS, iter(ROWS), list(map(list, ROWS)), (row for row in ROWS)])
def test_tuples_of_two_say_what_is_relevant(rows):
    assert fastir.Qrels.from_table(rows).to_dict() == LABELLED


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_files_of_tables_are_read_alike(suffix, tmp_path, capsys):
    assert fastir.Qrels.from_file(write(FRAME, suffix, tmp_path)).to_dict() == LABELLED
    path = write(TIMES, suffix, tmp_path)
    assert fastir.Qrels.from_file(path, label=1).to_dict() == LABELLED
    fastir.Run.from_dict(RUN).save(tmp_path / "run.json")
    command = [path, str(tmp_path / "run.json")]
    assert main(["eval", *command, "-m", "map"]) != 0
    assert "--columns label=NAME tells which it is; --label 1 says" in capsys.readouterr().err
    assert main(["eval", *command, "-m", "map", "--label", "1"]) == 0
    assert "0.7500" in capsys.readouterr().out
    assert main(["check", *command, "--label", "1"]) == 0


def test_other_calls_take_the_label():
    assert fastir.Evaluator(TIMES, "map", label=1).evaluate(RUN)["map"] == 0.75
    assert "0.7500" in str(fastir.compare(TIMES, {"x": RUN, "y": RUN}, "map", label=1))
    checked = fastir.check(TIMES, {"x": RUN}, label=1)
    assert checked.ok
    assert [fault.text for fault in checked.of(kind="rows without a label")] == ["all 3 rows are relevant (label 1)"]


@pytest.mark.parametrize(("qrels", "options", "message"), [
    (FRAME.assign(label=1), {"label": 1}, "label=1 is for tables without labels; the qrels have a column 'label'"),
    (TIMES, {"label": 1, "columns": {"label": "time"}}, "columns names one, 'time'"),
    (TIMES, {"label": 0}, "label must be above 0"),
    (LABELLED, {"label": 1}, "the qrels are a dict"),
    ([("u1", "a", 1)], {"label": 1}, "the qrels are tuples with labels"),
    ([*ROWS, ("u2", "c", 1)], {}, r"row 3: expected a tuple \(query_id, doc_id\)"),
    ([("u2", "c", 1), *ROWS], {}, r"row 1: expected a tuple \(query_id, doc_id, label\)"),
    ([*ROWS, ("u2", None)], {}, "row 3: .*None"),
    ([*ROWS, ROWS[0]], {}, "duplicate document 'a' in query 'u1', in rows 0 and 3"),
])  # fmt: skip
def test_what_contradicts_is_refused(qrels, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fastir.evaluate(qrels, RUN, "map", **options)


def test_a_threshold_needs_ratings():
    with pytest.raises(ValueError, match="threshold is for ratings"):
        fastir.Qrels.from_table(FRAME, threshold=3)


PAIRS = "u1 a\nu1\tc\n\n# of two\nu2  b \n"


@pytest.mark.parametrize("text", [PAIRS, PAIRS.replace("\n", "\r\n"), PAIRS.rstrip(), "\ufeff" + PAIRS])
@pytest.mark.parametrize("name", ["pairs", "pairs.tsv", "pairs.gz"])
def test_files_of_two_fields_say_what_is_relevant(name, text, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    expected = fastir.evaluate(LABELLED, RUN, ["map", "ndcg@2"])
    for results in (
        fastir.evaluate(path, RUN, ["map", "ndcg@2"]),
        fastir.Evaluator(path, ["map", "ndcg@2"]).evaluate(RUN),
        fastir.evaluate_many(path, {"r": RUN}, ["map", "ndcg@2"])["r"],
    ):
        assert results.values.tobytes() == expected.values.tobytes()
        assert results.report.repairs["rows without a label"] == (3, "label 1")
    doubled = {query: dict.fromkeys(docs, 2) for query, docs in LABELLED.items()}
    assert fastir.Qrels.from_file(path, label=2).to_dict() == doubled
    assert fastir.check(path, RUN).of(kind="rows without a label")[0].text == "all 3 rows are relevant (label 1)"


def test_the_command_takes_files_of_two_fields(tmp_path, capsys):
    (tmp_path / "pairs.txt").write_text(PAIRS)
    fastir.Run.from_dict(RUN).save(tmp_path / "run.json")
    command = [str(tmp_path / "pairs.txt"), str(tmp_path / "run.json"), "--label", "2"]
    assert main(["eval", *command, "-m", "map"]) == 0
    assert "0.7500" in capsys.readouterr().out
    assert main(["check", *command]) == 0
    assert main(["eval", command[0], command[0], "-m", "map"]) != 0
    assert "are judgments without labels, no run; a run needs scores" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "message"), [
    ("q 1\nr 0\n", "1: malformed qrels line with 2 fields.*format='pairs'"),  # labels?
    ("q .5\nr .25\n", "1: malformed qrels line with 2 fields.*format='pairs'"),  # weights?
    ("q,1 a\nr,2 b\n", "1: malformed qrels line with 2 fields"), ("query doc\nq a\n", "1: .*header"),
    ("q: a\nr: b\n", "1: .*YAML"), ("q a\nq 0 b 1\n", "1: malformed qrels line with 2 fields.*format='pairs'"),
    ("q 0 b 1\nq a\n", "2: malformed qrels line with 2 fields"),
    ("".join(f"q d{n}\n" for n in range(300)) + "q 0 b 1\n",
     "301: malformed pairs line with 4 fields, expected exactly 2"),
    ("".join(f"q d{n}\n" for n in range(300)) + "q\n", "301: malformed pairs line with 1 field"),
    ("q a\nq b\nq a\n", "3: duplicate document 'a' in query 'q', first on line 1"),
])  # fmt: skip
def test_no_file_that_may_be_something_else_is_taken_for_pairs(text, message, tmp_path):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises((fastir.FormatError, fastir.DuplicateError), match=message):
        fastir.evaluate(path, RUN, "map")


def test_whole_numbers_are_documents_and_an_option_takes_any(tmp_path):
    path = tmp_path / "file"
    path.write_text("q 25\nr 7\n")
    assert fastir.Qrels.from_file(path).to_dict() == {"q": {"25": 1}, "r": {"7": 1}}
    path.write_text("q 1\nr 0\n")
    assert fastir.Qrels.from_file(path, "pairs").to_dict() == {"q": {"1": 1}, "r": {"0": 1}}
    with pytest.raises(fastir.FormatError, match=r"a run needs scores, or the rank behind them and format='msmarco'"):
        fastir.Run.from_file(path)
    with pytest.raises(ValueError, match="format 'pairs' is for qrels"):
        fastir.Run.from_file(path, "pairs")


@pytest.fixture
def written_sides(tmp_path):
    """Qrels and runs of each shape that has no columns: {shape: (qrels, run)}."""
    (tmp_path / "q.txt").write_text("u1 0 a 1\nu2 0 b 1\n")
    (tmp_path / "r.txt").write_text("u1 Q0 a 1 2.0 t\nu2 Q0 b 1 1.0 t\n")
    fastir.Qrels.from_dict(LABELLED).save(tmp_path / "q.json")
    fastir.Run.from_dict(RUN).save(tmp_path / "r.json")
    lists = {query: list(docs) for query, docs in LABELLED.items()}
    return {
        "dict": (LABELLED, RUN), "object": (fastir.Qrels.from_dict(LABELLED), fastir.Run.from_dict(RUN)),
        "lists": (lists, lists), "TREC": (tmp_path / "q.txt", tmp_path / "r.txt"),
        "JSON": (tmp_path / "q.json", tmp_path / "r.json"),
    }  # fmt: skip


CALLS = {
    "evaluate": lambda qrels, run, **options: fastir.evaluate(qrels, run, "map", **options),
    "Evaluator": lambda qrels, run, **options: fastir.Evaluator(qrels, "map", **options).evaluate(run),
    "many": lambda qrels, run, **options: fastir.evaluate_many(qrels, {"r": run}, "map", **options),
    "compare": lambda qrels, run, **options: fastir.compare(qrels, {"r": run, "s": RUN}, "map", **options),
    "judged": lambda qrels, run, **options: fastir.judged_rankings(qrels, run, **options),
    "check": lambda qrels, run, **options: refused_or_found(fastir.check(qrels, run, **options)),
    "check many": lambda qrels, run, **options: refused_or_found(fastir.check(qrels, {"r": run}, **options)),
    "leave_one_out": lambda qrels, run, **options: fastir.leave_one_out(qrels, {"r": run, "s": RUN}, "map", **options),
    "identify": lambda qrels, run, **options: fastir.identify(qrels, run, {"map": "0.50"}, **options),
}


def refused_or_found(checked):
    """Raise what a reader refused, as the fault that it is, where check() tells it."""
    for fault in checked.of(kind="refused input"):
        raise ValueError(fault.text)


OBJECT_READ = ("identify", "object")  # a Run of identify() may have been read by the names, as for several runs


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", ["dict", "object", "lists", "TREC", "JSON"])
def test_no_option_about_columns_is_ignored(shape, call, written_sides):
    qrels, run = written_sides[shape]
    with pytest.raises(ValueError, match=r"label=1 is for tables without labels; the qrels are"):
        CALLS[call](qrels, RUN, label=1)
    with pytest.raises(ValueError, match=r"qrels_columns={'doc_id': 'x'} names columns of a table; the qrels are"):
        CALLS[call](qrels, RUN, qrels_columns={"doc_id": "x"})
    if (
        call in ("evaluate", "Evaluator", "judged", "identify") and shape != "JSON" and (call, shape) != OBJECT_READ
    ):  # of several runs some may be tables
        with pytest.raises(ValueError, match=r"run_columns={'doc_id': 'x'} names columns of a table; the run is a"):
            CALLS[call](LABELLED, run, run_columns={"doc_id": "x"})
    if shape not in ("JSON", "object"):  # objects may have been read by them
        with pytest.raises(ValueError, match=r"^columns={'doc_id': 'x'} names columns of a table; the run is a"):
            CALLS[call](qrels, run, columns={"doc_id": "x"})
    CALLS[call](qrels, FRAME.assign(score=1.0).rename(columns={"item_id": "x"}), columns={"doc_id": "x"})


@pytest.mark.parametrize(("call", "options"), [
    (fastir.explain, {"query_id": "q1", "metrics": "map"}), (fastir.precision_recall_curve, {}),
    (fastir.bounds, {"metrics": "map"}),
])  # fmt: skip
def test_analyses_of_one_run_refuse_columns_of_data_without_columns(call, options):
    with pytest.raises(ValueError, match=r"^columns={'doc_id': 'x'} names columns of a table; the run is a dict"):
        call({"q1": {"a": 1}}, RUN, columns={"doc_id": "x"}, **options)
    with pytest.raises(ValueError, match=r"^columns={'doc_id': 'x'} names columns of a table; the run is a dict"):
        fastir.fuse([RUN, RUN], columns={"doc_id": "x"})
