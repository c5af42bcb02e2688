"""Bounds of the difference of two runs: a document has one label in both.

Two runs are bounded by themselves first, over the holes of both; the smallest value of one less the largest of the
other is an outer bound of the difference, which is narrower for AP, because R is one number. Of a query with few
labelings all are tried. These metrics have exact ones, however many there are:

SHARES   Sums over ranks with weights that fall, divided by what both runs have alike: the larger label belongs to the
         documents that stand higher in the first run, the smaller to those that stand higher in the second. Documents
         that stand alike only count in the divisor, or all count alike: they have one label.
FIRST    1 / rank of the first relevant document, or whether there is one: a single relevant hole is best for the first
         run, any further one can only help the second.
RATIO    nDCG: a hole adds its gain times the difference of its discounts, and holes are taken in the order of these;
         what divides is the same for both, and the argument is that for one run (`responses`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.holes._labelings import HOLE
from fastir.holes.extremes import Ends, ends_of
from fastir.holes.families import every_labeling, few_in_all, measured, of_holes
from fastir.holes.fractions import Fraction, Ideals, Ratio, query_sums, sums_of
from fastir.holes.holed import Holed, holed
from fastir.holes.holed import ends_of as offsets_of
from fastir.holes.pairs import ABSENT
from fastir.holes.responses import RATIO, TOPS, response_of
from fastir.request.options import WHOLE
from fastir.request.plan import Settings, compile_settings

if TYPE_CHECKING:
    from fastir.holes.families import Family
    from fastir.holes.pairs import Pairs
    from fastir.holes.responses import Response
    from fastir.rankings import JudgedRankings
    from fastir.request.names import Request

SHARES = {
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "hits", "precision", "precision_avgjg"),
    *("p_ia", "recall", "relative_precision", "f1", "set_f", "f_beta", "utility", "unjudged", "judged", "rbp_resid"),
    *("cg", "dcg", "dcg_burges", "ideal_dcg", "rbp", "insq", "sdcg", "tbg", "u_measure"),
}
WITH_CUTOFF = ("relative_precision", "f1", "set_f", "f_beta")  # else they divide by the length of the ranking
FIRST = ("mrr", "hit_rate")
AVERAGES = ("map", "map_avgjg", "map_ia")
SLACK = 1e-12  # more than the rounding of sums


class Two:
    """A block of queries in two runs, and their holes.

    Parameters
    ----------
    both : (JudgedRankings, JudgedRankings)
    block : (int, int)
    pairs : Pairs
    max_depth, judged_only
        As for `holed`.
    """

    def __init__(
        self,
        both: tuple[JudgedRankings, JudgedRankings],
        block: tuple[int, int],
        pairs: Pairs,
        max_depth: int,
        judged_only: bool,
    ) -> None:
        self.both, self.block, self.pairs, self.rules = both, block, pairs, (max_depth, judged_only)
        self.n_queries = block[1] - block[0]
        self.orders = [pairs.order(second) for second in (False, True)]
        self.holed = [
            holed(each, block, pairs.places(bool(side), self.n_queries), max_depth, judged_only)
            for side, each in enumerate(both)
        ]
        self.offsets = offsets_of(np.bincount(pairs.rows, minlength=self.n_queries))

    def ranks(self) -> tuple[np.ndarray, np.ndarray]:
        """The ranks of the holes in both rankings that are measured: with judged_only these are closed up."""
        if not self.rules[1]:
            return self.pairs.first, self.pairs.second
        return self.closed(0, self.pairs.first), self.closed(1, self.pairs.second)

    def closed(self, side: int, ranks: np.ndarray) -> np.ndarray:
        """The ranks after all documents without a judgment were left out."""
        here, order, made = self.holed[side], self.orders[side], np.full(len(ranks), ABSENT)
        made[order[ranks[order] != ABSENT]] = here.ranks[here.labels == HOLE]
        return made

    def difference(self, settings: Settings, labels: np.ndarray) -> np.ndarray:
        """The values of the first run less those of the second, under a labeling of each query."""
        rows = np.arange(self.n_queries)
        both = (of_holes(rows, self.offsets[:-1], labels[order]) for order in self.orders)
        return self.measured(settings, *both)

    def differences(self, settings: Settings, q: int, given: np.ndarray) -> np.ndarray:
        """The same for labelings of one query, each with the labels of its holes."""
        holes = slice(self.offsets[q], self.offsets[q + 1])
        rows, starts = np.full(len(given), q), np.arange(len(given)) * given.shape[1]
        both = (of_holes(rows, starts, given[:, order[holes] - holes.start]) for order in self.orders)
        return self.measured(settings, *both)

    def measured(self, settings: Settings, first: Family, second: Family) -> np.ndarray:
        """The values of labelings of the first run, less those of the second."""
        values = measured(settings.plan, self.holed[0], first, settings.n_threads)
        return values - measured(settings.plan, self.holed[1], second, settings.n_threads)


def ends_of_difference(settings: Settings, two: Two, levels: tuple[int, ...]) -> Ends:
    """The ends of the differences of all metrics, for a block of queries."""
    shape = two.n_queries, len(settings.requests)
    made = Ends(np.empty(shape), np.empty(shape), np.zeros(shape, bool), np.zeros(shape, bool))
    rest = []
    for column, (request, values) in enumerate(zip(settings.requests, settings.values, strict=True)):
        response = response_of(request, values, settings.level, levels)
        chosen = labelings(two, request, values, response, settings, levels)
        own = compile_settings((request.text,), settings.options)
        found = [two.difference(own, labels)[:, 0] for labels in chosen]
        if found:
            made.lower[:, column], made.upper[:, column] = np.min(found, axis=0), np.max(found, axis=0)
        else:
            rest.append(column)
    if rest:
        own = compile_settings(tuple(settings.names[column] for column in rest), settings.options)
        first, second = (ends_of(own, each, levels) for each in two.holed)
        made.lower[:, rest], made.upper[:, rest] = first.lower - second.upper, first.upper - second.lower
        made.undefined[:, rest] = first.undefined | second.undefined
        made.outer[:, rest] = (np.diff(two.offsets) > 0)[:, None]
        for column in rest:
            narrow(made, settings, two, column)
        try_all(made, settings, two, levels, rest)
    return made


def try_all(made: Ends, settings: Settings, two: Two, levels: tuple[int, ...], columns: list[int]) -> None:
    """The ends of queries with few labelings, of which all are tried."""
    alphabets: dict[tuple[int, ...], list[int]] = {}
    for column in columns:
        response = response_of(settings.requests[column], settings.values[column], settings.level, levels)
        alphabets.setdefault(tuple(response.alphabet(levels[-1])), []).append(column)
    n_holes = np.diff(two.offsets)
    for labels, alike in alphabets.items():
        own = compile_settings(tuple(settings.names[column] for column in alike), settings.options)
        for q in np.flatnonzero((n_holes > 0) & few_in_all(n_holes, len(labels))).tolist():
            values = two.differences(own, q, every_labeling(int(n_holes[q]), labels))
            made.lower[q, alike] = np.fmin.reduce(values)
            made.upper[q, alike] = np.fmax.reduce(values)
            made.undefined[q, alike] = np.isnan(values).any(axis=0)
            made.outer[q, alike] = False


def narrow(made: Ends, settings: Settings, two: Two, column: int) -> None:
    """Narrow the outer bounds of AP: both runs have the same number of relevant holes."""
    request, values = settings.requests[column], settings.values[column]
    norm = values.get("ap_norm", "R")
    if request.card.name not in AVERAGES or norm not in ("R", "min_kR") or values.get("empty", "zero") != "zero":
        return
    cutoff, level = request.cutoff or WHOLE, request.level or settings.level
    known, n_holes = two.holed[0].known_from(level), np.diff(two.offsets)
    for q in range(two.n_queries):
        m = np.arange(n_holes[q] + 1)
        rel = np.maximum(np.minimum(known[q] + m, cutoff if norm == "min_kR" else WHOLE), 1)
        ends = []
        for each in two.holed:
            _, top, bottom = query_sums(each, q, cutoff, level)
            inside = len(top) - 1
            ends.append((bottom[np.maximum(m - (n_holes[q] - inside), 0)], top[np.minimum(m, inside)]))
        lower, upper = ((ends[0][0] - ends[1][1]) / rel).min(), ((ends[0][1] - ends[1][0]) / rel).max()
        made.lower[q, column] = max(made.lower[q, column], lower - SLACK)
        made.upper[q, column] = min(made.upper[q, column], upper + SLACK)


def labelings(
    two: Two,
    request: Request,
    values: dict[str, Any],
    response: Response,
    settings: Settings,
    levels: tuple[int, ...],
) -> Iterator[np.ndarray]:
    """The labelings of the holes, one of each query at a time, among which the extreme differences are; none if that is
    not known."""
    name = request.card.name
    ranks = [np.where(each <= response.cutoff, each, ABSENT) for each in two.ranks()]
    if values.get("empty", "zero") != "zero" or (name == "ideal_dcg" and not same_ideal(values, response, two)):
        return
    if name in SHARES and response.kind != TOPS and (name not in WITH_CUTOFF or response.cutoff < WHOLE):
        if not request.card.rank_sensitive:
            ranks = [np.where(each == ABSENT, 1, 0) for each in ranks]
        for other in (response.low, response.high):
            for above, below in ((response.high, response.low), (response.low, response.high)):
                labels = np.where(ranks[0] < ranks[1], above, np.where(ranks[0] > ranks[1], below, other))
                yield labels.astype(np.int32)
    elif name in FIRST:
        level = request.level or settings.level
        for sign in (1.0, -1.0):
            yield single_labels(two, ranks, level, response, sign, name == "mrr")
    elif response.kind == RATIO and response.gains[0] == 0.0 and same_ideal(values, response, two):
        ratio = Ratio(levels, response.gains, response.cutoff, values["discount"] == "jk2", values["ideal"])
        for sign in (1.0, -1.0):
            yield ratio_labels(two, ranks, ratio, sign)


def same_ideal(values: dict[str, Any], response: Response, two: Two) -> bool:
    """Whether both runs have the same ideal ranking under all labelings."""
    if values["ideal"] == "judged":
        return True
    if values["ideal"] == "full" and response.cutoff < WHOLE:
        return True
    first, second = two.holed
    return values["ideal"] != "retrieved" and bool((first.num_ret == second.num_ret).all())


def single_labels(
    two: Two, ranks: list[np.ndarray], level: int, response: Response, sign: float, by_rank: bool
) -> np.ndarray:
    """At most one relevant hole for each query: where the first run's value less the second's is largest."""
    labels = np.full(len(ranks[0]), response.low, np.int32)
    own = [worth(each, by_rank) for each in ranks]
    known = [best_known(each, level, response.cutoff, by_rank) for each in two.holed]
    for q in range(two.n_queries):
        holes = slice(two.offsets[q], two.offsets[q + 1])
        if holes.start == holes.stop:
            continue
        first, second = (np.maximum(known[side][q], own[side][holes]) for side in (0, 1))
        change = sign * (first - second)
        if change.max() > sign * (known[0][q] - known[1][q]):
            labels[holes.start + int(change.argmax())] = response.high
    return labels


def worth(ranks: np.ndarray, by_rank: bool) -> np.ndarray:
    return np.where(ranks == ABSENT, 0.0, 1.0 / np.maximum(ranks, 1) if by_rank else 1.0)


def best_known(given: Holed, level: int, cutoff: int, by_rank: bool) -> np.ndarray:
    """What the first relevant document that is known is worth, per query."""
    found = (given.labels >= level) & (given.ranks <= cutoff)
    rows = np.repeat(np.arange(given.n_queries), np.diff(given.offsets))[found]
    best = np.zeros(given.n_queries)
    np.maximum.at(best, rows, worth(given.ranks[found], by_rank))
    return best


def ratio_labels(two: Two, ranks: list[np.ndarray], ratio: Ratio, sign: float) -> np.ndarray:
    """The labels where sign times the difference of DCG over the ideal DCG is largest."""
    labels = np.zeros(len(ranks[0]), np.int32)
    ideals = [Ideals(ratio, each) for each in two.holed]
    order = np.array(ratio.levels, np.int32)
    for q in range(two.n_queries):
        holes = slice(two.offsets[q], two.offsets[q + 1])
        n = holes.stop - holes.start
        if n == 0:
            continue
        fixed = [sums_of(own, each, q)[0] for own, each in zip(ideals, two.holed, strict=True)]
        shares = sign * (weights_at(ideals[0], ranks[0][holes]) - weights_at(ideals[1], ranks[1][holes]))
        best_first = np.argsort(-shares, kind="stable")
        counts = Fraction(ideals[0], q, sign * (fixed[0] - fixed[1]), shares[best_first], 0).highest()
        labels[holes.start + best_first] = order[(np.arange(n)[:, None] < counts).sum(axis=1)]
    return labels


def weights_at(ideals: Ideals, ranks: np.ndarray) -> np.ndarray:
    """The discounts at ranks, 0 where the ranking lacks a document or it stands beyond the cutoff."""
    return np.where(ranks == ABSENT, 0.0, ideals.weights[np.minimum(ranks, len(ideals.weights)) - 1])
