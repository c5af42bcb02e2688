"""Rows of a score matrix, evaluated in place: only the ranks of a few columns matter, so no row is sorted.

    row         .3  .9  .1  .7 | .2  .8  ...     read once; _row_counts counts the scores above each hit's
    relevant         1       3                   columns; ranked ones that a metric reads are hits
    excluded                 3                   columns that are not ranked

Rows that do not lie in one piece are gathered in tiles that fit into the second-level cache: a row alone with a stride
between its scores, else 64 together, which is quick in Fortran order, where the rows of a column lie side by side
(_tile.h); double scores that are compared as float32 are converted likewise, 16 at a time. Threads take blocks of rows
(fastir.engine.threads); each fills its own rows of the results, from scratch of its own.

2 000 rows of 50 000 float32, about ten relevant items in each, one thread: ndcg@10 takes 2.1 times as long as summing
up the matrix, ndcg@100 3.2 times, map 5 times.
"""

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, qsort

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.measure._codes cimport (ALL, AVERAGE, CHANGED, EXCLUDED_OUTSIDE, INPUT, NOT_A_NUMBER, NO_MEMORY,
                                           OUTSIDE, PESSIMISTIC, RETRIEVED_BEST, REVERSED)
from fastir.engine.measure._measure cimport Plan, grow, is_hit, measure
from fastir.engine.rank._rank cimport (Hit, Ranking, best_first, comparable, discard, reserve, row_order,
                                       score_order, settle_by_label, worst_first)
from fastir.engine.rank._row_counts cimport (Row, RowScratch, begin, close_scratch, discard_row, exclude, feed, finish,
                                             is_excluded, is_nan, open_scratch, reserve_row, score_at)
from fastir.engine.rank._topk cimport Item, Relevant, status_of, take_items
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

cdef extern from "_tile.h" nogil:
    void fastir_copy_f32(const char* start, int64_t stride, int64_t rows, int64_t columns, float* tile,
                         int64_t width) noexcept
    void fastir_copy_f64(const char* start, int64_t stride, int64_t rows, int64_t columns, double* tile,
                         int64_t width) noexcept

cdef enum:
    BLOCK_BYTES = 1 << 17   # bytes of scores in a block
    ROW_BYTES = 1024        # bytes of scores that take as long as the fixed work for a row
    ITEMS_PER_READING = 32  # relevant items of a row that cost as much as reading it once more
    TILE_ROWS = 64
    TILE_COLUMNS = 512
    TILE_WIDTH = 528        # 4 KB apart, all rows of a tile would share a few lines of the cache
    ROW_COLUMNS = 8192      # that are gathered if a tile has one row
    NARROWED_ROWS = 16      # that are converted at once, which takes memory for all their columns


cdef struct Query:              # a row in work
    Row row
    Relevant relevant
    const char* start
    int64_t n_ranked, n_found, n_low
    bint tied


cdef struct Part:               # scratch of a thread
    Query* queries
    Ranking ranking
    RowScratch scratch
    char* tile
    float* narrowed             # rows with double scores
    int problem                 # the problem that ended the call
    int64_t at_fault            # in this row
    int64_t item


cdef int in_rank_order(const void* a, const void* b) noexcept nogil:
    """Hits by score, the highest first; where it is equal, by column."""
    cdef const Hit* x = <const Hit*>a
    cdef const Hit* y = <const Hit*>b
    cdef int order = score_order(x.score, y.score)
    return order if order != 0 else row_order(x.row, y.row)


cdef int in_reversed_order(const void* a, const void* b) noexcept nogil:
    """The same, but where the score is equal the last column first."""
    cdef const Hit* x = <const Hit*>a
    cdef const Hit* y = <const Hit*>b
    cdef int order = score_order(x.score, y.score)
    return order if order != 0 else row_order(y.row, x.row)


cdef bint find_ranks(const Row* row, Ranking* r, int64_t depth, int ties) noexcept nogil:
    """The hits' ranks from the counts; whether a tie that begins within `depth` may have decided something.

    Hits below the bound come after all that is read; their order does not matter.
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
            r.measured.ranks[i] = (row.reach[j] - row.before[j] if ties == REVERSED
                                   else row.above[j] + 1 + (row.before[j] if ties == INPUT else 0))
            r.measured.lasts[i] = row.reach[j]
            tied |= row.above[j] < depth and row.reach[j] - row.above[j] > 1
            last = row.reach[j] if row.reach[j] > last else last
    if ties > REVERSED:
        settle_by_label(r, row.n_hits, ties)
    return tied


cdef bint are_ranks(const Row* row, const Ranking* r, int64_t n, int ties) noexcept nogil:
    """Whether the hits' ranks rise from 1 to n, which they do unless another thread changes the scores meanwhile.

    For expected values, hits of one tie share its ranks, which are at least as many as they; ties do not overlap.
    """
    cdef int64_t i, rank, last = 0, members = 0
    for i in range(row.n_hits):
        if row.scores[r.hits[i].row] < row.bound:
            return True
        rank = r.measured.ranks[i]
        if rank < 1 or r.measured.lasts[i] < rank or r.measured.lasts[i] > n:
            return False
        if ties == AVERAGE and i > 0 and rank == r.measured.ranks[i - 1] and r.measured.lasts[i] == last:
            members += 1
            if members > last - rank + 1:
                return False
            continue
        if rank <= last:
            return False
        members = 1
        last = r.measured.lasts[i] if ties == AVERAGE else rank
    return True


ctypedef fused real:
    float
    double


cdef void gather(real* tile, const char* start, int64_t rows, int64_t columns, int64_t stride,
                 int64_t down) noexcept nogil:
    """Copy rows that do not lie in one piece to the rows of a tile."""
    cdef int64_t i, j
    if down == sizeof(real):
        if real is float:
            fastir_copy_f32(start, stride, rows, columns, tile, TILE_WIDTH)
        else:
            fastir_copy_f64(start, stride, rows, columns, tile, TILE_WIDTH)
        return
    if rows == 1:
        for j in range(columns):
            tile[j] = (<const real*>(start + j * stride))[0]
        return
    for j in range(columns):
        for i in range(rows):
            tile[i * TILE_WIDTH + j] = (<const real*>(start + i * down + j * stride))[0]


cdef void narrow(float* out, const char* start, int64_t rows, int64_t columns, int64_t stride,
                 int64_t down) noexcept nogil:
    """Convert double scores of any strides to float32, row by row; scores that are too large become infinite."""
    cdef int64_t i, j
    if rows == 1:
        for j in range(columns):
            out[j] = <float>(<const double*>(start + j * stride))[0]
        return
    for j in range(columns):
        for i in range(rows):
            out[i * columns + j] = <float>(<const double*>(start + i * down + j * stride))[0]


cdef int64_t depth_of(Plan plan) noexcept:
    """How far down a ranking the plan's metrics read."""
    cdef int64_t v
    cdef bint retrieved = False
    for v in range(plan.n_views):
        retrieved |= plan.views[v].ideal == RETRIEVED_BEST
    if plan.judged_only or plan.max_depth < plan.deepest or (retrieved and plan.max_depth < INT64_MAX):
        return plan.max_depth
    return plan.deepest


cdef class Matrix(Blocks):
    """Evaluates rows of a score matrix; everything but the scores and the items is validated before.

    Parameters
    ----------
    plan : Plan
    scores : float32 or float64 array of shape (n, n_columns) and any strides
    single : bool
        Whether scores are compared as float32, which float32 scores must be.
    least : float
        Columns with lower scores are not ranked.
    ties : int
        A code of TIE_CODES, from INPUT on.
    items, labels : int64 array, int32 array aligned with it or None
        The judged items of all rows; without labels all are 1.
    offsets : int64 array of shape (n + 1,)
        Where the items of each row begin.
    excluded, excluded_offsets : int64 arrays
        The excluded columns of all rows, and the offset of each row's.
    values : float64 array of shape (n, n_slots), filled
    status : uint8 array of shape (n,), filled: 2 where no item has a label of at least `level`
    counts : int64 array of shape (n, 4), filled
        How many columns were ranked, how many of them are items, whether a tie may have decided a value, and how many
        columns left with low scores.
    level : int
    """

    cdef Plan plan
    cdef int64_t n, n_columns, depth, rows_in_block, rows_at_once, stride, down
    cdef bint single, narrows, has_labels
    cdef double least
    cdef int ties
    cdef int32_t level
    cdef const char* start
    cdef const float[:, :] singles
    cdef const double[:, :] doubles
    cdef const int64_t[::1] items, offsets, excluded, excluded_offsets
    cdef const int32_t[::1] labels
    cdef double[:, ::1] values
    cdef unsigned char[::1] status
    cdef int64_t[:, ::1] counts
    cdef Part* parts[MAX_THREADS]

    def __init__(self, Plan plan, scores, bint single, double least, int ties, items, labels, offsets, excluded,
                 excluded_offsets, values, status, counts, int32_t level):
        cdef int64_t width = scores.itemsize, times
        self.plan, self.single, self.ties, self.level = plan, single, ties, level
        self.least = comparable(least, single)
        self.items, self.offsets, self.excluded, self.excluded_offsets = items, offsets, excluded, excluded_offsets
        self.has_labels = labels is not None
        self.labels = labels
        self.values, self.status, self.counts = values, status, counts
        self.depth = depth_of(plan)
        self.n, self.n_columns = scores.shape
        self.narrows = single and width == 8
        self.stride, self.down = width, 0
        if self.n > 0 and self.n_columns > 0 and width == 4:
            self.singles = scores
            self.start = <const char*>&self.singles[0, 0]
            self.down, self.stride = self.singles.strides[0], self.singles.strides[1]
        elif self.n > 0 and self.n_columns > 0:
            self.doubles = scores
            self.start = <const char*>&self.doubles[0, 0]
            self.down, self.stride = self.doubles.strides[0], self.doubles.strides[1]
        self.rows_at_once = NARROWED_ROWS if self.narrows else TILE_ROWS
        if self.stride == width or abs(self.stride) < abs(self.down):   # a row lies closer together than a column
            self.rows_at_once = 1
        times = 1 + (self.offsets[self.n] - self.offsets[0]) // (ITEMS_PER_READING * max(<int64_t>1, self.n))
        self.rows_in_block = max(self.rows_at_once, BLOCK_BYTES // (ROW_BYTES + self.n_columns * width * times))
        self.n_blocks = block_count(self.n, self.rows_in_block)

    def __dealloc__(self):
        cdef int t, i
        cdef Part* part
        for t in range(self.n_threads):
            part = self.parts[t]
            if part == NULL:
                continue
            if part.queries != NULL:
                for i in range(TILE_ROWS):
                    free(part.queries[i].relevant.items)
                    discard_row(&part.queries[i].row)
            free(part.queries)
            free(part.tile)
            free(part.narrowed)
            close_scratch(&part.scratch)
            discard(&part.ranking)
            free(part)

    cdef Part* part_of(self, int thread) noexcept nogil:
        """The scratch of a thread, made when it is first needed; NULL without memory."""
        cdef Part* part = self.parts[thread]
        if part != NULL:
            return part
        part = self.parts[thread] = <Part*>calloc(1, sizeof(Part))
        if part == NULL:
            return NULL
        part.queries = <Query*>calloc(TILE_ROWS, sizeof(Query))
        part.tile = <char*>malloc(TILE_ROWS * TILE_WIDTH * sizeof(double))
        if self.narrows:
            part.narrowed = <float*>malloc((self.rows_at_once * self.n_columns + 1) * sizeof(float))
        if (open_scratch(&part.scratch) < 0 or part.queries == NULL or part.tile == NULL
                or (self.narrows and part.narrowed == NULL)):
            part.problem = NO_MEMORY
        return part

    cdef int look_up(self, Part* part, Query* query, int64_t first, int64_t stop, int64_t excluded_first,
                     int64_t excluded_stop, int64_t stride) noexcept nogil:
        """Find the hits of a row and their scores; 0, or a problem."""
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
        row.single, row.low = self.single, self.least
        for i in range(n):
            if row.n_excluded > 0 and is_excluded(row, items[i].number):
                continue
            if self.least > -INFINITY and score_at(query.start + items[i].number * stride, self.single) < self.least:
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
        """Fill the values of a row; 0, NO_MEMORY or CHANGED."""
        cdef Ranking* r = &part.ranking
        cdef Row* row = &query.row
        cdef int64_t i
        if finish(row, &part.scratch, query.start, stride) < 0 or reserve(r, self.plan, 0, query.relevant.n) < 0:
            return NO_MEMORY
        query.n_low = 0
        if self.least > -INFINITY:
            for i in range(row.n_excluded):
                row.n_retrieved -= score_at(query.start + row.excluded[i] * stride, self.single) >= self.least
            query.n_low = query.n_ranked - row.n_retrieved
            query.n_ranked = row.n_retrieved
        if (self.plan.reads == ALL or self.plan.average) and grow(&r.measured, self.plan, query.n_ranked) < 0:
            return NO_MEMORY
        for i in range(row.n_hits):
            r.hits[i].score = row.scores[i]
            r.hits[i].row = i
            r.hits[i].label = row.labels[i]
        qsort(r.hits, row.n_hits, sizeof(Hit), in_rank_order if self.ties == INPUT else in_reversed_order
              if self.ties == REVERSED else worst_first if self.ties == PESSIMISTIC else best_first)
        for i in range(row.n_hits):
            r.measured.labels[i] = r.hits[i].label
        query.tied = find_ranks(row, r, self.depth, self.ties)
        if not are_ranks(row, r, query.n_ranked, self.ties):
            return CHANGED
        measure(self.plan, &r.measured, row.n_hits, query.n_ranked, &query.relevant.judgments, out)
        return 0

    cdef bint stream(self, Part* part, int64_t n, int64_t stride, int64_t down) noexcept nogil:
        """Count the scores of n rows; whether one is NaN, in row part.at_fault of them."""
        cdef int64_t i, first = 0, size, width = 4 if self.single else 8
        cdef int64_t most = ROW_COLUMNS if self.rows_at_once == 1 else TILE_COLUMNS
        if stride == width:
            for i in range(n):
                if feed(&part.queries[i].row, &part.scratch, part.queries[i].start, self.n_columns, 0):
                    part.at_fault = i
                    return True
            return False
        while first < self.n_columns:
            size = min(most, self.n_columns - first)
            if self.single:
                gather(<float*>part.tile, part.queries[0].start + first * stride, n, size, stride, down)
            else:
                gather(<double*>part.tile, part.queries[0].start + first * stride, n, size, stride, down)
            for i in range(n):
                if feed(&part.queries[i].row, &part.scratch, part.tile + i * TILE_WIDTH * width, size, first):
                    part.at_fault = i
                    return True
            first += size
        return False

    cdef int evaluate(self, Part* part, int64_t first, int64_t stop) noexcept nogil:
        """Fill the values of rows first to stop; 0, or the problem of row part.at_fault."""
        cdef int64_t q, size, stride = self.stride, down = self.down
        cdef int failed = 0
        cdef const char* start
        cdef Query* query
        while first < stop:
            size = min(self.rows_at_once, stop - first)
            start = self.start + first * self.down
            if self.narrows:
                narrow(part.narrowed, start, size, self.n_columns, self.stride, self.down)
                start, stride, down = <const char*>part.narrowed, sizeof(float), self.n_columns * sizeof(float)
            for q in range(first, first + size):
                query = part.queries + q - first
                query.start = start + (q - first) * down
                failed = self.look_up(part, query, self.offsets[q], self.offsets[q + 1], self.excluded_offsets[q],
                                      self.excluded_offsets[q + 1], stride)
                if failed:          # the rows before may have a NaN, which comes first
                    size = q - first
                    break
            if self.stream(part, size, stride, down):
                part.at_fault += first
                return NOT_A_NUMBER
            if failed:
                part.at_fault = first + size
                return failed
            for q in range(first, first + size):
                query = part.queries + q - first
                failed = self.settle(part, query, stride, &self.values[q, 0])
                if failed:
                    part.at_fault = q
                    return failed
                self.status[q] = status_of(&query.relevant, self.level)
                self.counts[q, 0], self.counts[q, 1], self.counts[q, 2] = query.n_ranked, query.n_found, query.tied
                self.counts[q, 3] = query.n_low
            first += size
        return 0

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t first = block * self.rows_in_block
        cdef Part* part = self.part_of(thread)
        cdef fenv_t callers
        if part == NULL:
            return NO_MEMORY
        if part.problem:
            part.at_fault = first
            return part.problem
        ordinary(&callers)
        part.problem = self.evaluate(part, first, min(self.n, first + self.rows_in_block))
        fesetenv(&callers)
        return part.problem

    def problem(self):
        """The problem of the first row that has one: None, or (code of PROBLEM_CODES, row, item)."""
        cdef int t
        cdef const Part* first = NULL
        for t in range(self.n_threads):
            if self.parts[t] != NULL and self.parts[t].problem:
                if first == NULL or self.parts[t].at_fault < first.at_fault:
                    first = self.parts[t]
        if first != NULL:
            return first.problem, first.at_fault, first.item
        return (NO_MEMORY, 0, 0) if self.failed else None
