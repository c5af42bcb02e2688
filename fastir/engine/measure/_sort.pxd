# Orders and searches that several kernels need.
from libc.stdint cimport int32_t, int64_t


# ---- orders for qsort ------------------------------------------------------------------------------------------------
cdef inline int rising_order(const void* a, const void* b) noexcept nogil:
    """The order of two int64."""
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef inline int falling_order(const void* a, const void* b) noexcept nogil:
    """The order of two doubles, the larger first."""
    cdef double x = (<const double*>a)[0], y = (<const double*>b)[0]
    return (x < y) - (x > y)


# ---- searches --------------------------------------------------------------------------------------------------------
cdef inline int64_t scores_from(const double* falling, int64_t n, double score) noexcept nogil:
    """How many of the falling scores are at least `score`; without a branch in the loop."""
    cdef const double* base = falling
    cdef int64_t half
    if n == 0:
        return 0
    while n > 1:
        half = n >> 1
        base += half if base[half - 1] >= score else 0
        n -= half
    return (base - falling) + (base[0] >= score)


cdef inline int64_t scores_above(const double* falling, int64_t n, double score) noexcept nogil:
    """How many of the falling scores are greater than `score`; without a branch in the loop."""
    cdef const double* base = falling
    cdef int64_t half
    if n == 0:
        return 0
    while n > 1:
        half = n >> 1
        base += half if base[half - 1] > score else 0
        n -= half
    return (base - falling) + (base[0] > score)


cdef inline int64_t labels_from(const int32_t* falling, int64_t n, int32_t level) noexcept nogil:
    """How many of the falling labels are at least `level`; most often all of them are."""
    cdef int64_t low = 0, high = n, middle
    if n == 0 or falling[n - 1] >= level:
        return n
    while low < high:
        middle = (low + high) // 2
        if falling[middle] >= level:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int64_t numbers_below(const int64_t* rising, int64_t n, int64_t number) noexcept nogil:
    """How many of the rising numbers are less than `number`."""
    cdef int64_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if rising[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low
