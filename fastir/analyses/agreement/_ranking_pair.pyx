"""Two rankings of one query side by side: where the documents of one stand in the other, and what follows from that.

In: the Rankings of two runs. Out, query by query: how many documents both have among their first k, their rank-biased
overlap (_rbo), and how many pairs of them both put in one order.

The ids of the longer ranking go into a table by their hash, and those of the shorter one are looked up: in a table
with half of a hash in each word, so that hardly any id is compared in vain. After that no id is
needed, and nothing of a caller's is borrowed any more.

Pairs are counted by sorting, as Knight (1966) does: of documents that fall by one ranking, those that are out of order
by the other are counted while they are merged.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset

from fastir.engine.columns._ids cimport equal
from fastir.analyses.agreement._rbo cimport RankBiased, rank_biased
from fastir.analyses.agreement._rankings cimport Rankings
from fastir.engine.measure._measure cimport with_spare
from fastir.engine.measure._sort cimport falling_order
from fastir.engine.rank._order cimport SIGNAL_ROWS

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    PER_ROW = 12        # numbers of workspace for each row: what rank_biased() needs is the most
    SPARSE = 4          # words of the table for each row, at least: few rows meet there
    HALF = 32           # bits of a hash that stand in the table; the others are the row's number, from 1


cdef int64_t equal_pairs(const double* sorted_values, int64_t n) noexcept nogil:
    """How many pairs are equal."""
    cdef int64_t i, alike = 0, pairs = 0
    for i in range(1, n):
        alike = alike + 1 if sorted_values[i] == sorted_values[i - 1] else 0
        pairs += alike
    return pairs


cdef int64_t rising_pairs(double* values, int64_t n, double* spare) noexcept nogil:
    """Sort the values, so that they fall; how many pairs rose, the first being the smaller one."""
    cdef int64_t half = n // 2, i = 0, j = half, k = 0, pairs
    if n < 2:
        return 0
    pairs = rising_pairs(values, half, spare) + rising_pairs(values + half, n - half, spare)
    while i < half and j < n:
        if values[i] >= values[j]:
            spare[k] = values[i]
            i += 1
        else:
            spare[k] = values[j]
            j += 1
            pairs += half - i
        k += 1
    while i < half:
        spare[k] = values[i]
        i += 1
        k += 1
    for i in range(k):          # the others stand where they belong
        values[i] = spare[i]
    return pairs


cdef class RankingPair:
    """The current rankings of two runs."""

    cdef readonly str reading       # which run, for errors
    cdef Rankings a, b              # in the order of the caller
    cdef Rankings short, long       # by their length
    cdef int64_t capacity, mask
    cdef int64_t* place             # of each document of the shorter ranking in the longer one, or -1; one allocation
    cdef int64_t* work              # with this, PER_ROW numbers for each row
    cdef uint64_t* table

    def __init__(self, Rankings a, Rankings b):
        self.a, self.b = a, b

    def __dealloc__(self):
        free(self.place)
        free(self.table)

    @property
    def sizes(self):
        """How many documents each ranking has."""
        return self.a.n, self.b.n

    cdef int room(self, int64_t n) except -1:
        """Make room for n rows."""
        cdef int64_t m = with_spare(n), size = 16
        if n < self.capacity:
            return 0
        while size < SPARSE * m:
            size *= 2
        free(self.place)
        free(self.table)
        self.capacity = 0
        self.place = <int64_t*>malloc((1 + PER_ROW) * m * sizeof(int64_t))
        self.table = <uint64_t*>malloc(size * sizeof(uint64_t))
        if self.place == NULL or self.table == NULL:
            raise MemoryError
        self.work = self.place + m
        self.capacity = m
        return 0

    def read(self, query_id):
        """Make the rankings of a query the current ones."""
        cdef bint many = max(self.a.length(query_id), self.b.length(query_id)) > SIGNAL_ROWS
        while True:
            self.reading = "a"
            if not self.a.read(query_id, many):
                continue
            self.reading = "b"
            if self.b.read(query_id, many):
                break
        self.short, self.long = (self.a, self.b) if self.a.n <= self.b.n else (self.b, self.a)
        self.room(self.long.n)
        self.fill_table(many)
        self.look_up(many)

    cdef int fill_table(self, bint many) except -1:
        """Put the longer ranking's documents into the table."""
        cdef int64_t i, n = self.long.n, size = 16
        cdef uint64_t h, slot
        while size < SPARSE * n:
            size *= 2
        self.mask = size - 1
        memset(self.table, 0, size * sizeof(uint64_t))
        for i in range(n):
            if many and not i & SIGNAL_ROWS - 1:
                PyErr_CheckSignals()
            h = self.long.hashes[i]
            slot = h & self.mask
            while self.table[slot] != 0:
                slot = slot + 1 & self.mask
            self.table[slot] = h >> HALF << HALF | <uint64_t>(i + 1)
        return 0

    cdef int look_up(self, bint many) except -1:
        """Find the places of the shorter ranking's documents."""
        cdef int64_t i, j
        cdef uint64_t h, slot
        for i in range(self.short.n):
            if many and not i & SIGNAL_ROWS - 1:
                PyErr_CheckSignals()
            h = self.short.hashes[i]
            slot = h & self.mask
            j = -1
            while j < 0 and self.table[slot] != 0:
                if self.table[slot] >> HALF == h >> HALF:
                    j = <int64_t>(self.table[slot] & <uint64_t>0xFFFFFFFF) - 1
                    if not equal(self.long.ids + j, self.short.ids + i):
                        j = -1
                slot = slot + 1 & self.mask
            self.place[i] = j
        return 0

    def in_common(self, int64_t k):
        """How many documents both have among their first k."""
        cdef int64_t i, n = 0
        for i in range(min(k, self.short.n)):
            n += 0 <= self.place[i] < k
        return n

    def rank_biased(self, double p, int variant, double tail):
        """(extrapolated, smallest, largest) rank-biased overlap; neither ranking is empty.

        `tail` is the sum of p^d / d below the longer ranking; the variant of ties is 0 for w, 1 for a, 2 for b.
        """
        cdef RankBiased rbo
        cdef int64_t n = self.long.n
        with nogil:
            rbo = rank_biased(self.short.scores, self.short.n, self.long.scores, n, self.place, p, variant, tail,
                            self.work, <double*>(self.work + 8 * (n + 1) + 3))
        return rbo.extrapolated, rbo.smallest, rbo.largest

    def concordance(self, int64_t k):
        """Three counts over all ordered pairs of documents that both rankings have among their first k.

        Those in one order on both sides less those in opposite orders; those not tied by the one; not tied by the
        other.
        """
        cdef int64_t i, j, n = 0, first = 0, tied_x, tied_y, tied_both = 0, all_pairs, rising
        cdef double* x = <double*>self.work
        cdef double* y = x + self.capacity
        with nogil:
            for i in range(min(k, self.short.n)):
                j = self.place[i]
                if 0 <= j < k:
                    x[n], y[n] = self.short.scores[i], self.long.scores[j]
                    n += 1
            for i in range(1, n + 1):
                if i == n or x[i] != x[first]:
                    if i - first > 1:
                        qsort(y + first, i - first, sizeof(double), falling_order)
                        tied_both += equal_pairs(y + first, i - first)
                    first = i
            tied_x = equal_pairs(x, n)
            rising = rising_pairs(y, n, y + self.capacity)
            tied_y = equal_pairs(y, n)
            all_pairs = n * (n - 1) // 2
        return (2 * (all_pairs - tied_x - tied_y + tied_both - 2 * rising), 2 * (all_pairs - tied_x),
                2 * (all_pairs - tied_y))
