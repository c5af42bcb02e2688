# Judging rows with ids that are bytes, one query at a time.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from fastir.engine.join._judged cimport Index, Judged, QueryIndex
from fastir.engine.join._parents cimport Parents
from fastir.engine.join._buckets cimport HashSet
from fastir.engine.join._repeats cimport Repeats
from fastir.engine.measure._measure cimport Plan
from fastir.engine.rank._rank cimport Ranking
from fastir.engine.columns._text cimport Group, Text


cdef struct Seen:               # scratch for finding duplicate ids
    uint64_t* hashes            # of each row
    uint64_t* table
    int64_t* rows               # per judged document: the row that holds it, + 1
    HashSet hash_set            # for many rows, instead of table
    int64_t capacity, table_capacity, rows_capacity
    int64_t first, later        # rows of the group that hold the same document


cdef struct Part:               # the work of one thread, and its scratch
    Group group
    Ranking ranking
    Seen seen
    Repeats repeats
    PyObject* counts            # a Counts
    Text* queries               # of the groups it met
    int64_t* places             # parallel to queries: position in the qrels, or -1
    int64_t n, capacity
    int failed                  # what stopped it: 0, a code of PROBLEM_CODES, or a problem of columns/_trec.pxd
    int64_t row                 # where the group in work begins, for rows that are columns


cdef class JoinRules:
    cdef Judged judged, excluded
    cdef Plan plan
    cdef int ties
    cdef public Parents parents
    cdef public bint single, only_judged, once, removes


cdef class Join:
    cdef readonly bint ungrouped
    cdef readonly dict unknown_queries
    cdef Judged judged
    cdef Plan plan
    cdef const Index* index
    cdef bint integers                  # whether document ids come as integers
    cdef Py_buffer value_buffer, status_buffer
    cdef double* values                 # a row per query of the qrels
    cdef unsigned char* status          # likewise
    cdef int ties, n_threads
    cdef bint single
    cdef readonly bint only_judged
    cdef bint once
    cdef bint removes
    cdef Parents parents
    cdef Judged excluded                # its documents leave the rankings of the queries of the qrels; or None
    cdef const Index* excluded_index
    cdef Part* parts
    cdef unsigned char* met             # per query of the qrels
    cdef int count_again(self, Part* part, int64_t q) noexcept nogil
    cdef void leave_out(self, Part* part, int64_t q) noexcept nogil
    cdef int judge(self, Part* part, int64_t q) noexcept nogil
    cdef int settle(self, Part* part, int64_t q) noexcept nogil
    cdef int take(self, Part* part, const QueryIndex* queries) noexcept nogil
    cdef meet(self, Part* part, int64_t number, bint integers)


cdef int hash_group(Seen* seen, const Group* g) noexcept nogil
cdef int may_repeat(Seen* seen, const uint64_t* hashes, int64_t n) noexcept nogil
cdef int find_repeated(Seen* seen, const Group* g, int64_t start) noexcept nogil
cdef int clear_rows(Seen* seen, int64_t n) noexcept nogil
cdef void forget(Seen* seen) noexcept nogil
cdef not_summed(const Group* g, query)
cdef bytes query_bytes(const Text* query, bint integers)
