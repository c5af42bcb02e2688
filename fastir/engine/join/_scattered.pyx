"""Rows in any order, from columns: no sort, no table of the run's ids. In this order:

    rows ── add ─▶ batches ── probe ─▶ code of each row, hits, hashes ── gather ─▶ hits by query, counters
                                            │
                      equal hashes? ◀─ compare                     counters ◀─ count, sum_up
                            │                                          │
    values ◀─ settle ── queries in ranges: few hits, their ranks were counted; many, ranked among the scores (_rank)
    values ◀─ settle_again ── queries with equal hashes or a tied hit: their rows, judged like a group (_join)

probe, count and mark see rows, compare sees hashes, settle and settle_again see queries. All of them may be called in
threads, each for any part of the work, and the other calls in one. Nothing depends on which thread does what. Beside
the columns this keeps 4 bytes a row, and 8 more to find duplicates. Rows of queries that the qrels do not have share
one code behind the others.

_two_pass, which counts rows read again into arrays that parts add up, shares the tables and what needs no speed
(_query_table), but not this kernel: it finds a hit by its query's offset, while a level holds the only hit of most
queries itself. Measured, ns of processor time to count a row, levels : query and slot (in C, both with prefetches,
least of 11 rounds, random order):

    hits of each query     1              3
    3 000 queries          2.0 : 2.9      5.1 : 4.6
    300 000 queries        3.8 : 13.6     60 : 33
"""

cimport cython
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport (INTEGERS, Column, Ids, Text, hash_words, read, room_for_rows, text_hash,
                                         word_hash)
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._number cimport decimal_value
from fastir.engine.join._counts cimport Counts, count_excluded, count_low, count_order, count_ranking
from fastir.engine.join._join cimport (BUCKET_HASHES, HEAD_WORDS, MAX_BUCKETS, Bucket, HashSet, Join, Part, Store,
                                       add_bucket, add_segment, bucket_number, bucket_size, clear_rows, clear_set,
                                       contains, find_repeated, free_store, hash_group, previous, push, segment_size)
from fastir.engine.join._judged cimport Lookup, collision, find_judged, find_listed
from fastir.engine.join._query_table cimport (Names, QueryTable, code_or_n, free_names, free_table, hash_pairs,
                                              id_words, integer_code, is_query, make_table, may_be_judged, list_names,
                                              note_name, pair_hash, query_code)
from fastir.engine.measure._codes cimport COLLISION, NOT_A_NUMBER, NO_MEMORY, REPEATED
from fastir.engine.measure._measure cimport Judgments, label_code, measure
from fastir.engine.rank._rank cimport comparable, order_hits, rank_and_measure, reserve

cdef enum:
    CHUNK_ROWS = 256    # that one step after the other takes
    AHEAD_ROWS = 16     # rows that count() prefetches
    FEW_HITS = 4        # hits of a query up to which every row is compared with each
    RANGE_ROWS = 1 << 16        # rows of a range of codes, about
    MAX_RANGES = 1 << 8
    MANY_HITS = 255     # n_hits of a query with more hits than are counted
    ROWS_PER_SETTLED = 32   # rows with codes that are looked at in the time in which one is settled


# ---- whether a document is in two rows of one query ------------------------------------------------------------------

# The hashes of all pairs of query and document meet in buckets.
#
#     add_pairs      the hash of each row's query and document goes to a bucket (_join), by any thread
#     compare        bucket by bucket, by any thread: which hashes do two rows have?
#     gather         put together what the threads found; nearly always nothing, and then all is done
#     mark           else row by row, by any thread: which queries have a row with such a hash?
#     gather_marked  put these together
#
# Two rows of one hash are nearly always one pair; the caller compares the ids of a marked query's rows. So a row costs
# 8 bytes and no look at its ids, and ids are compared for few queries. The hash of a row whose query the qrels do not
# have is made of the text of the query, as all such rows share one code.

cdef struct PairHashes:     # of one thread
    Bucket* buckets         # hashes of query and document
    int64_t n_buckets
    Store store             # which holds these, and `kept_store` what is left when they are freed
    Store kept_store
    Bucket repeated         # hashes that two rows have
    Bucket marked           # codes of rows with such a hash
    HashSet seen            # scratch


cdef inline int add_pairs(PairHashes* hashes, const uint64_t* pairs, int64_t n) noexcept nogil:
    """Keep the hashes of up to CHUNK_ROWS rows; 0, or -1 without memory.

    All places are found, and their memory fetched, before anything is written: written one by one, the next end of a
    bucket waited for the store before it, and 7 million rows took 1.1 times as long in all.
    """
    cdef int64_t i, n_buckets = hashes.n_buckets
    cdef Bucket* bucket
    cdef uint64_t* places[CHUNK_ROWS]
    for i in range(n):
        bucket = hashes.buckets + bucket_number(pairs[i], n_buckets)
        if bucket.next == bucket.end and add_segment(bucket, &hashes.store) < 0:
            return -1
        prefetch(bucket.next)
        places[i] = bucket.next
        bucket.next += 1
    for i in range(n):
        places[i][0] = pairs[i]
    return 0


cdef uint64_t unknown_pair(const Column* queries, int64_t i, uint64_t doc) noexcept nogil:
    """The hash of both ids of a row of an unknown query."""
    cdef Text query
    read(queries, i, 1, &query)
    return pair_hash(doc, text_hash(&query))


cdef class DuplicatePairs:
    """Finds the queries that may have a document twice, for about so many rows."""

    cdef readonly int64_t n_buckets     # a power of two
    cdef int n_threads
    cdef PairHashes* threads
    cdef HashSet repeated

    def __init__(self, int64_t rows, int n_threads):
        cdef int t
        self.n_buckets, self.n_threads = 1, n_threads
        while self.n_buckets < MAX_BUCKETS and self.n_buckets * BUCKET_HASHES < rows:
            self.n_buckets *= 2
        self.threads = <PairHashes*>calloc(n_threads, sizeof(PairHashes))
        if self.threads == NULL:
            raise MemoryError
        for t in range(n_threads):
            self.threads[t].n_buckets = self.n_buckets
            self.threads[t].buckets = <Bucket*>calloc(self.n_buckets, sizeof(Bucket))
            if self.threads[t].buckets == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        if self.threads != NULL:
            for t in range(self.n_threads):
                free_store(&self.threads[t].store)
                free_store(&self.threads[t].kept_store)
                free(self.threads[t].buckets)
                free(self.threads[t].seen.table)
        free(self.threads)
        free(self.repeated.table)

    def compare(self, int t, int64_t first, int64_t stop):
        """Look for equal hashes in buckets first to stop."""
        cdef int64_t number
        cdef int failed = 0
        with nogil:
            for number in range(first, stop):
                failed = self.compare_bucket(self.threads + t, number)
                if failed:
                    break
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError

    cdef int compare_bucket(self, PairHashes* hashes, int64_t number) noexcept nogil:
        cdef int64_t n = 0
        cdef int t, failed = 0
        for t in range(self.n_threads):
            n += bucket_size(self.threads[t].buckets + number)
        if clear_set(&hashes.seen, n) < 0:
            return NO_MEMORY
        for t in range(self.n_threads):
            if not failed:
                failed = add_bucket(&hashes.seen, self.threads[t].buckets + number, &hashes.repeated,
                                    &hashes.kept_store)
        return failed

    def gather(self):
        """Put together the hashes that two rows have; returns whether there are any."""
        cdef int64_t n = 0
        cdef int t, failed = 0
        cdef Bucket twice       # those that several threads have
        twice.next = twice.end = twice.last = NULL
        for t in range(self.n_threads):
            free_store(&self.threads[t].store)
            n += bucket_size(&self.threads[t].repeated)
        if n == 0:
            return False
        failed = clear_set(&self.repeated, n)
        for t in range(self.n_threads):
            if not failed:
                failed = add_bucket(&self.repeated, &self.threads[t].repeated, &twice, &self.threads[0].kept_store)
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError
        return True

    cdef int mark(self, int t, const Column* queries, const Column* docs, const int32_t* codes, int64_t n_queries,
                  int64_t first, int64_t stop) noexcept nogil:
        """Note the codes of rows first to stop that share a hash with another row; 0, or NO_MEMORY."""
        cdef Text[CHUNK_ROWS] texts
        cdef uint64_t[CHUNK_ROWS] hashes
        cdef PairHashes* mine = self.threads + t
        cdef int64_t i, n
        cdef int32_t code
        cdef uint64_t h
        cdef const uint64_t* words
        while first < stop:
            n = CHUNK_ROWS if stop - first > CHUNK_ROWS else stop - first
            words = id_words(docs, first, n, texts, hashes)
            for i in range(n):
                code = codes[first + i]
                h = pair_hash(words[i], code) if code < n_queries else unknown_pair(queries, first + i, words[i])
                if contains(&self.repeated, h) and push(&mine.marked, &mine.kept_store, code) < 0:
                    return NO_MEMORY
            first += n
        return 0

    cdef void gather_marked(self, unsigned char* marked) noexcept nogil:
        """Mark the codes that a thread noted."""
        cdef const uint64_t* segment
        cdef int64_t i
        cdef int t
        for t in range(self.n_threads):
            segment = self.threads[t].marked.last
            while segment != NULL:
                for i in range(segment_size(&self.threads[t].marked, segment)):
                    marked[segment[HEAD_WORDS + i]] = True
                segment = previous(segment)


# ---- rows, taken one by one ------------------------------------------------------------------------------------------

#     add       note a batch; the first one also makes the tables (_query_table)
#     probe     row by row, by any thread: which query? is the document judged?
#                   ─▶ the code of each row (int32: the query's position, n_queries for all unknown ones), hits, and the
#                      hash of the pair of its ids
#     gather    the hits of all threads, put together by query; and counters for count()
#     count     row by row, by any thread: for each hit of the row's query, is this score above or alike?
#                   ─▶ counters of each thread; scores into buckets where a query has many hits
#     mark      only if two rows have one hash: row by row, which queries have them?
#
# A hit is a judged document that was retrieved. A query with up to FEW_HITS ("few") has its ranks counted while the
# rows pass by; if it has more, the scores are put together and ranked later. A row touches one level, and its LevelHits
# only if the query has several hits (its level then says NaN) or the score is that of the hit. A row whose document is
# excluded has the code of unknown queries, and counts for none.
#
#     levels     0 ... n_queries - 1       | n_queries     | n_queries + 1 ...
#                the only hit of each, or  | unknown ones  | all hits of queries with several, few
#                infinity if there is none
#
# Neighbouring rows belong to different queries, so each reads unforeseeable slots of several tables; with many queries
# none of them is in a cache. So a step is done for CHUNK_ROWS, and prefetches the memory of the next step.

cdef struct RowHit:
    double score
    int64_t row
    int32_t query
    int32_t place       # among the query's judged documents


cdef struct Level:      # of a query, and its hit if it has one; or one of the hits of a query with several
    double score        # infinity, which nothing is above, if there is no hit; NaN if there are several
    int64_t above
    int64_t rows        # of the query


cdef struct LevelHits:  # what a row needs to know of a level only if its score is alike, or if there are several hits
    int32_t hits        # where the levels of the query's hits begin
    unsigned char n_hits        # or MANY_HITS: all scores of the query are put together
    unsigned char alike         # 0, 1, or 2 for more


cdef struct Probe:      # what one thread finds
    RowHit* hits
    int64_t n, capacity
    Level* levels       # of every code, then of the hits of queries that have several
    LevelHits* level_hits       # parallel to levels
    int64_t* low        # per code: rows with low scores; NULL if every score is retrieved
    Store store
    Bucket* scores      # of the rows of queries with many hits: code, score; by code
    Names unknown


cdef struct Batch:
    const Column* queries
    const Column* docs
    const double* scores
    int32_t* codes
    int64_t n, row      # row: of its first, in the whole table


cdef struct Candidate:  # a row that may be judged
    int64_t row         # of the batch
    uint64_t hash       # of its document


cdef struct Chunk:      # scratch: some rows that follow each other
    Text[CHUNK_ROWS] texts
    uint64_t[CHUNK_ROWS] words          # of ids of one column
    uint64_t[CHUNK_ROWS] hashes
    uint64_t[CHUNK_ROWS] pairs          # of both ids
    unsigned char[CHUNK_ROWS] left      # whether the document is excluded
    int32_t[CHUNK_ROWS] noted           # positions of rows that may be judged, or have an unknown query
    Candidate[2 * CHUNK_ROWS] candidates     # of these rows and of some before them
    int64_t n_noted, n_candidates


cdef int note_hit(Probe* probe, int64_t q, int64_t j, double score, int64_t row) noexcept nogil:
    """Note that a row holds the j-th judged document of query q; 0, or -1 without memory."""
    cdef RowHit* more
    if probe.n == probe.capacity:
        more = <RowHit*>realloc(probe.hits, (2 * probe.n + 256) * sizeof(RowHit))
        if more == NULL:
            return -1
        probe.hits = more
        probe.capacity = 2 * probe.n + 256
    probe.hits[probe.n].score = score
    probe.hits[probe.n].row = row
    probe.hits[probe.n].query = <int32_t>q
    probe.hits[probe.n].place = <int32_t>j
    probe.n += 1
    return 0


cdef bint has_nan(const double* scores, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef uint64_t nan = 0       # as wide as a score: compilers make vector code of this
    for i in range(n):
        nan |= scores[i] != scores[i]
    return nan != 0


cdef void free_probe(Probe* probe) noexcept nogil:
    free_store(&probe.store)
    free_names(&probe.unknown)
    free(probe.hits)
    free(probe.levels)
    free(probe.level_hits)
    free(probe.low)
    free(probe.scores)


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


cdef class Scattered(Join):
    """Evaluates about so many rows in any order; made like a Join, and called as the picture above shows."""

    cdef Batch* batches
    cdef int64_t n_batches, n_rows, rows
    cdef list kept
    cdef Probe* probes
    cdef RowHit* hits           # of all threads, by query
    cdef int64_t* counts        # per code: rows; NULL before sum_up()
    cdef int64_t* low           # and those among them with low scores
    cdef int64_t* hit_offsets   # per query: where its hits begin
    cdef QueryTable table
    cdef readonly DuplicatePairs duplicates     # None if only_judged
    cdef readonly int64_t n_ranges      # of codes
    cdef int range_shift        # of a code, to the number of its range
    cdef unsigned char* again   # per code: whether its ids are needed once more
    cdef unsigned char* lost    # per query: whether rows have left it; NULL if nothing is excluded

    def __init__(self, int64_t rows, *args):
        cdef int t
        super().__init__(*args)
        cdef int64_t n = self.judged.n_queries, most = min(max(rows // RANGE_ROWS, 8 * self.n_threads), MAX_RANGES)
        self.kept = []
        self.rows = rows
        self.duplicates = None if self.only_judged else DuplicatePairs(rows, self.n_threads)
        while n >> self.range_shift >= most:
            self.range_shift += 1
        self.n_ranges = (n >> self.range_shift) + 1
        self.probes = <Probe*>calloc(self.n_threads, sizeof(Probe))
        self.hit_offsets = <int64_t*>calloc(n + 2, sizeof(int64_t))
        if self.excluded is not None:
            self.lost = <unsigned char*>calloc(n + 1, 1)
        if self.probes == NULL or self.hit_offsets == NULL or self.excluded is not None and self.lost == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            self.probes[t].scores = <Bucket*>calloc(self.n_ranges, sizeof(Bucket))
            if self.least > -INFINITY:
                self.probes[t].low = <int64_t*>calloc(n + 1, sizeof(int64_t))
            if self.probes[t].scores == NULL or self.least > -INFINITY and self.probes[t].low == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        if self.probes != NULL:
            for t in range(self.n_threads):
                free_probe(self.probes + t)
        free(self.probes)
        free(self.hits)
        free(self.hit_offsets)
        free(self.counts)
        free(self.low)
        free(self.again)
        free(self.lost)
        free_table(&self.table)
        free(self.batches)

    def add(self, Ids queries, Ids docs, const double[::1] scores, int32_t[::1] codes):
        """Add a batch of at least one row; codes is to be filled. Returns its number."""
        if self.table.codes == NULL and make_table(
                &self.table, self.judged, self.judged.query_index(queries.column.integers), self.index, self.rows) < 0:
            raise MemoryError
        cdef Batch* more
        self.kept.append((queries, docs, scores, codes))
        with cython.critical_section(self):     # other threads probe() meanwhile
            more = <Batch*>realloc(self.batches, (self.n_batches + 1) * sizeof(Batch))
            if more == NULL:
                raise MemoryError
            self.batches = more
            more = self.batches + self.n_batches
            more.queries, more.docs, more.scores, more.codes = &queries.column, &docs.column, &scores[0], &codes[0]
            more.n, more.row = codes.shape[0], self.n_rows
            self.n_batches += 1
            self.n_rows += more.n
            return self.n_batches - 1

    def probe(self, int t, int64_t batch, int64_t first, int64_t stop):
        """Find the queries and the judged documents of rows first to stop of a batch."""
        cdef Batch one
        cdef int failed
        cdef PairHashes* pairs = NULL if self.duplicates is None else self.duplicates.threads + t
        with cython.critical_section(self):
            one = self.batches[batch]
        with nogil:
            failed = self.probe_rows(self.parts + t, self.probes + t, pairs, &one, first, stop)
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError

    cdef int probe_rows(self, Part* part, Probe* probe, PairHashes* pairs, const Batch* batch, int64_t first,
                        int64_t stop) noexcept nogil:
        cdef Chunk chunk
        cdef int64_t i, n
        cdef int failed
        chunk.n_candidates = 0
        while first < stop:
            n = CHUNK_ROWS if stop - first > CHUNK_ROWS else stop - first
            self.find_codes(&chunk, batch, first, n)
            if self.excluded is not None:
                self.leave_rows(part, &chunk, batch, first, n)
            if probe.low != NULL:
                for i in range(first, first + n):
                    probe.low[batch.codes[i]] += batch.scores[i] < self.least
            self.pair(&chunk, batch, first, n)
            failed = self.note(probe, &chunk, batch, first)
            if failed:
                return failed
            if pairs != NULL and add_pairs(pairs, chunk.pairs, n) < 0:
                return NO_MEMORY
            first += n
        return self.find_hits(probe, &chunk, batch)

    cdef void find_codes(self, Chunk* chunk, const Batch* batch, int64_t first, int64_t n) noexcept nogil:
        """Fill the codes of n rows."""
        cdef QueryTable table = self.table
        cdef int64_t i
        cdef int32_t unknown = <int32_t>table.n_queries
        cdef int32_t* codes = batch.codes + first
        cdef const uint64_t* words
        cdef const uint64_t* hashes
        if table.span > 0 and not table.integers:
            read(batch.queries, first, n, chunk.texts)
            for i in range(n):
                chunk.words[i] = decimal_value(chunk.texts[i].start, chunk.texts[i].length)
            words = chunk.words
        else:
            words = id_words(batch.queries, first, n, chunk.texts, chunk.words)
        hashes = words
        if table.span > 0:
            for i in range(n):
                codes[i] = code_or_n(&table, words[i])
            return
        if batch.queries.integers:
            hash_words(words, n, chunk.hashes)
            hashes = chunk.hashes
        for i in range(n):
            prefetch(table.codes + (hashes[i] & table.mask))
        for i in range(n):
            codes[i] = table.codes[hashes[i] & table.mask]
            prefetch(table.queries + codes[i])
        if batch.queries.integers:
            for i in range(n):
                if codes[i] >= 0 and table.queries[codes[i]].word != words[i]:
                    codes[i] = <int32_t>integer_code(&table, words[i])
        else:
            for i in range(n):
                if codes[i] >= 0 and not is_query(&table, codes[i], chunk.texts + i):
                    codes[i] = <int32_t>query_code(&table, chunk.texts + i)
        for i in range(n):
            codes[i] = codes[i] if codes[i] >= 0 else unknown

    cdef void leave_rows(self, Part* part, Chunk* chunk, const Batch* batch, int64_t first, int64_t n) noexcept nogil:
        """Give rows of excluded documents the code of unknown queries."""
        cdef int64_t i, q, begin
        cdef int32_t* codes = batch.codes + first
        cdef Text doc
        for i in range(n):
            q = codes[i]
            chunk.left[i] = False
            if q == self.judged.n_queries or self.excluded.offsets[q] == self.excluded.offsets[q + 1]:
                continue
            begin = self.excluded.offsets[q]
            read(batch.docs, first + i, 1, &doc)
            if find_judged(self.excluded_index, q, begin, &doc, text_hash(&doc)) >= 0:
                chunk.left[i] = self.lost[q] = True
                codes[i] = <int32_t>self.judged.n_queries
                count_excluded(<Counts>part.counts, q, 1)

    cdef void pair(self, Chunk* chunk, const Batch* batch, int64_t first, int64_t n) noexcept nogil:
        """Hash both ids of n rows, and note which of them may be judged or are of unknown queries."""
        cdef QueryTable table = self.table
        cdef int64_t i, n_noted = 0
        cdef int32_t unknown = <int32_t>table.n_queries
        cdef const int32_t* codes = batch.codes + first
        cdef const uint64_t* words = id_words(batch.docs, first, n, chunk.texts, chunk.words)
        hash_pairs(words, codes, n, chunk.pairs)
        for i in range(n):
            prefetch(table.filter + (chunk.pairs[i] >> 12 & table.filter_mask))
        for i in range(n):
            chunk.noted[n_noted] = <int32_t>i
            n_noted += may_be_judged(&table, chunk.pairs[i]) | (codes[i] == unknown)
        chunk.n_noted = n_noted

    cdef int note(self, Probe* probe, Chunk* chunk, const Batch* batch, int64_t first) noexcept nogil:
        """Note unknown queries, with pairs of both ids, and candidates; 0, NO_MEMORY or COLLISION."""
        cdef int64_t i, k
        cdef uint64_t h
        cdef int failed
        cdef Text query
        cdef const uint64_t* words = chunk.words
        if batch.docs.kind == INTEGERS:
            words = <const uint64_t*>batch.docs.places + first
        if chunk.n_candidates > CHUNK_ROWS and self.find_hits(probe, chunk, batch):
            return NO_MEMORY
        for k in range(chunk.n_noted):
            i = chunk.noted[k]
            if batch.codes[first + i] < self.table.n_queries:
                chunk.candidates[chunk.n_candidates].row = first + i
                chunk.candidates[chunk.n_candidates].hash = word_hash(words[i]) if batch.docs.integers else words[i]
                chunk.n_candidates += 1
                continue
            read(batch.queries, first + i, 1, &query)
            h = text_hash(&query)
            if self.excluded is None or not chunk.left[i]:
                failed = note_name(&probe.unknown, &query, h, batch.row + first + i)
                if failed:
                    return failed
            chunk.pairs[i] = pair_hash(words[i], h)
        return 0

    cdef int find_hits(self, Probe* probe, Chunk* chunk, const Batch* batch) noexcept nogil:
        """Note which candidates are judged, and forget them; 0 or NO_MEMORY."""
        cdef int64_t j, k, q, row, n = chunk.n_candidates
        cdef const Candidate* candidates = chunk.candidates
        cdef const int32_t* codes = batch.codes
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
            read(batch.docs, row, 1, &doc)
            j = find_listed(self.index, q, offsets[q], &doc, candidates[k].hash)
            if j < 0 or batch.scores[row] < self.least:
                continue
            if note_hit(probe, q, j, batch.scores[row], batch.row + row) < 0:
                return NO_MEMORY
        return 0

    def gather(self, bint integers):
        """Put together the findings of the threads; `integers` says whether the query ids are integers.

        The hits are sorted by query in two passes, which count and then place. In the end the hits of q begin at
        hit_offsets[q]; counts are kept two places further on, so that placing the hits moves every border to its final
        place:

            counted      hit_offsets[q + 2] = hits of q
            summed       hit_offsets[q + 1] = hits of all queries before q: where the next hit of q goes
            placed       hit_offsets[q + 1] = where the hits of q end, which is where the hits of q + 1 begin
        """
        cdef int64_t q, i, n = self.judged.n_queries, total = 0
        cdef int t
        cdef Probe* probe
        for t in range(self.n_threads):
            probe = self.probes + t
            total += probe.n
            for i in range(probe.n):
                self.hit_offsets[probe.hits[i].query + 2] += 1
            for query, row in list_names(&probe.unknown, integers):
                self.unknown_queries[query] = min(row, self.unknown_queries.get(query, row))
        for q in range(n):
            self.hit_offsets[q + 2] += self.hit_offsets[q + 1]
        self.hits = <RowHit*>malloc((total + 1) * sizeof(RowHit))
        if self.hits == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            probe = self.probes + t
            for i in range(probe.n):
                q = probe.hits[i].query
                self.hits[self.hit_offsets[q + 1]] = probe.hits[i]
                self.hit_offsets[q + 1] += 1
            free(probe.hits)
            probe.hits, probe.n, probe.capacity = NULL, 0, 0
        self.make_levels()

    cdef int make_levels(self) except -1:
        """Choose the hits that are counted, and give every thread counters for them."""
        cdef int64_t q, i, n, n_queries = self.judged.n_queries, size = n_queries + 1
        cdef int t
        cdef Level* levels
        cdef LevelHits* level_hits
        for q in range(n_queries):
            n = self.n_read_hits(q)
            size += n if 1 < n <= FEW_HITS else 0
        for t in range(self.n_threads):
            self.probes[t].levels = <Level*>calloc(size, sizeof(Level))
            self.probes[t].level_hits = <LevelHits*>calloc(size, sizeof(LevelHits))
            if self.probes[t].levels == NULL or self.probes[t].level_hits == NULL:
                raise MemoryError
        levels, level_hits = self.probes[0].levels, self.probes[0].level_hits
        levels[n_queries].score = INFINITY
        size = n_queries + 1
        for q in range(n_queries):
            n = self.n_read_hits(q)
            levels[q].score = INFINITY if n == 0 else NAN
            level_hits[q].hits = <int32_t>(q if n == 1 else size)
            level_hits[q].n_hits = n if n <= FEW_HITS else MANY_HITS
            if n > FEW_HITS:
                continue
            size += n if n > 1 else 0
            n = level_hits[q].hits
            for i in range(self.hit_offsets[q], self.hit_offsets[q + 1]):
                if self.hits[i].place < self.judged.n_read(self.plan.reads, q):
                    levels[n].score = comparable(self.hits[i].score, self.single)
                    n += 1
        for t in range(1, self.n_threads):
            memcpy(self.probes[t].levels, levels, size * sizeof(Level))
            memcpy(self.probes[t].level_hits, level_hits, size * sizeof(LevelHits))
        return 0

    cdef int64_t n_read_hits(self, int64_t q) noexcept nogil:
        """How many hits of a query the metrics read."""
        cdef int64_t i, n = 0
        for i in range(self.hit_offsets[q], self.hit_offsets[q + 1]):
            n += self.hits[i].place < self.judged.n_read(self.plan.reads, q)
        return n

    def count(self, int t, int64_t batch, int64_t first, int64_t stop):
        """Compare rows first to stop of a batch with the hits of their queries; True if one of their scores is NaN."""
        cdef Batch one = self.batches[batch]
        cdef fenv_t callers
        cdef int failed
        with nogil:
            ordinary(&callers)
            failed = NOT_A_NUMBER if has_nan(one.scores + first, stop - first) else 0
            if not failed:
                failed = self.count_rows(self.probes + t, &one, first, stop)
            fesetenv(&callers)
        if failed == NO_MEMORY:
            raise MemoryError
        return failed == NOT_A_NUMBER

    cdef int count_rows(self, Probe* probe, const Batch* batch, int64_t first, int64_t stop) noexcept nogil:
        """Most rows touch one level, and leave by the only branch that is ever taken another way by chance."""
        cdef const int32_t* codes = batch.codes
        cdef Level* levels = probe.levels
        cdef Level* level
        cdef int64_t i
        cdef double score
        cdef bint single = self.single
        for i in range(first, stop):
            prefetch(levels + codes[i + AHEAD_ROWS if i + AHEAD_ROWS < stop else i])
            level = levels + codes[i]
            score = batch.scores[i]
            if single:
                score = <double><float>score
            level.rows += 1
            level.above += score > level.score
            if score == level.score or level.score != level.score:
                if self.count_several(probe, codes[i], score) < 0:
                    return NO_MEMORY
        return 0

    cdef int count_several(self, Probe* probe, int32_t code, double score) noexcept nogil:
        """Compare a score with the hits of a query that has several, or note that it is the only hit's."""
        cdef LevelHits* level_hits = probe.level_hits + code
        cdef Level* level
        cdef Bucket* bucket
        cdef int64_t j
        cdef uint64_t bits
        if level_hits.n_hits == MANY_HITS:
            if score < self.least:
                return 0
            memcpy(&bits, &score, sizeof(double))
            bucket = probe.scores + (code >> self.range_shift)
            if push(bucket, &probe.store, code) < 0 or push(bucket, &probe.store, bits) < 0:
                return -1
            return 0
        for j in range(level_hits.hits, level_hits.hits + level_hits.n_hits):
            level = probe.levels + j
            level.above += score > level.score
            if score == level.score and probe.level_hits[j].alike < 2:
                probe.level_hits[j].alike += 1
        return 0

    def sum_up(self):
        """Add up the rows of each query, of all threads; returns how many the longest one has."""
        cdef int64_t q, n = self.judged.n_queries, longest = 0
        cdef int t
        self.counts = <int64_t*>calloc(n + 1, sizeof(int64_t))
        self.low = <int64_t*>calloc(n + 1, sizeof(int64_t))
        self.again = <unsigned char*>calloc(n + 1, 1)
        if self.counts == NULL or self.low == NULL or self.again == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            for q in range(n + 1):
                self.counts[q] += self.probes[t].levels[q].rows
                self.low[q] += self.probes[t].low[q] if self.probes[t].low != NULL else 0
        for q in range(n):
            longest = max(longest, self.counts[q])
        return longest

    def mark(self, int t, int64_t number, int64_t first, int64_t stop):
        """Note the queries of rows first to stop of a batch that may have a document twice."""
        cdef Batch one = self.batches[number]
        cdef int failed
        with nogil:
            failed = self.duplicates.mark(t, one.queries, one.docs, one.codes, self.judged.n_queries, first, stop)
        if failed:
            raise MemoryError

    def gather_marked(self):
        """Note which queries have rows that were marked; with `once`, unknown queries have none."""
        self.duplicates.gather_marked(self.again)
        if self.once:
            self.again[self.judged.n_queries] = False

    # ---- queries

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
                    self.again[q] = self.settle_scores(part, q, scores + places[q - begin] - self.n_kept(q))
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

    cdef int64_t n_kept(self, int64_t q) noexcept nogil:
        """How many rows of a query have no low score."""
        return self.counts[q] - self.low[q]

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
            if hit.place < self.judged.n_read(self.plan.reads, q):
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
                self.plan, &part.ranking, scores, <const char*>scores, 0, self.n_kept(q), n_hits, compare_nothing,
                self.ties, self.judged.judgments(q), self.values + q * self.plan.n_slots):
            return True
        return self.count_settled(part, q, n_hits)

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
        order_hits(&part.ranking, self.n_kept(q), n_hits)
        for i in range(n_hits):
            part.ranking.measured.lasts[i] = part.ranking.measured.ranks[i]
        judgments = self.judged.judgments(q)
        measure(self.plan, &part.ranking.measured, n_hits, self.n_kept(q), &judgments,
                self.values + q * self.plan.n_slots)
        return self.count_settled(part, q, n_hits)

    cdef bint count_settled(self, Part* part, int64_t q, int64_t n_hits) noexcept nogil:
        self.met[q] = 1
        count_low(<Counts>part.counts, q, self.low[q])
        count_ranking(<Counts>part.counts, q, self.n_kept(q), self.hit_offsets[q + 1] - self.hit_offsets[q])
        count_order(<Counts>part.counts, q, NULL, self.n_kept(q), n_hits, False)
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
        """Evaluate the queries of codes begin to end that need ids: None, or two rows of one query with one doc."""
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
