# The qrels as the join reads them.
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.engine.columns._ids cimport START, Text, equal, mix
from fastir.engine.measure._measure cimport Judgments, Plan

cdef enum:
    # Slots of a table that are looked at for a free one. Tables are at most half full: with a hundred million ids of
    # random hashes, the worst one needs fewer than 200.
    MOST_PROBES = 1024


cdef object collision()


cdef struct HashedId:           # an id as a Python object
    uint64_t hash
    PyObject* id


cdef struct Lookup:             # one query's judged ids
    uint64_t* table             # the hash's upper half, and position + 1 in the lower; 0 is free
    uint64_t* filter            # one bit per id: most unjudged ids end here
    uint64_t mask, filter_mask
    HashedId* hashed            # by position, where the table goes by Python's hash; else NULL


cdef struct Index:              # all document ids by their bytes
    Text* texts                 # parallel to labels and owned by the Judged, unless ids are integers; -1 long if none
    int64_t* integers           # the bytes of texts if ids are integers
    Lookup* lookups             # per query
    uint64_t* tables            # what the lookups point to


cdef struct QueryIndex:         # all query ids by their bytes
    Text* texts                 # likewise
    int64_t* integers
    uint64_t* table             # like Lookup.table
    uint64_t mask


cdef class Judged:
    cdef readonly list query_ids
    cdef readonly Py_ssize_t n_queries
    cdef int64_t* offsets       # a query's judged ids begin at offsets[q], best label first
    cdef int32_t* labels
    cdef int64_t* positive      # per query: how many labels are above 0
    cdef int64_t* judged        # and at least 0
    cdef object arena           # where texts lie, for ids that came as bytes
    cdef Text* texts            # parallel to labels; of ids that came as Python objects, after index()
    cdef list strings, integers         # the ids as str and as int, parallel to labels; None before their first use
    cdef list other_queries     # query_ids as the other of str and int, None before their first use
    cdef dict text_rows, integer_rows   # {query id: row} likewise
    cdef list kept              # what owns the bytes that are borrowed
    cdef Index* indexes[2]      # by the bytes of text and of int64; NULL before their first use
    cdef QueryIndex* query_indexes[2]   # likewise
    cdef Lookup* lookups[2]     # per query, by Python's own hash of str and of int, likewise
    cdef bint used              # whether a dict was joined with them before
    cdef int fill(self, list query_ids, doc_ids, const int64_t* offsets, Py_ssize_t n_offsets, const int32_t* labels,
                  int64_t n) except -1
    cdef int64_t n_read(self, int reads, int64_t q) noexcept nogil
    cdef Judgments judgments(self, int64_t q) noexcept nogil
    cdef void sort(self, int64_t q, const int32_t* labels, int64_t* order, int64_t* spare) noexcept
    cdef list ids(self, bint integers)
    cdef list queries(self, bint integers)
    cdef dict rows(self, bint integers)
    cdef take(self, arena, const int64_t* order, int64_t n)
    cdef const Index* index(self, bint integers) except NULL
    cdef const QueryIndex* query_index(self, bint integers) except NULL
    cdef const Lookup* lookup(self, bint integers) except NULL
    cdef void* load_pointer(self, void** place) noexcept
    cdef void* store_pointer(self, void** place, void* value) noexcept


cdef inline uint64_t spread_hash(Py_ssize_t h) noexcept nogil:
    """Python's hash of an int is the int: its bits are spread over all 64 in a secret way."""
    return mix(START, <uint64_t>h)


cdef int64_t find_query(const QueryIndex* index, const Text* query) noexcept nogil
cdef int check_judged(Plan plan, Judged judged) except -1


cdef inline int64_t find_judged(const Index* index, int64_t q, int64_t first, const Text* doc,
                                uint64_t h) noexcept nogil:
    """The position of an id with hash h among the judged ids of query q, which begin at `first`, or -1."""
    cdef const Lookup* lookup = index.lookups + q
    if not lookup.filter[h >> 38 & lookup.filter_mask] >> (h >> 32 & 63) & 1:
        return -1
    return find_listed(index, q, first, doc, h)


cdef inline int64_t find_listed(const Index* index, int64_t q, int64_t first, const Text* doc,
                                uint64_t h) noexcept nogil:
    """find_judged() without its filter, for ids that passed another."""
    cdef const Lookup* lookup = index.lookups + q
    cdef int64_t position
    cdef uint64_t slot = h & lookup.mask, entry, low = 0xFFFFFFFF
    while True:
        entry = lookup.table[slot]
        if entry == 0:
            return -1
        position = <int64_t>(entry & low) - 1
        if entry >> 32 == h >> 32 and equal(index.texts + first + position, doc):
            return position
        slot = (slot + 1) & lookup.mask
