"""Preferences of several judges: how many of them a ranking fulfils, and what the metrics of preferences make of that.

A judge is a list of labels or a matrix. Here each comes as a matrix by positions: documents that were retrieved in
their order, and behind them the others; its upper triangle is what the ranking fulfils as far as it was retrieved. The
labels of one judge, in a plan, are counted by the same rules in _tasks.pyx, which is faster without a matrix.

A metric is one of the functions that `pool_judges`, `by_judge` and `by_pair` make, as declared beside its card.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

ALL, RETRIEVED, IMPLIED = PAIRS = ("all", "retrieved", "implied")  # which pairs are possible ones


class Pairs(NamedTuple):
    """How many pairs of documents there are, of which a judge prefers one."""

    both: int  # of two that were retrieved
    both_right: int  # and the better one above
    one: int  # of one that was retrieved and one that was not
    one_right: int
    all: int

    def n_fulfilled(self, which: str) -> int:
        """How many of the pairs a ranking fulfils."""
        return self.both_right if which == RETRIEVED else self.both_right + self.one_right

    def n_possible(self, which: str) -> int:
        """How many of the pairs there are."""
        return {ALL: self.all, RETRIEVED: self.both, IMPLIED: self.both + self.one}[which]


class Judge(NamedTuple):
    """The preferences of one judge by position."""

    levels: np.ndarray  # float64; 0 is not relevant
    beats: np.ndarray  # bool of shape (n, n): whether the first is preferred to the second
    n_ret: int  # how many of the documents were retrieved; these come first
    ordered: bool  # whether the levels say all
    pairs: Pairs


class Judges:
    """The judges of one query with `n_docs` documents that any judge saw; `retrieved` has positions by rank.

    An order is a judge's: `docs`, positions among all documents of the query, rising; their `levels`; and `beats`,
    whether the first is preferred to the second, as a matrix or None where the levels say that.
    """

    n_docs: int
    n_ret: int

    def __init__(self, orders: Iterable[Any], retrieved: np.ndarray, n_docs: int) -> None:
        places = np.empty(n_docs, np.int64)
        rest = np.ones(n_docs, bool)
        rest[retrieved] = False
        places[retrieved] = np.arange(len(retrieved))
        places[rest] = np.arange(len(retrieved), n_docs)
        self.n_docs, self.n_ret = n_docs, len(retrieved)
        self.judges: list[Judge] = []
        self.places: list[np.ndarray] = []  # of each judge's documents, rising
        for docs, levels, beats in orders:
            positions = places[docs]
            by_place = np.argsort(positions)
            levels = levels[by_place]
            matrix = levels[:, None] > levels if beats is None else beats[np.ix_(by_place, by_place)]
            n_ret = int(np.count_nonzero(positions < self.n_ret))
            self.places.append(positions[by_place])
            self.judges.append(Judge(levels, matrix, n_ret, beats is None, count_pairs(matrix, n_ret)))
        self._agreeing: np.ndarray | None = None

    def agreeing(self) -> np.ndarray:
        """How many judges prefer the first to the second, for all documents of the query by position."""
        if self._agreeing is None:
            self._agreeing = np.zeros((self.n_docs, self.n_docs), np.int64)
            for places, judge in zip(self.places, self.judges, strict=True):
                self._agreeing[np.ix_(places, places)] += judge.beats
        return self._agreeing


JudgesMetric = Callable[[Judges], float]


def count_pairs(beats: np.ndarray, n_ret: int) -> Pairs:
    """The pairs of a matrix by positions, of which the first `n_ret` were retrieved."""
    both, over = beats[:n_ret, :n_ret], int(np.count_nonzero(beats[:n_ret, n_ret:]))
    under = int(np.count_nonzero(beats[n_ret:, :n_ret]))
    right = int(np.count_nonzero(np.triu(both, 1)))
    return Pairs(int(np.count_nonzero(both)), right, over + under, over, int(np.count_nonzero(beats)))


# ---- metrics -------------------------------------------------------------------------------------------------------
def count_fulfilled(which: str) -> JudgesMetric:
    """How many pairs are fulfilled, over all judges."""
    return lambda judges: float(sum(judge.pairs.n_fulfilled(which) for judge in judges.judges))


def count_possible(which: str) -> JudgesMetric:
    """How many pairs there are, over all judges."""
    return lambda judges: float(sum(judge.pairs.n_possible(which) for judge in judges.judges))


def pool_judges(which: str) -> JudgesMetric:
    """The fraction of the pairs of all judges that are fulfilled."""

    def share(judges: Judges) -> float:
        n_fulfilled, n_possible = count_fulfilled(which)(judges), count_possible(which)(judges)
        return n_fulfilled / n_possible if n_possible else 0.0

    return share


def by_judge(which: str) -> JudgesMetric:
    """The mean over judges of the fraction of their pairs that are fulfilled."""

    def share(judge: Judge) -> float:
        n_possible = judge.pairs.n_possible(which)
        return judge.pairs.n_fulfilled(which) / n_possible if n_possible else 0.0

    return lambda judges: mean_or_zero([share(judge) for judge in judges.judges])


def by_pair(which: str) -> JudgesMetric:
    """The mean over pairs of the judges that agree with the ranking; summed row by row, retrieved pairs first."""

    def share(judges: Judges) -> float:
        agreeing, n_ret = judges.agreeing(), judges.n_ret
        either = agreeing + agreeing.T
        shown = np.triu(either > 0, 1)
        parts = []
        for columns in (slice(None, n_ret), slice(n_ret, None))[: 1 if which == RETRIEVED else 2]:
            chosen = shown[:n_ret, columns]
            parts.append(agreeing[:n_ret, columns][chosen] / either[:n_ret, columns][chosen])
        values = np.concatenate(parts)
        n_pairs = int(np.count_nonzero(shown)) if which == ALL else len(values)
        return float(np.cumsum(values)[-1]) / n_pairs if len(values) else 0.0

    return share


def by_judge_with_as_many(which: str) -> JudgesMetric:
    """The mean over judges of their share with as many nonrelevant documents as relevant ones."""
    return lambda judges: mean_or_zero([share_with_as_many(judge, which) for judge in judges.judges])


def share_with_as_many(judge: Judge, which: str) -> float:
    """Fulfilled / possible with as many nonrelevant documents as relevant ones; NaN without a pair."""
    levels, beats, n_ret = judge.levels, judge.beats, judge.n_ret
    n_rel = int(np.count_nonzero(levels > 0))
    rel_ret = int(np.count_nonzero(levels[:n_ret] > 0))
    low = levels <= 0 if judge.ordered else levels == 0
    relevant, nonrelevant = (rel_ret, low[:n_ret].sum()) if which == RETRIEVED else (n_rel, low.sum())
    lacking = int(relevant - nonrelevant)
    if lacking >= 0:
        more, more_possible = rel_ret * lacking, n_rel * lacking
        return quotient(judge.pairs.n_fulfilled(which) + more, judge.pairs.n_possible(which) + more_possible)
    if not judge.ordered:
        low[np.flatnonzero(low)[:n_rel]] = False  # the first ones stay
        kept = ~low
        pairs = count_pairs(beats[np.ix_(kept, kept)], int(kept[:n_ret].sum()))
        return quotient(pairs.n_fulfilled(which), pairs.n_possible(which))
    lowest = levels == levels.min()
    pairs = count_pairs(beats & ~lowest, n_ret)
    first = np.flatnonzero(lowest)[:relevant]
    if which == RETRIEVED:
        first = first[first < n_ret]
    n_docs = n_ret if which == RETRIEVED else len(levels)
    more, more_possible = int(np.minimum(first, n_ret).sum()), n_docs * len(first)
    return quotient(pairs.n_fulfilled(which) + more, pairs.n_possible(which) + more_possible)


def mean_or_zero(values: list[float]) -> float:
    """The mean, 0 if a value is undefined."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values) if total > 0.0 else 0.0


def quotient(a: int, b: int) -> float:
    return a / b if b else float("nan")
