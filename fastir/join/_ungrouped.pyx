"""Rows in any order, from columns: no sort, no table of the run's ids. Six calls, in this order:

    batches ── add ─▶ pieces ── look ─▶ code of each row, hits of each thread ── gather ─▶ hits by query, counters
                                                                                                │
    values ◀─ settle ── ranges of queries ◀─ ranges ── ranks of few hits, hashes and scores by query ◀── count

add, look, gather and count see rows (_scattered_rows); ranges and settle, in this file, see queries:

    settle    are the hashes of the query's rows distinct? few hits: their ranks were counted, measure them. Many: rank
              them among the query's scores (_rank). A tied hit, or a hash that stands twice, needs the ids again: the
              rows of such queries are collected from the columns and judged like a group (_join)

The caller runs look, count and settle in threads, and the other calls in one; count gets the rows that the same thread
looked at. Beside the columns this keeps 4 bytes a row; and 16 more to find ids that stand twice anywhere: 8 for hashes,
8 to put them together by query. Rows of queries that the qrels do not have share one code behind the others, and one
hash of both their ids.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._ids cimport read
from fastir.columns._text cimport Text, room_for_rows
from fastir.join._join cimport Part, clear_rows, count_ranking, find_repeated, hash_group, may_repeat
from fastir.join._scattered_rows cimport Found, Piece, ScatteredRows
from fastir.measure._codes cimport NO_MEMORY, REPEATED
from fastir.measure._measure cimport Judgments, label_code, measure
from fastir.rank._rank cimport order_hits, rank_and_measure, reserve


cdef struct Row:        # of a query that is judged like a group
    Text doc
    double score
    int64_t row


cdef int compare_nothing(const void* a, const void* b) noexcept nogil:
    return 0


cdef class Scattered(ScatteredRows):
    """Evaluates rows in any order; made like a Join, and called as the picture above shows."""

    def ranges(self, int64_t n):
        """Cut all codes into n ranges of about as many rows: n + 1 borders."""
        cdef int64_t q, rows = 0
        borders = [0]
        for q in range(self.judged.n_queries + 1):
            rows += self.counts[q]
            if rows * n >= self.n_rows * len(borders) and len(borders) < n:
                borders.append(q + 1)
        return borders + [self.judged.n_queries + 1] * (n + 1 - len(borders))

    def settle(self, int t, int64_t begin, int64_t end):
        """Evaluate the queries of codes begin to end; None, or two rows of one query that hold the same document."""
        cdef Part* part = self.parts + t
        cdef fenv_t callers
        part.failed = 0
        with nogil:
            ordinary(&callers)
            self.settle_range(part, begin, end)
            fesetenv(&callers)
        if part.failed == NO_MEMORY:
            raise MemoryError
        if part.failed:
            return min(part.seen.first, part.seen.later), max(part.seen.first, part.seen.later)
        return None

    cdef void settle_range(self, Part* part, int64_t begin, int64_t end) noexcept nogil:
        """Evaluate all queries that need no ids, then the others."""
        cdef int64_t q, n = self.judged.n_queries
        cdef int twice = 0
        cdef unsigned char* again = <unsigned char*>calloc(n + 1, 1)
        part.failed = NO_MEMORY if again == NULL else 0
        for q in range(begin, end):
            if part.failed or self.counts[q] == 0:
                continue
            if self.hashes != NULL:
                twice = may_repeat(&part.seen, self.hashes + self.hashes_of[q], self.counts[q])
            if twice < 0:
                part.failed = NO_MEMORY
            elif twice and not (self.once and q == n):
                again[q] = True
            elif q < n:
                again[q] = self.settle_scores(part, q) if self.scores_of[q] >= 0 else self.settle_few(part, q)
        if not part.failed:
            self.settle_again(part, begin, end, again)
        free(again)

    cdef int64_t take_hits(self, Part* part, int64_t q) noexcept nogil:
        """Put the hits of a query that the metrics read into the ranking; how many, or -1: with part.failed, or for a repeat."""
        cdef int64_t i, n_hits = 0, first = self.judged.offsets[q], n_judged = self.judged.offsets[q + 1] - first
        cdef Found* found
        if reserve(&part.ranking, self.plan, self.counts[q], n_judged) < 0 or clear_rows(&part.seen, n_judged) < 0:
            part.failed = NO_MEMORY
            return -1
        for i in range(self.found_of[q], self.found_of[q + 1]):
            found = self.found + i
            if part.seen.rows[found.place]:
                part.failed = 0 if self.once else REPEATED
                part.seen.first, part.seen.later = part.seen.rows[found.place] - 1, found.row
                return -1
            part.seen.rows[found.place] = found.row + 1
            if found.place < self.wanted(q):
                part.ranking.hits[n_hits].score = self.comparable(found.score)
                part.ranking.hits[n_hits].item = found
                part.ranking.hits[n_hits].row = -1
                part.ranking.hits[n_hits].label = label_code(self.judged.labels[first + found.place])
                n_hits += 1
        return n_hits

    cdef bint settle_scores(self, Part* part, int64_t q) noexcept nogil:
        """Evaluate a query from its scores and its hits; True if its ids are needed."""
        cdef int64_t n_hits = self.take_hits(part, q)
        cdef const double* scores = self.scores + self.scores_of[q]
        if n_hits < 0 or rank_and_measure(
                self.plan, &part.ranking, scores, <const char*>scores, 0, self.counts[q], n_hits, compare_nothing,
                self.ties, self.judged.of(q), &self.values[q, 0]):
            return True
        return self.settled(part, q)

    cdef bint settle_few(self, Part* part, int64_t q) noexcept nogil:
        """Evaluate a query from the counts; True if its ids are needed."""
        cdef int64_t i, n_hits = self.take_hits(part, q), above, alike
        cdef Judgments known
        cdef int t
        for i in range(n_hits):
            above = alike = 0
            for t in range(self.n_threads):
                above += self.lookers[t].levels[self.level_at(q, i)].above
                alike += self.lookers[t].alike[self.level_at(q, i)]
            if alike > 1:
                return True
            part.ranking.measured.ranks[i] = above + 1
            part.ranking.measured.labels[i] = part.ranking.hits[i].label
        if n_hits < 0:
            return True
        order_hits(&part.ranking, self.counts[q], n_hits)
        for i in range(n_hits):
            part.ranking.measured.lasts[i] = part.ranking.measured.ranks[i]
        known = self.judged.of(q)
        measure(self.plan, &part.ranking.measured, n_hits, self.counts[q], &known, &self.values[q, 0])
        return self.settled(part, q)

    cdef bint settled(self, Part* part, int64_t q) noexcept nogil:
        self.met[q] = 1
        count_ranking(&part.tally, q, self.counts[q], self.found_of[q + 1] - self.found_of[q])
        return False

    cdef void settle_again(self, Part* part, int64_t begin, int64_t end, const unsigned char* again) noexcept nogil:
        """Judge the queries that `again` marks, all of them from begin to end, like groups."""
        cdef int64_t i, k, q, total = 0
        cdef int64_t* next_row
        cdef Row* rows
        cdef Row* row
        cdef Piece* piece
        for q in range(begin, end):
            total += self.counts[q] if again[q] else 0
        if total == 0:
            return
        next_row = <int64_t*>malloc((end - begin + 1) * sizeof(int64_t))
        rows = <Row*>malloc((total + 1) * sizeof(Row))
        part.failed = NO_MEMORY if next_row == NULL or rows == NULL else 0
        if not part.failed:
            total = 0
            for q in range(begin, end):
                next_row[q - begin] = total
                total += self.counts[q] if again[q] else 0
            for k in range(self.n_pieces):
                piece = self.pieces + k
                for i in range(piece.n):
                    if again[piece.codes[i]]:
                        row = rows + next_row[piece.codes[i] - begin]
                        next_row[piece.codes[i] - begin] += 1
                        read(piece.docs, i, 1, &row.doc)
                        row.score = piece.scores[i]
                        row.row = piece.row + i
            total = 0
            for q in range(begin, end):
                if again[q] and not part.failed:
                    part.failed = self.settle_group(part, q, rows + total)
                    total += self.counts[q]
        free(next_row)
        free(rows)

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
                self.hash_foreign(part, rows)
            twice = find_repeated(&part.seen, &part.group, 0)
        if twice:
            part.seen.first, part.seen.later = rows[part.seen.first].row, rows[part.seen.later].row
            return REPEATED if twice > 0 else NO_MEMORY
        if q == self.judged.n_queries:
            return 0
        self.met[q] = 1
        return self.judge(part, q)

    cdef void hash_foreign(self, Part* part, const Row* rows) noexcept nogil:
        """The hashes of rows whose query the qrels do not have: of both their ids."""
        cdef int64_t i, k = 0
        for i in range(part.group.n):
            while rows[i].row >= self.pieces[k].row + self.pieces[k].n:
                k += 1
            part.seen.hashes[i] = self.pieces[k].hashes[rows[i].row - self.pieces[k].row]
