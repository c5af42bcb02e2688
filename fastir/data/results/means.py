"""The means of Results: sums that are exact in any order of the queries, and rounded once.

`math.fsum` sums few values without weights; many values, and weighted values, are summed as integers (_totals). A
geometric mean takes its logarithms to 50 decimal digits. An `Accumulator` keeps the same totals from batch to batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.results._totals import UNIT, exact_total

if TYPE_CHECKING:
    import decimal


def weighted_mean(values: np.ndarray, weights: np.ndarray, total: int) -> float:
    """The exact sum of weight times value, over the weights' `total`, rounded once; NaN if all weights are 0."""
    count = total / (1 << UNIT)
    return exact_total(values, weights) / (1 << UNIT) / count if count else math.nan


def digits() -> decimal.Context:
    """The decimal context in which logarithms are computed."""
    import decimal

    return decimal.Context(prec=50, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def total_log(values: Sequence[float], weights: Sequence[float] | None = None) -> decimal.Decimal:
    """The sum of weight times logarithm of positive numbers."""
    import functools

    to = digits()
    exact = to.create_decimal
    if weights is None:
        return to.ln(functools.reduce(to.multiply, map(exact, values)))
    logs = (to.multiply(exact(weight), to.ln(exact(value))) for weight, value in zip(weights, values, strict=True))
    return functools.reduce(to.add, logs)


def geometric_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The weighted geometric mean of positive numbers, computed to 50 digits and rounded once."""
    count = float(len(values)) if weights is None else math.fsum(weights)
    to = digits()
    return float(to.exp(to.divide(total_log(values, weights), to.create_decimal(count)))) if count else math.nan


def column_mean(values: list[float], how: str) -> float:
    """The correctly rounded sum of the values that are not NaN; for a mean, divided by their number.

    `how` is an aggregate of Results, as below.
    """
    n, total = len(values), math.fsum(values)
    if total != total:
        if how.endswith("_or_nan"):
            return math.nan
        values = [value for value in values if value == value]
        total = math.fsum(values)
    if how.startswith("geometric"):
        return geometric_mean(values) if values else math.nan
    return mean_from_sum(how, total, len(values), n)


def mean_from_sum(how: str, total: float, n: int, n_queries: int) -> float:
    """What is made of the sum of the n values that are not NaN."""
    if n < n_queries and how.endswith("_or_nan"):
        return math.nan
    if how in ("sum", "count"):
        return total
    return total / n if n else math.nan


def micro_mean(values: np.ndarray, how: str, denominators: np.ndarray) -> float:
    """The sum of numerators over the sum of denominators, each exact and rounded once; 0 where nothing divides."""
    if how.endswith("_or_nan") and (values != values).any():
        return math.nan
    total = math.fsum(denominators.tolist())
    return math.fsum(numerators_of(values, denominators).tolist()) / total if total else 0.0


def numerators_of(values: np.ndarray, denominators: np.ndarray) -> np.ndarray:
    """The numerators of quotients: whole numbers, except where equal scores make them expected ones; 0 of NaN."""
    import numpy as np

    numerators = np.where(values == values, values * denominators, 0.0)
    whole = np.rint(numerators)
    return np.where(abs(numerators - whole) <= 1e-12 * (1.0 + whole), whole, numerators)


def exact_parts(values: np.ndarray) -> tuple[list[float], int] | None:
    """Few floats with the exact sum of the values that are not NaN, and how many those are; None if one is infinite."""
    values = values[values == values]
    try:
        total, parts = exact_total(values), []
        while total:
            parts.append(total / (1 << UNIT))
            numerator, denominator = parts[-1].as_integer_ratio()
            total -= numerator * ((1 << UNIT) // denominator)
    except OverflowError:
        return None
    return parts, len(values)


def weigh_queries(weights: Mapping[Any, float], query_ids: Sequence[Any]) -> tuple[np.ndarray, int]:
    """The weights of queries as an array, and their exact sum."""
    in_order = list(weights) == list(query_ids)  # most often
    each = weights.values() if in_order else map(weights.__getitem__, query_ids)
    array = np.fromiter(each, float, len(query_ids))
    return array, exact_total(array)


def weighted_column_mean(values: np.ndarray, how: str, weights: np.ndarray, total: int) -> float:
    """The mean of values that are not NaN, by the weights of their queries; `total` is the sum of the weights."""
    defined = values == values
    if not defined.all():
        if how.endswith("_or_nan"):
            return math.nan
        values, weights = values[defined], weights[defined]
        total = exact_total(weights)
    if not len(values):
        return math.nan
    if how.startswith("geometric"):
        return geometric_mean(values.tolist(), weights.tolist())
    return weighted_mean(values, weights, total)
