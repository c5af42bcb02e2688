"""Groups of rows without ids: their labels in rank order, or with scores to rank them by.

In: columns, whose numbers are checked while they are read; out: a row of values for each group.

    labels in rank order    the hits are found by _labels
    labels and scores       small cutoffs: the rows at the first ranks are selected; short groups with few rows with a
                            label above 0: their ranks are counted (_placed_hits); long groups with few of these: they
                            are ranked by _rank; all others: the rows are sorted (_sorted_rows)

A group's own labels are its judgments, unless others are given. Sums are sequential in rank order (_measure), threads
take blocks of groups (`engine.threads`), and nothing depends on which path was taken: tests compare them bit by bit.
"""

from cpython.buffer cimport PyBuffer_Release
from libc.stdint cimport UINT32_MAX, int8_t, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.measure._codes cimport (ALL, CHANGED, EVALUATED, LARGE_LABEL, NO_MEMORY, NO_RELEVANT, NOT_A_NUMBER,
                                           RELEVANT)
from fastir.engine.rank._label_values cimport put_best_first
from fastir.engine.rank._labels cimport (FLOAT32, INT8, TAIL, Buffer, Column, Labels, Levels, classify_labels,
                                         count_labels, label_at, list_hits, open_column, read_labels, room_in)
from fastir.engine.measure._measure cimport (RUN, Judgments, Plan, grow, is_hit, label_code, measure, sort_labels,
                                             with_spare)
from fastir.engine.rank._placed_hits cimport COUNTED, Places, hits_by_rank
from fastir.engine.rank._rank cimport Hit, Ranking, discard, rank_and_measure, reserve
from fastir.engine.rank._sorted_rows cimport PART, SHARE, Entry, hits_by_sorting
from fastir.engine.rank._top_ranks cimport real
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

cdef int64_t BLOCK = 1 << 16    # bytes of input in a block; twice as many of labels alone, which take half the time
cdef int64_t GROUP = 256        # bytes of input that take as long as the fixed work for a group

cdef enum:
    DENSE = 8                   # rows for a hit, from which on the hits' labels are counted among themselves
    COUNTED_HITS = 1 << 16      # rows of a group above which memory is asked for by hits

# For tests: rows of a group, and for one hit, at which the way to its hits changes.
WIDTHS = {"counted": COUNTED, "by hits": COUNTED_HITS, "rows for a hit": SHARE}


cdef struct Input:
    Column labels, scores, ideal
    const int64_t* offsets
    const int64_t* ideal_offsets
    int32_t level
    int64_t limit               # the largest label, or code of one, that the metrics take
    Levels levels
    int ties
    bint single                 # scores are compared as float32
    bint in_place               # labels are read where they are


cdef struct Tally:
    int64_t negative            # labels below 0
    int64_t tied, first_tied    # groups with ties
    int64_t fractions, first_fraction   # judged labels that are not whole, and the first group with one


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
    Buffer values, ideal_values, positive, best     # for labels that are not whole


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


cdef bint read_scores(const Column* column, int64_t first, int64_t n, real* out) noexcept nogil:
    if column.kind == FLOAT32:
        return copy_scores(<const float*>column.data + first * column.step, column.step, n, out)
    return copy_scores(<const double*>column.data + first * column.step, column.step, n, out)


# ---- one group -------------------------------------------------------------------------------------------------------

cdef int room_for(GroupScratch* scratch, int64_t n) noexcept nogil:
    """Make room for n rows; 0, or -1 without memory."""
    cdef int64_t few
    n = with_spare(n)
    few = n if n < COUNTED else COUNTED
    free(scratch.places.rows)
    scratch.places.rows = <int64_t*>malloc((few + TAIL) * (1 + 2 * sizeof(int64_t)) + n + TAIL)
    scratch.room = 0 if scratch.places.rows == NULL else n
    if scratch.places.rows == NULL:
        return -1
    scratch.places.stops = scratch.places.rows + few + TAIL
    scratch.places.ranked = <int8_t*>(scratch.places.stops + few + TAIL)
    scratch.bytes = scratch.places.ranked + few + TAIL
    return 0


cdef int by_row(const void* a, const void* b) noexcept nogil:
    """Of two addresses that stand for rows."""
    return (a > b) - (a < b)


cdef bint are_few(Plan plan, int64_t n) noexcept nogil:
    """Whether to make room for the hits of a group alone, which must be counted for that, and not for all its rows."""
    return n > COUNTED_HITS and plan.reads == RELEVANT


cdef int64_t count_hits(const Labels* labels) noexcept nogil:
    """How many labels are above 0."""
    cdef int64_t i, n = 0
    for i in range(labels.n):
        n += labels.bytes[i] > 0 if labels.bytes != NULL else labels.wide[i] > 0
    return n


cdef int measure_scored(Plan plan, GroupScratch* scratch, const Input* columns, int64_t first, const Labels* labels,
                        const Judgments* judgments, double* out) noexcept nogil:
    """The values of a group whose rows have scores; 0, 1 if there are ties, NOT_A_NUMBER or NO_MEMORY."""
    cdef int64_t i, n = labels.n, n_hits = -1, most = judgments.n_positive if plan.reads == RELEVANT else n
    cdef bint missing, tied = False, is_single = columns.single or columns.scores.kind == FLOAT32
    cdef bint sorts = n <= UINT32_MAX and (n <= COUNTED or most > n // SHARE or labels.bytes == NULL)
    cdef int64_t entry = sizeof(Entry) if sorts else sizeof(double)
    cdef int32_t label
    cdef double* scores = <double*>room_in(&scratch.scores, n * entry + (min(n, <int64_t>PART) * entry if sorts else 0))
    cdef float* singles = <float*>scores
    if scores == NULL:
        return NO_MEMORY
    if sorts:
        scores += n
        singles += 3 * n
    if is_single:
        missing = read_scores(&columns.scores, first, n, singles)
    else:
        missing = read_scores(&columns.scores, first, n, scores)
    if missing:
        return NOT_A_NUMBER
    if grow(&scratch.ranking.measured, plan, (n if plan.reads == ALL or plan.average else most) + 2 * TAIL) < 0:
        return NO_MEMORY
    if is_single:
        n_hits = hits_by_rank(plan, &scratch.ranking.measured, &scratch.places, singles, labels, columns.ties,
                              judgments.n_positive, &tied)
    else:
        n_hits = hits_by_rank(plan, &scratch.ranking.measured, &scratch.places, scores, labels, columns.ties,
                              judgments.n_positive, &tied)
    if n_hits < 0 and sorts:
        n_hits = hits_by_sorting(plan, &scratch.ranking.measured, <Entry*>scratch.scores.start, is_single, labels,
                                 columns.ties, <Entry*>scratch.scores.start + n, &tied)
    if n_hits >= 0:
        measure(plan, &scratch.ranking.measured, n_hits, n, judgments, out)
        return tied
    if reserve(&scratch.ranking, plan, n, most) < 0:
        return NO_MEMORY
    n_hits = 0
    if is_single:
        for i in range(n - 1, -1, -1):      # each float stands at or before the place of its double
            scores[i] = singles[i]
    for i in range(n):
        label = label_at(labels, i)
        if is_hit(label, plan.reads):
            scratch.ranking.hits[n_hits] = Hit(scores[i], scratch.bytes + i, i, label_code(label))
            n_hits += 1
    return rank_and_measure(plan, &scratch.ranking, scores, <const char*>scratch.bytes, 1, n, n_hits, by_row,
                            columns.ties, judgments[0], out)


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
    if grow(&scratch.ranking.measured, plan, max(room, m) + 2 * TAIL) < 0:
        return NO_MEMORY
    hit_labels = scratch.ranking.measured.labels
    n_hits = list_hits(labels, plan.reads, scratch.ranking.measured.ranks, hit_labels, room, negative, &beyond)
    if n_hits < 0:
        return CHANGED
    if not judgments.retrieved:
        if room_in(&scratch.ideal_bytes, m + TAIL) == NULL:
            return NO_MEMORY
        fractions[0] = 0            # those of the judgments count
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
        for i in range(n_hits):
            if hit_labels[i] > columns.limit:
                return LARGE_LABEL
    elif plan.reads > RELEVANT:
        outcome = count_labels(labels, &scratch.ideal, judgments)
        if outcome == 0 and labels.values != NULL:
            outcome = put_best_first(plan, labels, NULL, 0, &scratch.ideal, &scratch.positive, &scratch.best, judgments)
        if outcome:
            return outcome
    else:
        judgments.labels = hit_labels
        if labels.values == NULL and labels.bytes != NULL and beyond and n_hits > labels.n // DENSE:
            outcome = count_labels(labels, &scratch.ideal, judgments)
            if outcome == 0 and judgments.n_positive != n_hits:
                outcome = CHANGED
            if outcome:
                return outcome
        elif labels.values != NULL or beyond:
            ideal = <int32_t*>room_in(&scratch.ideal, (n_hits + RUN) * sizeof(int32_t))
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
    """Measures groups; a block has the groups that begin within BLOCK bytes of the input.

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
        None: labels are whole. Else any labels, for a Plan whose codes name rows (`measure._grades.Rows`): what it
        compares labels with, above 0 and rising. The labels of a group are fewer than 2^ROW_BITS.
    most : float
        The largest label that the metrics take then.
    """

    cdef Plan plan
    cdef Input columns
    cdef Py_buffer buffers[3]
    cdef int opened
    cdef int64_t n_groups, block_bytes, row_bytes, ideal_bytes
    cdef const int64_t[::1] offsets, ideal_offsets
    cdef const double[::1] levels
    cdef double[:, ::1] values
    cdef unsigned char[::1] status
    cdef GroupScratch* scratches[MAX_THREADS]

    def __cinit__(self, Plan plan, labels, scores, const int64_t[::1] offsets, ideal,
                  const int64_t[::1] ideal_offsets, double[:, ::1] values,
                  unsigned char[::1] status, int32_t level, int64_t limit, int ties, bint single, levels=None,
                  double most=0.0):
        self.plan, self.offsets, self.ideal_offsets = plan, offsets, ideal_offsets
        self.values, self.status = values, status
        self.row_bytes = self.open(&self.columns.labels, labels)
        if scores is not None:
            self.row_bytes += self.open(&self.columns.scores, scores)
        if ideal is not None:
            self.ideal_bytes = self.open(&self.columns.ideal, ideal)
            self.columns.ideal_offsets = &ideal_offsets[0]
        self.columns.offsets = &offsets[0]
        self.columns.level, self.columns.limit, self.columns.ties, self.columns.single = level, limit, ties, single
        if levels is not None:
            self.levels = levels
            self.columns.levels = Levels(&self.levels[0], <int>self.levels.shape[0], most)
        self.columns.in_place = (scores is None and levels is None and (plan.reads == RELEVANT or ideal is not None)
                                 and self.columns.labels.kind == INT8 and self.columns.labels.step == 1)
        self.n_groups = offsets.shape[0] - 1
        self.block_bytes = 2 * BLOCK if scores is None else BLOCK
        self.n_blocks = block_count(self.bytes_before(self.n_groups), self.block_bytes)

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
        """The bytes of input that stand for the work before group q."""
        cdef int64_t size = q * GROUP + self.columns.offsets[q] * self.row_bytes
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
            scratch.problem = measure_group(self.plan, scratch, &self.columns, q, &scratch.tally, &self.values[q, 0],
                                         &self.status[q])
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
