# Data about rows in any order: the query of each, the hits, and the counts for them.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.columns._ids cimport Column
from fastir.columns._text cimport Text
from fastir.join._join cimport Join
from fastir.join._buckets cimport HashSet, Pile, Store
from fastir.join._query_table cimport Names, QueryTable

cdef enum:
    CHUNK = 256         # rows that one step after the other takes
    MANY = 255          # n_others of a query with more hits than are counted


cdef struct Found:      # a hit
    double score
    int64_t row
    int32_t query
    int32_t place       # among the query's judged documents


cdef struct Level:      # of a query, and its hit if it has one; or one of the hits of a query with several
    double score        # infinity, which nothing is above, if there is no hit; NaN if there are several
    int64_t above
    int64_t rows        # of the query


cdef struct Beside:     # what a row needs to know of a level only if its score is alike, or if there are several hits
    int32_t hits        # where the levels of the query's hits begin
    unsigned char n_hits        # or MANY: all scores of the query are put together
    unsigned char alike         # 0, 1, or 2 for more


cdef struct Looker:     # the findings of one thread
    Found* found
    int64_t n, capacity
    Level* levels       # of every code, then of the hits of queries that have several
    Beside* beside      # the levels
    Pile* pairs         # hashes of query and document, by their highest bits
    Store pair_store    # which holds the pairs, and `store` all else
    Store store
    Pile* scores        # of the rows of queries with many hits: code, score; by code
    Pile marked         # codes of rows whose hash stands twice
    Pile repeated       # hashes that stand twice
    HashSet known
    Names foreign


cdef struct Piece:      # a batch
    const Column* queries
    const Column* docs
    const double* scores
    int32_t* codes
    int64_t n, row      # row: of its first, in the whole table


cdef struct Candidate:  # a row that may be judged
    int64_t row         # of the batch
    uint64_t hash       # of its document


cdef struct Chunk:      # scratch: some rows that follow each other
    Text[CHUNK] texts
    uint64_t[CHUNK] words       # of ids of one column
    uint64_t[CHUNK] hashes
    uint64_t[CHUNK] pairs       # of both ids
    int32_t[CHUNK] noted        # places of rows that may be judged, or whose query the qrels do not have
    Candidate[2 * CHUNK] candidates     # of these rows and of some before them
    int64_t n_noted, n_candidates


cdef class ScatteredRows(Join):
    cdef Piece* pieces
    cdef int64_t n_pieces, n_rows, rows
    cdef list kept
    cdef Looker* lookers
    cdef Found* found           # of all threads, by query
    cdef int64_t* counts        # per code: rows; NULL before sum_up()
    cdef int64_t* found_of      # per query: where its hits begin in found
    cdef QueryTable table
    cdef readonly int64_t n_piles       # of pairs, a power of two; 0 if only_judged
    cdef readonly int64_t n_ranges      # of codes
    cdef int range_shift        # of a code, to the number of its range
    cdef HashSet repeated       # pairs that stand twice
    cdef unsigned char* again   # per code: whether its ids are needed once more
    cdef int look_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil
    cdef void find_codes(self, Chunk* chunk, const Piece* piece, int64_t first, int64_t n) noexcept nogil
    cdef void pair(self, Chunk* chunk, const Piece* piece, int64_t first, int64_t n) noexcept nogil
    cdef int note(self, Looker* looker, Chunk* chunk, const Piece* piece, int64_t first) noexcept nogil
    cdef int find_hits(self, Looker* looker, Chunk* chunk, const Piece* piece) noexcept nogil
    cdef int mark_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil
    cdef int compare_pile(self, Looker* looker, int64_t p) noexcept nogil
    cdef int make_levels(self) except -1
    cdef int64_t n_wanted(self, int64_t q) noexcept nogil
    cdef int64_t wanted(self, int64_t q) noexcept nogil
    cdef double comparable(self, double score) noexcept nogil
    cdef int count_rows(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil
    cdef int look_beside(self, Looker* looker, int32_t code, double score) noexcept nogil


cdef uint64_t foreign_pair(const Piece* piece, int64_t i, uint64_t doc) noexcept nogil
