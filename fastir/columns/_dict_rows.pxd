# One ranking of a dict of dicts, read where it is.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from fastir.columns._scalars cimport Reader

cdef enum:                  # results of read_rows
    ROWS_READ
    NOT_PLAIN               # an id is of another kind, or a score is no number that can be read without Python code
    HAS_NAN

cdef int read_rows(dict ranking, bint integers, bint breathes, int64_t n, Reader* reader, PyObject** keys,
                   double* scores) noexcept
