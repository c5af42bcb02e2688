"""The interval of a weighted mean: every resample of a few by hand, SciPy's paired bootstrap, and equal weights."""

import itertools

import numpy as np
import pytest

from fastir.stats import bootstrap_interval, t_interval
from fastir.stats.bootstrap import weighted_bounds

special = pytest.importorskip("scipy.special")
VALUES = np.array([0.1, 0.5, 0.25, 1.0, 0.0])
WEIGHTS = np.array([1.0, 2.0, 0.5, 4.0, 3.0])


def bounds(method, weights=WEIGHTS, values=VALUES, confidence=0.95, n_resamples=10_000):
    return weighted_bounds(values, weights, method, confidence, n_resamples, 0, 1)


def every_mean():
    places = np.array(list(itertools.product(range(5), repeat=5)))
    return (VALUES * WEIGHTS)[places].sum(axis=1) / WEIGHTS[places].sum(axis=1)


def test_percentiles_of_every_resample():
    for confidence in (0.5, 0.95):
        expected = np.quantile(every_mean(), [(1 - confidence) / 2, (1 + confidence) / 2])
        assert bounds("percentile", confidence=confidence) == pytest.approx(tuple(expected), abs=1e-9)


def test_bca_of_every_resample():
    means, mean = every_mean(), np.average(VALUES, weights=WEIGHTS)
    below = ((means < mean - 1e-9).sum() + (np.abs(means - mean) <= 1e-9).sum() / 2) / len(means)
    terms = WEIGHTS * (VALUES - mean)
    bias, acceleration = special.ndtri(below), (terms**3).sum() / (terms**2).sum() ** 1.5 / 6
    z = bias + special.ndtri(np.array([0.025, 0.975]))
    expected = np.quantile(means, special.ndtr(bias + z / (1 - acceleration * z)))
    assert bounds("bca") == pytest.approx(tuple(expected), abs=1e-9)


def test_t_is_that_of_a_quotient():
    n, mean = len(VALUES), np.average(VALUES, weights=WEIGHTS)
    variance = sum((w * (v - mean)) ** 2 for w, v in zip(WEIGHTS, VALUES, strict=True)) / (n - 1)
    margin = special.stdtrit(n - 1, 0.975) * variance**0.5 * n**0.5 / WEIGHTS.sum()
    assert bounds("t") == pytest.approx((mean - margin, mean + margin), rel=1e-12)


@pytest.mark.parametrize("method", ["percentile", "bca", "t"])
def test_equal_weights_change_nothing(method):
    values = np.random.default_rng(3).random(40)
    plain = t_interval(values) if method == "t" else bootstrap_interval(values, method=method, n_resamples=5000)
    found = bounds(method, np.full(40, 3.0), values, n_resamples=5000)
    assert found == pytest.approx(plain[1:3], abs=1e-9)
    assert bounds(method, np.arange(1.0, 41), values, n_resamples=5000) != pytest.approx(plain[1:3], abs=1e-3)


def test_resamples_are_those_of_scipy_up_to_the_draws():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(5)
    values, weights = rng.random(60), rng.random(60) * 3

    def mean(v, w, axis=-1):
        return (v * w).sum(axis=axis) / w.sum(axis=axis)

    for method, name in (("percentile", "percentile"), ("bca", "BCa")):
        found = stats.bootstrap(
            (values, weights), mean, paired=True, vectorized=True, method=name, n_resamples=20_000, random_state=rng
        ).confidence_interval
        assert bounds(method, weights, values, n_resamples=20_000) == pytest.approx(tuple(found), abs=4e-3)
