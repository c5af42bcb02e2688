# The hits of a group by selecting or counting.
from libc.stdint cimport int8_t, int64_t

from fastir.engine.measure._measure cimport Plan, Scratch
from fastir.engine.rank._labels cimport Labels


ctypedef fused real:
    float
    double

cdef enum:
    MAX_COUNTED_ROWS = 1 << 12  # rows of a group up to which ranks are counted
    MAX_SELECTED_RANKS = 20     # ranks that are worth a selection


cdef struct Places:         # scratch for as many rows as a group has, or MAX_COUNTED_ROWS, and TAIL_BYTES more
    int64_t* rows
    int64_t* stops          # at the ranks where ties begin: where they end; for INPUT, at a hit's rank: its row
    int8_t* ranked          # labels by rank


cdef int64_t hits_by_rank(Plan plan, Scratch* measured, const Places* places, const real* scores, const Labels* labels,
                          int ties, int64_t n_positive, int64_t kept, bint* tied) noexcept nogil
