"""Arrow's C data interface, without any Arrow library: tables come in as batches, results go out.

    object ── __arrow_c_stream__ / __arrow_c_array__ ──▶ Batches ──▶ Batch ──▶ Ids, float64 arrays
    Results ── export_array / export_stream ──▶ capsules that any Arrow library reads

A Batch owns its ArrowArray until nothing refers to it; ids and numbers borrow its buffers. Only what kernels cannot read
in place is copied: narrow integers, floats that are not double, positions in a dictionary.
The layouts are those of the specification (arrow.apache.org/docs/format/CDataInterface.html).
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from fastir._ids cimport OFFSETS32, OFFSETS64, VIEWS, of_buffers

from fastir._ids import of_codes, of_integers, of_strings

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
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*) noexcept
    int (*get_next)(ArrowArrayStream*, ArrowArray*) noexcept
    const char* (*get_last_error)(ArrowArrayStream*) noexcept
    void (*release)(ArrowArrayStream*) noexcept
    void* private_data

INTEGER_TYPES = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8"}
FLOAT_TYPES = {"e": "f2", "f": "f4", "g": "f8"}
TEXT_KINDS = {"u": OFFSETS32, "z": OFFSETS32, "U": OFFSETS64, "Z": OFFSETS64, "vu": VIEWS, "vz": VIEWS}



# ---- in ----------------------------------------------------------------------------------------------------------


cdef class Schema:
    """The names and types of a table's columns."""

    cdef ArrowSchema schema
    cdef readonly list names

    def __dealloc__(self):
        if self.schema.release != NULL:
            self.schema.release(&self.schema)

    cdef read(self):
        cdef int64_t i
        if self.schema.format == NULL or self.schema.format != b"+s":
            raise TypeError("expected a table with named columns, got a single Arrow column")
        self.names = [self.schema.children[i].name.decode() for i in range(self.schema.n_children)]


class Memory:
    """A stretch of memory that NumPy can look at; holds what owns it."""

    def __init__(self, owner, address, typestr, n):
        self.owner = owner
        self.__array_interface__ = {"data": (address, True), "typestr": typestr, "shape": (n,), "version": 3}


cdef class Batch:
    """Some rows of a table.

    Attributes
    ----------
    n : int
        How many.
    """

    cdef ArrowArray array
    cdef Schema schema
    cdef readonly int64_t n

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    cdef look(self, const void* start, str typestr, int64_t n):
        """An array of what lies in the batch's memory, which it keeps alive."""
        if n == 0:
            return np.empty(0, typestr)
        return np.asarray(Memory(self, <size_t>start, "<" + typestr, n))

    def null(self, int64_t column):
        """The first row that has no value in this column, -1 if there is none."""
        cdef ArrowArray* child = self.array.children[column]
        cdef const uint8_t* valid
        cdef int64_t i, first = self.array.offset + child.offset
        cdef const char* format = self.schema.schema.children[column].format
        if format == b"n":
            return 0 if self.n else -1
        if child.dictionary != NULL and child.dictionary.null_count != 0 and child.dictionary.buffers[0] != NULL:
            raise TypeError("the dictionary of a column holds a null")
        if child.null_count == 0 or child.n_buffers == 0 or child.buffers[0] == NULL:
            return -1
        valid = <const uint8_t*>child.buffers[0]
        for i in range(self.n):
            if not valid[(first + i) >> 3] >> ((first + i) & 7) & 1:
                return i
        return -1

    def ids(self, int64_t column):
        """A column of ids; None if its type cannot be one."""
        cdef ArrowArray* child = self.array.children[column]
        cdef ArrowSchema* schema = self.schema.schema.children[column]
        cdef int64_t first = self.array.offset + child.offset
        if schema.dictionary == NULL:
            return self.read_ids(child, schema.format, first, self.n)
        entries = self.read_ids(child.dictionary, schema.dictionary.format, child.dictionary.offset, child.dictionary.length)
        return entries and of_codes(self.integers(child, schema.format, first, self.n), entries)

    cdef integers(self, ArrowArray* child, bytes format, int64_t first, int64_t n):
        """Integers of any width as int64."""
        cdef str typestr = INTEGER_TYPES[format.decode()]
        cdef int64_t width = int(typestr[1])
        return self.look(<const char*>child.buffers[1] + first * width, typestr, n).astype(np.int64, copy=False)

    cdef read_ids(self, ArrowArray* child, bytes format, int64_t first, int64_t n):
        cdef str name = format.decode()
        cdef int kind
        if name == "L":
            numbers = self.look(<const char*>child.buffers[1] + 8 * first, "u8", n)
            if n and numbers.max() >= 2**63:
                return of_strings(numbers.astype(str).astype(object))[0]
        if name in INTEGER_TYPES:
            return of_integers(self.integers(child, format, first, n))
        if name not in TEXT_KINDS:
            return None
        kind = TEXT_KINDS[name]
        if n == 0:
            return of_strings(np.empty(0, object))[0]
        if kind == VIEWS:
            return of_buffers(kind, <const char*>child.buffers[1] + 16 * first, NULL, child.buffers + 2,
                              child.n_buffers - 3, n, self)
        return of_buffers(kind, <const char*>child.buffers[1] + first * (4 if kind == OFFSETS32 else 8), child.buffers[2],
                          NULL, 0, n, self)

    def numbers(self, int64_t column):
        """A column of numbers as float64; None if its type is no number."""
        cdef ArrowArray* child = self.array.children[column]
        cdef ArrowSchema* schema = self.schema.schema.children[column]
        cdef int64_t first = self.array.offset + child.offset
        cdef int64_t width
        cdef str name = schema.format.decode()
        if schema.dictionary != NULL:
            return None
        if name == "b":
            bits = self.look(<const char*>child.buffers[1], "u1", (first + self.n + 7) // 8)
            return np.unpackbits(bits, bitorder="little")[first:first + self.n].astype(float)
        typestr = FLOAT_TYPES.get(name) or INTEGER_TYPES.get(name)
        if typestr is None:
            return None
        width = int(typestr[1])
        return self.look(<const char*>child.buffers[1] + first * width, typestr, self.n).astype(float, copy=False)

    def type_of(self, int64_t column):
        """The column's type, as Arrow writes it."""
        return self.schema.schema.children[column].format.decode()


cdef class Batches:
    """Iterates over the batches of an object that has __arrow_c_stream__ or __arrow_c_array__.

    Attributes
    ----------
    names : list of str
        Of the columns.
    """

    cdef ArrowArrayStream stream
    cdef Batch only             # of an object that is one batch
    cdef Schema schema
    cdef object capsule

    def __init__(self, data):
        cdef ArrowArrayStream* given
        cdef ArrowSchema* schema
        cdef ArrowArray* array
        self.schema = Schema()
        if hasattr(data, "__arrow_c_stream__"):
            self.capsule = data.__arrow_c_stream__()
            given = <ArrowArrayStream*>PyCapsule_GetPointer(self.capsule, "arrow_array_stream")
            self.stream = given[0]
            given.release = NULL
            if self.stream.get_schema(&self.stream, &self.schema.schema) != 0:
                self.fail()
        else:
            capsules = data.__arrow_c_array__()
            schema = <ArrowSchema*>PyCapsule_GetPointer(capsules[0], "arrow_schema")
            array = <ArrowArray*>PyCapsule_GetPointer(capsules[1], "arrow_array")
            self.schema.schema = schema[0]
            schema.release = NULL
            self.only = Batch()
            self.only.array = array[0]
            array.release = NULL
        self.schema.read()

    def __dealloc__(self):
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    @property
    def names(self):
        return self.schema.names

    cdef fail(self):
        cdef const char* text = self.stream.get_last_error(&self.stream)
        message = text.decode("utf-8", "replace") if text != NULL else "no message"
        raise OSError(f"the Arrow stream failed: {message}")

    def __iter__(self):
        return self

    def __next__(self):
        cdef Batch batch = self.only
        self.only = None
        if batch is None:
            if self.stream.release == NULL:
                raise StopIteration
            batch = Batch()
            if self.stream.get_next(&self.stream, &batch.array) != 0:
                self.fail()
            if batch.array.release == NULL:
                raise StopIteration
        batch.schema = self.schema
        batch.n = batch.array.length
        return batch


# ---- out ---------------------------------------------------------------------------------------------------------


cdef void release_schema(ArrowSchema* schema) noexcept with gil:
    cdef int64_t i
    for i in range(schema.n_children):
        if schema.children[i].release != NULL:
            schema.children[i].release(schema.children[i])
        free(schema.children[i])
    free(schema.children)
    Py_DECREF(<object>schema.private_data)
    schema.release = NULL


cdef void release_array(ArrowArray* array) noexcept with gil:
    cdef int64_t i
    for i in range(array.n_children):
        if array.children[i].release != NULL:
            array.children[i].release(array.children[i])
        free(array.children[i])
    free(array.children)
    free(array.buffers)
    Py_DECREF(<object>array.private_data)
    array.release = NULL


cdef fill_schema(ArrowSchema* schema, bytes format, bytes name, list children):
    """Fill a schema; children are pairs of format and name."""
    cdef int64_t i
    owner = (format, name)
    memset(schema, 0, sizeof(ArrowSchema))
    schema.format, schema.name = format, name
    schema.private_data = <void*>owner
    Py_INCREF(owner)
    schema.release = release_schema
    schema.children = <ArrowSchema**>calloc(len(children) + 1, sizeof(ArrowSchema*))
    for i, (child_format, child_name) in enumerate(children):
        schema.children[i] = <ArrowSchema*>calloc(1, sizeof(ArrowSchema))
        schema.n_children = i + 1
        fill_schema(schema.children[i], child_format, child_name, [])


cdef fill_array(ArrowArray* array, int64_t length, list buffers, list children):
    """Fill an array that keeps its buffers, None or NumPy arrays; children are lists of buffers."""
    cdef int64_t i
    memset(array, 0, sizeof(ArrowArray))
    array.length = length
    array.private_data = <void*>buffers
    Py_INCREF(buffers)
    array.release = release_array
    array.n_buffers = len(buffers)
    array.buffers = <const void**>calloc(len(buffers) + 1, sizeof(void*))
    for i, buffer in enumerate(buffers):
        if buffer is not None:
            array.buffers[i] = <const void*><size_t>buffer.ctypes.data
    array.children = <ArrowArray**>calloc(len(children) + 1, sizeof(ArrowArray*))
    for i, child in enumerate(children):
        array.children[i] = <ArrowArray*>calloc(1, sizeof(ArrowArray))
        array.n_children = i + 1
        fill_array(array.children[i], length, child, [])


cdef void drop_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void drop_array(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void drop_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


def export_schema(formats):
    """A capsule with the schema of a table whose columns are (format, name) pairs of bytes."""
    cdef ArrowSchema* schema = <ArrowSchema*>malloc(sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError
    fill_schema(schema, b"+s", b"", formats)
    return PyCapsule_New(schema, "arrow_schema", drop_schema)


def export_array(formats, columns, n):
    """(schema capsule, array capsule) of a table of n rows; each column is a list of its buffers."""
    cdef ArrowArray* array = <ArrowArray*>malloc(sizeof(ArrowArray))
    if array == NULL:
        raise MemoryError
    fill_array(array, n, [None], columns)
    return export_schema(formats), PyCapsule_New(array, "arrow_array", drop_array)


cdef int next_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    formats, _, _, _ = <object>stream.private_data
    fill_schema(out, b"+s", b"", formats)
    return 0


cdef int next_array(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    _, columns, n, left = <object>stream.private_data
    memset(out, 0, sizeof(ArrowArray))
    if left:
        left.pop()
        fill_array(out, n, [None], columns)
    return 0


cdef const char* no_error(ArrowArrayStream* stream) noexcept:
    return NULL


cdef void release_stream(ArrowArrayStream* stream) noexcept with gil:
    Py_DECREF(<object>stream.private_data)
    stream.release = NULL


def export_stream(formats, columns, n):
    """A capsule with a stream of one batch, as for export_array."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>calloc(1, sizeof(ArrowArrayStream))
    if stream == NULL:
        raise MemoryError
    state = (formats, columns, n, [True])
    Py_INCREF(state)
    stream.private_data = <void*>state
    stream.get_schema, stream.get_next = next_schema, next_array
    stream.get_last_error, stream.release = no_error, release_stream
    return PyCapsule_New(stream, "arrow_array_stream", drop_stream)
