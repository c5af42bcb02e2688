"""Documents of one query put in order: by falling scores, and where these are equal by ids.

In: scores, ids as Texts, and which of equal scores comes first: the larger id (sign 1), the smaller one (-1), or the
one that stood before the other (0). Out: pairs, whose places are in order.

All sorting is by words of 64 bits: by the 16 highest bits in which they differ, in two passes over bytes without
comparing, then in the same way by the bits below of those that are still alike. Of a thousand scores hardly any are.
An id becomes the word of the eight bytes behind what all ids have in common; only ids that are still alike are
compared.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from fastir.columns._text cimport Text, compare

cdef enum:
    FEW = 24            # pairs up to which insertion is faster
    BYTES = 8
    DIGIT = 16          # bits by which pairs are sorted at once


cdef void insert_pairs(Pair* pairs, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef Pair pair
    for i in range(1, n):
        pair = pairs[i]
        j = i
        while j > 0 and pairs[j - 1].key > pair.key:
            pairs[j] = pairs[j - 1]
            j -= 1
        pairs[j] = pair


cdef void sort_pairs(Pair* pairs, Pair* spare, int64_t n) noexcept nogil:
    """Sort by key; equal keys stay as they stood."""
    cdef int32_t[2][256] places
    cdef int64_t i, first = 0
    cdef int32_t stop, size
    cdef int b, v, shift = 0
    cdef uint64_t low = pairs[0].key, high = low, digit
    cdef bint rising = True
    if n <= FEW:
        insert_pairs(pairs, n)
        return
    for i in range(1, n):
        rising &= pairs[i - 1].key <= pairs[i].key
        low, high = min(low, pairs[i].key), max(high, pairs[i].key)
    if rising:
        return
    while (high - low) >> shift >> DIGIT:
        shift += 1
    memset(places, 0, sizeof(places))
    for i in range(n):
        digit = (pairs[i].key - low) >> shift
        places[0][digit & 255] += 1
        places[1][digit >> 8] += 1
    for b in range(2):
        stop = 0
        for v in range(256):
            size = places[b][v]
            places[b][v] = stop
            stop += size
        for i in range(n):
            v = <int>((pairs[i].key - low) >> shift >> 8 * b & 255)
            spare[places[b][v]] = pairs[i]
            places[b][v] += 1
        pairs, spare = spare, pairs
    if shift == 0:
        return
    for i in range(1, n + 1):
        if i == n or (pairs[i].key - low) >> shift != (pairs[first].key - low) >> shift:
            if i - first > 1:
                sort_pairs(pairs + first, spare, i - first)
            first = i


cdef void merge_by_id(Pair* pairs, Pair* spare, int64_t n, const Text* docs, int sign) noexcept nogil:
    """Sort pairs by comparing their ids."""
    cdef int64_t half = n // 2, i = 0, j = half, k = 0
    if n < 2:
        return
    merge_by_id(pairs, spare, half, docs, sign)
    merge_by_id(pairs + half, spare, n - half, docs, sign)
    memcpy(spare, pairs, half * sizeof(Pair))
    while i < half:
        if j < n and sign * compare(docs + pairs[j].place, docs + spare[i].place) > 0:
            pairs[k] = pairs[j]
            j += 1
        else:
            pairs[k] = spare[i]
            i += 1
        k += 1


cdef int64_t in_common(const Pair* pairs, int64_t n, const Text* docs) noexcept nogil:
    """How many bytes all ids begin with."""
    cdef const Text* one = docs + pairs[0].place
    cdef const Text* other
    cdef int64_t i, j, alike = one.length
    for i in range(1, n):
        other = docs + pairs[i].place
        if other.length < alike:
            alike = other.length
        for j in range(alike):
            if other.start[j] != one.start[j]:
                alike = j
                break
    return alike


cdef inline uint64_t word_at(const Text* doc, int64_t first) noexcept nogil:
    """Eight bytes of an id as a number of the same order."""
    cdef uint64_t word = 0
    cdef int64_t j
    for j in range(first, min(first + BYTES, doc.length)):
        word |= <uint64_t><unsigned char>doc.start[j] << 8 * (BYTES - 1 - (j - first))
    return word


cdef void sort_by_id(Pair* pairs, Pair* spare, int64_t n, const Text* docs, int sign) noexcept nogil:
    """Sort pairs by the ids of their places; their keys are lost."""
    cdef int64_t i, first = 0, skipped
    if n <= FEW:
        merge_by_id(pairs, spare, n, docs, sign)
        return
    skipped = in_common(pairs, n, docs)
    for i in range(n):
        pairs[i].key = word_at(docs + pairs[i].place, skipped)
        if sign > 0:
            pairs[i].key = ~pairs[i].key
    sort_pairs(pairs, spare, n)
    for i in range(1, n + 1):
        if i == n or pairs[i].key != pairs[first].key:
            merge_by_id(pairs + first, spare, i - first, docs, sign)
            first = i


cdef void sort_by_score(const double* scores, int64_t n, const Text* docs, int sign, Pair* pairs,
                        Pair* spare) noexcept nogil:
    """Make pairs the places of n scores in rank order."""
    cdef int64_t i, first = 0
    for i in range(n):
        pairs[i].key, pairs[i].place = falling_key(scores[i]), i
    sort_pairs(pairs, spare, n)
    for i in range(1, n + 1 if sign else 0):
        if i == n or pairs[i].key != pairs[first].key:
            if i - first > 1:
                sort_by_id(pairs + first, spare, i - first, docs, sign)
            first = i
