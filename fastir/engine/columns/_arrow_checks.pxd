# The structs of Arrow's C data interface, and the checks that come before any byte they point to is read.
from libc.stdint cimport int64_t


cdef struct ArrowSchema:
    const char* format
    const char* name
    const char* metadata
    int64_t flags
    int64_t n_children
    ArrowSchema** children
    ArrowSchema* dictionary
    void (*release)(ArrowSchema*) noexcept
    void* private_data


cdef struct ArrowArray:
    int64_t length
    int64_t null_count
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void** buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept
    void* private_data


cdef struct ArrowArrayStream:
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept nogil
    int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept nogil
    const char* (*get_last_error)(ArrowArrayStream*) noexcept nogil
    void (*release)(ArrowArrayStream*) noexcept nogil
    void* private_data


cdef str type_name(const ArrowSchema* schema)
cdef int check_stream(const ArrowArrayStream* stream) except -1
cdef int check_schema(const ArrowSchema* schema) except -1
cdef int check_batch(const ArrowArray* batch, const ArrowSchema* schema) except -1
cdef int check_column(const ArrowArray* column, const ArrowSchema* schema, int64_t needed, int depth=*) except -1
cdef int check_offsets(int kind, const void* offsets, int64_t n, const void* data) except -1
cdef int check_views(const ArrowArray* array, const char* views, int64_t n) except -1
cdef bint is_flat(str name)
cdef bint is_list(str name)
cdef bint all_valid(const ArrowArray* array, int64_t first, int64_t n) noexcept
