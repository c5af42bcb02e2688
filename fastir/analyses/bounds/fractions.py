"""The best thresholds of sums over ranks that are divided by what depends on labels, too: DCG and sums of precision.

A threshold is the number of unjudged documents that have a label. Trying each of them on the whole ranking would take
the square of its length; running sums find the best one, and the kernel then measures its labeling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.analyses.bounds._labelings import UNJUDGED
from fastir.analyses.bounds._segments import extreme_places, precision_sums, running_sums
from fastir.analyses.bounds.families import Family, family
from fastir.analyses.bounds.unjudged_ranks import positions
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from fastir.analyses.bounds.unjudged_ranks import UnjudgedRanks

MAX_ROUNDS = 100  # of Dinkelbach's method, which needs about five


class Ratio(NamedTuple):
    """DCG over ideal DCG as the options define them."""

    levels: tuple[int, ...]  # labels, rising; gains rise with them, and between two levels no known label lies
    gains: tuple[float, ...]
    cutoff: int
    jk2: bool  # the discount
    ideal: str  # a word of IDEAL_CODES


def discounts(n: int, jk2: bool) -> np.ndarray:
    """What the gains at the ranks from 1 to n are multiplied by."""
    ranks = np.arange(1, n + 1)
    return 1.0 / np.log2(np.maximum(ranks, 2) if jk2 else ranks + 1)


class Ideals:
    """The ideal DCG of the queries of a block, from how many of their documents reach each level of labels.

    `reached` says how many judged documents of the ideal ranking do, in rows of queries.
    """

    ratio: Ratio
    num_ret: np.ndarray

    def __init__(self, ratio: Ratio, rankings: UnjudgedRanks) -> None:
        self.ratio, self.num_ret = ratio, rankings.num_ret
        sizes = np.diff(rankings.judged_offsets) + np.diff(rankings.offsets) + rankings.unseen
        longest = int(max(sizes.max(initial=0), rankings.num_ret.max(initial=0)))
        if ratio.ideal == "full" and ratio.cutoff < MAX_DEPTH:
            longest = max(longest, ratio.cutoff)
        self.weights: np.ndarray = discounts(longest, ratio.jk2)
        self.sums: np.ndarray = np.concatenate([[0.0], np.cumsum(self.weights)])
        labels, offsets = rankings.judged_labels, rankings.judged_offsets
        if ratio.ideal == "retrieved":
            labels, offsets = np.where(rankings.labels == UNJUDGED, -1, rankings.labels), rankings.offsets
        rows, n_queries = list_of_each(offsets), len(offsets) - 1
        self.reached: np.ndarray = np.stack(
            [occurrences(rows[labels >= level], minlength=n_queries) for level in ratio.levels], 1
        )

    def gains(self, labels: np.ndarray) -> np.ndarray:
        """The gains of labels, 0 of negative ones."""
        return np.where(labels < 0, 0.0, np.interp(labels, self.ratio.levels, self.ratio.gains))

    def discounts(self, rows: np.ndarray, n: np.ndarray) -> np.ndarray:
        """The sums of the discounts of n documents of the ideal rankings of some queries."""
        cutoff, num_ret = self.ratio.cutoff, self.num_ret[rows]
        if self.ratio.ideal == "full":
            return np.where(n > 0, self.sums[num_ret if cutoff == MAX_DEPTH else cutoff], 0.0)
        most = len(self.weights) if self.ratio.ideal == "uncut" else min(cutoff, len(self.weights))
        return self.sums[np.minimum(n, np.minimum(most, num_ret) if self.ratio.ideal == "num_ret" else most)]


class Fractions:
    """Sums over documents, divided by the ideal DCG, of the queries of a block.

    The unjudged documents inside are ordered from above or from below: `sums` and `sums_from_below` are what the first
    ones add. Arrays that are not by query have an entry for 0, 1, 2, ... of its unjudged documents; a query begins at
    each of `starts`. `fixed` is what the judged documents add to the sum, `shares` what an unjudged document adds for a
    unit of its gain, and `others` counts the unjudged documents that are in the ideal ranking alone.
    """

    rows: np.ndarray
    sums: np.ndarray
    sums_from_below: np.ndarray

    def __init__(
        self, ideals: Ideals, fixed: np.ndarray, shares: np.ndarray, n_unjudged: np.ndarray, others: np.ndarray
    ) -> None:
        queries, gains = np.arange(len(n_unjudged)), ideals.ratio.gains
        self.starts: np.ndarray = offsets_from_sizes(n_unjudged + 1)
        self.rows, m = list_of_each(self.starts), positions(n_unjudged + 1)
        self.sums, self.sums_from_below = (
            running_sums(shares, self.starts, from_below) for from_below in (False, True)
        )
        self.fixed: np.ndarray = fixed + gains[0] * self.sums[self.starts[1:] - 1]
        self.steps: np.ndarray = np.diff(gains)
        reached = ideals.reached
        self.base: np.ndarray = gains[0] * ideals.discounts(queries, reached[:, 0] + n_unjudged + others)
        above = reached[:, 1:].T[:, self.rows] + m
        self.ideals: np.ndarray = ideals.discounts(self.rows, above)
        self.with_others: np.ndarray = (
            ideals.discounts(self.rows, above + others[self.rows]) if others.any() else self.ideals
        )

    def values(self, sums: np.ndarray, ideals: np.ndarray) -> np.ndarray:
        """The values where the first 0, 1, 2, ... unjudged documents have the largest label."""
        top = self.fixed[self.rows] + sums * self.steps.sum()
        return quotient(top, self.weigh(ideals) + self.base[self.rows])

    def weigh(self, by_step: np.ndarray) -> np.ndarray:
        """The sum over the steps between two levels, of which each has a row."""
        total = np.zeros(by_step.shape[1])
        for step, of_step in zip(self.steps, by_step, strict=True):
            total += step * of_step
        return total

    def count_highest(self) -> np.ndarray:
        """How many of the first unjudged documents reach each level above the lowest at the largest value.

        int64 of shape (n_queries, n_levels - 1). A value below 0 is largest at a corner. From 0 up each level is best
        for itself, and no level needs more unjudged documents than a lower one, because more judged documents reach
        that.
        """
        if not len(self.steps):
            return np.zeros((len(self.base), 0), np.int64)
        places, value = extreme_places(self.values(self.sums, self.ideals), self.starts, True)
        best = np.tile(places, (len(self.steps), 1))
        first, going = self.starts[:-1], value >= 0.0
        for _ in range(MAX_ROUNDS):
            if not going.any():
                break
            less = value[self.rows]
            counts = np.stack(
                [extreme_places(self.sums - less * ideals, self.starts, True, last=True)[0] for ideals in self.ideals]
            )
            counts = np.maximum.accumulate(counts[::-1])[::-1]
            at = first + counts
            ideals = np.take_along_axis(self.ideals, at, axis=1)
            here = quotient(self.fixed + self.weigh(self.sums[at]), self.base + self.weigh(ideals))
            going &= here > value * (1.0 + 1e-15)
            best[:, going], value[going] = counts[:, going], here[going]
        return best.T


def shares_inside(ideals: Ideals, rankings: UnjudgedRanks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What judged documents add to DCG, what each unjudged one inside adds for a unit of gain, and how many are."""
    near = np.flatnonzero(rankings.ranks <= ideals.ratio.cutoff)
    rows = list_of_each(rankings.offsets)[near]
    labels, weights = rankings.labels[near], ideals.weights[rankings.ranks[near] - 1]
    judged = labels != UNJUDGED
    added = weights[judged] * ideals.gains(labels[judged])
    fixed = occurrences(rows[judged], added, minlength=rankings.n_queries)
    return fixed, weights[~judged], occurrences(rows[~judged], minlength=rankings.n_queries)


def quotient(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """The quotient, 0 where nothing is above 0 to divide by."""
    return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0.0)


def ratio_families(ratio: Ratio, rankings: UnjudgedRanks, inside: np.ndarray) -> list[Family]:
    """The labelings with the smallest and the largest DCG over ideal DCG of each query."""
    others = rankings.count_unjudged(MAX_DEPTH) - inside + (0 if ratio.ideal == "retrieved" else rankings.unseen)
    ideals = Ideals(ratio, rankings)
    fractions = Fractions(ideals, *shares_inside(ideals, rankings), others)
    rows, low, high = np.arange(rankings.n_queries), ratio.levels[0], ratio.levels[-1]
    lowest = [
        extreme_places(fractions.values(fractions.sums_from_below, of_ideal), fractions.starts, False)[0]
        for of_ideal in (fractions.ideals, fractions.with_others)
    ]
    some = np.flatnonzero(others)
    return [
        family((low, high), rows, False, lowest[0][:, None], inside, low),
        family((low, high), some, False, lowest[1][some, None], inside[some], high),
        family(ratio.levels, rows, True, fractions.count_highest(), inside, low),
    ]


# ---- sums of precision ---------------------------------------------------------------------------------------------

PrecisionValue = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def average_precision(norm: str, cutoff: int) -> PrecisionValue:
    """AP from the sum of precisions, R, the relevant documents inside, and num_ret."""
    divisors: dict[str, Callable[..., np.ndarray]] = {
        "R": lambda num_rel, num_inside, num_ret: num_rel,
        "min_kR": lambda num_rel, num_inside, num_ret: np.minimum(num_rel, cutoff),
        "min_nkR": lambda num_rel, num_inside, num_ret: np.minimum(num_rel, np.minimum(cutoff, num_ret)),
        "hits": lambda num_rel, num_inside, num_ret: num_inside,
    }
    divisor = divisors[norm]
    return lambda total, num_rel, num_inside, num_ret: total / np.maximum(divisor(num_rel, num_inside, num_ret), 1)


def precision_odds(total: np.ndarray, num_rel: np.ndarray, num_inside: np.ndarray, num_ret: np.ndarray) -> np.ndarray:
    """The odds of AP, with one more relevant document on either side."""
    return (1.0 + total) / (1.0 + num_rel - total)


def precision_families(
    rankings: UnjudgedRanks, inside: np.ndarray, cutoff: int, level: int, high: int, value: PrecisionValue
) -> list[Family]:
    """The labelings with the smallest and largest value of a function of the sum of precisions, R, r and num_ret."""
    queries, some = np.arange(rankings.n_queries), []
    num_rel, others = rankings.count_judged_from(level), rankings.count_unjudged(MAX_DEPTH) - inside + rankings.unseen
    num_inside, base, starts, *extreme_sums = precision_sums(*rankings[:3], cutoff, level)
    sizes = np.diff(starts)
    rows, m = list_of_each(starts), positions(sizes)
    relevant, num_ret = num_inside[rows] + m, rankings.num_ret[rows].astype(float)
    for sums, from_top in zip(extreme_sums, (True, False), strict=True):
        for below, kept in ((0, queries), (high, np.flatnonzero(others))):
            if len(kept):
                values = value(sums + base[rows], num_rel[rows] + m + (below > 0) * others[rows], relevant, num_ret)
                counts = extreme_places(values, starts, from_top)[0]
                some.append(family((0, high), kept, from_top, counts[kept, None], inside[kept], below))
    return some


def judged_precisions(rankings: UnjudgedRanks, q: int, cutoff: int, level: int) -> float:
    """The sum of precisions of a query where no unjudged document is relevant."""
    slots = slice(rankings.offsets[q], rankings.offsets[q + 1])
    relevant = (rankings.labels[slots] >= level) & (rankings.ranks[slots] <= cutoff)
    return float((np.cumsum(relevant) * (1.0 / rankings.ranks[slots]))[relevant].sum())
