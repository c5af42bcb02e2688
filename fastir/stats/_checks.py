"""Shared by the tests on arrays: how they read their arguments, and the records that they return."""

from __future__ import annotations

import functools
import importlib.util
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Alternative = Literal["two-sided", "greater", "less"]

# The default of n_resamples: a p-value of 0.001 has the standard error 0.0001, a family of 5000 p-values can have one
# below 0.05 after its correction, and the bootstrap of 1000 queries takes 0.1 s.
N_RESAMPLES = 10_000

EPSILON = float(np.finfo(float).eps)
MIN_P = float(np.finfo(float).tiny)  # the smallest p-value, because none is 0
LARGEST_VALUE = 1e100  # the largest magnitude of a value: the cubes of a million such values have a sum
EQUAL, ZERO, SINGLE = "all differences are equal", "all differences are 0", "one query"


class Test(NamedTuple):
    """The result of a test.

    Attributes
    ----------
    statistic : float
    p_value : float
        Above 0, at most 1; NaN if it cannot be computed.
    exact : bool
        Whether the p-value is counted over all arrangements of the data. It is not exact if resampled or approximated,
        or from an assumed distribution, as in a t-test.
    note : str
        Why the data are degenerate; "" if they are not.
    """

    statistic: float
    p_value: float
    exact: bool
    note: str = ""


class Interval(NamedTuple):
    """An estimate with its standard error and confidence interval, and a note as for a `Test`."""

    estimate: float
    low: float
    high: float
    standard_error: float
    note: str = ""


def differences(a: ArrayLike, b: ArrayLike | None = None) -> tuple[np.ndarray, float]:
    """a minus b as a float64 array of shape (n_queries,), and the largest magnitude among a and b."""
    if b is not None:
        refuse_other_index(a, b)
    a = column(a, "a")
    if b is None:
        return a, float(np.abs(a).max())
    b = column(b, "b")
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} values but b has {len(b)}; expected a pair for each query")
    return a - b, float(max(np.abs(a).max(), np.abs(b).max()))


def refuse_other_index(a: Any, b: Any) -> None:
    """Raise ValueError for pandas columns with ids in different orders.

    A default RangeIndex, 0 to n - 1, carries no ids. Beside it, an index that permutes the same numbers says the rows.
    """
    if not (hasattr(a, "iloc") and hasattr(b, "iloc")):
        return
    ids = [side.index.tolist() for side in (a, b)]
    carries = [getattr(side.index, "start", None) != 0 or side.index.step != 1 for side in (a, b)]
    if len(ids[0]) == len(ids[1]) and ids[0] != ids[1] and (all(carries) or set(ids[0]) == set(ids[1])):
        place = next(i for i in range(len(ids[0])) if ids[0][i] != ids[1][i])
        raise ValueError(
            f"a and b are paired by position, but their indexes differ: at position {place} a has {ids[0][place]!r}, b "
            f"has {ids[1][place]!r}; expected the same queries in the same order, as b.loc[a.index] has them"
        )


def column(values: ArrayLike, name: str) -> np.ndarray:
    return check_values(values, name, 1, "one value per query")


def check_table(values: ArrayLike, name: str, dimensions: int = 2) -> np.ndarray:
    return check_values(values, name, dimensions, "a row per query and a column per run")


def check_values(values: ArrayLike, name: str, dimensions: int, expected: str) -> np.ndarray:
    try:
        array = np.ascontiguousarray(values, np.float64)  # sums depend on the layout in the last bit
    except (TypeError, ValueError) as error:
        kind = ValueError if isinstance(error, ValueError) else TypeError
        raise kind(f"{name}: {error}; expected {expected}") from None
    if array.ndim != dimensions or 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")
    usable = np.abs(array) <= LARGEST_VALUE
    if not usable.all():
        place = np.argwhere(~usable)[0].tolist()
        value = array[tuple(place)]
        limit = f" of magnitude up to {LARGEST_VALUE:g}" if np.isfinite(value) else ""
        raise ValueError(f"{name}{place} is {value}; expected finite values{limit}")
    return array


def is_constant(variance: np.ndarray | float, largest: np.ndarray | float) -> Any:
    """Whether a variance may be due to the rounding of equal values of a magnitude up to `largest`."""
    return variance <= (8 * EPSILON * largest) ** 2


def proper(p: np.ndarray) -> np.ndarray:
    """p-values that are never 0 and never above 1; NaN stays."""
    return np.clip(p, MIN_P, 1.0)


# ---- SciPy: its import takes longer than fastir and NumPy together ---------------------------------------------------
MISSING_SCIPY = "fastir.stats needs SciPy: pip install 'fastir[stats]'"


@functools.cache
def special() -> ModuleType:
    """`scipy.special`, or what to install."""
    try:
        from scipy import special
    except ImportError:
        raise ImportError(MISSING_SCIPY) from None
    return special


def check_scipy() -> None:
    """Raise if SciPy, which is needed later, is not installed; do not import it."""
    if not has_scipy():
        raise ImportError(MISSING_SCIPY)


def has_scipy() -> bool:
    return importlib.util.find_spec("scipy") is not None
