"""A Plan that measures nothing: the join hands it every query's hits, and it collects them.

So whatever a run comes as, and whatever joins it, what is collected is just what metrics would have been computed from.
The hits of a query lie from the position on where its labels begin in the qrels; there are never more of them. The
kernel finds that position by a difference of two pointers to labels, which is one only if both point into the same
qrels: so each join checks, when it is made, that its Judged is the one of the plan.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from fastir.engine.join._judged cimport Judged
from fastir.engine.measure._codes cimport POOL
from fastir.engine.measure._measure cimport Plan

COLUMNS = 2     # of the values that such a plan fills: the number of hits, and of ranked documents


def collecting_plan(Judged judged, int64_t[::1] ranks, int32_t[::1] labels, int64_t whole, int reads=POOL):
    """A Plan that collects the hits of all queries in `ranks` and `labels`, which are as long as all judgments.

    Parameters
    ----------
    judged : Judged or None
        None: there is none, and every row of values comes with the position of its query's hits as its first value.
    ranks, labels : int64 and int32 arrays of shape (n_judgments,), or without a Judged of any length but 0
    whole : int
        The depth of a whole ranking.
    reads : int
        A code of READ_CODES: which hits it collects.
    """
    cdef Plan plan = Plan([], [], min(reads, POOL), False, whole, False)
    cdef int64_t n = ranks.shape[0] if judged is None else judged.offsets[judged.n_queries]
    if ranks.shape[0] != n or labels.shape[0] != n:
        raise ValueError(f"expected arrays of {n} entries")
    if n > 0:
        plan.collected.first = NULL if judged is None else judged.labels
        plan.collected.ranks, plan.collected.labels = &ranks[0], &labels[0]
    plan.deepest = whole
    plan.owners = judged, ranks, labels
    plan.n_slots = COLUMNS
    return plan


cdef int check_judged(Plan plan, Judged judged) except -1:
    """Refuse to join with other qrels than the plan's."""
    if plan.collected.ranks != NULL and plan.collected.first != judged.labels:
        raise RuntimeError("internal error: a plan that collects hits is joined with a Judged that is not its own")
    return 0


def judgments(Judged judged):
    """All judgments, best first for each query, as new int64 offsets and int32 labels; -1 for negative ones."""
    cdef int64_t i, n = judged.offsets[judged.n_queries]
    offsets, labels = np.empty(judged.n_queries + 1, np.int64), np.empty(n, np.int32)
    cdef int64_t[::1] all_offsets = offsets
    cdef int32_t[::1] all_labels = labels
    for i in range(judged.n_queries + 1):
        all_offsets[i] = judged.offsets[i]
    for i in range(n):
        all_labels[i] = max(judged.labels[i], -1)
    return offsets, labels
