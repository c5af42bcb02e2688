"""TieReport: a table of what the order of equal scores changes; tests/composites/test_ties.py has its numbers."""

import pytest

import fastir


def test_the_report_prints_as_a_table_and_leaves_as_columns():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 0.5}}
    report = fastir.evaluate(qrels, run, ["mrr", "yaap"], ties="input", ties_report=True).ties()
    assert len(report) == 2 and [row.metric for row in report] == ["mrr", "yaap"]
    assert report.to_table("csv").splitlines()[1] == "mrr,0.75,0.5,1.0,0.5,0.25,1,2"
    assert report.to_table().splitlines()[2].split()[1] == "-" and "<table" in report._repr_html_()
    with pytest.raises(KeyError, match="'map' was not evaluated; the metrics here are 'mrr', 'yaap'"):
        report.per_query("map")
