# How many scores of an array are above a level, and which, and the labels above 0 of a ranking: with the best
# instructions that the machine has.
from libc.stdint cimport int8_t, int32_t, int64_t

cdef void count_scores(const void* scores, bint single, int64_t n, const double* levels, int64_t n_levels,
                      int64_t* above, int64_t* reach) noexcept nogil
cdef int64_t find_scores(const void* scores, bint single, int64_t n, double level, int32_t* places) noexcept nogil
cdef int64_t list_labels(const int8_t* labels, int64_t n, bint padded, int64_t room, int64_t* ranks,
                         int32_t* hit_labels, int64_t* negative, int* beyond) noexcept nogil
cdef void fill_lanes(const void* scores, bint single, int64_t n, void* best, int64_t n_lanes) noexcept nogil
