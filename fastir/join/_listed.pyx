"""Rankings that are lists of ids in rank order, without scores: a rank is a place in the list.

    rows      d7  d2  d7  d9  d2            hits: d2, d9
    first     1   2   -   3   -             copies are removed, the ranks below close up
    last      -   -   1   2   3             the same, but the last copy stays
    once      1   2   (3) 4   (5)           copies keep their ranks and are worth nothing

Nothing is ranked and nothing can tie. What is left to do beside looking ids up is to find copies: the small bitmap of
_join says of nearly every ranking without copies that it has none; the others get a table of their rows by hash. It is
the same for ids that are Python objects (_lists) and for ids that are bytes (_list_columns): they differ in how two
rows are compared.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastir.join._join cimport forget, may_repeat
from fastir.measure._codes cimport ALL, LAST, NO_MEMORY, ONCE, REFUSED, REPEATED
from fastir.measure._measure cimport Judgments, Plan, grow, measure, release, with_spare


cdef int make_room(Listed* l, Plan plan, int64_t n, int64_t judged) noexcept nogil:
    """Make room for n rows of a query with this many judged documents; 0, or NO_MEMORY."""
    cdef int64_t m, hits = n if (plan.reads == ALL or plan.average) and n > judged else judged
    if n >= l.capacity:
        m = with_spare(n)
        free(l.rows)
        free(l.seen.hashes)
        l.capacity = 0
        l.rows = <int64_t*>malloc(m * (sizeof(int64_t) + sizeof(int32_t) + 1))
        l.seen.hashes = <uint64_t*>malloc(m * sizeof(uint64_t))
        if l.rows == NULL or l.seen.hashes == NULL:
            return NO_MEMORY
        l.labels = <int32_t*>(l.rows + m)
        l.copies = <unsigned char*>(l.labels + m)
        l.capacity = m
    return NO_MEMORY if grow(&l.measured, plan, hits) < 0 else 0


cdef void discard_listed(Listed* l) noexcept nogil:
    release(&l.measured)
    forget(&l.seen)
    free(l.table)
    free(l.rows)


cdef int find_copies(Listed* l, const void* ids, int64_t n, same_fn same, int rule) noexcept nogil:
    """Mark the copies among n rows, whose hashes are known; 0, NO_MEMORY, or REPEATED if the rule refuses them."""
    cdef int64_t i, j, size = 8
    cdef uint64_t slot, h, entry, low = 0xFFFFFFFF
    cdef int twice = may_repeat(&l.seen, l.seen.hashes, n)
    l.n_copies = 0
    if twice <= 0:
        return NO_MEMORY if twice else 0
    while size < 2 * n:
        size *= 2
    if size > l.table_capacity:
        free(l.table)
        l.table = <uint64_t*>malloc(size * sizeof(uint64_t))
        l.table_capacity = size if l.table != NULL else 0
        if l.table == NULL:
            return NO_MEMORY
    memset(l.table, 0, size * sizeof(uint64_t))
    memset(l.copies, 0, n)
    for i in range(n):
        h = l.seen.hashes[i]
        slot = h & <uint64_t>(size - 1)
        while True:
            entry = l.table[slot]
            if entry == 0:
                l.table[slot] = (h >> 32 << 32) | <uint64_t>(i + 1)
                break
            j = <int64_t>(entry & low) - 1
            if entry >> 32 == h >> 32 and same(ids, j, i):
                if rule == REFUSED:
                    l.seen.first, l.seen.later = j, i
                    return REPEATED
                l.n_copies += 1
                if rule == LAST:
                    l.copies[j] = 1
                    l.table[slot] = (h >> 32 << 32) | <uint64_t>(i + 1)
                else:
                    l.copies[i] = 1
                break
            slot = (slot + 1) & <uint64_t>(size - 1)
    return 0


cdef int64_t measure_hits(Listed* l, Plan plan, int64_t n, int64_t n_hits, int rule, Judgments known,
                          double* out) noexcept nogil:
    """Fill a row of values from the hits among n rows; how many documents count as retrieved."""
    cdef int64_t i, row = 0, removed = 0
    cdef bint closes_up = l.n_copies > 0 and rule != ONCE
    for i in range(n_hits):
        if closes_up:
            while row < l.rows[i]:
                removed += l.copies[row]
                row += 1
        l.measured.ranks[i] = l.measured.lasts[i] = l.rows[i] + 1 - removed
        l.measured.labels[i] = l.labels[i]
    n -= l.n_copies if closes_up else 0
    measure(plan, &l.measured, n_hits, n, &known, out)
    return n
