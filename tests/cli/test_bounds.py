"""fastir eval --bounds and fastir compare --bounds: the numbers are those of `fastir.bounds`."""

import json

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
METRICS = ["ndcg@10", "map"]


def test_a_run_prints_the_table_of_its_bounds(output):
    found = fastir.bounds(QRELS, BM25, METRICS)
    assert output("eval", QRELS, BM25, "-m", *METRICS, "--bounds") == repr(found).rstrip("\n") + "\n"
    printed = json.loads(output("eval", QRELS, BM25, "-m", *METRICS, "--bounds", "--format", "json"))
    assert printed == json.loads(found.to_json())


def test_several_runs_have_a_row_for_each_metric(output):
    out = output("eval", QRELS, BM25, DENSE, "-m", *METRICS, "--bounds", "--sort", "map", "--format", "tsv")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["run", "metric", "lower", "value", "upper", "condensed", "judged"]
    assert [line[:2] for line in lines[1:]] == [[run, name] for run in ("dense", "bm25") for name in METRICS]
    assert float(lines[1][4]) == fastir.bounds(QRELS, DENSE, METRICS).upper["ndcg@10"]


def test_options_are_those_of_bounds(output, tmp_path):
    file = tmp_path / "bounds.json"
    options = ("--max-label", "5", "--pool-depth", "3", "--unseen", "4", "--rel-level", "2", "--judged-only")
    output("eval", QRELS, BM25, "-m", "map", "--bounds", *options, "-o", file)
    expected = fastir.bounds(QRELS, BM25, "map", max_label=5, pool_depth=3, unseen=4, rel_level=2, judged_only=True)
    assert json.loads(file.read_text()) == json.loads(expected.to_json())


def test_warnings_are_those_of_the_command(call, tmp_path):
    run = tmp_path / "short.run"
    run.write_text("q1 Q0 x 1 1.0 t\n")
    code, _, err = call("eval", QRELS, run, "-m", "map", "--bounds")
    [line] = err.splitlines()
    assert code == 0 and line.startswith("fastir: warning: 5 queries of the qrels are missing from the run")
    assert "--queries qrels accepts this" in line and ".py" not in line


def test_gates_see_the_value(call):
    code, out, err = call("eval", QRELS, BM25, "-m", "map", "--bounds", "--fail-under", "map=0.8")
    assert code == 4 and out.startswith("metric") and "map is 0.662698, under 0.8" in err


def test_compare_marks_differences_that_could_turn(output):
    pytest.importorskip("scipy")
    out = output("compare", QRELS, BM25, DENSE, "-m", "ndcg@10", "--bounds", "--pairs")
    found = fastir.bounds(QRELS, BM25, "ndcg@10", against=DENSE)
    assert f"could change its sign: {found.lower['ndcg@10']:+.4f} to {found.upper['ndcg@10']:+.4f}" in out


@pytest.mark.parametrize(("words", "message"), [
    (("--bounds", "--per-query"), "--per-query: --bounds prints a row for every metric"),
    (("--max-label", "2"), "--max-label: it belongs to --bounds"),
    (("--pool-depth", "2"), "--pool-depth: it belongs to --bounds"),
    (("--unseen", "2"), "--unseen: it belongs to --bounds"),
    (("--bounds", "--max-label", "1"), "--max-label 1, but the qrels have the label"),
    (("--bounds", "--ties", "optimistic"), "--ties optimistic orders equal scores by their labels"),
    (("--bounds", "-o", "x.parquet"), "not written as Parquet"),
])  # fmt: skip
def test_what_has_no_bounds_is_refused(call, words, message):
    code, out, err = call("eval", QRELS, BM25, *words)
    assert code != 0 and out == "" and message in err


def test_saved_results_have_no_bounds(call, tmp_path):
    fastir.evaluate_many(QRELS, {"a": BM25, "b": DENSE}, "map").save(tmp_path / "saved.json")
    code, _, err = call("compare", tmp_path / "saved.json", "--bounds")
    assert code != 0 and "--bounds: saved results do not say which documents are unjudged" in err
