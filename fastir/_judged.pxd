# The qrels as the join reads them.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir._text cimport Text, equal


cdef struct Lookup:             # one query's judged ids by the bytes they are made of
    uint64_t* table             # the hash's upper half, and position + 1 in the lower; 0 is free
    uint64_t* filter            # one bit per id: most unjudged ids end here
    uint64_t mask, filter_mask


cdef class Judged:
    cdef readonly list query_ids
    cdef readonly Py_ssize_t n_queries
    cdef list ids               # all queries' judged ids; those of query q begin at offsets[q], best label first
    cdef int64_t* offsets
    cdef int32_t* labels        # beside ids
    cdef int64_t* positive      # per query: how many labels are above 0
    cdef int64_t* judged        # and at least 0
    cdef list encoded           # ids whose bytes are not those of their str
    cdef Text* texts            # beside ids, after prepare_bytes()
    cdef Lookup* lookups
    cdef uint64_t* tables
    cdef uint64_t* queries
    cdef uint64_t query_mask
    cdef Text* query_texts
    cdef int64_t wanted(self, int reads, int64_t q) noexcept nogil
    cdef void sort(self, int64_t q, const int32_t* labels, int64_t* order, int64_t* spare) noexcept


cdef int64_t find_query(Judged judged, const Text* query) noexcept nogil


cdef inline int64_t find_judged(Judged judged, int64_t q, const Text* doc, uint64_t h) noexcept nogil:
    """The position of an id with hash h among the query's judged ids, or -1."""
    cdef Lookup* lookup = judged.lookups + q
    cdef int64_t position
    cdef uint64_t slot, entry, low = 0xFFFFFFFF
    if not lookup.filter[h >> 38 & lookup.filter_mask] >> (h >> 32 & 63) & 1:
        return -1
    slot = h & lookup.mask
    while True:
        entry = lookup.table[slot]
        if entry == 0:
            return -1
        position = <int64_t>(entry & low) - 1
        if entry >> 32 == h >> 32 and equal(judged.texts + judged.offsets[q] + position, doc):
            return position
        slot = (slot + 1) & lookup.mask
