"""The names of measures of similarity, and those that are none."""

import pytest

import fastir
from fastir.errors import UnknownMetricError


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("rbx", "there is no measure 'rbx'; the measures are rbo, rbo_min"),
        ("rbo@10", "'rbo@10': it has no cutoff"),
        ("overlap@0", "@ must be positive"),
        ("rbo(p=1)", "p must be between 0 and 1, got '1'"),
        ("rbo(ties=c)", "ties must be one of w, a, b, got 'c'"),
        ("tau(p=0.5)@3", "has no parameter 'p'"),
        ("rbo(q=2)", "has no parameter 'q'"),
    ],
)
def test_unknown_measures_are_named(measure, message):
    with pytest.raises(UnknownMetricError, match=message):
        fastir.similarity({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, measure)


@pytest.mark.parametrize(
    "name", ["rbo" + " " * (1 << 17) + "x", "rbo()" + " " * (1 << 17) + "x", "rbo@" + " " * (1 << 17)]
)
def test_a_name_of_many_blanks_is_refused_in_linear_time(name):
    """The names are so long that a step for each pair of their characters would not end."""
    with pytest.raises(fastir.UnknownMetricError, match="there is no measure 'rbo"):
        fastir.similarity({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, name)
