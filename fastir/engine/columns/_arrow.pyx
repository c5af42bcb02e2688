"""Arrow's C data interface, without any Arrow library: tables come in as batches.

    object ── __arrow_c_stream__ / __arrow_c_array__ ──▶ Batches ──▶ Batch ──▶ Ids, float64 arrays

Nothing is read before _arrow_checks has looked at it. A Batch owns its ArrowArray until nothing refers to it; ids and
numbers borrow its buffers. Only what kernels cannot read in place is copied: narrow integers, floats that are not
double, positions in a dictionary, and numbers and offsets that are not aligned, which the interface allows. The GIL is
released while a stream works: its batches may come from another thread that needs it.
The layouts are those of the specification (arrow.apache.org/docs/format/CDataInterface.html).
"""

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

import numpy as np

from fastir.engine.columns._arrow_checks cimport (ArrowArray, ArrowArrayStream, ArrowSchema, all_valid, check_batch,
                                                  check_column, check_offsets, check_schema, check_stream, check_views,
                                                  is_flat, is_list, type_name)
from fastir.engine.columns._ids cimport OFFSETS32, OFFSETS64, VIEWS, ids_from_buffers

from fastir.engine.columns._arrow_checks import FLOAT_TYPES, INTEGER_TYPES, LIST_TYPES, TEXT_KINDS
from fastir.engine.columns._ids import ids_from_codes, ids_from_integers, ids_from_strings
from fastir.engine.columns.arrow_types import decimal_integers, decimal_layout, decimal_numbers, in_words

WIDE_TYPES = {name: typestr for name, typestr in INTEGER_TYPES.items() if typestr[1:] == "8"}

cdef const char* EMPTY = ""         # where a text of no bytes may lie


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
    """Some rows of a table.

    Its methods raise ValueError for a column that is not valid Arrow data, before they read what would be out of reach.

    Attributes
    ----------
    n : int
        How many rows.
    """

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
        """A column of lists of ids, or of numbers, none of which is null.

        Returns
        -------
        None, if its type is another; or a tuple
            int64 array of shape (n + 1,): where each list begins among the values, from 0; the ids or the numbers as
            float64; the place of the first null among them, -1 if there is none
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
    """Iterates over the batches of an object that has __arrow_c_stream__ or __arrow_c_array__.

    Attributes
    ----------
    names : list of str
        Of the columns; a column without a name has an empty one.
    """

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
