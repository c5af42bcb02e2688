"""Whether what comes through Arrow's C data interface may be read: checks before any byte of it is.

Another library filled these structs, and nothing but its care makes them right. Each check raises ValueError with the
defect. Those of a stream, a schema, a batch and the structure of a column take constant time; those of contents take
one pass: offsets must rise, a view must lie in its buffer (positions in a dictionary: _ids.ids_from_codes). What cannot
be known is how long the buffers are, apart from those of views: the interface does not say. So the promise is: a struct
whose pointers are valid, and whose buffers are as long as its lengths and offsets say, is read as pyarrow reads it or
refused; nothing outside of its buffers is touched.
"""

from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastir.engine.columns._ids cimport OFFSETS32, OFFSETS64, VIEWS

from fastir.engine.columns.arrow_types import decimal_layout

cdef enum:
    MOST_DICTIONARIES = 64      # within each other, as pyarrow limits them: they could form a circle
    BLOCK = 256                 # views that are checked at a time
    INLINE = 12                 # bytes of a text that lie in its view

INTEGER_TYPES = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8"}
FLOAT_TYPES = {"e": "f2", "f": "f4", "g": "f8"}
TEXT_KINDS = {"u": OFFSETS32, "z": OFFSETS32, "U": OFFSETS64, "Z": OFFSETS64, "vu": VIEWS, "vz": VIEWS}
LIST_TYPES = {"+l": "i4", "+L": "i8"}   # with the types of their offsets; "+w:2", of lists of two, has none
# How many buffers an array of each type has that is read here; views have more, one for each buffer of long texts.
BUFFERS = {**dict.fromkeys([*INTEGER_TYPES, *FLOAT_TYPES, "b"], 2), **dict.fromkeys(TEXT_KINDS, 3)}


def malformed(defect):
    """The error for this defect."""
    return ValueError(f"malformed Arrow data: {defect}")


cdef str type_name(const ArrowSchema* schema):
    """The type as Arrow writes it."""
    return schema.format.decode("utf-8", "replace")


cdef int check_stream(const ArrowArrayStream* stream) except -1:
    """A stream that nobody has taken, with the callbacks that are called."""
    if stream.release == NULL:
        raise ValueError("the Arrow stream is released: a capsule can be read only once")
    if stream.get_schema == NULL or stream.get_next == NULL:
        raise malformed("the stream lacks a callback")
    return 0


cdef int check_schema(const ArrowSchema* schema) except -1:
    """That of a table, with children that have names and types."""
    cdef int64_t i
    if schema.release == NULL:
        raise ValueError("the Arrow schema is released: a capsule can be read only once")
    if schema.format == NULL:
        raise malformed("the schema has no format")
    if schema.format != b"+s":
        raise TypeError("expected a table with named columns, got a single Arrow column")
    if schema.dictionary != NULL:
        raise malformed("the schema of a table has a dictionary")
    if schema.n_children < 0 or schema.n_children and schema.children == NULL:
        raise malformed("the schema lacks its children")
    for i in range(schema.n_children):
        if schema.children[i] == NULL or schema.children[i].release == NULL:
            raise malformed(f"the schema of column {i} is missing or released")
        if schema.children[i].format == NULL:
            raise malformed(f"the schema of column {i} has no format")
    return 0


cdef int check_extent(const ArrowArray* array, int64_t needed) except -1:
    """At least `needed` values, at places that a pointer can reach."""
    if array.release == NULL:
        raise ValueError("the Arrow array is released: a capsule can be read only once")
    if array.length < 0 or array.offset < 0 or array.length > INT64_MAX // 16 - array.offset:
        raise malformed(f"length {array.length} and offset {array.offset} are impossible")
    if array.length < needed:
        raise malformed(f"{array.length} values where the table needs {needed}")
    if array.n_buffers > 0 and array.buffers == NULL:
        raise malformed("the buffers are missing")
    return 0


cdef int check_bitmap(const ArrowArray* array) except -1:
    if array.null_count > 0 and array.buffers[0] == NULL:
        raise malformed("nulls are counted, but their bitmap is missing")
    return 0


cdef int check_batch(const ArrowArray* batch, const ArrowSchema* schema) except -1:
    """A batch of the table with this schema; its columns are checked when they are read."""
    cdef int64_t i
    check_extent(batch, 0)
    if batch.n_buffers != 1:
        raise malformed(f"a table has {batch.n_buffers} buffers, expected 1")
    check_bitmap(batch)
    if batch.n_children != schema.n_children or batch.n_children and batch.children == NULL:
        raise malformed(f"a batch has {batch.n_children} columns, its schema {schema.n_children}")
    for i in range(batch.n_children):
        if batch.children[i] == NULL:
            raise malformed(f"column {i} of a batch is missing")
    if batch.dictionary != NULL:
        raise malformed("a batch has a dictionary")
    return 0


cdef int check_column(const ArrowArray* column, const ArrowSchema* schema, int64_t needed, int depth=0) except -1:
    """The structure of a column, and of its dictionary; of a type that is not read here only the length."""
    cdef int64_t expected
    check_extent(column, needed)
    if (column.dictionary == NULL) != (schema.dictionary == NULL):
        raise malformed("the dictionary is missing, or not in the schema")
    name = type_name(schema)
    if schema.dictionary != NULL:
        if name not in INTEGER_TYPES:
            raise malformed(f"positions in a dictionary are of type {name!r}, which is no integer")
        if depth == MOST_DICTIONARIES:
            raise malformed("too many dictionaries within each other")
        if schema.dictionary.release == NULL or schema.dictionary.format == NULL:
            raise malformed("the schema of the dictionary is released or has no format")
        check_column(column.dictionary, schema.dictionary, 0, depth + 1)
    if is_list(name):
        if column.n_children != 1 or schema.n_children != 1 or column.children == NULL or schema.children == NULL:
            raise malformed(f"a column of type {name!r} must have one child")
        if column.children[0] == NULL or schema.children[0] == NULL or schema.children[0].format == NULL:
            raise malformed(f"the child of a column of type {name!r} is missing")
        expected = 2 if name in LIST_TYPES else 1
        if column.n_buffers != expected:
            raise malformed(f"a column of type {name!r} has {column.n_buffers} buffers, expected {expected}")
        check_bitmap(column)
        if column.length and name in LIST_TYPES and column.buffers[1] == NULL:
            raise malformed("the buffer of offsets is missing")
    if not is_flat(name):
        return 0
    if column.n_children != 0:
        raise malformed(f"a column of type {name!r} has {column.n_children} children")
    expected = BUFFERS.get(name, 2)
    if column.n_buffers < expected or column.n_buffers > expected and TEXT_KINDS.get(name) != VIEWS:
        raise malformed(f"a column of type {name!r} has {column.n_buffers} buffers, expected {expected}")
    check_bitmap(column)
    if column.length and column.buffers[1] == NULL:
        raise malformed("the buffer of values is missing")
    return 0


cdef bint is_flat(str name):
    """Whether a type is one of values that are read here."""
    return name in BUFFERS or decimal_layout(name) is not None


cdef bint is_list(str name):
    """Whether a type is that of lists, all of one length or not."""
    return name in LIST_TYPES or name.startswith("+w:")


cdef bint all_valid(const ArrowArray* array, int64_t first, int64_t n) noexcept:
    """Whether the bitmap, if there is one, says of some values that none is null; null_count may be wrong."""
    cdef const uint8_t* bits = <const uint8_t*>array.buffers[0]
    cdef int64_t i, stop = first + n
    cdef uint8_t bytes = 255
    if bits == NULL:
        return True
    while first < stop and first & 7:
        bytes &= bits[first >> 3] >> (first & 7) | 254
        first += 1
    while first < stop and stop & 7:
        stop -= 1
        bytes &= bits[stop >> 3] >> (stop & 7) | 254
    for i in range(first >> 3, stop >> 3):
        bytes &= bits[i]
    return bytes == 255


# The loops below gather sign bits, which compilers turn into vector code; x86-64 has none for comparisons of 64 bits.


cdef bint falling32(const int32_t* offsets, int64_t n) noexcept nogil:
    """Whether any of n offsets, the first of which is not negative, is larger than the next."""
    cdef int64_t i
    cdef uint32_t signs = 0
    for i in range(n):
        signs |= <uint32_t>offsets[i + 1] | (<uint32_t>offsets[i + 1] - <uint32_t>offsets[i])
    return signs >> 31


cdef bint falling64(const int64_t* offsets, int64_t n) noexcept nogil:
    cdef int64_t i
    cdef uint64_t signs = 0
    for i in range(n):
        signs |= <uint64_t>offsets[i + 1] | (<uint64_t>offsets[i + 1] - <uint64_t>offsets[i])
    return signs >> 63


cdef int check_offsets(int kind, const void* offsets, int64_t n, const void* data) except -1:
    """n + 1 offsets, aligned, that begin at 0 or above and never fall; `data` may be missing if all texts are empty."""
    cdef const int32_t* narrow = <const int32_t*>offsets
    cdef const int64_t* wide = <const int64_t*>offsets
    cdef bint falls
    cdef int64_t first, last
    with nogil:
        if kind == OFFSETS32:
            first, last, falls = narrow[0], narrow[n], falling32(narrow, n)
        else:
            first, last, falls = wide[0], wide[n], falling64(wide, n)
    if first < 0 or falls:
        raise malformed("offsets of texts are negative or fall")
    if data == NULL and last > first:
        raise malformed("the buffer of texts is missing")
    return 0


cdef bint one_buffer(const char* views, int64_t n, uint32_t buffer, uint32_t size) noexcept nogil:
    """Whether all texts lie in their views, or within the first `size` bytes of this one buffer."""
    cdef int64_t i
    cdef uint32_t length, number, offset, left, is_long, signs = 0, others = 0
    for i in range(n):
        memcpy(&length, views + 16 * i, 4)
        memcpy(&number, views + 16 * i + 8, 4)
        memcpy(&offset, views + 16 * i + 12, 4)
        is_long = 0 - ((INLINE - length) >> 31)     # all bits, or none
        left = size - offset
        signs |= length | is_long & (offset | left | left - length)
        others |= is_long & (number ^ buffer)
    return not (signs >> 31 or others)


cdef int64_t lost_view(const char* views, int64_t n, const char* sizes, int64_t n_buffers) noexcept nogil:
    """The first view that leaves its buffer, n if none does."""
    cdef int64_t i, size
    cdef int32_t length, buffer, offset
    for i in range(n):
        memcpy(&length, views + 16 * i, 4)
        if 0 <= length <= INLINE:
            continue
        memcpy(&buffer, views + 16 * i + 8, 4)
        memcpy(&offset, views + 16 * i + 12, 4)
        if length < 0 or offset < 0 or buffer < 0 or buffer >= n_buffers:
            return i
        memcpy(&size, sizes + 8 * <int64_t>buffer, 8)
        if <int64_t>offset + length > size:
            return i
    return n


cdef int64_t lost_view_by_blocks(const char* views, int64_t n, const char* sizes, int64_t n_buffers) noexcept nogil:
    """As lost_view(), which is asked only about blocks of views whose texts lie in several buffers."""
    cdef int64_t first = 0, block, lost, size = 0
    cdef uint32_t length, buffer = 0
    if n_buffers:
        memcpy(&size, sizes, 8)
    while first < n:
        block = BLOCK if n - first > BLOCK else n - first
        if not one_buffer(views + 16 * first, block, buffer, <uint32_t>(size if size < INT32_MAX else INT32_MAX)):
            lost = lost_view(views + 16 * first, block, sizes, n_buffers)
            if lost < block:
                return first + lost
            memcpy(&length, views + 16 * (first + block - 1), 4)
            if length > INLINE:     # its buffer is probably that of the next ones
                memcpy(&buffer, views + 16 * (first + block - 1) + 8, 4)
                memcpy(&size, sizes + 8 * <int64_t>buffer, 8)
        first += block
    return n


cdef int check_views(const ArrowArray* array, const char* views, int64_t n) except -1:
    """n views into the buffers of an array, whose last one holds the sizes of those of long texts."""
    cdef int64_t i, size, lost, n_buffers = array.n_buffers - 3
    cdef const char* sizes = <const char*>array.buffers[array.n_buffers - 1]
    if n_buffers and sizes == NULL:
        raise malformed("the sizes of the buffers of texts are missing")
    for i in range(n_buffers):
        memcpy(&size, sizes + 8 * i, 8)
        if size < 0 or size and array.buffers[i + 2] == NULL:
            raise malformed(f"buffer {i} of texts is missing, or its size is negative")
    with nogil:
        lost = lost_view_by_blocks(views, n, sizes, n_buffers)
    if lost < n:
        raise malformed(f"view {lost} of the batch is not within its buffer")
    return 0
