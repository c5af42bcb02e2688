# Data about rows in any order: the query of each, the hits, and the counts for them.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.columns._ids cimport Column
from fastir.join._join cimport Join
from fastir.join._query_table cimport Names, QueryTable


cdef struct Found:      # a hit
    double score
    int64_t row
    int32_t query
    int32_t place       # among the query's judged documents


cdef struct Level:      # a hit whose rank is counted
    double score        # NaN, which nothing is above or alike, where there is no hit
    int64_t above


cdef struct Looker:     # the findings of one thread
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


cdef class ScatteredRows(Join):
    cdef Piece* pieces
    cdef int64_t n_pieces, n_rows
    cdef list kept
    cdef Looker* lookers
    cdef int64_t* counts        # as in Looker, of all threads
    cdef Found* found           # of all threads, by query
    cdef int64_t* found_of      # per query: where its hits begin in found
    cdef int32_t* level_of      # per code: where its counted hits, but for the first, begin in levels
    cdef QueryTable table
    cdef uint64_t* hashes       # of all rows, by code; NULL if only_judged
    cdef double* scores         # of the rows of queries with many hits, by code
    cdef int64_t* hashes_of     # per code: where its hashes begin
    cdef int64_t* scores_of     # likewise; -1 where the scores are not put together
    cdef int look_at(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil
    cdef make_levels(self)
    cdef make_places(self)
    cdef int64_t level_at(self, int64_t q, int64_t i) noexcept nogil
    cdef bint is_few(self, int64_t q) noexcept nogil
    cdef int64_t n_wanted(self, int64_t q) noexcept nogil
    cdef int64_t wanted(self, int64_t q) noexcept nogil
    cdef double comparable(self, double score) noexcept nogil
    cdef void count_rows(self, Level* levels, unsigned char* alike, const Piece* piece, int64_t first,
                         int64_t stop) noexcept nogil
    cdef void place_rows(self, Looker* looker, const Piece* piece, int64_t first, int64_t stop) noexcept nogil
