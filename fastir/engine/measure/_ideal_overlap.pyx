"""Similarity of a ranking to the ideal one: rank-biased overlap."""

from libc.stdint cimport int64_t
from libc.stdlib cimport qsort

from fastir.engine.measure._registry cimport Query, Snapshot, declare
from fastir.engine.measure._sort cimport rising_order

from fastir.engine.measure._registry import EMPTY, words
from fastir.engine.measure.cards import Card, Param
from fastir.engine.measure.references import CLARKE_2020
from fastir.engine.measure.responses import chain_of_two_gains


cdef int64_t shared_depths(const Query* q) noexcept nogil:
    """Fill q.room with the depths from which on both rankings hold a document, rising; returns how many there are.

    The ideal ranking goes down by label; documents of one label stand as in the ranking, those not retrieved last.
    Another order of the ideal ranking comes as labels that are all different (composites/per_metric.py).
    """
    cdef int64_t i, j = 0, stop, place, n = 0
    while j < q.num_ideal and q.ideal[j] >= q.floor:
        stop = j
        while stop < q.num_ideal and q.ideal[stop] == q.ideal[j]:
            stop += 1
        place = j
        for i in range(q.num_hits):
            if q.labels[i] == q.ideal[j]:
                place += 1
                q.room[n] = q.ranks[i] if q.ranks[i] > place else place
                n += 1
        j = stop
    qsort(q.room, n, sizeof(int64_t), rising_order)
    return n


cdef enum:                      # normalize
    BY_IDEAL
    BY_WEIGHTS


cdef struct CompatParams:
    double p, depth, normalize  # depth: -1 for "max"

cdef CompatParams compat_fields


cdef double compat(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const CompatParams* params = <const CompatParams*>p
    cdef int64_t d, depth, n_shared, shared = 0, m = q.num_ideal
    cdef double weight = 1.0, weights = 0.0, value = 0.0, best = 0.0
    while m > 0 and q.ideal[m - 1] < q.floor:
        m -= 1
    if m == 0 or q.num_ret == 0:
        return 0.0
    n_shared = shared_depths(q)
    depth = <int64_t>params.depth if params.depth >= 1.0 else m if m > q.num_ret else q.num_ret
    for d in range(1, depth + 1):
        if weight < 1e-30:
            break
        while shared < n_shared and q.room[shared] <= d:
            shared += 1
        value += weight * (<double>shared / <double>d)
        best += weight * (<double>(d if d < m else m) / <double>d)
        weights += weight
        weight *= params.p
    return value / (best if params.normalize == BY_IDEAL else weights)

declare(compat, Card(
    "compat", "rank-biased overlap with the ideal ranking (compatibility)",
    "sum of p^(d - 1) shared_d / d over depths d / the same for the ideal ranking with itself; shared_d "
    "documents stand in the first d of both",
    "0 if no label is above 0, or nothing is retrieved", (CLARKE_2020, "ir_measures Compat"),
    differs="the authors' program goes down to 1000: depth=1000; ir_measures takes 0 for the score of what is not "
            "retrieved, and equal scores as the qrels have them: missing_documents=zero",
    params=(
        Param("p", 0.95, "persistence", (), 0, 1),
        Param("depth", "max", "the depth to which the rankings are compared: the end of the longer, or a number",
              ("max",), 0, 2**31, True),
        Param("normalize", "true", "divide by the value of the ideal ranking, or by the sum of weights",
              words(true=BY_IDEAL, false=BY_WEIGHTS)),
        Param("missing_documents", "last", "where the ideal ranking has documents of one label that are not retrieved: "
              "below the others, or as if their score were 0, and equal scores as in the qrels; labels without ids "
              "have the former", ("last", "zero")),
        EMPTY),
    graded=True, response=chain_of_two_gains, steady=False), NULL, compat_fields, True)
