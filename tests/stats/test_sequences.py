"""Confidence sequences: beside the formula written out, and how often they miss at many looks."""

import math

import numpy as np
import pytest
from scores_by_hand import close

from fastir import stats


def by_formula(values, confidence, low, high):
    """Waudby-Smith and Ramdas (2023), theorem 2, value by value."""
    alpha, bounds = 1 - confidence, (low, high)
    total = total_spread = weighted = weight_sum = cost_sum = 0.0
    found = []
    for t, value in enumerate(values, 1):
        x = (value - low) / (high - low)
        mean_before = (0.5 + total) / t
        spread_before = (0.25 + total_spread) / t
        weight = min(0.5, math.sqrt(2 * math.log(2 / alpha) / (spread_before * t * math.log(1 + t))))
        weighted, weight_sum = weighted + weight * x, weight_sum + weight
        cost_sum += 4 * (x - mean_before) ** 2 * (-math.log(1 - weight) - weight) / 4
        total += x
        total_spread += (x - (0.5 + total) / (t + 1)) ** 2
        margin = (math.log(2 / alpha) + cost_sum) / weight_sum
        centre = weighted / weight_sum
        bounds = (
            max(bounds[0], low + (high - low) * (centre - margin)),
            min(bounds[1], low + (high - low) * (centre + margin)),
        )
        found.append(bounds)
    return found


@pytest.mark.parametrize(("low", "high", "confidence"), [(0, 1, 0.95), (-1, 1, 0.9), (-3, 7, 0.99)])
def test_bounds_are_those_of_the_formula(low, high, confidence):
    values = np.random.default_rng(2).uniform(low, high, 200)
    found = stats.confidence_sequence(values, confidence=confidence, low=low, high=high)
    expected = by_formula(values, confidence, low, high)
    assert list(zip(found.low, found.high, strict=True)) == [(close(a), close(b)) for a, b in expected]
    assert found.estimates == pytest.approx([values[: t + 1].mean() for t in range(200)])


def test_bounds_hold_at_thirty_looks_where_fixed_ones_do_not():
    rng, n_repeats = np.random.default_rng(3), 400
    looks = np.arange(20, 601, 20) - 1
    missed = missed_fixed = 0
    for _ in range(n_repeats):
        values = rng.beta(2, 3, 600)  # of mean 0.4
        found = stats.confidence_sequence(values, low=0, high=1)
        missed += bool(((found.low > 0.4) | (found.high < 0.4))[looks].any())
        means = found.estimates[looks]
        errors = np.array([values[: look + 1].std(ddof=1) / (look + 1) ** 0.5 for look in looks])
        missed_fixed += bool((np.abs(means - 0.4) > 1.96 * errors).any())
    assert missed <= 0.05 * n_repeats
    assert missed_fixed >= 0.2 * n_repeats


def test_bounds_only_become_narrower_and_a_drift_is_said():
    found = stats.confidence_sequence([0.0] * 300 + [1.0] * 2000, low=0, high=1)
    known = found.low == found.low
    assert (np.diff(found.low[known]) >= 0).all() and (np.diff(found.high[known]) <= 0).all()
    assert not known.all() and not np.diff(known.astype(int)).max() > 0 and "drifted" in found.note


def test_one_value_leaves_the_whole_range():
    found = stats.confidence_sequence([0.5], low=0, high=1)
    assert (found.low[0], found.high[0], found.note) == (0.0, 1.0, "")


@pytest.mark.parametrize(("values", "words", "message"), [
    ([0.5, 1.5], {}, r"values\[1\] is 1.5; expected values from low=0.0 to high=1.0"),
    ([0.5, math.nan], {}, "finite"), ([], {}, "shape"), ([0.5], {"low": 1, "high": 1}, "low must be below high"),
    ([0.5], {"confidence": 1.5}, "confidence"),
])  # fmt: skip
def test_bad_values(values, words, message):
    with pytest.raises(ValueError, match=message):
        stats.confidence_sequence(values, **{"low": 0, "high": 1, **words})
