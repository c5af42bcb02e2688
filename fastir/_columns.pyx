"""The join for rows whose ids are bytes, one query at a time.

Every row's id is hashed once. The hash finds the judged documents (a filter first, then the query's table) and finds
ids that stand twice: each row sets three bits in a word of a small bitmap, and only a ranking in which some row finds
its three bits already set is looked at again, with an exact table. A query's rows fit in the first-level cache.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from fastir._fenv cimport fenv_t, fesetenv, ordinary
from fastir._judged cimport Judged, find_judged
from fastir._measure cimport Plan, measure
from fastir._rank cimport Ranking, discard, rank_and_measure, reserve
from fastir._text cimport Group, Text, compare, equal, hash_of, room_for_row

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef int64_t BLOCK = 1000000    # rows between two looks for Ctrl-C


cdef int compare_texts(const void* a, const void* b) noexcept nogil:
    return compare(<const Text*>a, <const Text*>b)


cdef void forget(Seen* seen) noexcept nogil:
    free(seen.hashes)
    free(seen.table)


cdef int hash_rows(Seen* seen, const Group* g) noexcept nogil:
    """Hash the ids of a group; 1 if one may stand twice, 0 if none does, -1 without memory."""
    cdef int64_t i, size = 64
    cdef uint64_t h, bits, twice = 0
    while size < g.n:
        size *= 2
    if g.n > seen.capacity or seen.hashes == NULL:
        free(seen.hashes)
        seen.hashes = <uint64_t*>malloc((g.n + g.n // 2 + 64) * sizeof(uint64_t))
        seen.capacity = g.n + g.n // 2 + 64
    if size > seen.table_capacity:
        free(seen.table)
        seen.table = <uint64_t*>malloc(size * sizeof(uint64_t))
        seen.table_capacity = size
    if seen.hashes == NULL or seen.table == NULL:
        seen.capacity = 0
        seen.table_capacity = 0
        return -1
    memset(seen.table, 0, size * sizeof(uint64_t))
    for i in range(g.n):
        h = hash_of(g.docs + i)
        seen.hashes[i] = h
        bits = <uint64_t>1 << (h >> 40 & 63) | <uint64_t>1 << (h >> 46 & 63) | <uint64_t>1 << (h >> 52 & 63)
        h &= <uint64_t>(size - 1)
        twice |= <uint64_t>(seen.table[h] & bits == bits)
        seen.table[h] |= bits
    return twice != 0


cdef int64_t find_repeated(Seen* seen, const Group* g, int64_t* first) noexcept nogil:
    """The row, from `first[0]` on, whose id stands in an earlier row of the group, which goes to `first[0]`.

    -1 if there is none, -2 without memory.
    """
    cdef int64_t i, j, size = 4, found = -1, start = first[0]
    cdef uint64_t slot
    cdef int64_t* table
    while size < 2 * g.n:
        size *= 2
    table = <int64_t*>calloc(size, sizeof(int64_t))
    if table == NULL:
        return -2
    for i in range(g.n):
        slot = seen.hashes[i] & <uint64_t>(size - 1)
        while table[slot] != 0:
            j = table[slot] - 1
            if seen.hashes[j] == seen.hashes[i] and equal(g.docs + j, g.docs + i):
                break
            slot = (slot + 1) & <uint64_t>(size - 1)
        if table[slot] == 0:
            table[slot] = i + 1
        elif i >= start:
            first[0] = table[slot] - 1
            found = i
            break
    free(table)
    return found


cdef int judge_group(Judged judged, Plan plan, Ranking* r, Group* g, const uint64_t* hashes, int64_t q, int ties,
                     bint single, double* values, Tally* tally) noexcept nogil:
    """Fill the values of query q from its rows; 0, or -1 without memory."""
    cdef int64_t i, j, n_hits = 0, n_found = 0, first = judged.offsets[q]
    cdef int64_t wanted = judged.judged[q] if plan.reads_nonrelevant else judged.positive[q]
    if reserve(r, plan, g.n, judged.offsets[q + 1] - first) < 0:
        return -1
    if single:
        for i in range(g.n):
            g.scores[i] = <double><float>g.scores[i]
    for i in range(g.n):
        j = find_judged(judged, q, g.docs + i, hashes[i])
        if j >= 0:
            n_found += 1
            if j < wanted:
                r.hits[n_hits].score = g.scores[i]
                r.hits[n_hits].item = g.docs + i
                r.hits[n_hits].label = judged.labels[first + j]
                n_hits += 1
    tally.found += 1
    tally.ranked += g.n
    tally.unjudged += g.n - n_found
    if g.n > 0 and n_found == 0:
        tally.nothing += 1
        if tally.nothing_example < 0:
            tally.nothing_example = q
    if rank_and_measure(plan, r, g.scores, <const char*>g.docs, sizeof(Text), g.n, n_hits, compare_texts, ties,
                        judged.labels + first, judged.positive[q], judged.judged[q], values + q * plan.n_slots):
        tally.tied += 1
        if tally.tied_example < 0:
            tally.tied_example = q
    return 0


cdef int judge_rows(Judged judged, Plan plan, const char* arena, const int64_t* starts, const int64_t* lengths,
                    const double* scores, const int64_t* offsets, const int64_t* places, int64_t begin, int64_t end,
                    int ties, bint single, double* values, unsigned char* status, Tally* tally) noexcept nogil:
    """Queries begin to end of the qrels; places[q] is the run's group for query q, or -1."""
    cdef Ranking r
    cdef Seen seen
    cdef Group g
    cdef fenv_t callers
    cdef int64_t q, i
    cdef int failed = 0
    memset(&r, 0, sizeof(Ranking))
    memset(&seen, 0, sizeof(Seen))
    memset(&g, 0, sizeof(Group))
    memset(tally, 0, sizeof(Tally))
    tally.tied_example = -1
    tally.nothing_example = -1
    ordinary(&callers)
    for q in range(begin, end):
        if places[q] < 0:
            status[q] = 1
            failed = reserve(&r, plan, 0, 0)
            if failed:
                break
            measure(plan, &r.measured, 0, 0, judged.labels + judged.offsets[q], judged.positive[q], judged.judged[q],
                    values + q * plan.n_slots)
            continue
        g.n = 0
        for i in range(offsets[places[q]], offsets[places[q] + 1]):
            failed |= room_for_row(&g)
            if failed:
                break
            g.docs[g.n].start = arena + starts[i]
            g.docs[g.n].length = lengths[i]
            g.scores[g.n] = scores[i]
            g.n += 1
        if failed or hash_rows(&seen, &g) < 0 or judge_group(judged, plan, &r, &g, seen.hashes, q, ties, single, values,
                                                             tally) < 0:
            failed = -1
            break
    fesetenv(&callers)
    discard(&r)
    forget(&seen)
    free(g.docs)
    free(g.scores)
    return failed


def judge_columns(Judged judged, Plan plan, const unsigned char[::1] arena, const int64_t[::1] starts,
                  const int64_t[::1] lengths, const double[::1] scores, const int64_t[::1] offsets,
                  const int64_t[::1] places, double[:, ::1] values, unsigned char[::1] status, int ties, bint single,
                  int n_threads, watch=None):
    """Evaluate rows grouped by query; the ids of a query are distinct. watch(0) is called between blocks and may raise.

    Returns
    -------
    tuple of int
        What judge_dict returns, then how many documents were ranked and how many of those are not in the qrels.
    """
    cdef int64_t n = judged.n_queries, start = 0, stop, work
    cdef int t, failed
    cdef const char* text = <const char*>&arena[0]
    cdef Tally total
    cdef Tally* tallies = <Tally*>calloc(n_threads, sizeof(Tally))
    cdef int64_t* bounds = <int64_t*>malloc((n_threads + 1) * sizeof(int64_t))
    if tallies == NULL or bounds == NULL:
        free(tallies)
        free(bounds)
        raise MemoryError
    memset(&total, 0, sizeof(Tally))
    total.tied_example = -1
    total.nothing_example = -1
    try:
        judged.prepare_bytes()
        while start < n:
            stop = start
            work = 0
            while stop < n and work < BLOCK:
                if places[stop] >= 0:
                    work += offsets[places[stop] + 1] - offsets[places[stop]]
                work += 10
                stop += 1
            failed = 0
            if n_threads == 1:
                with nogil:
                    failed = judge_rows(judged, plan, text, &starts[0], &lengths[0], &scores[0], &offsets[0], &places[0],
                                        start, stop, ties, single, &values[0, 0], &status[0], tallies)
            else:
                for t in range(n_threads + 1):
                    bounds[t] = start + (stop - start) * t // n_threads
                for t in prange(n_threads, nogil=True, num_threads=n_threads, schedule="static", chunksize=1):
                    failed += judge_rows(judged, plan, text, &starts[0], &lengths[0], &scores[0], &offsets[0], &places[0],
                                         bounds[t], bounds[t + 1], ties, single, &values[0, 0], &status[0], tallies + t)
            if failed:
                raise MemoryError
            for t in range(n_threads):
                add_tally(&total, tallies + t)
            PyErr_CheckSignals()
            if watch is not None:
                watch(0)
            start = stop
    finally:
        free(tallies)
        free(bounds)
    return tally_tuple(&total)


cdef void add_tally(Tally* total, const Tally* part) noexcept nogil:
    total.found += part.found
    total.tied += part.tied
    total.ranked += part.ranked
    total.unjudged += part.unjudged
    total.nothing += part.nothing
    if total.tied_example < 0:
        total.tied_example = part.tied_example
    if total.nothing_example < 0:
        total.nothing_example = part.nothing_example


cdef tuple tally_tuple(const Tally* t):
    return t.found, t.tied, t.tied_example, t.nothing, t.nothing_example, t.ranked, t.unjudged


def find_duplicates(const unsigned char[::1] arena, const int64_t[::1] starts, const int64_t[::1] lengths,
                    const int64_t[::1] offsets, watch=None):
    """All (earlier row, later row) pairs of one id standing twice in one group; the earlier is the first of its kind.

    watch(0) is called now and then and may raise.
    """
    cdef int64_t k, i, first, later
    cdef int twice
    cdef Seen seen
    cdef Group g
    memset(&seen, 0, sizeof(Seen))
    memset(&g, 0, sizeof(Group))
    pairs = []
    try:
        for k in range(offsets.shape[0] - 1):
            with nogil:
                twice = 0
                g.n = 0
                for i in range(offsets[k], offsets[k + 1]):
                    twice = room_for_row(&g)
                    if twice < 0:
                        break
                    g.docs[g.n].start = <const char*>&arena[0] + starts[i]
                    g.docs[g.n].length = lengths[i]
                    g.n += 1
                if twice == 0:
                    twice = hash_rows(&seen, &g)
            later = 0
            while twice == 1 and later < g.n:
                first = later
                later = find_repeated(&seen, &g, &first)
                if later < 0:
                    break
                pairs.append((offsets[k] + first, offsets[k] + later))
                later += 1
            if twice < 0 or later == -2:
                raise MemoryError
            if k % 256 == 0:
                PyErr_CheckSignals()
                if watch is not None:
                    watch(0)
    finally:
        forget(&seen)
        free(g.docs)
        free(g.scores)
    return pairs
