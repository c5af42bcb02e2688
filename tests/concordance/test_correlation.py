"""Rank correlations against brute force, the authors' test vectors and SciPy."""

import itertools
import math

import numpy as np
import pytest

import fastir
from fastir.concordance import taus
from fastir.errors import NoOverlapError

# The test vectors of the R package of Urbano and Marrero: x, y, both with ties, and tau_ap, tau_ap_a, tau_ap_b.
SETS = [
    ("897 372 908 898 661 062 177 384 498 992", "820 406 817 953 673 073 364 547 589 988",
     "9 4 9 9 7 1 2 4 5 10", "8 4 8 10 7 1 4 5 6 10", 0.8519, 0.7454, 0.8333, 0.7321),
    ("266 573 202 945 629 206 687 770 718 380", "263 843 728 928 080 114 467 641 973 644",
     "3 6 2 9 6 2 7 8 7 4", "3 8 7 9 1 1 5 6 10 6", 0.2504, 0.2692, 0.2880, 0.297),
    ("185 573 944 129 468 553 761 405 976 445", "845 272 275 924 605 334 162 872 018 250",
     "2 6 9 1 5 6 8 4 10 4", "8 3 3 9 6 3 2 9 0 2", -0.6971, -0.5558, -0.668, -0.7047),
]  # fmt: skip


def numbers(text):
    return np.array(list(map(float, text.split())))


@pytest.mark.parametrize("case", SETS)
def test_values_are_those_of_the_authors(case):
    x, y, tied_x, tied_y = map(numbers, case[:4])
    ap, ap_a, ap_b, ap_b_tied = case[4:]
    assert taus.tau_ap(x, y) == pytest.approx(ap, abs=5e-5)
    assert taus.tau_ap_a(x, y) == pytest.approx(ap, abs=5e-5)
    assert taus.tau_ap_a(x, tied_y) == pytest.approx(ap_a, abs=5e-5)
    assert taus.tau_ap_b(x, y) == pytest.approx(ap_b, abs=5e-5)
    assert taus.tau_ap_b(tied_x, tied_y) == pytest.approx(ap_b_tied, abs=5e-5)
    assert taus.tau_ap_b(tied_y, tied_x) == taus.tau_ap_b(tied_x, tied_y)


def by_definition(truth, order):
    """Yilmaz et al.: for all but the first, the share of those above it that are rightly there."""
    shares = [
        sum(truth[above] > truth[system] for above in order[:place]) / place
        for place, system in enumerate(order)
        if place
    ]
    return 2 * sum(shares) / len(shares) - 1


def orders(values):
    """All orders of systems, the largest value first, in which ties may stand in any order."""
    return [
        order
        for order in itertools.permutations(range(len(values)))
        if all(values[a] >= values[b] for a, b in itertools.pairwise(order))
    ]


@pytest.mark.parametrize("seed", range(40))
def test_tau_ap_a_is_the_mean_over_all_orders_of_ties(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 7))
    truth, estimate = random.permutation(n).astype(float), random.integers(0, 4, n).astype(float)
    each = [by_definition(truth, order) for order in orders(estimate)]
    assert taus.tau_ap_a(truth, estimate) == pytest.approx(math.fsum(each) / len(each), abs=1e-12)
    if len(each) == 1:
        assert taus.tau_ap(truth, estimate) == pytest.approx(each[0], abs=1e-12)
    else:
        assert math.isnan(taus.tau_ap(truth, estimate))


@pytest.mark.parametrize("seed", range(20))
def test_tau_b_and_spearman_are_those_of_scipy(seed):
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(seed)
    a, b = random.integers(0, 6, (2, 15)).astype(float)
    assert taus.tau_b(a, b) == pytest.approx(stats.kendalltau(a, b).statistic, abs=1e-12)
    assert taus.spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)
    for function in (taus.tau_b, taus.spearman, taus.tau_ap_b):
        assert -1 <= function(a, b) <= 1
        assert function(a, a) == pytest.approx(1, abs=1e-12)


def test_the_report_names_the_swapped_pairs_and_the_largest_drop():
    result = fastir.rank_correlation({"a": 3, "b": 2, "c": 1, "d": 0}, {"a": 0.5, "b": 3, "c": 2, "d": 1})
    assert result.systems == ["a", "b", "c", "d"]
    assert result.largest_drop == ("a", 1, 4) and result.largest_drop.places == 3 and not result.same_winner
    assert [(swap.better, swap.worse) for swap in result.swaps] == [("a", "d"), ("a", "c"), ("a", "b")]
    assert {swap.significant for swap in result.swaps} == {""}
    assert result.tau_b == 0.0 and result.tau_ap == pytest.approx(1 / 3)
    assert "falls from place 1 to 4" in repr(result)


def test_less_may_be_better():
    one = fastir.rank_correlation({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}, "mean_rank")
    assert one.systems[0] == "a" and one.same_winner and [swap[:2] for swap in one.swaps] == [("b", "c")]


def test_swaps_of_results_are_tested_query_by_query():
    pytest.importorskip("scipy")
    queries = [f"q{i}" for i in range(30)]
    runs = {
        "first": {query: {"x": 2.0, "y": 1.0} for query in queries},
        "second": {query: {"y": 2.0, "x": 1.0} for query in queries},
    }
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


def test_options_are_checked_where_there_is_nothing_to_test():
    with pytest.raises(ValueError, match="test must be one of"):
        fastir.rank_correlation({"a": 1, "b": 2}, {"a": 2, "b": 1}, test="z")
    with pytest.raises(ValueError, match="correction must be one of"):
        fastir.rank_correlation({"a": 1, "b": 2}, {"a": 2, "b": 1}, correction="all")


def test_series_are_leaderboards():
    pandas = pytest.importorskip("pandas")
    a, b = {"x": 1.0, "y": 2.0, "z": 3.0}, {"x": 2.0, "y": 1.0, "z": 3.0}
    assert fastir.rank_correlation(pandas.Series(a), pandas.Series(b)) == fastir.rank_correlation(a, b)
    with pytest.raises(ValueError, match="a: duplicate 'x'"):
        fastir.rank_correlation(pandas.Series([1.0, 2.0], ["x", "x"]), b)


def test_constant_values_are_undefined():
    result = fastir.rank_correlation({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 1.0})
    assert math.isnan(result.tau_b) and math.isnan(result.tau_ap) and math.isnan(result.spearman)
    assert result.tau_ap_a == 0.0 and math.isnan(result.tau_ap_b) and result.swaps == []


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ({"a": 1.0}, {"a": 1.0}, ValueError, "two systems or more, got 1"),
        ({"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}, NoOverlapError, "b has no value for system 'b'"),
        ({"a": 1.0}, {"a": 1.0, "c": 2.0}, NoOverlapError, "a has no value for system 'c'"),
        ({"a": 1.0, "b": math.nan}, {"a": 1.0, "b": 2.0}, ValueError, "a: the value of system 'b' is nan"),
        ({"a": 1.0, "b": "high"}, {"a": 1.0, "b": 2.0}, TypeError, "a: the value of system 'b' is 'high'"),
        ({"a": 1.0, "b": "2"}, {"a": 1.0, "b": 2.0}, TypeError, "a: the value of system 'b' is '2'"),
        ([1, 2], {"a": 1.0}, TypeError, "a must map systems to values or to Results, got list"),
    ],
)
def test_bad_input_is_named(a, b, error, message):
    with pytest.raises(error, match=message):
        fastir.rank_correlation(a, b)
