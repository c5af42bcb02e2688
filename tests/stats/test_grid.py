"""Scores as whole numbers: what is equal on paper is equal."""

import math

import numpy as np
import pytest
from scores_by_hand import X, Y, close, many_scores

from fastir import stats
from fastir.stats import grid

TESTS = (stats.t_test, stats.wilcoxon, stats.sign_test, stats.randomization_test, stats.bootstrap_test)


def test_scores_with_a_common_denominator_become_exact():
    found = grid.to_grid(np.array([[0.1 + 0.2, 1 / 3, 0.5, 0.0, -2.0]]))
    assert (found.whole.tolist(), found.unit, found.loose) == ([[9, 10, 15, 0, -60]], 1 / 30, 0)
    assert found.slack() == 0


def test_other_scores_are_rounded_and_sums_have_slack():
    scores = many_scores(100)
    found = grid.to_grid(scores)
    assert found.loose == 1
    assert np.abs(found.whole * found.unit - scores).max() <= 2.0**-41
    assert found.slack() == 200
    assert grid.to_grid(np.array([[1e-6, 3e5]])).whole.tolist() == [[1, 3 * 10**11]]
    wide = grid.to_grid(np.array([[math.pi * 1e300, math.e]]))
    assert abs(wide.whole).sum() < 2**52


def test_differences_that_are_equal_on_paper_tie():
    a, b = np.array([0.3, 0.8, math.pi]), np.array([0.1 + 0.2, 0.7 + 0.1, math.pi * (1 + 1e-15)])
    assert stats.sign_test(a, b) == (0.0, 1.0, True, "all differences are 0")
    assert stats.randomization_test(a, b)[1:] == (1.0, True, "all differences are 0")


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e-6, 1e6, 1e100])
def test_the_unit_of_scores_does_not_matter(scale):
    a, b = many_scores(16)
    for test in TESTS:
        assert test(scale * a, scale * b).p_value == close(test(a, b).p_value, 1e-9)
    assert stats.sign_test(scale * X, scale * Y) == stats.sign_test(X, Y)
