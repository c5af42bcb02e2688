"""Rows in any order, taken one by one: the first half of _scattered, which says how the halves meet.

    add       note a batch; the first one also makes the tables (_query_table)
    look      row by row, by any thread: which query? is the document judged?
                  ─▶ the code of each row (int32: the query's position, n_queries for all unknown ones), hits, and the
                     hash of the pair of its ids upon a pile (_buckets)
    gather    the hits of all threads, put together by query; and counters for count()
    count     row by row, by any thread: for each hit of the row's query, is this score above or alike?
                  ─▶ counters of each thread; scores upon piles where a query has many hits
    mark      only if hashes stand twice: row by row, which queries have them?

A hit is a judged document that was retrieved. A query with up to FEW of them ("few") has its ranks counted while the
rows pass by; of one with more the scores are put together and ranked later. A row touches one level, and what stands
beside it only if the query has several hits (its level then says NaN) or the score is that of the hit:

    levels     0 ... n_queries - 1       | n_queries     | n_queries + 1 ...
               the only hit of each, or  | unknown ones  | all hits of queries with several, few
               infinity if there is none

Neighbouring rows belong to different queries, so each reads places of several tables that nobody can foresee; with many
queries none of them is in a cache. So a step is done for CHUNK rows, and asks for the memory that the next one reads.
"""

cimport cython
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._ids cimport INTEGERS, Ids, read
from fastir.columns._number cimport decimal_of
from fastir.columns._prefetch cimport prefetch
from fastir.columns._text cimport Text, hash_of, hash_of_word, hash_words
from fastir.join._join cimport Join, query_bytes
from fastir.join._judged cimport Lookup, collision, find_listed
from fastir.join._buckets cimport (HEAD, MOST_PILES, PILE_ROWS, Pile, add_pile, below, clear_set, free_store,
                                 has, height, pile_of, push, words_of)
from fastir.join._query_table cimport (QueryTable, code_of, code_of_integer, code_or_n, free_names, free_table,
                                       hash_pairs, id_words, is_query, make_table, may_be_judged, note_name, pair_of)
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


cdef bint has_nan(const double* scores, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef uint64_t nan = 0       # as wide as a score: compilers make vector code of this
    for i in range(n):
        nan |= scores[i] != scores[i]
    return nan != 0


cdef uint64_t foreign_pair(const Piece* piece, int64_t i, uint64_t doc) noexcept nogil:
    """The hash of both ids of a row whose query has no position."""
    cdef Text query
    read(piece.queries, i, 1, &query)
    return pair_of(doc, hash_of(&query))


cdef void free_looker(Looker* looker) noexcept nogil:
    free_store(&looker.pair_store)
    free_store(&looker.store)
    free_names(&looker.foreign)
    free(looker.found)
    free(looker.levels)
    free(looker.beside)
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
        self.rows = rows
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
                free_looker(self.lookers + t)
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
                &self.table, self.judged, self.judged.index(queries.column.integers), self.index, self.rows) < 0:
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
        """Find the queries and the judged documents of rows first to stop of a batch."""
        cdef Piece one
        cdef int failed
        with cython.critical_section(self):
            one = self.pieces[piece]
        with nogil:
            failed = self.look_at(self.lookers + t, &one, first, stop)
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError

    cdef int look_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        cdef Chunk chunk
        cdef int64_t i, n, n_piles = self.n_piles
        cdef int failed
        chunk.n_candidates = 0
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            self.find_codes(&chunk, piece, first, n)
            self.pair(&chunk, piece, first, n)
            failed = self.note(looker, &chunk, piece, first)
            if failed:
                return failed
            if n_piles > 0:
                for i in range(n):
                    if push(looker.pairs + pile_of(chunk.pairs[i], n_piles), &looker.pair_store, chunk.pairs[i]) < 0:
                        return NO_MEMORY
            first += n
        return self.find_hits(looker, &chunk, piece)

    cdef void find_codes(self, Chunk* chunk, const Piece* piece, int64_t first, int64_t n) noexcept nogil:
        """Fill the codes of n rows."""
        cdef QueryTable table = self.table
        cdef int64_t i
        cdef int32_t unknown = <int32_t>table.n_queries
        cdef int32_t* codes = piece.codes + first
        cdef const uint64_t* words
        cdef const uint64_t* hashes
        if table.span > 0 and not table.integers:
            read(piece.queries, first, n, chunk.texts)
            for i in range(n):
                chunk.words[i] = decimal_of(chunk.texts[i].start, chunk.texts[i].length)
            words = chunk.words
        else:
            words = id_words(piece.queries, first, n, chunk.texts, chunk.words)
        hashes = words
        if table.span > 0:
            for i in range(n):
                codes[i] = code_or_n(&table, words[i])
            return
        if piece.queries.integers:
            hash_words(words, n, chunk.hashes)
            hashes = chunk.hashes
        for i in range(n):
            prefetch(table.codes + (hashes[i] & table.mask))
        for i in range(n):
            codes[i] = table.codes[hashes[i] & table.mask]
            prefetch(table.queries + codes[i])
        if piece.queries.integers:
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
        """Hash both ids of n rows, and note which of them may be judged or are of unknown queries."""
        cdef QueryTable table = self.table
        cdef int64_t i, n_noted = 0
        cdef int32_t unknown = <int32_t>table.n_queries
        cdef const int32_t* codes = piece.codes + first
        cdef const uint64_t* words = id_words(piece.docs, first, n, chunk.texts, chunk.words)
        hash_pairs(words, codes, n, chunk.pairs)
        for i in range(n):
            prefetch(table.filter + (chunk.pairs[i] >> 12 & table.filter_mask))
        for i in range(n):
            chunk.noted[n_noted] = <int32_t>i
            n_noted += may_be_judged(&table, chunk.pairs[i]) | (codes[i] == unknown)
        chunk.n_noted = n_noted

    cdef int note(self, Looker* looker, Chunk* chunk, const Piece* piece, int64_t first) noexcept nogil:
        """Note unknown queries, whose pairs are of both ids, and candidates; 0, NO_MEMORY or COLLISION."""
        cdef int64_t i, k
        cdef uint64_t h
        cdef int failed
        cdef Text query
        cdef const uint64_t* words = chunk.words
        if piece.docs.kind == INTEGERS:
            words = <const uint64_t*>piece.docs.places + first
        if chunk.n_candidates > CHUNK and self.find_hits(looker, chunk, piece):
            return NO_MEMORY
        for k in range(chunk.n_noted):
            i = chunk.noted[k]
            if piece.codes[first + i] < self.table.n_queries:
                chunk.candidates[chunk.n_candidates].row = first + i
                chunk.candidates[chunk.n_candidates].hash = hash_of_word(words[i]) if piece.docs.integers else words[i]
                chunk.n_candidates += 1
                continue
            read(piece.queries, first + i, 1, &query)
            h = hash_of(&query)
            failed = note_name(&looker.foreign, &query, h, piece.row + first + i)
            if failed:
                return failed
            chunk.pairs[i] = pair_of(words[i], h)
        return 0

    cdef int find_hits(self, Looker* looker, Chunk* chunk, const Piece* piece) noexcept nogil:
        """Note which candidates are judged, and forget them; 0 or NO_MEMORY."""
        cdef int64_t j, k, q, row, n = chunk.n_candidates
        cdef const Candidate* candidates = chunk.candidates
        cdef const int32_t* codes = piece.codes
        cdef const int64_t* offsets = self.judged.offsets
        cdef const Lookup* lookup
        cdef Text doc
        chunk.n_candidates = 0
        for k in range(n):
            q = codes[candidates[k].row]
            prefetch(self.index.lookups + q)
            prefetch(offsets + q)
        for k in range(n):
            lookup = self.index.lookups + codes[candidates[k].row]
            prefetch(lookup.table + (candidates[k].hash & lookup.mask))
        for k in range(n):
            lookup = self.index.lookups + codes[candidates[k].row]
            j = <int64_t>(lookup.table[candidates[k].hash & lookup.mask] & <uint64_t>0xFFFFFFFF) - 1
            prefetch(self.index.texts + (offsets[codes[candidates[k].row]] + j))
        for k in range(n):
            row = candidates[k].row
            q = codes[row]
            read(piece.docs, row, 1, &doc)
            j = find_listed(self.index, q, offsets[q], &doc, candidates[k].hash)
            if j >= 0 and note_found(looker, q, j, piece.scores[row], piece.row + row) < 0:
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
        cdef int64_t q, i, n, n_queries = self.judged.n_queries, size = n_queries + 1
        cdef int t
        cdef Level* levels
        cdef Beside* beside
        for q in range(n_queries):
            n = self.n_wanted(q)
            size += n if 1 < n <= FEW else 0
        for t in range(self.n_threads):
            self.lookers[t].levels = <Level*>calloc(size, sizeof(Level))
            self.lookers[t].beside = <Beside*>calloc(size, sizeof(Beside))
            if self.lookers[t].levels == NULL or self.lookers[t].beside == NULL:
                raise MemoryError
        levels, beside = self.lookers[0].levels, self.lookers[0].beside
        levels[n_queries].score = INFINITY
        size = n_queries + 1
        for q in range(n_queries):
            n = self.n_wanted(q)
            levels[q].score = INFINITY if n == 0 else NAN
            beside[q].hits = <int32_t>(q if n == 1 else size)
            beside[q].n_hits = n if n <= FEW else MANY
            if n > FEW:
                continue
            size += n if n > 1 else 0
            n = beside[q].hits
            for i in range(self.found_of[q], self.found_of[q + 1]):
                if self.found[i].place < self.wanted(q):
                    levels[n].score = self.comparable(self.found[i].score)
                    n += 1
        for t in range(1, self.n_threads):
            memcpy(self.lookers[t].levels, levels, size * sizeof(Level))
            memcpy(self.lookers[t].beside, beside, size * sizeof(Beside))
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
        """Compare rows first to stop of a batch with the hits of their queries; True if one of their scores is NaN."""
        cdef Piece one = self.pieces[piece]
        cdef fenv_t callers
        cdef int failed
        with nogil:
            ordinary(&callers)
            failed = NOT_A_NUMBER if has_nan(one.scores + first, stop - first) else 0
            if not failed:
                failed = self.count_rows(self.lookers + t, &one, first, stop)
            fesetenv(&callers)
        if failed == NO_MEMORY:
            raise MemoryError
        return failed == NOT_A_NUMBER

    cdef int count_rows(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        """Most rows touch one level, and leave by the only branch that is ever taken another way by chance."""
        cdef const int32_t* codes = piece.codes
        cdef Level* levels = looker.levels
        cdef Level* level
        cdef int64_t i
        cdef double score
        cdef bint single = self.single
        for i in range(first, stop):
            prefetch(levels + codes[i + AHEAD if i + AHEAD < stop else i])
            level = levels + codes[i]
            score = piece.scores[i]
            if single:
                score = <double><float>score
            level.rows += 1
            level.above += score > level.score
            if score == level.score or level.score != level.score:
                if self.look_beside(looker, codes[i], score) < 0:
                    return NO_MEMORY
        return 0

    cdef int look_beside(self, Looker* looker, int32_t code, double score) noexcept nogil:
        """Compare a score with the hits of a query that has several, or note that it is that of the only one."""
        cdef Beside* beside = looker.beside + code
        cdef Level* level
        cdef Pile* pile
        cdef int64_t j
        cdef uint64_t bits
        if beside.n_hits == MANY:
            memcpy(&bits, &score, sizeof(double))
            pile = looker.scores + (code >> self.range_shift)
            if push(pile, &looker.store, code) < 0 or push(pile, &looker.store, bits) < 0:
                return -1
            return 0
        for j in range(beside.hits, beside.hits + beside.n_hits):
            level = looker.levels + j
            level.above += score > level.score
            if score == level.score and looker.beside[j].alike < 2:
                looker.beside[j].alike += 1
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
                failed = add_pile(&looker.known, self.lookers[t].pairs + p, &looker.repeated, &looker.store)
        return failed

    def gather_repeated(self):
        """Put together the hashes that stand twice; returns whether there are any."""
        cdef int64_t n = 0
        cdef int t, failed = 0
        cdef Pile twice         # those that several threads found
        twice.next = twice.end = twice.top = NULL
        for t in range(self.n_threads):
            free_store(&self.lookers[t].pair_store)
            n += height(&self.lookers[t].repeated)
        if n == 0:
            return False
        failed = clear_set(&self.repeated, n)
        for t in range(self.n_threads):
            if not failed:
                failed = add_pile(&self.repeated, &self.lookers[t].repeated, &twice, &self.lookers[0].store)
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
        cdef const uint64_t* words
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            words = id_words(piece.docs, first, n, chunk.texts, chunk.words)
            for i in range(n):
                code = piece.codes[first + i]
                if code < self.judged.n_queries:
                    h = pair_of(words[i], code)
                else:
                    h = foreign_pair(piece, first + i, words[i])
                if has(&self.repeated, h) and push(&looker.marked, &looker.store, code) < 0:
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
