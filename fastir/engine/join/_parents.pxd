# The documents of the ids of a run.
from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastir.engine.columns._text cimport Group, Text
from fastir.engine.join._repeats cimport Repeats


cdef struct Document:       # a text with its hash
    Text text
    uint64_t hash
    uint64_t unused         # so that each lies in one line of the cache


cdef enum:
    HELD = 24               # bytes of an id in a Chunk, or of a Document


cdef struct Chunk:          # a slot of the table, half a line of the cache
    uint32_t document       # 1 + its position among the distinct documents; 0 if the slot is free
    uint32_t length         # of the id; LONG if it has more bytes than there is room for
    char[HELD] bytes        # of the id, or a Document if it is long


cdef class Parents:
    cdef readonly object chunks, documents, aggregate
    cdef list kept          # what owns the bytes
    cdef Document* distinct  # the distinct documents
    cdef Chunk* table       # by a chunk's hash
    cdef uint64_t mask
    cdef int rule
    cdef int64_t number(self, int64_t* table, uint64_t mask, int64_t n, const Text* text) noexcept nogil
    cdef Chunk* slot(self, const Text* chunk, uint64_t h) noexcept nogil
    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil
    cdef int64_t merge(self, Group* g, uint64_t* hashes, Repeats* repeats) noexcept nogil
