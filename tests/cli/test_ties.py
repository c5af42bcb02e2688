"""fastir eval --ties-report: the tables are those of `Results.ties`."""

import json

import pytest
from common import EXAMPLES

import fastir

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
METRICS = ["ndcg@10", "map"]


def test_a_run_prints_the_table_of_its_ties(output):
    found = fastir.evaluate(QRELS, BM25, METRICS, ties_report=True).ties()
    assert output("eval", QRELS, BM25, "-m", *METRICS, "--ties-report") == repr(found).rstrip("\n") + "\n"
    printed = json.loads(output("eval", QRELS, BM25, "-m", *METRICS, "--ties-report", "--format", "json"))
    assert printed == json.loads(found.to_json())


def test_several_runs_have_a_row_for_each_metric(output, tmp_path):
    command = ("eval", QRELS, BM25, DENSE, "-m", *METRICS, "--ties-report", "--sort", "map")
    lines = [line.split("\t") for line in output(*command, "--format", "tsv").splitlines()]
    assert lines[0][:3] == ["run", "metric", "expected"]
    assert [line[:2] for line in lines[1:]] == [[run, name] for run in ("dense", "bm25") for name in METRICS]
    output(*command, "-o", tmp_path / "ties.json")
    assert list(json.loads((tmp_path / "ties.json").read_text())["runs"]) == ["dense", "bm25"]


@pytest.mark.parametrize(("words", "message"), [
    (("--ties-report", "--per-query"), "--per-query: --ties-report prints a row for every metric"),
    (("--ties-report", "--bounds"), "--ties-report: --bounds prints a table of its own"),
    (("--ties-report", "--ci"), "--ci: --ties-report prints the range"),
    (("--ties-report", "-o", "x.parquet"), "not written as Parquet"),
    (("--ties-report", "-m", "hole@3"), "--ties-report: metrics or judgments with rules of their own"),
])  # fmt: skip
def test_what_has_no_report_of_ties_is_refused(call, words, message):
    code, out, err = call("eval", QRELS, BM25, *words)
    assert code != 0 and out == "" and message in err


def test_judged_rankings_have_no_ties(call, tmp_path):
    fastir.judged_rankings(QRELS, BM25).save(tmp_path / "judged.npz")
    code, _, err = call("eval", tmp_path / "judged.npz", "--ties-report")
    assert code != 0 and "--ties-report: it needs the judgments and runs" in err
