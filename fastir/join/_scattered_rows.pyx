"""Rows in any order, taken one by one: the first half of _ungrouped, which says how the halves meet.

    add       note a batch; the first one also makes the tables (_query_table)
    look      row by row, each row by some thread: which query? is the document judged?
                  ─▶ the code of each row (int32: the query's position, n_queries for all unknown ones), hits, hashes
    gather    the hits of all threads, put together by query; and room for the counts and scores of count()
    count     row by row, each by the thread that looked at it: for each hit of the row's query, is this score above
              or alike?  ─▶ counters of each thread; hashes, and scores where a query has many hits, by code

A hit is a judged document that was retrieved. A query with up to FEW of them ("few") has its ranks counted while the
rows pass by; of one with more the scores are put together and ranked later. The levels lie so that a row of a query
without hits, or with one, touches one counter only:

    levels     0 ... n_queries - 1 | n_queries      | n_queries + 1 ...
               first hit of each   | unknown ones's | second, third, ... hits of queries with few: level_of[q] on
"""

cimport cython
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._ids cimport INTEGERS, Ids, read
from fastir.columns._text cimport Text, hash_of, hash_of_word, mixed
from fastir.join._join cimport Join, query_bytes
from fastir.join._judged cimport collision, find_judged
from fastir.join._query_table cimport (QueryTable, code_of, code_of_integer, free_names, free_table, make_table,
                                       may_be_judged, note_name)
from fastir.measure._codes cimport COLLISION, NO_MEMORY, NOT_A_NUMBER

cdef enum:
    CHUNK = 256         # rows between two looks at the columns
    FEW = 4             # hits of a query up to which every row is compared with each


cdef int note_found(Looker* looker, int64_t q, int64_t j, double score, int64_t row) noexcept nogil:
    """Note that a row holds the j-th judged document of query q; 0, or -1 without memory."""
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


cdef class ScatteredRows(Join):
    """Collects data about rows in any order; made like a Join."""

    def __init__(self, *args):
        cdef int t
        super().__init__(*args)
        self.kept = []
        self.lookers = <Looker*>calloc(self.n_threads, sizeof(Looker))
        self.counts = <int64_t*>calloc(self.judged.n_queries + 1, sizeof(int64_t))
        self.found_of = <int64_t*>calloc(self.judged.n_queries + 2, sizeof(int64_t))
        self.level_of = <int32_t*>calloc(self.judged.n_queries + 2, sizeof(int32_t))
        if self.lookers == NULL or self.counts == NULL or self.found_of == NULL or self.level_of == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            self.lookers[t].counts = <int64_t*>calloc(self.judged.n_queries + 1, sizeof(int64_t))
            if self.lookers[t].counts == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        if self.lookers != NULL:
            for t in range(self.n_threads):
                free(self.lookers[t].found)
                free(self.lookers[t].levels)
                free(self.lookers[t].alike)
                free(self.lookers[t].next_hash)
                free(self.lookers[t].next_score)
                free(self.lookers[t].counts)
                free_names(&self.lookers[t].foreign)
        free(self.lookers)
        free(self.counts)
        free(self.found_of)
        free(self.found)
        free(self.level_of)
        free(self.hashes)
        free(self.scores)
        free(self.hashes_of)
        free(self.scores_of)
        free_table(&self.table)
        free(self.pieces)

    def add(self, Ids queries, Ids docs, const double[::1] scores, int32_t[::1] codes, uint64_t[::1] hashes):
        """Add a batch of at least one row; codes is to be filled, and hashes unless only_judged. Returns its number."""
        if self.table.codes == NULL and make_table(
                &self.table, self.judged, self.judged.index(queries.column.integers), self.index) < 0:
            raise MemoryError
        cdef Piece* more
        self.kept.append((queries, docs, scores, codes, hashes))
        with cython.critical_section(self):     # other threads look() meanwhile
            more = <Piece*>realloc(self.pieces, (self.n_pieces + 1) * sizeof(Piece))
            if more == NULL:
                raise MemoryError
            self.pieces = more
            more = self.pieces + self.n_pieces
            more.queries, more.docs, more.scores, more.codes = &queries.column, &docs.column, &scores[0], &codes[0]
            more.hashes = NULL if self.only_judged else &hashes[0]
            more.n, more.row = codes.shape[0], self.n_rows
            self.n_pieces += 1
            self.n_rows += more.n
            return self.n_pieces - 1

    def look(self, int t, int64_t piece, int64_t first, int64_t stop):
        """Find the queries and the judged documents of rows first to stop of a batch; return whether a score is NaN."""
        cdef Piece one
        cdef int failed
        with cython.critical_section(self):
            one = self.pieces[piece]
        with nogil:
            failed = self.look_at(self.lookers + t, &one, first, stop)
        if failed == COLLISION:
            raise collision()
        if failed == NO_MEMORY:
            raise MemoryError
        return failed == NOT_A_NUMBER

    cdef int look_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        cdef Text[CHUNK] queries
        cdef Text[CHUNK] docs
        cdef uint64_t[CHUNK] hashes
        cdef QueryTable table = self.table
        cdef int64_t i, j, n, q, n_queries = self.judged.n_queries
        cdef uint64_t h
        cdef int32_t* codes
        cdef int failed
        cdef bint nan = False
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            codes = piece.codes + first
            if piece.queries.kind == INTEGERS:
                for i in range(n):
                    q = code_of_integer(&table, (<const uint64_t*>piece.queries.places)[first + i])
                    codes[i] = <int32_t>(q if q >= 0 else n_queries)
            else:
                read(piece.queries, first, n, queries)
                for i in range(n):
                    q = code_of(&table, queries + i)
                    codes[i] = <int32_t>(q if q >= 0 else n_queries)
            if piece.docs.kind == INTEGERS:
                for i in range(n):
                    hashes[i] = hash_of_word((<const uint64_t*>piece.docs.places)[first + i])
            else:
                read(piece.docs, first, n, docs)
                for i in range(n):
                    hashes[i] = hash_of(docs + i)
            for i in range(n):
                q = codes[i]
                looker.counts[q] += 1
                nan |= piece.scores[first + i] != piece.scores[first + i]
                if q == n_queries:
                    read(piece.queries, first + i, 1, queries + i)
                    h = hash_of(queries + i)
                    failed = note_name(&looker.foreign, queries + i, h, piece.row + first + i)
                    if failed:
                        return failed
                    hashes[i] = mixed(hashes[i], h)
                elif may_be_judged(&table, q, hashes[i]):
                    read(piece.docs, first + i, 1, docs + i)
                    j = find_judged(self.index, q, self.judged.offsets[q], docs + i, hashes[i])
                    if j >= 0 and note_found(looker, q, j, piece.scores[first + i], piece.row + first + i) < 0:
                        return NO_MEMORY
            if piece.hashes != NULL:
                memcpy(piece.hashes + first, hashes, n * sizeof(uint64_t))
            first += n
        return NOT_A_NUMBER if nan else 0

    def gather(self, bint integers):
        """Put together the findings of the threads; `integers` says whether the query ids are integers.

        The hits are sorted by query in two passes, which count and then place. In the end the hits of q begin at
        found_of[q]; counts are kept two places further on, so that placing the hits moves every border to its final
        place:

            counted      found_of[q + 2] = hits of q
            summed       found_of[q + 1] = hits of all queries before q: where the next hit of q goes
            placed       found_of[q + 1] = where the hits of q end, which is where the hits of q + 1 begin
        """
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
                if looker.foreign.table[i].text.start != NULL:
                    query = query_bytes(&looker.foreign.table[i].text, integers)
                    row = looker.foreign.table[i].row
                    self.foreign[query] = min(row, self.foreign.get(query, row))
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
        self.make_levels()
        self.make_places()

    cdef make_levels(self):
        """Choose the hits that are counted, and give every thread counters for them."""
        cdef int64_t q, i, n, n_queries = self.judged.n_queries, total = n_queries + 1
        cdef int t
        cdef Looker* looker
        for q in range(n_queries):
            n = self.n_wanted(q)
            self.level_of[q] = <int32_t>total
            total += n - 1 if 1 < n <= FEW else 0
        self.level_of[n_queries] = self.level_of[n_queries + 1] = <int32_t>total
        for t in range(self.n_threads):
            looker = self.lookers + t
            looker.levels = <Level*>calloc(total + 1, sizeof(Level))
            looker.alike = <unsigned char*>calloc(total + 1, 1)
            if looker.levels == NULL or looker.alike == NULL:
                raise MemoryError
            looker.levels[n_queries].score = NAN
            for q in range(n_queries):
                looker.levels[q].score = NAN
                n = 0
                for i in range(self.found_of[q], self.found_of[q + 1]):
                    if self.is_few(q) and self.found[i].place < self.wanted(q):
                        looker.levels[self.level_at(q, n)].score = self.comparable(self.found[i].score)
                        n += 1

    cdef make_places(self):
        """Make room for the data by code, and for every thread the places of the rows that it looked at."""
        cdef int64_t q, n = self.judged.n_queries + 1, rows = 0, many = 0
        cdef int t
        cdef bint is_many
        self.hashes_of = <int64_t*>malloc(n * sizeof(int64_t))
        self.scores_of = <int64_t*>malloc(n * sizeof(int64_t))
        for t in range(self.n_threads):
            self.lookers[t].next_hash = <int64_t*>malloc(n * sizeof(int64_t))
            self.lookers[t].next_score = <int64_t*>malloc(n * sizeof(int64_t))
            if self.lookers[t].next_hash == NULL or self.lookers[t].next_score == NULL:
                raise MemoryError
        if self.hashes_of == NULL or self.scores_of == NULL:
            raise MemoryError
        for q in range(n):
            is_many = q < n - 1 and not self.is_few(q)
            self.hashes_of[q], self.scores_of[q] = rows, many if is_many else -1
            for t in range(self.n_threads):
                self.lookers[t].next_hash[q], self.lookers[t].next_score[q] = rows, many if is_many else -1
                rows += self.lookers[t].counts[q]
                many += self.lookers[t].counts[q] if is_many else 0
        if not self.only_judged:
            self.hashes = <uint64_t*>malloc((rows + 1) * sizeof(uint64_t))
        if many > 0:
            self.scores = <double*>malloc((many + 1) * sizeof(double))
        if self.hashes == NULL and not self.only_judged or self.scores == NULL and many > 0:
            raise MemoryError

    cdef int64_t level_at(self, int64_t q, int64_t i) noexcept nogil:
        """Where in levels the i-th hit of a query is counted."""
        return q if i == 0 else self.level_of[q] + i - 1

    cdef bint is_few(self, int64_t q) noexcept nogil:
        """Whether the hits of a query are counted; else it has many."""
        return self.level_of[q] < self.level_of[q + 1] or self.n_wanted(q) <= 1

    cdef int64_t n_wanted(self, int64_t q) noexcept nogil:
        """How many hits of a query the metrics read."""
        cdef int64_t i, n = 0
        for i in range(self.found_of[q], self.found_of[q + 1]):
            n += self.found[i].place < self.wanted(q)
        return n

    cdef int64_t wanted(self, int64_t q) noexcept nogil:
        """How many of a query's judged documents the metrics read."""
        return self.judged.wanted(self.plan.reads, q)

    cdef double comparable(self, double score) noexcept nogil:
        return <double><float>score if self.single else score

    def count(self, int t, int64_t piece, int64_t first, int64_t stop):
        """Compare rows first to stop of a batch, which look() saw with the same t, with the hits of their queries."""
        cdef Piece one = self.pieces[piece]
        cdef Looker* looker = self.lookers + t
        cdef fenv_t callers
        with nogil:
            ordinary(&callers)
            self.count_rows(looker.levels, looker.alike, &one, first, stop)
            self.place_rows(looker, &one, first, stop)
            fesetenv(&callers)

    cdef void count_rows(self, Level* levels, unsigned char* alike, const Piece* piece, int64_t first,
                         int64_t stop) noexcept nogil:
        cdef const int32_t* level_of = self.level_of
        cdef int64_t i
        cdef int32_t j, code
        cdef double score
        cdef bint single = self.single
        for i in range(first, stop):
            code = piece.codes[i]
            score = piece.scores[i]
            if single:
                score = <double><float>score
            levels[code].above += score > levels[code].score
            alike[code] += (score == levels[code].score) & (alike[code] < 2)
            for j in range(level_of[code], level_of[code + 1]):
                levels[j].above += score > levels[j].score
                alike[j] += (score == levels[j].score) & (alike[j] < 2)

    cdef void place_rows(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        cdef int64_t i, place
        cdef int32_t code
        if self.hashes != NULL:
            for i in range(first, stop):
                code = piece.codes[i]
                self.hashes[looker.next_hash[code]] = piece.hashes[i]
                looker.next_hash[code] += 1
        if self.scores != NULL:
            for i in range(first, stop):
                code = piece.codes[i]
                place = looker.next_score[code]
                if place >= 0:
                    self.scores[place] = self.comparable(piece.scores[i])
                    looker.next_score[code] = place + 1
