"""write_report: one file, in one step, with the errors of compare."""

import html
import os
from pathlib import Path

import pytest
from common import EXAMPLES

import fastir

QRELS, RUNS = EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]


def test_a_report_of_files(tmp_path):
    path = tmp_path / "report.html"
    written = fastir.write_report(QRELS, RUNS, ["ndcg@10", "map"], path)
    assert (written.path, os.fspath(written)) == (str(path), str(path))
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


def test_a_notebook_shows_the_page_in_a_frame_or_a_link_to_it(tmp_path, monkeypatch):
    written = fastir.write_report(QRELS, RUNS, "map", tmp_path / "report.html")
    shown = written._repr_html_()
    assert 'sandbox="allow-scripts"' in shown
    assert html.escape((tmp_path / "report.html").read_text("utf-8")) in shown
    monkeypatch.setattr("fastir.report.write.MAX_FRAME_BYTES", 10)
    assert "<iframe" not in written._repr_html_() and "report.html</a>" in written._repr_html_()
    os.remove(written)
    assert "<iframe" not in written._repr_html_()


def test_a_report_has_a_name_and_metrics_unless_they_are_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fastir.write_report(QRELS, RUNS).path == "report.html"
    assert "recall@100" in (tmp_path / "report.html").read_text("utf-8")


RUN = {"q1": {"a": 1.0}}


@pytest.mark.parametrize(("arguments", "message"), [
    (("report.html", RUN, {"a": RUN}), "qrels is the name of a page, 'report.html'; the order is write_report"),
    (("report.html", RUN, {"a": RUN}, "map"), "got str 'map'; the order is write_report"),
    ((RUN, {"a": RUN}, "report.html"), "metrics is the name of a page, 'report.html'; the order is"),
    ((RUN, RUN, "map", "report.html"), "runs is one run.*; several are expected, as {'name': run}"),
    (({"a": RUN}, RUN, "map", "report.html"), "are qrels and runs swapped"),
])  # fmt: skip
def test_arguments_in_another_order_are_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fastir.write_report(*arguments)


def test_what_all_names_begin_with_is_said_once_and_the_best_run_is_first(tmp_path):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    worse = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    runs = {"core17.worse": worse, "core17.best": {query: {"a": 1.0} for query in qrels}}
    page = Path(fastir.write_report(qrels, runs, "mrr", tmp_path / "r.html")).read_text("utf-8")
    assert page.count("core17.") == 1 and "names: core17.…" in page
    assert page.index("<td>best</td>") < page.index("<td>worse</td>")
    assert "<details><summary>The rules of the convention</summary>" in page
