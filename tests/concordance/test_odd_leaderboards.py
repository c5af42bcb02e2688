"""Leaderboards that are mixed, of a single metric or tied, and swaps without SciPy."""

import math

import numpy as np
import pytest

import fastir
from fastir.concordance import swaps, taus

RUNS = {"first": {"q": ["x", "y"], "p": ["x", "y"]}, "second": {"q": ["y", "x"], "p": ["x", "y"]}}
QRELS = {"q": {"x": 1}, "p": {"x": 1}}


def test_the_only_metric_of_results_need_not_be_said():
    found = fastir.rank_correlation(
        *(fastir.evaluate_many(qrels, RUNS, "mrr") for qrels in (QRELS, {"q": {"x": 0}, "p": {"y": 1}}))
    )
    assert found.metric == "mrr"
    assert (found.a, found.b) == ({"first": 1.0, "second": 0.75}, {"first": 0.25, "second": 0.25})


@pytest.mark.parametrize(
    ("a", "error", "message"),
    [
        (lambda of: of["first"], TypeError, "a must map systems to values or to Results, got the Results of a single"),
        (lambda of: {**of, "third": 1.0}, TypeError, "a: system 'third' has no Results, as others have, but 1.0"),
        (
            lambda of: {"first": of["first"], "second": fastir.evaluate(QRELS, RUNS["second"], "map")},
            ValueError,
            r"a: system 'second' has no metric 'mrr'; it has .*map",
        ),
    ],
    ids=["one run", "a number among results", "another metric"],
)
def test_leaderboards_that_are_mixed_are_named(a, error, message):
    results = fastir.evaluate_many(QRELS, RUNS, "mrr")
    with pytest.raises(error, match=message):
        fastir.rank_correlation(a(results), results)


def test_swaps_have_no_p_values_without_scipy(monkeypatch):
    def missing():
        raise ImportError

    results = fastir.evaluate_many(QRELS, RUNS, "mrr")
    upside_down = {"first": results["second"], "second": results["first"]}
    monkeypatch.setattr(swaps, "check_scipy", missing)
    [swap] = fastir.rank_correlation(results, upside_down).swaps
    assert math.isnan(swap.p_a) and math.isnan(swap.p_b) and swap.significant == ""


def test_ap_correlation_is_undefined_where_the_truth_has_ties():
    tied, strict = np.array([2.0, 1.0, 1.0]), np.array([3.0, 1.0, 2.0])
    assert math.isnan(taus.tau_ap_a(tied, strict)) and math.isnan(taus.tau_ap(tied, strict))
    assert math.isnan(taus.tau_ap(strict, tied)) and taus.tau_ap_a(strict, tied) == 0.75


@pytest.mark.parametrize("n", [2, 3, 7, 49, 100])
def test_the_same_and_the_opposite_order_are_exactly_1_and_minus_1(n):
    values = np.arange(n) ** 2.0
    for tau in (taus.tau_b, taus.spearman, taus.tau_ap, taus.tau_ap_a, taus.tau_ap_b):
        assert tau(values, -values) == -1.0
        assert tau(values, 3 * values) == pytest.approx(1.0, abs=1e-15) and tau(values, values) <= 1.0
