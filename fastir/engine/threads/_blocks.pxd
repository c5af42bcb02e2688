# Work in blocks, which the threads of a call share; a kernel over arrays is a subclass.
from libc.stdint cimport int64_t

cdef enum:
    MAX_THREADS = 256           # of a call


cdef class Blocks:
    cdef int64_t n_blocks       # set by the subclass
    cdef int64_t taken          # how many blocks threads have taken, in order
    cdef int n_threads          # how many threads may have taken one
    cdef int64_t failed         # whether one of them failed
    cdef int work(self, int thread, int64_t block) noexcept nogil


cdef inline int64_t block_count(int64_t n, int64_t size) noexcept nogil:
    """How many blocks of `size` there are in n."""
    return (n + size - 1) // size
