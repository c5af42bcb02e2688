"""Prediction-powered inference at the ends of its options: weights 0 and 1, one query, the rounding of equal values."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

from fastir import stats

RNG = np.random.default_rng(5)
MODEL, OTHERS = RNG.random(30), RNG.random(400)


def test_a_model_that_is_off_by_a_factor_has_weight_1_at_most():
    found = stats.ppi_mean(3 * MODEL, MODEL, OTHERS)
    assert found.lam == 1.0
    assert found.estimate == pytest.approx(OTHERS.mean() + 2 * MODEL.mean())
    assert stats.ppi_mean(-MODEL, MODEL, OTHERS).lam == 0.0


def test_with_weight_0_one_unjudged_query_is_enough():
    found = stats.ppi_mean(MODEL, MODEL, [0.5], lam=0)
    assert found.note == "" and found.low < found.estimate == MODEL.mean() < found.high
    assert math.isnan(stats.ppi_mean(MODEL, MODEL, [0.5], lam=0.5).low)


def test_one_large_value_does_not_make_rounding_of_others_a_spread():
    """0.1 + 0.2 is not 0.3: a difference of such values varies by the rounding of what it was made of."""
    large = np.array([1e9 + 0.1, 1e9 + 0.3, 1e9 + 0.7, 1e9 + 0.2])
    low = large - 1e9 - np.array([0.1, 0.3, 0.7, 0.2])  # about 1e-8 each, of one value and another
    assert np.var(low) > 0
    found = stats.ppi_difference(large, large, large, large - low, large, large - low)
    assert found.note == "all values of the model are equal; nothing varies" or found.lam == 0.0


def test_every_run_must_have_a_value_for_every_query_by_a_mapping():
    judged = {"q1": 0.1, "q2": 0.4}
    unjudged = {"q3": 0.2, "q4": 0.3}
    with pytest.raises(ValueError, match="b has a value for query 'q9', which is missing from the other run"):
        stats.ppi_difference(judged, {**judged, "q9": 0.5}, judged, judged, unjudged, unjudged)
    more = {**judged, "q9": 0.5}  # the model may have judged more
    assert stats.ppi_difference(judged, judged, more, more, unjudged, unjudged).estimate == 0.0


def test_a_share_of_a_stratum_without_queries_is_named():
    strata = ["x", "y"] * 15, ["x", "y"] * 200
    for shares, message in (({"x": 0.5, "y": 0.4, "z": 0.1}, "'z' has no query"), ({"x": 1.0}, "'y' has no share")):
        with pytest.raises(ValueError, match=message):
            stats.ppi_mean(MODEL, MODEL, OTHERS, strata=strata, shares=shares)


def test_a_difference_of_one_rounding_of_large_values_is_no_spread():
    values = 1e9 + np.arange(8) / 8
    other = values - np.spacing(1e9) * np.array([1, 0, 0, 1, 0, 1, 1, 1])
    found = stats.ppi_difference(values, other, values, other, values, other)
    assert (found.standard_error, found.lam, found.note) == (0.0, 0.0, "nothing varies")
