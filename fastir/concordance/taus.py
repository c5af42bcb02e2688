"""Correlations of two rankings of systems, on plain arrays: larger values are better, ties are equal values.

All work on the matrix of signs of differences, n × n, because n is the number of systems: tens, rarely a thousand.
"""

from __future__ import annotations

import numpy as np


def signs(values: np.ndarray) -> np.ndarray:
    """1 where the row's value is above the column's, -1 below, 0 equal."""
    return np.sign(values[:, None] - values[None, :]).astype(np.int8)


def places(values: np.ndarray) -> np.ndarray:
    """The place of each value, 1 for the best; equal values share the best of their places."""
    return 1 + (values[None, :] > values[:, None]).sum(axis=1)


def tau_b(a: np.ndarray, b: np.ndarray) -> float:
    """Kendall's tau with ties on either side."""
    sa, sb = signs(a).astype(np.int64), signs(b).astype(np.int64)
    return tau_of_pairs(int((sa * sb).sum()), int(np.abs(sa).sum()), int(np.abs(sb).sum()))


def tau_of_pairs(difference: int, untied_a: int, untied_b: int) -> float:
    """tau_b from counts of ordered pairs: in the same order less in opposite orders, and not tied on either side."""
    pairs = float(untied_a) * float(untied_b)
    return between(float(difference) / pairs**0.5) if pairs else np.nan


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """The correlation of ranks, where equal values have the mean of theirs."""
    ra, rb = (signs(values).astype(np.int64).sum(axis=1) for values in (a, b))  # twice the ranks, from their mean
    norm = float((ra * ra).sum()) * float((rb * rb).sum())
    return between(float((ra * rb).sum()) / norm**0.5) if norm else np.nan


def tau_ap(truth: np.ndarray, estimate: np.ndarray) -> float:
    """AP correlation of an estimated ranking with the true one; NaN if either has ties, for which it is not defined."""
    return np.nan if has_ties(estimate) else tau_ap_a(truth, estimate)


def tau_ap_a(truth: np.ndarray, estimate: np.ndarray) -> float:
    """The mean of tau_ap over all orders of tied estimates; NaN if the truth has ties."""
    if has_ties(truth):
        return np.nan
    correct, above = correct_above(truth, estimate)
    total = 0.0
    for first in np.unique(above):
        group = above == first
        size = int(group.sum())
        behind = np.arange(size)  # how many of the group stand before each place of it
        ahead = np.maximum(first + behind, 1)  # how many stand before each place; the first of all counts for nothing
        total += correct[group].sum() * (1 / ahead).sum() / size
        total += (behind / ahead).sum() / 2  # of the pairs within the group half are in the right order
    return between(2 * total / (len(truth) - 1) - 1)


def tau_ap_b(a: np.ndarray, b: np.ndarray) -> float:
    """The symmetric AP correlation, with ties on either side; NaN if one side is all ties."""
    return (half_of_b(a, b) + half_of_b(b, a)) / 2


def half_of_b(truth: np.ndarray, estimate: np.ndarray) -> float:
    """The mean over all but the best of the share of those strictly above that are rightly there, from -1 to 1."""
    correct, above = correct_above(truth, estimate)
    lower = above > 0
    return between(2 * float((correct[lower] / above[lower]).mean()) - 1) if lower.any() else np.nan


def correct_above(truth: np.ndarray, estimate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each system how many stand strictly above it, rightly and in all."""
    better = signs(estimate).T == 1
    return (better & (signs(truth).T == 1)).sum(axis=1), better.sum(axis=1)


def has_ties(values: np.ndarray) -> bool:
    return len(np.unique(values)) < len(values)


def between(value: float) -> float:
    """A correlation without the last digit by which rounding may leave its range, nor a sign of 0."""
    return min(1.0, max(-1.0, float(value))) + 0.0
