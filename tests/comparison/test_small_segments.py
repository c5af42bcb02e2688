"""Macro means over segments of very few queries, of queries that one run has no value for, and of equal values."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy")

import fastir

NAN = math.nan


def macro(values, **options):
    """The macro means of {run: values}, of which the first half is one segment and the rest another."""
    scores = {run: {f"q{i}": value for i, value in enumerate(row)} for run, row in values.items()}
    n = len(next(iter(values.values())))
    segments = {f"q{i}": "first" if i < n // 2 else "second" for i in range(n)}
    return fastir.compare_scores(scores, segments=segments, **options).macro


def test_segments_of_two_queries_have_one_degree_of_freedom_each():
    from scipy.stats import t

    rows = [0.1, 0.4, 0.3, 0.9]
    [system] = macro({"a": rows}).systems
    parts = np.array([np.var(rows[:2], ddof=1), np.var(rows[2:], ddof=1)]) / 2
    margin = t.ppf(0.975, parts.sum() ** 2 / (parts**2).sum()) * parts.sum() ** 0.5 / 2
    assert system[2:5] == pytest.approx((0.425, 0.425 - margin, 0.425 + margin), rel=1e-12)


def test_a_segments_of_one_query_has_a_mean_without_bounds():
    [system] = macro({"a": [0.5, 0.25, 0.75]}).systems
    assert system.mean == 0.5 and math.isnan(system.low) and math.isnan(system.high)


def test_equal_values_in_every_segments_have_bounds_at_their_mean():
    found = macro({"a": [0.1] * 4, "b": [0.7, 0.7, 0.3, 0.3]})
    assert [system[2:5] for system in found.systems] == [(0.1, 0.1, 0.1), (0.5, 0.5, 0.5)]
    [pair] = found.pairs
    assert (pair.low, pair.difference, pair.high) == pytest.approx((-0.4, -0.4, -0.4), abs=1e-15)


def test_a_difference_has_both_bounds_and_no_test():
    found = macro({"a": [0.1, 0.5, 0.2, 0.9], "b": [0.3, 0.4, 0.8, 0.7]})
    [pair] = found.pairs
    assert pair.low < pair.difference < pair.high and math.isnan(pair.p_value)
    assert pair.high - pair.difference == pytest.approx(pair.difference - pair.low)
    assert pair.exact is False and pair.note == ""


def test_a_query_without_a_value_in_one_run_is_left_out_of_all():
    found = macro({"a": [0.1, 0.5, 0.7, 0.2, 0.9, 0.4], "b": [0.3, NAN, 0.4, 0.8, 0.7, NAN]})
    assert repr(found) == repr(macro({"a": [0.1, 0.7, 0.2, 0.9], "b": [0.3, 0.4, 0.8, 0.7]}))
