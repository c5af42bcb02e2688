"""Rank correlations on plain arrays, against the numbers of their authors, definitions and SciPy."""

import itertools
import math

import numpy as np
import pytest

from fastir.stats import taus

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
    shares = [sum(truth[above] > truth[system] for above in order[:i]) / i for i, system in enumerate(order) if i]
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


def test_tied_values_share_the_best_of_their_places():
    assert taus.places(np.array([3.0, 1.0, 3.0, 2.0, 1.0])).tolist() == [1, 4, 1, 3, 4]


def matrix_of_signs(values):
    return np.sign(values[:, None] - values[None, :])


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 127, 200, 513])
@pytest.mark.parametrize("distinct", [1, 3, 50, 10**6])
def test_what_sorting_gives_is_what_all_pairs_give(n, distinct):
    a, b = np.random.default_rng(n + distinct).integers(0, distinct, (2, n)).astype(float)
    orders, above_a, above_b = taus.Orders(a, b), matrix_of_signs(a).T, matrix_of_signs(b).T
    assert orders.correct.tolist() == ((above_a == 1) & (above_b == 1)).sum(axis=1).tolist()
    for found, above in zip(orders.places, (above_a, above_b), strict=True):
        assert found.tolist() == (1 + (above == 1).sum(axis=1)).tolist()
    untied = np.abs(above_a).sum() * np.abs(above_b).sum()
    expected = (above_a * above_b).sum() / untied**0.5 if untied else math.nan
    assert taus.tau_b(a, b) == pytest.approx(expected, abs=1e-12, nan_ok=True)
