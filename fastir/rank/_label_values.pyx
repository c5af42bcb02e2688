# Functions in C only.
"""The ideal ranking of a group whose labels are not whole.

In: the classes of the judged labels above 0, best first, and the labels; out: codes of class and row for as many of the
best as a metric reads gains of, and of the class alone for the others, which metrics compare with their level.

    labels     .9  .2   0  1.7  .2          level 1: class 1 below, 2 above
    classes     1   1   0   2    1
    ideal       2/3  1/0  1  1              class/row, for nDCG@2

So no label is numbered among all others of the call, which takes a hash of all of them and a sort: measured with 10^7
distinct labels, 300 times as long as this.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t

from fastir.measure._codes cimport NO_MEMORY
from fastir.measure._measure cimport Judgments, Plan
from fastir.measure._registry cimport ROW_BITS
from fastir.rank._labels cimport Buffer, Labels, label_at, room_in
from fastir.rank._sorted_rows cimport PART, Entry, falling_key, sort_entries
from fastir.rank._simd cimport find_scores
from fastir.rank._top_ranks cimport FEW_LANES, FEW_RANKS, LANES, MOST, STRETCH, kth_of_lanes


cdef inline int64_t insert(const double* values, int64_t row, int64_t top, int64_t* rows,
                          int64_t n_best) noexcept nogil:
    """Put a row into its place among the best `top` of those before; how many there are then."""
    cdef int64_t j = n_best if n_best < top else top - 1
    if n_best == top and values[row] <= values[rows[top - 1]]:
        return top
    while j > 0 and values[rows[j - 1]] < values[row]:
        rows[j] = rows[j - 1]
        j -= 1
    rows[j] = row
    return n_best + (n_best < top)


cdef void select_labels(const double* values, int64_t n, int64_t top, int64_t* rows) noexcept nogil:
    """The rows of the best `top` of n values, best first, of equal ones the earlier first."""
    cdef int64_t i, start = 0, n_places, n_best = 0
    cdef double bound
    cdef int32_t places[STRETCH + 1]
    if n <= LANES:
        for i in range(n):
            n_best = insert(values, i, top, rows, n_best)
        return
    bound = kth_of_lanes(values, n, top, FEW_LANES if top <= FEW_RANKS else LANES)
    while start < n:
        n_places = find_scores(values + start, False, min(n - start, <int64_t>STRETCH), bound, places)
        for i in range(n_places):
            n_best = insert(values, start + places[i], top, rows, n_best)
        start += STRETCH


cdef int64_t* find_best(const double* values, int64_t n, int64_t top, Buffer* spare) noexcept nogil:
    """The rows of the best `top` of n values, in scratch; NULL without memory."""
    cdef int64_t i
    cdef Entry* entries
    cdef int64_t* rows
    if top <= MOST:
        rows = <int64_t*>room_in(spare, MOST * sizeof(int64_t))
        if rows != NULL:
            select_labels(values, n, top, rows)
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
