"""The best thresholds of sums over ranks that are divided by what depends on labels, too: DCG and sums of precision.

A threshold is the number of holes that have a label. Trying each of them on the whole ranking would take the square of
its length; running sums find the best one, and the kernel then measures the labeling that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.holes._labelings import HOLE
from fastir.holes.families import Family, family

if TYPE_CHECKING:
    from fastir.holes.holed import Holed

ROUNDS = 100  # of Dinkelbach's method, which needs about five


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


class Lists:
    """The queries of a block with what DCG and ideal DCG need."""

    def __init__(self, ratio: Ratio, holed: Holed, inside: np.ndarray) -> None:
        self.ratio, self.holed, self.inside = ratio, holed, inside
        sizes = np.diff(holed.known_offsets) + np.diff(holed.offsets) + holed.unseen
        longest = int(max(sizes.max(initial=0), holed.num_ret.max(initial=0)))
        if ratio.ideal == "full" and holed.n_queries:
            longest = max(longest, 0 if ratio.cutoff > 1 << 40 else ratio.cutoff)
        self.weights = discounts(longest, ratio.jk2)
        self.sums = np.concatenate([[0.0], np.cumsum(self.weights)])
        if ratio.ideal == "retrieved":
            known = np.where(holed.labels == HOLE, -1, holed.labels), holed.offsets
        else:
            known = holed.known_labels, holed.known_offsets
        self.known, self.known_offsets = known
        self.others = holed.holes_to(1 << 62) - inside + (0 if ratio.ideal == "retrieved" else holed.unseen)

    def of(self, q: int) -> OneList:
        return OneList(self, q)


class OneList:
    """One query: DCG and ideal DCG as sums over levels of labels, from the number of holes that reach each level."""

    def __init__(self, lists: Lists, q: int) -> None:
        ratio, holed = lists.ratio, lists.holed
        slots = slice(holed.offsets[q], holed.offsets[q + 1])
        ranks, labels = holed.ranks[slots], holed.labels[slots]
        near = ranks <= ratio.cutoff
        ranks, labels = ranks[near], labels[near]
        holes = labels == HOLE
        weights = lists.weights[ranks - 1]
        self.h = int(lists.inside[q])
        self.from_top = np.concatenate([[0.0], np.cumsum(weights[holes])])
        self.from_bottom = np.concatenate([[0.0], np.cumsum(weights[holes][::-1])])
        self.steps = np.diff(ratio.gains)
        known = lists.known[lists.known_offsets[q] : lists.known_offsets[q + 1]]
        judged = labels >= 0
        self.fixed = float(weights[judged] @ np.interp(labels[judged], ratio.levels, ratio.gains))
        if ratio.gains[0] != 0.0:
            self.fixed += ratio.gains[0] * self.from_top[-1]
        self.reached = np.array([np.count_nonzero(known >= level) for level in ratio.levels], np.int64)
        self.others, self.lists = int(lists.others[q]), lists
        self.most = min(ratio.cutoff, len(lists.weights))
        if ratio.ideal == "num_ret":
            self.most = min(self.most, int(holed.num_ret[q]))
        self.full = lists.sums[min(ratio.cutoff, int(holed.num_ret[q])) if ratio.cutoff > 1 << 40 else self.most]

    def ideal(self, n: np.ndarray) -> np.ndarray:
        """The sum of the discounts of n documents of the ideal ranking."""
        if self.lists.ratio.ideal == "full":
            return np.where(n > 0, self.full, 0.0)
        return self.lists.sums[np.minimum(n, self.most)]

    def base(self) -> float:
        """The ideal DCG that all judged documents have, whatever their label."""
        gain = self.lists.ratio.gains[0]
        return gain * float(self.ideal(self.reached[0] + self.h + self.others)) if gain else 0.0

    def lowest(self, below: bool) -> int:
        """How many of the last holes have the largest label, all others 0, where the value is smallest."""
        m = np.arange(self.h + 1)
        top, bottom = self.fixed + self.from_bottom * self.steps.sum(), np.full(self.h + 1, self.base())
        for step, reached in zip(self.steps, self.reached[1:], strict=True):
            bottom += step * self.ideal(reached + m + below * self.others)
        value = np.divide(top, bottom, out=np.full(self.h + 1, np.inf), where=bottom > 0.0)
        return int(value.argmin())

    def highest(self) -> np.ndarray:
        """How many of the first holes reach each level but the lowest, where the value is largest."""
        ideals = [self.ideal(reached + np.arange(self.h + 1)) for reached in self.reached[1:]]
        levels = range(len(self.steps))
        best = counts = np.zeros(len(self.steps), np.int64)
        value = -1.0
        for _ in range(ROUNDS):
            top = self.fixed + sum(self.steps[v] * self.from_top[counts[v]] for v in levels)
            bottom = self.base() + sum(self.steps[v] * ideals[v][counts[v]] for v in levels)
            here = top / bottom if bottom > 0.0 else 0.0
            if here <= value * (1.0 + 1e-15):
                break
            best, value = counts, here
            counts = np.array([last_maximum(self.from_top - value * ideals[v]) for v in levels], np.int64)
            counts = np.maximum.accumulate(counts[::-1])[::-1]
        return best


def last_maximum(values: np.ndarray) -> int:
    return len(values) - 1 - int(values[::-1].argmax())


def ratio_families(ratio: Ratio, holed: Holed, inside: np.ndarray) -> list[Family]:
    """The labelings with the smallest and the largest DCG over ideal DCG of each query."""
    lists = Lists(ratio, holed, inside)
    rows = np.arange(holed.n_queries)
    low, high = ratio.levels[0], ratio.levels[-1]
    found = [lists.of(q) for q in rows.tolist()]
    lowest = [np.array([one.lowest(below) for one in found], np.int64) for below in (False, True)]
    highest = np.array([one.highest() for one in found], np.int64).reshape(len(rows), len(ratio.levels) - 1)
    return [
        family((low, high), rows, False, lowest[0][:, None], inside, low),
        family((low, high), rows, False, lowest[1][:, None], inside, high),
        family(ratio.levels, rows, True, highest, inside, low),
    ]


# ---- sums of precision ---------------------------------------------------------------------------------------------

Value = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]


def average_precision(norm: str, cutoff: int) -> Value:
    """AP from the sum of precisions, R, the relevant documents inside, and num_ret."""
    most: dict[str, Callable[..., np.ndarray]] = {
        "R": lambda rel, found, n: rel,
        "min_kR": lambda rel, found, n: np.minimum(rel, cutoff),
        "min_nkR": lambda rel, found, n: np.minimum(rel, min(cutoff, n)),
        "hits": lambda rel, found, n: found,
    }
    return lambda total, rel, found, n: total / np.maximum(most[norm](rel, found, n), 1)


def yaap(total: np.ndarray, rel: np.ndarray, found: np.ndarray, n: float) -> np.ndarray:
    """A function that rises with what its logarithm is of."""
    return (1.0 + total) / (1.0 + rel - total)


def precision_families(
    holed: Holed,
    inside: np.ndarray,
    cutoff: int,
    level: int,
    high: int,
    value_of: Value,
) -> list[Family]:
    """The labelings with the smallest and largest value of a function of the sum of precisions, R, r and num_ret."""
    rows = np.arange(holed.n_queries)
    known, others = holed.known_from(level), holed.holes_to(1 << 62) - inside + holed.unseen
    least, most = np.zeros((2, len(rows)), np.int64), np.zeros((2, len(rows)), np.int64)
    for q in rows.tolist():
        slots = slice(holed.offsets[q], holed.offsets[q + 1])
        near = holed.ranks[slots] <= cutoff
        ranks, labels = holed.ranks[slots][near].astype(float), holed.labels[slots][near]
        holes, relevant = labels == HOLE, labels >= level
        for from_top in (True, False):
            total = chain_sums(ranks, holes, relevant, from_top)
            m = np.arange(len(total))
            for below in (0, 1):
                value = value_of(total, known[q] + m + below * others[q], relevant.sum() + m, float(holed.num_ret[q]))
                if from_top:
                    most[below, q] = value.argmax()
                else:
                    least[below, q] = value.argmin()
    return [
        family((0, high), rows, from_top, counts[below][:, None], inside, high if below else 0)
        for from_top, counts in ((True, most), (False, least))
        for below in (0, 1)
    ]


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
