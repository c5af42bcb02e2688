"""Rows of a score matrix evaluated where they lie: what counts is the rank of a few columns, so no row is sorted.

    row       .3  .9  .1  .7 | .2  .8  ...     read once, block by block, in the first-level cache
    relevant       1       3                   columns; their scores are looked up before the row is read
    excluded               3                   columns that do not take part

How the ranks are found depends on what the metrics read:

    SELECT   the first few of a ranking, ties in input order: the best so far are kept in a heap, and only scores that
             reach its last (or that of the lowest relevant item) are looked at; one comparison a score
    COUNT    deeper: each relevant item's score is compared with all scores, four at a time; exact ranks, at any depth
    PLACE    the same for many items: each score is placed among theirs

Excluded columns are taken out afterwards: of the heap when they come, of the counts by counting them alone. Rows that do
not lie in one piece are gathered, 16 at a time, in tiles that fit into the second-level cache. NaN reaches any level,
and so shows without a comparison of its own.
"""

from libc.math cimport INFINITY, NAN, nextafter
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset

from fastir._fenv cimport fenv_t, fesetenv, ordinary
from fastir._measure cimport ALL, Plan, grow, measure
from fastir._rank cimport (INPUT, PESSIMISTIC, Hit, Ranking, best_first, count_from, discard, falling_order, reserve,
                           settle_by_label, worst_first)
from fastir._relevant cimport EXCLUDED_OUTSIDE, NO_MEMORY, NOT_A_NUMBER, OUTSIDE, Item, Relevant, is_hit, take_items
from fastir._simd cimport count_scores, find_scores

cdef extern from "<math.h>" nogil:
    float nextafterf(float, float) noexcept

cdef enum:
    SELECT = 0
    COUNT = 1
    PLACE = 2
    BLOCK = 4096            # columns that are looked at together
    COUNTED = 2048          # the same where they are counted
    FIRST = 256             # the first block, which is small so that the heap gets a level soon
    TILE_ROWS = 16
    TILE_COLUMNS = 1024
    DEEPEST = 512           # depth up to which selecting beats counting
    SHARE = 16              # if the row is that many times as long
    MANY = 256              # relevant items from which on placing beats counting


cdef struct Entry:
    double score
    int64_t column


cdef struct Row:                # what is known of a row while its blocks pass
    const char* start
    int mode
    Relevant relevant
    int64_t n_ranked, n_found
    int64_t n_hits, capacity
    int64_t* columns            # of the hits, rising; one allocation with what follows
    int64_t* above              # beside columns: how many scores are higher
    int64_t* reach              # how many are not lower
    int64_t* before             # how many equal ones stand in columns before
    double* scores
    int32_t* labels
    double* levels              # PLACE: the hits' distinct scores, highest first
    int64_t* higher             # beside levels: how many scores are higher, but not than the level before
    int64_t* alike              # and how many are equal
    int64_t n_levels
    int64_t passed              # COUNT, PLACE: hits whose columns have passed
    const int64_t* excluded     # rising
    int64_t* sorted             # where they are sorted if they do not come so
    int64_t n_excluded, sorted_capacity
    int64_t next_excluded       # PLACE: the first that has not passed
    Entry* top                  # SELECT: a heap, the last of the ranking first
    int64_t n_top, top_capacity
    double least                # what a score must reach to be looked at
    double dropped              # the highest score that was left out although it reached that
    bint tied


cdef struct Part:               # scratch of a thread
    Row* rows
    Ranking ranking
    char* tile
    char* gathered              # the scores of a row's excluded columns
    int64_t gathered_capacity
    int32_t* places
    int64_t at_fault            # the row that could not be evaluated
    int64_t item


cdef inline double score_at(const char* p, bint single) noexcept nogil:
    return <double>(<const float*>p)[0] if single else (<const double*>p)[0]


cdef int64_t position(const int64_t* rising, int64_t n, int64_t column) noexcept nogil:
    """How many of the rising columns are before `column`."""
    cdef int64_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if rising[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


cdef int rising_order(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef int in_rank_order(const void* a, const void* b) noexcept nogil:
    """Hits by score, the highest first; where it is equal, by column."""
    cdef const Hit* x = <const Hit*>a
    cdef const Hit* y = <const Hit*>b
    cdef int by_score = (x.score < y.score) - (x.score > y.score)
    return by_score if by_score != 0 else (x.row > y.row) - (x.row < y.row)


cdef int entry_order(const void* a, const void* b) noexcept nogil:
    cdef const Entry* x = <const Entry*>a
    cdef const Entry* y = <const Entry*>b
    cdef int by_score = (x.score < y.score) - (x.score > y.score)
    return by_score if by_score != 0 else (x.column > y.column) - (x.column < y.column)


cdef int room_for(Row* row, int64_t hits, int64_t depth, int64_t excluded) noexcept nogil:
    """Room for so many hits, entries of the heap and excluded columns; 0, or NO_MEMORY."""
    cdef int64_t m
    if hits >= row.capacity:
        free(row.columns)
        row.capacity = m = hits + hits // 2 + 16
        row.columns = <int64_t*>malloc(m * (6 * sizeof(int64_t) + 2 * sizeof(double) + sizeof(int32_t)))
        if row.columns == NULL:
            row.capacity = 0
            return NO_MEMORY
        row.above = row.columns + m
        row.reach = row.above + m
        row.before = row.reach + m
        row.higher = row.before + m
        row.alike = row.higher + m
        row.scores = <double*>(row.alike + m)
        row.levels = row.scores + m
        row.labels = <int32_t*>(row.levels + m)
    if depth > row.top_capacity:
        free(row.top)
        row.top = <Entry*>malloc(depth * sizeof(Entry))
        row.top_capacity = 0 if row.top == NULL else depth
        if row.top == NULL:
            return NO_MEMORY
    if excluded > row.sorted_capacity:
        free(row.sorted)
        row.sorted_capacity = m = excluded + excluded // 2 + 64
        row.sorted = <int64_t*>malloc(m * sizeof(int64_t))
        if row.sorted == NULL:
            row.sorted_capacity = 0
            return NO_MEMORY
    return 0


cdef void set_excluded(Row* row, const int64_t* columns, int64_t n) noexcept nogil:
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


cdef inline bint is_excluded(const Row* row, int64_t column) noexcept nogil:
    cdef int64_t place = position(row.excluded, row.n_excluded, column)
    return place < row.n_excluded and row.excluded[place] == column


# ---- the best of a row -------------------------------------------------------------------------------------------


cdef inline bint is_behind(const Entry* a, const Entry* b) noexcept nogil:
    return a.score < b.score or (a.score == b.score and a.column > b.column)


cdef void keep(Row* row, double score, int64_t column, int64_t depth, bint single) noexcept nogil:
    """Put a score among the best so far, or leave it out; columns come rising."""
    cdef Entry* heap = row.top
    cdef Entry entry
    cdef int64_t i, child
    entry.score, entry.column = score, column
    if row.n_top < depth:
        i = row.n_top
        row.n_top += 1
        while i > 0 and is_behind(&entry, &heap[(i - 1) // 2]):
            heap[i] = heap[(i - 1) // 2]
            i = (i - 1) // 2
        heap[i] = entry
        if row.n_top < depth:
            return
    elif score > heap[0].score:
        row.dropped = heap[0].score
        i = 0
        while 2 * i + 1 < depth:
            child = 2 * i + 1
            if child + 1 < depth and is_behind(&heap[child + 1], &heap[child]):
                child += 1
            if not is_behind(&heap[child], &entry):
                break
            heap[i] = heap[child]
            i = child
        heap[i] = entry
    else:
        row.dropped = score
    row.least = heap[0].score
    if row.dropped == row.least:        # that it is tied is known: no need to look at more of them
        row.least = nextafterf(<float>row.least, INFINITY) if single else nextafter(row.least, INFINITY)


cdef int select(Row* row, const char* scores, bint single, int64_t n, int64_t first, int64_t depth,
                int32_t* places) noexcept nogil:
    """Take the scores of columns from `first` on; 0, or NOT_A_NUMBER."""
    cdef int64_t i, found, done = 0, size, width = 4 if single else 8
    cdef double score
    cdef const char* block
    while done < n:
        size = first + done if first + done > FIRST else FIRST
        size = size if size < BLOCK else BLOCK
        size = size if size < n - done else n - done
        block = scores + done * width
        found = find_scores(block, single, size, row.least, places)
        for i in range(found):
            score = score_at(block + places[i] * width, single)
            if score != score:
                return NOT_A_NUMBER
            if score >= row.least and not (row.n_excluded > 0 and is_excluded(row, first + done + places[i])):
                keep(row, score, first + done + places[i], depth, single)
        done += size
    return 0


cdef void find_selected(Row* row, Ranking* r, int64_t depth) noexcept nogil:
    """The hits' ranks; those that are not among the best stand behind them, in an order that nobody reads."""
    cdef Hit* hits = r.hits
    cdef int64_t i, j = 0, others = 0
    cdef Entry* top = row.top
    qsort(top, row.n_top, sizeof(Entry), entry_order)
    for i in range(row.n_hits):
        while j < row.n_top and (top[j].score > hits[i].score
                                 or (top[j].score == hits[i].score and top[j].column < hits[i].row)):
            j += 1
        if j < row.n_top and top[j].score == hits[i].score and top[j].column == hits[i].row:
            r.measured.ranks[i] = j + 1
            row.tied |= (j > 0 and top[j - 1].score == top[j].score
                         or j + 1 < row.n_top and top[j + 1].score == top[j].score)
        else:
            others += 1
            r.measured.ranks[i] = row.n_top + others
        row.tied |= row.n_top == depth and row.dropped == hits[i].score and top[depth - 1].score == hits[i].score


# ---- ranks by counting -------------------------------------------------------------------------------------------


cdef int count(Row* row, const char* scores, bint single, int64_t n, int64_t first, int32_t* places) noexcept nogil:
    """Compare the scores of columns from `first` on with every hit's; 0, or NOT_A_NUMBER."""
    cdef int64_t i, size, equal, seen, above, reach, done = 0, width = 4 if single else 8
    cdef int64_t n_levels = row.n_hits if row.n_hits > 0 else 1
    cdef const char* block
    while done < n:
        size = COUNTED if n - done > COUNTED else n - done
        block = scores + done * width
        equal = row.reach[0] - row.above[0]
        seen = row.n_hits == 0 or not first + done <= row.columns[0] < first + done + size
        while row.passed < row.n_hits and row.columns[row.passed] < first + done + size:
            i = row.passed
            above = reach = 0
            count_scores(block, single, row.columns[i] - first - done, row.scores + i, 1, &above, &reach)
            row.before[i] = row.reach[i] - row.above[i] + reach - above
            row.passed += 1
        count_scores(block, single, size, row.scores, n_levels, row.above, row.reach)
        if row.reach[0] - row.above[0] - equal + seen > 1:      # other scores are equal to the first hit's, or NaN
            equal = find_scores(block, single, size, INFINITY, places)
            for i in range(equal):
                if score_at(block + places[i] * width, single) != score_at(block + places[i] * width, single):
                    return NOT_A_NUMBER
        done += size
    return 0


cdef void discount_excluded(Row* row, Part* part, int64_t stride, bint single) noexcept nogil:
    """Take the excluded columns out of the counts; `above` and `reach` of SELECT's rows do not exist."""
    cdef int64_t i, above, reach, width = 4 if single else 8
    for i in range(row.n_excluded):
        if single:
            (<float*>part.gathered)[i] = (<const float*>(row.start + row.excluded[i] * stride))[0]
        else:
            (<double*>part.gathered)[i] = (<const double*>(row.start + row.excluded[i] * stride))[0]
    for i in range(row.n_hits):
        above = reach = 0
        count_scores(part.gathered, single, row.n_excluded, row.scores + i, 1, &above, &reach)
        row.above[i] -= above
        row.reach[i] -= reach
        if reach > above:
            above = reach = 0
            count_scores(part.gathered, single, position(row.excluded, row.n_excluded, row.columns[i]),
                         row.scores + i, 1, &above, &reach)
            row.before[i] -= reach - above


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


cdef int place(Row* row, const char* scores, bint single, int64_t n, int64_t first) noexcept nogil:
    """Place the scores of columns from `first` on among the hits'; 0, or NOT_A_NUMBER."""
    cdef int64_t i, j, width = 4 if single else 8
    cdef double score
    for i in range(n):
        score = score_at(scores + i * width, single)
        if score != score:
            return NOT_A_NUMBER
        if row.next_excluded < row.n_excluded and row.excluded[row.next_excluded] == first + i:
            row.next_excluded += 1
            continue
        j = count_from(row.levels, row.n_levels, score)
        row.higher[j] += 1
        if j > 0 and row.levels[j - 1] == score:
            if row.passed < row.n_hits and row.columns[row.passed] == first + i:
                row.before[row.passed] = row.alike[j - 1]
                row.passed += 1
            row.alike[j - 1] += 1
    return 0


cdef void find_placed(Row* row) noexcept nogil:
    """From the levels to the counts of each hit."""
    cdef int64_t i, j
    for j in range(1, row.n_levels):
        row.higher[j] += row.higher[j - 1]
    for i in range(row.n_hits):
        j = count_from(row.levels, row.n_levels, row.scores[i]) - 1
        row.above[i] = row.higher[j]
        row.reach[i] = row.higher[j] + row.alike[j]


cdef void find_counted(Row* row, Ranking* r, int64_t depth, int ties) noexcept nogil:
    """The hits' ranks from the counts; a tie that begins within `depth` may have decided something."""
    cdef int64_t i, j
    for i in range(row.n_hits):
        j = r.hits[i].row
        r.measured.ranks[i] = row.above[j] + 1 + (row.before[j] if ties == INPUT else 0)
        r.measured.lasts[i] = row.reach[j]
        row.tied |= row.above[j] < depth and row.reach[j] - row.above[j] > 1
    if ties != INPUT:
        settle_by_label(r, row.n_hits, ties)


# ---- rows --------------------------------------------------------------------------------------------------------


cdef class Matrix:
    """Evaluates rows of a score matrix; everything but the scores and the items is validated before.

    Parameters
    ----------
    plan : Plan
    n_columns : int
    single : bool
        Whether scores are float32; otherwise they are float64.
    ties : int
        As in _rank.pxd, from INPUT on.
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
            self.parts[t].rows = <Row*>calloc(TILE_ROWS, sizeof(Row))
            self.parts[t].tile = <char*>malloc(TILE_ROWS * TILE_COLUMNS * 8)
            self.parts[t].places = <int32_t*>malloc((BLOCK + 1) * sizeof(int32_t))
            if self.parts[t].rows == NULL or self.parts[t].tile == NULL or self.parts[t].places == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t, i
        if self.parts != NULL:
            for t in range(self.n_threads):
                if self.parts[t].rows != NULL:
                    for i in range(TILE_ROWS):
                        free(self.parts[t].rows[i].relevant.items)
                        free(self.parts[t].rows[i].columns)
                        free(self.parts[t].rows[i].sorted)
                        free(self.parts[t].rows[i].top)
                free(self.parts[t].rows)
                free(self.parts[t].tile)
                free(self.parts[t].gathered)
                free(self.parts[t].places)
                discard(&self.parts[t].ranking)
        free(self.parts)

    cdef int begin(self, Part* part, Row* row, int64_t first, int64_t stop, int64_t excluded_first,
                   int64_t excluded_stop, int64_t stride) noexcept nogil:
        """Look up the hits of a row; 0, or what is wrong."""
        cdef int64_t i, n = stop - first, n_excluded = excluded_stop - excluded_first
        cdef const Item* items
        cdef int failed = take_items(&row.relevant, &self.items[first] if n > 0 else NULL,
                                     &self.labels[first] if self.has_labels and n > 0 else NULL, n)
        if failed:
            part.item = row.relevant.at_fault
            return failed
        if room_for(row, n + 1, self.depth if self.depth <= DEEPEST else 0, n_excluded):
            return NO_MEMORY
        set_excluded(row, &self.excluded[excluded_first] if n_excluded > 0 else NULL, n_excluded)
        items = row.relevant.items
        if n > 0 and (items[0].number < 0 or items[n - 1].number >= self.n_columns):
            part.item = items[0].number if items[0].number < 0 else items[n - 1].number
            return OUTSIDE
        if row.n_excluded > 0:
            i = row.excluded[0] if row.excluded[0] < 0 else row.excluded[row.n_excluded - 1]
            if not 0 <= i < self.n_columns:
                part.item = i
                return EXCLUDED_OUTSIDE
        row.n_ranked = self.n_columns - row.n_excluded
        row.n_found = row.n_hits = 0
        for i in range(n):
            if row.n_excluded > 0 and is_excluded(row, items[i].number):
                continue
            row.n_found += 1
            if is_hit(items[i].label, self.plan.reads):
                row.columns[row.n_hits] = items[i].number
                row.labels[row.n_hits] = items[i].label
                row.scores[row.n_hits] = score_at(row.start + items[i].number * stride, self.single)
                if row.scores[row.n_hits] != row.scores[row.n_hits]:
                    return NOT_A_NUMBER
                row.n_hits += 1
        self.prepare(row)
        return 0

    cdef void prepare(self, Row* row) noexcept nogil:
        """Choose how the ranks are found, and begin."""
        cdef int64_t i
        row.passed = row.next_excluded = row.n_top = 0
        row.dropped = NAN
        row.tied = False
        if self.ties == INPUT and self.depth <= DEEPEST and self.depth * SHARE <= self.n_columns:
            row.mode = SELECT
            row.least = INFINITY
            for i in range(row.n_hits):
                row.least = row.scores[i] if row.scores[i] < row.least else row.least
            return
        row.mode = COUNT if row.n_hits <= MANY else PLACE
        if row.mode == PLACE:
            set_levels(row)
            return
        if row.n_hits == 0:
            row.scores[0] = INFINITY    # for NaN to show
        memset(row.above, 0, (row.n_hits + 1) * sizeof(int64_t))
        memset(row.reach, 0, (row.n_hits + 1) * sizeof(int64_t))

    cdef int feed(self, Part* part, Row* row, const char* scores, int64_t n, int64_t first) noexcept nogil:
        """Take the scores of n columns from `first` on, which lie in one piece; 0, or NOT_A_NUMBER."""
        if row.mode == SELECT:
            return select(row, scores, self.single, n, first, self.depth, part.places)
        if row.mode == COUNT:
            return count(row, scores, self.single, n, first, part.places)
        return place(row, scores, self.single, n, first)

    cdef int finish(self, Part* part, Row* row, int64_t stride, double* out) noexcept nogil:
        """Fill the values of a row; 0, or NO_MEMORY."""
        cdef Ranking* r = &part.ranking
        cdef int64_t i, m = row.relevant.n
        if reserve(r, self.plan, 0, m) < 0:
            return NO_MEMORY
        if (self.plan.reads == ALL or self.plan.average) and grow(&r.measured, self.plan, row.n_ranked) < 0:
            return NO_MEMORY
        for i in range(row.n_hits):
            r.hits[i].score = row.scores[i]
            r.hits[i].row = row.columns[i] if row.mode == SELECT else i
            r.hits[i].label = row.labels[i]
        qsort(r.hits, row.n_hits, sizeof(Hit), in_rank_order if self.ties == INPUT else worst_first
              if self.ties == PESSIMISTIC else best_first)
        for i in range(row.n_hits):
            r.measured.labels[i] = r.hits[i].label
        if row.mode == SELECT:
            find_selected(row, r, self.depth)
        else:
            if row.mode == PLACE:
                find_placed(row)
            elif row.n_excluded > 0:
                if row.n_excluded > part.gathered_capacity:
                    free(part.gathered)
                    part.gathered_capacity = row.n_excluded + row.n_excluded // 2
                    part.gathered = <char*>malloc(part.gathered_capacity * sizeof(double))
                    if part.gathered == NULL:
                        part.gathered_capacity = 0
                        return NO_MEMORY
                discount_excluded(row, part, stride, self.single)
            find_counted(row, r, self.depth, self.ties)
        measure(self.plan, &r.measured, row.n_hits, row.n_ranked, row.relevant.known, out)
        return 0

    cdef int stream(self, Part* part, int64_t n, int64_t stride, int64_t down) noexcept nogil:
        """Feed the scores of n rows; 0, or what is wrong with row part.at_fault of them."""
        cdef int64_t i, first = 0, size, width = 4 if self.single else 8
        cdef int failed = 0
        if n == 1 and stride == width:
            part.at_fault = 0
            return self.feed(part, part.rows, part.rows[0].start, self.n_columns, 0)
        while first < self.n_columns and not failed:
            size = TILE_COLUMNS if self.n_columns - first > TILE_COLUMNS else self.n_columns - first
            if self.single:
                gather_f32(<float*>part.tile, part.rows[0].start + first * stride, n, size, stride, down)
            else:
                gather_f64(<double*>part.tile, part.rows[0].start + first * stride, n, size, stride, down)
            for i in range(n):
                failed = self.feed(part, part.rows + i, part.tile + i * TILE_COLUMNS * width, size, first)
                if failed:
                    part.at_fault = i
                    break
            first += size
        return failed

    cdef int evaluate(self, Part* part, const char* scores, int64_t stride, int64_t down, int64_t n,
                      const int64_t* offsets, const int64_t* excluded, double* values, unsigned char* status,
                      int64_t* counts, int32_t level) noexcept nogil:
        """Fill the values of n rows, `down` bytes apart; 0, or what is wrong with row part.at_fault."""
        cdef int64_t first = 0, q, size, step = 1 if stride == (4 if self.single else 8) else TILE_ROWS
        cdef int failed = 0
        cdef Row* row
        while first < n:
            size = step if n - first > step else n - first
            for q in range(first, first + size):
                row = part.rows + q - first
                row.start = scores + q * down
                part.at_fault = q
                failed = self.begin(part, row, offsets[q], offsets[q + 1], excluded[q], excluded[q + 1], stride)
                if failed:
                    return failed
            failed = self.stream(part, size, stride, down)
            if failed:
                part.at_fault += first
                return failed
            for q in range(first, first + size):
                row = part.rows + q - first
                if self.finish(part, row, stride, values + q * self.plan.n_slots):
                    return NO_MEMORY
                status[q] = 0 if row.relevant.known.n_positive > 0 and row.relevant.known.labels[0] >= level else 2
                counts[3 * q] = row.n_ranked
                counts[3 * q + 1] = row.n_found
                counts[3 * q + 2] = row.tied
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
        status : uint8 array of shape (n,), filled: 2 where no item has a label of at least `level`
        counts : int64 array of shape (n, 3), filled
            How many columns were ranked, how many of them are items, and whether a tie may have decided a value.

        Returns
        -------
        None, or (what is wrong, as in _relevant.pxd, row, item)
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


cdef void gather_f32(float* tile, const char* start, int64_t rows, int64_t columns, int64_t stride,
                     int64_t down) noexcept nogil:
    """Copy rows that do not lie in one piece to the rows of a tile."""
    cdef int64_t i, j
    for j in range(columns):
        for i in range(rows):
            tile[i * TILE_COLUMNS + j] = (<const float*>(start + i * down + j * stride))[0]


cdef void gather_f64(double* tile, const char* start, int64_t rows, int64_t columns, int64_t stride,
                     int64_t down) noexcept nogil:
    cdef int64_t i, j
    for j in range(columns):
        for i in range(rows):
            tile[i * TILE_COLUMNS + j] = (<const double*>(start + i * down + j * stride))[0]


cdef int64_t depth_of(Plan plan) noexcept:
    """How far down a ranking the plan's metrics read."""
    cdef int64_t v, deepest = 1
    cdef bint retrieved = False
    for v in range(plan.n_views):
        if plan.views[v].n_cutoffs > 0 and plan.views[v].cutoffs[plan.views[v].n_cutoffs - 1] > deepest:
            deepest = plan.views[v].cutoffs[plan.views[v].n_cutoffs - 1]
        retrieved |= plan.views[v].ideal_retrieved != 0
    if plan.judged_only or (retrieved and plan.max_depth < INT64_MAX) or plan.max_depth < deepest:
        return plan.max_depth
    return deepest
