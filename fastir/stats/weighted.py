"""The interval of a weighted mean: a quotient of two sums, over queries that are drawn with their weights.

With equal weights it is the interval of the plain mean, up to rounding.
"""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np

from fastir.stats import student
from fastir.stats.bootstrap import corrected_levels, draws, quantiles, resample_sums
from fastir.stats.grid import to_grid

TOLERANCE = 1e-12  # how near quotients come that are equal on paper


def weighted_bounds(
    values: np.ndarray,
    weights: np.ndarray,
    method: str,
    confidence: float,
    n_resamples: SupportsIndex,
    random_state: SupportsIndex,
    n_threads: SupportsIndex | None,
) -> tuple[float, float]:
    """Return the interval of the mean of at least two different values with positive weights.

    "t" is Student's with the standard error of a quotient, by linearisation: Cochran (1977), 6.9. The acceleration of
    "bca" is a sixth of the skewness of the linearised terms.
    """
    n, total = len(values), weights.sum()
    mean = (weights * values).sum() / total
    terms = weights * (values - mean)
    if method == "t":
        error = np.sqrt((terms**2).sum() * n / (n - 1)) / total
        margin = student.quantile(n - 1, (1 + confidence) / 2) * error
        return float(mean - margin), float(mean + margin)
    means = sums(weights * values, n_resamples, random_state, n_threads)
    means /= sums(weights, n_resamples, random_state, n_threads)  # of the same draws
    levels = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        noise = TOLERANCE * np.abs(values).max()
        below = np.count_nonzero(means < mean - noise)
        equal = np.count_nonzero(means <= mean + noise) - below
        skewness = (terms**3).sum() / (terms**2).sum() ** 1.5
        levels = corrected_levels(levels, (below + equal / 2) / len(means), skewness)
        if np.isnan(levels).any():
            return np.nan, np.nan
    low, high = quantiles(means, levels)
    return float(low), float(high)


def sums(
    row: np.ndarray, n_resamples: SupportsIndex, random_state: SupportsIndex, n_threads: SupportsIndex | None
) -> np.ndarray:
    """The sum of a row in every resample."""
    drawn = resample_sums(to_grid(row[None]), draws(len(row), 1, n_resamples, random_state, n_threads))
    return drawn.sums[0] * drawn.grid.unit
