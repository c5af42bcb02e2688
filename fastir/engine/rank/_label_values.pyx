# Functions in C only.
"""The ideal ranking of a group whose labels are not whole.

In: the classes of the judged labels above 0, best first, and the labels; out: codes of class and row for as many of the
best as a metric reads gains of, and of the class alone for the others, which metrics compare with their level.

    labels     .9  .2   0  1.7  .2          level 1: class 1 below, 2 above
    classes     1   1   0   2    1
    ideal       2/3  1/0  1  1              class/row, for nDCG@2

So no label is numbered among all others of the call, which takes a hash of all of them and a sort: measured with 10^7
distinct labels, 300 times as long as this.

Few of the best are found as _top_ranks finds scores, but among keys of 16 bits, which are compared eight at once; only
labels whose key may be one of the best are read, and each is counted against all others of these. Measured with nDCG@10
of groups of 118: a third of the time of lanes of doubles, into which the labels that reach the last are inserted.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastir.engine.measure._codes cimport NO_MEMORY
from fastir.engine.measure._measure cimport Judgments, Plan
from fastir.engine.measure._registry cimport ROW_BITS
from fastir.engine.rank._labels cimport Buffer, Labels, label_at, room_in
from fastir.engine.rank._sorted_rows cimport PART, Entry, falling_key, sort_entries
from fastir.engine.rank._top_ranks cimport MOST

cdef extern from "_labels.h" nogil:
    enum:
        FASTIR_LANES
    void fastir_keys(const double* p, int64_t n, int16_t* keys) noexcept
    int fastir_kth_key(const int16_t* keys, int64_t n, int k) noexcept
    void fastir_count_above(const double* labels, int n, int64_t* ranks) noexcept
    uint32_t fastir_reaching(const int16_t* keys, int bound) noexcept

cdef extern from "_bits.h" nogil:
    int fastir_lowest(uint64_t bits) noexcept

cdef enum:
    FEW = 24            # labels that are all compared with each other
    KEPT = 32           # of more than these the best are kept, and none is looked at that is not above them
    CANDIDATES = 64     # KEPT + FASTIR_LANES


cdef int64_t keep_best(double* kept, int64_t* rows, int64_t n, int64_t top) noexcept nogil:
    """Put the best `top` of n labels first, best first, of equal ones the earlier first; how many there are then."""
    cdef int64_t i, rank
    cdef int64_t[CANDIDATES] ranks
    cdef double[CANDIDATES] labels
    cdef int64_t[CANDIDATES] places
    cdef int8_t[CANDIDATES] equal       # how many with so many above them have been placed
    memcpy(labels, kept, n * sizeof(double))
    memcpy(places, rows, n * sizeof(int64_t))
    memset(equal, 0, n)
    fastir_count_above(labels, <int>n, ranks)
    for i in range(n):
        rank = ranks[i] + equal[ranks[i]]
        equal[ranks[i]] += 1
        kept[rank] = labels[i]
        rows[rank] = places[i]
    return min(n, top)


cdef void select_labels(const double* values, int64_t n, int64_t top, int16_t* keys, int64_t* rows) noexcept nogil:
    """The rows of the best `top` of n labels, best first, of equal ones the earlier first; so many are above 0.

    rows has room for CANDIDATES, keys for n and as many as are read at once.
    """
    cdef int64_t i, start = 0, m = 0
    cdef int bound
    cdef uint32_t bits
    cdef double floor = 0.0         # what no label that is still looked for is below
    cdef double kept[CANDIDATES]
    if n <= FEW:
        for i in range(n):
            rows[i] = i
            kept[i] = values[i]
        keep_best(kept, rows, n, top)
        return
    fastir_keys(values, n, keys)
    bound = fastir_kth_key(keys, n, <int>top)
    while start < n:
        bits = fastir_reaching(keys + start, bound)
        while bits:
            i = start + fastir_lowest(bits)
            bits &= bits - 1
            kept[m] = values[i]
            rows[m] = i
            m += values[i] > floor
        if m >= KEPT:
            m = keep_best(kept, rows, m, top)
            floor = kept[top - 1]
        start += FASTIR_LANES
    keep_best(kept, rows, m, top)


cdef int64_t* find_best(const double* values, int64_t n, int64_t top, Buffer* spare) noexcept nogil:
    """The rows of the best `top` of n values, in scratch; NULL without memory."""
    cdef int64_t i
    cdef Entry* entries
    cdef int64_t* rows
    if top <= MOST:
        rows = <int64_t*>room_in(spare, CANDIDATES * sizeof(int64_t) + (n + FASTIR_LANES) * sizeof(int16_t))
        if rows != NULL:
            select_labels(values, n, top, <int16_t*>(rows + CANDIDATES), rows)
        return rows
    entries = <Entry*>room_in(spare, (n + PART) * sizeof(Entry))
    if entries == NULL:
        return NULL
    for i in range(n):
        entries[i] = Entry(falling_key(values[i]), <uint32_t>i, 0)
    sort_entries(entries, entries + n, n, 0, True)
    rows = <int64_t*>entries        # each is written at or before the place from which it is read
    for i in range(top):
        rows[i] = entries[i].place
    return rows


cdef int put_best_first(Plan plan, const Labels* labels, const int64_t* ranks, int64_t n_hits, Buffer* ideal,
                        Buffer* positive, Buffer* spare, Judgments* judgments) noexcept nogil:
    """Make the codes of the ideal ranking in scratch, which has its classes; 0 or NO_MEMORY.

    ranks: NULL, or those of all labels above 0, where the rows are in rank order.
    """
    cdef int32_t* codes = <int32_t*>ideal.start
    cdef int64_t i, top = min(plan.gain_depth, judgments.n_positive), n = labels.n
    cdef const double* values = labels.values
    cdef double* hit_values
    cdef int64_t* rows
    for i in range(judgments.n_positive):
        codes[i] <<= ROW_BITS
    judgments.labels = codes
    if top == 0:
        return 0
    if ranks != NULL:
        n = n_hits
        hit_values = <double*>room_in(positive, n * sizeof(double))
        if hit_values == NULL:
            return NO_MEMORY
        for i in range(n):
            hit_values[i] = values[ranks[i] - 1]
        values = hit_values
    rows = find_best(values, n, top, spare)
    if rows == NULL:
        return NO_MEMORY
    for i in range(top):
        codes[i] = label_at(labels, rows[i] if ranks == NULL else ranks[rows[i]] - 1)
    return 0
