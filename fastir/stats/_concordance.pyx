"""How many systems are above each one in two rankings: those before it in one, by a tree of sums over the other."""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

import numpy as np


def count_above(const int64_t[::1] order, const int64_t[::1] places):
    """For each system how many systems before it in `order` have a larger place: int64 array.

    Parameters
    ----------
    order : int64 array of shape (n,)
        All systems, 0 to n - 1.
    places : int64 array of shape (n,)
        The place of each system, from 0 to n - 1; systems may share one.
    """
    cdef int64_t i, place, n = order.shape[0], not_above
    cdef int64_t* sums = <int64_t*>calloc(n + 1, sizeof(int64_t))       # a Fenwick tree of the places before
    counts = np.empty(n, np.int64)
    cdef int64_t[::1] above = counts
    if sums == NULL:
        raise MemoryError
    try:
        if places.shape[0] != n or n and not (0 <= np.min(order) and np.max(order) < n and 0 <= np.min(places)
                                              and np.max(places) < n):
            raise ValueError(f"order and places must have {n} numbers from 0 to {n - 1}")
        with nogil:
            for i in range(n):
                place, not_above = places[order[i]] + 1, 0
                while place > 0:
                    not_above += sums[place]
                    place &= place - 1
                above[order[i]] = i - not_above
                place = places[order[i]] + 1
                while place <= n:
                    sums[place] += 1
                    place += place & -place
    finally:
        free(sums)
    return counts
