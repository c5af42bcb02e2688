# The hits of a long group, from its rows sorted by score.
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastir.engine.measure._measure cimport Plan, Scratch
from fastir.engine.rank._labels cimport Labels

cdef enum:
    MAX_ROWS_PER_HIT = 32   # rows for one hit up to which sorting beats looking every row up among the hits
    PART_ENTRIES = 1 << 12  # entries that are sorted through as many temporary ones


cdef struct Entry:      # a row; entries sort by key, then by place
    uint64_t key        # of its score, rising while scores fall
    uint32_t place      # where scores are equal
    int32_t label


cdef inline uint64_t falling_key(double score) noexcept nogil:
    """A number that is smaller for a larger score, and the same for 0.0 and -0.0."""
    cdef uint64_t bits
    score += 0.0
    memcpy(&bits, &score, sizeof(bits))
    return bits if bits >> 63 else ~bits & ~(<uint64_t>1 << 63)


cdef void sort_entries(Entry* a, Entry* spare, int64_t n, int which, bint as_placed) noexcept nogil
cdef int64_t hits_by_sorting(Plan plan, Scratch* measured, Entry* entries, bint single, const Labels* labels, int ties,
                             Entry* spare, int64_t kept, bint* tied) noexcept nogil
