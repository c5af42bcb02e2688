"""Rank-biased overlap of two rankings of one query, to all depths at once.

In: the scores of both rankings, which do not rise, so that equal neighbours are ties; the shorter ranking first; for
each of its documents the place in the longer one, or -1. Out: the extrapolated value, the smallest and the largest.

With the places 0, 1, ... and a group of tied documents from `top` to `bottom`, a document counts at depth d, when
top < d <= bottom, as 1 (variant w) or as (d - top) / size (variants a and b), the fraction of the orders of the group
that have it among the first d; below its group as 1. Two documents in common add the product of what they count. Sums
over one side need no loop over documents, because of all groups at most one is open at a depth. Documents in common in
variants a and b are added one by one, in the order of the shorter ranking, while that takes a few steps for each row of
the rankings; where groups are longer, those that count alike at a depth are numbered and multiplied. So the work is
linear, and short groups keep the bits of the plain sum.

Memory is a workspace of the caller; nothing here is checked, and nothing raises.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

cdef enum:
    W, A, B
    STEPS_PER_ROW = 32      # with which documents in common are added one by one


cdef struct Groups:         # for each place of a ranking, where the group of tied documents begins and ends
    int64_t* top
    int64_t* bottom


cdef inline double least(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline double most(double a, double b) noexcept nogil:
    return a if a > b else b


cdef void group(const double* scores, int64_t n, Groups of) noexcept nogil:
    """Find the groups of tied documents."""
    cdef int64_t i, first = 0, stop = 1
    while first < n:
        while stop < n and scores[stop] == scores[first]:
            stop += 1
        for i in range(first, stop):
            of.top[i], of.bottom[i] = first, stop - 1
        first, stop = stop, stop + 1


cdef inline double counted(int64_t d, Groups of, int64_t i) noexcept nogil:
    """What the document at a place counts at a depth at which its group is open or closed."""
    return least(1., <double>(d - of.top[i]) / (of.bottom[i] - of.top[i] + 1))


cdef inline double size(int variant, int64_t d, Groups of) noexcept nogil:
    """What all documents of one side count at a depth: added up, or in variant b their squares."""
    cdef int64_t top = of.top[d - 1], bottom = of.bottom[d - 1]
    if variant == W:
        return bottom + 1
    if variant == A:
        return d
    return top + <double>(d - top) * (d - top) / (bottom - top + 1)


cdef inline double agreement(int variant, double common, double one, double other) noexcept nogil:
    if variant == W:
        return least(1., 2 * common / (one + other))
    return least(1., common / (one if variant == A else sqrt(one) * sqrt(other)))


cdef void count_common(const int64_t* place, int64_t s, int64_t n, Groups one, Groups other, int variant,
                       int64_t* numbers, double* common) noexcept nogil:
    """What documents in common count at each depth, from 1; `numbers`, 3 (n + 2) of them, are workspace."""
    cdef int64_t i, j, d, last, steps = 0
    for d in range(n + 1):
        common[d] = 0
    for i in range(s):
        j = place[i]
        if j >= 0:
            last = max(one.top[i], other.top[j]) if variant == W else max(one.bottom[i], other.bottom[j])
            common[last + 1] += 1       # from here on in full
            steps += last - max(one.top[i], other.top[j])
    for d in range(1, n + 1):
        common[d] += common[d - 1]
    if variant == W:
        return
    if steps > STEPS_PER_ROW * n:
        count_alike(place, s, n, one, other, numbers, common)
        return
    for i in range(s):
        j = place[i]
        if j >= 0:
            for d in range(max(one.top[i], other.top[j]) + 1, max(one.bottom[i], other.bottom[j]) + 1):
                common[d] += counted(d, one, i) * counted(d, other, j)


cdef void count_alike(const int64_t* place, int64_t s, int64_t n, Groups one, Groups other, int64_t* numbers,
                      double* common) noexcept nogil:
    """Add what documents in common count while a group of theirs is open.

    At a depth these are of three kinds: the group of one ranking is open, or the other's group, or both.
    """
    cdef int64_t i, j, d, begin, end
    cdef int64_t* in_one = numbers
    cdef int64_t* in_other = numbers + (n + 2)
    cdef int64_t* in_both = numbers + 2 * (n + 2)
    cdef double share, other_share
    for d in range(3 * (n + 2)):
        numbers[d] = 0
    for i in range(s):
        j = place[i]
        if j >= 0:
            begin = max(one.top[i], other.top[j]) + 1
            end = max(begin, min(one.bottom[i], other.bottom[j]) + 1)
            in_both[begin] += 1
            in_both[end] -= 1
            in_one[end] += 1
            in_one[max(end, one.bottom[i] + 1)] -= 1
            in_other[end] += 1
            in_other[max(end, other.bottom[j] + 1)] -= 1
    for d in range(1, n + 1):
        in_one[d] += in_one[d - 1]
        in_other[d] += in_other[d - 1]
        in_both[d] += in_both[d - 1]
        share = counted(d, one, d - 1) if d <= s else 1.
        other_share = counted(d, other, d - 1)
        common[d] += in_one[d] * share + in_other[d] * other_share + in_both[d] * (share * other_share)


cdef void count_alone(const int64_t* place, int64_t s, int64_t n, int64_t* alone) noexcept nogil:
    """How many documents before each place only the longer ranking has."""
    cdef int64_t d
    for d in range(n):
        alone[d + 1] = 1
    alone[0] = 0
    for d in range(s):
        if place[d] >= 0:
            alone[place[d] + 1] = 0
    for d in range(n):
        alone[d + 1] += alone[d]


cdef RankBiased rank_biased(const double* short, int64_t s, const double* long, int64_t n, const int64_t* place,
                     double p, int variant, double tail, int64_t* groups, double* common) noexcept nogil:
    """Rank-biased overlap of two rankings, of which neither is empty.

    `tail` is the sum of p^d / d below the longer ranking; `groups`, of 5 (n + 1) + 3 (n + 2) numbers, and `common`, of
    n + 1, are workspace.
    """
    cdef Groups one, other
    cdef int64_t d, before, within, more
    cdef int64_t* alone = groups + 4 * (n + 1)
    cdef double weight = 1 - p, seen, share, a, at_s = 0
    cdef RankBiased sums
    one.top, one.bottom = groups, groups + (n + 1)
    other.top, other.bottom = groups + 2 * (n + 1), groups + 3 * (n + 1)
    group(short, s, one)
    group(long, n, other)
    count_common(place, s, n, one, other, variant, groups + 5 * (n + 1), common)
    sums.smallest = 0
    for d in range(1, s + 1):
        at_s = agreement(variant, common[d], size(variant, d, one), size(variant, d, other))
        sums.smallest += weight * at_s
        weight *= p
    sums.extrapolated = sums.largest = sums.smallest
    if s < n:
        count_alone(place, s, n, alone)
    for d in range(s + 1, n + 1):
        seen, a = common[d], size(variant, d, other)
        share = 1. if variant == W else counted(d, other, d - 1)
        before, within = alone[other.top[d - 1]], alone[other.bottom[d - 1] + 1]
        sums.smallest += weight * agreement(variant, seen, d, a)
        more = d - s            # so many of the longer ranking's documents the shorter one could have next
        sums.largest += weight * agreement(
            variant, seen + (min(more, before) + (min(more, within) - min(more, before)) * share), d, a)
        sums.extrapolated += weight * agreement(
            variant, seen + more * at_s * ((before + (within - before) * share) / within), d, a)
        weight *= p
    # weight is (1 - p) p^n: what is below the longer ranking
    seen = common[n]
    sums.extrapolated += weight / (1 - p) * least(1., (seen + (n - s) * at_s) / n)
    if tail > 0:                # else p may be so small that 1 / p is infinite
        sums.smallest += (1 - p) / p * seen * tail
    for d in range(n + 1, n + s - <int64_t>seen + 1):
        sums.largest += weight * (2 * d - n - s + seen) / d
        weight *= p
    sums.largest += weight / (1 - p)
    sums.smallest = most(0., least(1., sums.smallest))
    sums.largest = most(sums.smallest, least(1., sums.largest))
    sums.extrapolated = most(sums.smallest, least(sums.largest, sums.extrapolated))
    return sums
