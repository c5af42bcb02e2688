"""Files of several runs: saved results, folders and patterns of them, and long tables; the order of the rows."""

import json
import shutil
from pathlib import Path

import pytest
from common import EXAMPLES

import fastir
from fastir.cli.runs import option_differences

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
RUNS = {"bm25": BM25, "dense": DENSE}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Two files of both runs, the second with other values, and a folder with a file for each run."""
    monkeypatch.chdir(tmp_path)
    fastir.Evaluator(QRELS, ["map", "mrr"]).evaluate_many(RUNS).save("old.json")
    fastir.Evaluator(QRELS, ["map", "mrr"]).evaluate_many({"dense": BM25, "bm25": DENSE}).save("new.tsv")
    (tmp_path / "mix").mkdir()
    for name, run in RUNS.items():
        fastir.evaluate(QRELS, run, ["map", "mrr"]).save(tmp_path / "mix" / f"{name}.json")
    return tmp_path


def test_runs_of_the_same_names_are_diffed(output, here):
    old, new = fastir.load_results("old.json"), fastir.load_results("new.tsv")
    assert (
        output("diff", "old.json", "new.tsv", "-m", "map")
        == "\n\n".join(f"run {name}\n\n{new[name].diff(old[name], 'map')!r}" for name in ("dense", "bm25")) + "\n"
    )
    found = json.loads(output("diff", "old.json", "new.tsv", "--format", "json"))["runs"]
    assert {name: [change["metric"] for change in part] for name, part in found.items()} == {
        "dense": ["map", "mrr"],
        "bm25": ["map", "mrr"],
    }
    text = output("diff", "old.json", "new.tsv", "--format", "markdown", "-m", "map")
    assert text.splitlines()[0] == "| run | metric | old | new | change | gained | lost |"
    assert text.splitlines()[2].startswith("| dense | map | 0.7661 | 0.6627 | -0.1034 | 2 | 4 |")
    assert "<summary>bm25: map by query</summary>" in text


def test_folders_of_results_are_diffed_and_runs_of_one_side_are_named(call, here):
    fastir.evaluate(QRELS, DENSE, "map").save("alone.json")
    code, out, err = call("diff", "mix", "mix/*.json", "-m", "map")
    assert (code, err) == (0, "") and out.count("run ") == 2 and out.count("no change") == 2
    fastir.Evaluator(QRELS, ["map"]).evaluate_many({"bm25": BM25, "other": BM25}).save("half.json")
    code, out, err = call("diff", "old.json", "half.json", "-m", "map")
    assert code == 0 and out.startswith("map: ")
    assert err == "fastir: warning: only old.json has dense\nfastir: warning: only half.json has other\n"
    code, out, err = call("diff", "old.json", "alone.json")
    assert (code, out) == (2, "")
    assert "no run in common: old.json has bm25, dense, and alone.json has alone" in err


@pytest.mark.parametrize("words", [["old.json"], ["mix"], ["mix/"], ["mix/*.json"]])
def test_all_runs_of_saved_files_are_compared(output, here, words):
    found = output("compare", *words, "--format", "tsv")
    expected = output("compare", QRELS, BM25, DENSE, "-m", "map,mrr", "--format", "tsv")
    assert found == expected


def test_runs_of_one_name_are_told_apart_by_their_files(output, here):
    lines = output("compare", "old.json", "new.tsv", "mix/bm25.json", "-m", "map", "--format", "csv").splitlines()
    names = ["old: bm25", "old: dense", "new: dense", "new: bm25", "bm25"]
    assert [line.split(",")[1] for line in lines[1:]] == names


def test_one_run_is_not_compared_and_results_are_not_evaluated(call, here):
    code, _, err = call("compare", "mix/bm25*.json")
    assert code == 1 and "comparing takes two runs or more; mix/bm25*.json holds the results of one" in err
    for arguments in ((QRELS, "old.json"), ("old.json", BM25), (QRELS, "mix")):
        code, out, err = call("eval", *arguments)
        assert (code, out) == (2, "")
        assert "holds saved results, which are already evaluated; `fastir compare` and `fastir diff` take them" in err


def test_the_queries_of_saved_results_may_differ(call, here):
    judged = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    fastir.evaluate(judged, {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}, "map").save("three.json")
    fastir.evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": {"d": 1}, "q2": {"d": 1}}, "map").save("two.json")
    code, _, err = call("compare", "three.json", "two.json")
    assert code == 2 and err.endswith(
        "for query 'q3', which another run has; --queries intersection leaves such queries out, "
        "--queries qrels counts them as 0\n"
    )
    assert call("compare", "three.json", "two.json", "--queries", "intersection")[0] == 0
    assert call("compare", "three.json", "two.json", "--queries", "qrels")[0] == 0


def test_results_of_other_options_are_warned_of(call, here):
    fastir.evaluate(QRELS, BM25, "map").save("plain.json")
    fastir.evaluate(QRELS, BM25, "map", rel_level=2, ties="input").save("other.json")
    for command, end in (("compare", ""), ("diff", ".json")):
        said = f"fastir: warning: 'plain{end}' and 'other{end}' were judged under other options: "
        code, _, err = call(command, "plain.json", "other.json")
        assert (code, err) == (0, f"{said}--ties (trec and input), --rel-level (default and 2)\n")
    fastir.evaluate(QRELS, BM25, "map", convention="trec_eval-9", max_depth=3).save("other.json")
    _, _, err = call("diff", "plain.json", "other.json")
    assert err == f"{said}--convention (fastir and trec_eval-9), --max-depth (default and 3)\n"
    assert call("compare", "old.json", "mix")[2] == ""
    results = fastir.load_results("plain.json")
    assert option_differences(results, results) == []


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Both runs in one table, and ratings in another."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    rows = [(name, *line.split()) for name, path in RUNS.items() for line in Path(path).read_text().splitlines()]
    columns = {
        "query_id": [row[1] for row in rows],
        "doc_id": [row[3] for row in rows],
        "score": [float(row[5]) for row in rows],
    }
    for path, system in (("long.parquet", "system"), ("odd.parquet", "engine")):
        parquet.write_table(pyarrow.table({system: [row[0] for row in rows], **columns}), path)
    judged = [line.split() for line in Path(QRELS).read_text().splitlines()]
    ratings = [float(row[3]) + 0.5 for row in judged]
    whole = {"query_id": [row[0] for row in judged], "doc_id": [row[2] for row in judged], "rating": ratings}
    parquet.write_table(pyarrow.table(whole), "ratings.parquet")


def test_a_table_with_a_column_of_runs_has_several(call, output, tables):
    expected = output("eval", QRELS, BM25, DENSE)
    assert output("eval", QRELS, "long.parquet") == expected
    assert output("eval", QRELS, "odd.parquet", "--columns", "run=engine") == expected
    assert output("eval", QRELS, "long.parquet", "--run-format", "parquet") == expected
    compared = output("compare", QRELS, BM25, DENSE, "--baseline", "bm25")
    assert output("compare", QRELS, "long.parquet", "--baseline", "bm25") == compared
    names = [line.split()[0] for line in output("eval", QRELS, BM25, "long.parquet", "--sort", "none").splitlines()[1:]]
    assert names == ["bm25", "long:", "dense"]
    assert "--duplicates first" in call("eval", QRELS, "odd.parquet")[2]


def test_the_parts_of_a_long_table_are_put_together(output, tables):
    parquet = pytest.importorskip("pyarrow.parquet")
    whole = parquet.read_table("long.parquet")
    Path("lake").mkdir()
    for number, rows in enumerate((whole.slice(0, 30), whole.slice(30))):
        parquet.write_table(rows, f"lake/{number}.parquet")
    assert output("eval", QRELS, "lake", "--parts") == output("eval", QRELS, "long.parquet")


def test_judgments_in_the_folder_of_runs_are_no_run(call, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, "runs")
    said = "fastir: warning: runs/qrels.txt holds the judgments, and is not taken for a run of"
    expected = output("eval", QRELS, BM25, DENSE, "-m", "map")
    for word in ("runs", "runs/*"):
        code, out, err = call("eval", "runs/../runs/qrels.txt", word, "-m", "map")
        assert (code, out, err) == (0, expected, f"{said} {word}\n")
    code, out, err = call("contributions", "runs/qrels.txt", "runs")
    assert code == 0 and err.startswith(said)
    code, out, err = call("eval", "runs/qrels.txt", "runs/qrels.txt")
    assert code == 2 and "looks like qrels" in err
    code, out, err = call("eval", "runs/qrels.txt", "runs/q*")
    assert code == 2 and err.endswith("runs/q*: no file was found except the judgments\n")


def test_ratings_have_a_threshold(call, output, tables):
    graded = json.loads(output("eval", "ratings.parquet", BM25, "-m", "dcg@1", "--format", "json"))
    assert graded["mean"]["dcg@1"] == fastir.evaluate("ratings.parquet", BM25, "dcg@1")["dcg@1"] > 0
    found = json.loads(output("eval", "ratings.parquet", BM25, "-m", "map", "--threshold", "1.5", "--format", "json"))
    assert found["mean"]["map"] == fastir.evaluate(QRELS, BM25, "map")["map"]
    assert output("compare", "ratings.parquet", BM25, DENSE, "-m", "map", "--threshold", "1.5").count("bm25") == 1


def test_runs_in_order_of_a_metric(output, here):
    for command in (("eval", QRELS, BM25, DENSE), ("compare", QRELS, BM25, DENSE), ("compare", "old.json")):
        rows = output(*command, "-m", "map,mrr", "--sort", "map", "--format", "csv").splitlines()[1:]
        assert ["dense" in row for row in rows] == [True, False]
    rows = output("eval", QRELS, DENSE, BM25, "-m", "map", "--sort", "mean_rank", "--format", "csv").splitlines()
    assert rows[0] == "run,map,mean_rank"
    assert float(rows[1].split(",")[2]) < float(rows[2].split(",")[2])


def test_an_order_changes_no_number(here, call):
    for order in ((), ("--sort", "map")):
        assert call("compare", QRELS, BM25, DENSE, "-m", "map", "-o", f"{len(order)}.json", *order)[0] == 0
    plain, turned = fastir.Comparison.load("0.json"), fastir.Comparison.load("2.json")
    assert turned.runs == plain.runs[::-1] and turned.per_query == plain.per_query and turned.pairs == plain.pairs
    assert sorted(turned.systems) == sorted(plain.systems) and turned.systems[0].run == "dense"


def test_a_column_for_every_run(output):
    lines = output("compare", QRELS, BM25, DENSE, "-m", "map,mrr", "--transpose").splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["#", "run", "a", "dense", "b", "bm25"], ["map", "*0.7661", "0.6627"], ["mrr", "*0.9167", "0.8333"],
    ]  # fmt: skip


def test_runs_are_named_as_asked(call, output, tmp_path):
    tags = {name: Path(path).read_text().split(maxsplit=6)[5] for name, path in (("bm25", BM25), ("dense", DENSE))}
    for option, names in (("tag", [*tags.values()]), ("file", ["bm25.run", "dense.run"]), ("stem", ["bm25", "dense"])):
        rows = output("eval", QRELS, BM25, DENSE, "-m", "map", "--names", option, "--format", "tsv").splitlines()[1:]
        assert [row.split("\t")[0] for row in rows] == names
        compared = ("compare", QRELS, BM25, DENSE, "-m", "map", "--names", option, "--baseline")
        assert output(*compared, names[0], "--format", "csv") == output(*compared, BM25, "--format", "csv")
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.run").write_bytes(Path(BM25).read_bytes())
    runs = tmp_path / "x" / "a.run", tmp_path / "y" / "a.run"
    rows = output("eval", QRELS, *runs, "-m", "map").splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["x/a", "y/a"]
    code, out, err = call("eval", QRELS, *runs, "-m", "map", "--names", "tag")
    assert (code, out) == (1, "") and f"{runs[0]} and {runs[1]}" in err and err.count("\n") == 1
    fastir.evaluate(QRELS, BM25, "map").save(tmp_path / "old.json")
    code, _, err = call("compare", tmp_path / "old.json", tmp_path / "old.json", "--names", "tag")
    assert code == 1 and "saved results, which have no tags" in err


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_standard_input_is_one_run(call, command):
    code, out, err = call(command, QRELS, "-", "-", "-m", "map")
    assert (code, out) == (1, "")
    assert err.startswith("fastir: error: standard input (-) can be read only once;")


def test_people_see_the_best_run_first_and_programs_the_order_of_the_files(output):
    for command in ("eval", "compare"):
        for format, names in (
            ("table", ["dense", "bm25"]),
            ("markdown", ["dense", "bm25"]),
            ("csv", ["bm25", "dense"]),
        ):
            text = output(command, QRELS, BM25, DENSE, "-m", "map", "--format", format)
            assert sorted(names, key=text.index) == names
        text = output(command, QRELS, BM25, DENSE, "-m", "map", "--sort", "none")
        assert text.index("bm25") < text.index("dense")
