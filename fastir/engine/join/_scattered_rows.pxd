# Data about rows in any order: the query of each, the hits, and the counts for them.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.engine.columns._ids cimport Column
from fastir.engine.columns._text cimport Text
from fastir.engine.join._buckets cimport Bucket, Store
from fastir.engine.join._duplicates cimport DuplicatePairs, PairHashes
from fastir.engine.join._join cimport Join, Part
from fastir.engine.join._query_table cimport Names, QueryTable

cdef enum:
    CHUNK_ROWS = 256    # that one step after the other takes
    MANY_HITS = 255     # n_hits of a query with more hits than are counted


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


cdef class ScatteredRows(Join):
    cdef Batch* batches
    cdef int64_t n_batches, n_rows, rows
    cdef list kept
    cdef Probe* probes
    cdef RowHit* hits           # of all threads, by query
    cdef int64_t* counts        # per code: rows; NULL before sum_up()
    cdef int64_t* hit_offsets   # per query: where its hits begin
    cdef QueryTable table
    cdef readonly DuplicatePairs duplicates     # None if only_judged
    cdef readonly int64_t n_ranges      # of codes
    cdef int range_shift        # of a code, to the number of its range
    cdef unsigned char* again   # per code: whether its ids are needed once more
    cdef unsigned char* lost    # per query: whether rows have left it; NULL if nothing is excluded
    cdef int probe_rows(self, Part* part, Probe* probe, PairHashes* pairs, const Batch* batch, int64_t first,
                        int64_t stop) noexcept nogil
    cdef void leave_rows(self, Part* part, Chunk* chunk, const Batch* batch, int64_t first, int64_t n) noexcept nogil
    cdef void find_codes(self, Chunk* chunk, const Batch* batch, int64_t first, int64_t n) noexcept nogil
    cdef void pair(self, Chunk* chunk, const Batch* batch, int64_t first, int64_t n) noexcept nogil
    cdef int note(self, Probe* probe, Chunk* chunk, const Batch* batch, int64_t first) noexcept nogil
    cdef int find_hits(self, Probe* probe, Chunk* chunk, const Batch* batch) noexcept nogil
    cdef int make_levels(self) except -1
    cdef int64_t n_wanted(self, int64_t q) noexcept nogil
    cdef int64_t wanted(self, int64_t q) noexcept nogil
    cdef int count_rows(self, Probe* probe, const Batch* batch, int64_t first, int64_t stop) noexcept nogil
    cdef int count_several(self, Probe* probe, int32_t code, double score) noexcept nogil
