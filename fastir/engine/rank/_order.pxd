# Whole rankings in rank order.
from libc.stdint cimport int64_t

from fastir.engine.columns._ids cimport Text

cdef enum:
    SIGNAL_ROWS = 1 << 15       # a ranking with more rows answers signals while it is put in order


cdef struct Row:            # while it is sorted
    double score
    Text id
    int64_t word


cdef inline bint falls(const double* scores, int64_t n) noexcept nogil:
    """Whether each score is below the one before it, as in most rankings: rows in rank order, without NaN."""
    cdef int64_t i
    cdef bint falling = True
    for i in range(1, n):
        falling &= scores[i] < scores[i - 1]
    return falling


cdef int put_in_order(double* scores, Text* ids, int64_t* words, int64_t n, Row* rows) except -1 nogil
