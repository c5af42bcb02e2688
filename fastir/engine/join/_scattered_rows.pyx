"""Rows in any order, taken one by one: the first half of _scattered, which says how the halves meet.

    add       note a batch; the first one also makes the tables (_query_table)
    probe     row by row, by any thread: which query? is the document judged?
                  ─▶ the code of each row (int32: the query's position, n_queries for all unknown ones), hits, and the
                     hash of the pair of its ids (_duplicates)
    gather    the hits of all threads, put together by query; and counters for count()
    count     row by row, by any thread: for each hit of the row's query, is this score above or alike?
                  ─▶ counters of each thread; scores into buckets where a query has many hits
    mark      only if two rows have one hash: row by row, which queries have them?

A hit is a judged document that was retrieved. A query with up to FEW_HITS ("few") has its ranks counted while the rows
pass by; if it has more, the scores are put together and ranked later. A row touches one level, and its LevelHits only
if the query has several hits (its level then says NaN) or the score is that of the hit. A row whose document is
excluded has the code of unknown queries, and counts for none.

    levels     0 ... n_queries - 1       | n_queries     | n_queries + 1 ...
               the only hit of each, or  | unknown ones  | all hits of queries with several, few
               infinity if there is none

Neighbouring rows belong to different queries, so each reads unforeseeable slots of several tables; with many queries
none of them is in a cache. So a step is done for CHUNK_ROWS, and prefetches the memory of the next step.
"""

cimport cython
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport INTEGERS, Ids, read
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._number cimport decimal_value
from fastir.engine.columns._text cimport Text, text_hash, word_hash, hash_words
from fastir.engine.join._buckets cimport Bucket, free_store, push
from fastir.engine.join._counts cimport Counts, count_excluded
from fastir.engine.join._duplicates cimport DuplicatePairs, PairHashes, add_pairs
from fastir.engine.join._join cimport Join, Part
from fastir.engine.join._judged cimport Lookup, collision, find_judged, find_listed
from fastir.engine.join._query_table cimport (QueryTable, code_or_n, free_names, free_table, hash_pairs, id_words,
                                              integer_code, is_query, make_table, may_be_judged, named, note_name,
                                              pair_hash, query_code)
from fastir.engine.measure._codes cimport COLLISION, NO_MEMORY, NOT_A_NUMBER
from fastir.engine.rank._rank cimport comparable

cdef enum:
    AHEAD_ROWS = 16     # rows that count() prefetches
    FEW_HITS = 4        # hits of a query up to which every row is compared with each
    RANGE_ROWS = 1 << 16        # rows of a range of codes, about
    MAX_RANGES = 1 << 8


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
    free(probe.scores)


cdef class ScatteredRows(Join):
    """Collects data about rows in any order; made like a Join, and for about so many rows."""

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
            if self.probes[t].scores == NULL:
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
        cdef int64_t n
        cdef int failed
        chunk.n_candidates = 0
        while first < stop:
            n = CHUNK_ROWS if stop - first > CHUNK_ROWS else stop - first
            self.find_codes(&chunk, batch, first, n)
            if self.excluded is not None:
                self.leave_rows(part, &chunk, batch, first, n)
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
            if j >= 0 and note_hit(probe, q, j, batch.scores[row], batch.row + row) < 0:
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
            for query, row in named(&probe.unknown, integers):
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
            n = self.n_wanted(q)
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
            n = self.n_wanted(q)
            levels[q].score = INFINITY if n == 0 else NAN
            level_hits[q].hits = <int32_t>(q if n == 1 else size)
            level_hits[q].n_hits = n if n <= FEW_HITS else MANY_HITS
            if n > FEW_HITS:
                continue
            size += n if n > 1 else 0
            n = level_hits[q].hits
            for i in range(self.hit_offsets[q], self.hit_offsets[q + 1]):
                if self.hits[i].place < self.wanted(q):
                    levels[n].score = comparable(self.hits[i].score, self.single)
                    n += 1
        for t in range(1, self.n_threads):
            memcpy(self.probes[t].levels, levels, size * sizeof(Level))
            memcpy(self.probes[t].level_hits, level_hits, size * sizeof(LevelHits))
        return 0

    cdef int64_t n_wanted(self, int64_t q) noexcept nogil:
        """How many hits of a query the metrics read."""
        cdef int64_t i, n = 0
        for i in range(self.hit_offsets[q], self.hit_offsets[q + 1]):
            n += self.hits[i].place < self.wanted(q)
        return n

    cdef int64_t wanted(self, int64_t q) noexcept nogil:
        """How many of a query's judged documents the metrics read."""
        return self.judged.wanted(self.plan.reads, q)

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
        self.again = <unsigned char*>calloc(n + 1, 1)
        if self.counts == NULL or self.again == NULL:
            raise MemoryError
        for t in range(self.n_threads):
            for q in range(n + 1):
                self.counts[q] += self.probes[t].levels[q].rows
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
