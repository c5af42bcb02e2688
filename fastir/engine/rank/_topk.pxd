# A query's judged items, from CSR, made ready for a ranking of item numbers.
from libc.stdint cimport int32_t, int64_t

from fastir.engine.measure._codes cimport EVALUATED, NO_RELEVANT
from fastir.engine.measure._measure cimport Judgments


cdef struct Item:
    int64_t number
    int32_t label


cdef struct Relevant:           # scratch
    Item* items                 # by number; one allocation with ideal
    int64_t n, capacity
    int64_t at_fault            # the duplicate item
    Judgments judgments


cdef int take_items(Relevant* r, const int64_t* numbers, const int32_t* labels, int64_t n) noexcept nogil


cdef inline unsigned char status_of(const Relevant* r, int32_t level) noexcept nogil:
    """The status of a row that is there."""
    return EVALUATED if r.judgments.n_positive > 0 and r.judgments.labels[0] >= level else NO_RELEVANT
