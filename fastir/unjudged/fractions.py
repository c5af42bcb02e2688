"""The best thresholds of sums over ranks that are divided by what depends on labels, too: DCG and sums of precision.

A threshold is the number of holes that have a label. Trying each of them on the whole ranking would take the square of
its length; running sums find the best one, and the kernel then measures the labeling that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.columns.rows import list_of_each, occurrences
from fastir.request.options import WHOLE
from fastir.unjudged._labelings import HOLE
from fastir.unjudged.families import Family, family

if TYPE_CHECKING:
    from fastir.unjudged.unjudged_ranks import UnjudgedRanks

MOST_ROUNDS = 100  # of Dinkelbach's method, which needs about five


class Ratio(NamedTuple):
    """DCG over ideal DCG as the options define them.

    Attributes
    ----------
    levels : tuple of int
        Labels, rising; gains rise with them, and between two levels no known label lies.
    gains : tuple of float
    cutoff : int
    jk2 : bool
        The discount.
    ideal : str
        A word of IDEAL_CODES.
    """

    levels: tuple[int, ...]
    gains: tuple[float, ...]
    cutoff: int
    jk2: bool
    ideal: str


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
    weights: np.ndarray
    sums: np.ndarray
    reached: np.ndarray

    def __init__(self, ratio: Ratio, rankings: UnjudgedRanks) -> None:
        self.ratio, self.num_ret = ratio, rankings.num_ret
        sizes = np.diff(rankings.judged_offsets) + np.diff(rankings.offsets) + rankings.unseen
        longest = int(max(sizes.max(initial=0), rankings.num_ret.max(initial=0)))
        if ratio.ideal == "full" and ratio.cutoff < WHOLE:
            longest = max(longest, ratio.cutoff)
        self.weights = discounts(longest, ratio.jk2)
        self.sums = np.concatenate([[0.0], np.cumsum(self.weights)])
        labels, offsets = rankings.judged_labels, rankings.judged_offsets
        if ratio.ideal == "retrieved":
            labels, offsets = np.where(rankings.labels == HOLE, -1, rankings.labels), rankings.offsets
        rows, n_queries = list_of_each(offsets), len(offsets) - 1
        self.reached = np.stack([occurrences(rows[labels >= level], minlength=n_queries) for level in ratio.levels], 1)

    def gains(self, labels: np.ndarray) -> np.ndarray:
        """The gains of labels, 0 of negative ones."""
        return np.where(labels < 0, 0.0, np.interp(labels, self.ratio.levels, self.ratio.gains))

    def discounts(self, q: int, n: np.ndarray | int) -> np.ndarray:
        """The sum of the discounts of n documents of the ideal ranking."""
        cutoff, num_ret = self.ratio.cutoff, int(self.num_ret[q])
        if self.ratio.ideal == "full":
            return np.where(np.asarray(n) > 0, self.sums[num_ret if cutoff == WHOLE else cutoff], 0.0)
        most = min(cutoff, len(self.weights), num_ret if self.ratio.ideal == "num_ret" else cutoff)
        return self.sums[np.minimum(n, most)]


class Fraction:
    """A sum over documents, divided by the ideal DCG, of one query.

    The holes stand in an order, from above or from below: `sums` and `sums_from_below` are what the first ones add.

    Parameters
    ----------
    ideals : Ideals
    q : int
    fixed : float
        What the judged documents add to the sum.
    shares : float64 array of shape (n_holes,)
        What a hole adds for each unit of its gain.
    others : int
        Further holes, which are in the ideal ranking alone.
    """

    sums: np.ndarray
    sums_from_below: np.ndarray
    fixed: float
    steps: np.ndarray
    base: float
    ideals: np.ndarray
    with_others: np.ndarray

    def __init__(self, ideals: Ideals, q: int, fixed: float, shares: np.ndarray, others: int) -> None:
        gains, n = ideals.ratio.gains, len(shares)
        both = np.zeros((2, n + 1))
        both[0, 1:], both[1, 1:] = shares, shares[::-1]
        self.sums, self.sums_from_below = both.cumsum(1)
        self.fixed = fixed
        self.lowest_gain = gains[0]
        self.steps = np.diff(gains)
        reached = ideals.reached[q]
        self.base = gains[0] * float(ideals.discounts(q, reached[0] + n + others)) if gains[0] else 0.0
        n_holes = reached[1:, None] + np.arange(n + 1)
        self.ideals, self.with_others = ideals.discounts(q, n_holes), ideals.discounts(q, n_holes + others)

    def values(self, sums: np.ndarray, ideals: np.ndarray) -> np.ndarray:
        """The values where the first 0, 1, 2, ... holes have the largest label."""
        top = self.fixed + self.lowest_gain * float(sums[-1]) + sums * self.steps.sum()
        bottom = np.zeros(len(sums))
        for step, ideal in zip(self.steps, ideals, strict=True):
            bottom += step * ideal
        bottom += self.base
        return np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0.0)

    def highest(self) -> np.ndarray:
        """How many of the first holes reach each level but the lowest where the value is largest, by Dinkelbach.

        A value below 0 is largest at a corner. From 0 up each level is best for itself, and no level needs more holes
        than a lower one, because more judged documents reach that.
        """
        values = self.values(self.sums, self.ideals)
        best = np.full(len(self.steps), int(values.argmax()), np.int64)
        value, fixed = float(values.max()), self.fixed + self.lowest_gain * float(self.sums[-1])
        steps, each, last = self.steps.tolist(), np.arange(len(self.steps)), len(self.sums) - 1
        for _ in range(MOST_ROUNDS if value >= 0.0 else 0):
            counts = last - (self.sums - value * self.ideals)[:, ::-1].argmax(1)  # the last maximum
            counts = np.maximum.accumulate(counts[::-1])[::-1]
            sums, ideals = self.sums[counts].tolist(), self.ideals[each, counts].tolist()
            top = fixed + sum(step * total for step, total in zip(steps, sums, strict=True))
            bottom = self.base + sum(step * ideal for step, ideal in zip(steps, ideals, strict=True))
            here = top / bottom if bottom > 0.0 else 0.0
            if here <= value * (1.0 + 1e-15):
                break
            best, value = counts, here
        return best


def ratio_families(ratio: Ratio, rankings: UnjudgedRanks, inside: np.ndarray) -> list[Family]:
    """The labelings with the smallest and the largest DCG over ideal DCG of each query."""
    ideals = Ideals(ratio, rankings)
    others = rankings.holes_to(WHOLE) - inside + (0 if ratio.ideal == "retrieved" else rankings.unseen)
    rows = np.arange(rankings.n_queries)
    lowest = np.zeros((2, len(rows)), np.int64)
    highest = np.zeros((len(rows), len(ratio.levels) - 1), np.int64)
    for q in rows.tolist():
        fixed, shares = hole_shares(ideals, rankings, q)
        fraction = Fraction(ideals, q, fixed, shares, int(others[q]))
        highest[q] = fraction.highest()
        lowest[:, q] = fraction.values(fraction.sums_from_below, fraction.ideals).argmin()
        if others[q]:
            lowest[1, q] = fraction.values(fraction.sums_from_below, fraction.with_others).argmin()
    low, high = ratio.levels[0], ratio.levels[-1]
    return [
        family((low, high), rows, False, lowest[0][:, None], inside, low),
        family((low, high), rows, False, lowest[1][:, None], inside, high),
        family(ratio.levels, rows, True, highest, inside, low),
    ]


def hole_shares(ideals: Ideals, rankings: UnjudgedRanks, q: int) -> tuple[float, np.ndarray]:
    """What the judged documents add to DCG, and what each hole inside adds for a unit of gain."""
    slots = slice(rankings.offsets[q], rankings.offsets[q + 1])
    ranks, labels = rankings.ranks[slots], rankings.labels[slots]
    near = ranks <= ideals.ratio.cutoff
    ranks, labels = ranks[near], labels[near]
    weights, judged = ideals.weights[ranks - 1], labels != HOLE
    return float(weights[judged] @ ideals.gains(labels[judged])), weights[~judged]


# ---- sums of precision ---------------------------------------------------------------------------------------------

PrecisionValue = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]


def average_precision(norm: str, cutoff: int) -> PrecisionValue:
    """AP from the sum of precisions, R, the relevant documents inside, and num_ret."""
    divisors: dict[str, Callable[..., np.ndarray]] = {
        "R": lambda num_rel, num_inside, num_ret: num_rel,
        "min_kR": lambda num_rel, num_inside, num_ret: np.minimum(num_rel, cutoff),
        "min_nkR": lambda num_rel, num_inside, num_ret: np.minimum(num_rel, min(cutoff, num_ret)),
        "hits": lambda num_rel, num_inside, num_ret: num_inside,
    }
    divisor = divisors[norm]
    return lambda total, num_rel, num_inside, num_ret: total / np.maximum(divisor(num_rel, num_inside, num_ret), 1)


def precision_odds(total: np.ndarray, num_rel: np.ndarray, num_inside: np.ndarray, num_ret: float) -> np.ndarray:
    """The odds of AP, with one more relevant document on either side."""
    return (1.0 + total) / (1.0 + num_rel - total)


def precision_families(
    rankings: UnjudgedRanks, inside: np.ndarray, cutoff: int, level: int, high: int, value: PrecisionValue
) -> list[Family]:
    """The labelings with the smallest and largest value of a function of the sum of precisions, R, r and num_ret."""
    rows = np.arange(rankings.n_queries)
    num_rel, others = rankings.num_judged_from(level), rankings.holes_to(WHOLE) - inside + rankings.unseen
    lowest, highest = np.zeros((2, len(rows)), np.int64), np.zeros((2, len(rows)), np.int64)
    for q in rows.tolist():
        num_inside, *extreme_sums = query_sums(rankings, q, cutoff, level)
        for sums, best in zip(extreme_sums, (highest, lowest), strict=True):
            m = np.arange(len(sums))
            for below in (0, 1) if others[q] else (0,):
                values = value(sums, num_rel[q] + m + below * others[q], num_inside + m, float(rankings.num_ret[q]))
                best[below:, q] = values.argmax() if best is highest else values.argmin()
    return [
        family((0, high), rows, from_top, counts[below][:, None], inside, high if below else 0)
        for from_top, counts in ((True, highest), (False, lowest))
        for below in (0, 1)
    ]


def query_sums(rankings: UnjudgedRanks, q: int, cutoff: int, level: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Relevant judged documents inside; the largest and smallest sums of precisions for 0, 1, ... holes."""
    slots = slice(rankings.offsets[q], rankings.offsets[q + 1])
    near = rankings.ranks[slots] <= cutoff
    ranks, labels = rankings.ranks[slots][near].astype(float), rankings.labels[slots][near]
    holes, relevant = labels == HOLE, labels >= level
    top, bottom = (chain_sums(ranks, holes, relevant, from_top) for from_top in (True, False))
    return int(relevant.sum()), top, bottom


def chain_sums(ranks: np.ndarray, holes: np.ndarray, relevant: np.ndarray, from_top: bool) -> np.ndarray:
    """The sum of precisions at the relevant ranks, where the first 0, 1, 2, ... holes are relevant, or the last.

    One more relevant hole adds its own precision, and 1 / rank for each relevant document below it.
    """
    above = np.cumsum(relevant)
    shares = 1.0 / ranks
    if from_top:
        before = above + np.cumsum(holes)
        after = shares * relevant
    else:
        before = above + 1
        after = shares * (relevant | holes)
    added = before * shares + (np.cumsum(after[::-1])[::-1] - after)
    added = added[holes] if from_top else added[holes][::-1]
    return np.concatenate([[0.0], np.cumsum(added)]) + (above * shares)[relevant].sum()
