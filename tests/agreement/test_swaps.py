"""Systems that two leaderboards order differently, and whether the difference is significant."""

import math
import sys

import pytest

import fastir
from fastir.analyses.agreement import correlation
from fastir.stats import _checks


def test_the_report_names_the_swapped_pairs_and_the_largest_drop():
    result = fastir.rank_correlation({"a": 3, "b": 2, "c": 1, "d": 0}, {"a": 0.5, "b": 3, "c": 2, "d": 1})
    assert result.systems == ["a", "b", "c", "d"]
    assert result.largest_drop == ("a", 1, 4) and result.largest_drop.places == 3 and not result.same_winner
    assert [(swap.better, swap.worse) for swap in result.swaps] == [("a", "d"), ("a", "c"), ("a", "b")]
    assert {swap.significant for swap in result.swaps} == {""}
    assert result.tau_b == 0.0 and result.tau_ap == pytest.approx(1 / 3)
    assert "falls most, from rank 1 to 4" in repr(result)


def test_swaps_of_results_are_tested_query_by_query():
    pytest.importorskip("scipy")
    queries = [f"q{i}" for i in range(30)]
    runs = {"first": {q: {"x": 2.0, "y": 1.0} for q in queries}, "second": {q: {"y": 2.0, "x": 1.0} for q in queries}}
    human = {query: {"x": 1} for query in queries}
    model = {query: {"x": 1} if i % 2 and i > 2 else {"y": 1} for i, query in enumerate(queries)}
    results = [fastir.evaluate_many(qrels, runs, ["mrr", "p@1"]) for qrels in (human, model)]
    with pytest.raises(ValueError, match="say with metric= which one"):
        fastir.rank_correlation(*results)
    outcome = fastir.rank_correlation(*results, "mrr")
    [swap] = outcome.swaps
    assert (swap.better, swap.worse, outcome.metric) == ("first", "second", "mrr")
    assert swap.difference_a == 0.5 and swap.difference_b < 0 and swap.p_b > 0.05
    assert outcome.a == {"first": 1.0, "second": 0.5}


def test_the_report_says_how_pairs_were_tested():
    pytest.importorskip("scipy")
    best, other = {"x": 2.0, "y": 1.0}, {"x": 1.0, "y": 2.0}
    runs = {"first": {"q1": best, "q2": best}, "second": {"q1": best, "q2": other}}
    judgments = [{query_id: {doc_id: 1} for query_id in ("q1", "q2")} for doc_id in "xy"]
    a, b = (fastir.evaluate_many(qrels, runs, "mrr") for qrels in judgments)
    report = fastir.rank_correlation(a, b, confidence=0.9, correction=None)
    assert report.method == "t test, paired, two-sided; no correction over all pairs of systems; significant: p ≤ 0.1."
    assert len(report.swaps) == 1 and report.method in repr(report)
    assert report.method not in repr(fastir.rank_correlation({"a": 1, "b": 2}, {"a": 2, "b": 1}))
    with pytest.raises(ValueError, match="a has values of mrr, and b of P@1; expected the same metric"):
        fastir.rank_correlation(a, fastir.evaluate_many(judgments[0], runs, "P@1"))


RUNS = {"first": {"q": ["x", "y"], "p": ["x", "y"]}, "second": {"q": ["y", "x"], "p": ["x", "y"]}}
QRELS = {"q": {"x": 1}, "p": {"x": 1}}


def test_swaps_have_no_p_values_without_scipy(monkeypatch):
    results = fastir.evaluate_many(QRELS, RUNS, "mrr")
    upside_down = {"first": results["second"], "second": results["first"]}
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setattr(_checks, "has_scipy", lambda: False)
    [swap] = fastir.rank_correlation(results, upside_down, test="sign").swaps
    assert math.isnan(swap.p_a) and math.isnan(swap.p_b) and swap.significant == ""
    [swap] = fastir.rank_correlation(results, upside_down).swaps
    assert not math.isnan(swap.p_a)


A, B = {"low": 1, "mid": 2, "top": 3}, {"low": 2, "mid": 3, "top": 1}


def test_the_report_has_a_row_for_each_swap_and_says_who_wins():
    found = fastir.rank_correlation(A, B, "map")
    assert found.systems == ["top", "mid", "low"]
    assert repr(found).split("\n") == [
        "better in a  worse in a       a        b  p in a  p in b  significant in",
        "top          low         2.0000  -1.0000       -       -               -",
        "top          mid         1.0000  -2.0000       -       -               -",
        "",
        "3 systems by map: tau_b -0.3333, tau_ap 0.0000, tau_ap_a 0.0000, tau_ap_b -0.2500, spearman -0.5000.",
        "top is best by a, mid by b; top falls most, from rank 1 to 3.",
        "2 pairs are swapped.",
    ]
    same = repr(fastir.rank_correlation(A, A))
    assert same.startswith("3 systems: tau_b 1.0000")
    assert "top is best by both; none falls.\n0 pairs are swapped." in same


@pytest.mark.parametrize(("n", "shown"), [(6, 15), (7, 20), (8, 20)])
def test_twenty_swaps_are_shown(n, shown):
    found = fastir.rank_correlation({f"s{i}": i for i in range(n)}, {f"s{i}": -i for i in range(n)})
    text = repr(found)
    assert len(found.swaps) == n * (n - 1) // 2 and len(text.split("\n\n")[0].split("\n")) == 1 + shown
    assert text.endswith("swapped, of which the first 20 are shown." if len(found.swaps) > 20 else "pairs are swapped.")


def test_a_swap_is_significant_by_the_confidence_asked_for():
    pytest.importorskip("scipy")
    queries = [f"q{i}" for i in range(12)]
    runs = {name: dict.fromkeys(queries, order) for name, order in (("up", ["x", "y"]), ("down", ["y", "x"]))}
    first = {query: {"x": 1} if i < 9 else {"y": 1} for i, query in enumerate(queries)}  # p is about 0.08
    second = {query: {"y": 1} if i < 11 else {"x": 1} for i, query in enumerate(queries)}  # p is below 0.001
    results = [fastir.evaluate_many(qrels, runs, "p@1") for qrels in (first, second)]
    for confidence, verdict in ((0.95, "b"), (0.9, "both"), (1 - 1e-9, "neither")):
        [swap] = fastir.rank_correlation(*results, confidence=confidence).swaps
        assert 0.05 < swap.p_a < 0.1 and 1e-9 < swap.p_b < 0.001 and swap.significant == verdict
    assert math.isclose(swap.difference_a, 0.5)


@pytest.mark.parametrize(("p_a", "p_b", "word"), [
    (0.05, 0.05, "both"), (0.05, 0.06, "a"), (0.06, 0.05, "b"), (0.06, 0.06, "neither"), (math.nan, 0.05, "b"),
    (math.nan, math.nan, ""),
])  # fmt: skip
def test_a_p_value_that_is_the_limit_is_significant(p_a, p_b, word):
    assert correlation.verdict(p_a, p_b, 0.05) == word
