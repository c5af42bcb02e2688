"""Swapped qrels and run, where only their numbers can show it: in dicts, tables, JSON and arrays.

Real labels are legitimate, and so are scores that are small whole numbers. Both together, with labels that are nearly
all different within a query and scores that are tied within queries as labels are, are a run and qrels that were
swapped. Whole scores that differ within each query are a ranking by hand.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run, as_run
from fastir.inputs.shapes import DICTS, HELD_OBJECT, OTHER_OBJECT, PATH, TABLE, input_shape

if TYPE_CHECKING:
    from fastir.evaluation.drivers.coverage import Coverage

MAX_QUERIES = 100  # of each side that are looked at
LOWEST, HIGHEST = -2, 10  # labels of collections
FEW_ROWS = 10_000  # of a file or table, which is read again where ties do not hint at labels
DISTINCT_FRACTION = 0.9  # of the labels
MANY_LABELS = 15  # different ones of a query, which no judge tells apart
MANY_ROWS, LARGE_LABEL = 1000, 100  # whole labels are scores only among so many, and above this
TIED_FRACTION = 0.2  # of the scores
FEW_QUERIES = 3  # of which one score for all documents says nothing


def are_swapped(labels: np.ndarray, label_offsets: np.ndarray, scores: np.ndarray, score_offsets: np.ndarray) -> bool:
    """Whether labels look like scores, and scores like labels; the rows of the first queries are looked at."""
    return like_labels(scores, score_offsets) and like_scores(labels, label_offsets)


def like_labels(scores: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether scores are small whole numbers, and tied within queries, or all the same."""
    offsets = offsets[: MAX_QUERIES + 1]
    scores = scores[offsets[0] : offsets[-1]]
    if (
        not len(scores)
        or (scores[:MAX_QUERIES] != np.trunc(scores[:MAX_QUERIES])).any()
        or (scores != np.trunc(scores)).any()
    ):
        return False
    low, high = scores.min(), scores.max()
    if low < LOWEST or high > HIGHEST or high < 0:  # ranks are read as scores below 0
        return False
    if low == high and len(offsets) > FEW_QUERIES:
        return True
    return len(scores) - n_distinct(scores, offsets) >= TIED_FRACTION * len(scores)


def like_scores(labels: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether labels are fractions, or many and large, and finer than a judge's grades."""
    if len(labels) < MANY_ROWS and labels.dtype == np.int32:
        return False
    offsets = offsets[: MAX_QUERIES + 1]
    labels = labels[offsets[0] : offsets[-1]]
    if len(labels) < 2 or not may_be_scores(labels):
        return False
    return are_distinct(labels, offsets) or are_fine(labels)


def are_distinct(labels: np.ndarray, offsets: np.ndarray) -> bool:
    """Whether nearly all labels of a query differ, or more than a judge tells apart."""
    return n_distinct(labels, offsets) >= min(DISTINCT_FRACTION * len(labels), MANY_LABELS * (len(offsets) - 1))


def are_fine(labels: np.ndarray) -> bool:
    """Whether most labels have more than three decimals."""
    thousandths = labels * 1000.0
    return 2 * int(np.count_nonzero(np.abs(thousandths - np.round(thousandths)) > 1e-6)) > len(labels)


def may_be_scores(labels: np.ndarray) -> bool:
    """Whether some labels are fractions, or there are many and large ones."""
    if labels.dtype.kind == "f" and (labels != np.trunc(labels)).any():
        return True
    return len(labels) >= MANY_ROWS and bool(labels.max() > LARGE_LABEL)


def n_distinct(column: np.ndarray, offsets: np.ndarray) -> int:
    """How many different numbers the queries have, added up."""
    borders = (offsets - offsets[0]).tolist()
    return sum(len(set(column[start:stop].tolist())) for start, stop in itertools.pairwise(borders))


def note_swap(coverage: Coverage, run: Any) -> None:
    """Note in a Coverage, for its warning, that a run looks like qrels where the qrels' labels are `like_scores`."""
    prepared, counts = coverage.prepared, coverage.counts
    shape = input_shape(run, Run, prepared.columns)
    try:
        if shape in (DICTS, OTHER_OBJECT):
            some = itertools.islice(next(iter(run.values())).values(), MAX_QUERIES)
            if not all(float(score).is_integer() for score in some):
                return
            held = Run.from_dict(dict(itertools.islice(run.items(), MAX_QUERIES)))
        elif shape == HELD_OBJECT:
            held = run
        elif shape in (TABLE, PATH) and (
            counts.n_ranked_docs < FEW_ROWS or 2 * counts.n_tied_queries > counts.n_matched_queries
        ):
            held = as_run(run, prepared.columns, "first", None, prepared.settings.lines)
        else:
            return
    except Exception:
        return  # a source that can be read only once, and is evaluated already
    if like_labels(held.columns.numbers, held.columns.offsets):
        coverage.swapped, coverage.is_complete = True, False
