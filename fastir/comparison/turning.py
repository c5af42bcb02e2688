"""Whether the labels of unjudged documents could turn the sign of a difference between two runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.comparison.records import TURNS
from fastir.unjudged.bounds import difference_bounds_by_pair

if TYPE_CHECKING:
    from fastir.comparison.comparison import Comparison
    from fastir.comparison.records import Pair
    from fastir.unjudged.result import Bounds


def turned(comparison: Comparison, qrels: Any, runs: Mapping[Hashable, Any], options: dict[str, Any]) -> Comparison:
    """The same comparison; the notes of its pairs say which differences could have the other sign, and their bounds."""
    names = dict.fromkeys((pair.a, pair.b) for pair in comparison.pairs)
    return noted(
        comparison, difference_bounds_by_pair(qrels, runs, names, comparison.metrics, **{**options, "queries": "qrels"})
    )


def noted(comparison: Comparison, found: dict[Any, Bounds]) -> Comparison:
    """A comparison and those of its groups, with the notes of their own queries."""
    pairs = [
        pair._replace(note=note_of(pair, found[pair.a, pair.b], comparison.query_ids)) for pair in comparison.pairs
    ]
    systems = comparison.systems
    return type(comparison)(
        comparison.runs,
        comparison.metrics,
        comparison.query_ids,
        comparison.values,
        pairs,
        systems,
        comparison.method,
        lambda: (pairs, systems),
        {group: noted(each, found) for group, each in comparison.groups.items()},
    )


def note_of(pair: Pair, found: Bounds, query_ids: list[Any]) -> str:
    """The note of a pair: its own, and between which values the difference lies if these have several signs."""
    places = {query_id: row for row, query_id in enumerate(found.value.query_ids)}
    rows = [places[query_id] for query_id in query_ids]
    column = found.value.names.index(pair.metric)
    low, high = (float(np.nanmean(side.values[rows, column])) for side in (found.lower, found.upper))
    if not low < 0.0 < high:
        return pair.note
    return "; ".join(filter(None, (pair.note, f"{TURNS}: {low:+.4f} to {high:+.4f}")))
