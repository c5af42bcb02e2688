"""Documents in several rows of one query: found by their hashes, and merged into one row each.

    rows      0 a 9.0   1 b 8.0   2 a 7.0   3 a 6.0
    first     0         1         0         0             the first row that holds the row's document
    merged    a (9.0, or 22.0, or 7.33)   b 8.0

A merged document has the position of its best row, so that with the largest score the order of documents is that of the
ranking without its later copies, also where equal scores keep the order of the input. Scores are added up from the
largest to the smallest: no order of the rows and no number of threads changes a bit.

One exact table for each group that has repeats; a hash is compared first, then the address of the id, then its bytes.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset

from fastir.engine.columns._text cimport Group, Text, equal
from fastir.engine.measure._codes cimport NO_MEMORY, NOT_SUMMED


cdef struct Scored:
    double score
    int64_t first


cdef int falling_scores(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const Scored*>a).score, y = (<const Scored*>b).score
    return (x < y) - (x > y)


cdef inline bint same(const Text* x, const Text* y) noexcept nogil:
    return x.length == y.length and (x.start == y.start or equal(x, y))


cdef void forget_repeats(Repeats* r) noexcept nogil:
    free(r.table)
    free(r.first)


cdef int room(Repeats* r, int64_t n, int64_t size) noexcept nogil:
    """Make room for n rows and for a table of `size` slots, which is cleared; 0, or -1 without memory."""
    cdef int64_t m
    if n > r.capacity:
        m = n + n // 2 + 64
        free(r.first)
        r.first = <int64_t*>malloc(m * (3 * sizeof(int64_t) + sizeof(double)))
        r.capacity = 0 if r.first == NULL else m
        if r.first == NULL:
            return -1
        r.best, r.counts, r.totals = r.first + m, r.first + 2 * m, <double*>(r.first + 3 * m)
    if size > r.table_capacity:
        free(r.table)
        r.table = <int64_t*>malloc(size * sizeof(int64_t))
        r.table_capacity = 0 if r.table == NULL else size
        if r.table == NULL:
            return -1
    memset(r.table, 0, size * sizeof(int64_t))
    return 0


cdef int64_t find_repeats(Repeats* r, const Group* g, const uint64_t* hashes) noexcept nogil:
    """Fill r.first; returns how many rows hold a document of an earlier row, or -1 without memory."""
    cdef int64_t i, j, size = 64, n_repeats = 0
    cdef uint64_t slot, mask
    while size < 2 * g.n:
        size *= 2
    if room(r, g.n, size) < 0:
        return -1
    mask = <uint64_t>(size - 1)
    for i in range(g.n):
        slot = hashes[i] & mask
        while r.table[slot] != 0:
            j = r.table[slot] - 1
            if hashes[j] == hashes[i] and same(g.docs + j, g.docs + i):
                break
            slot = (slot + 1) & mask
        if r.table[slot] == 0:
            r.table[slot] = i + 1
            r.first[i] = i
        else:
            r.first[i] = j
            n_repeats += 1
    return n_repeats


cdef int add_up(Repeats* r, const Group* g) noexcept nogil:
    """The sums of the scores of each document; 0, or -1 without memory."""
    cdef int64_t i
    cdef bint falling = True
    cdef Scored* order
    for i in range(g.n):
        r.totals[i] = 0
        r.counts[i] = 0
    for i in range(1, g.n):
        falling &= g.scores[i - 1] >= g.scores[i]
    if falling:
        for i in range(g.n):
            r.totals[r.first[i]] += g.scores[i]
            r.counts[r.first[i]] += 1
        return 0
    order = <Scored*>malloc((g.n + 1) * sizeof(Scored))
    if order == NULL:
        return -1
    for i in range(g.n):
        order[i].score, order[i].first = g.scores[i], r.first[i]
    qsort(order, g.n, sizeof(Scored), falling_scores)
    for i in range(g.n):
        r.totals[order[i].first] += order[i].score
        r.counts[order[i].first] += 1
    free(order)
    return 0


cdef int merge_repeats(Repeats* r, Group* g, uint64_t* hashes, int rule) noexcept nogil:
    """Leave one row of each document, after find_repeats() found some; 0, or its problem.

    NOT_SUMMED means that infinite scores have no sum; the first row of the document is then the only one left.
    """
    cdef int64_t i, first, n = 0
    cdef double score
    for i in range(g.n):
        first = r.first[i]
        if first == i or g.scores[i] > g.scores[r.best[first]]:
            r.best[first] = i
    if rule != MAX and add_up(r, g) < 0:
        return NO_MEMORY
    for i in range(g.n):
        first = r.first[i]
        if r.best[first] != i:
            continue
        score = g.scores[i]
        if rule != MAX:
            score = r.totals[first] / (r.counts[first] if rule == MEAN else 1)
        g.docs[n] = g.docs[i]
        g.scores[n] = score
        hashes[n] = hashes[i]
        n += 1
        if score != score:
            g.docs[0] = g.docs[i]
            return NOT_SUMMED
    g.n = n
    return 0
