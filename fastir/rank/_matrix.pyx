"""Rows of a score matrix evaluated where they lie: what counts is the rank of a few columns, so no row is sorted.

    row         .3  .9  .1  .7 | .2  .8  ...     read once; _counts says how many scores are above those of the hits
    relevant         1       3                   columns; those that a metric reads and that are ranked are hits
    excluded                 3                   columns that are not ranked

Rows that do not lie in one piece are gathered, 16 at a time, in tiles that fit into the second-level cache. Threads
take chunks of rows; each fills its own rows of the results, from scratch of its own.

2 000 rows of 50 000 float32, about ten relevant items in each, one thread: ndcg@10 takes 2.1 times as long as summing
up the matrix, ndcg@100 3.2 times, map 5 times.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, qsort

from fastir.rank._row_counts cimport (Desk, Row, begin, close_desk, discard_row, exclude, feed, finish, is_excluded, is_nan,
                             open_desk, reserve_row, score_at)
from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.measure._codes cimport ALL, EXCLUDED_OUTSIDE, INPUT, NO_MEMORY, NOT_A_NUMBER, OUTSIDE, PESSIMISTIC
from fastir.measure._measure cimport Plan, grow, is_hit, measure
from fastir.rank._rank cimport Hit, Ranking, best_first, discard, reserve, settle_by_label, worst_first
from fastir.rank._judged_items cimport Item, Relevant, status_of, take_items

cdef enum:
    TILE_ROWS = 16
    TILE_COLUMNS = 1024
    TILE_WIDTH = 1040       # 4 KB apart, all rows of a tile would share a few lines of the cache


cdef struct Query:              # a row in work
    Row row
    Relevant relevant
    const char* start
    int64_t n_ranked, n_found
    bint tied


cdef struct Part:               # scratch of a thread
    Query* queries
    Ranking ranking
    Desk desk
    char* tile
    int64_t at_fault            # the row that could not be evaluated
    int64_t item


cdef int in_rank_order(const void* a, const void* b) noexcept nogil:
    """Hits by score, the highest first; where it is equal, by column."""
    cdef const Hit* x = <const Hit*>a
    cdef const Hit* y = <const Hit*>b
    cdef int by_score = (x.score < y.score) - (x.score > y.score)
    return by_score if by_score != 0 else (x.row > y.row) - (x.row < y.row)


cdef bint find_ranks(const Row* row, Ranking* r, int64_t depth, int ties) noexcept nogil:
    """The hits' ranks from the counts; whether a tie that begins within `depth` may have decided something.

    Hits below the bound stand behind all that is read, where their order does not matter.
    """
    cdef int64_t i, j, last = depth
    cdef bint tied = False
    for i in range(row.n_hits):
        j = r.hits[i].row
        if row.scores[j] < row.bound:
            last += 1
            r.measured.ranks[i] = last
            r.measured.lasts[i] = last
        else:
            r.measured.ranks[i] = row.above[j] + 1 + (row.before[j] if ties == INPUT else 0)
            r.measured.lasts[i] = row.reach[j]
            tied |= row.above[j] < depth and row.reach[j] - row.above[j] > 1
            last = row.reach[j] if row.reach[j] > last else last
    if ties != INPUT:
        settle_by_label(r, row.n_hits, ties)
    return tied


cdef void gather_f32(float* tile, const char* start, int64_t rows, int64_t columns, int64_t stride,
                     int64_t down) noexcept nogil:
    """Copy rows that do not lie in one piece to the rows of a tile."""
    cdef int64_t i, j
    for j in range(columns):
        for i in range(rows):
            tile[i * TILE_WIDTH + j] = (<const float*>(start + i * down + j * stride))[0]


cdef void gather_f64(double* tile, const char* start, int64_t rows, int64_t columns, int64_t stride,
                     int64_t down) noexcept nogil:
    cdef int64_t i, j
    for j in range(columns):
        for i in range(rows):
            tile[i * TILE_WIDTH + j] = (<const double*>(start + i * down + j * stride))[0]


cdef int64_t depth_of(Plan plan) noexcept:
    """How far down a ranking the plan's metrics read."""
    cdef int64_t v
    cdef bint retrieved = False
    for v in range(plan.n_views):
        retrieved |= plan.views[v].ideal_retrieved != 0
    if plan.judged_only or plan.max_depth < plan.deepest or (retrieved and plan.max_depth < INT64_MAX):
        return plan.max_depth
    return plan.deepest


cdef class Matrix:
    """Evaluates rows of a score matrix; everything but the scores and the items is validated before.

    Parameters
    ----------
    plan : Plan
    n_columns : int
    single : bool
        Whether scores are float32; otherwise they are float64.
    ties : int
        A code of TIE_CODES, from INPUT on.
    items, labels : int64 array, int32 array beside it or None
        The judged items of all rows; without labels all are 1.
    excluded : int64 array
        The excluded columns of all rows.
    n_threads : int
    """

    cdef Plan plan
    cdef int64_t n_columns, depth
    cdef bint single, has_labels
    cdef int ties, n_threads
    cdef const int64_t[::1] items, excluded
    cdef const int32_t[::1] labels
    cdef Part* parts

    def __init__(self, Plan plan, int64_t n_columns, bint single, int ties, items, labels, excluded, int n_threads):
        cdef int t
        self.plan, self.n_columns, self.single, self.ties, self.n_threads = plan, n_columns, single, ties, n_threads
        self.items, self.excluded = items, excluded
        self.has_labels = labels is not None
        self.labels = labels
        self.depth = depth_of(plan)
        self.parts = <Part*>calloc(n_threads, sizeof(Part))
        if self.parts == NULL:
            raise MemoryError
        for t in range(n_threads):
            self.parts[t].queries = <Query*>calloc(TILE_ROWS, sizeof(Query))
            self.parts[t].tile = <char*>malloc(TILE_ROWS * TILE_WIDTH * sizeof(double))
            if self.parts[t].queries == NULL or self.parts[t].tile == NULL or open_desk(&self.parts[t].desk) < 0:
                raise MemoryError

    def __dealloc__(self):
        cdef int t, i
        if self.parts != NULL:
            for t in range(self.n_threads):
                if self.parts[t].queries != NULL:
                    for i in range(TILE_ROWS):
                        free(self.parts[t].queries[i].relevant.items)
                        discard_row(&self.parts[t].queries[i].row)
                free(self.parts[t].queries)
                free(self.parts[t].tile)
                close_desk(&self.parts[t].desk)
                discard(&self.parts[t].ranking)
        free(self.parts)

    cdef int look_up(self, Part* part, Query* query, int64_t first, int64_t stop, int64_t excluded_first,
                     int64_t excluded_stop, int64_t stride) noexcept nogil:
        """Find the hits of a row and their scores; 0, or what is wrong."""
        cdef Row* row = &query.row
        cdef const Item* items
        cdef int64_t i, n = stop - first, n_excluded = excluded_stop - excluded_first
        cdef int failed = take_items(&query.relevant, &self.items[first] if n > 0 else NULL,
                                     &self.labels[first] if self.has_labels and n > 0 else NULL, n)
        if failed:
            part.item = query.relevant.at_fault
            return failed
        if reserve_row(row, n + 1, n_excluded) < 0:
            return NO_MEMORY
        exclude(row, &self.excluded[excluded_first] if n_excluded > 0 else NULL, n_excluded)
        items = query.relevant.items
        if n > 0 and (items[0].number < 0 or items[n - 1].number >= self.n_columns):
            part.item = items[0].number if items[0].number < 0 else items[n - 1].number
            return OUTSIDE
        if row.n_excluded > 0 and (row.excluded[0] < 0 or row.excluded[row.n_excluded - 1] >= self.n_columns):
            part.item = row.excluded[0] if row.excluded[0] < 0 else row.excluded[row.n_excluded - 1]
            return EXCLUDED_OUTSIDE
        query.n_ranked = self.n_columns - row.n_excluded
        query.n_found = row.n_hits = 0
        row.single = self.single
        for i in range(n):
            if row.n_excluded > 0 and is_excluded(row, items[i].number):
                continue
            query.n_found += 1
            if is_hit(items[i].label, self.plan.reads):
                row.columns[row.n_hits] = items[i].number
                row.labels[row.n_hits] = items[i].label
                row.scores[row.n_hits] = score_at(query.start + items[i].number * stride, self.single)
                if is_nan(row.scores[row.n_hits]):
                    return NOT_A_NUMBER
                row.n_hits += 1
        return NO_MEMORY if begin(row, self.n_columns, self.depth) < 0 else 0

    cdef int settle(self, Part* part, Query* query, int64_t stride, double* out) noexcept nogil:
        """Fill the values of a row; 0, or NO_MEMORY."""
        cdef Ranking* r = &part.ranking
        cdef Row* row = &query.row
        cdef int64_t i
        if finish(row, &part.desk, query.start, stride) < 0 or reserve(r, self.plan, 0, query.relevant.n) < 0:
            return NO_MEMORY
        if (self.plan.reads == ALL or self.plan.average) and grow(&r.measured, self.plan, query.n_ranked) < 0:
            return NO_MEMORY
        for i in range(row.n_hits):
            r.hits[i].score = row.scores[i]
            r.hits[i].row = i
            r.hits[i].label = row.labels[i]
        qsort(r.hits, row.n_hits, sizeof(Hit), in_rank_order if self.ties == INPUT else worst_first
              if self.ties == PESSIMISTIC else best_first)
        for i in range(row.n_hits):
            r.measured.labels[i] = r.hits[i].label
        query.tied = find_ranks(row, r, self.depth, self.ties)
        measure(self.plan, &r.measured, row.n_hits, query.n_ranked, &query.relevant.known, out)
        return 0

    cdef bint stream(self, Part* part, int64_t n, int64_t stride, int64_t down) noexcept nogil:
        """Count the scores of n rows; whether one is NaN, in row part.at_fault of them."""
        cdef int64_t i, first = 0, size, width = 4 if self.single else 8
        if n == 1 and stride == width:
            part.at_fault = 0
            return feed(&part.queries[0].row, &part.desk, part.queries[0].start, self.n_columns, 0)
        while first < self.n_columns:
            size = TILE_COLUMNS if self.n_columns - first > TILE_COLUMNS else self.n_columns - first
            if self.single:
                gather_f32(<float*>part.tile, part.queries[0].start + first * stride, n, size, stride, down)
            else:
                gather_f64(<double*>part.tile, part.queries[0].start + first * stride, n, size, stride, down)
            for i in range(n):
                if feed(&part.queries[i].row, &part.desk, part.tile + i * TILE_WIDTH * width, size, first):
                    part.at_fault = i
                    return True
            first += size
        return False

    cdef int evaluate(self, Part* part, const char* scores, int64_t stride, int64_t down, int64_t n,
                      const int64_t* offsets, const int64_t* excluded, double* values, unsigned char* status,
                      int64_t* counts, int32_t level) noexcept nogil:
        """Fill the values of n rows, `down` bytes apart; 0, or what is wrong with row part.at_fault."""
        cdef int64_t first = 0, q, size, step = 1 if stride == (4 if self.single else 8) else TILE_ROWS
        cdef int failed
        cdef Query* query
        while first < n:
            size = step if n - first > step else n - first
            for q in range(first, first + size):
                query = part.queries + q - first
                query.start = scores + q * down
                failed = self.look_up(part, query, offsets[q], offsets[q + 1], excluded[q], excluded[q + 1], stride)
                if failed:
                    part.at_fault = q
                    return failed
            if self.stream(part, size, stride, down):
                part.at_fault += first
                return NOT_A_NUMBER
            for q in range(first, first + size):
                query = part.queries + q - first
                if self.settle(part, query, stride, values + q * self.plan.n_slots):
                    return NO_MEMORY
                status[q] = status_of(&query.relevant, level)
                counts[3 * q], counts[3 * q + 1], counts[3 * q + 2] = query.n_ranked, query.n_found, query.tied
            first += size
        return 0

    def read(self, int t, scores, const int64_t[::1] offsets, const int64_t[::1] excluded, double[:, ::1] values,
             unsigned char[::1] status, int64_t[:, ::1] counts, int32_t level):
        """Evaluate the rows of a two-dimensional array of any strides in the scratch of thread t.

        Parameters
        ----------
        scores : float32 or float64 array of shape (n, n_columns)
        offsets, excluded : int64 arrays of shape (n + 1,)
            Where the items and the excluded columns of each row begin.
        values : float64 array of shape (n, n_slots), filled
        status : uint8 array of shape (n,), filled: NO_RELEVANT where no item has a label of at least `level`
        counts : int64 array of shape (n, 3), filled
            How many columns were ranked, how many of them are items, and whether a tie may have decided a value.

        Returns
        -------
        None, or (a code of PROBLEM_CODES, row, item)
        """
        cdef Part* part = self.parts + t
        cdef const float[:, :] narrow
        cdef const double[:, :] wide
        cdef const char* start = NULL
        cdef int64_t stride = 4 if self.single else 8, down = 0, n = offsets.shape[0] - 1
        cdef fenv_t callers
        cdef int failed
        if n == 0:
            return None
        if self.n_columns > 0 and self.single:
            narrow = scores
            start, down, stride = <const char*>&narrow[0, 0], narrow.strides[0], narrow.strides[1]
        elif self.n_columns > 0:
            wide = scores
            start, down, stride = <const char*>&wide[0, 0], wide.strides[0], wide.strides[1]
        with nogil:
            ordinary(&callers)
            failed = self.evaluate(part, start, stride, down, n, &offsets[0], &excluded[0], &values[0, 0], &status[0],
                                   &counts[0, 0], level)
            fesetenv(&callers)
        return (failed, part.at_fault, part.item) if failed else None
