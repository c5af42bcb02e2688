"""Arrow's C data interface, without any Arrow library: tables come in as batches.

    object ── __arrow_c_stream__ / __arrow_c_array__ ──▶ Batches ──▶ Batch ──▶ Ids, float64 arrays

Nothing is read before it is checked. A Batch owns its ArrowArray until nothing refers to it; ids and
numbers borrow its buffers. Only what kernels cannot read in place is copied: narrow integers, floats that are not
double, positions in a dictionary, and numbers and offsets that are not aligned, which the interface allows. The GIL is
released while a stream works: its batches may come from another thread that needs it.
The layouts are in the specification (arrow.apache.org/docs/format/CDataInterface.html).

Another library filled these structs, so they may be wrong. Each check raises ValueError with the defect. The checks of
a stream, a schema, a batch and the structure of a column take constant time; the checks of contents take one pass:
offsets must rise, a view must lie in its buffer (positions in a dictionary: _ids.ids_from_codes). The interface does
not say how long buffers are, except the buffers of views. So the promise is: a struct whose pointers are valid, and
whose buffers are as long as its lengths and offsets say, is read as pyarrow reads it or refused; nothing outside of its
buffers is touched.
"""

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastir.engine.columns._ids cimport OFFSETS32, OFFSETS64, VIEWS, ids_from_buffers

import numpy as np

from fastir.engine.columns._ids import ids_from_codes, ids_from_integers, ids_from_strings
from fastir.engine.columns.arrow_types import decimal_integers, decimal_layout, decimal_numbers, in_words

# ---- checks ----------------------------------------------------------------------------------------------------------
cdef enum:
    MAX_NESTED_DICTIONARIES = 64      # within each other, as pyarrow limits them: they could form a circle
    BLOCK_VIEWS = 256                 # views that are checked at a time
    INLINE_BYTES = 12                 # bytes of a text that lie in its view

INTEGER_TYPES = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8"}
FLOAT_TYPES = {"e": "f2", "f": "f4", "g": "f8"}
TEXT_KINDS = {"u": OFFSETS32, "z": OFFSETS32, "U": OFFSETS64, "Z": OFFSETS64, "vu": VIEWS, "vz": VIEWS}
LIST_TYPES = {"+l": "i4", "+L": "i8"}   # with the types of their offsets; "+w:2", of lists of two, has none
# How many buffers an array of each type has that is read here; views have more, one for each buffer of long texts.
BUFFERS = {**dict.fromkeys([*INTEGER_TYPES, *FLOAT_TYPES, "b"], 2), **dict.fromkeys(TEXT_KINDS, 3)}


def malformed_error(defect):
    """The error for this defect."""
    return ValueError(f"malformed Arrow data: {defect}")


cdef str type_name(const ArrowSchema* schema):
    """The type as Arrow writes it."""
    return schema.format.decode("utf-8", "replace")


cdef int check_stream(const ArrowArrayStream* stream) except -1:
    """A stream that was not taken before, with the callbacks that are called."""
    if stream.release == NULL:
        raise ValueError("the Arrow stream is released: a capsule can be read only once")
    if stream.get_schema == NULL or stream.get_next == NULL:
        raise malformed_error("the stream lacks a callback")
    return 0


cdef int check_schema(const ArrowSchema* schema) except -1:
    """The schema of a table, with children that have names and types."""
    cdef int64_t i
    if schema.release == NULL:
        raise ValueError("the Arrow schema is released: a capsule can be read only once")
    if schema.format == NULL:
        raise malformed_error("the schema has no format")
    if schema.format != b"+s":
        raise TypeError("expected a table with named columns, got a single Arrow column")
    if schema.dictionary != NULL:
        raise malformed_error("the schema of a table has a dictionary")
    if schema.n_children < 0 or schema.n_children and schema.children == NULL:
        raise malformed_error("the schema lacks its children")
    for i in range(schema.n_children):
        if schema.children[i] == NULL or schema.children[i].release == NULL:
            raise malformed_error(f"the schema of column {i} is missing or released")
        if schema.children[i].format == NULL:
            raise malformed_error(f"the schema of column {i} has no format")
    return 0


cdef int check_extent(const ArrowArray* array, int64_t needed) except -1:
    """At least `needed` values, at addresses that a pointer can reach."""
    if array.release == NULL:
        raise ValueError("the Arrow array is released: a capsule can be read only once")
    if array.length < 0 or array.offset < 0 or array.length > INT64_MAX // 16 - array.offset:
        raise malformed_error(f"length {array.length} and offset {array.offset} are impossible")
    if array.length < needed:
        raise malformed_error(f"{array.length} values where the table needs {needed}")
    if array.n_buffers > 0 and array.buffers == NULL:
        raise malformed_error("the buffers are missing")
    return 0


cdef int check_bitmap(const ArrowArray* array) except -1:
    if array.null_count > 0 and array.buffers[0] == NULL:
        raise malformed_error("nulls are counted, but their bitmap is missing")
    return 0


cdef int check_batch(const ArrowArray* batch, const ArrowSchema* schema) except -1:
    """A batch of the table with this schema; its columns are checked when they are read."""
    cdef int64_t i
    check_extent(batch, 0)
    if batch.n_buffers != 1:
        raise malformed_error(f"a table has {batch.n_buffers} buffers, expected 1")
    check_bitmap(batch)
    if batch.n_children != schema.n_children or batch.n_children and batch.children == NULL:
        raise malformed_error(f"a batch has {batch.n_children} columns, its schema {schema.n_children}")
    for i in range(batch.n_children):
        if batch.children[i] == NULL:
            raise malformed_error(f"column {i} of a batch is missing")
    if batch.dictionary != NULL:
        raise malformed_error("a batch has a dictionary")
    return 0


cdef int check_column(const ArrowArray* column, const ArrowSchema* schema, int64_t needed, int depth=0) except -1:
    """The structure of a column, and of its dictionary; only the length if its type is not read here."""
    cdef int64_t expected
    check_extent(column, needed)
    if (column.dictionary == NULL) != (schema.dictionary == NULL):
        raise malformed_error("the dictionary is missing, or not in the schema")
    name = type_name(schema)
    if schema.dictionary != NULL:
        if name not in INTEGER_TYPES:
            raise malformed_error(f"positions in a dictionary are of type {name!r}, which is no integer")
        if depth == MAX_NESTED_DICTIONARIES:
            raise malformed_error("too many dictionaries within each other")
        if schema.dictionary.release == NULL or schema.dictionary.format == NULL:
            raise malformed_error("the schema of the dictionary is released or has no format")
        check_column(column.dictionary, schema.dictionary, 0, depth + 1)
    if is_list(name):
        if column.n_children != 1 or schema.n_children != 1 or column.children == NULL or schema.children == NULL:
            raise malformed_error(f"a column of type {name!r} must have one child")
        if column.children[0] == NULL or schema.children[0] == NULL or schema.children[0].format == NULL:
            raise malformed_error(f"the child of a column of type {name!r} is missing")
        expected = 2 if name in LIST_TYPES else 1
        if column.n_buffers != expected:
            raise malformed_error(f"a column of type {name!r} has {column.n_buffers} buffers, expected {expected}")
        check_bitmap(column)
        if column.length and name in LIST_TYPES and column.buffers[1] == NULL:
            raise malformed_error("the buffer of offsets is missing")
    if not is_flat(name):
        return 0
    if column.n_children != 0:
        raise malformed_error(f"a column of type {name!r} has {column.n_children} children")
    expected = BUFFERS.get(name, 2)
    if column.n_buffers < expected or column.n_buffers > expected and TEXT_KINDS.get(name) != VIEWS:
        raise malformed_error(f"a column of type {name!r} has {column.n_buffers} buffers, expected {expected}")
    check_bitmap(column)
    if column.length and column.buffers[1] == NULL:
        raise malformed_error("the buffer of values is missing")
    return 0


cdef bint is_flat(str name):
    """Whether a type is one of values that are read here."""
    return name in BUFFERS or decimal_layout(name) is not None


cdef bint is_list(str name):
    """Whether a type is a type of lists, all of one length or not."""
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
        raise malformed_error("offsets of texts are negative or fall")
    if data == NULL and last > first:
        raise malformed_error("the buffer of texts is missing")
    return 0


cdef bint one_buffer(const char* views, int64_t n, uint32_t buffer, uint32_t size) noexcept nogil:
    """Whether all texts lie in their views, or within the first `size` bytes of this one buffer."""
    cdef int64_t i
    cdef uint32_t length, number, offset, left, is_long, signs = 0, others = 0
    for i in range(n):
        memcpy(&length, views + 16 * i, 4)
        memcpy(&number, views + 16 * i + 8, 4)
        memcpy(&offset, views + 16 * i + 12, 4)
        is_long = 0 - ((INLINE_BYTES - length) >> 31)     # all bits, or none
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
        if 0 <= length <= INLINE_BYTES:
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
    """As lost_view(), which is called only for blocks of views with texts in several buffers."""
    cdef int64_t first = 0, block, lost, size = 0
    cdef uint32_t length, buffer = 0
    if n_buffers:
        memcpy(&size, sizes, 8)
    while first < n:
        block = BLOCK_VIEWS if n - first > BLOCK_VIEWS else n - first
        if not one_buffer(views + 16 * first, block, buffer, <uint32_t>(size if size < INT32_MAX else INT32_MAX)):
            lost = lost_view(views + 16 * first, block, sizes, n_buffers)
            if lost < block:
                return first + lost
            memcpy(&length, views + 16 * (first + block - 1), 4)
            if length > INLINE_BYTES:     # the next ones are probably in the same buffer
                memcpy(&buffer, views + 16 * (first + block - 1) + 8, 4)
                memcpy(&size, sizes + 8 * <int64_t>buffer, 8)
        first += block
    return n


cdef int check_views(const ArrowArray* array, const char* views, int64_t n) except -1:
    """n views into the buffers of an array; its last buffer holds the sizes of the buffers of long texts."""
    cdef int64_t i, size, lost, n_buffers = array.n_buffers - 3
    cdef const char* sizes = <const char*>array.buffers[array.n_buffers - 1]
    if n_buffers and sizes == NULL:
        raise malformed_error("the sizes of the buffers of texts are missing")
    for i in range(n_buffers):
        memcpy(&size, sizes + 8 * i, 8)
        if size < 0 or size and array.buffers[i + 2] == NULL:
            raise malformed_error(f"buffer {i} of texts is missing, or its size is negative")
    with nogil:
        lost = lost_view_by_blocks(views, n, sizes, n_buffers)
    if lost < n:
        raise malformed_error(f"view {lost} of the batch is not within its buffer")
    return 0


# ---- batches ---------------------------------------------------------------------------------------------------------
WIDE_TYPES = {name: typestr for name, typestr in INTEGER_TYPES.items() if typestr[1:] == "8"}

cdef const char* EMPTY = ""         # for a text of no bytes


cdef class Schema:
    """The names and types of a table's columns."""

    cdef ArrowSchema schema
    cdef readonly list names

    def __dealloc__(self):
        if self.schema.release != NULL:
            self.schema.release(&self.schema)

    cdef read(self):
        cdef int64_t i
        cdef const char* name
        check_schema(&self.schema)
        self.names = []
        for i in range(self.schema.n_children):
            name = self.schema.children[i].name
            self.names.append(name.decode("utf-8", "surrogateescape") if name != NULL else "")


cdef class Memory:
    """A stretch of a batch's memory that NumPy can look at; keeps the batch alive."""

    cdef Batch owner
    cdef const void* start
    cdef Py_ssize_t size

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, <void*>self.start, self.size, True, flags)


cdef class Batch:
    """Some rows of a table, `n`; ValueError for a column that is not valid Arrow data, before it is read."""

    cdef ArrowArray array
    cdef Schema schema
    cdef readonly int64_t n
    cdef int64_t checked        # one more than the number of the column that child() checked last

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    cdef ArrowArray* child(self, int64_t column) except NULL:
        """A column, its structure checked unless it is the one that was checked last."""
        if column + 1 != self.checked:
            check_column(self.array.children[column], self.schema.schema.children[column], self.array.offset + self.n)
            self.checked = column + 1
        return self.array.children[column]

    cdef look(self, const void* start, str typestr, int64_t n):
        """An array of what lies in the batch's memory, which it keeps alive; a copy of what is not aligned."""
        cdef Memory memory = Memory.__new__(Memory)
        if n == 0:
            return np.empty(0, typestr)
        memory.owner, memory.start, memory.size = self, start, n * int(typestr[1])
        array = np.frombuffer(memory, "<" + typestr)
        return array if <size_t>start % <size_t>int(typestr[1]) == 0 else array.copy()

    cdef bits(self, const void* start, int64_t first, int64_t n):
        """Some bits of a bitmap as an array of 0 and 1."""
        cdef int64_t skipped = first & 7
        packed = self.look(<const char*>start + (first >> 3), "u1", (skipped + n + 7) >> 3)
        return np.unpackbits(packed, count=skipped + n, bitorder="little")[skipped:]

    cdef nulls(self, ArrowArray* array, ArrowSchema* schema, int64_t first, int64_t n):
        """Which of some values are null, as an array of bool; None if none is."""
        cdef str name = type_name(schema)
        if name == "n":
            return np.ones(n, bool) if n else None
        if not is_flat(name) and not is_list(name):
            return None
        missing = None if all_valid(array, first, n) else self.bits(array.buffers[0], first, n) == 0
        if schema.dictionary != NULL:
            entries = self.nulls(array.dictionary, schema.dictionary, array.dictionary.offset, array.dictionary.length)
            if entries is not None:
                codes = self.integers(array, name, first, n)
                absent = entries[np.clip(codes, 0, len(entries) - 1)]
                missing = absent if missing is None else missing | absent
        return missing if missing is not None and missing.any() else None

    def null(self, int64_t column):
        """The first row that has no value in this column, -1 if there is none."""
        cdef ArrowArray* child = self.child(column)
        missing = self.nulls(child, self.schema.schema.children[column], self.array.offset + child.offset, self.n)
        if not all_valid(&self.array, self.array.offset, self.n):
            rows = self.bits(self.array.buffers[0], self.array.offset, self.n) == 0
            missing = rows if missing is None else rows | missing
        return -1 if missing is None else int(missing.argmax())

    def ids(self, int64_t column):
        """A column of ids; None if its type cannot be one."""
        cdef ArrowArray* child = self.child(column)
        return self.read_ids(child, self.schema.schema.children[column], self.array.offset + child.offset, self.n)

    def lists(self, int64_t column, bint numbers=False):
        """A column of lists of ids, or of numbers, none of which is null; None if its type is another.

        Else (offsets of the lists from 0 as int64; their ids, or numbers as float64; the position of the first null
        among these, -1 if there is none).
        """
        cdef ArrowArray* child = self.child(column)
        cdef ArrowSchema* schema = self.schema.schema.children[column]
        cdef ArrowArray* values
        cdef ArrowSchema* value_schema
        cdef int64_t first = self.array.offset + child.offset, low, n
        cdef int kind
        cdef str name = type_name(schema)
        if not is_list(name) or schema.dictionary != NULL:
            return None
        if name not in LIST_TYPES:
            offsets = np.arange(first, first + self.n + 1, dtype=np.int64) * int(name[3:])
        elif self.n == 0:
            offsets = np.zeros(1, np.int64)
        else:
            kind = OFFSETS32 if name == "+l" else OFFSETS64
            places = self.look(<const char*>child.buffers[1] + first * (4 if kind == OFFSETS32 else 8),
                               LIST_TYPES[name], self.n + 1)
            check_offsets(kind, <const void*><size_t>places.ctypes.data, self.n, EMPTY)
            offsets = places.astype(np.int64)
        low, n = offsets[0], offsets[self.n] - offsets[0]
        values = child.children[0]
        value_schema = schema.children[0]
        check_column(values, value_schema, low + n)
        missing = self.nulls(values, value_schema, values.offset + low, n)
        if missing is not None:
            return offsets - low, None, int(missing.argmax())
        if numbers:
            items = self.read_numbers(values, value_schema, values.offset + low, n)
        else:
            items = self.read_ids(values, value_schema, values.offset + low, n)
        return None if items is None else (offsets - low, items, -1)

    cdef integers(self, ArrowArray* array, str name, int64_t first, int64_t n):
        """Integers of any width as int64."""
        cdef str typestr = INTEGER_TYPES[name]
        cdef int64_t width = int(typestr[1])
        return self.look(<const char*>array.buffers[1] + first * width, typestr, n).astype(np.int64, copy=False)

    cdef read_ids(self, ArrowArray* array, ArrowSchema* schema, int64_t first, int64_t n):
        cdef str name = type_name(schema)
        if schema.dictionary != NULL:
            entries = self.read_ids(array.dictionary, schema.dictionary, array.dictionary.offset,
                                    array.dictionary.length)
            return None if entries is None else ids_from_codes(self.integers(array, name, first, n), entries)
        if name == "L":
            numbers = self.look(<const char*>array.buffers[1] + 8 * first, "u8", n)
            if n and numbers.max() >= 2**63:
                return ids_from_strings(numbers.astype(str).astype(object))[0]
        if name in INTEGER_TYPES:
            return ids_from_integers(self.integers(array, name, first, n))
        decimal = decimal_layout(name)
        if decimal is not None and decimal[1] == 0:
            numbers = decimal_integers(self.decimals(array, decimal[0], first, n), decimal[0])
            return ids_from_strings(numbers)[0] if numbers.dtype == object else ids_from_integers(numbers)
        if name not in TEXT_KINDS:
            return None
        if n == 0:
            return ids_from_strings(np.empty(0, object))[0]
        return self.read_texts(array, TEXT_KINDS[name], first, n)

    cdef read_texts(self, ArrowArray* array, int kind, int64_t first, int64_t n):
        cdef int64_t width = 16 if kind == VIEWS else 8 if kind == OFFSETS64 else 4
        cdef const char* places = <const char*>array.buffers[1] + width * first
        cdef const char* data
        owner = self
        if kind == VIEWS:
            check_views(array, places, n)
            return ids_from_buffers(kind, places, NULL, array.buffers + 2, array.n_buffers - 3, n, owner)
        if <size_t>places % width:
            aligned = self.look(places, f"i{width}", n + 1)
            places, owner = <const char*><size_t>aligned.ctypes.data, (self, aligned)
        check_offsets(kind, places, n, array.buffers[2])
        data = <const char*>array.buffers[2] if array.buffers[2] != NULL else EMPTY
        return ids_from_buffers(kind, places, data, NULL, 0, n, owner)

    def wide_integers(self, int64_t column):
        """A column of integers of 64 bits, which float64 may round; None if it is of another type."""
        cdef ArrowArray* child = self.child(column)
        cdef ArrowSchema* schema = self.schema.schema.children[column]
        typestr = WIDE_TYPES.get(type_name(schema)) if schema.dictionary == NULL else None
        if typestr is None:
            return None
        return self.look(<const char*>child.buffers[1] + 8 * (self.array.offset + child.offset), typestr, self.n)

    def numbers(self, int64_t column, most=None):
        """A column of numbers as float64, or the first of them; None if its type is no number."""
        cdef ArrowArray* child = self.child(column)
        cdef int64_t n = self.n if most is None else min(self.n, most)
        return self.read_numbers(child, self.schema.schema.children[column], self.array.offset + child.offset, n)

    cdef read_numbers(self, ArrowArray* array, ArrowSchema* schema, int64_t first, int64_t n):
        cdef str name = type_name(schema)
        if schema.dictionary != NULL:
            return None
        if name == "b":
            return self.bits(array.buffers[1], first, n).astype(float) if n else np.empty(0)
        typestr = FLOAT_TYPES.get(name) or INTEGER_TYPES.get(name)
        if typestr is None:
            decimal = decimal_layout(name)
            if decimal is None:
                return None
            return decimal_numbers(self.decimals(array, decimal[0], first, n), *decimal)
        start = <size_t>array.buffers[1] + first * int(typestr[1])
        return self.look(<const void*><size_t>start, typestr, n).astype(float, copy=False)

    cdef decimals(self, ArrowArray* array, int64_t width, int64_t first, int64_t n):
        """The bytes of some decimals."""
        return self.look(<const char*>array.buffers[1] + first * width, "u1", n * width)

    def type_text(self, int64_t column):
        """The column's type, in words."""
        cdef ArrowSchema* schema = self.schema.schema.children[column]
        names = [in_words(type_name(schema))]
        while schema.dictionary != NULL:
            schema = schema.dictionary
            names.append(in_words(type_name(schema)))
        return ", dictionary of ".join(names)


cdef class Batches:
    """Iterates over the batches of an object that has __arrow_c_stream__ or __arrow_c_array__."""

    cdef ArrowArrayStream stream
    cdef Batch only             # of an object that is one batch
    cdef Schema schema
    cdef object capsule

    def __init__(self, data):
        cdef int failed
        cdef ArrowArrayStream* exported
        cdef ArrowSchema* schema
        cdef ArrowArray* array
        self.schema = Schema()
        if hasattr(data, "__arrow_c_stream__"):
            self.capsule = data.__arrow_c_stream__()
            exported = <ArrowArrayStream*>PyCapsule_GetPointer(self.capsule, "arrow_array_stream")
            check_stream(exported)
            self.stream = exported[0]
            exported.release = NULL
            with nogil:
                failed = self.stream.get_schema(&self.stream, &self.schema.schema)
            if failed:
                self.schema.schema.release = NULL
                self.fail()
        else:
            schema_capsule, array_capsule = data.__arrow_c_array__()
            schema = <ArrowSchema*>PyCapsule_GetPointer(schema_capsule, "arrow_schema")
            array = <ArrowArray*>PyCapsule_GetPointer(array_capsule, "arrow_array")
            self.schema.schema = schema[0]
            schema.release = NULL
            self.only = Batch()
            self.only.array = array[0]
            array.release = NULL
        self.schema.read()

    def __dealloc__(self):
        with nogil:
            if self.stream.release != NULL:
                self.stream.release(&self.stream)

    @property
    def names(self):
        return self.schema.names

    @property
    def list_columns(self):
        """The names of the columns of lists."""
        cdef ArrowSchema** columns = self.schema.schema.children
        return [name for place, name in enumerate(self.schema.names) if is_list(type_name(columns[place]))]

    cdef fail(self):
        cdef const char* text = NULL
        if self.stream.get_last_error != NULL:
            text = self.stream.get_last_error(&self.stream)
        message = text.decode("utf-8", "replace") if text != NULL else "no message"
        raise OSError(f"the Arrow stream failed: {message}")

    def __iter__(self):
        return self

    def __next__(self):
        cdef int failed
        cdef Batch batch = self.only
        self.only = None
        if batch is None:
            if self.stream.release == NULL:
                raise StopIteration
            batch = Batch()
            with nogil:
                failed = self.stream.get_next(&self.stream, &batch.array)
            if failed:
                batch.array.release = NULL
                self.fail()
            if batch.array.release == NULL:
                raise StopIteration
        check_batch(&batch.array, &self.schema.schema)
        batch.schema = self.schema
        batch.n = batch.array.length
        return batch
