"""Rows in any order, from columns: no sort, no table of the run's ids. In this order:

    rows ── add ─▶ batches ── probe ─▶ code of each row, hits, hashes ── gather ─▶ hits by query, counters
                                            │
                      equal hashes? ◀─ compare                     counters ◀─ count, sum_up
                            │                                          │
    values ◀─ settle ── queries in ranges: few hits, their ranks were counted; many, ranked among the scores (_rank)
    values ◀─ settle_again ── queries with equal hashes or a tied hit: their rows, judged like a group (_join)

probe, count and mark see rows (_scattered_rows), compare sees hashes (_duplicates); settle and settle_again, in this
file, see queries. All of them may be called in threads, each for any part of the work, and the other calls in one.
Nothing depends on which thread does what. Beside the columns this keeps 4 bytes a row, and 8 more to find duplicates.
Rows of queries that the qrels do not have share one code behind the others.

_two_pass, which counts rows read again into arrays that parts add up, shares the tables and what needs no speed
(_query_table), but not this kernel: it finds a hit by its query's offset, while a level holds the only hit of most
queries itself. Measured, ns of processor time to count a row, levels : query and slot (in C, both with prefetches,
least of 11 rounds, random order):

    hits of each query     1              3
    3 000 queries          2.0 : 2.9      5.1 : 4.6
    300 000 queries        3.8 : 13.6     60 : 33
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport read
from fastir.engine.columns._text cimport Text, room_for_rows
from fastir.engine.join._buckets cimport HEAD_WORDS, previous, segment_size
from fastir.engine.join._counts cimport Counts, count_order, count_ranking
from fastir.engine.join._duplicates cimport unknown_pair
from fastir.engine.join._join cimport Part, clear_rows, find_repeated, hash_group
from fastir.engine.join._scattered_rows cimport CHUNK_ROWS, MANY_HITS, Batch, RowHit, ScatteredRows
from fastir.engine.measure._codes cimport NO_MEMORY, REPEATED
from fastir.engine.measure._measure cimport Judgments, label_code, measure
from fastir.engine.rank._rank cimport comparable, order_hits, rank_and_measure, reserve


cdef enum:
    ROWS_PER_SETTLED = 32   # rows with codes that are looked at in the time in which one is settled


cdef struct Row:        # of a query that is judged like a group
    Text doc
    double score
    int64_t row


cdef int64_t marked_rows(const unsigned char* marked, const int32_t* codes, int64_t n, int32_t* out) noexcept nogil:
    """Which of n rows have a marked code; how many. Without a branch, because few have, by chance."""
    cdef int64_t i, n_marked = 0
    for i in range(n):
        out[n_marked] = <int32_t>i
        n_marked += marked[codes[i]]
    return n_marked


cdef int compare_nothing(const void* a, const void* b) noexcept nogil:
    return 0


cdef class Scattered(ScatteredRows):
    """Evaluates rows in any order; made like a Join, and called as the picture above shows."""

    def settle(self, int t, int64_t number):
        """Evaluate the queries of a range that need no ids; None, or what settle_again() returns."""
        cdef Part* part = self.parts + t
        cdef int64_t begin = number << self.range_shift
        cdef int64_t end = min((number + 1) << self.range_shift, self.judged.n_queries)
        cdef fenv_t callers
        with nogil:
            ordinary(&callers)
            self.settle_range(part, number, begin, end)
            fesetenv(&callers)
        return self.repeated_rows(part)

    cdef repeated_rows(self, Part* part):
        """The two rows of one query that hold the same document, if that is what stopped a part."""
        if part.failed == NO_MEMORY:
            raise MemoryError
        if part.failed:
            return min(part.seen.first, part.seen.later), max(part.seen.first, part.seen.later)
        return None

    cdef void settle_range(self, Part* part, int64_t number, int64_t begin, int64_t end) noexcept nogil:
        cdef int64_t q
        cdef int64_t* places = <int64_t*>malloc((end - begin + 1) * sizeof(int64_t))
        cdef double* scores = NULL
        part.failed = NO_MEMORY if places == NULL else 0
        if not part.failed:
            scores = self.collect_scores(number, begin, end, places)
            part.failed = NO_MEMORY if scores == NULL else 0
        for q in range(begin, end):
            if part.failed:
                break
            if self.counts[q] > 0 and not self.again[q]:
                if self.probes[0].level_hits[q].n_hits == MANY_HITS:
                    self.again[q] = self.settle_scores(part, q, scores + places[q - begin] - self.counts[q])
                else:
                    self.again[q] = self.settle_few(part, q)
            elif self.counts[q] == 0 and self.lost != NULL and self.lost[q]:
                part.group.n = 0
                self.met[q] = 1
                part.failed = self.judge(part, q)
        free(places)
        free(scores)

    cdef double* collect_scores(self, int64_t number, int64_t begin, int64_t end, int64_t* places) noexcept nogil:
        """The scores of the queries of a range that have many hits, put together by query.

        Those of query q end at places[q - begin] then. NULL without memory; else to be freed by the caller.
        """
        cdef int64_t i, q, total = 0
        cdef int t
        cdef double* scores
        cdef const uint64_t* words
        for q in range(begin, end):
            places[q - begin] = total
            total += self.counts[q] if self.probes[0].level_hits[q].n_hits == MANY_HITS else 0
        scores = <double*>malloc((total + 1) * sizeof(double))
        if scores == NULL:
            return NULL
        for t in range(self.n_threads):
            words = self.probes[t].scores[number].last
            while words != NULL:
                i = HEAD_WORDS
                while i < segment_size(&self.probes[t].scores[number], words) + HEAD_WORDS:
                    q = words[i] - begin
                    memcpy(scores + places[q], words + i + 1, sizeof(double))
                    places[q] += 1
                    i += 2
                words = previous(words)
        return scores

    cdef int64_t take_hits(self, Part* part, int64_t q) noexcept nogil:
        """Put the hits of a query that the metrics read into the ranking; how many, or -1: a problem, or a repeat."""
        cdef int64_t i, n_hits = 0, first = self.judged.offsets[q], n_judged = self.judged.offsets[q + 1] - first
        cdef RowHit* hit
        if reserve(&part.ranking, self.plan, self.counts[q], n_judged) < 0 or clear_rows(&part.seen, n_judged) < 0:
            part.failed = NO_MEMORY
            return -1
        for i in range(self.hit_offsets[q], self.hit_offsets[q + 1]):
            hit = self.hits + i
            if part.seen.rows[hit.place]:
                part.failed = 0 if self.once else REPEATED
                part.seen.first, part.seen.later = part.seen.rows[hit.place] - 1, hit.row
                return -1
            part.seen.rows[hit.place] = hit.row + 1
            if hit.place < self.wanted(q):
                part.ranking.hits[n_hits].score = comparable(hit.score, self.single)
                part.ranking.hits[n_hits].item = hit
                part.ranking.hits[n_hits].row = -1
                part.ranking.hits[n_hits].label = label_code(self.judged.labels[first + hit.place])
                n_hits += 1
        return n_hits

    cdef bint settle_scores(self, Part* part, int64_t q, const double* scores) noexcept nogil:
        """Evaluate a query from its scores and its hits; True if its ids are needed."""
        cdef int64_t n_hits = self.take_hits(part, q)
        if n_hits < 0 or rank_and_measure(
                self.plan, &part.ranking, scores, <const char*>scores, 0, self.counts[q], n_hits, compare_nothing,
                self.ties, self.judged.judgments(q), self.values + q * self.plan.n_slots):
            return True
        return self.settled(part, q, n_hits)

    cdef bint settle_few(self, Part* part, int64_t q) noexcept nogil:
        """Evaluate a query from the counts; True if its ids are needed."""
        cdef int64_t i, level, n_hits = self.take_hits(part, q), above, alike
        cdef Judgments judgments
        cdef int t
        for i in range(n_hits):
            above = alike = 0
            level = self.probes[0].level_hits[q].hits + i
            for t in range(self.n_threads):
                above += self.probes[t].levels[level].above
                alike += self.probes[t].level_hits[level].alike
            if alike > 1:
                return True
            part.ranking.measured.ranks[i] = above + 1
            part.ranking.measured.labels[i] = part.ranking.hits[i].label
        if n_hits < 0:
            return True
        order_hits(&part.ranking, self.counts[q], n_hits)
        for i in range(n_hits):
            part.ranking.measured.lasts[i] = part.ranking.measured.ranks[i]
        judgments = self.judged.judgments(q)
        measure(self.plan, &part.ranking.measured, n_hits, self.counts[q], &judgments,
                self.values + q * self.plan.n_slots)
        return self.settled(part, q, n_hits)

    cdef bint settled(self, Part* part, int64_t q, int64_t n_hits) noexcept nogil:
        self.met[q] = 1
        count_ranking(<Counts>part.counts, q, self.counts[q], self.hit_offsets[q + 1] - self.hit_offsets[q])
        count_order(<Counts>part.counts, q, NULL, self.counts[q], n_hits, False)
        return False

    def ranges_again(self, int64_t n):
        """Cut the codes of queries that need ids into at most n ranges of about as many rows: pairs of borders.

        All rows are looked through for each range, so a few rows are not worth more than one.
        """
        cdef int64_t q, rows = 0, total = 0, n_codes = self.judged.n_queries + 1
        for q in range(n_codes):
            total += self.counts[q] if self.again[q] else 0
        n = min(n, 1 + ROWS_PER_SETTLED * total // (self.n_rows + 1))
        borders = [0]
        for q in range(n_codes):
            rows += self.counts[q] if self.again[q] else 0
            if rows * n >= total * len(borders) and len(borders) < n:
                borders.append(q + 1)
        return list(zip(borders, borders[1:] + [n_codes])) if total > 0 else []

    def settle_again(self, int t, int64_t begin, int64_t end):
        """Evaluate the queries of codes begin to end that need ids.

        Returns
        -------
        None, or a pair of rows of one query that hold the same document
        """
        cdef Part* part = self.parts + t
        cdef fenv_t callers
        with nogil:
            ordinary(&callers)
            self.settle_groups(part, begin, end)
            fesetenv(&callers)
        return self.repeated_rows(part)

    cdef void settle_groups(self, Part* part, int64_t begin, int64_t end) noexcept nogil:
        cdef int64_t k, q, first, total = 0
        cdef const unsigned char* again = self.again
        cdef int64_t* next_row
        cdef Row* rows
        cdef Batch* batch
        for q in range(begin, end):
            total += self.counts[q] if again[q] else 0
        next_row = <int64_t*>malloc((end - begin + 1) * sizeof(int64_t))
        rows = <Row*>malloc((total + 1) * sizeof(Row))
        part.failed = NO_MEMORY if next_row == NULL or rows == NULL else 0
        if not part.failed:
            total = 0
            for q in range(begin, end):
                next_row[q - begin] = total
                total += self.counts[q] if again[q] else 0
            for k in range(self.n_batches):
                batch = self.batches + k
                first = 0
                while first < batch.n:
                    self.gather_rows(batch, first, min(<int64_t>CHUNK_ROWS, batch.n - first), begin, end, rows,
                                     next_row)
                    first += CHUNK_ROWS
            total = 0
            for q in range(begin, end):
                if again[q] and not part.failed:
                    part.failed = self.settle_group(part, q, rows + total)
                    total += self.counts[q]
        free(next_row)
        free(rows)

    cdef void gather_rows(self, const Batch* batch, int64_t first, int64_t n, int64_t begin, int64_t end, Row* rows,
                          int64_t* next_row) noexcept nogil:
        """Put the rows with marked codes from begin to end with the others of their queries."""
        cdef int32_t[CHUNK_ROWS] places
        cdef int64_t i, k, q
        cdef Row* row
        for k in range(marked_rows(self.again, batch.codes + first, n, places)):
            i = first + places[k]
            q = batch.codes[i]
            if begin <= q < end:
                row = rows + next_row[q - begin]
                next_row[q - begin] += 1
                read(batch.docs, i, 1, &row.doc)
                row.score = batch.scores[i]
                row.row = batch.row + i

    cdef int settle_group(self, Part* part, int64_t q, const Row* rows) noexcept nogil:
        """Judge the rows of a query; returns the value for part.failed."""
        cdef int64_t i, n = self.counts[q]
        cdef int twice = 0
        part.group.n = 0
        if room_for_rows(&part.group, n) < 0:
            return NO_MEMORY
        part.group.n = n
        for i in range(n):
            part.group.docs[i] = rows[i].doc
            part.group.scores[i] = rows[i].score
        if hash_group(&part.seen, &part.group) < 0:
            return NO_MEMORY
        if self.once and not self.only_judged:
            twice = self.count_again(part, q)
        elif not self.only_judged:
            if q == self.judged.n_queries:
                self.hash_unknown(part, rows)
            twice = find_repeated(&part.seen, &part.group, 0)
        if twice:
            part.seen.first, part.seen.later = rows[part.seen.first].row, rows[part.seen.later].row
            return REPEATED if twice > 0 else NO_MEMORY
        if q == self.judged.n_queries:
            return 0
        self.met[q] = 1
        return self.judge(part, q)

    cdef void hash_unknown(self, Part* part, const Row* rows) noexcept nogil:
        """The hashes of rows of unknown queries: of both their ids."""
        cdef int64_t i, k = 0
        for i in range(part.group.n):
            while rows[i].row >= self.batches[k].row + self.batches[k].n:
                k += 1
            part.seen.hashes[i] = unknown_pair(self.batches[k].queries, rows[i].row - self.batches[k].row,
                                               part.seen.hashes[i])
