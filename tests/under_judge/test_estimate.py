"""The mean over draws and its standard error."""

import math

import numpy as np
import pytest

from fastir import stats
from fastir.analyses.under_judge.estimate import estimate_mean, mean_of_defined


def test_without_a_model_it_is_student_s_interval():
    values = np.random.default_rng(0).random(20)
    scores = np.ones((20, 1))
    found = estimate_mean(np.tile(values, (50, 1)), np.ones(20, bool), np.zeros((50, 1)), scores, 0.9)
    plain = stats.t_interval(values, confidence=0.9)
    assert (found.estimate, found.low, found.high) == pytest.approx((values.mean(), plain.low, plain.high))
    assert found.df == 19


def test_an_estimated_share_has_the_variance_of_both_samples():
    """Half of the values are a coefficient: the mean of the other half, whose influence is twice its own."""
    random = np.random.default_rng(1)
    n, n_draws = 400, 4000
    seen = random.normal(1, 1, n // 2)
    drawn = random.normal(seen.mean(), seen.std() / math.sqrt(n // 2), n_draws)
    others = drawn[:, None] + random.normal(0, seen.std(), (n_draws, n // 2))
    values = np.concatenate([np.tile(seen, (n_draws, 1)), others], axis=1)
    scores = np.concatenate([seen - seen.mean(), np.zeros(n // 2)])[:, None] / seen.var()  # of the normal likelihood
    found = estimate_mean(values, np.ones(n, bool), drawn[:, None], scores, 0.95)
    assert found.estimate == pytest.approx(seen.mean(), abs=0.01)
    assert found.standard_error == pytest.approx(seen.std() / math.sqrt(n // 2), rel=0.05)
    assert found.df == n // 2 - 1


def test_undefined_values_leave_their_query_out():
    values = np.array([[1.0, np.nan, 3.0, np.nan], [1.0, 2.0, 5.0, np.nan]])
    assert mean_of_defined(values, 0).tolist()[:3] == [1.0, 2.0, 4.0] and math.isnan(mean_of_defined(values, 0)[3])
    assert mean_of_defined(values, 1).tolist() == [2.0, 8 / 3]
    found = estimate_mean(values[:, 3:], np.ones(1, bool), np.zeros((2, 0)), np.ones((1, 0)), 0.95)
    assert math.isnan(found.estimate) and math.isnan(found.low)
