"""Bounds of the difference of two runs: a document has one label in both.

Two runs are bounded by themselves first, over the unjudged documents of both; the smallest value of one less the
largest of the other is an outer bound of the difference, which is narrower for AP, because R is one number. If a query
has few labelings, all are tried. Metrics with these responses have exact bounds, however many labelings there are:

SUM      The documents that are higher in the first run have the larger label, the documents that are higher in the
         second run the smaller one. Documents with one rank in both runs only count in the divisor, or all count
         alike: they have one label.
FIRST    A single relevant unjudged document is best for the first run, any further one can only help the second.
RATIO    nDCG: an unjudged document adds its gain times the difference of its discounts, and unjudged documents are
         taken in the order of these; what divides is the same for both, and the argument is that for one run
         (`candidates`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.bounds._labelings import UNJUDGED
from fastir.analyses.bounds._segments import precision_sums
from fastir.analyses.bounds.candidates import candidates, level_gains, lowest_relevant, response
from fastir.analyses.bounds.extremes import Extremes, block_extremes, empty_extremes, select_columns
from fastir.analyses.bounds.families import document_family, every_labeling, have_few_labelings, measure_labelings
from fastir.analyses.bounds.fractions import Fractions, Ideals, Ratio, judged_precisions, shares_inside
from fastir.analyses.bounds.unjudged_ranks import ABSENT_RANK, UnjudgedRanks, positions, unjudged_ranks
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes
from fastir.engine.measure.cards import AVERAGE, FIRST, RATIO, SUM
from fastir.request.options import MAX_DEPTH
from fastir.request.plan import Settings

if TYPE_CHECKING:
    from fastir.analyses.bounds.candidates import Candidates
    from fastir.analyses.bounds.families import Family
    from fastir.analyses.bounds.unjudged_ranks import RunPairs
    from fastir.data.rankings import JudgedRankings
    from fastir.request.names import Request

SLACK = 1e-12  # more than the rounding of sums


class TwoRuns:
    """A block of queries in two runs, and their unjudged documents."""

    pairs: RunPairs
    judged_only: bool

    def __init__(
        self,
        both: tuple[JudgedRankings, JudgedRankings],
        block: tuple[int, int],
        pairs: RunPairs,
        max_depth: int,
        judged_only: bool,
    ) -> None:
        self.pairs, self.judged_only = pairs, judged_only
        self.n_queries: int = block[1] - block[0]
        self.orders: list[np.ndarray] = [pairs.order(second) for second in (False, True)]
        self.rankings: list[UnjudgedRanks] = [
            unjudged_ranks(each, block, pairs.places(bool(side), self.n_queries), max_depth, judged_only)
            for side, each in enumerate(both)
        ]
        self.offsets: np.ndarray = offsets_from_sizes(occurrences(pairs.rows, minlength=self.n_queries))

    def ranks(self) -> tuple[np.ndarray, np.ndarray]:
        """The ranks of the unjudged documents in both measured rankings: with judged_only these are closed up."""
        if not self.judged_only:
            return self.pairs.first, self.pairs.second
        return self.close_ranks(0, self.pairs.first), self.close_ranks(1, self.pairs.second)

    def close_ranks(self, side: int, ranks: np.ndarray) -> np.ndarray:
        """The ranks after all documents without a judgment were left out."""
        rankings, order, closed = self.rankings[side], self.orders[side], np.full(len(ranks), ABSENT_RANK)
        closed[order[ranks[order] != ABSENT_RANK]] = rankings.ranks[rankings.labels == UNJUDGED]
        return closed

    def difference(self, settings: Settings, labels: np.ndarray) -> np.ndarray:
        """The differences of the two runs' values, under a labeling of each query."""
        rows = np.arange(self.n_queries)
        both = (document_family(rows, self.offsets[:-1], labels[order]) for order in self.orders)
        return self.measure(settings, *both)

    def differences(self, settings: Settings, q: int, labelings: np.ndarray) -> np.ndarray:
        """The differences of one query under each of several labelings of its unjudged documents."""
        unjudged = slice(self.offsets[q], self.offsets[q + 1])
        rows, starts = np.full(len(labelings), q), np.arange(len(labelings)) * labelings.shape[1]
        both = (document_family(rows, starts, labelings[:, order[unjudged] - unjudged.start]) for order in self.orders)
        return self.measure(settings, *both)

    def measure(self, settings: Settings, first: Family, second: Family) -> np.ndarray:
        """The differences of the two runs' values, labeling by labeling."""
        values = measure_labelings(settings.plan, self.rankings[0], first, settings.n_threads)
        return values - measure_labelings(settings.plan, self.rankings[1], second, settings.n_threads)


def difference_extremes(settings: Settings, two: TwoRuns, levels: tuple[int, ...]) -> Extremes:
    """The extremes of the differences of all metrics, for a block of queries."""
    extremes = empty_extremes(two.n_queries, len(settings.requests))
    rest = []
    for column, (request, values) in enumerate(zip(settings.requests, settings.values, strict=True)):
        alone = select_columns(settings, [column])
        labelings = extreme_labelings(two, request, values, settings, levels)
        differences = [two.difference(alone, labels)[:, 0] for labels in labelings]
        if differences:
            extremes.lower[:, column] = np.min(differences, axis=0)
            extremes.upper[:, column] = np.max(differences, axis=0)
        else:
            rest.append(column)
    if rest:
        others = select_columns(settings, rest)
        first, second = (block_extremes(others, each, levels) for each in two.rankings)
        extremes.lower[:, rest] = first.lower - second.upper
        extremes.upper[:, rest] = first.upper - second.lower
        extremes.undefined[:, rest] = first.undefined | second.undefined
        extremes.outer[:, rest] = (np.diff(two.offsets) > 0)[:, None]
        for column in rest:
            narrow(extremes, settings, two, column)
        try_all(extremes, settings, two, levels, rest)
    return extremes


def try_all(extremes: Extremes, settings: Settings, two: TwoRuns, levels: tuple[int, ...], columns: list[int]) -> None:
    """The extremes of queries with few labelings, of which all are tried."""
    alphabets: dict[tuple[int, ...], list[int]] = {}
    for column in columns:
        shared = candidates(settings.requests[column], settings.values[column], settings, levels)
        alphabets.setdefault(tuple(shared.alphabet(levels[-1])), []).append(column)
    n_unjudged = np.diff(two.offsets)
    for labels, alike in alphabets.items():
        group = select_columns(settings, alike)
        for q in np.flatnonzero((n_unjudged > 0) & have_few_labelings(n_unjudged, len(labels))).tolist():
            values = two.differences(group, q, every_labeling(int(n_unjudged[q]), labels))
            extremes.lower[q, alike] = np.fmin.reduce(values)
            extremes.upper[q, alike] = np.fmax.reduce(values)
            extremes.undefined[q, alike] = np.isnan(values).any(axis=0)
            extremes.outer[q, alike] = False


def narrow(extremes: Extremes, settings: Settings, two: TwoRuns, column: int) -> None:
    """Narrow the outer bounds of AP: both runs have the same number of relevant unjudged documents."""
    request, values = settings.requests[column], settings.values[column]
    norm = values.get("ap_norm", "R")
    if request.card.response != AVERAGE or norm not in ("R", "min_kR") or values.get("empty", "zero") != "zero":
        return
    cutoff, level = request.cutoff or MAX_DEPTH, lowest_relevant(request, settings)
    num_rel, n_unjudged = two.rankings[0].count_judged_from(level), np.diff(two.offsets)
    sums = [precision_sums(*each[:3], cutoff, level)[2:] for each in two.rankings]
    for q in range(two.n_queries):
        m = np.arange(n_unjudged[q] + 1)
        divisor = np.maximum(np.minimum(num_rel[q] + m, cutoff if norm == "min_kR" else MAX_DEPTH), 1)
        sides = []
        for rankings, (starts, *extreme_sums) in zip(two.rankings, sums, strict=True):
            judged = judged_precisions(rankings, q, cutoff, level)
            top, bottom = (each[starts[q] : starts[q + 1]] + judged for each in extreme_sums)
            inside = len(top) - 1
            sides.append((bottom[np.maximum(m - (n_unjudged[q] - inside), 0)], top[np.minimum(m, inside)]))
        lower, upper = ((sides[0][0] - sides[1][1]) / divisor).min(), ((sides[0][1] - sides[1][0]) / divisor).max()
        extremes.lower[q, column] = max(extremes.lower[q, column], lower - SLACK)
        extremes.upper[q, column] = min(extremes.upper[q, column], upper + SLACK)


def extreme_labelings(
    two: TwoRuns, request: Request, values: dict[str, Any], settings: Settings, levels: tuple[int, ...]
) -> Iterator[np.ndarray]:
    """The labelings of the unjudged documents, one of each query at a time, among which the extreme differences are.

    There is none where that is not known.
    """
    shared = candidates(request, values, settings, levels)
    word = response(request, values, level_gains(request, values, settings, levels))
    if values.get("empty", "zero") != "zero":
        return
    ranks = [np.where(each <= shared.cutoff, each, ABSENT_RANK) for each in two.ranks()]
    if word == SUM:
        if not request.card.rank_sensitive:
            ranks = [np.where(each == ABSENT_RANK, 1, 0) for each in ranks]
        for alike in (shared.low, shared.high):
            for above, below in ((shared.high, shared.low), (shared.low, shared.high)):
                labels = np.where(ranks[0] < ranks[1], above, np.where(ranks[0] > ranks[1], below, alike))
                yield labels.astype(np.int32)
    elif word == FIRST:
        level = lowest_relevant(request, settings)
        for sign in (1.0, -1.0):
            yield single_labels(two, ranks, level, shared, sign, request.card.rank_sensitive)
    elif word == RATIO and shared.gains[0] == 0.0 and have_same_ideal(values, shared, two):
        ideal = values.get("ideal", "judged")
        ratio = Ratio(levels, shared.gains, shared.cutoff, values.get("discount") == "jk2", ideal)
        for sign in (1.0, -1.0):
            yield ratio_labels(two, ranks, ratio, sign)


def have_same_ideal(values: dict[str, Any], shared: Candidates, two: TwoRuns) -> bool:
    """Whether both runs have the same ideal ranking under all labelings."""
    ideal = values.get("ideal", "judged")
    if ideal in ("judged", "uncut") or (ideal == "full" and shared.cutoff < MAX_DEPTH):
        return True
    first, second = two.rankings
    return ideal != "retrieved" and bool((first.num_ret == second.num_ret).all())


def single_labels(
    two: TwoRuns, ranks: list[np.ndarray], level: int, shared: Candidates, sign: float, by_rank: bool
) -> np.ndarray:
    """At most one relevant unjudged document a query: where the first run's value less the second's is largest."""
    labels = np.full(len(ranks[0]), shared.low, np.int32)
    unjudged_values = [first_values(each, by_rank) for each in ranks]
    judged_values = [first_judged_values(each, level, shared.cutoff, by_rank) for each in two.rankings]
    for q in range(two.n_queries):
        unjudged = slice(two.offsets[q], two.offsets[q + 1])
        if unjudged.start == unjudged.stop:
            continue
        first, second = (np.maximum(judged_values[side][q], unjudged_values[side][unjudged]) for side in (0, 1))
        change = sign * (first - second)
        if change.max() > sign * (judged_values[0][q] - judged_values[1][q]):
            labels[unjudged.start + int(change.argmax())] = shared.high
    return labels


def first_values(ranks: np.ndarray, by_rank: bool) -> np.ndarray:
    """The values of rankings with the first relevant document at these ranks."""
    return np.where(ranks == ABSENT_RANK, 0.0, 1.0 / np.maximum(ranks, 1) if by_rank else 1.0)


def first_judged_values(rankings: UnjudgedRanks, level: int, cutoff: int, by_rank: bool) -> np.ndarray:
    """The values of rankings without a relevant unjudged document, per query."""
    relevant = (rankings.labels >= level) & (rankings.ranks <= cutoff)
    rows = list_of_each(rankings.offsets)[relevant]
    best = np.zeros(rankings.n_queries)
    np.maximum.at(best, rows, first_values(rankings.ranks[relevant], by_rank))
    return best


def ratio_labels(two: TwoRuns, ranks: list[np.ndarray], ratio: Ratio, sign: float) -> np.ndarray:
    """The labels where sign times the difference of DCG over the ideal DCG is largest."""
    ideals = [Ideals(ratio, each) for each in two.rankings]
    n_unjudged, none = np.diff(two.offsets), np.zeros(two.n_queries, np.int64)
    rows = list_of_each(two.offsets)
    fixed = [shares_inside(ideal, each)[0] for ideal, each in zip(ideals, two.rankings, strict=True)]
    shares = sign * (weights_at(ideals[0], ranks[0]) - weights_at(ideals[1], ranks[1]))
    best_first = np.lexsort((-shares, rows))
    counts = Fractions(ideals[0], sign * (fixed[0] - fixed[1]), shares[best_first], n_unjudged, none).count_highest()
    labels = np.empty(len(rows), np.int32)
    labels[best_first] = np.array(ratio.levels, np.int32)[(positions(n_unjudged)[:, None] < counts[rows]).sum(axis=1)]
    return labels


def weights_at(ideals: Ideals, ranks: np.ndarray) -> np.ndarray:
    """The discounts at ranks; 0 for a document that is not in the ranking or is below the cutoff."""
    return np.where(ranks == ABSENT_RANK, 0.0, ideals.weights[np.minimum(ranks, len(ideals.weights)) - 1])
