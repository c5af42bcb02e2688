# Columns of labels, and the labels of one group.
from libc.stdint cimport int8_t, int32_t, int64_t

from fastir.engine.measure._codes cimport RELEVANT
from fastir.engine.measure._measure cimport Judgments
from fastir.engine.measure._registry cimport ROW_BITS
from fastir.engine.rank._simd cimport list_labels

cdef enum:                      # Column.kind
    INT8
    INT16
    INT32
    INT64
    FLOAT32
    FLOAT64


cdef enum:
    TAIL_BYTES = 64                   # bytes that are read at a time; scratch has as many more at its end


cdef struct Buffer:             # scratch that grows
    void* start
    int64_t size                # in bytes


cdef struct Column:
    const char* data            # NULL where there is none
    int64_t step                # entries from one row to the next
    int64_t n
    int kind
    bint is_unsigned


cdef struct Levels:             # what labels are compared with that need not be whole
    const double* levels        # above 0, rising; NULL where labels are whole
    int n
    double most                 # the largest label that the metrics take


cdef struct Labels:             # of one group
    const int8_t* bytes         # NULL where one is above 127
    const int32_t* wide
    int64_t n
    bint padded                 # whether TAIL_BYTES bytes behind them can be read
    const double* values        # NULL, or the labels; the bytes are then their classes


cdef int open_column(Column* column, Py_buffer* buffer, array) except -1
cdef void* enlarge_buffer(Buffer* buffer, int64_t size) noexcept nogil
cdef int copy_labels(const Column* column, int64_t first, int64_t n, int8_t* bytes, Buffer* wide,
                     Labels* labels) noexcept nogil
cdef int classify_labels(const Column* column, int64_t first, int64_t n, const Levels* levels, int8_t* bytes,
                         Buffer* values, Labels* labels, int64_t* fractions) noexcept nogil
cdef int64_t list_all(const Labels* labels, int reads, int64_t* ranks, int32_t* hit_labels,
                      int64_t* negative) noexcept nogil
cdef int count_labels(const Labels* labels, Buffer* ideal, Judgments* judgments) noexcept nogil


cdef inline void* room_in(Buffer* buffer, int64_t size) noexcept nogil:
    """The start of at least `size` bytes, which lose their contents when they grow; NULL without memory."""
    return buffer.start if size < buffer.size else enlarge_buffer(buffer, size)


cdef inline int read_labels(const Column* column, int64_t first, int64_t n, bint in_place, int8_t* bytes,
                            Buffer* wide, Labels* labels) noexcept nogil:
    """Read the labels of a group; 0, BAD_LABEL if one is not a whole number of 32 bits, or NO_MEMORY.

    in_place: they are bytes side by side, and need not be copied; another thread may be changing them meanwhile.
    """
    if in_place:
        labels.bytes = <const int8_t*>column.data + first
        labels.n = n
        labels.padded = first + n + TAIL_BYTES <= column.n
        labels.values = NULL
        return 0
    return copy_labels(column, first, n, bytes, wide, labels)


cdef inline int32_t label_at(const Labels* labels, int64_t i) noexcept nogil:
    """A label; if labels have values, the code of its class and row."""
    cdef int32_t label = labels.wide[i] if labels.bytes == NULL else labels.bytes[i]
    return label if labels.values == NULL or label <= 0 else label << ROW_BITS | <int32_t>i


cdef inline int64_t list_hits(const Labels* labels, int reads, int64_t* ranks, int32_t* hit_labels, int64_t room,
                              int64_t* negative, int* beyond) noexcept nogil:
    """The hits among labels in rank order, and the labels below 0; how many hits.

    There is room for `room` hits and 2 TAIL_BYTES more. `beyond` is set unless no label is above 1. -1: there are more,
    as another thread has changed the labels.
    """
    if labels.bytes != NULL and reads == RELEVANT:
        return list_labels(labels.bytes, labels.n, labels.padded, room, ranks, hit_labels, negative, beyond)
    beyond[0] = 1
    return list_all(labels, reads, ranks, hit_labels, negative)
