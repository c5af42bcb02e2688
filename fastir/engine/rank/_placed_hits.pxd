# The hits of a group by counting or selecting.
from libc.stdint cimport int8_t, int64_t

from fastir.engine.measure._measure cimport Plan, Scratch
from fastir.engine.rank._labels cimport Labels
from fastir.engine.rank._top_ranks cimport real

cdef enum:
    COUNTED = 1 << 12       # rows of a group up to which ranks are counted


cdef struct Places:         # scratch for as many rows as a group has, or COUNTED, and TAIL more
    int64_t* rows
    int64_t* stops          # at the ranks where ties begin: where they end; for INPUT, at a hit's rank: its row
    int8_t* ranked          # labels by rank


cdef int64_t hits_by_rank(Plan plan, Scratch* measured, const Places* places, const real* scores, const Labels* labels,
                          int ties, int64_t n_positive, bint* tied) noexcept nogil
