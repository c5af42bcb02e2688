# The rows at the first ranks of one group.
from libc.stdint cimport int64_t

ctypedef fused real:
    float
    double

cdef enum:
    MOST = 20           # ranks that are worth a selection
    CANDIDATES = 128    # rows that one may end with
    FEW_LANES = 16      # for k <= FEW_RANKS
    LANES = 32
    FEW_RANKS = 10
    STRETCH = 2048      # scores that are looked through at a time

cdef int64_t select_best(const real* scores, int64_t n, int64_t k, int64_t* rows, bint whole,
                         bint* tied) noexcept nogil
