"""write_report: one file, in one step, with the errors of compare."""

import pytest
from common import EXAMPLES

import fastir

QRELS, RUNS = EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]


def test_a_report_of_files(tmp_path):
    path = tmp_path / "report.html"
    assert fastir.write_report(QRELS, RUNS, ["ndcg@10", "map"], path) is None
    text = path.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    for words in ("0.7724", "0.8838", "bm25.run, ", "qrels.txt, ", "judged@10"):
        assert words in text


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_below_1_is_refused_before_a_run_is_read(tmp_path, depth):
    with pytest.raises(ValueError, match=r"^k must"):
        fastir.write_report(QRELS, ["no.run"], "map", tmp_path / "report.html", k=depth)


def test_errors_are_those_of_compare_and_leave_the_old_file(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    for call, error in (
        (lambda: fastir.write_report(path, QRELS, RUNS, "map"), TypeError),
        (lambda: fastir.write_report(QRELS, RUNS, "nothing", path), fastir.UnknownMetricError),
        (lambda: fastir.write_report(QRELS, RUNS, "map", path, test="no"), ValueError),
        (lambda: fastir.write_report(QRELS, RUNS, "map", path, baseline="none"), (ValueError, KeyError)),
        (lambda: fastir.write_report(QRELS, {"a": fastir.evaluate(QRELS, RUNS[0], "map")}, "map", path), TypeError),
    ):
        with pytest.raises(error):
            call()
    assert path.read_text() == "old"
