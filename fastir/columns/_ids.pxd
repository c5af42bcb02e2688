# A column of ids.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from fastir.columns._text cimport Text


cdef enum:              # how the ids lie
    TEXTS               # places: Text[n]
    SPANS               # places: int64[n] into bytes, lengths beside them
    OFFSETS32           # places: int32[n + 1] into bytes
    OFFSETS64           # places: int64[n + 1] into bytes
    VIEWS               # places: 16 bytes each, Arrow's string view; long ones lie in buffers
    INTEGERS            # places: int64[n]
    CODES               # places: int64[n] into entries


cdef struct Column:
    int kind
    bint integers                       # an id is the eight bytes of an int64
    int64_t n
    const char* bytes
    const void* places
    const int64_t* lengths
    const char** buffers
    Text* entries


cdef class Ids:
    cdef Column column
    cdef list kept                      # what owns all this


cdef int borrow_text(PyObject* string, Text* out, list kept) except -1
cdef void read(const Column* column, int64_t first, int64_t n, Text* out) noexcept nogil
cdef int64_t same_until(const Column* column, int64_t first, int64_t stop) noexcept nogil
cdef Ids of_buffers(int kind, const void* places, const void* data, const void** buffers, int64_t n_buffers, int64_t n,
                    object owner)
