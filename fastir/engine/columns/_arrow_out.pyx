"""Results as Arrow data, without any Arrow library: a table as a batch, or as a stream of one batch.

    names, lists, float64 arrays ── export_array / export_stream ──▶ capsules that any Arrow library reads

    list of                 becomes                     with None for
    str, or anything else   large_string, of its str()  null
    int of 64 bits          int64                       null
    bool                    bool                        null
    float                   float64                     NaN
    tuple                   large_list of text          null

What goes out keeps its NumPy arrays alive by a reference in every struct, so that a column may outlive its table.
The layouts are in the specification (arrow.apache.org/docs/format/CDataInterface.html).
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EIO
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from collections import namedtuple

import numpy as np

from fastir.engine.columns._arrow cimport ArrowArray, ArrowArrayStream, ArrowSchema

from fastir.errors import quote

cdef enum:
    NULLABLE = 2        # a flag of a schema


# A column: its type in Arrow's letters, its name, its length, its buffers, and for lists the column of their entries.
Column = namedtuple("Column", ["format", "name", "length", "buffers", "children"], defaults=[()])


cdef void* allocate_zeros(size_t n) except NULL:
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


cdef fill_schema(ArrowSchema* schema, column):
    """Fill a zeroed schema; if this raises, what is filled waits for its release."""
    cdef int64_t i
    cdef bytes format = column.format, name = column.name
    owner = (format, name)
    schema.format, schema.name = format, name
    schema.flags = 0 if column.buffers[0] is None else NULLABLE
    schema.private_data = <void*>owner
    Py_INCREF(owner)
    schema.release = release_schema
    schema.children = <ArrowSchema**>allocate_zeros((len(column.children) + 1) * sizeof(ArrowSchema*))
    for i, child in enumerate(column.children):
        schema.children[i] = <ArrowSchema*>allocate_zeros(sizeof(ArrowSchema))
        schema.n_children = i + 1
        fill_schema(schema.children[i], child)


cdef fill_array(ArrowArray* array, column):
    """Fill a zeroed array, as fill_schema does; it keeps its buffers, None or NumPy arrays."""
    cdef int64_t i
    cdef list buffers = column.buffers
    array.length = column.length
    array.null_count = 0 if buffers[0] is None else -1      # -1: to be counted
    array.private_data = <void*>buffers
    Py_INCREF(buffers)
    array.release = release_array
    array.n_buffers = len(buffers)
    array.buffers = <const void**>allocate_zeros((len(buffers) + 1) * sizeof(void*))
    for i, buffer in enumerate(buffers):
        if buffer is not None:
            array.buffers[i] = <const void*><size_t>buffer.ctypes.data
    array.children = <ArrowArray**>allocate_zeros((len(column.children) + 1) * sizeof(ArrowArray*))
    for i, child in enumerate(column.children):
        array.children[i] = <ArrowArray*>allocate_zeros(sizeof(ArrowArray))
        array.n_children = i + 1
        fill_array(array.children[i], child)


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


def column_from(name, values):
    """The column of a list or an array, as the head of this file says."""
    label, n = name.encode(), len(values)
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "f":
            return Column(b"g", label, n, [None, np.ascontiguousarray(values, np.float64)])
        values = values.tolist()
    present = [value for value in values if value is not None]
    valid = None if len(present) == n else pack_bits([value is not None for value in values])
    kinds = set(map(type, present))
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in present):
        return Column(b"l", label, n, [valid, np.array([value or 0 for value in values], np.int64)])
    if kinds == {bool}:
        return Column(b"b", label, n, [valid, pack_bits(values)])
    if float in kinds and kinds <= {int, float}:
        return Column(b"g", label, n, [None, np.array(values, np.float64)])
    if kinds == {tuple}:
        offsets = np.cumsum([0, *(len(value or ()) for value in values)], dtype=np.int64)
        entries = [str(entry) for value in present for entry in value]
        return Column(b"+L", label, n, [valid, offsets], [column_from("item", entries)])
    if kinds == {str} and valid is None and (whole := "".join(values)).isascii():   # as many bytes as characters
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(np.fromiter(map(len, values), np.int64, n), out=offsets[1:])
        return Column(b"U", label, n, [valid, offsets, np.frombuffer(whole.encode() or b"\0", np.uint8)])
    try:
        texts = [b"" if value is None else str(value).encode() for value in values]
    except UnicodeEncodeError as error:
        raise ValueError(f"{quote(error.object)} is not UTF-8 text, which Arrow's strings must be") from None
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return Column(b"U", label, n, [valid, offsets, np.frombuffer(b"".join(texts) or b"\0", np.uint8)])


def pack_bits(flags):
    """Bits, the first one the lowest of the first byte."""
    return np.packbits(np.array(flags, bool), bitorder="little")


def struct_from(columns):
    """The rows of a table, {name: list or array of one length}."""
    lengths = {len(values) for values in columns.values()} or {0}
    [n] = lengths
    return Column(b"+s", b"", n, [None], [column_from(name, values) for name, values in columns.items()])


def export_array(columns):
    """(schema capsule, array capsule) of a table, {name: list or array}."""
    cdef ArrowSchema* schema = <ArrowSchema*>allocate_zeros(sizeof(ArrowSchema))
    schema_capsule = PyCapsule_New(schema, "arrow_schema", drop_schema)
    cdef ArrowArray* array = <ArrowArray*>allocate_zeros(sizeof(ArrowArray))
    array_capsule = PyCapsule_New(array, "arrow_array", drop_array)
    table = struct_from(columns)
    fill_schema(schema, table)
    fill_array(array, table)
    return schema_capsule, array_capsule


cdef class Export:
    """What a stream of one batch has to give."""

    cdef object table
    cdef bint taken
    cdef object error
    cdef bytes message


cdef int next_schema(ArrowArrayStream* stream, ArrowSchema* out) noexcept with gil:
    cdef Export export = <Export>stream.private_data
    memset(out, 0, sizeof(ArrowSchema))
    try:
        fill_schema(out, export.table)
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
        fill_array(out, export.table)
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
    """A capsule with a stream of one batch of a table, {name: list or array}."""
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>allocate_zeros(sizeof(ArrowArrayStream))
    capsule = PyCapsule_New(stream, "arrow_array_stream", drop_stream)
    cdef Export export = Export()
    export.table = struct_from(columns)
    Py_INCREF(export)
    stream.private_data = <void*>export
    stream.get_schema, stream.get_next = next_schema, next_array
    stream.get_last_error, stream.release = last_error, release_stream
    return capsule
