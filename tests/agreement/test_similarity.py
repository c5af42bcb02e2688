"""Similarity of runs against the definitions, spelled out slowly."""

import fractions
import math

import numpy as np
import pytest

import fastir
from fastir.analyses.agreement.measures import MEASURES
from fastir.errors import FastirWarning, NoOverlapError


def test_identical_runs_are_alike_and_disjoint_ones_are_not():
    names = [*MEASURES]
    ranking = {f"d{i}": float(i) for i in range(50)}
    same = fastir.similarity({"q": ranking}, {"q": ranking}, names)
    assert same.values[0].tolist() == pytest.approx([1, 1 - same["rbo_res"], same["rbo_res"], 1, 1, 1])
    other = fastir.similarity({"q": ranking}, {"q": {f"e{i}": float(i) for i in range(50)}}, names)
    assert other.values[0, [0, 1, 3, 4]].tolist() == [0, 0, 0, 0] and math.isnan(other["tau"])


def test_a_query_of_one_run_alone_counts_as_an_empty_ranking():
    with pytest.warns(FastirWarning, match=r"1 query is in one run alone.*'q2'"):
        result = fastir.similarity({"q1": {"a": 1.0}, "q2": {"a": 1.0}}, {"q1": {"a": 1.0}}, [*MEASURES])
    assert result.values[1, :5].tolist() == [0, 0, 1, 0, 0]
    assert result.status == {"q1": "evaluated", "q2": "missing"}
    nothing = fastir.similarity({"q": {}}, {"q": {}}, ["rbo", "overlap@3"])
    assert np.isnan(nothing.values).all()


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ({"q": {"a": 1.0}}, {"p": {"a": 1.0}}, NoOverlapError, "no query in common: 'q' and 'p'"),
        ({"q": {"a": 1.0}}, {"q": {1: 1.0}}, TypeError, "run 'a' has ids that are str, run 'b' has ids that are int"),
        (
            {"q": {"a": math.nan}},
            {"q": {"a": 1.0}},
            ValueError,
            "run 'a': run: the score is NaN, not a number .query q, document a",
        ),
        (
            {"q": {"a": 1.0}},
            {"q": {"a": fractions.Fraction(1), "b": math.nan}},
            ValueError,
            "run 'b': .*query q, document b",
        ),
        ({"q": {"a": 2.0, "b": math.nan}}, {"q": {"a": 1.0}}, ValueError, "query q, document b"),
        ({"q": {"a": "high"}}, {"q": {"a": 1.0}}, TypeError, "score must be a number"),
    ],
)
def test_bad_input_is_named(a, b, error, message):
    with pytest.raises(error, match=message):
        fastir.similarity(a, b)
