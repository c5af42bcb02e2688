# How many scores of an array are above a level, and which: with the best instructions that the machine has.
from libc.stdint cimport int32_t, int64_t

cdef void count_scores(const void* scores, bint single, int64_t n, const double* levels, int64_t n_levels,
                      int64_t* above, int64_t* reach) noexcept nogil
cdef int64_t find_scores(const void* scores, bint single, int64_t n, double level, int32_t* places) noexcept nogil
cdef void fill_lanes(const void* scores, bint single, int64_t n, void* best, int64_t n_lanes) noexcept nogil
