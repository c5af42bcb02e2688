"""For a few columns of a row, how many scores are above theirs: counted while the blocks of the row pass.

    row         .3  .9  .1  .7 | .2  .8  ...       each block is read once, and is then in the first-level cache
    hits             1       3                     their scores are known before the row is read
    excluded                 3                     counted alone, and taken out afterwards

    SELECT   for the first few of a ranking: scores are compared with a bound that as many scores reach as are read, and
             only those that reach it are counted; the best scores of several lanes give the first bound
    COUNT    deeper: all scores are compared with the scores of four hits at a time
    PLACE    the same for many hits: each score is placed among theirs

`!(score < level)` is true for NaN: it is counted in `reach` and found there, without a comparison of its own. Which
mode is best depends on the length of the row, the hits and the depth; the constants were measured (float32, AVX2) with
rows of 2 000 to 500 000 scores, 1 to 300 hits and depths of 10 to 1000: a score takes 0.15 ns to read, 0.05 more for
each hit that it is compared with, 14 to be placed among 300, and a score that is wanted 45.
"""

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset

from fastir.engine.measure._sort cimport falling_order, numbers_below, rising_order, scores_from
from fastir.engine.rank._simd cimport count_scores, fill_lanes, find_scores

cdef enum:
    FIND_COLUMNS = 4096         # columns that SELECT looks at together
    COUNT_COLUMNS = 2048        # columns that COUNT looks at together
    RETRIEVED_COLUMNS = 1 << 14 # columns that are looked at together for low scores
    MANY_REACHING = 64          # scores of a block that reach the bound, from which on a better one is looked for
    COLUMNS_PER_WANTED = 128    # for each wanted score, the columns among which that better one is looked for
    MAX_KEPT_SCORES = 512       # kept scores from which on they are counted, and a better bound is looked for
    MIN_LANES = 64
    MAX_WANTED = 1024           # scores that SELECT can want
    FREE_HITS = 3               # hits that are counted in the time that reading a row takes
    WANTED_COSTS = 1000         # a wanted score takes as long as counting one more hit in this many columns
    WANTED_OVERHEAD = 64        # SELECT takes as long to begin as this many wanted scores
    PLACED_HITS = 256           # with more hits than this, placing beats counting


cdef int open_scratch(RowScratch* scratch) noexcept nogil:
    """0, or -1 without memory."""
    scratch.lanes = <double*>malloc(4 * MAX_WANTED * sizeof(double))
    scratch.places = <int32_t*>malloc((FIND_COLUMNS + 1) * sizeof(int32_t))
    return -1 if scratch.lanes == NULL or scratch.places == NULL else 0


cdef void close_scratch(RowScratch* scratch) noexcept nogil:
    free(scratch.lanes)
    free(scratch.places)
    free(scratch.gathered)


cdef int reserve_row(Row* row, int64_t hits, int64_t excluded) noexcept nogil:
    """Make room for `hits` hits and `excluded` excluded columns; 0, or -1 without memory."""
    cdef int64_t m
    if hits >= row.capacity:
        free(row.columns)
        row.capacity = m = hits + hits // 2 + 16
        row.columns = <int64_t*>malloc(m * (6 * sizeof(int64_t) + 2 * sizeof(double) + sizeof(int32_t)))
        if row.columns == NULL:
            row.capacity = 0
            return -1
        row.above = row.columns + m
        row.reach = row.above + m
        row.before = row.reach + m
        row.higher = row.before + m
        row.alike = row.higher + m
        row.scores = <double*>(row.alike + m)
        row.levels = row.scores + m
        row.labels = <int32_t*>(row.levels + m)
    if excluded > row.sorted_capacity:
        free(row.sorted)
        row.sorted_capacity = m = excluded + excluded // 2 + 64
        row.sorted = <int64_t*>malloc(m * sizeof(int64_t))
        if row.sorted == NULL:
            row.sorted_capacity = 0
            return -1
    return 0


cdef void discard_row(Row* row) noexcept nogil:
    free(row.columns)
    free(row.sorted)
    free(row.kept)


cdef void exclude(Row* row, const int64_t* columns, int64_t n) noexcept nogil:
    """The excluded columns, each once, rising: the caller's own if they come so."""
    cdef int64_t i, kept = 0
    cdef bint rising = True
    row.excluded = columns
    row.n_excluded = n
    for i in range(1, n):
        rising &= columns[i - 1] < columns[i]
    if rising:
        return
    for i in range(n):
        row.sorted[i] = columns[i]
    qsort(row.sorted, n, sizeof(int64_t), rising_order)
    for i in range(n):
        if kept == 0 or row.sorted[kept - 1] != row.sorted[i]:
            row.sorted[kept] = row.sorted[i]
            kept += 1
    row.excluded = row.sorted
    row.n_excluded = kept


cdef bint is_excluded(const Row* row, int64_t column) noexcept nogil:
    cdef int64_t place = numbers_below(row.excluded, row.n_excluded, column)
    return place < row.n_excluded and row.excluded[place] == column


# ---- all scores -------------------------------------------------------------------------------------------
cdef void count_piece(Row* row, const char* scores, int64_t n, const int64_t* columns, int64_t first,
                      int64_t stop) noexcept nogil:
    """Compare scores, of these columns or of all columns from `first` on, with every hit's; the columns before `stop`
    have passed.
    """
    cdef int64_t i, above, reach, n_levels = row.n_hits if row.n_hits > 0 else 1
    if row.low > -INFINITY and row.mode == COUNT:
        n_levels = row.n_hits + 1
    while row.passed < row.n_hits and row.columns[row.passed] < stop:
        i = row.passed
        above = reach = 0
        count_scores(scores, row.single, row.columns[i] - first if columns == NULL else
                     numbers_below(columns, n, row.columns[i]), row.scores + i, 1, &above, &reach)
        row.before[i] = row.reach[i] - row.above[i] + reach - above
        row.passed += 1
    count_scores(scores, row.single, n, row.scores, n_levels, row.above, row.reach)


cdef bint count(Row* row, const char* scores, int64_t n, int64_t first, int32_t* places) noexcept nogil:
    """Count the scores of columns from `first` on; whether one is NaN."""
    cdef int64_t i, size, equal, seen, done = 0, width = 4 if row.single else 8
    cdef const char* block
    while done < n:
        size = COUNT_COLUMNS if n - done > COUNT_COLUMNS else n - done
        block = scores + done * width
        equal = row.reach[0] - row.above[0]
        seen = row.n_hits == 0 or not first + done <= row.columns[0] < first + done + size
        count_piece(row, block, size, NULL, first + done, first + done + size)
        if row.reach[0] - row.above[0] - equal + seen > 1:      # other scores are equal to the first hit's, or NaN
            equal = find_scores(block, row.single, size, INFINITY, places)
            for i in range(equal):
                if is_nan(score_at(block + places[i] * width, row.single)):
                    return True
        done += size
    return False


# ---- the best scores ---------------------------------------------------------------------------------------------
cdef double largest(double* a, int64_t n, int64_t k) noexcept nogil:
    """The k-th largest of n numbers, which are reordered."""
    cdef int64_t low = 0, high = n - 1, i, j
    cdef double pivot, t
    while low < high:
        pivot = a[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while a[i] > pivot:
                i += 1
            while a[j] < pivot:
                j -= 1
            if i <= j:
                t = a[i]
                a[i] = a[j]
                a[j] = t
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return a[k - 1]


cdef void raise_bound(Row* row, const char* scores, int64_t n, double* lanes) noexcept nogil:
    """Look for a higher bound that as many of these scores reach as are wanted.

    If the best scores of n lanes reach a bound, then at least n scores do; with enough lanes hardly more do.
    """
    cdef int64_t i, n_lanes = MIN_LANES
    cdef char* best = <char*>(lanes + 2 * MAX_WANTED)
    cdef double bound
    while n_lanes < 2 * row.wanted:
        n_lanes *= 2
    n_lanes = n_lanes if n_lanes < n else n
    if n_lanes < row.wanted:
        return
    fill_lanes(scores, row.single, n, best, n_lanes)
    for i in range(n_lanes):
        lanes[i] = score_at(best + i * (4 if row.single else 8), row.single)
    bound = largest(lanes, n_lanes, row.wanted)
    row.bound = bound if bound > row.bound else row.bound
    row.least = bound if bound > row.least else row.least


cdef bint select(Row* row, const char* scores, int64_t n, int64_t first, RowScratch* scratch) noexcept nogil:
    """Count the scores of columns from `first` on that may be among the best; whether one is NaN."""
    cdef int64_t i, n_found, done = 0, size, width = 4 if row.single else 8
    cdef double score
    cdef const char* block
    while done < n:
        size = FIND_COLUMNS if n - done > FIND_COLUMNS else n - done
        block = scores + done * width
        n_found = find_scores(block, row.single, size, row.least, scratch.places)
        if n_found > MANY_REACHING and 2 * n_found > row.wanted:
            i = COLUMNS_PER_WANTED * row.wanted if COLUMNS_PER_WANTED * row.wanted > size else size
            raise_bound(row, block, i if i < n - done else n - done, scratch.lanes)
            n_found = find_scores(block, row.single, size, row.least, scratch.places)
        if n_found > size // 4:
            count_kept(row, first + done)
            if count(row, block, size, first + done, scratch.places):
                return True
            done += size
            continue
        for i in range(n_found):
            score = score_at(block + scratch.places[i] * width, row.single)
            if is_nan(score):
                return True
            if row.single:
                (<float*>row.kept)[row.n_kept + i] = <float>score
            else:
                (<double*>row.kept)[row.n_kept + i] = score
            row.kept_columns[row.n_kept + i] = first + done + scratch.places[i]
        row.n_kept += n_found
        done += size
        if row.n_kept >= MAX_KEPT_SCORES and row.n_kept >= 4 * row.wanted:
            raise_bound(row, row.kept, row.n_kept, scratch.lanes)
            count_kept(row, first + done)
    return False


cdef void count_kept(Row* row, int64_t stop) noexcept nogil:
    count_piece(row, row.kept, row.n_kept, row.kept_columns, 0, stop)
    row.n_kept = 0


# ---- scores placed among the hits' scores ------------------------------------------------------------------------
cdef void set_levels(Row* row) noexcept nogil:
    cdef int64_t i
    for i in range(row.n_hits):
        row.levels[i] = row.scores[i]
    qsort(row.levels, row.n_hits, sizeof(double), falling_order)
    row.n_levels = 0
    for i in range(row.n_hits):
        if row.n_levels == 0 or row.levels[row.n_levels - 1] != row.levels[i]:
            row.levels[row.n_levels] = row.levels[i]
            row.n_levels += 1
    memset(row.higher, 0, (row.n_levels + 1) * sizeof(int64_t))
    memset(row.alike, 0, (row.n_levels + 1) * sizeof(int64_t))


cdef bint place(Row* row, const char* scores, int64_t n, int64_t first) noexcept nogil:
    """Place the scores of columns from `first` on among the hits'; whether one is NaN."""
    cdef int64_t i, j, width = 4 if row.single else 8
    cdef double score
    for i in range(n):
        score = score_at(scores + i * width, row.single)
        if is_nan(score):
            return True
        if row.next_excluded < row.n_excluded and row.excluded[row.next_excluded] == first + i:
            row.next_excluded += 1
            continue
        j = scores_from(row.levels, row.n_levels, score)
        row.higher[j] += 1
        if j > 0 and row.levels[j - 1] == score:
            if row.passed < row.n_hits and row.columns[row.passed] == first + i:
                row.before[row.passed] = row.alike[j - 1]
                row.passed += 1
            row.alike[j - 1] += 1
    return False


cdef void find_placed(Row* row) noexcept nogil:
    """From the levels to the counts of each hit."""
    cdef int64_t i, j
    for j in range(1, row.n_levels):
        row.higher[j] += row.higher[j - 1]
    for i in range(row.n_hits):
        j = scores_from(row.levels, row.n_levels, row.scores[i]) - 1
        row.above[i] = row.higher[j]
        row.reach[i] = row.higher[j] + row.alike[j]


# ---- rows --------------------------------------------------------------------------------------------------------
cdef int begin(Row* row, int64_t n_columns, int64_t depth) noexcept nogil:
    """Choose how to count, for ranks up to `depth`; the columns, their scores and the excluded ones are there. 0, or -1
    without memory.
    """
    cdef int64_t i
    row.wanted = depth + row.n_excluded if depth <= MAX_WANTED else MAX_WANTED + 1
    row.mode = PLACE if row.n_hits > PLACED_HITS else COUNT
    if (row.wanted <= MAX_WANTED
            and n_columns * (row.n_hits - FREE_HITS) > WANTED_COSTS * (row.wanted + WANTED_OVERHEAD)):
        row.mode = SELECT
        if row.kept == NULL:
            row.kept = <char*>malloc((4 * MAX_WANTED + FIND_COLUMNS) * (sizeof(double) + sizeof(int64_t)))
            if row.kept == NULL:
                return -1
            row.kept_columns = <int64_t*>(row.kept + (4 * MAX_WANTED + FIND_COLUMNS) * sizeof(double))
    row.passed = row.next_excluded = row.n_kept = row.n_retrieved = 0
    row.bound = -INFINITY
    if row.mode == PLACE:
        set_levels(row)
        return 0
    memset(row.above, 0, (row.n_hits + 1) * sizeof(int64_t))
    memset(row.reach, 0, (row.n_hits + 1) * sizeof(int64_t))
    if row.n_hits == 0:
        row.scores[0] = INFINITY        # a level for NaN to show
    if row.low > -INFINITY and row.mode == COUNT:
        row.scores[row.n_hits] = row.low
    row.least = row.scores[0]
    for i in range(1, row.n_hits):
        row.least = row.scores[i] if row.scores[i] < row.least else row.least
    return 0


cdef bint feed(Row* row, RowScratch* scratch, const char* scores, int64_t n, int64_t first) noexcept nogil:
    """Take the scores of n columns from `first` on, which lie in one piece; whether one is NaN."""
    cdef int64_t above = 0, done = 0, size
    if row.low == -INFINITY or row.mode == COUNT:
        return pass_on(row, scratch, scores, n, first)
    while done < n:
        size = RETRIEVED_COLUMNS if n - done > RETRIEVED_COLUMNS else n - done
        count_scores(scores, row.single, size, &row.low, 1, &above, &row.n_retrieved)
        if pass_on(row, scratch, scores, size, first + done):
            return True
        scores += size * (4 if row.single else 8)
        done += size
    return False


cdef bint pass_on(Row* row, RowScratch* scratch, const char* scores, int64_t n, int64_t first) noexcept nogil:
    """Hand scores to the row's mode; whether one is NaN."""
    if row.mode == SELECT:
        return select(row, scores, n, first, scratch)
    if row.mode == COUNT:
        return count(row, scores, n, first, scratch.places)
    return place(row, scores, n, first)


cdef int finish(Row* row, RowScratch* scratch, const char* start, int64_t stride) noexcept nogil:
    """Complete `above`, `reach` and `before`; 0, or -1 without memory.

    start + column * stride is the address of a score.
    """
    if row.mode == PLACE:
        find_placed(row)
        return 0
    if row.mode == COUNT:
        row.n_retrieved = row.reach[row.n_hits]
    if row.mode == SELECT:
        count_kept(row, INT64_MAX)
    if row.n_excluded > scratch.gathered_capacity:
        free(scratch.gathered)
        scratch.gathered_capacity = row.n_excluded + row.n_excluded // 2
        scratch.gathered = <char*>malloc(scratch.gathered_capacity * sizeof(double))
        if scratch.gathered == NULL:
            scratch.gathered_capacity = 0
            return -1
    discount_excluded(row, scratch, start, stride)
    return 0


cdef void discount_excluded(Row* row, RowScratch* scratch, const char* start, int64_t stride) noexcept nogil:
    """Take the excluded columns out of the counts."""
    cdef int64_t i, above, reach
    for i in range(row.n_excluded):
        if row.single:
            (<float*>scratch.gathered)[i] = (<const float*>(start + row.excluded[i] * stride))[0]
        else:
            (<double*>scratch.gathered)[i] = (<const double*>(start + row.excluded[i] * stride))[0]
    for i in range(row.n_hits):
        above = reach = 0
        count_scores(scratch.gathered, row.single, row.n_excluded, row.scores + i, 1, &above, &reach)
        row.above[i] -= above
        row.reach[i] -= reach
        if reach > above:
            above = reach = 0
            count_scores(scratch.gathered, row.single, numbers_below(row.excluded, row.n_excluded, row.columns[i]),
                         row.scores + i, 1, &above, &reach)
            row.before[i] -= reach - above
