# Rankings that are judged already, measured in blocks of rows: what the kernels over them share.
from libc.stdint cimport int32_t, int64_t

from fastir.engine.measure._measure cimport Plan, Scratch
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks


cdef class Rows(Blocks):
    cdef Plan plan
    cdef int64_t n_rows                             # set by begin()
    cdef double[:, ::1] values
    cdef Scratch* scratch[MAX_THREADS]             # made by the threads
    cdef int begin(self, Plan plan, double[:, ::1] values) except -1
    cdef int measure_row(self, int thread, int64_t row) noexcept nogil
    cdef void measure_hits(self, int thread, int64_t row, int64_t n_hits, int64_t num_ret, const int32_t* labels,
                           int64_t n) noexcept nogil
