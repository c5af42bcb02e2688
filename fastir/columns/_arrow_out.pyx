"""Results as Arrow data, without any Arrow library: a table as a batch, or as a stream of one batch.

    names, ids, float64 arrays ── export_array / export_stream ──▶ capsules that any Arrow library reads

What goes out keeps its NumPy arrays alive by a reference in every struct, so that a column may outlive its table.
The layouts are those of the specification (arrow.apache.org/docs/format/CDataInterface.html).
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EIO
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from fastir.columns._arrow_checks cimport ArrowArray, ArrowArrayStream, ArrowSchema

from fastir.errors import quote


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
    """Fill a zeroed schema; if this raises, what is filled waits for its release."""
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
    """What a stream of one batch has to give."""

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
