"""Groups of rows without ids: their labels in rank order, or with scores to rank them by.

In: columns, with numbers that are checked while they are read; out: a row of values for each group.

    labels in rank order    the hits are found by _labels
    labels and scores       small cutoffs: the rows at the first ranks are selected; short groups with few rows with a
                            label above 0: their ranks are counted (_placed_hits); long groups with few of these: they
                            are ranked by _rank; all others: the rows are sorted (_sorted_rows)

A group's own labels are its judgments, unless others are given. Sums are sequential in rank order (_measure), threads
take blocks of groups (`engine.threads`), and nothing depends on which path was taken: tests compare them bit by bit.

put_best_first() makes the ideal ranking of a group with real-valued labels. In: the classes of the judged labels above
0, best first, and the labels; out: codes of class and row for as many of the best as a metric reads gains of, and of
the class alone for the others, which metrics compare with their level.

    labels     .9  .2   0  1.7  .2          level 1: class 1 below, 2 above
    classes     1   1   0   2    1
    ideal       2/3  1/0  1  1              class/row, for nDCG@2

So no label is numbered among all others of the call, which takes a hash of all of them and a sort: measured with 10^7
distinct labels, 300 times as long as this.

Few of the best are found as _placed_hits finds scores, but among keys of 16 bits, which are compared eight at once;
only labels whose key may be one of the best are read, and each is counted against all others of these. Measured with
nDCG@10 of groups of 118: a third of the time of lanes of doubles, into which the labels that reach the last are
inserted.
"""

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY
from libc.stdint cimport UINT32_MAX, int8_t, int16_t, int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.measure._codes cimport (ALL, CHANGED, EVALUATED, LARGE_LABEL, NO_MEMORY, NO_RELEVANT, NOT_A_NUMBER,
                                           RELEVANT)
from fastir.engine.measure._measure cimport (RUN_LABELS, Judgments, Plan, grow, is_hit, label_code, measure,
                                             sort_labels, with_spare)
from fastir.engine.measure._registry cimport ROW_BITS
from fastir.engine.rank._labels cimport (FLOAT32, INT8, TAIL_BYTES, Buffer, Column, Labels, Levels, classify_labels,
                                         count_labels, label_at, list_hits, open_column, read_labels, room_in)
from fastir.engine.rank._placed_hits cimport MAX_COUNTED_ROWS, MAX_SELECTED_RANKS, Places, hits_by_rank, real
from fastir.engine.rank._rank cimport Hit, Ranking, discard, rank_and_measure, reserve
from fastir.engine.rank._sorted_rows cimport (MAX_ROWS_PER_HIT, PART_ENTRIES, Entry, falling_key,
                                              hits_by_sorting, sort_entries)
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

cdef int64_t BLOCK_BYTES = 1 << 16    # input in a block; twice as much of labels alone, which take half the time
cdef int64_t GROUP_BYTES = 256        # bytes of input that take as long as the fixed work for a group

cdef enum:
    MIN_ROWS_PER_HIT = 8            # rows for a hit, from which on the hits' labels are counted among themselves
    MAX_RESERVED_ROWS = 1 << 16     # rows of a group above which memory is reserved by hits

# For tests: rows of a group, and for one hit, at which the way to its hits changes.
WIDTHS = {"counted": MAX_COUNTED_ROWS, "by hits": MAX_RESERVED_ROWS, "rows for a hit": MAX_ROWS_PER_HIT}


cdef struct Input:
    Column labels, scores, ideal
    const int64_t* offsets
    const int64_t* ideal_offsets
    int32_t level
    int64_t limit               # the largest label, or code of one, that the metrics take
    Levels levels
    int ties
    bint single                 # scores are compared as float32
    double least                # lower scores are not retrieved
    bint in_place               # labels are read where they are


cdef struct Tally:
    int64_t negative            # labels below 0
    int64_t tied, first_tied    # groups with ties
    int64_t fractions, first_fraction   # judged labels that are fractional, and the first group with one


cdef struct GroupScratch:       # of one thread, and what it has counted
    Tally tally
    int problem                 # what ended the call
    int64_t at_fault            # in this group
    Ranking ranking
    int64_t room
    int8_t* bytes
    Places places
    Buffer scores               # double, float or Entry
    Buffer wide, ideal, ideal_bytes, ideal_wide
    Buffer values, ideal_values, positive, best     # for real-valued labels


# ---- scores ----------------------------------------------------------------------------------------------------------

ctypedef fused source:
    float
    double


cdef bint copy_scores(const source* p, int64_t step, int64_t n, real* out) noexcept nogil:
    """Copy scores, and say whether one is NaN."""
    cdef int64_t i
    cdef int missing = 0
    for i in range(n):
        out[i] = <real>p[i * step]
        missing |= out[i] != out[i]
    return missing != 0


cdef int64_t count_from(const real* scores, int64_t n, double least) noexcept nogil:
    """How many scores are `least` or more."""
    cdef int64_t i, kept = 0
    for i in range(n):
        kept += scores[i] >= least
    return kept


cdef bint read_scores(const Column* column, int64_t first, int64_t n, real* out) noexcept nogil:
    if column.kind == FLOAT32:
        return copy_scores(<const float*>column.data + first * column.step, column.step, n, out)
    return copy_scores(<const double*>column.data + first * column.step, column.step, n, out)


# ---- one group -------------------------------------------------------------------------------------------------------
cdef int room_for(GroupScratch* scratch, int64_t n) noexcept nogil:
    """Make room for n rows; 0, or -1 without memory."""
    cdef int64_t few
    n = with_spare(n)
    few = n if n < MAX_COUNTED_ROWS else MAX_COUNTED_ROWS
    free(scratch.places.rows)
    scratch.places.rows = <int64_t*>malloc((few + TAIL_BYTES) * (1 + 2 * sizeof(int64_t)) + n + TAIL_BYTES)
    scratch.room = 0 if scratch.places.rows == NULL else n
    if scratch.places.rows == NULL:
        return -1
    scratch.places.stops = scratch.places.rows + few + TAIL_BYTES
    scratch.places.ranked = <int8_t*>(scratch.places.stops + few + TAIL_BYTES)
    scratch.bytes = scratch.places.ranked + few + TAIL_BYTES
    return 0


cdef int by_row(const void* a, const void* b) noexcept nogil:
    """The order of two rows by their addresses."""
    return (a > b) - (a < b)


cdef bint are_few(Plan plan, int64_t n) noexcept nogil:
    """Whether to make room for the hits of a group alone, which must be counted for that, and not for all its rows."""
    return n > MAX_RESERVED_ROWS and plan.reads == RELEVANT


cdef int64_t count_hits(const Labels* labels) noexcept nogil:
    """How many labels are above 0."""
    cdef int64_t i, n = 0
    for i in range(labels.n):
        n += labels.bytes[i] > 0 if labels.bytes != NULL else labels.wide[i] > 0
    return n


cdef int measure_scored(Plan plan, GroupScratch* scratch, const Input* columns, int64_t first, const Labels* labels,
                        const Judgments* judgments, double* out) noexcept nogil:
    """The values of a group with scores; 0, 1 if there are ties, NOT_A_NUMBER or NO_MEMORY."""
    cdef int64_t i, n = labels.n, n_hits = -1, most = judgments.n_positive if plan.reads == RELEVANT else n
    cdef int64_t kept = n       # equal scores are kept or dropped together: a rank up to which documents are retrieved
    cdef Judgments judged = judgments[0]
    cdef bint missing, tied = False, is_single = columns.single or columns.scores.kind == FLOAT32
    cdef bint sorts = n <= UINT32_MAX and (n <= MAX_COUNTED_ROWS or most > n // MAX_ROWS_PER_HIT
                                           or labels.bytes == NULL)
    cdef int64_t entry = sizeof(Entry) if sorts else sizeof(double)
    cdef int32_t label
    cdef int64_t spare = min(n, <int64_t>PART_ENTRIES) if sorts else 0
    cdef double* scores = <double*>room_in(&scratch.scores, (n + spare) * entry)
    cdef float* singles = <float*>scores
    if scores == NULL:
        return NO_MEMORY
    if sorts:       # to the end of the room of n entries, so that entries can be made in place from its front
        scores += n
        singles += 3 * n
    if is_single:
        missing = read_scores(&columns.scores, first, n, singles)
    else:
        missing = read_scores(&columns.scores, first, n, scores)
    if missing:
        return NOT_A_NUMBER
    if columns.least > -INFINITY:
        kept = count_from(singles, n, columns.least) if is_single else count_from(scores, n, columns.least)
        judged.retrieved = judged.retrieved and kept == n
    if grow(&scratch.ranking.measured, plan, (n if plan.reads == ALL or plan.average else most) + 2 * TAIL_BYTES) < 0:
        return NO_MEMORY
    if is_single:
        n_hits = hits_by_rank(plan, &scratch.ranking.measured, &scratch.places, singles, labels, columns.ties,
                              judgments.n_positive, kept, &tied)
    else:
        n_hits = hits_by_rank(plan, &scratch.ranking.measured, &scratch.places, scores, labels, columns.ties,
                              judgments.n_positive, kept, &tied)
    if n_hits < 0 and sorts:
        n_hits = hits_by_sorting(plan, &scratch.ranking.measured, <Entry*>scratch.scores.start, is_single, labels,
                                 columns.ties, <Entry*>scratch.scores.start + n, kept, &tied)
    if n_hits >= 0:
        while n_hits > 0 and scratch.ranking.measured.ranks[n_hits - 1] > kept:
            n_hits -= 1
        measure(plan, &scratch.ranking.measured, n_hits, kept, &judged, out)
        return tied
    # a long group with few hits: counting the scores above these takes less than sorting all
    if reserve(&scratch.ranking, plan, n, most) < 0:
        return NO_MEMORY
    n_hits = 0
    if is_single:
        for i in range(n - 1, -1, -1):      # each float is written at or before its double
            scores[i] = singles[i]
    kept = 0
    for i in range(n):
        if scores[i] >= columns.least:
            scores[kept] = scores[i]
            label = label_at(labels, i)
            if is_hit(label, plan.reads):
                scratch.ranking.hits[n_hits] = Hit(scores[i], scratch.bytes + kept, kept, label_code(label))
                n_hits += 1
            kept += 1
    return rank_and_measure(plan, &scratch.ranking, scores, <const char*>scratch.bytes, 1, kept, n_hits, by_row,
                            columns.ties, judged, out)


cdef int read_group(const Input* columns, const Column* column, int64_t first, int64_t n, bint in_place, int8_t* bytes,
                    Buffer* wide, Buffer* values, Labels* labels, int64_t* fractions) noexcept nogil:
    """Read the labels of a group, whole ones or any; 0, BAD_LABEL or NO_MEMORY."""
    if columns.levels.levels == NULL:
        return read_labels(column, first, n, in_place, bytes, wide, labels)
    return classify_labels(column, first, n, &columns.levels, bytes, values, labels, fractions)


cdef int measure_ranked(Plan plan, GroupScratch* scratch, const Input* columns, const Labels* labels,
                        int64_t first_judged, int64_t m, Judgments* judgments, int64_t* negative,
                        int64_t* fractions, double* out) noexcept nogil:
    """The values of a group in rank order; 0, BAD_LABEL, LARGE_LABEL, CHANGED or NO_MEMORY."""
    cdef int64_t i, room = count_hits(labels) if are_few(plan, labels.n) else labels.n, n_hits
    cdef int outcome, beyond = 0
    cdef int32_t* hit_labels
    cdef int32_t* ideal
    cdef Labels judged
    if grow(&scratch.ranking.measured, plan, max(room, m) + 2 * TAIL_BYTES) < 0:
        return NO_MEMORY
    hit_labels = scratch.ranking.measured.labels
    n_hits = list_hits(labels, plan.reads, scratch.ranking.measured.ranks, hit_labels, room, negative, &beyond)
    if n_hits < 0:
        return CHANGED
    if not judgments.retrieved:
        if room_in(&scratch.ideal_bytes, m + TAIL_BYTES) == NULL:
            return NO_MEMORY
        fractions[0] = 0            # the judgments' labels count
        outcome = read_group(columns, &columns.ideal, first_judged, m, False, <int8_t*>scratch.ideal_bytes.start,
                             &scratch.ideal_wide, &scratch.ideal_values, &judged, fractions)
        if outcome == 0:
            outcome = count_labels(&judged, &scratch.ideal, judgments)
        if outcome == 0 and judged.values != NULL:
            outcome = put_best_first(plan, &judged, NULL, 0, &scratch.ideal, &scratch.positive, &scratch.best,
                                     judgments)
            scratch.ranking.measured.ideal_values = judged.values
        if outcome:
            return outcome
        for i in range(n_hits):     # of the ideal ranking the first label is looked at below
            if hit_labels[i] > columns.limit:
                return LARGE_LABEL
    elif plan.reads > RELEVANT:
        outcome = count_labels(labels, &scratch.ideal, judgments)
        if outcome == 0 and labels.values != NULL:
            outcome = put_best_first(plan, labels, NULL, 0, &scratch.ideal, &scratch.positive, &scratch.best, judgments)
        if outcome:
            return outcome
    else:
        # Of the group's own labels only those above 0 are read: the hits are all of them, and make the ideal ranking.
        judgments.labels = hit_labels
        if labels.values == NULL and labels.bytes != NULL and beyond and n_hits > labels.n // MIN_ROWS_PER_HIT:
            outcome = count_labels(labels, &scratch.ideal, judgments)
            if outcome == 0 and judgments.n_positive != n_hits:
                outcome = CHANGED
            if outcome:
                return outcome
        elif labels.values != NULL or beyond:
            ideal = <int32_t*>room_in(&scratch.ideal, (n_hits + RUN_LABELS) * sizeof(int32_t))
            if ideal == NULL:
                return NO_MEMORY
            memcpy(ideal, hit_labels, n_hits * sizeof(int32_t))
            sort_labels(ideal, n_hits)
            judgments.labels = ideal
        judgments.n_positive = judgments.n_judged = judgments.n_pool = n_hits
        if labels.values != NULL and put_best_first(plan, labels, scratch.ranking.measured.ranks, n_hits,
                                                    &scratch.ideal, &scratch.positive, &scratch.best, judgments):
            return NO_MEMORY
    if labels.values != NULL and plan.reads == RELEVANT:
        for i in range(n_hits):
            hit_labels[i] = label_at(labels, scratch.ranking.measured.ranks[i] - 1)
    if judgments.n_positive > 0 and judgments.labels[0] > columns.limit:
        return LARGE_LABEL
    measure(plan, &scratch.ranking.measured, n_hits, labels.n, judgments, out)
    return 0


cdef int measure_group(Plan plan, GroupScratch* scratch, const Input* columns, int64_t q, Tally* tally, double* out,
                       unsigned char* status) noexcept nogil:
    """A row of values; 0 or a problem."""
    cdef int64_t first = columns.offsets[q], n = columns.offsets[q + 1] - first, m = 0
    cdef Labels labels
    cdef Judgments judgments
    cdef bint is_ideal = columns.ideal.data == NULL
    cdef int64_t fractions = 0
    cdef int outcome
    if not is_ideal:
        m = columns.ideal_offsets[q + 1] - columns.ideal_offsets[q]
    if n >= scratch.room and not columns.in_place and room_for(scratch, n) < 0:
        return NO_MEMORY
    judgments.retrieved = is_ideal
    outcome = read_group(columns, &columns.labels, first, n, columns.in_place, scratch.bytes, &scratch.wide,
                         &scratch.values, &labels, &fractions)
    if outcome:
        return outcome
    scratch.ranking.measured.values = scratch.ranking.measured.ideal_values = labels.values
    if columns.scores.data == NULL:
        outcome = measure_ranked(plan, scratch, columns, &labels, 0 if is_ideal else columns.ideal_offsets[q], m,
                                 &judgments, &tally.negative, &fractions, out)
    else:
        outcome = count_labels(&labels, &scratch.ideal, &judgments)
        if outcome:
            return outcome
        if labels.values != NULL and put_best_first(plan, &labels, NULL, 0, &scratch.ideal, &scratch.positive,
                                                    &scratch.best, &judgments):
            return NO_MEMORY
        tally.negative += n - judgments.n_judged
        if judgments.n_positive > 0 and judgments.labels[0] > columns.limit:
            return LARGE_LABEL
        outcome = measure_scored(plan, scratch, columns, first, &labels, &judgments, out)
        if outcome == 1:
            tally.first_tied = q if tally.tied == 0 else tally.first_tied
            tally.tied += 1
            outcome = 0
    if outcome:
        return outcome      # `judgments` may be half made
    if fractions > 0:
        tally.first_fraction = q if tally.fractions == 0 else tally.first_fraction
        tally.fractions += fractions
    status[0] = NO_RELEVANT
    if judgments.n_positive > 0 and judgments.labels[0] >= columns.level:
        status[0] = EVALUATED
    return 0


# ---- all groups ------------------------------------------------------------------------------------------------------
cdef class Groups(Blocks):
    """Measures groups; a block has the groups that begin within BLOCK_BYTES bytes of the input.

    Parameters
    ----------
    plan : Plan
    labels : array of one of _labels.KINDS
    scores : float32 or float64 array beside labels, or None: the labels come in rank order
    offsets : int64 array of shape (n_groups + 1,), checked
    ideal, ideal_offsets : arrays like labels and offsets, or None: the labels are all judgments
    values, status : float64 array of shape (n_groups, n_slots), uint8 array of shape (n_groups,), filled
    level : int
    limit : int
        The largest label that the metrics take.
    ties : int
    single : bool
        Whether scores are compared as float32.
    levels : float64 array of shape (n_levels,), of one at least, or None
        None: labels are integers. Else any labels, for a Plan whose codes name rows (`measure._grades.Rows`): what it
        compares labels with, above 0 and rising. The labels of a group are fewer than 2^ROW_BITS.
    most : float
        The largest label that the metrics take then.
    least : float
        Documents with lower scores are not retrieved; they stay judgments.
    """

    cdef Plan plan
    cdef Input columns
    cdef Py_buffer buffers[7]       # a memoryview takes as long as a group of ten
    cdef int opened
    cdef int64_t n_groups, block_bytes, row_bytes, ideal_bytes, n_slots
    cdef const double[::1] levels
    cdef double* values
    cdef unsigned char* status
    cdef GroupScratch* scratches[MAX_THREADS]

    def __cinit__(self, Plan plan, labels, scores, offsets, ideal, ideal_offsets, values, status, int32_t level,
                  int64_t limit, int ties, bint single, levels=None, double most=0.0, double least=-INFINITY):
        cdef void* ends
        self.plan = plan
        self.columns.offsets = <const int64_t*>self.hold(offsets, "offsets", sizeof(int64_t), False)
        self.n_groups = self.buffers[0].shape[0] - 1
        self.values = <double*>self.hold(values, "values", sizeof(double), True)
        self.n_slots = self.buffers[1].shape[1] if self.buffers[1].ndim == 2 else 0
        self.status = <unsigned char*>self.hold(status, "status", 1, True)
        if self.buffers[1].shape[0] != self.n_groups or self.buffers[2].shape[0] != self.n_groups:
            raise ValueError("values and status must have a row for each group")
        self.row_bytes = self.open(&self.columns.labels, labels)
        if scores is not None:
            self.row_bytes += self.open(&self.columns.scores, scores)
        if ideal is not None:
            self.ideal_bytes = self.open(&self.columns.ideal, ideal)
            ends = self.hold(ideal_offsets, "ideal_offsets", sizeof(int64_t), False)
            self.columns.ideal_offsets = <const int64_t*>ends
        self.columns.level, self.columns.limit, self.columns.ties, self.columns.single = level, limit, ties, single
        self.columns.least = least
        if levels is not None:
            self.levels = levels
            self.columns.levels = Levels(&self.levels[0], <int>self.levels.shape[0], most)
        self.columns.in_place = (scores is None and levels is None and (plan.reads == RELEVANT or ideal is not None)
                                 and self.columns.labels.kind == INT8 and self.columns.labels.step == 1)
        self.block_bytes = 2 * BLOCK_BYTES if scores is None else BLOCK_BYTES
        self.n_blocks = block_count(self.bytes_before(self.n_groups), self.block_bytes)

    cdef void* hold(self, array, str name, Py_ssize_t size, bint writable) except NULL:
        """The entries of a contiguous array, which is held as long as this object."""
        cdef Py_buffer* buffer = &self.buffers[self.opened]
        PyObject_GetBuffer(array, buffer, PyBUF_C_CONTIGUOUS | (PyBUF_WRITABLE if writable else 0))
        self.opened += 1
        if buffer.itemsize != size:
            raise ValueError(f"{name} must have {size} bytes for each entry")
        return buffer.buf

    cdef int64_t open(self, Column* column, array) except -1:
        """Open a column; the bytes of an entry."""
        open_column(column, &self.buffers[self.opened], array)
        self.opened += 1
        return self.buffers[self.opened - 1].itemsize

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            if self.scratches[t] != NULL:
                discard(&self.scratches[t].ranking)
                free(self.scratches[t].places.rows)
                free(self.scratches[t].scores.start)
                free(self.scratches[t].wide.start)
                free(self.scratches[t].ideal.start)
                free(self.scratches[t].ideal_bytes.start)
                free(self.scratches[t].ideal_wide.start)
                free(self.scratches[t].values.start)
                free(self.scratches[t].ideal_values.start)
                free(self.scratches[t].positive.start)
                free(self.scratches[t].best.start)
                free(self.scratches[t])
        while self.opened > 0:
            self.opened -= 1
            PyBuffer_Release(&self.buffers[self.opened])

    cdef int64_t bytes_before(self, int64_t q) noexcept nogil:
        """The bytes of input that measure the work before group q."""
        cdef int64_t size = q * GROUP_BYTES + self.columns.offsets[q] * self.row_bytes
        return size if self.columns.ideal_offsets == NULL else size + self.columns.ideal_offsets[q] * self.ideal_bytes

    cdef int64_t first_of(self, int64_t block) noexcept nogil:
        """The first group that does not begin before a block."""
        cdef int64_t low = 0, high = self.n_groups, middle
        while low < high:
            middle = (low + high) // 2
            if self.bytes_before(middle) < block * self.block_bytes:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t q, start = self.first_of(block), stop = self.first_of(block + 1)
        cdef GroupScratch* scratch = self.scratches[thread]
        cdef fenv_t callers
        if scratch == NULL:
            scratch = self.scratches[thread] = <GroupScratch*>calloc(1, sizeof(GroupScratch))
            if scratch == NULL:
                return NO_MEMORY
        ordinary(&callers)
        for q in range(start, stop):
            scratch.problem = measure_group(self.plan, scratch, &self.columns, q, &scratch.tally,
                                            self.values + q * self.n_slots, self.status + q)
            if scratch.problem:
                scratch.at_fault = q
                break
        fesetenv(&callers)
        return scratch.problem

    def outcome(self):
        """The outcome of all blocks.

        Returns
        -------
        tuple
            (failed, labels below 0, groups with ties, the first of these, fractions among the judged labels, the first
            group with one); failed: labels or scores are not as the metrics need them, and not all rows were filled.
        """
        cdef int t, problem = NO_MEMORY if self.failed else 0
        cdef int64_t negative = 0, tied = 0, first_tied = -1, fractions = 0, first_fraction = 0
        cdef int64_t at_fault = self.n_groups
        cdef const GroupScratch* scratch
        for t in range(self.n_threads):
            scratch = self.scratches[t]
            if scratch == NULL:
                continue
            negative += scratch.tally.negative
            if scratch.tally.tied > 0:
                tied += scratch.tally.tied
                if first_tied < 0 or scratch.tally.first_tied < first_tied:
                    first_tied = scratch.tally.first_tied
            if scratch.tally.fractions > 0:
                if fractions == 0 or scratch.tally.first_fraction < first_fraction:
                    first_fraction = scratch.tally.first_fraction
                fractions += scratch.tally.fractions
            if scratch.problem and scratch.at_fault < at_fault:
                problem, at_fault = scratch.problem, scratch.at_fault
        if problem == NO_MEMORY:
            raise MemoryError
        return problem != 0, negative, tied, first_tied, fractions, first_fraction


# ---- real-valued labels ----------------------------------------------------------------------------------------------
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
    MAX_COMPARED_LABELS = 24    # labels that are all compared with each other
    KEPT_LABELS = 32            # of more than these the best are kept, and none is looked at that is not above them
    KEPT_ROOM = 64              # KEPT_LABELS + FASTIR_LANES


cdef int64_t keep_best(double* kept, int64_t* rows, int64_t n, int64_t top) noexcept nogil:
    """Put the best `top` of n labels first, best first, of equal ones the earlier first; how many there are then."""
    cdef int64_t i, rank
    cdef int64_t[KEPT_ROOM] ranks
    cdef double[KEPT_ROOM] labels
    cdef int64_t[KEPT_ROOM] places
    cdef int8_t[KEPT_ROOM] equal       # how many with so many above them have been placed
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

    rows has room for KEPT_ROOM, keys for n and as many as are read at once.
    """
    cdef int64_t i, start = 0, m = 0
    cdef int bound
    cdef uint32_t bits
    cdef double floor = 0.0         # what no label that is still looked for is below
    cdef double kept[KEPT_ROOM]
    if n <= MAX_COMPARED_LABELS:
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
        if m >= KEPT_LABELS:
            m = keep_best(kept, rows, m, top)
            floor = kept[top - 1]
        start += FASTIR_LANES
    keep_best(kept, rows, m, top)


cdef int64_t* find_best(const double* values, int64_t n, int64_t top, Buffer* spare) noexcept nogil:
    """The rows of the best `top` of n values, in scratch; NULL without memory."""
    cdef int64_t i
    cdef Entry* entries
    cdef int64_t* rows
    if top <= MAX_SELECTED_RANKS:
        rows = <int64_t*>room_in(spare, KEPT_ROOM * sizeof(int64_t) + (n + FASTIR_LANES) * sizeof(int16_t))
        if rows != NULL:
            select_labels(values, n, top, <int16_t*>(rows + KEPT_ROOM), rows)
        return rows
    entries = <Entry*>room_in(spare, (n + PART_ENTRIES) * sizeof(Entry))
    if entries == NULL:
        return NULL
    for i in range(n):
        entries[i] = Entry(falling_key(values[i]), <uint32_t>i, 0)
    sort_entries(entries, entries + n, n, 0, True)
    rows = <int64_t*>entries        # each is written at or before the entry from which it is read
    for i in range(top):
        rows[i] = entries[i].place
    return rows


cdef int put_best_first(Plan plan, const Labels* labels, const int64_t* ranks, int64_t n_hits, Buffer* ideal,
                        Buffer* positive, Buffer* spare, Judgments* judgments) noexcept nogil:
    """Make the codes of the ideal ranking in scratch, which has its classes; 0 or NO_MEMORY.

    ranks: NULL, or the ranks of all labels above 0, where the rows are in rank order.
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
