"""The hits of a group whose ranks are found without sorting it, for every rule of ties but those that need ids.

    select    where only the first ranks are read: the rows there, and those that tie with the last (_top_ranks)
    count     up to COUNTED rows with up to HITS hits: for the score of each hit, the scores above and not below it

Hits are laid out by rank, one byte for each row of the group. Among equal scores the earlier row is first, and how many
stand before it is counted once more; where labels decide, the hits of a tie come to stand side by side, and are put
into order among themselves. So the time for a row is bounded, whatever the scores are: a quarter of a nanosecond for
each hit that it is compared with.

Measured, a whole call without counting, which leaves its groups to _sorted_rows: five metrics of groups of 118 take 3.9
times as long (3.5 for expected values), of 1000 documents 6.6 times if 2 in 100 are relevant, 2.9 times if 10 are. For
selecting see _top_ranks.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from fastir.engine.measure._codes cimport INPUT, PESSIMISTIC, RELEVANT
from fastir.engine.measure._measure cimport is_hit, label_code
from fastir.engine.rank._labels cimport label_at, list_hits
from fastir.engine.rank._simd cimport count_scores
from fastir.engine.rank._tie_rule cimport label_order
from fastir.engine.rank._top_ranks cimport MOST, select_best

cdef enum:
    HITS = 192              # counted for each row; of more, sorting is faster


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
                              const Labels* labels, int64_t n_hits, int ties, bint* tied) noexcept nogil:
    """Put the rows that places.rows lists into rank order; how many."""
    cdef int64_t i, row, rank, first, before, upto, none = 0
    cdef int64_t above[HITS]
    cdef int64_t reach[HITS]
    cdef double levels[HITS]
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
            tied[0] = True
            before = upto = 0
            if ties == INPUT:
                count_scores(scores, real is float, row, &levels[i], 1, &before, &upto)
                rank += upto - before
            else:
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
                          int ties, int64_t n_positive, bint* tied) noexcept nogil:
    """Find the hits in rank order in the quick ways; how many, or -1 where these are not possible."""
    cdef int64_t row, k, n_hits = 0, depth = plan.deepest if plan.deepest < plan.max_depth else plan.max_depth
    if plan.judged_only:
        return -1
    if depth <= MOST:
        k = select_best(scores, labels.n, depth, places.rows, ties != INPUT, tied)
        if k >= 0:
            return hits_of_selected(plan, measured, scores, labels, places.rows, k, ties, tied)
    if plan.reads > RELEVANT or labels.bytes == NULL or labels.n > COUNTED or n_positive > HITS:
        return -1
    for row in range(labels.n):
        places.rows[n_hits] = row
        n_hits += labels.bytes[row] > 0
    return hits_by_counting(plan, measured, places, scores, labels, n_hits, ties, tied)
