# The documents that the ids of a run stand for.
from libc.stdint cimport int64_t, uint64_t

from fastir.columns._text cimport Group, Text
from fastir.join._repeats cimport Repeats


cdef struct Chunk:          # a chunk, and the document that it is a part of
    Text chunk
    Text document           # the same bytes in the same place for all chunks of a document
    uint64_t hash           # of the document


cdef class Parents:
    cdef readonly object chunks, documents, aggregate
    cdef Chunk* entries
    cdef uint64_t* table    # by a chunk's hash: its upper half, and position + 1 in the lower; 0 is free
    cdef uint64_t mask
    cdef int rule
    cdef share_bytes(self, int64_t n, int64_t size)
    cdef void insert(self, uint64_t h, int64_t i) noexcept nogil
    cdef int64_t find(self, const Text* chunk, uint64_t h) noexcept nogil
    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil
    cdef int64_t merge(self, Group* g, uint64_t* hashes, Repeats* repeats) noexcept nogil
