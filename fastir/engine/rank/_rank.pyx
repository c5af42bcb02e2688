"""From the scores of one ranking to the ranks of the documents that count.

In: all scores in any order, ids behind pointers, and the hits: judged documents found in the ranking. Out: the hits'
ranks and labels in rank order, handed to _measure.measure from reused scratch.

The ranking itself is never sorted. A hit's rank is one plus the scores above its own:

    already descending (nearly every real run)   binary search
    else, few hits                               one branch-free count per hit
    else, many hits                              each score is placed among the hits' scores, then summed up

Ids are compared only if a hit is tied: the rows of that score are sorted by id once, then searched. Rules that go
by label sort the hits, and need no ids.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from fastir.engine.measure._codes cimport ALL, INPUT, OPTIMISTIC, PESSIMISTIC, REVERSED
from fastir.engine.measure._measure cimport POOL_LABEL, Judgments, Plan, grow, measure, release, with_spare
from fastir.engine.measure._sort cimport falling_order, scores_above, scores_from

cdef enum:
    COUNTED_LEVELS = 6      # distinct scores of hits up to which counting beats placing
    INSERTED_HITS = 24      # hits up to which they are put into order by insertion
    BYTE_BELOW = 0x80       # an int64 made of this byte is less than every label


cdef int reserve(Ranking* r, Plan plan, int64_t n, int64_t hits) noexcept nogil:
    """Make room for n rows and for `hits` hits; 0, or -1 without memory."""
    cdef int64_t m
    if n >= r.capacity:
        m = with_spare(n)
        free(r.rows)
        r.rows = <int64_t*>malloc(m * (3 * sizeof(int64_t) + 1))
        r.capacity = 0 if r.rows == NULL else m
        if r.rows == NULL:
            return -1
        r.places = r.rows + m
        r.spare = r.places + m
        r.sorted = <unsigned char*>(r.spare + m)
    if hits >= r.hit_capacity:
        m = with_spare(hits)
        free(r.hits)
        r.hits = <Hit*>malloc(m * (sizeof(Hit) + sizeof(double) + 3 * sizeof(int64_t)))
        r.hit_capacity = 0 if r.hits == NULL else m
        if r.hits == NULL:
            return -1
        r.levels = <double*>(r.hits + m)
        r.above = <int64_t*>(r.levels + m)
        r.alike = r.above + m
        if not plan.average:
            r.measured.lasts = r.alike + m
    return grow(&r.measured, plan, n if (plan.reads == ALL or plan.average) and n > hits else hits)


cdef void discard(Ranking* r) noexcept nogil:
    release(&r.measured)
    free(r.rows)
    free(r.hits)


cdef int64_t find_levels(Ranking* r, const double* scores, int64_t n, int64_t n_hits) noexcept nogil:
    """The hits' distinct scores, with how many scores are above and alike, for a ranking in any order."""
    cdef int64_t i, j, n_levels = 0, above, alike
    cdef double level
    for i in range(n_hits):
        r.levels[i] = r.hits[i].score
    qsort(r.levels, n_hits, sizeof(double), falling_order)
    for i in range(n_hits):
        if n_levels == 0 or r.levels[n_levels - 1] != r.levels[i]:
            r.levels[n_levels] = r.levels[i]
            n_levels += 1
    if n_levels <= COUNTED_LEVELS:
        for j in range(n_levels):
            level = r.levels[j]
            above = 0
            alike = 0
            for i in range(n):
                above += scores[i] > level
                alike += scores[i] == level
            r.above[j] = above
            r.alike[j] = alike
        return n_levels
    memset(r.above, 0, (n_levels + 1) * sizeof(int64_t))
    memset(r.alike, 0, (n_levels + 1) * sizeof(int64_t))
    for i in range(n):
        j = scores_from(r.levels, n_levels, scores[i])
        r.above[j] += 1
        if j > 0:
            r.alike[j - 1] += r.levels[j - 1] == scores[i]
    for j in range(1, n_levels):
        r.above[j] += r.above[j - 1]
    return n_levels


cdef void list_tied(Ranking* r, const double* scores, int64_t n, int64_t n_levels) noexcept nogil:
    """Write the rows of every tied level to the ranks that they share, in input order."""
    cdef int64_t i, j, rank
    for j in range(n_levels):
        r.spare[j] = r.above[j]
        if r.alike[j] > 1:
            r.sorted[r.above[j]] = UNSORTED
    for i in range(n):
        j = scores_from(r.levels, n_levels, scores[i]) - 1
        if j >= 0 and r.alike[j] > 1 and r.levels[j] == scores[i]:
            rank = r.spare[j]
            r.rows[rank] = i
            r.places[i] = rank
            r.spare[j] += 1


cdef void sort_by_id(Ranking* r, const char* items, int64_t stride, int64_t low, int64_t high,
                     compare_fn compare, int sign) noexcept nogil:
    """Merge sort of rows[low:high] by id; sign 1 puts the larger first."""
    cdef int64_t width = 1, n = high - low, start, middle, stop, i, j, k
    cdef int64_t* a = r.rows + low
    cdef int64_t* b = r.spare
    cdef int64_t* t
    while width < n:
        start = 0
        while start < n:
            middle = start + width if start + width < n else n
            stop = middle + width if middle + width < n else n
            i = start
            j = middle
            for k in range(start, stop):
                if i < middle and (j >= stop or sign * compare(items + a[i] * stride, items + a[j] * stride) >= 0):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
            start = stop
        t = a
        a = b
        b = t
        width *= 2
    if a != r.rows + low:
        memcpy(r.rows + low, a, n * sizeof(int64_t))


cdef int64_t tied_rank(Ranking* r, const char* items, int64_t stride, int64_t low, int64_t high, const void* item,
                       compare_fn compare, int ties) noexcept nogil:
    """The rank, from 0, of an id among the tied rows that share the ranks low to high."""
    cdef int64_t middle, first = low, last = high - 1
    cdef int sign = id_sign(ties)
    if r.sorted[first] == UNSORTED:
        sort_by_id(r, items, stride, low, high, compare, sign)
        r.sorted[first] = SORTED
    while low < high:
        middle = (low + high) // 2
        if sign * compare(items + r.rows[middle] * stride, item) > 0:
            low = middle + 1
        else:
            high = middle
    if ties < INPUT:
        return low
    return r.places[r.rows[low]] if ties == INPUT else first + last - r.places[r.rows[low]]


cdef void order_hits(Ranking* r, int64_t n, int64_t n_hits) noexcept nogil:
    """Put (rank, label) of the hits into rank order: by insertion, or through an array over the ranks."""
    cdef int64_t* ranks = r.measured.ranks
    cdef int32_t* labels = r.measured.labels
    cdef int64_t i, j, rank
    cdef int32_t label
    i = 1
    while i < n_hits and ranks[i - 1] < ranks[i]:
        i += 1
    if i >= n_hits:
        return
    if n_hits <= INSERTED_HITS:
        for i in range(1, n_hits):
            rank = ranks[i]
            label = labels[i]
            j = i
            while j > 0 and ranks[j - 1] > rank:
                ranks[j] = ranks[j - 1]
                labels[j] = labels[j - 1]
                j -= 1
            ranks[j] = rank
            labels[j] = label
        return
    memset(r.spare, BYTE_BELOW, n * sizeof(int64_t))
    for i in range(n_hits):
        r.spare[ranks[i] - 1] = labels[i]
    j = 0
    for i in range(n):
        if r.spare[i] >= POOL_LABEL:
            ranks[j] = i + 1
            labels[j] = <int32_t>r.spare[i]
            j += 1


cdef inline int by_label(const void* a, const void* b, int ties) noexcept nogil:
    """The order of two hits by score and, where that is equal, by label."""
    cdef const Hit* x = <const Hit*>a
    cdef const Hit* y = <const Hit*>b
    cdef int order = score_order(x.score, y.score)
    return order if order != 0 else label_order(x.label, y.label, ties)


cdef int best_first(const void* a, const void* b) noexcept nogil:
    return by_label(a, b, OPTIMISTIC)


cdef int worst_first(const void* a, const void* b) noexcept nogil:
    return by_label(a, b, PESSIMISTIC)


cdef void settle_by_label(Ranking* r, int64_t n_hits, int ties) noexcept nogil:
    """The ranks of ordered hits, from the first and last rank of their ties; for AVERAGE both stay."""
    cdef int64_t* ranks = r.measured.ranks
    cdef const int64_t* lasts = r.measured.lasts
    cdef int64_t i
    if ties == OPTIMISTIC:
        for i in range(1, n_hits):
            if lasts[i] == lasts[i - 1]:
                ranks[i] = ranks[i - 1] + 1
    elif ties == PESSIMISTIC:
        for i in range(n_hits - 1, -1, -1):
            ranks[i] = ranks[i + 1] - 1 if i + 1 < n_hits and lasts[i] == lasts[i + 1] else lasts[i]


cdef bint rank_and_measure(Plan plan, Ranking* r, const double* scores, const char* items, int64_t stride, int64_t n,
                           int64_t n_hits, compare_fn compare, int ties, Judgments judgments,
                           double* out) noexcept nogil:
    """Rank r.hits, measure, and say whether one of them was tied with another document.

    items + i * stride is where `compare` finds the id of row i; room was made by reserve().
    """
    cdef int64_t i, j, n_levels = 0, low, high, place = -1
    cdef bint falling = True, any_tied = False, by_id = ties <= REVERSED
    cdef double score
    if not by_id:       # by score and then label: hits come out in rank order, and need no order_hits()
        qsort(r.hits, n_hits, sizeof(Hit), worst_first if ties == PESSIMISTIC else best_first)
    if n_hits > 0:
        for i in range(1, n):
            falling &= scores[i - 1] >= scores[i]
    if plan.ties.judged != NULL:
        place = judgments.labels - plan.ties.judged
        if plan.ties.firsts != NULL and n_hits > 0:
            plan.ties.num_ret[place] = n
            plan.ties.n_hits[place] = n_hits
        if plan.ties.falls != NULL and n_hits > 0:
            plan.ties.falls[place] = falling
    if not falling:
        n_levels = find_levels(r, scores, n, n_hits)
        for j in range(n_levels):
            any_tied |= r.alike[j] > 1
        if any_tied and by_id:      # one pass over all scores lists the rows of all ties
            list_tied(r, scores, n, n_levels)
    for i in range(n_hits):
        score = r.hits[i].score
        if falling:     # a row is its rank, unless rows above have its score or the caller did not know the row
            low = r.hits[i].row
            if low < 0 or low > 0 and scores[low - 1] == score:
                low = scores_above(scores, n, score)
            high = low + 1
            if high < n and scores[high] == score:
                high = low + scores_from(scores + low, n - low, score)
                if by_id and not any_tied:      # at the first tie: most rankings have none
                    memset(r.sorted, NOT_LISTED, n)
                any_tied = True
                if by_id and r.sorted[low] == NOT_LISTED:
                    for j in range(low, high):
                        r.rows[j] = j
                        r.places[j] = j
                    r.sorted[low] = UNSORTED
        else:
            j = scores_from(r.levels, n_levels, score) - 1
            low = r.above[j]
            high = low + r.alike[j]
        r.measured.lasts[i] = high
        if plan.ties.firsts != NULL:
            plan.ties.firsts[place + i] = low + 1
            plan.ties.lasts[place + i] = high
            plan.ties.labels[place + i] = r.hits[i].label
        if high - low > 1 and by_id:
            low = tied_rank(r, items, stride, low, high, r.hits[i].item, compare, ties)
        r.measured.ranks[i] = low + 1
        r.measured.labels[i] = r.hits[i].label
    if by_id:
        order_hits(r, n, n_hits)
    else:
        settle_by_label(r, n_hits, ties)
    measure(plan, &r.measured, n_hits, n, &judgments, out)
    return any_tied
