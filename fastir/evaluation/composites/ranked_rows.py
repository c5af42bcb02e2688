"""The documents of a Run in rank order, for metrics that read all of them and not the judged ones alone."""

from __future__ import annotations

import numpy as np

from fastir.data.run import Run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.rows import list_of_each, repeat
from fastir.engine.rank._order import in_rank_order
from fastir.request.options import TIES_BY_INPUT


def ranked_rows(run: Run, ties: str, single: bool) -> np.ndarray:
    """The rows of each ranking in rank order, one ranking after the other, as int64; with `single` scores are float32.

    `ties` goes by ids or by the order of the input.
    """
    ids, offsets, scores = run.columns.arrays()
    scores = np.ascontiguousarray(scores.astype(np.float32) if single else scores, float)
    rows = np.arange(len(scores))
    if ties in TIES_BY_INPUT:
        return np.lexsort((-rows if ties == "input_reversed" else rows, -scores, list_of_each(offsets)))
    if ties == "trec":
        return in_rank_order(ids_from_arena(ids), offsets, scores)
    rising = in_rank_order(ids_from_arena(ids), offsets, -scores)  # the opposite order of scores and ids
    return rising[repeat(offsets[1:] + offsets[:-1] - 1, np.diff(offsets)) - rows]
