"""Correlations of two rankings of systems, on plain arrays: larger values are better, ties are equal values.

All follow from ranks, which sorting gives, and from the number of systems above each one on both sides.
"""

from __future__ import annotations

import numpy as np

from fastir.engine.columns.rows import occurrences, repeat
from fastir.stats._concordance import count_above


def spans(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each value how many are below it, and how many are not above it."""
    n, order = len(values), np.argsort(values)
    rising = values[order]
    starts = np.flatnonzero(np.concatenate(([True], rising[1:] != rising[:-1])))
    sizes = np.diff(np.append(starts, n))
    below, until = np.empty((2, n), np.int64)
    below[order], until[order] = repeat(starts, sizes), repeat(starts + sizes, sizes)
    return below, until


def places(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, 1 for the best; equal values share the best rank. NaN counts as the worst."""
    return 1 + len(values) - spans(np.where(np.isnan(values), -np.inf, values))[1]


class Orders:
    """What the coefficients of two rankings have in common."""

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.a: tuple[np.ndarray, np.ndarray] = spans(a)
        self.b: tuple[np.ndarray, np.ndarray] = spans(b)
        # the best of a first, and of those that a ties the worst of b: none of them is above a later one
        both = (len(a) - self.a[1]) * len(a) + self.b[0]
        order = np.argsort(both).astype(np.int64, copy=False)
        self.both: np.ndarray = both[order]
        self.correct: np.ndarray = count_above(order, self.b[0])  # how many systems are strictly above on both sides

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rank of each system by a, and by b."""
        n = len(self.correct)
        return 1 + n - self.a[1], 1 + n - self.b[1]

    def untied(self) -> int:
        """How many ordered pairs of systems differ on a side or on both."""
        starts = np.flatnonzero(np.diff(self.both, prepend=-1, append=-1))
        return len(self.both) ** 2 - int((np.diff(starts) ** 2).sum())


def count_untied(spanned: tuple[np.ndarray, np.ndarray]) -> int:
    """How many ordered pairs of systems differ, of which spans() is given."""
    below, until = spanned
    return len(below) ** 2 - int((until - below).sum())


def tau_b(a: np.ndarray, b: np.ndarray, orders: Orders | None = None) -> float:
    """Kendall's tau with ties on either side."""
    orders = orders or Orders(a, b)
    untied_a, untied_b = count_untied(orders.a), count_untied(orders.b)
    untied_both = untied_a + untied_b - orders.untied()
    return tau_of_pairs(4 * int(orders.correct.sum()) - untied_both, untied_a, untied_b)


def tau_of_pairs(difference: int, untied_a: int, untied_b: int) -> float:
    """tau_b from counts of ordered pairs: in the same order less in opposite orders, and not tied on either side."""
    pairs = float(untied_a) * float(untied_b)
    return clip_correlation(float(difference) / pairs**0.5) if pairs else np.nan


def spearman(a: np.ndarray, b: np.ndarray, orders: Orders | None = None) -> float:
    """The correlation of ranks, where equal values have the mean of theirs."""
    orders = orders or Orders(a, b)
    ra, rb = (below + until - len(a) for below, until in (orders.a, orders.b))  # twice the ranks, from their mean
    norm = float((ra * ra).sum()) * float((rb * rb).sum())
    return clip_correlation(float((ra * rb).sum()) / norm**0.5) if norm else np.nan


def tau_ap(truth: np.ndarray, estimate: np.ndarray, orders: Orders | None = None) -> float:
    """AP correlation of an estimated ranking with the true one; NaN if either has ties, for which it is not defined."""
    orders = orders or Orders(truth, estimate)
    return np.nan if has_ties(orders.b) else tau_ap_a(truth, estimate, orders)


def tau_ap_a(truth: np.ndarray, estimate: np.ndarray, orders: Orders | None = None) -> float:
    """The mean of tau_ap over all orders of tied estimates; NaN if the truth has ties."""
    orders = orders or Orders(truth, estimate)
    if has_ties(orders.a):
        return np.nan
    above = orders.places[1] - 1
    sizes = occurrences(above)  # of groups of ties, by the number of systems above them
    first = np.flatnonzero(sizes)
    sizes, rightly = sizes[first], occurrences(above, orders.correct)[first]
    terms = np.zeros((len(first), 2))  # of each group of ties: from pairs with systems above it, and from those in it
    terms[:, 0] = rightly * (1 / np.maximum(first, 1))
    for row in np.flatnonzero(sizes > 1).tolist():
        size = int(sizes[row])
        behind = np.arange(size)  # how many of the group come before each of it
        ahead = np.maximum(first[row] + behind, 1)  # how many come before each; the first of all counts nothing
        terms[row, 0] = rightly[row] * (1 / ahead).sum() / size
        terms[row, 1] = (behind / ahead).sum() / 2  # of the pairs within the group half are in the right order
    total = float(np.cumsum(terms)[-1])
    return clip_correlation(2 * total / (len(truth) - 1) - 1)


def tau_ap_b(a: np.ndarray, b: np.ndarray, orders: Orders | None = None) -> float:
    """The symmetric AP correlation, with ties on either side; NaN if one side is all ties."""
    orders = orders or Orders(a, b)
    places_a, places_b = orders.places
    return (half_of_b(orders.correct, places_b) + half_of_b(orders.correct, places_a)) / 2


def half_of_b(correct: np.ndarray, places: np.ndarray) -> float:
    """Return the mean fraction of systems strictly above each one, except the best, that belong there; from -1 to 1."""
    above = places - 1
    lower = above > 0
    return clip_correlation(2 * float((correct[lower] / above[lower]).mean()) - 1) if lower.any() else np.nan


def has_ties(spanned: tuple[np.ndarray, np.ndarray]) -> bool:
    """Whether values are equal, of which spans() is given."""
    below, until = spanned
    return bool((until - below > 1).any())


def clip_correlation(value: float) -> float:
    """A correlation without the last digit by which rounding may leave its range, nor a sign of 0."""
    return min(1.0, max(-1.0, float(value))) + 0.0
