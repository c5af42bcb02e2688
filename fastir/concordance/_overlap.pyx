"""Rank-biased overlap of two rankings of one query, to all depths at once.

In: the scores of both rankings, which do not rise, so that equal neighbours are ties; the shorter ranking first; for
each of its documents the place in the longer one, or -1. Out: the extrapolated value, the smallest and the largest.

With the places 0, 1, ... and a group of tied documents from `top` to `bottom`, a document counts at depth d, when
top < d <= bottom, as 1 (variant w) or as (d - top) / size (variants a and b), the share of the orders of the group
that have it among the first d; below its group as 1. Two documents in common add the product of what they count. Sums
over one side need no loop over documents, because of all groups at most one is open at a depth. So the work is linear,
but for documents in common in variants a and b, which take as many steps as their groups are long.

Memory is a workspace of the caller; nothing here is checked, and nothing raises.
"""

from libc.math cimport fmax, fmin, sqrt
from libc.stdint cimport int64_t

cdef enum:
    W, A, B


cdef void groups(const double[::1] scores, int64_t[::1] top, int64_t[::1] bottom) noexcept nogil:
    """Where the group of each place begins and ends."""
    cdef Py_ssize_t i, n = scores.shape[0]
    for i in range(n):
        top[i] = top[i - 1] if i and scores[i] == scores[i - 1] else i
    for i in range(n - 1, -1, -1):
        bottom[i] = bottom[i + 1] if i + 1 < n and scores[i] == scores[i + 1] else i


cdef inline double counted(int64_t d, int64_t top, int64_t bottom) noexcept nogil:
    """What a document counts at a depth at which its group is open or closed."""
    return fmin(1., <double>(d - top) / (bottom - top + 1))


cdef inline double size(int variant, int64_t d, int64_t top, int64_t bottom) noexcept nogil:
    """What all documents of one side count at a depth: added up, or in variant b their squares."""
    if variant == W:
        return bottom + 1
    if variant == A:
        return d
    return top + <double>(d - top) * (d - top) / (bottom - top + 1)


cdef inline double agreement(int variant, double common, double one, double other) noexcept nogil:
    if variant == W:
        return fmin(1., 2 * common / (one + other))
    return fmin(1., common / (one if variant == A else sqrt(one) * sqrt(other)))


cdef void overlaps(const int64_t[::1] place, int64_t[:, ::1] ints, double[::1] common, int variant) noexcept nogil:
    """What documents in common count at each depth, from 1."""
    cdef Py_ssize_t i, d, n = common.shape[0] - 1
    cdef int64_t j, first, last
    common[:] = 0.
    for i in range(place.shape[0]):
        j = place[i]
        if j < 0:
            continue
        first = max(ints[0, i], ints[2, j])
        last = first if variant == W else max(ints[1, i], ints[3, j])
        common[last + 1] += 1       # from here on in full
    for d in range(1, n + 1):
        common[d] += common[d - 1]
    if variant == W:
        return
    for i in range(place.shape[0]):
        j = place[i]
        if j >= 0:
            for d in range(max(ints[0, i], ints[2, j]) + 1, max(ints[1, i], ints[3, j]) + 1):
                common[d] += counted(d, ints[0, i], ints[1, i]) * counted(d, ints[2, j], ints[3, j])


def rbo(const double[::1] short, const double[::1] long, const int64_t[::1] place, double p, int variant, double tail,
        int64_t[:, ::1] ints, double[::1] common):
    """(extrapolated, smallest, largest) of two rankings, of which neither is empty.

    `tail` is the sum of p^d / d below the longer ranking; `ints`, of shape (5, length + 1), and `common`, of length
    + 1, are workspace.
    """
    cdef int64_t s = short.shape[0], n = long.shape[0], d, top, bottom, before, within, most
    cdef double weight = 1 - p, ext = 0, low = 0, high = 0, a, at_s = 0, one, other, seen, share, all_seen
    with nogil:
        groups(short, ints[0], ints[1])
        groups(long, ints[2], ints[3])
        overlaps(place, ints, common, variant)
        for d in range(n):
            ints[4, d + 1] = 1      # documents of the longer ranking alone, counted down to each place
        ints[4, 0] = 0
        for d in range(s):
            if place[d] >= 0:
                ints[4, place[d] + 1] = 0
        for d in range(n):
            ints[4, d + 1] += ints[4, d]
        for d in range(1, n + 1):
            top, bottom, seen = ints[2, d - 1], ints[3, d - 1], common[d]
            other = size(variant, d, top, bottom)
            if d <= s:
                one = size(variant, d, ints[0, d - 1], ints[1, d - 1])
                a = at_s = agreement(variant, seen, one, other)
                ext, low, high = ext + weight * a, low + weight * a, high + weight * a
            else:
                share = 1. if variant == W else counted(d, top, bottom)
                before, within = ints[4, top], ints[4, bottom + 1]
                low += weight * agreement(variant, seen, d, other)
                most = d - s            # so many of the longer ranking's documents the shorter one could have next
                a = min(most, before) + (min(most, within) - min(most, before)) * share
                high += weight * agreement(variant, seen + a, d, other)
                a = (before + (within - before) * share) / within
                ext += weight * agreement(variant, seen + most * at_s * a, d, other)
            weight *= p
        # weight is (1 - p) p^n: what is below the longer ranking
        all_seen = common[n]
        ext += weight / (1 - p) * fmin(1., (all_seen + (n - s) * at_s) / n)
        low += (1 - p) / p * all_seen * tail
        for d in range(n + 1, n + s - <int64_t>all_seen + 1):
            high += weight * (2 * d - n - s + all_seen) / d
            weight *= p
        high += weight / (1 - p)
        low = fmax(0., fmin(1., low))
        high = fmax(low, fmin(1., high))
        ext = fmax(low, fmin(high, ext))
    return ext, low, high
