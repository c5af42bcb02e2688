# Orders, searches and sorts of numbers that several kernels need.
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset


cdef enum:
    TINY = 7                    # labels up to this are counted in the bytes of one word


# ---- orders for qsort ------------------------------------------------------------------------------------------------

cdef inline int rising_order(const void* a, const void* b) noexcept nogil:
    """Of two int64."""
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef inline int falling_order(const void* a, const void* b) noexcept nogil:
    """Of two doubles."""
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


# ---- labels ----------------------------------------------------------------------------------------------------------

cdef inline int64_t write_runs(const int64_t* sizes, int32_t top, int32_t* labels) noexcept nogil:
    """Write each label from `top` down to 1 as often as its size says; how many."""
    cdef int64_t _i, n = 0
    cdef int32_t label
    for label in range(top, 0, -1):
        for _i in range(sizes[label]):
            labels[n] = label
            n += 1
    return n


cdef inline void sift(int32_t* a, int64_t i, int64_t n) noexcept nogil:
    cdef int64_t child
    cdef int32_t t = a[i]
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and a[child + 1] < a[child]:
            child += 1
        if a[child] >= t:
            break
        a[i] = a[child]
        i = child
    a[i] = t


cdef inline void sort_labels(int32_t* a, int64_t n) noexcept nogil:
    """Labels above 0, largest first, in place: by counting where they are small, else by heap."""
    cdef int64_t sizes[256]
    cdef int64_t i
    cdef uint64_t packed = 0
    cdef int32_t t, bits = 0
    cdef bint falling = True
    for i in range(1, n):
        falling &= a[i - 1] >= a[i]
    if falling:
        return
    for i in range(n):
        bits |= a[i]
    if 0 <= bits <= TINY and n <= 255:
        for i in range(n):
            packed += <uint64_t>1 << 8 * a[i]
        for t in range(1, TINY + 1):
            sizes[t] = <int64_t>(packed >> 8 * t & 255)
        write_runs(sizes, TINY, a)
        return
    if 0 <= bits <= 255:
        memset(sizes, 0, sizeof(sizes))
        for i in range(n):
            sizes[a[i]] += 1
        write_runs(sizes, 255, a)
        return
    for i in range(n // 2 - 1, -1, -1):
        sift(a, i, n)
    for i in range(n - 1, 0, -1):
        t = a[0]
        a[0] = a[i]
        a[i] = t
        sift(a, 0, i)
