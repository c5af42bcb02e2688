"""Exact p-values of one pair: how many subsets of the absolute differences have a sum that stays below a limit.

By halves: their sorted subset sums meet in the middle (2^20 of 2^40), or by a table of all sums if these are few whole
numbers.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef void subset_sums(const int64_t* d, int64_t n, int64_t* sums, int64_t* spare) noexcept nogil:
    """All 2^n subset sums of non-negative values in ascending order: each value v merges the sums with the sums + v.

    The sums without v end first, because they win ties and the last sum includes v.
    """
    cdef int64_t size = 1, j, i, k, p, a, b
    cdef int64_t* swap
    cdef int64_t* begin = sums
    sums[0] = 0
    for j in range(n):
        i = 0
        k = 0
        for p in range(2 * size):
            a = sums[i] if i < size else 0
            b = sums[k] + d[j]
            if i < size and a <= b:
                spare[p] = a
                i += 1
            else:
                spare[p] = b
                k += 1
        swap = sums
        sums = spare
        spare = swap
        size *= 2
    if sums is not begin:
        for p in range(size):
            begin[p] = sums[p]


def subsets_below(const int64_t[::1] d, int64_t limit):
    """How many subsets of non-negative values, at most 62, have a sum of at most `limit`."""
    cdef int64_t n = d.shape[0], half = n // 2, i, k, most = <int64_t>1 << (n - half), few = <int64_t>1 << half
    cdef uint64_t count = 0
    cdef int64_t* sums = <int64_t*>malloc(3 * most * sizeof(int64_t))
    if sums is NULL:
        raise MemoryError
    with nogil:
        subset_sums(&d[0], half, sums, sums + most)
        subset_sums(&d[half], n - half, sums + most, sums + 2 * most)
        k = most
        for i in range(few):
            while k > 0 and sums[i] + sums[most + k - 1] > limit:
                k -= 1
            count += <uint64_t>k
    free(sums)
    return count


def share_below(const int64_t[::1] d, int64_t limit):
    """The fraction of the subsets of values, none negative, with a sum of at most `limit`: by a table of limit + 1."""
    cdef int64_t i, j, top = 0
    cdef double total = 0.0
    if limit < 0:
        return 0.0
    cdef double* shares = <double*>malloc((limit + 1) * sizeof(double))
    if shares is NULL:
        raise MemoryError
    with nogil:
        memset(shares, 0, (limit + 1) * sizeof(double))
        shares[0] = 1.0
        for j in range(d.shape[0]):
            top = min(limit, top + d[j])
            for i in range(top, d[j] - 1, -1):
                shares[i] = 0.5 * (shares[i] + shares[i - d[j]])
            for i in range(min(d[j], top + 1)):
                shares[i] *= 0.5
        for i in range(limit + 1):
            total += shares[i]
    free(shares)
    return total
