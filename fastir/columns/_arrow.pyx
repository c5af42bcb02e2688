"""Arrow's C data interface, without any Arrow library: tables come in as batches, results go out.

    object ── __arrow_c_stream__ / __arrow_c_array__ ──▶ Batches ──▶ Batch ──▶ Ids, float64 arrays
    names, ids, float64 arrays ── export_array / export_stream ──▶ capsules that any Arrow library reads

A Batch owns its ArrowArray until nothing refers to it; ids and numbers borrow its buffers. Only what kernels cannot
read in place is copied: narrow integers, floats that are not double, positions in a dictionary. The GIL is released
while a stream works: its batches may come from another thread that needs it. Every exported struct holds references to
its NumPy arrays, so that a column may outlive its table. The layouts follow the specification
(arrow.apache.org/docs/format/CDataInterface.html).
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EIO
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from fastir.columns._ids cimport OFFSETS32, OFFSETS64, VIEWS, of_buffers

from fastir.columns._ids import of_codes, of_integers, of_strings
from fastir.errors import quote

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
    """A stretch of memory that NumPy can look at; keeps its owner alive."""

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
        """An array over the batch's memory, which it keeps alive."""
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
        entries = self.read_ids(child.dictionary, schema.dictionary.format, child.dictionary.offset,
                                child.dictionary.length)
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
        return of_buffers(kind, <const char*>child.buffers[1] + first * (4 if kind == OFFSETS32 else 8),
                          child.buffers[2], NULL, 0, n, self)

    def numbers(self, int64_t column):
        """A column of numbers as float64; None if its type is not numeric."""
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
        cdef int failed
        cdef ArrowArrayStream* given
        cdef ArrowSchema* schema
        cdef ArrowArray* array
        self.schema = Schema()
        if hasattr(data, "__arrow_c_stream__"):
            self.capsule = data.__arrow_c_stream__()
            given = <ArrowArrayStream*>PyCapsule_GetPointer(self.capsule, "arrow_array_stream")
            self.stream = given[0]
            given.release = NULL
            with nogil:
                failed = self.stream.get_schema(&self.stream, &self.schema.schema)
            if failed:
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
        with nogil:
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
                self.fail()
            if batch.array.release == NULL:
                raise StopIteration
        batch.schema = self.schema
        batch.n = batch.array.length
        return batch


# ---- out ---------------------------------------------------------------------------------------------------------


cdef void* zeroed(size_t n) except NULL:
    cdef void* memory = calloc(n, 1)
    if memory == NULL:
        raise MemoryError
    return memory


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


cdef fill_schema(ArrowSchema* schema, bytes format, bytes name, list columns):
    """Fill a zeroed schema; if this raises, its release frees the part that was filled."""
    cdef int64_t i
    owner = (format, name)
    schema.format, schema.name = format, name
    schema.private_data = <void*>owner
    Py_INCREF(owner)
    schema.release = release_schema
    schema.children = <ArrowSchema**>zeroed((len(columns) + 1) * sizeof(ArrowSchema*))
    for i, (child_format, child_name, _) in enumerate(columns):
        schema.children[i] = <ArrowSchema*>zeroed(sizeof(ArrowSchema))
        schema.n_children = i + 1
        fill_schema(schema.children[i], child_format, child_name, [])


cdef fill_array(ArrowArray* array, int64_t length, list buffers, list columns):
    """Fill a zeroed array, as fill_schema does; it keeps its buffers, None or NumPy arrays."""
    cdef int64_t i
    array.length = length
    array.private_data = <void*>buffers
    Py_INCREF(buffers)
    array.release = release_array
    array.n_buffers = len(buffers)
    array.buffers = <const void**>zeroed((len(buffers) + 1) * sizeof(void*))
    for i, buffer in enumerate(buffers):
        if buffer is not None:
            array.buffers[i] = <const void*><size_t>buffer.ctypes.data
    array.children = <ArrowArray**>zeroed((len(columns) + 1) * sizeof(ArrowArray*))
    for i, (_, _, child_buffers) in enumerate(columns):
        array.children[i] = <ArrowArray*>zeroed(sizeof(ArrowArray))
        array.n_children = i + 1
        fill_array(array.children[i], length, child_buffers, [])


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


def column_of(name, values):
    """(format, name, buffers) of a column: ids, a list of str or of int, or a float64 array."""
    if isinstance(values, np.ndarray):
        return b"g", name.encode(), [None, np.ascontiguousarray(values)]
    if values and type(values[0]) is int and all(-(2**63) <= value < 2**63 for value in values):
        return b"l", name.encode(), [None, np.array(values, np.int64)]
    try:
        texts = [str(value).encode() for value in values]
    except UnicodeEncodeError as error:
        raise ValueError(f"{quote(error.object)} is no UTF-8 text, which Arrow's strings must be") from None
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return b"U", name.encode(), [None, offsets, np.frombuffer(b"".join(texts) or b"\0", np.uint8)]


def export_array(columns):
    """(schema capsule, array capsule) of a table, which is not empty: {name: column as column_of takes it}."""
    cdef ArrowSchema* schema = <ArrowSchema*>zeroed(sizeof(ArrowSchema))
    schema_capsule = PyCapsule_New(schema, "arrow_schema", drop_schema)
    cdef ArrowArray* array = <ArrowArray*>zeroed(sizeof(ArrowArray))
    array_capsule = PyCapsule_New(array, "arrow_array", drop_array)
    made = [column_of(name, values) for name, values in columns.items()]
    fill_schema(schema, b"+s", b"", made)
    fill_array(array, len(next(iter(columns.values()))), [None], made)
    return schema_capsule, array_capsule


cdef class Export:
    """The contents of a stream of one batch."""

    cdef list columns
    cdef int64_t n
    cdef bint taken
    cdef object error
    cdef bytes message


cdef int next_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    cdef Export export = <Export>stream.private_data
    memset(out, 0, sizeof(ArrowSchema))
    try:
        fill_schema(out, b"+s", b"", export.columns)
    except BaseException as error:
        if out.release != NULL:
            out.release(out)
        export.error = error
        return EIO
    return 0


cdef int next_array(ArrowArrayStream* stream, ArrowArray* out) noexcept with gil:
    cdef Export export = <Export>stream.private_data
    memset(out, 0, sizeof(ArrowArray))
    if export.taken:
        return 0
    try:
        fill_array(out, export.n, [None], export.columns)
        export.taken = True
    except BaseException as error:
        if out.release != NULL:
            out.release(out)
        export.error = error
        return EIO
    return 0


cdef const char* last_error(ArrowArrayStream* stream) noexcept with gil:
    cdef Export export = <Export>stream.private_data
    if export.error is None:
        return NULL
    export.message = repr(export.error).encode()
    return export.message


cdef void release_stream(ArrowArrayStream* stream) noexcept with gil:
    Py_DECREF(<object>stream.private_data)
    stream.release = NULL


def export_stream(columns):
    """A capsule with a stream of one batch, as for export_array."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>zeroed(sizeof(ArrowArrayStream))
    capsule = PyCapsule_New(stream, "arrow_array_stream", drop_stream)
    cdef Export export = Export()
    export.columns = [column_of(name, values) for name, values in columns.items()]
    export.n = len(next(iter(columns.values())))
    Py_INCREF(export)
    stream.private_data = <void*>export
    stream.get_schema, stream.get_next = next_schema, next_array
    stream.get_last_error, stream.release = last_error, release_stream
    return capsule
