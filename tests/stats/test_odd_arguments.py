"""fastir.stats with arguments that are no numbers, too many or out of range: an error that names them, or the limit."""

import math
import warnings

import numpy as np
import pytest

from fastir import stats

SEVERAL = [[5, 6], np.array([5.0]), (5,), "5", None, {}, True]


@pytest.mark.parametrize("value", SEVERAL, ids=repr)
@pytest.mark.parametrize(("name", "call"), [
    ("effect_size", lambda x: stats.power(x, 50)), ("n_queries", lambda x: stats.power(0.3, x)),
    ("alpha", lambda x: stats.power(0.3, 50, alpha=x)), ("effect_size", lambda x: stats.sample_size(x)),
    ("power", lambda x: stats.sample_size(0.3, power=x)), ("n_queries", lambda x: stats.detectable(x)),
    ("alpha", lambda x: stats.detectable(50, alpha=x)), ("df", lambda x: stats.hedges_factor(x)),
    ("df", lambda x: stats.studentized_range_sf(3.0, 3, x)),
    ("probability", lambda x: stats.studentized_range_ppf(x, 3, 10)),
    ("confidence", lambda x: stats.t_interval([1, 2, 4], confidence=x)),
])  # fmt: skip
def test_one_number_is_one_number(name, call, value):
    with pytest.raises(TypeError, match=f"^{name} must be a number, got "):
        call(value)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: stats.studentized_range_sf(3.0, 3, False), "df must be a number"),
    (lambda: stats.studentized_range_sf(3.0, 3, 0), "df must be at least 1"),
    (lambda: stats.studentized_range_sf(3.0, 1, 10), "k must be at least 2"),
    (lambda: stats.studentized_range_sf(3.0, 10**30, 10), "k must be at most"),
    (lambda: stats.studentized_range_sf([3.0, -1.0], 3, 10), "q must be numbers from 0 up"),
    (lambda: stats.studentized_range_sf(math.nan, 3, 10), "q must be numbers from 0 up"),
    (lambda: stats.studentized_range_ppf(1, 3, 10), "probability must be between 0 and 1"),
    (lambda: stats.power(math.nan, 50), "effect_size must be a number, got nan"),
    (lambda: stats.power(0.3, 1), "n_queries must be above 1"),
    (lambda: stats.detectable(-5), "n_queries must be at least 0"),
    (lambda: stats.detectable(50, power=0.01), "power must be above alpha"),
    (lambda: stats.sample_size(0.5, power=0.05), "power must be above alpha"),
    (lambda: stats.sample_size(0), "effect_size must not be 0"),
    (lambda: stats.sample_size(1e-200), "effect_size must not be 0"),
])  # fmt: skip
def test_what_is_out_of_range(call, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        call()


def test_limits():
    """Infinite arguments have the value that large ones come near to; each of these calls ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stats.power(math.inf, 5) == 1.0
        assert stats.sample_size(math.inf) == stats.sample_size(1e300) < 2
        assert stats.detectable(math.inf) == 0.0 < stats.detectable(10**9) < 1e-3
        assert stats.hedges_factor(math.inf) == stats.hedges_factor(1e300) == 1.0
        assert stats.studentized_range_sf([0.0, math.inf], 3, 10).tolist() == [1.0, 0.0]


def test_the_factor_for_many_degrees_of_freedom_goes_on_where_the_other_ends():
    few, many = stats.hedges_factor(1e6), 1 - 3 / (4e6 - 1)
    assert math.isclose(few, many, rel_tol=1e-12)
    assert stats.hedges_factor(2e7) == 1 - 3 / (8e7 - 1)
