"""Rows in any order, from columns: no sort, no table of the run's ids.

    look      row by row: which query, is the document judged?     ─▶ code (int32) of each row; hits
    count     row by row: for each hit of the row's query, is this score above or alike?
              and put hashes, and scores where a query has many hits, together by code
    settle    query by query: ranks from these counts, then as for any ranking

The tables that every row touches are made small enough for the second-level cache: query ids by their last word, and
one filter for all pairs of a query and a judged document. Where a query has many hits, its scores are put together and
ranked as usual (_rank). Only a query in which a hit is tied, or in which some id may stand twice, needs
its ids again: its rows are collected from the columns and judged like a group (_join). So this keeps, beside the
columns, 4 bytes a row; and 16 more to find ids that stand twice anywhere: 8 for hashes, 8 to put them together by
query. Rows of queries that the qrels do not have share one code behind the others, and one hash of both their ids.
"""

from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._ids cimport INTEGERS, Column, Ids, read
from fastir.join._join cimport (Join, Part, clear_rows, count_ranking, find_repeated, hash_group, may_repeat,
                                query_bytes)
from fastir.measure._codes cimport NO_MEMORY, REPEATED
from fastir.join._judged cimport Index, find_judged
from fastir.measure._measure cimport Judgments, label_code, measure
from fastir.rank._rank cimport order_hits, rank_and_measure, reserve
from fastir.columns._text cimport Text, equal, hash_of, hash_of_word, last_word, mixed, room_for_rows

cdef enum:
    CHUNK = 256         # rows between two looks at the columns
    FEW = 4             # hits of a query up to which every row is compared with each


cdef struct Found:      # a judged document that was retrieved
    double score
    int64_t row
    int32_t query
    int32_t place       # among the query's judged documents


cdef struct Known:      # a query id
    uint64_t word       # its last bytes, which are all if it has up to 8
    int64_t length


cdef struct Tables:     # what every row is looked up in
    const Text* texts   # the query ids
    Known* queries      # beside them
    int32_t* codes      # by hash: a position among them, or -1
    uint64_t mask
    uint64_t* filter    # one bit for each pair of a query and a judged document
    uint64_t filter_mask


cdef struct Level:      # a hit whose rank is counted
    double score        # NaN, which nothing is above or alike, where there is no hit
    int64_t above


cdef struct Names:      # distinct query ids, copied
    Text* table         # open addressing; start NULL is free
    int64_t n, size


cdef struct Looker:     # what one thread saw
    Found* found
    int64_t n, capacity
    int64_t* counts     # rows of each query; the last: of queries that the qrels do not have
    Level* levels       # the first hit of every code, then the others as level_of says
    unsigned char* alike        # beside levels: 0, 1, or 2 for more
    int64_t* next_hash  # per code: where the hash of the next row goes
    int64_t* next_score # likewise; -1 where the scores are not put together
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


cdef inline int64_t code_of_integer(const Tables* tables, uint64_t word) noexcept nogil:
    """The position of a query id that is the eight bytes of this word, or -1."""
    cdef uint64_t slot = hash_of_word(word) & tables.mask
    cdef int64_t code = tables.codes[slot]
    while code >= 0 and not (tables.queries[code].word == word and tables.queries[code].length == 8):
        slot = (slot + 1) & tables.mask
        code = tables.codes[slot]
    return code


cdef inline int64_t code_of(const Tables* tables, const Text* query) noexcept nogil:
    """The position of a query id, or -1."""
    cdef uint64_t slot = hash_of(query) & tables.mask, word = last_word(query.start, query.length)
    cdef int64_t code = tables.codes[slot]
    while code >= 0:
        if tables.queries[code].word == word and tables.queries[code].length == query.length and (
                query.length <= 8 or equal(tables.texts + code, query)):
            return code
        slot = (slot + 1) & tables.mask
        code = tables.codes[slot]
    return -1


cdef inline bint may_be_judged(const Tables* tables, int64_t code, uint64_t h) noexcept nogil:
    h = mixed(h, code)
    return tables.filter[h >> 6 & tables.filter_mask] >> (h & 63) & 1


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
    """Evaluates rows in any order.

    Made like a Join; then add() and look() for all rows, gather(), count() for all rows, settle() for all queries.
    """

    cdef Piece* pieces
    cdef int64_t n_pieces, n_rows
    cdef list kept
    cdef Looker* lookers
    cdef int64_t* counts        # as in Looker, of all threads
    cdef Found* found           # of all threads, by query
    cdef int64_t* found_of      # per query: where its hits begin in found
    cdef int32_t* level_of      # per code: where those of its hits that are counted, but for the first, begin in levels
    cdef Tables tables
    cdef uint64_t* hashes       # of all rows, by code; NULL if only_judged
    cdef double* scores         # of the rows of queries with many hits, by code
    cdef int64_t* hashes_of     # per code: where its hashes begin
    cdef int64_t* scores_of     # likewise; -1 where the scores are not put together

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
        cdef int64_t i
        if self.lookers != NULL:
            for t in range(self.n_threads):
                free(self.lookers[t].found)
                free(self.lookers[t].levels)
                free(self.lookers[t].alike)
                free(self.lookers[t].next_hash)
                free(self.lookers[t].next_score)
                free(self.lookers[t].counts)
                for i in range(self.lookers[t].foreign.size):
                    free(<void*>self.lookers[t].foreign.table[i].start)
                free(self.lookers[t].foreign.table)
        free(self.lookers)
        free(self.counts)
        free(self.found_of)
        free(self.found)
        free(self.level_of)
        free(self.hashes)
        free(self.scores)
        free(self.hashes_of)
        free(self.scores_of)
        free(self.tables.queries)
        free(self.tables.codes)
        free(self.tables.filter)
        free(self.pieces)

    def add(self, Ids queries, Ids docs, const double[::1] scores, int32_t[::1] codes, uint64_t[::1] hashes):
        """Add a batch of at least one row; codes is to be filled, and hashes unless only_judged. Returns its number."""
        if self.tables.codes == NULL:
            self.prepare(self.judged.index(queries.column.integers))
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

    cdef prepare(self, const Index* index):
        """Make the tables; `index` knows the query ids as the run has them."""
        cdef Tables* tables = &self.tables
        cdef int64_t q, i, n = self.judged.n_queries, size = 64
        cdef uint64_t h
        cdef const Text* text
        while size < 8 * n:
            size *= 2
        tables.mask = size - 1
        tables.texts = index.queries
        tables.queries = <Known*>malloc((n + 1) * sizeof(Known))
        tables.codes = <int32_t*>malloc(size * sizeof(int32_t))
        if tables.codes != NULL:
            memset(tables.codes, 255, size * sizeof(int32_t))
        size = 64
        while size < self.judged.offsets[n] // 2:
            size *= 2
        tables.filter_mask = size - 1
        tables.filter = <uint64_t*>calloc(size, sizeof(uint64_t))
        if tables.queries == NULL or tables.codes == NULL or tables.filter == NULL:
            raise MemoryError
        for q in range(n):
            text = index.queries + q
            if text.length < 0:
                continue
            tables.queries[q].word, tables.queries[q].length = last_word(text.start, text.length), text.length
            h = hash_of(text) & tables.mask
            while tables.codes[h] >= 0:
                h = (h + 1) & tables.mask
            tables.codes[h] = <int32_t>q
            for i in range(self.judged.offsets[q], self.judged.offsets[q + 1]):
                if self.index.texts[i].length >= 0:
                    h = mixed(hash_of(self.index.texts + i), q)
                    tables.filter[h >> 6 & tables.filter_mask] |= <uint64_t>1 << (h & 63)

    def look(self, int t, int64_t piece, int64_t first, int64_t stop):
        """Find the queries and the judged documents of rows first to stop of a batch; return whether a score is NaN."""
        cdef Piece one = self.pieces[piece]
        cdef int failed
        with nogil:
            failed = self.look_at(self.lookers + t, &one, first, stop)
        if failed < 0:
            raise MemoryError
        return failed > 0

    cdef int look_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil:
        cdef Text[CHUNK] queries
        cdef Text[CHUNK] docs
        cdef uint64_t[CHUNK] hashes
        cdef Tables tables = self.tables
        cdef int64_t i, j, n, q, n_queries = self.judged.n_queries
        cdef uint64_t h
        cdef int32_t* codes
        cdef bint nan = False
        while first < stop:
            n = CHUNK if stop - first > CHUNK else stop - first
            codes = piece.codes + first
            if piece.queries.kind == INTEGERS:
                for i in range(n):
                    q = code_of_integer(&tables, (<const uint64_t*>piece.queries.places)[first + i])
                    codes[i] = <int32_t>(q if q >= 0 else n_queries)
            else:
                read(piece.queries, first, n, queries)
                for i in range(n):
                    q = code_of(&tables, queries + i)
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
                    if note_name(&looker.foreign, queries + i, h) < 0:
                        return -1
                    hashes[i] = mixed(hashes[i], h)
                elif may_be_judged(&tables, q, hashes[i]):
                    read(piece.docs, first + i, 1, docs + i)
                    j = find_judged(self.index, q, self.judged.offsets[q], docs + i, hashes[i])
                    if j >= 0 and note_found(looker, q, j, piece.scores[first + i], piece.row + first + i) < 0:
                        return -1
            if piece.hashes != NULL:
                memcpy(piece.hashes + first, hashes, n * sizeof(uint64_t))
            first += n
        return nan

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
        """Room for what is put together by code, and for every thread the places of the rows that it looked at."""
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
        """Evaluate all queries that need no ids, then those that do."""
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
            elif twice:
                again[q] = True
            elif q < n:
                again[q] = self.settle_scores(part, q) if self.scores_of[q] >= 0 else self.settle_few(part, q)
        if not part.failed:
            self.settle_again(part, begin, end, again)
        free(again)

    cdef int64_t take_hits(self, Part* part, int64_t q) noexcept nogil:
        """Put the hits of a query that the metrics read into the ranking; how many, or -1 with part.failed."""
        cdef int64_t i, n_hits = 0, first = self.judged.offsets[q], n_judged = self.judged.offsets[q + 1] - first
        cdef Found* found
        if reserve(&part.ranking, self.plan, self.counts[q], n_judged) < 0 or clear_rows(&part.seen, n_judged) < 0:
            part.failed = NO_MEMORY
            return -1
        for i in range(self.found_of[q], self.found_of[q + 1]):
            found = self.found + i
            if part.seen.rows[found.place]:
                part.failed = REPEATED
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
        """Evaluate a query from its scores and its hits; True if that takes its ids."""
        cdef int64_t n_hits = self.take_hits(part, q)
        cdef const double* scores = self.scores + self.scores_of[q]
        if n_hits < 0 or rank_and_measure(
                self.plan, &part.ranking, scores, <const char*>scores, 0, self.counts[q], n_hits, compare_nothing,
                self.ties, self.judged.of(q), &self.values[q, 0]):
            return True
        return self.settled(part, q)

    cdef bint settle_few(self, Part* part, int64_t q) noexcept nogil:
        """Evaluate a query from what was counted; True if that takes its ids."""
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
        """Judge like groups those queries that `again` marks, all of them from begin to end."""
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
