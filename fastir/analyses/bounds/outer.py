"""Outer bounds of metrics that read more than labels: forbidden documents, evidence, costs and exposure.

The set, group or cost of an unjudged document does not follow from its label. So a value is certain where every
document of a ranking is judged, and where no label matters; elsewhere the range of the metric is all that is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.results.results import remake
from fastir.engine.columns.rows import list_of_each, occurrences
from fastir.engine.measure import LESS_HARM, NDCG_AWRF
from fastir.inputs.roles import EVIDENCE_KINDS
from fastir.request.plan import COSTED, FORBIDDEN, GROUPED, Settings

if TYPE_CHECKING:
    from fastir.analyses.bounds.result import Bounds
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.results import Results
    from fastir.request.names import Request

BY_ID = ("forbidden", "groups")  # `Card.sampled` of metrics that no label from 0 up changes, but for these:
READ_LABELS = (*LESS_HARM, NDCG_AWRF)
OUTER_KINDS = (FORBIDDEN, GROUPED, COSTED)  # what their qrels are read for, as in `Settings.parts`


def outer_requests(settings: Settings) -> dict[str, Request]:
    """The requests whose bounds are outer ones, by their names."""
    return {
        request.text: request
        for requests, _, read in settings.parts
        for request in requests
        if read in OUTER_KINDS or request.card.sampled in EVIDENCE_KINDS
    }


def uncertain_queries(judged: JudgedRankings, depth: int, unseen: int) -> set[Any]:
    """The queries with an unjudged document in the ranking down to a depth, or with unseen documents."""
    offsets, (labels, ranks) = judged.offsets, (judged.labels, judged.ranks)
    owners = list_of_each(offsets)
    n_judged = occurrences(owners[(labels >= 0) & (ranks <= depth)], minlength=len(judged))
    certain = (n_judged == np.minimum(judged.num_ret, depth)) & (not unseen)
    return {query_id for query_id, known in zip(judged.query_ids, certain.tolist(), strict=True) if not known}


def with_outer_bounds(
    value: Results, found: Bounds, outer: dict[str, Request], uncertain: set[Any], by_labels: bool
) -> dict[str, Any]:
    """The fields of the Bounds of a value: those that were found for the other metrics, and outer ones.

    `by_labels` says whether labels from 0 up forbid documents, or drop them.
    """
    rows = {query_id: row for row, query_id in enumerate(found.value.query_ids)}
    sides = {
        "lower": value.values.copy(),
        "upper": value.values.copy(),
        "condensed": np.full(value.values.shape, np.nan),
    }
    is_open = np.array([query_id in uncertain for query_id in value.query_ids], bool)
    undecided: dict[str, list[Any]] = {}
    for column, name in enumerate(value.names):
        if name not in outer:
            places = [rows[query_id] for query_id in value.query_ids]
            for side, values in sides.items():
                values[:, column] = getattr(found, side).values[places, found.value.names.index(name)]
            undecided[name] = found.outer[name]
            continue
        card = outer[name].card
        at = is_open & (by_labels or card.sampled not in BY_ID or card.name in READ_LABELS)
        sides["lower"][at, column], sides["upper"][at, column] = card.low, card.high
        undecided[name] = [query_id for query_id, open_ in zip(value.query_ids, at.tolist(), strict=True) if open_]
    return {**{side: remake(value, values) for side, values in sides.items()}, "outer": undecided}
