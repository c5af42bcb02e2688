"""Exact p-values of a signed sum, against full enumeration."""
# Also of: subset_sums.

import itertools
import math
from fractions import Fraction

import numpy as np
from scores_by_hand import close

from fastir import stats
from fastir.stats import _subset_sums, paired_tests

SIGNS = {n: np.array(list(itertools.product((1, -1), repeat=n))) for n in range(1, 9)}


def test_ten_thousand_small_inputs_against_full_enumeration():
    random = np.random.default_rng(5)
    for case in range(10_000):
        n = int(random.integers(1, 9))
        scale = (1, 3, 10, 100, 7, 2520)[case % 6]
        a, b = random.integers(0, min(scale, 12) + 1, (2, n))
        alternative = paired_tests.ALTERNATIVES[case % 3]
        sums, seen = SIGNS[n] @ (a - b), (a - b).sum()
        reach = {"two-sided": abs(sums) >= abs(seen), "greater": sums >= seen, "less": sums <= seen}[alternative]
        found = stats.randomization_test(a / scale, b / scale, alternative=alternative)
        assert found[1:3] == (reach.mean(), True), (a, b, scale, alternative)


def test_small_inputs_without_a_grid_against_full_enumeration():
    random = np.random.default_rng(6)
    for _ in range(300):
        n = int(random.integers(1, 9))
        a, b = random.choice(random.random(4), (2, n))  # few values: sums tie, up to rounding
        sums = SIGNS[n] @ (a - b)
        reach = abs(sums) >= abs((a - b).sum()) - 1e-9
        assert stats.randomization_test(a, b).p_value == reach.mean()


def test_halves_and_table_count_the_same_subsets():
    random = np.random.default_rng(7)
    for n in range(1, 17):
        d = np.sort(random.integers(1, 30, n))
        sums = np.array([0])
        for value in d:
            sums = np.concatenate([sums, sums + value])
        for limit in (-1, 0, int(d[0]), int(d.sum() // 3), int(d.sum() // 2), int(d.sum()), int(d.sum()) + 5):
            count = int((sums <= limit).sum())
            assert _subset_sums.subsets_below(d, limit) == count
            assert _subset_sums.share_below(d, limit) == count / 2**n


def test_an_exact_p_value_of_many_whole_differences_is_right():
    """A thousand differences that are -1, 0 or 1: the binomial distribution of wins."""
    d = np.array([1] * 330 + [-1] * 270 + [0] * 400)
    expected = 2 * sum(math.comb(600, k) for k in range(271)) / Fraction(2) ** 600
    found = stats.randomization_test(d / 10)
    assert (found.p_value, found.exact) == (close(float(expected), 1e-12), True)
