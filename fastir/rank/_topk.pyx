"""Rows of item numbers in rank order, as nearest-neighbour indexes return them, or with scores to rank them by.

    row         17   4  22   9  -1  -1      -1 fills what a search could not
    relevant     4   9  30                  looked up in a hash table of the row, which also finds what stands twice

A row is its ranking: without scores the ranks are the places, with scores _rank finds them.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.measure._codes cimport NEGATIVE, NO_MEMORY, NOT_A_NUMBER, PADDED_INSIDE, RANKED_TWICE
from fastir.measure._measure cimport Plan, is_hit, measure
from fastir.rank._rank cimport Ranking, discard, order_hits, rank_and_measure, reserve
from fastir.rank._judged_items cimport Relevant, status_of, take_items


cdef struct Part:               # scratch of a thread
    Relevant relevant
    Ranking ranking
    int32_t* table              # place + 1 of an item, 0 is free
    uint64_t mask
    int64_t at_fault, item


cdef int in_row_order(const void* a, const void* b) noexcept nogil:
    """The places of a row know their order by their addresses."""
    return (<const char*>a > <const char*>b) - (<const char*>a < <const char*>b)


cdef inline uint64_t spread(int64_t item) noexcept nogil:
    cdef uint64_t x = <uint64_t>item * <uint64_t>0x9E3779B97F4A7C15
    return x ^ x >> 32


cdef inline int64_t place_of(const Part* part, const int64_t* row, int64_t item, uint64_t* slot) noexcept nogil:
    """Where an item stands in the row, or -1 and the free slot for it."""
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
        if place_of(part, row, row[i], &slot) >= 0:
            failed[0] = RANKED_TWICE
            return n
        part.table[slot] = <int32_t>(i + 1)
        n += 1
    return n


cdef class TopK:
    """Evaluates rows of item numbers.

    Parameters
    ----------
    plan : Plan
    width : int
        Of the rows; below 2^30.
    ties : int
        A code of TIE_CODES, from INPUT on; for rows with scores.
    items, labels : int64 array, int32 array beside it or None
        The judged items of all rows; without labels all are 1.
    n_threads : int
    """

    cdef Plan plan
    cdef int64_t width
    cdef bint has_labels
    cdef int ties, n_threads
    cdef const int64_t[::1] items
    cdef const int32_t[::1] labels
    cdef Part* parts

    def __init__(self, Plan plan, int64_t width, int ties, items, labels, int n_threads):
        cdef int t
        cdef uint64_t size = 4
        while size < <uint64_t>(2 * width):
            size *= 2
        self.plan, self.width, self.ties, self.n_threads = plan, width, ties, n_threads
        self.items = items
        self.has_labels = labels is not None
        self.labels = labels
        self.parts = <Part*>calloc(n_threads, sizeof(Part))
        if self.parts == NULL:
            raise MemoryError
        for t in range(n_threads):
            self.parts[t].mask = size - 1
            self.parts[t].table = <int32_t*>malloc(size * sizeof(int32_t))
            if self.parts[t].table == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        if self.parts != NULL:
            for t in range(self.n_threads):
                free(self.parts[t].relevant.items)
                free(self.parts[t].table)
                discard(&self.parts[t].ranking)
        free(self.parts)

    cdef int evaluate(self, Part* part, const int64_t* row, const double* scores, int64_t first, int64_t stop,
                      double* out, int64_t* counts) noexcept nogil:
        """Fill the values of a row; 0, or what is wrong."""
        cdef Ranking* r = &part.ranking
        cdef int64_t i, place, n, m = stop - first, n_hits = 0, n_found = 0
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
        if scores != NULL:
            for i in range(n):
                if scores[i] != scores[i]:
                    part.item = i
                    return NOT_A_NUMBER
        if reserve(r, self.plan, n, m) < 0:
            return NO_MEMORY
        for i in range(m):
            place = place_of(part, row, part.relevant.items[i].number, &slot)
            if place < 0:
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
                                    self.ties, part.relevant.known, out)
        else:
            order_hits(r, n, n_hits)
            measure(self.plan, &r.measured, n_hits, n, &part.relevant.known, out)
        counts[0], counts[1], counts[2] = n, n_found, tied
        return 0

    def read(self, int t, const int64_t[:, ::1] rows, scores, const int64_t[::1] offsets, double[:, ::1] values,
             unsigned char[::1] status, int64_t[:, ::1] counts, int32_t level):
        """Evaluate rows in the scratch of thread t.

        Parameters
        ----------
        rows : int64 array of shape (n, width)
        scores : float64 array like rows, or None
        offsets : int64 array of shape (n + 1,)
            Where the items of each row begin.
        values : float64 array of shape (n, n_slots), filled
        status : uint8 array of shape (n,), filled: NO_RELEVANT where no item has a label of at least `level`
        counts : int64 array of shape (n, 3), filled
            How many items were ranked, how many of them are judged, and whether a tie may have decided a value.

        Returns
        -------
        None, or (a code of PROBLEM_CODES, row, item or column)
        """
        cdef Part* part = self.parts + t
        cdef const double[:, ::1] ranked_by
        cdef const double* start = NULL
        cdef const int64_t* places = NULL
        cdef int64_t q, n = offsets.shape[0] - 1
        cdef int failed = 0
        cdef fenv_t callers
        if n == 0:
            return None
        if self.width > 0:
            places = &rows[0, 0]
            if scores is not None:
                ranked_by = scores
                start = &ranked_by[0, 0]
        with nogil:
            ordinary(&callers)
            for q in range(n):
                failed = self.evaluate(part, places, start, offsets[q], offsets[q + 1], &values[q, 0], &counts[q, 0])
                if failed:
                    part.at_fault = q
                    break
                places += self.width
                if start != NULL:
                    start += self.width
                status[q] = status_of(&part.relevant, level)
            fesetenv(&callers)
        return (failed, part.at_fault, part.item) if failed else None
