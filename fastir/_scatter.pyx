"""Rows in any order, from columns: no sort, no table of the run's ids.

    look      row by row: which query, is the document judged?    ─▶ code (int32) and hash (uint64) of each row; hits
    settle    a range of queries: their rows' scores, put together by code; then ranks as for any ranking

Only a query in which a hit is tied, or in which some id may stand twice, needs its ids again: its rows are collected
from the columns and judged like a group (_join). So beside the columns this keeps 12 bytes a row, and 16 more while a
range is settled. Rows of queries that the qrels do not have share one code behind the others, and one hash of both
their ids. Any number of threads may look, and then settle; neither waits for the other.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from fastir._fenv cimport fenv_t, fesetenv, ordinary
from fastir._ids cimport Column, Ids, read
from fastir._join cimport (NO_MEMORY, REPEATED, Join, Part, clear_rows, count_ranking, find_repeated, hash_group, may_repeat,
                           query_bytes)
from fastir._judged cimport Index, find_judged, find_query
from fastir._rank cimport rank_and_measure, reserve
from fastir._text cimport Text, equal, hash_of, mixed, room_for_rows

cdef enum:
    CHUNK = 256         # rows between two looks at the columns


cdef struct Found:      # a judged document that was retrieved
    double score
    int64_t row
    int32_t query
    int32_t place       # among the query's judged documents


cdef struct Names:      # distinct query ids, copied
    Text* table         # open addressing; start NULL is free
    int64_t n, size


cdef struct Looker:     # what one thread saw
    Found* found
    int64_t n, capacity
    int64_t* counts     # rows of each query; the last: of queries that the qrels do not have
    Names foreign


cdef struct Piece:      # a batch
    const Column* queries
    const Column* docs
    const double* scores
    int32_t* codes
    uint64_t* hashes    # NULL if nothing needs them
    int64_t n, row      # row: of its first, in the whole table


cdef struct Row:        # of a query that is judged like a group
    Text doc
    double score
    int64_t row


cdef int note_name(Names* names, const Text* name, uint64_t h) noexcept nogil:
    """Add a name unless it is there; 0, or -1 without memory."""
    cdef Text* old = names.table
    cdef int64_t i, size = names.size
    cdef uint64_t slot
    if 2 * names.n >= size:
        names.size = 2 * size + 64
        names.table = <Text*>calloc(names.size, sizeof(Text))
        if names.table == NULL:
            names.table, names.size = old, size
            return -1
        for i in range(size):
            if old[i].start != NULL:
                slot = hash_of(old + i) % <uint64_t>names.size
                while names.table[slot].start != NULL:
                    slot = (slot + 1) % <uint64_t>names.size
                names.table[slot] = old[i]
        free(old)
    slot = h % <uint64_t>names.size
    while names.table[slot].start != NULL:
        if equal(names.table + slot, name):
            return 0
        slot = (slot + 1) % <uint64_t>names.size
    names.table[slot].start = <const char*>malloc(name.length + 1)
    if names.table[slot].start == NULL:
        return -1
    memcpy(<char*>names.table[slot].start, name.start, name.length)
    names.table[slot].length = name.length
    names.n += 1
    return 0


cdef int note_found(Looker* looker, int64_t q, int64_t j, double score, int64_t row) noexcept nogil:
    cdef Found* more
    if looker.n == looker.capacity:
        more = <Found*>realloc(looker.found, (2 * looker.n + 256) * sizeof(Found))
        if more == NULL:
            return -1
        looker.found = more
        looker.capacity = 2 * looker.n + 256
    looker.found[looker.n].score = score
    looker.found[looker.n].row = row
    looker.found[looker.n].query = <int32_t>q
    looker.found[looker.n].place = <int32_t>j
    looker.n += 1
    return 0


cdef int compare_nothing(const void* a, const void* b) noexcept nogil:
    return 0


cdef class Scattered(Join):
    """Evaluates rows in any order; made like a Join, then add() and look() for all rows, gather(), settle() for all queries."""

    cdef Piece* pieces
    cdef int64_t n_pieces, n_rows
    cdef list kept
    cdef Looker* lookers
    cdef int64_t* counts        # as in Looker, of all threads
    cdef Found* found           # of all threads, by query
    cdef int64_t* found_of      # per query: where its hits begin in found

    def __init__(self, *args):
        cdef int t
        super().__init__(*args)
        self.kept = []
        self.lookers = <Looker*>calloc(self.n_threads, sizeof(Looker))
        self.counts = <int64_t*>calloc(self.judged.n_queries + 1, sizeof(int64_t))
        self.found_of = <int64_t*>calloc(self.judged.n_queries + 2, sizeof(int64_t))
        if self.lookers == NULL or self.counts == NULL or self.found_of == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            self.lookers[t].counts = <int64_t*>calloc(self.judged.n_queries + 1, sizeof(int64_t))
            if self.lookers[t].counts == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        cdef int64_t i
        if self.lookers != NULL:
            for t in range(self.n_threads):
                free(self.lookers[t].found)
                free(self.lookers[t].counts)
                for i in range(self.lookers[t].foreign.size):
                    free(<void*>self.lookers[t].foreign.table[i].start)
                free(self.lookers[t].foreign.table)
        free(self.lookers)
        free(self.counts)
        free(self.found_of)
        free(self.found)
        free(self.pieces)

    def add(self, Ids queries, Ids docs, const double[::1] scores, int32_t[::1] codes, uint64_t[::1] hashes):
        """Add a batch of at least one row; codes is to be filled, and hashes unless only_judged. Returns its number."""
        cdef Piece* more = <Piece*>realloc(self.pieces, (self.n_pieces + 1) * sizeof(Piece))
        if more == NULL:
            raise MemoryError
        self.pieces = more
        more = self.pieces + self.n_pieces
        more.queries, more.docs, more.scores, more.codes = &queries.column, &docs.column, &scores[0], &codes[0]
        more.hashes = NULL if self.only_judged else &hashes[0]
        more.n, more.row = codes.shape[0], self.n_rows
        self.kept.append((queries, docs, scores, codes, hashes))
        self.n_pieces += 1
        self.n_rows += more.n
        return self.n_pieces - 1

    def look(self, int t, int64_t piece, int64_t first, int64_t stop):
        """Find the queries and the judged documents of rows first to stop of a batch."""
        cdef Piece one = self.pieces[piece]
        cdef const Index* known = self.judged.index(one.queries.integers)
        cdef int failed
        cdef fenv_t callers
        with nogil:
            ordinary(&callers)
            failed = self.look_at(self.lookers + t, &one, known, first, stop)
            fesetenv(&callers)
        if failed:
            raise MemoryError

    cdef int look_at(self, Looker* looker, const Piece* piece, const Index* known, int64_t first, int64_t stop) noexcept nogil:
        cdef Text[CHUNK] queries
        cdef Text[CHUNK] docs
        cdef Text last
        cdef int64_t i, j, n, q = -1
        cdef uint64_t h, query_hash = 0
        cdef bint foreign = False
        last.start, last.length = NULL, -1
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            read(piece.queries, first, n, queries)
            read(piece.docs, first, n, docs)
            for i in range(n):
                if not (queries[i].start == last.start and queries[i].length == last.length or equal(queries + i, &last)):
                    last = queries[i]
                    q = find_query(known, &last)
                    foreign = q < 0
                    if foreign:
                        q = self.judged.n_queries
                        query_hash = hash_of(&last)
                        if note_name(&looker.foreign, &last, query_hash) < 0:
                            return -1
                h = hash_of(docs + i)
                looker.counts[q] += 1
                piece.codes[first + i] = <int32_t>q
                if foreign:
                    h = mixed(h, query_hash)
                else:
                    j = find_judged(self.index, q, self.judged.offsets[q], docs + i, h)
                    if j >= 0 and note_found(looker, q, j, piece.scores[first + i], piece.row + first + i) < 0:
                        return -1
                if piece.hashes != NULL:
                    piece.hashes[first + i] = h
            first += n
        return 0

    def gather(self, bint integers):
        """Put together what the threads saw; `integers` is whether query ids came so."""
        cdef int64_t q, i, n = self.judged.n_queries, total = 0
        cdef int t
        cdef Looker* looker
        for t in range(self.n_threads):
            looker = self.lookers + t
            total += looker.n
            for q in range(n + 1):
                self.counts[q] += looker.counts[q]
            for i in range(looker.n):
                self.found_of[looker.found[i].query + 2] += 1
            for i in range(looker.foreign.size):
                if looker.foreign.table[i].start != NULL:
                    self.foreign[query_bytes(looker.foreign.table + i, integers)] = 0
        for q in range(n):
            self.found_of[q + 2] += self.found_of[q + 1]
        self.found = <Found*>malloc((total + 1) * sizeof(Found))
        if self.found == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            looker = self.lookers + t
            for i in range(looker.n):
                q = looker.found[i].query
                self.found[self.found_of[q + 1]] = looker.found[i]
                self.found_of[q + 1] += 1
            free(looker.found)
            looker.found, looker.n, looker.capacity = NULL, 0, 0

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
        cdef int64_t i, k, q, total = 0, m = end - begin
        cdef int64_t* next_row = <int64_t*>malloc((m + 1) * sizeof(int64_t))
        cdef unsigned char* again = <unsigned char*>calloc(m + 1, 1)
        cdef double* scores
        cdef uint64_t* hashes = NULL
        cdef Piece* piece
        cdef uint64_t code
        for q in range(begin, end):
            if next_row != NULL:
                next_row[q - begin] = total
            total += self.counts[q]
        scores = <double*>malloc((total + 1) * sizeof(double))
        if not self.only_judged:
            hashes = <uint64_t*>malloc((total + 1) * sizeof(uint64_t))
        part.failed = 0
        if next_row == NULL or again == NULL or scores == NULL or hashes == NULL and not self.only_judged:
            part.failed = NO_MEMORY
        else:
            for k in range(self.n_pieces):
                piece = self.pieces + k
                for i in range(piece.n):
                    code = <uint64_t>(piece.codes[i] - begin)
                    if code < <uint64_t>m:
                        scores[next_row[code]] = piece.scores[i]
                        if hashes != NULL:
                            hashes[next_row[code]] = piece.hashes[i]
                        next_row[code] += 1
            total = 0
            for q in range(begin, end):
                i = self.counts[q]
                if i > 0 and not part.failed:
                    again[q - begin] = self.settle_query(part, q, scores + total, NULL if hashes == NULL else hashes + total)
                total += i
        free(next_row)
        free(scores)
        free(hashes)
        if not part.failed:
            self.settle_again(part, begin, end, again)
        free(again)

    cdef bint settle_query(self, Part* part, int64_t q, double* scores, const uint64_t* hashes) noexcept nogil:
        """Evaluate a query from its scores and its hits; True if that takes its ids."""
        cdef int64_t i, n = self.counts[q], first, n_judged, wanted, n_hits = 0
        cdef Found* found
        cdef int twice = may_repeat(&part.seen, hashes, n) if hashes != NULL else 0
        if twice < 0:
            part.failed = NO_MEMORY
        if twice or q == self.judged.n_queries:
            return twice > 0
        first = self.judged.offsets[q]
        n_judged = self.judged.offsets[q + 1] - first
        wanted = self.judged.judged[q] if self.plan.reads_nonrelevant else self.judged.positive[q]
        if reserve(&part.ranking, self.plan, n, n_judged) < 0 or clear_rows(&part.seen, n_judged) < 0:
            part.failed = NO_MEMORY
            return False
        for i in range(self.found_of[q], self.found_of[q + 1]):
            found = self.found + i
            if part.seen.rows[found.place]:
                part.failed = REPEATED
                part.seen.first, part.seen.later = part.seen.rows[found.place] - 1, found.row
                return False
            part.seen.rows[found.place] = found.row + 1
            if found.place < wanted:
                part.ranking.hits[n_hits].score = <double><float>found.score if self.single else found.score
                part.ranking.hits[n_hits].item = found
                part.ranking.hits[n_hits].label = self.judged.labels[first + found.place]
                n_hits += 1
        if self.single:
            for i in range(n):
                scores[i] = <double><float>scores[i]
        if rank_and_measure(self.plan, &part.ranking, scores, <const char*>scores, 0, n, n_hits, compare_nothing, self.ties,
                            self.judged.labels + first, self.judged.positive[q], self.judged.judged[q], &self.values[q, 0]):
            return True
        self.met[q] = 1
        count_ranking(&part.tally, q, n, self.found_of[q + 1] - self.found_of[q])
        return False

    cdef void settle_again(self, Part* part, int64_t begin, int64_t end, const unsigned char* again) noexcept nogil:
        """Judge like groups those queries that `again` marks."""
        cdef int64_t i, k, q, total = 0, m = end - begin
        cdef int64_t* next_row
        cdef Row* rows
        cdef Row* row
        cdef Piece* piece
        cdef uint64_t code
        for q in range(m):
            total += self.counts[begin + q] if again[q] else 0
        if total == 0:
            return
        next_row = <int64_t*>malloc((m + 1) * sizeof(int64_t))
        rows = <Row*>malloc((total + 1) * sizeof(Row))
        part.failed = NO_MEMORY if next_row == NULL or rows == NULL else 0
        if not part.failed:
            total = 0
            for q in range(m):
                next_row[q] = total
                total += self.counts[begin + q] if again[q] else 0
            for k in range(self.n_pieces):
                piece = self.pieces + k
                for i in range(piece.n):
                    code = <uint64_t>(piece.codes[i] - begin)
                    if code < <uint64_t>m and again[code]:
                        row = rows + next_row[code]
                        next_row[code] += 1
                        read(piece.docs, i, 1, &row.doc)
                        row.score = piece.scores[i]
                        row.row = piece.row + i
            total = 0
            for q in range(m):
                if again[q] and not part.failed:
                    part.failed = self.settle_group(part, begin + q, rows + total)
                    total += self.counts[begin + q]
        free(next_row)
        free(rows)

    cdef int settle_group(self, Part* part, int64_t q, const Row* rows) noexcept nogil:
        """Judge the rows of a query; what it returns is part.failed."""
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
        if not self.only_judged:
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
