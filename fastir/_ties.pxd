# Equal scores as expected values need them.
from libc.stdint cimport int32_t, int64_t

from fastir._metrics cimport Query


cdef struct Tie:                # documents of one score, or a single one
    int64_t first, last         # the ranks that they share
    int64_t relevant
    int64_t nonrelevant         # hits with lower labels


cdef int64_t take_tie(const Query* q, int64_t i, Tie* tie, int32_t lowest=*) noexcept nogil
cdef double count_to(const Query* q, int64_t depth, int32_t low) noexcept nogil
cdef double chance_of_any(const Query* q, int64_t depth) noexcept nogil
