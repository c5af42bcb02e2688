"""Rows of item numbers in rank order, as nearest-neighbour indexes return them, or with scores to rank them by.

    row         17   4  22   9  -1  -1      -1 fills what a search could not
    relevant     4   9  30                  looked up in a hash table of the row, which also finds duplicates

A row is its ranking: without scores the ranks are the positions, with scores _rank finds them. Threads take blocks of
rows (fastir.engine.threads).

take_items() makes a query's judged items, from CSR, ready for its ranking. The numbers may come in any order; most come
rising, as a canonical CSR has them, and are then only copied. Sorting finds a duplicate item; the labels above 0 are
sorted again, best first, for the ideal ranking. All of this is in scratch of the thread that evaluates the row: nothing
is prepared for all rows at once, and nothing is kept.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.measure._codes cimport NEGATIVE, NO_MEMORY, NOT_A_NUMBER, PADDED_INSIDE, RANKED_TWICE, REPEATED
from fastir.engine.measure._measure cimport RUN_LABELS, Plan, is_hit, label_code, measure, sort_labels
from fastir.engine.rank._rank cimport Ranking, discard, order_hits, rank_and_measure, reserve
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

cdef enum:
    BLOCK_BYTES = 1 << 16             # bytes of items in a block
    ROW_BYTES = 256                   # bytes of items that take as long as the fixed work for a row


cdef struct Part:               # scratch of a thread
    Relevant relevant
    Ranking ranking
    int32_t* table              # position + 1 of an item, 0 is free
    uint64_t mask
    double* scores              # of a row
    int32_t* places             # of a row's items after those with low scores have left, -1 for these
    int64_t n_low
    int problem                 # the problem that ended the call
    int64_t at_fault, item      # in this row, with this item


cdef int in_row_order(const void* a, const void* b) noexcept nogil:
    """Compare positions of a row by their addresses."""
    return (<const char*>a > <const char*>b) - (<const char*>a < <const char*>b)


cdef inline uint64_t spread(int64_t item) noexcept nogil:
    cdef uint64_t x = <uint64_t>item * <uint64_t>0x9E3779B97F4A7C15
    return x ^ x >> 32


cdef inline int64_t find_item(const Part* part, const int64_t* row, int64_t item, uint64_t* slot) noexcept nogil:
    """The position of an item in the row, or -1 and the free slot for it."""
    slot[0] = spread(item) & part.mask
    while part.table[slot[0]] != 0:
        if row[part.table[slot[0]] - 1] == item:
            return part.table[slot[0]] - 1
        slot[0] = (slot[0] + 1) & part.mask
    return -1


cdef int64_t fill_table(Part* part, const int64_t* row, int64_t width, int* failed) noexcept nogil:
    """Put a row's items into the table; how many they are."""
    cdef int64_t i, n = 0
    cdef uint64_t slot
    memset(part.table, 0, (part.mask + 1) * sizeof(int32_t))
    for i in range(width):
        part.item = row[i]
        if row[i] < 0:
            if row[i] != -1:
                failed[0] = NEGATIVE
                return n
            continue
        if n < i:
            failed[0] = PADDED_INSIDE
            return n
        if find_item(part, row, row[i], &slot) >= 0:
            failed[0] = RANKED_TWICE
            return n
        part.table[slot] = <int32_t>(i + 1)
        n += 1
    return n


cdef class TopK(Blocks):
    """Evaluates rows of item numbers.

    Parameters
    ----------
    plan : Plan
    rows : int64 array of shape (n, width)
        width is below 2^30.
    scores : float32 or float64 array like rows and of any strides, or None
    single : bool
        Whether scores are compared as float32.
    least : float
        Items with lower scores are not ranked.
    ties : int
        A code of TIE_CODES, from INPUT on; for rows with scores.
    items, labels : int64 array, int32 array aligned with it or None
        The judged items of all rows; without labels all are 1.
    offsets : int64 array of shape (n + 1,)
        Where the items of each row begin.
    values : float64 array of shape (n, n_slots), filled
    status : uint8 array of shape (n,), filled: 2 where no item has a label of at least `level`
    counts : int64 array of shape (n, 4), filled
        How many items were ranked, how many of them are judged, whether a tie may have decided a value, and how many
        items left with low scores.
    level : int
    """

    cdef Plan plan
    cdef int64_t n, width, rows_in_block
    cdef bint has_labels, has_scores, has_singles, single
    cdef double least
    cdef int ties
    cdef int32_t level
    cdef const int64_t[:, ::1] rows
    cdef const float[:, :] singles
    cdef const double[:, :] doubles
    cdef const int64_t[::1] items, offsets
    cdef const int32_t[::1] labels
    cdef double[:, ::1] values
    cdef unsigned char[::1] status
    cdef int64_t[:, ::1] counts
    cdef Part* parts[MAX_THREADS]

    def __init__(self, Plan plan, rows, scores, bint single, double least, int ties, items, labels, offsets, values,
                 status, counts, int32_t level):
        self.plan, self.single, self.least, self.ties, self.level = plan, single, least, ties, level
        self.rows, self.items, self.offsets = rows, items, offsets
        self.has_labels, self.has_scores = labels is not None, scores is not None
        self.labels = labels
        self.has_singles = self.has_scores and scores.itemsize == 4
        if self.has_singles:
            self.singles = scores
        elif self.has_scores:
            self.doubles = scores
        self.values, self.status, self.counts = values, status, counts
        self.n, self.width = self.rows.shape[0], self.rows.shape[1]
        self.rows_in_block = max(<int64_t>1, BLOCK_BYTES // (ROW_BYTES + self.width * <int64_t>sizeof(int64_t)))
        self.n_blocks = block_count(self.n, self.rows_in_block)

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            if self.parts[t] != NULL:
                free(self.parts[t].relevant.items)
                free(self.parts[t].table)
                free(self.parts[t].scores)
                free(self.parts[t].places)
                discard(&self.parts[t].ranking)
                free(self.parts[t])

    cdef Part* part_of(self, int thread) noexcept nogil:
        """The scratch of a thread, made when it is first needed; NULL without memory."""
        cdef Part* part = self.parts[thread]
        cdef uint64_t size = 4
        if part != NULL:
            return part
        part = self.parts[thread] = <Part*>calloc(1, sizeof(Part))
        if part == NULL:
            return NULL
        while size < <uint64_t>(2 * self.width):
            size *= 2
        part.mask = size - 1
        part.table = <int32_t*>malloc(size * sizeof(int32_t))
        if self.has_scores:
            part.scores = <double*>malloc((self.width + 1) * sizeof(double))
            part.places = <int32_t*>malloc((self.width + 1) * sizeof(int32_t))
        if part.table == NULL or (self.has_scores and (part.scores == NULL or part.places == NULL)):
            part.problem = NO_MEMORY
        return part

    cdef void take_scores(self, double* out, int64_t q) noexcept nogil:
        """Copy the scores of a row, in the precision of comparisons."""
        cdef int64_t i
        if self.has_singles:
            for i in range(self.width):
                out[i] = self.singles[q, i]
        elif self.single:
            for i in range(self.width):
                out[i] = <float>self.doubles[q, i]
        else:
            for i in range(self.width):
                out[i] = self.doubles[q, i]

    cdef int64_t leave_low(self, Part* part, int64_t n) noexcept nogil:
        """Take low scores out of those of a row of n items, and set `places` from the first of them on; its place."""
        cdef int64_t i, first = 0, kept
        while first < n and part.scores[first] >= self.least:
            first += 1
        kept = first
        for i in range(first, n):
            part.places[i] = <int32_t>kept if part.scores[i] >= self.least else -1
            part.scores[kept] = part.scores[i]
            kept += part.scores[i] >= self.least
        part.n_low = n - kept
        return first

    cdef int evaluate(self, Part* part, int64_t q) noexcept nogil:
        """Fill the values of row q; 0, or a problem."""
        cdef Ranking* r = &part.ranking
        cdef const int64_t* row = &self.rows[q, 0] if self.width > 0 else NULL
        cdef const double* scores = part.scores
        cdef int64_t first = self.offsets[q]
        cdef int64_t i, place, n, m = self.offsets[q + 1] - first, n_hits = 0, n_found = 0, first_low
        cdef double* out = &self.values[q, 0]
        cdef uint64_t slot
        cdef bint tied = False
        cdef int failed = take_items(&part.relevant, &self.items[first] if m > 0 else NULL,
                                     &self.labels[first] if self.has_labels and m > 0 else NULL, m)
        if failed:
            part.item = part.relevant.at_fault
            return failed
        n = fill_table(part, row, self.width, &failed)
        if failed:
            return failed
        if self.has_scores:
            self.take_scores(part.scores, q)
            part.item = 0
            while part.item < n and scores[part.item] == scores[part.item]:
                part.item += 1
            if part.item < n:
                return NOT_A_NUMBER
        part.n_low, first_low = 0, n
        if scores != NULL and self.least > -INFINITY:
            first_low = self.leave_low(part, n)
            n -= part.n_low
        if reserve(r, self.plan, n, m) < 0:
            return NO_MEMORY
        for i in range(m):
            place = find_item(part, row, part.relevant.items[i].number, &slot)
            if place >= first_low:
                place = part.places[place]
            if place < 0:       # judged, but not ranked
                continue
            n_found += 1
            if is_hit(part.relevant.items[i].label, self.plan.reads):
                if scores != NULL:
                    r.hits[n_hits].score = scores[place]
                r.hits[n_hits].item = row + place
                r.hits[n_hits].row = place
                r.hits[n_hits].label = part.relevant.items[i].label
                r.measured.ranks[n_hits] = place + 1
                r.measured.labels[n_hits] = part.relevant.items[i].label
                n_hits += 1
        if scores != NULL:
            tied = rank_and_measure(self.plan, r, scores, <const char*>row, sizeof(int64_t), n, n_hits, in_row_order,
                                    self.ties, part.relevant.judgments, out)
        else:
            order_hits(r, n, n_hits)
            measure(self.plan, &r.measured, n_hits, n, &part.relevant.judgments, out)
        self.status[q] = status_of(&part.relevant, self.level)
        self.counts[q, 0], self.counts[q, 1], self.counts[q, 2], self.counts[q, 3] = n, n_found, tied, part.n_low
        return 0

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t q, first = block * self.rows_in_block
        cdef Part* part = self.part_of(thread)
        cdef fenv_t callers
        if part == NULL:
            return NO_MEMORY
        if part.problem:
            part.at_fault = first
            return part.problem
        ordinary(&callers)
        for q in range(first, min(self.n, first + self.rows_in_block)):
            part.problem = self.evaluate(part, q)
            if part.problem:
                part.at_fault = q
                break
        fesetenv(&callers)
        return part.problem

    def problem(self):
        """The problem of the first row that has one: None, or (code of PROBLEM_CODES, row, item or column)."""
        cdef int t
        cdef const Part* first = NULL
        for t in range(self.n_threads):
            if self.parts[t] != NULL and self.parts[t].problem:
                if first == NULL or self.parts[t].at_fault < first.at_fault:
                    first = self.parts[t]
        if first != NULL:
            return first.problem, first.at_fault, first.item
        return (NO_MEMORY, 0, 0) if self.failed else None


# ---- judged items ----------------------------------------------------------------------------------------------------
cdef int by_number(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const Item*>a).number, y = (<const Item*>b).number
    return (x > y) - (x < y)


cdef int take_items(Relevant* r, const int64_t* numbers, const int32_t* labels, int64_t n) noexcept nogil:
    """Fill r with n items; labels is NULL where all are 1. 0, NO_MEMORY, or REPEATED and r.at_fault."""
    cdef int64_t i
    cdef int32_t* ideal
    cdef bint rising = True
    if n >= r.capacity:
        free(r.items)
        r.capacity = n + n // 2 + 64
        r.items = <Item*>malloc(r.capacity * (sizeof(Item) + sizeof(int32_t)) + RUN_LABELS * sizeof(int32_t))
        if r.items == NULL:
            r.capacity = 0
            return NO_MEMORY
    ideal = <int32_t*>(r.items + r.capacity)
    r.n = n
    r.judgments.labels = ideal
    r.judgments.n_pool = n
    r.judgments.n_positive = r.judgments.n_judged = 0
    for i in range(n):
        r.items[i].number = numbers[i]
        r.items[i].label = 1 if labels == NULL else label_code(labels[i])
        rising &= i == 0 or numbers[i - 1] < numbers[i]
        r.judgments.n_judged += r.items[i].label >= 0
        if r.items[i].label > 0:
            ideal[r.judgments.n_positive] = r.items[i].label
            r.judgments.n_positive += 1
    if labels != NULL:
        sort_labels(ideal, r.judgments.n_positive)
    if not rising:
        qsort(r.items, n, sizeof(Item), by_number)
        for i in range(1, n):
            if r.items[i - 1].number == r.items[i].number:
                r.at_fault = r.items[i].number
                return REPEATED
    return 0
