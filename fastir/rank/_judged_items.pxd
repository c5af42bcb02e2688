# A query's judged items, from CSR, made ready for a ranking of item numbers.
from libc.stdint cimport int32_t, int64_t

from fastir.measure._measure cimport JUDGED, POOL, Judgments


cdef enum:                      # what can be wrong with a row; the messages are in numbered.py
    NO_MEMORY = 1
    REPEATED = 2                # a judged item stands twice
    OUTSIDE = 3                 # it has no column
    EXCLUDED_OUTSIDE = 4        # an excluded one has none
    NOT_A_NUMBER = 5
    RANKED_TWICE = 6            # a ranked item
    NEGATIVE = 7
    PADDED_INSIDE = 8           # a ranked item stands behind -1


cdef struct Item:
    int64_t number
    int32_t label


cdef struct Relevant:           # scratch
    Item* items                 # by number; one allocation with ideal
    int64_t n, capacity
    int64_t at_fault            # the item that stands twice
    Judgments known


cdef int take_items(Relevant* r, const int64_t* numbers, const int32_t* labels, int64_t n) noexcept nogil


cdef inline bint is_hit(int32_t label, int reads) noexcept nogil:
    """Whether a plan with this `reads` looks an item of this label up."""
    return label > 0 or reads >= POOL or (label == 0 and reads >= JUDGED)


cdef inline unsigned char status_of(const Relevant* r, int32_t level) noexcept nogil:
    """The code of results.STATUSES for a row that is there."""
    return 0 if r.known.n_positive > 0 and r.known.labels[0] >= level else 2
