# Judging the rows of one query whose ids are bytes.
from libc.stdint cimport int64_t, uint64_t

from fastir._judged cimport Judged
from fastir._measure cimport Plan
from fastir._rank cimport Ranking
from fastir._text cimport Group


cdef struct Tally:              # what one thread saw
    int64_t found, tied, tied_example, ranked, unjudged, nothing, nothing_example


cdef struct Seen:               # scratch for finding an id that stands twice
    uint64_t* hashes            # of each row
    uint64_t* table
    int64_t capacity, table_capacity


cdef int hash_rows(Seen* seen, const Group* g) noexcept nogil
cdef int64_t find_repeated(Seen* seen, const Group* g, int64_t* first) noexcept nogil
cdef void forget(Seen* seen) noexcept nogil
cdef int judge_group(Judged judged, Plan plan, Ranking* r, Group* g, const uint64_t* hashes, int64_t q, int ties,
                     bint single, double* values, Tally* tally) noexcept nogil
cdef void add_tally(Tally* total, const Tally* part) noexcept nogil
cdef tuple tally_tuple(const Tally* t)
