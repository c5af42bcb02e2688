"""The option `min_score`: rows whose score is below it are not retrieved.

Equal scores are all kept or all dropped, and lower scores change the rank of no kept document; so an evaluation reads
each ranking to a depth of its own. Rows are dropped before a run is judged, once for all sets of rules:

    dict of dicts    copies of the rankings without these documents
    other shapes     a Run without these rows; tables and files that would be evaluated while they are read are held
    arrays           labels of dropped rows stay judgments; dropped items of a matrix are excluded ones

A query keeps its ranking if nothing is left of it: it is an empty one, and not missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run, as_run
from fastir.engine.columns.rows import list_of_each, occurrences, offsets_from_sizes, select
from fastir.errors import quote
from fastir.inputs.csr import Items
from fastir.inputs.scored_pairs import has_pairs
from fastir.inputs.shapes import COLUMNS, DICTS, LISTS, input_shape
from fastir.inputs.source import as_source, data_of

if TYPE_CHECKING:
    from fastir.inputs.files import Watch
    from fastir.request.plan import Settings

RANKS_TEXT = "min_score needs scores, and the run has ranks: "


def least_double(least: float, single: bool) -> float:
    """The least score that is retrieved; with `single` as a double: all that are rounded to at least that float32."""
    if not single:
        return least
    with np.errstate(over="ignore"):
        rounded = np.float32(least)
        if np.isneginf(rounded):
            return -np.inf
        below = max(float(np.nextafter(rounded, np.float32(-np.inf))), -(2.0**128))
        middle = (below + min(float(rounded), 2.0**128)) / 2
        return middle if np.float32(middle) == rounded else float(np.nextafter(middle, np.inf))


def retrieved(
    run: Any, min_score: float, settings: Settings, columns: Mapping[str, str] | None, watch: Watch | None = None
) -> Any:
    """A run without the rows whose score is below `min_score`."""
    least = least_double(min_score, settings.single)
    shape = input_shape(run, Run, columns)
    if shape == DICTS and all(type(docs) is dict for docs in list(run.values())):
        try:  # NaN stays, for the error that names it
            return {
                query: {doc: score for doc, score in docs.items() if not score < least} for query, docs in run.items()
            }
        except (TypeError, ValueError):
            pass  # a score is no number: the error names it
    if (shape == LISTS and not has_pairs(run)) or (shape == COLUMNS and data_of(as_source(run)).numbers is None):
        raise ValueError(f"{RANKS_TEXT}lists of ids have no scores")
    held = as_run(run, columns, settings.options.duplicates, None, settings.lines, watch=watch)
    refuse_ranks(held)
    kept = held.columns.numbers >= least
    if kept.all():
        return held
    remaining = select(held, list(range(len(held))), kept)
    remaining.columns.repairs = held.columns.repairs
    return remaining


def refuse_ranks(run: Run) -> None:
    """Refuse a Run of ranks: scores -1, -2, ... of a table or a file, or n, n - 1, ..., 1 of lists."""
    scores, offsets = run.columns.numbers, run.columns.offsets
    owners, full = list_of_each(offsets), np.diff(offsets) > 0
    if not len(scores) or (scores != np.trunc(scores)).any() or len(scores) == full.sum():
        return
    best = np.maximum.reduceat(scores, offsets[:-1][full])
    order = np.lexsort((scores, owners))
    distinct = ((np.diff(owners[order]) > 0) | (np.diff(scores[order]) > 0)).all()
    backwards = offsets[1:][owners] - np.arange(len(scores))
    if (distinct and ((best == -1) | (best == 0)).all()) or (scores == backwards).all():
        query = run.columns.query_ids[int(owners[0])]
        raise ValueError(f"{RANKS_TEXT}the first row of query {quote(query)} has {scores[0]:g}, as made of a rank")


def least_score(scores: np.ndarray, settings: Settings) -> float:
    """The least score of an array that is retrieved; float32 scores are compared as such."""
    least: Any = settings.options.min_score
    return least_double(least, settings.single or scores.dtype == np.float32)


def low_scores(scores: np.ndarray, settings: Settings) -> np.ndarray:
    """Which scores of an array are not retrieved; NaN is."""
    least = least_score(scores, settings)
    if scores.dtype != np.float32:
        return scores < least
    with np.errstate(over="ignore"):
        return scores < np.float32(settings.options.min_score)


def without_low_items(excluded: Items, block: np.ndarray, first: int, settings: Settings) -> Items:
    """The excluded items of the rows of a block, which begins at row `first`, and the items with low scores."""
    rows, items = np.nonzero(low_scores(block, settings))
    offsets = excluded.offsets_between(first, first + len(block))
    numbers = excluded.numbers[offsets[0] : offsets[-1]]
    owners = list_of_each(offsets - offsets[0])
    order = np.argsort(np.concatenate([owners, rows]), kind="stable")
    sizes = np.diff(offsets) + occurrences(rows, minlength=len(block))
    merged = np.concatenate([numbers, items])[order]
    return Items(np.arange(first, first + len(block)), offsets_from_sizes(sizes), merged, None, (None, None), "exclude")
