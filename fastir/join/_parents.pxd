# The documents that the ids of a run stand for.
from libc.stdint cimport int64_t, uint64_t

from fastir.columns._text cimport Group, Text
from fastir.join._repeats cimport Repeats


cdef struct Chunk:          # its bytes follow, up to a multiple of eight
    int64_t document        # its position among the distinct documents
    int64_t length


cdef struct Document:
    Text text
    uint64_t hash


cdef class Parents:
    cdef readonly object chunks, documents, aggregate
    cdef list kept          # what owns the bytes
    cdef Document* distinct  # the distinct documents
    cdef const char* records            # a Chunk after the other
    cdef uint64_t* table    # by a chunk's hash: its upper half, and in the lower where its record is, in words, + 1
    cdef uint64_t mask
    cdef int rule
    cdef int64_t number(self, int64_t* table, uint64_t mask, int64_t n, const Text* text) noexcept nogil
    cdef const Chunk* find(self, const Text* chunk, uint64_t h) noexcept nogil
    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil
    cdef int64_t merge(self, Group* g, uint64_t* hashes, Repeats* repeats) noexcept nogil
