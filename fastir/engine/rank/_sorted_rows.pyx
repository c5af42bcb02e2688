"""The hits of a group with many of them, from its rows sorted by score.

In: the labels, and the scores, at the end of the memory in which the entries are made of them; out: ranks
and labels of the hits, in rank order.

    scores     [                        | s s s s s s s s ]      8 or 4 bytes each
    entries    [ key place label | key place label | ...  ]      16 bytes each, from the left, and no score is
                                                                  overwritten before it was read
A long group is sorted in place, byte by byte of (key, place) from the highest on, each byte's entries being swapped
into the part of the array that is theirs. Parts and groups of up to PART_ENTRIES entries are dealt out to temporary
ones and back, eight bits of key or place at a time from the lowest that differ on, which keeps the order of equal keys.
If places are in order, it is by the 16 highest bits of the key that differ, then in the same way by those below, of
entries that are still equal, which are few. A few entries are sorted by insertion. The time is linear, whatever the
scores are. Measured with 10^6 rows that are all hits: a sixth of the time of placing each score among the hits' ones;
with one hit in a hundred rows it is the other way round.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from fastir.engine.measure._codes cimport INPUT
from fastir.engine.measure._measure cimport is_hit, label_code
from fastir.engine.rank._labels cimport label_at
from fastir.engine.rank._rank cimport tie_key

cdef enum:
    SORT_BYTES = 12             # bytes of key and place
    INSERTED_ENTRIES = 32       # entries up to which they are sorted by insertion
    NO_HIT = -2147483647 - 1    # the label of the rows that are no hits


cdef inline int digit(const Entry* entry, int which) noexcept nogil:
    return <int>((entry.key >> 56 - 8 * which if which < 8 else entry.place >> 88 - 8 * which) & 255)


cdef inline bint is_before(const Entry* a, const Entry* b) noexcept nogil:
    return a.key < b.key or a.key == b.key and a.place < b.place


cdef void insert(Entry* a, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef Entry entry
    for i in range(1, n):
        entry = a[i]
        j = i
        while j > 0 and is_before(&entry, &a[j - 1]):
            a[j] = a[j - 1]
            j -= 1
        a[j] = entry


cdef void deal(const Entry* a, Entry* out, int64_t n, int shift, bint by_place) noexcept nogil:
    """Copy entries in the order of eight bits of key or place, equal ones in their order."""
    cdef int64_t i
    cdef int32_t home, next_free = 0, size
    cdef int b
    cdef int32_t homes[256]
    memset(homes, 0, sizeof(homes))
    if by_place:
        for i in range(n):
            homes[a[i].place >> shift & 255] += 1
    else:
        for i in range(n):
            homes[a[i].key >> shift & 255] += 1
    for b in range(256):
        size = homes[b]
        homes[b] = next_free
        next_free += size
    for i in range(n):
        b = <int>((a[i].place if by_place else a[i].key) >> shift & 255)
        home = homes[b]
        homes[b] = home + 1
        out[home] = a[i]


cdef bint sort_digits(Entry* a, Entry* out, int64_t n, uint64_t differing, bint by_place) noexcept nogil:
    """Sort entries by the bits of key or place in which they differ, to and fro; whether they are in `out` then."""
    cdef int shift = 0
    cdef bint swapped = False
    while shift < 64 and differing >> shift:
        while not differing >> shift & 1:
            shift += 1
        deal(out if swapped else a, a if swapped else out, n, shift, by_place)
        swapped = not swapped
        shift += 8
    return swapped


cdef void sort_part(Entry* a, Entry* spare, int64_t n, bint as_placed) noexcept nogil:
    """Sort entries through a second array; as_placed: equal keys are in order of their places."""
    cdef int64_t i, first = 0
    cdef uint64_t keys = 0, places = 0
    cdef int shift = 0
    cdef bint swapped
    if n <= INSERTED_ENTRIES:
        insert(a, n)
        return
    for i in range(1, n):
        keys |= a[i].key ^ a[0].key
        places |= a[i].place ^ a[0].place
    if not as_placed:
        swapped = sort_digits(a, spare, n, places, True)
        if sort_digits(spare if swapped else a, a if swapped else spare, n, keys, False) != swapped:
            memcpy(a, spare, n * sizeof(Entry))
        return
    while keys >> shift >> 16:
        shift += 1
    deal(a, spare, n, shift, False)
    deal(spare, a, n, shift + 8, False)
    for i in range(1, n + 1 if shift else 0):
        if i == n or a[i].key >> shift != a[first].key >> shift:
            sort_part(a + first, spare, i - first, True)
            first = i


cdef void sort_entries(Entry* a, Entry* spare, int64_t n, int which, bint as_placed) noexcept nogil:
    """Sort entries that agree in the digits before this one."""
    cdef int64_t i, first
    cdef int b, home
    cdef int64_t next_free[256]
    cdef int64_t stops[256]
    cdef Entry entry, other
    if n <= INSERTED_ENTRIES:
        insert(a, n)
        return
    if n <= PART_ENTRIES:
        sort_part(a, spare, n, as_placed)
        return
    while which < SORT_BYTES:
        memset(stops, 0, sizeof(stops))
        for i in range(n):
            stops[digit(&a[i], which)] += 1
        if stops[digit(a, which)] < n:
            break
        which += 1
    if which == SORT_BYTES:
        return
    first = 0
    for b in range(256):
        next_free[b] = first
        first += stops[b]
        stops[b] = first
    for b in range(256):
        while next_free[b] < stops[b]:
            entry = a[next_free[b]]
            home = digit(&entry, which)
            while home != b:
                other = a[next_free[home]]
                a[next_free[home]] = entry
                next_free[home] += 1
                entry = other
                home = digit(&entry, which)
            a[next_free[b]] = entry
            next_free[b] += 1
    first = 0
    for b in range(256):
        if stops[b] - first > 1:
            sort_entries(a + first, spare, stops[b] - first, which + 1, False)
        first = stops[b]


cdef bint fill_entries(Entry* entries, bint single, const Labels* labels, int reads, int ties) noexcept nogil:
    """Make the entries; whether they are in order."""
    cdef int64_t i, n = labels.n
    cdef const char* scores = <const char*>(entries + n) - n * (sizeof(float) if single else sizeof(double))
    cdef float narrow
    cdef double score
    cdef int32_t label
    cdef bint ordered = True
    for i in range(n):
        if single:
            memcpy(&narrow, scores + i * sizeof(float), sizeof(float))
            score = narrow
        else:
            memcpy(&score, scores + i * sizeof(double), sizeof(double))
        label = label_at(labels, i)
        label = label_code(label) if is_hit(label, reads) else NO_HIT
        entries[i] = Entry(falling_key(score), tie_key(ties, i, label), label)
        ordered &= i == 0 or not is_before(&entries[i], &entries[i - 1])
    return ordered


cdef int64_t hits_by_sorting(Plan plan, Scratch* measured, Entry* entries, bint single, const Labels* labels, int ties,
                             Entry* spare, int64_t kept, bint* tied) noexcept nogil:
    """Fill ranks and labels, and lasts for expected values; how many, and whether a hit is tied with another row.

    Ranks behind `kept`, which divides no tie, are left out.
    """
    cdef int64_t i, start = 0, stop, first, n_hits = 0, n = labels.n
    if not fill_entries(entries, single, labels, plan.reads, ties):
        sort_entries(entries, spare, n, 0, ties == INPUT)
    while start < kept:
        first = n_hits
        stop = start
        while stop < n and entries[stop].key == entries[start].key:
            measured.ranks[n_hits] = (start if plan.average else stop) + 1
            measured.labels[n_hits] = entries[stop].label
            n_hits += entries[stop].label != NO_HIT
            stop += 1
        tied[0] |= n_hits > first and stop - start > 1
        if plan.average:
            for i in range(first, n_hits):
                measured.lasts[i] = stop
        start = stop
    return n_hits
