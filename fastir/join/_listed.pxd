# A ranking that is a list of ids in rank order: its copies, and the ranks of its hits.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.join._join cimport Seen
from fastir.measure._measure cimport Judgments, Plan, Scratch

ctypedef bint (*same_fn)(const void* ids, int64_t i, int64_t j) noexcept nogil  # whether two rows hold one id


cdef struct Listed:             # scratch of one thread
    Scratch measured
    Seen seen                   # the hash of each row; the rows of a repeat
    uint64_t* table             # of rows by hash
    int64_t table_capacity
    int64_t* rows               # of the hits, ascending; one allocation with what follows
    int32_t* labels             # beside rows
    unsigned char* copies       # per row, whether it is a copy; written only where there are copies
    int64_t capacity
    int64_t n_copies            # of the ranking in work


cdef int make_room(Listed* l, Plan plan, int64_t n, int64_t judged) noexcept nogil
cdef void discard_listed(Listed* l) noexcept nogil
cdef int find_copies(Listed* l, const void* ids, int64_t n, same_fn same, int rule) noexcept nogil
cdef int64_t measure_hits(Listed* l, Plan plan, int64_t n, int64_t n_hits, int rule, Judgments known,
                          double* out) noexcept nogil
