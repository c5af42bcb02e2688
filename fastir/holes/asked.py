"""What was asked of a judged run, and its bounds: block by block of queries, for each set of rules of its metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.errors import quote
from fastir.holes.bounded import Bounds
from fastir.holes.differences import Two, ends_of_difference
from fastir.holes.extremes import Ends, ends_of
from fastir.holes.holed import blocks, holed, own_places
from fastir.holes.means import without_undefined
from fastir.holes.pairs import pairs_of
from fastir.holes.responses import levels_of
from fastir.request.options import WHOLE
from fastir.request.settled import RULES, settled
from fastir.results.results import Results

if TYPE_CHECKING:
    from fastir.evaluation.evaluator import Evaluator
    from fastir.holes.pairs import Shared
    from fastir.rankings import JudgedRankings
    from fastir.request.plan import Settings


class Asked:
    """What was asked of a judged run: its metrics by their rules, the largest label and the depth."""

    def __init__(
        self, evaluator: Evaluator, judged: JudgedRankings, names: tuple[str, ...], max_label: int, depth: int
    ) -> None:
        self.judged, self.names, self.max_label, self.depth = judged, names, max_label, depth
        self.options, self.weights = evaluator.prepared.settings.options, evaluator._weights
        rules = {name: getattr(judged, name) for name in RULES}
        self.settings, self.parts = settled(names, self.options, rules)
        for _, part in self.parts:
            check_limits(part, max_label)

    def ends(self, ends_of_block: Callable[[Settings, tuple[int, int], int, tuple[int, ...]], Ends]) -> Ends:
        """The ends of all queries, from a function of a part's Settings, a block, the depth of rankings and levels."""
        judged = self.judged
        shape = len(judged), len(self.settings.names)
        ends = Ends(*(np.empty(shape, dtype) for dtype in (float, float, bool, bool)))
        known = np.unique(judged.ideal_labels).tolist()
        for columns, part in self.parts:
            levels = levels_of(known, part, self.max_label)
            max_depth = WHOLE if part.options.max_depth is None else part.options.max_depth
            for start, stop in blocks(judged.num_ret):
                for whole, own in zip(ends, ends_of_block(part, (start, stop), max_depth, levels), strict=True):
                    whole[start:stop, columns] = own
        return ends

    def values(self, judged: JudgedRankings, **changed: Any) -> Results:
        """The metrics of judged rankings, under these options or others."""
        return judged._results(self.names, self.options._replace(**changed), self.weights)

    def bounds(self, value: Results, ends: Ends, **rest: Any) -> Bounds:
        """The Bounds of a value."""
        depth = None if self.depth == WHOLE else self.depth
        lower, upper, outer = sides(value, ends, self.judged)
        return Bounds(value, lower, upper, outer, self.judged, self.max_label, depth, **rest)


def of_one(asked: Asked) -> Bounds:
    """The bounds of one run."""
    judged = asked.judged

    def ends_of_block(part: Settings, block: tuple[int, int], max_depth: int, levels: tuple[int, ...]) -> Ends:
        places = own_places(judged, block, asked.depth, max_depth)
        return ends_of(part, holed(judged, block, places, max_depth, part.options.judged_only), levels)

    names = shares_of(asked.settings)
    options = asked.options._replace(judged_only=False, convention="fastir", choices=(), ties=None)
    shares = judged._results(names, options, asked.weights)
    return asked.bounds(
        asked.values(judged),
        asked.ends(ends_of_block),
        condensed=asked.values(judged, judged_only=True),
        coverage={text: shares[share] for text, share in zip(asked.settings.names, names, strict=True)},
    )


def of_two(asked: Asked, second: JudgedRankings, shared: Shared) -> Bounds:
    """The bounds of the difference of two runs."""
    both = asked.judged, second

    def ends_of_block(part: Settings, block: tuple[int, int], max_depth: int, levels: tuple[int, ...]) -> Ends:
        pairs = pairs_of(both, shared, block, asked.depth, max_depth)
        return ends_of_difference(part, Two(both, block, pairs, max_depth, part.options.judged_only), levels)

    value, condensed = (
        difference(asked.values(both[0], **changed), asked.values(both[1], **changed))
        for changed in ({}, {"judged_only": True})
    )
    return asked.bounds(value, asked.ends(ends_of_block), condensed=condensed, against=second)


def difference(first: Results, second: Results) -> Results:
    """The values of one less those of the other, for the queries that both have."""
    places = {query_id: row for row, query_id in enumerate(second._query_ids)}
    rows = [row for row, query_id in enumerate(first._query_ids) if query_id in places]
    kept = first if len(rows) == len(first._query_ids) else first._rows(rows)
    return with_values(kept, kept.values - second.values[[places[query_id] for query_id in kept._query_ids]])


def shares_of(settings: Settings) -> tuple[str, ...]:
    """For each metric, the name of judged@k with its cutoff."""
    return tuple(f"judged@{request.cutoff}" if request.cutoff else "judged" for request in settings.requests)


def sides(value: Results, ends: Ends, judged: JudgedRankings) -> tuple[Results, Results, dict[str, list[Any]]]:
    """The smallest and the largest values as Results, and for each metric the queries whose values are outer bounds."""
    kept = kept_rows(value, judged)
    hows = list(value.aggregates.values())
    lower, upper = (
        with_values(value, without_undefined(side[kept], ends.undefined[kept], sign, hows, value))
        for side, sign in ((ends.lower, 1.0), (ends.upper, -1.0))
    )
    ids = value.query_ids
    outer = {
        name: [ids[row] for row in np.flatnonzero(ends.outer[kept, column]).tolist()]
        for column, name in enumerate(value.names)
    }
    return lower, upper, outer


def kept_rows(value: Results, judged: JudgedRankings) -> np.ndarray:
    """The queries of judged rankings that results have."""
    if len(value.query_ids) == len(judged):
        return np.arange(len(judged))
    kept = set(value.query_ids)
    return np.array([row for row, query_id in enumerate(judged.query_ids) if query_id in kept], np.int64)


def with_values(results: Results, values: np.ndarray) -> Results:
    """Results with other values."""
    return Results(
        results._query_ids,
        results._names,
        values,
        results._status_codes,
        results._aggregates,
        lambda: results.report,
        results.weights,
        results._provenance,
    )


def check_limits(settings: Settings, max_label: int) -> None:
    """Refuse metrics that no document with the largest label can have."""
    for limit, text, why in settings.label_limits:
        if max_label > limit:
            raise OverflowError(f"metric {quote(text)}: max_label={max_label} is too large for {why}")
