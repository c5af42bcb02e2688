"""Reports: counts with examples, made when they are read."""

import re

import numpy as np
import pytest

import fastir
from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.inputs.label_arrays import COLUMNS


def test_a_report_counts_with_examples():
    report = Report(
        in_both=12, in_both_example="q1", only_in_qrels=1, only_in_qrels_example="q9", unjudged_share=0.25,
        queries_with_ties=3, queries_with_ties_example="q2", repairs={"blank lines": (3, "run.txt:7")},
    )  # fmt: skip
    assert repr(report).splitlines() == [
        "queries in both                                   12  (as in q1)",
        "queries only in the qrels                          1  (as in q9)",
        "queries only in the run                            0",
        "queries without relevant documents                 0",
        "queries with nothing judged in the ranking         0",
        "queries where ties could matter                    3  (as in q2)",
        "share of documents not in the qrels           0.2500",
        "repaired: blank lines                              3  (as in run.txt:7)",
    ]


def test_an_empty_report():
    report = Report()
    assert report == Report() and report != Report(in_both=1) and report != 0
    assert report.in_both == 0 and report.in_both_example is None
    assert report.unjudged_share is None and report.repairs == {}
    assert report.repairs is not Report().repairs
    assert "unjudged" not in repr(report)
    with pytest.raises(TypeError):
        Report(in_boht=1)


def test_a_report_can_be_made_late():
    calls = []

    def late():
        calls.append(1)
        return Report(in_both=7)

    results = Results(["q"], ["AP"], np.array([[0.5]]), np.zeros(1, np.uint8), ["mean"], late)
    assert results["AP"] and not calls
    assert results.report is results.report
    assert results.report.in_both == 7 and len(calls) == 1


def test_a_report_counts_labels_that_are_not_whole():
    qrels = {"q": {"a": 1, "b": 0}, "p": {"a": 0.92, "b": 2.5, "c": -0.5, "d": 2}}
    run = {"q": {"a": 1.0}, "p": {"a": 1.0}}
    judged = fastir.judged_rankings(qrels, run)
    again = fastir.JudgedRankings.from_arrays(judged.query_ids, **{name: getattr(judged, name) for name in COLUMNS})
    for report in (fastir.evaluate(qrels, run, "ndcg").report, judged.report):
        assert (report.fractions, report.fractions_example) == (3, "p")
        assert re.search(r"\nreal-valued labels +3  \(as in p\)$", repr(report))
    assert (again.report.fractions, again.report.fractions_example) == (2, "p")  # negative ones have no grade
    whole = fastir.evaluate({"q": {"a": 1.0}}, run, "ndcg", queries="qrels").report
    assert (whole.fractions, whole.fractions_example) == (0, None) and "real-valued" not in repr(whole)


def test_reports_of_arrays_count_labels_that_are_not_whole():
    scores, two = np.array([[3.0, 2.0, 1.0]] * 2), [[1, 0, 1], [0.5, 2, 0.25]]
    flat = np.array(two).ravel()
    reports = [
        fastir.evaluate_scores(two, scores, "ndcg").report,
        fastir.evaluate_scores(flat, scores.ravel(), "ndcg", offsets=[0, 3, 6]).report,
        fastir.evaluate_ranked(flat, [0, 3, 6], "ndcg").report,
        fastir.evaluate_ranked(flat, [0, 3, 6], "ndcg", ideal_labels=flat, ideal_offsets=[0, 3, 6]).report,
        fastir.evaluate_matrix(scores, [{0: 1}, {0: 0.5, 1: 0.25}], "ndcg").report,
        fastir.evaluate_topk([[0, 1], [1, 0]], [{0: 1}, {0: 0.5, 1: 0.25}], "ndcg").report,
    ]
    assert {(report.fractions, report.fractions_example) for report in reports} == {(2, "1")}
    whole = fastir.evaluate_scores([[1.0, 0.0, 2.0]], scores[:1], "ndcg").report
    assert (whole.fractions, whole.fractions_example) == (0, None)
