"""The means of Results: sums that are exact in any order of the queries, and rounded once.

`math.fsum` gives a plain sum of few values; that of many, and a weighted one, is a sum of integers (_totals). A
geometric mean takes its logarithms to 50 decimal digits. An `Accumulator` keeps the same totals from batch to batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastir.data.results._totals import UNIT, exact_total

if TYPE_CHECKING:
    import decimal

    import numpy as np


def weighted_mean(values: np.ndarray, weights: np.ndarray, total: int) -> float:
    """The exact sum of weight times value, over `total`, that of the weights, rounded once; NaN if these are all 0."""
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
