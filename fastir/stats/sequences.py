"""Intervals that hold at every look: confidence sequences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.checks import number, proportion
from fastir.stats._checks import column

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_BET = 0.5  # of the weight of a value, in the unit range


class ConfidenceSequence(NamedTuple):
    """The mean and its bounds after each value: float64 arrays of shape (n_values,), and a note as for a `Test`."""

    estimates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    note: str = ""


def confidence_sequence(values: ArrayLike, *, confidence: float = 0.95, low: float, high: float) -> ConfidenceSequence:
    """Bounds of a mean that hold at every look at once, for a decision that may stop whenever the bounds allow it.

    A fixed interval that is looked at after each value excludes the true mean much more often than it says. Here the
    probability that any of the bounds, now or later, excludes it is at most 1 - confidence.

    Parameters
    ----------
    values : float array of shape (n_values,)
        In the order in which they came: one value per query, or per cluster of queries; or differences of two runs.
    confidence : float
    low, high : float
        The range that no value can leave: 0 and 1 for most metrics, -1 and 1 for their differences.

    Returns
    -------
    ConfidenceSequence
        After each value the mean so far and its bounds, which only become narrower. **Undefined**: where the bounds
        would cross, the mean has drifted; from there on they are NaN, and the `note` says it.

    Raises
    ------
    ValueError
        A value is NaN or outside of the range, or the range is empty.

    Notes
    -----
    Waudby-Smith and Ramdas (2023), the predictable plug-in empirical Bernstein sequence, theorem 2, with the running
    intersection of its intervals. It assumes that each value has the same mean given those before, and no more.

    Examples
    --------
    >>> from fastir import stats
    >>> found = stats.confidence_sequence([0.6, 0.7] * 200, low=0, high=1)
    >>> print(found.estimates[-1].round(4), found.low[-1].round(4), found.high[-1].round(4))
    0.65 0.6305 0.6694
    """
    x, alpha = column(values, "values"), 1 - proportion("confidence", confidence)
    low, high = number("low", low), number("high", high)
    if not low < high:
        raise ValueError(f"low must be below high, got {low!r} and {high!r}")
    outside = np.flatnonzero((x < low) | (x > high))
    if len(outside):
        place = int(outside[0])
        raise ValueError(f"values[{place}] is {x[place]}; expected values from low={low!r} to high={high!r}")
    unit = (x - low) / (high - low)
    looks = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(unit)) / (looks + 1)
    spreads = (0.25 + np.cumsum((unit - means) ** 2)) / (looks + 1)
    means_before, spreads_before = np.append(0.5, means[:-1]), np.append(0.25, spreads[:-1])
    cost = math.log(2 / alpha)
    weights = np.minimum(MAX_BET, np.sqrt(2 * cost / (spreads_before * looks * np.log1p(looks))))
    total = np.cumsum(weights)
    centre = np.cumsum(weights * unit) / total
    margin = (cost + np.cumsum((unit - means_before) ** 2 * (-np.log1p(-weights) - weights))) / total
    lower = np.maximum.accumulate(np.maximum(centre - margin, 0.0)) * (high - low) + low
    upper = np.minimum.accumulate(np.minimum(centre + margin, 1.0)) * (high - low) + low
    crossed = lower > upper
    lower[crossed] = upper[crossed] = np.nan
    note = "the bounds cross: the mean has drifted" if crossed.any() else ""
    return ConfidenceSequence(np.cumsum(x) / looks, lower, upper, note)
