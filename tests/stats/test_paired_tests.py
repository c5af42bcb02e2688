"""Tests of two runs without resampling: t, Wilcoxon's, sign, equivalence, by hand, by definition and beside SciPy."""

import itertools
import math

import numpy as np
import pytest
from scores_by_hand import X, Y, Z, close, many_scores

from fastir import stats
from fastir.stats import paired_tests

A = np.array([61, 42, 33, 75, 50, 28, 91, 47, 66, 39]) / 100
B = np.array([55, 40, 36, 60, 52, 20, 85, 49, 51, 30]) / 100

PAIRS = {"xy": (X, Y), "xz": (X, Z), "yz": (Y, Z), "ab": (A, B)}


@pytest.mark.parametrize(("pair", "t", "p"), [
    ("xy", 2.1157598612734656, 0.04779676184496439),
    ("xz", 1.613300878952031, 0.1231651045809951),
    ("yz", 0.6526936253786, 0.521773448398489),
    ("ab", 2.573049798858673, 0.0300371390978427),
])  # fmt: skip
def test_t(pair, t, p):
    found = stats.t_test(*PAIRS[pair])
    assert (found.statistic, found.p_value, found.exact, found.note) == (close(t), close(p), False, "")


def test_t_interval_and_one_sided_t():
    found = stats.t_interval(X, Y)
    assert found[:3] == (close(0.075), close(0.0008059447322440), close(0.1491940552677559))
    assert stats.t_test(X, Y, alternative="greater").p_value == close(0.023898380922482195)
    assert stats.t_test(X, Y, alternative="less").p_value == close(1 - 0.023898380922482195)
    assert stats.t_test(X - Y) == stats.t_test(X, Y)


@pytest.mark.parametrize(("pair", "zeros", "w", "p", "corrected"), [
    ("xy", "wilcox", 24, 0.0372293031021671, 0.0399460216747035),
    ("xy", "pratt", 49, 0.0653006896869358, 0.0681230496693848),
    ("xy", "zsplit", 56.5, 0.0674896075838294, 0.0703655874977186),
    ("xz", "wilcox", 48, 0.1731437746832581, None),
    ("xz", "pratt", 66, 0.1753035558008973, None),
    ("xz", "zsplit", 69, 0.1762200983215345, None),
    ("ab", "wilcox", 8, 0.0459977900113863, 0.0518654147914673),
])  # fmt: skip
def test_wilcoxon_by_the_normal_approximation(pair, zeros, w, p, corrected):
    found = stats.wilcoxon(*PAIRS[pair], zeros=zeros, exact=False)
    assert found == (w, close(p), False, "")
    if corrected:
        assert stats.wilcoxon(*PAIRS[pair], zeros=zeros, exact=False, continuity=True).p_value == close(corrected)


@pytest.mark.parametrize(("pair", "zeros", "count", "of"), [
    ("ab", "wilcox", 50, 2**10), ("xy", "wilcox", 1322, 2**15), ("xy", "pratt", 2338, 2**15),
    ("xz", "wilcox", 24236, 2**17), ("xz", "pratt", 24140, 2**17), ("xz", "zsplit", 24140, 2**17),
])  # fmt: skip
def test_exact_wilcoxon_with_ties(pair, zeros, count, of):
    assert stats.wilcoxon(*PAIRS[pair], zeros=zeros)[1:] == (count / of, True, "")


@pytest.mark.parametrize(
    ("pair", "wins", "p"), [("xy", 10, 0.3017578125), ("xz", 11, 0.332305908203125), ("yz", 8, 1.0), ("ab", 7, 0.34375)]
)
def test_sign(pair, wins, p):
    assert stats.sign_test(*PAIRS[pair])[:2] == (wins, close(p))


def test_equivalence():
    found = stats.equivalence_test(X, Y, low=-0.1, high=0.1)
    assert found[:2] == (close(-0.7052532870911561), close(0.2446046536638028))
    assert stats.equivalence_test(X, Y, low=-0.1, high=1.0).statistic == close(4.936773009638088)
    assert stats.equivalence_test(X, Y, low=-0.1, high=1.0).p_value == close(4.578526614659e-05)


SIGNS = {n: np.array(list(itertools.product((1, -1), repeat=n))) for n in range(1, 9)}


def test_exact_wilcoxon_against_full_enumeration():
    random = np.random.default_rng(8)
    for _ in range(300):
        n = int(random.integers(1, 9))
        d = random.integers(-4, 5, n)
        ranks = paired_tests.doubled_ranks(d, 0)[d != 0]
        if len(ranks):
            sums = SIGNS[len(ranks)] @ ranks
            expected = (abs(sums) >= abs((ranks * np.sign(d[d != 0])).sum())).mean()
            assert stats.wilcoxon(d / 7).p_value == expected


def test_differences_that_are_equal_on_paper_share_a_rank():
    random = np.random.default_rng(2)
    b, sizes = random.random(500), random.integers(-3, 4, 500)
    found = stats.wilcoxon(b + sizes * math.pi / 20, b)
    assert found == stats.wilcoxon(sizes)
    assert stats.wilcoxon(b[:40] + sizes[:40] * math.pi / 20, b[:40]) == stats.wilcoxon(sizes[:40])


def test_t_like_scipy():
    from scipy.stats import ttest_rel

    for seed, n in enumerate((2, 3, 10, 500)):
        a, b = many_scores(n, seed=seed)
        for alternative in paired_tests.ALTERNATIVES:
            expected = ttest_rel(a, b, alternative=alternative)
            assert stats.t_test(a, b, alternative=alternative)[:2] == (
                close(float(expected.statistic)),
                close(float(expected.pvalue)),
            )
        interval = ttest_rel(a, b).confidence_interval(0.9)
        assert stats.t_interval(a, b, confidence=0.9)[1:3] == (close(interval.low, 1e-9), close(interval.high, 1e-9))


def test_wilcoxon_like_scipy():
    from scipy.stats import wilcoxon

    random = np.random.default_rng(3)
    for n, method in itertools.product((5, 12, 40, 200), ("exact", "asymptotic")):
        d = random.permutation(np.arange(1, n + 1)) * random.choice((-1, 1), n)  # no ties, no zeros
        for alternative in paired_tests.ALTERNATIVES:
            expected = wilcoxon(d, method=method, alternative=alternative)
            found = stats.wilcoxon(d, exact=method == "exact", alternative=alternative)
            assert found[:2] == (expected.statistic, close(float(expected.pvalue), 1e-9))
    d = random.integers(-5, 6, 80)
    for zeros, continuity in itertools.product(paired_tests.ZEROS, (False, True)):
        expected = wilcoxon(d, zero_method=zeros, correction=continuity, method="asymptotic")
        found = stats.wilcoxon(d / 10, zeros=zeros, exact=False, continuity=continuity)
        assert found[:2] == (expected.statistic, close(float(expected.pvalue)))


@pytest.mark.parametrize(("n", "exactly"), [(49, True), (50, True), (51, False)])
def test_wilcoxon_is_exact_up_to_fifty_differences(n, exactly):
    """Differences of 0 do not count; whoever asks for the other p-value gets it."""
    d = [*range(1, n), -n, 0, 0, 0]
    found = stats.wilcoxon(d)
    assert found.exact is exactly
    assert found == stats.wilcoxon(d, exact=exactly) != stats.wilcoxon(d, exact=not exactly)
