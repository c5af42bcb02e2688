"""Documents of one query put in order: by falling scores, and where these are equal by ids.

In: scores, ids as Texts, and which of equal scores comes first: the larger id (sign 1), the smaller one (-1), or the
one that stood before the other (0). Out: entries, whose places are in order.

Scores are sorted as the rows of a long group are (rank._sorted_rows). An id becomes the word of the eight bytes behind
what all ids have in common, and is sorted likewise; only ids that are still alike are compared.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastir.engine.columns._ids cimport Text, compare
from fastir.engine.rank._sorted_rows cimport Entry, falling_key, sort_entries

cdef enum:
    BYTES = 8
    COMPARED = 24       # entries up to which comparing ids is faster


cdef struct Docs:
    const Text* texts
    int sign


cdef bint id_is_before(const void* docs, int64_t a, int64_t b) noexcept nogil:
    cdef const Docs* d = <const Docs*>docs
    return d.sign * compare(d.texts + a, d.texts + b) > 0


cdef void merge(Entry* entries, Entry* spare, int64_t n, before_fn before, const void* context) noexcept nogil:
    """Sort entries by comparing their places; equal ones stay as they stood."""
    cdef int64_t half = n // 2, i = 0, j = half, k = 0
    if n < 2:
        return
    merge(entries, spare, half, before, context)
    merge(entries + half, spare, n - half, before, context)
    memcpy(spare, entries, half * sizeof(Entry))
    while i < half:
        if j < n and before(context, entries[j].place, spare[i].place):
            entries[k] = entries[j]
            j += 1
        else:
            entries[k] = spare[i]
            i += 1
        k += 1


cdef int64_t bytes_in_common(const Entry* entries, int64_t n, const Text* docs) noexcept nogil:
    """How many bytes all ids begin with."""
    cdef const Text* one = docs + entries[0].place
    cdef const Text* other
    cdef int64_t i, j, alike = one.length
    for i in range(1, n):
        other = docs + entries[i].place
        j = 0
        while j < min(alike, other.length) and other.start[j] == one.start[j]:
            j += 1
        alike = j
    return alike


cdef void sort_by_id(Entry* entries, Entry* spare, int64_t n, const Text* docs, int sign) noexcept nogil:
    """Sort entries, whose places rise, by the ids of these; their keys are lost."""
    cdef int64_t i, j, first = 0, skipped
    cdef const Text* doc
    cdef uint64_t word
    cdef Docs context = Docs(docs, sign)
    if n <= COMPARED:
        merge(entries, spare, n, id_is_before, &context)
        return
    skipped = bytes_in_common(entries, n, docs)
    for i in range(n):
        doc, word = docs + entries[i].place, 0
        for j in range(skipped, min(skipped + BYTES, doc.length)):
            word |= <uint64_t><unsigned char>doc.start[j] << 8 * (BYTES - 1 - (j - skipped))
        entries[i].key = ~word if sign > 0 else word
    sort_entries(entries, spare, n, 0, True)
    for i in range(1, n + 1):
        if i == n or entries[i].key != entries[first].key:
            merge(entries + first, spare, i - first, id_is_before, &context)
            first = i


cdef void sort_by_score(const double* scores, int64_t n, const Text* docs, int sign, Entry* entries,
                        Entry* spare) noexcept nogil:
    """Make entries the places of n scores in rank order."""
    cdef int64_t i, first = 0
    cdef bint rising = True
    for i in range(n):
        entries[i].key, entries[i].place = falling_key(scores[i]), <uint32_t>i
        rising &= i == 0 or entries[i - 1].key <= entries[i].key
    if not rising:
        sort_entries(entries, spare, n, 0, True)
    for i in range(1, n + 1 if sign else 0):
        if i == n or entries[i].key != entries[first].key:
            if i - first > 1:
                sort_by_id(entries + first, spare, i - first, docs, sign)
            first = i
