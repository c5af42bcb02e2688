"""Exact sums against Python's fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from fastir.data.results._totals import UNIT, column_totals, exact_total, sums_of_few

SCALES = (5e-324, 1e-320, 1e-300, 1e-10, 1.0, 1e10, 1e300, 1.7e308)


def numbers(rng, size):
    """Of every size and sign, zeros among them."""
    return (rng.random(size) - 0.5) * rng.choice([0.0, *SCALES], size)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 100, 3000])
@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_fractions(size, seed):
    rng = np.random.default_rng([size, seed])
    values, weights = numbers(rng, size), numbers(rng, size)
    assert Fraction(exact_total(values), 1 << UNIT) == sum(map(Fraction, values.tolist()))
    products = zip(values.tolist(), weights.tolist(), strict=True)
    assert Fraction(exact_total(values, weights), 1 << UNIT) == sum(Fraction(a) * Fraction(b) for a, b in products)


@pytest.mark.parametrize("value", [*SCALES, -1.0, 2**-1074, -(2**-1074), 1.7976931348623157e308])
def test_the_largest_and_smallest_products_fit(value):
    for count in (1, 1000):
        values = np.full(count, value)
        assert Fraction(exact_total(values, values), 1 << UNIT) == count * Fraction(value) ** 2
        assert exact_total(values, -values) == -exact_total(values, values)


def test_any_order_and_stride():
    values = numbers(np.random.default_rng(1), 300).reshape(100, 3)
    column = values[:, 1]
    assert exact_total(column) == exact_total(column.copy()) == exact_total(column[::-1])


def test_what_is_no_number_is_refused():
    with pytest.raises(OverflowError, match="Infinity"):
        exact_total(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="NaN"):
        exact_total(np.array([1.0]), np.array([np.nan]))
    with pytest.raises(ValueError, match="2 entries but values 1"):
        exact_total(np.ones(1), np.ones(2))


def round_off(column):
    """The sum that fsum would give if nothing overflowed on the way, and None if it does itself."""
    try:
        return float(sum(map(Fraction, column))), len(column)
    except OverflowError:
        return None


@pytest.mark.parametrize("size", [0, 1, 2, 1000])
@pytest.mark.parametrize("n_columns", [1, 5, 19])
@pytest.mark.parametrize("seed", range(3))
def test_sums_of_columns_are_exact_and_rounded_once(size, n_columns, seed):
    rng = np.random.default_rng([size, n_columns, seed])
    values = numbers(rng, (size, n_columns)) if seed else rng.random((size, n_columns))
    values[rng.random(values.shape) < 0.1] = np.nan
    totals = column_totals(values)
    assert totals == [round_off(column[column == column].tolist()) for column in values.T]
    if seed == 0:
        assert [total for total, _ in totals] == [math.fsum(column[column == column]) for column in values.T]


def test_sums_of_columns_of_the_largest_and_smallest_numbers():
    tiny, huge = 2**-1074, 1.7976931348623157e308
    columns = [tiny, tiny, -tiny], [huge, huge, -huge], [-0.0] * 3, [huge, -huge, 2**53 + 1.0], [1.0, 2**-53, 2**-106]
    assert (
        column_totals(np.array(columns).T) == column_totals(np.array(columns).T[::-1]) == list(map(round_off, columns))
    )


def test_columns_with_an_infinite_number_or_sum_have_no_total():
    largest = 1.7976931348623157e308
    values = np.array([[1.0, np.inf, -np.inf, largest], [2.0, np.inf, np.nan, largest], [np.nan] * 4])
    assert column_totals(values) == [(3.0, 2), None, None, None]


@pytest.mark.parametrize("seed", range(12))
def test_many_products_are_added_exactly_whatever_their_sizes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(257, 600))
    values = rng.normal(size=n) * np.exp2(rng.integers(-60, 60, n).astype(float))
    weights = rng.random(n) * np.exp2(rng.integers(-500, 500, n).astype(float))
    values[:: 2 + seed], weights[::7] = 0.0, 0.0
    values[3:6], weights[3:6] = (1e308, 5e-324, -1.7e308), (1.7e308, 5e-324, 1e-320)
    products = zip(values.tolist(), weights.tolist(), strict=True)
    assert Fraction(exact_total(values, weights), 1 << UNIT) == sum(Fraction(a) * Fraction(b) for a, b in products)
    assert Fraction(exact_total(values), 1 << UNIT) == sum(map(Fraction, values.tolist()))


@pytest.mark.parametrize("other", [0.0, 1.0, 1e308])
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_one_of_many_numbers_that_is_not_finite_is_refused(bad, other):
    values, weights = np.full(500, other), np.ones(500)
    weights[400] = bad
    for pair in ((values, weights), (weights, values), (weights,)):
        with pytest.raises((OverflowError, ValueError)):
            exact_total(*pair)


@pytest.mark.parametrize("spread", [0, 10, 60, 300])
def test_sums_of_few_rows_are_those_of_fsum_or_are_not_said(spread):
    rng = np.random.default_rng(spread)
    for n in (0, 1, 2, 50, 300):
        values = rng.choice([-1.0, 1.0], (n, 7)) * rng.random((n, 7)) * 2.0 ** rng.integers(-spread, spread + 1, (n, 7))
        found = sums_of_few(np.asfortranarray(values))
        for total, column in zip(found, values.T.tolist(), strict=True):
            assert total == math.fsum(column) or (math.isnan(total) and spread > 10)
    halves = np.array([[1.0, 1.0], [2.0**-53, 2.0**-53], [0.0, 2.0**-106]])
    assert sums_of_few(halves) == [1.0, 1.0 + 2.0**-52]  # a tie, and just above it


def test_sums_of_few_rows_that_have_no_number_are_not_said():
    values = np.array([[math.nan, math.inf, -math.inf, 1e308, 1.0], [1.0, 1.0, math.inf, 1e308, 2.0]])
    assert list(map(math.isnan, sums_of_few(values))) == [True] * 4 + [False]
