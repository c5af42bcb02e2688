"""Rows in any order, taken one by one: the first half of _ungrouped, which says how the halves meet.

    add       note a batch; the first one also makes the tables (_query_table)
    look      row by row, by any thread: which query? is the document judged?
                  ─▶ the code of each row (int32: the query's position, n_queries for all unknown ones), hits, and the
                     hash of the pair of its ids upon a pile (_piles)
    gather    the hits of all threads, put together by query; and counters for count()
    count     row by row, by any thread: for each hit of the row's query, is this score above or alike?
                  ─▶ counters of each thread; scores upon piles where a query has many hits
    mark      only if hashes stand twice: row by row, which queries have them?

A hit is a judged document that was retrieved. A query with up to FEW of them ("few") has its ranks counted while the
rows pass by; of one with more the scores are put together and ranked later. The levels lie so that a row of a query
with at most one hit touches one of them only:

    levels     0 ... n_queries - 1 | n_queries      | n_queries + 1 ...
               first hit of each   | unknown ones's | second, third, ... hits of queries with few

Neighbouring rows belong to different queries, so each reads places of several tables that nobody can foresee; with many
queries none of them is in a cache. So a step is done for CHUNK rows, and asks for the memory that the next one reads.
"""

cimport cython
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._ids cimport INTEGERS, TEXTS, Column, Ids, read
from fastir.columns._prefetch cimport prefetch
from fastir.columns._text cimport Text, hash_of, hash_words, mixed
from fastir.join._join cimport Join, query_bytes
from fastir.join._judged cimport Lookup, collision, find_listed
from fastir.join._piles cimport (HEAD, MOST_PILES, PILE_ROWS, Pile, add_pile, below, clear_set, free_pile, has,
                                 height, pile_of, push, words_of)
from fastir.join._query_table cimport (QueryTable, code_of, code_of_integer, free_names, free_table, is_query,
                                       make_table, may_be_judged, note_name)
from fastir.measure._codes cimport COLLISION, NO_MEMORY, NOT_A_NUMBER

cdef enum:
    AHEAD = 16          # rows for which count() asks for memory
    FEW = 4             # hits of a query up to which every row is compared with each
    RANGE_ROWS = 1 << 16        # rows of a range of codes, about
    MOST_RANGES = 1 << 8


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


cdef void hash_ids(Chunk* chunk, const Column* column, int64_t first, int64_t n) noexcept nogil:
    """The hashes of some rows' ids; of text also the texts."""
    cdef int64_t i
    if column.kind == INTEGERS:
        hash_words(<const uint64_t*>column.places + first, n, chunk.hashes)
        return
    read(column, first, n, chunk.texts)
    if column.kind == TEXTS:
        for i in range(n):
            prefetch(chunk.texts[i].start)
    for i in range(n):
        chunk.hashes[i] = hash_of(chunk.texts + i)


cdef bint has_nan(const double* scores, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef uint64_t nan = 0       # as wide as a score: compilers make vector code of this
    for i in range(n):
        nan |= scores[i] != scores[i]
    return nan != 0


cdef uint64_t foreign_pair(const Piece* piece, int64_t i, uint64_t doc_hash) noexcept nogil:
    """The hash of both ids of a row whose query has no position."""
    cdef Text query
    read(piece.queries, i, 1, &query)
    return mixed(doc_hash, hash_of(&query))


cdef inline void compare_score(Level* level, double score) noexcept nogil:
    level.above += score > level.score
    if score == level.score and level.alike < 2:
        level.alike += 1


cdef void free_looker(Looker* looker, int64_t n_piles, int64_t n_ranges) noexcept nogil:
    cdef int64_t i
    if looker.pairs != NULL:
        for i in range(n_piles):
            free_pile(looker.pairs + i)
    if looker.scores != NULL:
        for i in range(n_ranges):
            free_pile(looker.scores + i)
    free_pile(&looker.marked)
    free_pile(&looker.repeated)
    free_names(&looker.foreign)
    free(looker.found)
    free(looker.levels)
    free(looker.pairs)
    free(looker.scores)
    free(looker.known.table)


cdef class ScatteredRows(Join):
    """Collects data about rows in any order; made like a Join, and for about so many rows."""

    def __init__(self, int64_t rows, *args):
        cdef int t
        super().__init__(*args)
        cdef int64_t n = self.judged.n_queries, most = min(max(rows // RANGE_ROWS, 8 * self.n_threads), MOST_RANGES)
        self.kept = []
        self.n_piles = 0 if self.only_judged else 1
        while 0 < self.n_piles < MOST_PILES and self.n_piles * PILE_ROWS < rows:
            self.n_piles *= 2
        while n >> self.range_shift >= most:
            self.range_shift += 1
        self.n_ranges = (n >> self.range_shift) + 1
        self.lookers = <Looker*>calloc(self.n_threads, sizeof(Looker))
        self.found_of = <int64_t*>calloc(n + 2, sizeof(int64_t))
        if self.lookers == NULL or self.found_of == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            self.lookers[t].pairs = <Pile*>calloc(self.n_piles + 1, sizeof(Pile))
            self.lookers[t].scores = <Pile*>calloc(self.n_ranges, sizeof(Pile))
            if self.lookers[t].pairs == NULL or self.lookers[t].scores == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        if self.lookers != NULL:
            for t in range(self.n_threads):
                free_looker(self.lookers + t, self.n_piles, self.n_ranges)
        free(self.lookers)
        free(self.found)
        free(self.found_of)
        free(self.counts)
        free(self.again)
        free(self.repeated.table)
        free_table(&self.table)
        free(self.pieces)

    def add(self, Ids queries, Ids docs, const double[::1] scores, int32_t[::1] codes):
        """Add a batch of at least one row; codes is to be filled. Returns its number."""
        if self.table.codes == NULL and make_table(
                &self.table, self.judged, self.judged.index(queries.column.integers), self.index) < 0:
            raise MemoryError
        cdef Piece* more
        self.kept.append((queries, docs, scores, codes))
        with cython.critical_section(self):     # other threads look() meanwhile
            more = <Piece*>realloc(self.pieces, (self.n_pieces + 1) * sizeof(Piece))
            if more == NULL:
                raise MemoryError
            self.pieces = more
            more = self.pieces + self.n_pieces
            more.queries, more.docs, more.scores, more.codes = &queries.column, &docs.column, &scores[0], &codes[0]
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
        cdef Chunk chunk
        cdef int64_t i, n, n_piles = self.n_piles
        cdef int64_t begun = first
        cdef int failed
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            self.find_codes(&chunk, piece, first, n)
            self.pair(&chunk, piece, first, n)
            failed = self.note_foreign(looker, &chunk, piece, first)
            if not failed:
                failed = self.find_hits(looker, &chunk, piece, first)
            if failed:
                return failed
            if n_piles > 0:
                for i in range(n):
                    if push(looker.pairs + pile_of(chunk.pairs[i], n_piles), chunk.pairs[i]) < 0:
                        return NO_MEMORY
            first += n
        return NOT_A_NUMBER if has_nan(piece.scores + begun, stop - begun) else 0

    cdef void find_codes(self, Chunk* chunk, const Piece* piece, int64_t first, int64_t n) noexcept nogil:
        """Fill the codes of n rows."""
        cdef QueryTable table = self.table
        cdef int64_t i
        cdef int32_t unknown = <int32_t>self.judged.n_queries
        cdef int32_t* codes = piece.codes + first
        cdef const uint64_t* words = <const uint64_t*>piece.queries.places + first
        hash_ids(chunk, piece.queries, first, n)
        for i in range(n):
            prefetch(table.codes + (chunk.hashes[i] & table.mask))
        for i in range(n):
            codes[i] = table.codes[chunk.hashes[i] & table.mask]
            prefetch(table.queries + codes[i])
        if piece.queries.kind == INTEGERS:
            for i in range(n):
                if codes[i] >= 0 and table.queries[codes[i]].word != words[i]:
                    codes[i] = <int32_t>code_of_integer(&table, words[i])
        else:
            for i in range(n):
                if codes[i] >= 0 and not is_query(&table, codes[i], chunk.texts + i):
                    codes[i] = <int32_t>code_of(&table, chunk.texts + i)
        for i in range(n):
            codes[i] = codes[i] if codes[i] >= 0 else unknown

    cdef void pair(self, Chunk* chunk, const Piece* piece, int64_t first, int64_t n) noexcept nogil:
        """Hash both ids of n rows, and note which of them may be judged and which are of unknown queries."""
        cdef QueryTable table = self.table
        cdef int64_t i, n_judged = 0, n_foreign = 0, n_queries = self.judged.n_queries
        cdef const int32_t* codes = piece.codes + first
        hash_ids(chunk, piece.docs, first, n)
        for i in range(n):
            chunk.pairs[i] = mixed(chunk.hashes[i], codes[i])
            prefetch(table.filter + (chunk.pairs[i] >> 12 & table.filter_mask))
        for i in range(n):
            chunk.judged[n_judged] = chunk.foreign[n_foreign] = <int32_t>i
            n_judged += (codes[i] < n_queries) & may_be_judged(&table, chunk.pairs[i])
            n_foreign += codes[i] == n_queries
        chunk.n_judged, chunk.n_foreign = n_judged, n_foreign

    cdef int note_foreign(self, Looker* looker, Chunk* chunk, const Piece* piece, int64_t first) noexcept nogil:
        """Note the unknown queries of some rows, whose pairs are of both ids; 0, NO_MEMORY or COLLISION."""
        cdef int64_t i, k
        cdef uint64_t h
        cdef int failed
        cdef Text query
        for k in range(chunk.n_foreign):
            i = chunk.foreign[k]
            read(piece.queries, first + i, 1, &query)
            h = hash_of(&query)
            failed = note_name(&looker.foreign, &query, h, piece.row + first + i)
            if failed:
                return failed
            chunk.pairs[i] = mixed(chunk.hashes[i], h)
        return 0

    cdef int find_hits(self, Looker* looker, const Chunk* chunk, const Piece* piece, int64_t first) noexcept nogil:
        """Note which of the rows that may be judged are; 0 or NO_MEMORY."""
        cdef int64_t i, j, k, q, n = chunk.n_judged
        cdef const int32_t* codes = piece.codes + first
        cdef const int64_t* offsets = self.judged.offsets
        cdef const Lookup* lookup
        cdef Text doc
        for k in range(n):
            q = codes[chunk.judged[k]]
            prefetch(self.index.lookups + q)
            prefetch(offsets + q)
        for k in range(n):
            i = chunk.judged[k]
            lookup = self.index.lookups + codes[i]
            prefetch(lookup.table + (chunk.hashes[i] & lookup.mask))
        for k in range(n):
            i = chunk.judged[k]
            lookup = self.index.lookups + codes[i]
            j = <int64_t>(lookup.table[chunk.hashes[i] & lookup.mask] & <uint64_t>0xFFFFFFFF) - 1
            prefetch(self.index.texts + (offsets[codes[i]] + j))
        for k in range(n):
            i = chunk.judged[k]
            q = codes[i]
            read(piece.docs, first + i, 1, &doc)
            j = find_listed(self.index, q, offsets[q], &doc, chunk.hashes[i])
            if j >= 0 and note_found(looker, q, j, piece.scores[first + i], piece.row + first + i) < 0:
                return NO_MEMORY
        return 0

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

    cdef int make_levels(self) except -1:
        """Choose the hits that are counted, and give every thread counters for them."""
        cdef int64_t q, i, n, n_queries = self.judged.n_queries, total = n_queries + 1, size = total
        cdef int t
        cdef Level* levels
        for q in range(n_queries):
            n = self.n_wanted(q)
            size += n - 1 if 1 < n <= FEW else 0
        for t in range(self.n_threads):
            self.lookers[t].levels = <Level*>calloc(size, sizeof(Level))
            if self.lookers[t].levels == NULL:
                raise MemoryError
        levels = self.lookers[0].levels
        levels[n_queries].score = NAN
        for q in range(n_queries):
            n = self.n_wanted(q)
            levels[q].score = NAN
            levels[q].others = <int32_t>total
            levels[q].n_others = 0 if n == 0 else n - 1 if n <= FEW else MANY
            n = 0
            for i in range(self.found_of[q], self.found_of[q + 1]):
                if levels[q].n_others != MANY and self.found[i].place < self.wanted(q):
                    levels[level_at(levels, q, n)].score = self.comparable(self.found[i].score)
                    n += 1
            total += n - 1 if n > 1 else 0
        for t in range(1, self.n_threads):
            memcpy(self.lookers[t].levels, levels, size * sizeof(Level))
        return 0

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
        """Compare rows first to stop of a batch with the hits of their queries."""
        cdef Piece one = self.pieces[piece]
        cdef fenv_t callers
        cdef int failed
        with nogil:
            ordinary(&callers)
            failed = self.count_rows(self.lookers + t, &one, first, stop)
            fesetenv(&callers)
        if failed:
            raise MemoryError

    cdef int count_rows(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        cdef const int32_t* codes = piece.codes
        cdef Level* levels = looker.levels
        cdef Level* level
        cdef Pile* pile
        cdef int64_t i, j
        cdef double score
        cdef uint64_t bits
        cdef bint single = self.single
        for i in range(first, stop):
            prefetch(levels + codes[i + AHEAD if i + AHEAD < stop else i])
            level = levels + codes[i]
            score = piece.scores[i]
            if single:
                score = <double><float>score
            level.rows += 1
            compare_score(level, score)
            if level.n_others == MANY:
                memcpy(&bits, &score, sizeof(double))
                pile = looker.scores + (codes[i] >> self.range_shift)
                if push(pile, codes[i]) < 0 or push(pile, bits) < 0:
                    return -1
            else:
                for j in range(level.others, level.others + level.n_others):
                    compare_score(levels + j, score)
        return 0

    def sum_up(self):
        """Add up the rows of each query, of all threads; returns how many the longest one has."""
        cdef int64_t q, n = self.judged.n_queries, longest = 0
        cdef int t
        self.counts = <int64_t*>calloc(n + 1, sizeof(int64_t))
        self.again = <unsigned char*>calloc(n + 1, 1)
        if self.counts == NULL or self.again == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            for q in range(n + 1):
                self.counts[q] += self.lookers[t].levels[q].rows
        for q in range(n):
            longest = max(longest, self.counts[q])
        return longest

    def compare(self, int t, int64_t first, int64_t stop):
        """Look for equal hashes upon piles first to stop."""
        cdef Looker* looker = self.lookers + t
        cdef int64_t p
        cdef int failed = 0
        with nogil:
            for p in range(first, stop):
                failed = self.compare_pile(looker, p)
                if failed:
                    break
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError

    cdef int compare_pile(self, Looker* looker, int64_t p) noexcept nogil:
        cdef int64_t n = 0
        cdef int t, failed = 0
        for t in range(self.n_threads):
            n += height(self.lookers[t].pairs + p)
        if clear_set(&looker.known, n) < 0:
            return NO_MEMORY
        for t in range(self.n_threads):
            if not failed:
                failed = add_pile(&looker.known, self.lookers[t].pairs + p, &looker.repeated)
            free_pile(self.lookers[t].pairs + p)
        return failed

    def gather_repeated(self):
        """Put together the hashes that stand twice; returns whether there are any."""
        cdef int64_t n = 0
        cdef int t, failed = 0
        cdef Pile twice         # those that several threads found
        twice.next = twice.end = twice.top = NULL
        for t in range(self.n_threads):
            n += height(&self.lookers[t].repeated)
        if n == 0:
            return False
        failed = clear_set(&self.repeated, n)
        for t in range(self.n_threads):
            if not failed:
                failed = add_pile(&self.repeated, &self.lookers[t].repeated, &twice)
        free_pile(&twice)
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError
        return True

    def mark(self, int t, int64_t piece, int64_t first, int64_t stop):
        """Note the queries of rows first to stop of a batch whose hash stands twice."""
        cdef Piece one = self.pieces[piece]
        cdef int failed
        with nogil:
            failed = self.mark_at(self.lookers + t, &one, first, stop)
        if failed:
            raise MemoryError

    cdef int mark_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        cdef Chunk chunk
        cdef int64_t i, n
        cdef int32_t code
        cdef uint64_t h
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            hash_ids(&chunk, piece.docs, first, n)
            for i in range(n):
                code = piece.codes[first + i]
                if code < self.judged.n_queries:
                    h = mixed(chunk.hashes[i], code)
                else:
                    h = foreign_pair(piece, first + i, chunk.hashes[i])
                if has(&self.repeated, h) and push(&looker.marked, code) < 0:
                    return NO_MEMORY
            first += n
        return 0

    def gather_marked(self):
        """Note which queries have rows that were marked; what is unknown may stand twice where others may."""
        cdef const uint64_t* codes
        cdef int64_t i
        cdef int t
        for t in range(self.n_threads):
            codes = self.lookers[t].marked.top
            while codes != NULL:
                for i in range(words_of(&self.lookers[t].marked, codes)):
                    self.again[codes[HEAD + i]] = True
                codes = below(codes)
        if self.once:
            self.again[self.judged.n_queries] = False
