"""The names of measures of similarity, and those that are none."""

import pytest

import fastir
from fastir.errors import UnknownMetricError


@pytest.mark.parametrize(("measure", "message"), [
    ("rbx", "unknown measure 'rbx'; expected one of rbo, rbo_min"),
    ("jacard@3", "unknown measure 'jacard'; did you mean 'jaccard'?"),
    ("rbo-l2", "measure 'rbo-l2' is malformed"),
    ("rbo@10", "'rbo@10': rbo takes no cutoff"),
    ("overlap@0", "the cutoff k must be between 1 and"),
    ("rbo(p=1)", "p must be a number above 0 and below 1, got '1'"),
    ("rbo(ties=c)", "ties must be w or a or b, got 'c'"),
    ("rbo(judged_only=true)", "has no parameter 'judged_only'"),
    ("tau(p=0.5)@3", "has no parameter 'p'"),
    ("rbo(q=2)", "has no parameter 'q'"),
])  # fmt: skip
def test_unknown_measures_are_named(measure, message):
    with pytest.raises(UnknownMetricError, match=message):
        fastir.similarity({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, measure)


def test_names_are_read_as_those_of_metrics():
    runs = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}
    names = ["rbo(p=0.5, ties=a)", " RBO (P=.5,ties=A) ", "rbo( ties = 'a', p = 5e-1 )"]
    assert len(set(dict(fastir.similarity(*runs, names)).values())) == 1


@pytest.mark.parametrize(
    "name", ["rbo" + " " * (1 << 17) + "x", "rbo()" + " " * (1 << 17) + "x", "rbo@" + " " * (1 << 17)]
)
def test_a_name_of_many_blanks_is_refused_in_linear_time(name):
    """The names are so long that a step for each pair of their characters would not end."""
    with pytest.raises(fastir.UnknownMetricError, match="unknown measure 'rbo"):
        fastir.similarity({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, name)
