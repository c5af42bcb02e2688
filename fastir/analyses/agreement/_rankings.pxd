# The rankings of a run, one at a time.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from fastir.engine.columns._ids cimport Ids, Text
from fastir.engine.columns._entries cimport Reader
from fastir.engine.rank._order cimport Row


cdef class Rankings:            # the current ranking in rank order, in scratch that grows to the longest
    cdef int64_t n, capacity
    cdef double* scores         # one allocation with what follows
    cdef Text* ids              # borrowed
    cdef uint64_t* hashes
    cdef Row* rows
    cdef int room(self, int64_t n) except -1
    cdef int settle(self) except -1 nogil
    cdef int64_t length(self, query_id) except -1
    cdef bint read(self, query_id, bint many) except -1


cdef class ColumnRankings(Rankings):
    cdef Ids column
    cdef dict places            # the number of each query
    cdef const int64_t[::1] offsets
    cdef const double[::1] numbers


cdef class DictRankings(Rankings):
    cdef dict run               # {query_id: a caller's ranking}
    cdef bint integers
    cdef object held            # the caller's ranking, from which keys and ids are borrowed
    cdef PyObject** keys        # one allocation with digits
    cdef char* digits
    cdef int64_t n_keys
    cdef Reader reader
    cdef object converted_id    # the query whose ranking is no plain dict
    cdef ColumnRankings converted
    cdef int room_for_keys(self, int64_t n) except -1
    cdef bint borrow(self, bint many) except -1
    cdef int convert(self, query_id, ranking) except -1
    cdef int take_converted(self) except -1
