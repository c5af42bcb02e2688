# Looking up the ids of a dict's ranking among the judged ones.
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t

from fastir.engine.join._judged cimport Lookup
from fastir.engine.rank._rank cimport Hit

cdef struct Rows:           # of one ranking
    PyObject** keys         # the ids, exact str or exact int objects, or the same of NumPy
    const double* scores
    int64_t n


cdef int64_t match(const Rows* rows, bint integers, const Lookup* lookup, const int32_t* labels, int64_t wanted,
                   bint releases_gil, Hit* hits, int64_t* n_hits) except -1
