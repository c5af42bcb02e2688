# Data about rows in any order: the query of each, the hits, and the counts for them.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.columns._ids cimport Column
from fastir.columns._text cimport Text
from fastir.join._join cimport Join
from fastir.join._piles cimport HashSet, Pile
from fastir.join._query_table cimport Names, QueryTable

cdef enum:
    CHUNK = 256         # rows that one step after the other takes
    MANY = 255          # n_others of a query with more hits than are counted


cdef struct Found:      # a hit
    double score
    int64_t row
    int32_t query
    int32_t place       # among the query's judged documents


cdef struct Level:      # a hit whose rank is counted; and of the first one of a query, the query
    double score        # NaN, which nothing is above or alike, where there is no hit
    int64_t above
    int64_t rows        # of the query
    int32_t others      # where its second hit is
    unsigned char n_others      # or MANY: all scores of the query are put together
    unsigned char alike         # 0, 1, or 2 for more


cdef struct Looker:     # the findings of one thread
    Found* found
    int64_t n, capacity
    Level* levels       # the first hit of every code, then the others
    Pile* pairs         # hashes of query and document, by their highest bits
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


cdef struct Chunk:      # scratch: some rows that follow each other
    Text[CHUNK] texts
    uint64_t[CHUNK] hashes      # of ids of one column
    uint64_t[CHUNK] pairs       # of both ids
    int32_t[CHUNK] judged       # places of rows that may be judged
    int32_t[CHUNK] foreign      # of rows whose query the qrels do not have
    int64_t n_judged, n_foreign


cdef class ScatteredRows(Join):
    cdef Piece* pieces
    cdef int64_t n_pieces, n_rows
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
    cdef int note_foreign(self, Looker* looker, Chunk* chunk, const Piece* piece, int64_t first) noexcept nogil
    cdef int find_hits(self, Looker* looker, const Chunk* chunk, const Piece* piece, int64_t first) noexcept nogil
    cdef int mark_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil
    cdef int compare_pile(self, Looker* looker, int64_t p) noexcept nogil
    cdef int make_levels(self) except -1
    cdef int64_t n_wanted(self, int64_t q) noexcept nogil
    cdef int64_t wanted(self, int64_t q) noexcept nogil
    cdef double comparable(self, double score) noexcept nogil
    cdef int count_rows(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil


cdef inline int64_t level_at(const Level* levels, int64_t q, int64_t i) noexcept nogil:
    """Where the i-th hit of a query is counted."""
    return q if i == 0 else levels[q].others + i - 1


cdef uint64_t foreign_pair(const Piece* piece, int64_t i, uint64_t doc_hash) noexcept nogil
