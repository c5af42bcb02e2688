"""Ranks from the scores of one group of rows, none of them NaN; of equal scores the earlier row comes first.

select_best   the rows at the first k ranks (k <= MOST), for metrics with small cutoffs: no branch depends on a score

    scores     .  .  .  .  .  .  .  .  .  .      dealt out to lanes, of which each keeps its largest;
    lanes      x     x     x     x               at least k scores are not below the k-th largest of these,
    kept       .  .        .                     and in any order of rows hardly more than that (15 for k = 10)

rank_of       one row's rank, by counting: for groups of a few hundred rows quicker than any sort, and only the rows
              with a label above 0 need one

Measured with 118 rows: the selection takes 0.25 µs, a heap or an insertion with its branches 0.7.
"""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    FEW_LANES = 16      # for k <= 10
    LANES = 32
    FEW_RANKS = 10


cdef real kth_of_lanes(const real* scores, int64_t n, int64_t k, int64_t lanes) noexcept nogil:
    """A score that at least k of n >= lanes scores are not below."""
    cdef real best[LANES]
    cdef real found = 0.0
    cdef int64_t i = lanes, j, count
    cdef bint any_found = False
    for j in range(LANES):
        best[j] = scores[j if j < lanes else 0]
    while i + lanes <= n:
        for j in range(lanes):
            best[j] = scores[i + j] if scores[i + j] > best[j] else best[j]
        i += lanes
    for j in range(n - i):
        best[j] = scores[i + j] if scores[i + j] > best[j] else best[j]
    for i in range(lanes):
        count = 0
        for j in range(lanes):
            count += best[j] >= best[i]
        if count >= k and (not any_found or best[i] > found):
            found = best[i]
            any_found = True
    return found


cdef int64_t select_best(const real* scores, int64_t n, int64_t k, int64_t* rows, bint* tied) noexcept nogil:
    """Fill rows with the first k of n, and say whether one of them ties with another; how many, or -1.

    rows has room for n + 1. -1: too many scores are equal.
    """
    cdef int64_t i, j, m = 0
    cdef real bound
    cdef real found[CANDIDATES]
    cdef int32_t ranks[CANDIDATES]
    cdef int64_t order[CANDIDATES]
    cdef int32_t first
    if n <= LANES:
        m = n
        for i in range(n):
            rows[i] = i
    else:
        if k <= FEW_RANKS:
            bound = kth_of_lanes(scores, n, k, FEW_LANES)
        else:
            bound = kth_of_lanes(scores, n, k, LANES)
        for i in range(n):
            rows[m] = i
            m += scores[i] >= bound
        if m > CANDIDATES:
            return -1
    for i in range(m):
        found[i] = scores[rows[i]]
        ranks[i] = 0
        for j in range(i):
            first = found[j] >= found[i]
            ranks[i] += first
            ranks[j] += 1 - first
    for i in range(m):
        order[ranks[i]] = rows[i]
    k = k if k < m else m
    tied[0] = k < m and scores[order[k - 1]] == scores[order[k]]
    for i in range(k):
        rows[i] = order[i]
        tied[0] |= i > 0 and scores[order[i - 1]] == scores[order[i]]
    return k


cdef int64_t rank_of(const real* scores, int64_t n, int64_t row, bint* tied) noexcept nogil:
    """The rank of a row, from 1; tied becomes True where another has its score."""
    cdef real score = scores[row]
    cdef int64_t i, rank
    cdef int32_t above = 0, alike = 0       # of the width of a float, for the compiler's vectors
    cdef int64_t wide_above = 0, wide_alike = 0
    if real is float:
        for i in range(n):
            above += scores[i] > score
            alike += scores[i] == score
        wide_above = above
        wide_alike = alike
    else:
        for i in range(n):
            wide_above += scores[i] > score
            wide_alike += scores[i] == score
    rank = 1 + wide_above
    if wide_alike > 1:
        tied[0] = True
        for i in range(row):
            rank += scores[i] == score
    return rank
