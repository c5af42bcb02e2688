"""What the tests on arrays share: how they read what the caller gives, and what they return."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Alternative = Literal["two-sided", "greater", "less"]

EPSILON = float(np.finfo(float).eps)
SMALLEST = float(np.finfo(float).tiny)  # of a p-value: none is 0
EQUAL, ZERO, SINGLE = "all differences are equal", "all differences are 0", "one query"


class Test(NamedTuple):
    """The result of a test.

    Attributes
    ----------
    statistic : float
    p_value : float
        Above 0, at most 1; NaN where it cannot be had.
    exact : bool
        It is counted over all arrangements of the data: neither resampled, nor an approximation, nor, as that of a
        t-test, by a distribution that is assumed.
    note : str
        Why the data are degenerate, "" if they are not.
    """

    statistic: float
    p_value: float
    exact: bool
    note: str = ""


class Interval(NamedTuple):
    """An estimate, its standard error and its interval; the same note as for a `Test`."""

    estimate: float
    low: float
    high: float
    standard_error: float
    note: str = ""


def differences(a: ArrayLike, b: ArrayLike | None = None) -> tuple[np.ndarray, float]:
    """a minus b as a float64 array of shape (n_queries,), and the largest magnitude that went into it.

    Raises
    ------
    ValueError
        They are not one-dimensional and equally long, are empty, or hold NaN or infinity.
    """
    a = column(a, "a")
    if b is None:
        return a, float(np.abs(a).max())
    b = column(b, "b")
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} values but b has {len(b)}; expected a pair for each query")
    return a - b, float(max(np.abs(a).max(), np.abs(b).max()))


def column(values: ArrayLike, name: str) -> np.ndarray:
    return checked(values, name, 1, "one value per query")


def table(values: ArrayLike, name: str, dimensions: int = 2) -> np.ndarray:
    return checked(values, name, dimensions, "a row per query and a column per run")


def checked(values: ArrayLike, name: str, dimensions: int, expected: str) -> np.ndarray:
    array = np.ascontiguousarray(values, np.float64)  # sums depend on the layout in the last bit
    if array.ndim != dimensions or 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ValueError(f"{name}{place} is {array[tuple(place)]}; expected finite values")
    return array


def is_constant(variance: np.ndarray | float, largest: np.ndarray | float) -> Any:
    """Whether a variance is what the rounding of equal values gives, these being up to `largest`."""
    return variance <= (8 * EPSILON * largest) ** 2


def proper(p: np.ndarray) -> np.ndarray:
    """p-values that are never 0 and never above 1; NaN stays."""
    return np.clip(p, SMALLEST, 1.0)
