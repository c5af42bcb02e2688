"""Whether the labels of unjudged documents could change the sign of a difference between two runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.bounds.bounds import difference_bounds_by_pair
from fastir.analyses.compare.records import SIGN_CAN_CHANGE

if TYPE_CHECKING:
    from fastir.analyses.bounds.result import Bounds
    from fastir.analyses.compare.comparison import Comparison
    from fastir.analyses.compare.records import Pair


def with_sign_changes(
    comparison: Comparison, qrels: Any, runs: Mapping[Hashable, Any], options: dict[str, Any]
) -> Comparison:
    """A comparison with notes of pairs: which differences could have the other sign, and their bounds."""
    names = dict.fromkeys((pair.a, pair.b) for pair in comparison.pairs)
    bounds = difference_bounds_by_pair(qrels, runs, names, comparison.metrics, **{**options, "queries": "qrels"})
    return with_notes(comparison, bounds)


def with_notes(comparison: Comparison, bounds: dict[Any, Bounds]) -> Comparison:
    """A comparison and its segments' comparisons, with the notes of their own queries."""
    pairs = [
        pair._replace(note=note_with_bounds(pair, bounds[pair.a, pair.b], comparison.query_ids))
        for pair in comparison.pairs
    ]
    return type(comparison)(
        comparison.runs,
        comparison.metrics,
        comparison.query_ids,
        comparison.values,
        lambda: (pairs, comparison.means, comparison.method),
        lambda: pairs,
        lambda: comparison.systems,
        {segment: with_notes(part, bounds) for segment, part in comparison.segments.items()},
    )


def note_with_bounds(pair: Pair, bounds: Bounds, query_ids: list[Any]) -> str:
    """The note of a pair, and between which values its difference lies if these have several signs."""
    places = {query_id: row for row, query_id in enumerate(bounds.value.query_ids)}
    rows = [places[query_id] for query_id in query_ids]
    column = bounds.value.names.index(pair.metric)
    low, high = (float(np.nanmean(side.values[rows, column])) for side in (bounds.lower, bounds.upper))
    if not low < 0.0 < high:
        return pair.note
    return "; ".join(filter(None, (pair.note, f"{SIGN_CAN_CHANGE}: {low:+.4f} to {high:+.4f}")))
