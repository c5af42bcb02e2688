"""The ranks of a group's hits, found without sorting it, for every tie rule except those that need ids.

    select    if only the first ranks are read: the rows there, and the rows that tie with the last
    count     up to MAX_COUNTED_ROWS rows with up to MAX_COUNTED_HITS hits: for the score of each hit, how many scores
              are above it and how many are not below it

Hits are laid out by rank, one byte for each row of the group. Among equal scores the earlier row is first, and the rows
before it are counted once more; if labels decide, the hits of a tie become neighbours, and are put into order among
themselves. So the time for a row is bounded, whatever the scores are: a quarter of a nanosecond for
each hit that it is compared with.

Measured, a whole call without counting, which leaves its groups to _sorted_rows: five metrics of groups of 118 take 3.9
times as long (3.5 for expected values), of 1000 documents 6.6 times if 2 in 100 are relevant, 2.9 times if 10 are.

select_best() finds the rows at the first ranks of a group; no score is NaN, and among equal scores the earlier row is
first. No branch depends on a score, so nothing is mispredicted:

    scores     .  .  .  .  .  .  .  .  .  .      dealt out to lanes, of which each keeps its largest;
    lanes      x     x     x     x               at least k scores are not below the k-th largest of these,
    kept       .  .        .                     and in any order of rows hardly more than that (15 for k = 10)

The ranks of the kept rows are counted, all against all. Measured with 118 rows and k = 10: 0.15 µs; a heap or an
insertion with its branches takes 0.7. Without it, by counting, nDCG@10 of groups of 118 takes 1.7 times
as long (2.0 in double precision), nDCG@20 1.2 times; by sorting 7.4 and 5.3 times.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from fastir.engine.measure._codes cimport INPUT, PESSIMISTIC, RELEVANT, REVERSED
from fastir.engine.measure._measure cimport is_hit, label_code
from fastir.engine.rank._labels cimport label_at, list_hits
from fastir.engine.rank._rank cimport label_order
from fastir.engine.rank._simd cimport count_scores, fill_lanes, find_scores

cdef enum:
    MAX_COUNTED_HITS = 192  # counted for each row; of more, sorting is faster
    MAX_CANDIDATES = 128    # rows that a selection may end with
    LANES = 32
    NARROW_LANES = 16       # enough for NARROW_RANKS
    NARROW_RANKS = 10
    SCANNED_SCORES = 2048   # scores that are looked through at a time
    COMPARED_SCORES = 16    # kept scores that are compared at once


cdef void settle_tie(Plan plan, Scratch* measured, int64_t first, int64_t n_hits, int64_t start, int64_t stop,
                     int ties) noexcept nogil:
    """Order the hits from `first` on by label, which share the ranks from `start` + 1 to `stop` with other rows."""
    cdef int64_t i, place
    cdef int32_t label
    cdef int32_t* labels = measured.labels
    for i in range(first, n_hits):
        label = labels[i]
        place = i
        while place > first and label_order(label, labels[place - 1], ties) < 0:
            labels[place] = labels[place - 1]
            place -= 1
        labels[place] = label
    for i in range(first, n_hits):
        measured.ranks[i] = (start if plan.average else stop - n_hits + i if ties == PESSIMISTIC
                             else start + i - first) + 1
        if plan.average:
            measured.lasts[i] = stop


cdef int64_t hits_by_counting(Plan plan, Scratch* measured, const Places* places, const real* scores,
                              const Labels* labels, int64_t n_hits, int ties, int64_t kept, bint* tied) noexcept nogil:
    """Put the rows that places.rows lists into rank order; how many."""
    cdef int64_t i, row, rank, first, before, upto, none = 0
    cdef int64_t above[MAX_COUNTED_HITS]
    cdef int64_t reach[MAX_COUNTED_HITS]
    cdef double levels[MAX_COUNTED_HITS]
    cdef int beyond = 0
    cdef Labels ranked = Labels(places.ranked, NULL, labels.n, True, NULL)
    if n_hits == 0:
        return 0
    memset(places.ranked, 0, labels.n)
    for i in range(n_hits):
        levels[i] = scores[places.rows[i]]
        above[i] = reach[i] = 0
    count_scores(scores, real is float, labels.n, levels, n_hits, above, reach)
    for i in range(n_hits):
        row = places.rows[i]
        rank = above[i]
        if ties != INPUT:
            places.stops[rank] = reach[i]
        if reach[i] - rank > 1:
            tied[0] |= rank < kept
            before = upto = 0
            if ties == INPUT:       # the earlier rows of this score alone: what of the first `row` is equal to it
                count_scores(scores, real is float, row, &levels[i], 1, &before, &upto)
                rank += upto - before
            else:                   # any free rank of the tie: settle_tie() orders its hits
                while places.ranked[rank]:
                    rank += 1
        places.ranked[rank] = labels.bytes[row]
        if ties == INPUT:
            places.stops[rank] = row
    n_hits = list_hits(&ranked, RELEVANT, measured.ranks, measured.labels, n_hits, &none, &beyond)
    if ties == INPUT:
        if labels.values != NULL:
            for i in range(n_hits):
                measured.labels[i] = label_at(labels, places.stops[measured.ranks[i] - 1])
        return n_hits
    first = 0
    while first < n_hits:
        rank = measured.ranks[first] - 1
        i = first
        while i < n_hits and measured.ranks[i] <= places.stops[rank]:
            i += 1
        settle_tie(plan, measured, first, i, rank, places.stops[rank], ties)
        first = i
    return n_hits


cdef int64_t hits_of_selected(Plan plan, Scratch* measured, const real* scores, const Labels* labels,
                              const int64_t* rows, int64_t n_rows, int ties, bint* tied) noexcept nogil:
    """The hits among the rows at the first ranks; how many. Where labels decide ties, the last tie is there whole."""
    cdef int64_t first, start = 0, stop, n_hits = 0
    cdef int32_t label
    tied[0] &= ties == INPUT
    while start < n_rows:
        first = n_hits
        stop = start
        while stop < n_rows and (stop == start or ties != INPUT and scores[rows[stop]] == scores[rows[start]]):
            label = label_at(labels, rows[stop])
            if is_hit(label, plan.reads):
                measured.ranks[n_hits] = stop + 1
                measured.labels[n_hits] = label_code(label)
                n_hits += 1
            stop += 1
        if ties != INPUT:
            settle_tie(plan, measured, first, n_hits, start, stop, ties)
            tied[0] |= n_hits > first and stop - start > 1
        start = stop
    return n_hits


cdef int64_t hits_by_rank(Plan plan, Scratch* measured, const Places* places, const real* scores, const Labels* labels,
                          int ties, int64_t n_positive, int64_t kept, bint* tied) noexcept nogil:
    """Find the hits in rank order in the quick ways, those to rank `kept` at least; how many, or -1 where these are not
    possible. `kept` divides no tie.
    """
    cdef int64_t row, k, n_hits = 0, depth = plan.deepest if plan.deepest < plan.max_depth else plan.max_depth
    if kept == 0:
        return 0
    if plan.judged_only or ties == REVERSED:
        return -1
    depth = min(depth, kept)
    if depth <= MAX_SELECTED_RANKS:
        k = select_best(scores, labels.n, depth, places.rows, ties != INPUT, tied)
        if k >= 0:
            return hits_of_selected(plan, measured, scores, labels, places.rows, k, ties, tied)
    if plan.reads > RELEVANT or labels.bytes == NULL or labels.n > MAX_COUNTED_ROWS or n_positive > MAX_COUNTED_HITS:
        return -1
    for row in range(labels.n):
        places.rows[n_hits] = row
        n_hits += labels.bytes[row] > 0
    return hits_by_counting(plan, measured, places, scores, labels, n_hits, ties, kept, tied)


# ---- selection -------------------------------------------------------------------------------------------------------
cdef real kth_of_lanes(const real* scores, int64_t n, int64_t k, int lanes) noexcept nogil:
    """A score that at least k of n >= lanes scores are not below."""
    cdef real best[LANES]
    cdef int32_t reached[LANES]     # by how many of the lanes
    cdef real bound = -INFINITY
    cdef int a, b
    for a in range(LANES):
        best[a] = 0.0
        reached[a] = 0
    fill_lanes(scores, real is float, n, best, lanes)
    for b in range(lanes):
        for a in range(lanes):
            reached[a] += best[b] >= best[a]
    for a in range(lanes):
        bound = best[a] if reached[a] >= k and best[a] > bound else bound
    return bound


cdef bint count_ranks(real* kept, int32_t* ranks, int m) noexcept nogil:
    """Ranks from 0 of m numbers, equal ones in their order; whether there are any.

    Fills up `kept` to a multiple of COMPARED_SCORES.
    """
    cdef int a, b, padded = (m + COMPARED_SCORES - 1) // COMPARED_SCORES * COMPARED_SCORES
    cdef int32_t total = 0
    for a in range(m, padded):
        kept[a] = -INFINITY
    for a in range(padded):
        ranks[a] = kept[0] > kept[a]
    for b in range(1, m):
        for a in range(padded):
            ranks[a] += kept[b] > kept[a]
    for a in range(m):
        total += ranks[a]
    if total == m * (m - 1) // 2:
        return False
    for b in range(m):
        for a in range(b + 1, m):
            ranks[a] += kept[b] == kept[a]
    return True


cdef int64_t select_best(const real* scores, int64_t n, int64_t k, int64_t* rows, bint whole,
                         bint* tied) noexcept nogil:
    """Fill rows with the first k of n, and say whether one of them ties with another; how many, or -1.

    `whole`: and the rows that tie with the k-th. rows has room for n or MAX_CANDIDATES. -1: too many scores are equal.
    """
    cdef int64_t i, start, m = n, n_found
    cdef real bound
    cdef real kept[MAX_CANDIDATES]
    cdef int32_t ranks[MAX_CANDIDATES]
    cdef int64_t order[MAX_CANDIDATES]
    cdef int64_t candidates[MAX_CANDIDATES]
    cdef int32_t places[SCANNED_SCORES + 1]
    if n <= LANES:
        for i in range(n):
            candidates[i] = i
    else:
        bound = kth_of_lanes(scores, n, k, NARROW_LANES) if k <= NARROW_RANKS else kth_of_lanes(scores, n, k, LANES)
        m = 0
        start = 0
        while start < n:
            n_found = find_scores(scores + start, real is float, min(n - start, <int64_t>SCANNED_SCORES), bound, places)
            if m + n_found > MAX_CANDIDATES:
                return -1
            for i in range(n_found):
                candidates[m + i] = start + places[i]
            m += n_found
            start += SCANNED_SCORES
    for i in range(m):
        kept[i] = scores[candidates[i]]
    tied[0] = count_ranks(kept, ranks, <int>m)
    for i in range(m):
        order[ranks[i]] = candidates[i]
    k = k if k < m else m
    if tied[0]:
        tied[0] = k < m and scores[order[k - 1]] == scores[order[k]]
        for i in range(1, k):
            tied[0] |= scores[order[i - 1]] == scores[order[i]]
        while whole and k < m and scores[order[k - 1]] == scores[order[k]]:
            k += 1
    for i in range(k):
        rows[i] = order[i]
    return k
