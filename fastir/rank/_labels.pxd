# Columns of labels, and the labels of one group.
from libc.stdint cimport int8_t, int32_t, int64_t

from fastir.measure._measure cimport JUDGED, POOL, Judgments

cdef enum:
    TAIL = 64                   # bytes that are read at a time; scratch has so many behind the last


cdef struct Column:
    const char* data            # NULL where there is none
    int64_t step                # entries from one row to the next
    int64_t n
    int kind                    # a position in KINDS


cdef struct Labels:             # of one group
    const int8_t* bytes         # NULL where one is above 127
    const int32_t* wide
    int64_t n
    bint padded                 # whether TAIL bytes behind them can be read


cdef int open_column(Column* column, Py_buffer* buffer, array) except -1
cdef bint copy_labels(const Column* column, int64_t first, int64_t n, int8_t* bytes, int32_t* wide,
                      Labels* labels) noexcept nogil
cdef int64_t list_hits(const Labels* labels, int reads, int64_t* ranks, int32_t* found, bint* falling,
                       int64_t* negative) noexcept nogil
cdef void count_labels(const Labels* labels, int32_t* ideal, Judgments* known) noexcept nogil


cdef inline bint read_labels(const Column* column, int64_t first, int64_t n, bint in_place, int8_t* bytes,
                             int32_t* wide, Labels* labels) noexcept nogil:
    """Read the labels of a group, and say whether one is no whole number of 32 bits.

    in_place: bytes need not be copied; they are then read once only, as somebody may be changing them.
    """
    if in_place and column.kind == 0 and column.step == 1:
        labels.bytes = <const int8_t*>column.data + first
        labels.n = n
        labels.padded = first + n + TAIL <= column.n
        return False
    return copy_labels(column, first, n, bytes, wide, labels)


cdef inline int32_t label_at(const Labels* labels, int64_t i) noexcept nogil:
    return labels.wide[i] if labels.bytes == NULL else labels.bytes[i]


cdef inline bint counts(int32_t label, int reads) noexcept nogil:
    """Whether a plan with this `reads` looks at a document with this label."""
    return label > 0 or (label == 0 and reads >= JUDGED) or (label < -1 and reads >= POOL)
