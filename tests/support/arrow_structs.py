"""Arrow's C data interface filled by hand with ctypes: structures of any kind, also such as no library would make."""

import ctypes
import struct
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


class ArrowArrayStream(ctypes.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64),
    ("n_children", c_int64), ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)), ("release", c_void_p), ("private_data", c_void_p),
]  # fmt: skip
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)), ("release", c_void_p), ("private_data", c_void_p),
]  # fmt: skip
ArrowArrayStream._fields_ = [
    ("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p), ("release", c_void_p),
    ("private_data", c_void_p),
]  # fmt: skip


def releaser(kind):
    """A callback that marks a struct as released, which is all: Python owns what it points to."""

    @CFUNCTYPE(None, POINTER(kind))
    def release(pointer):
        RELEASED.append(kind)
        pointer[0].release = None

    return release


RELEASED = []  # the kind of each struct that was released
RELEASE = {kind: releaser(kind) for kind in (ArrowSchema, ArrowArray, ArrowArrayStream)}
KEPT = []  # what the structs point to, as long as the process lives


def keep(value):
    KEPT.append(value)
    return value


def address(data, shift=0):
    """Where a copy of some bytes lies, `shift` bytes behind an address that is a multiple of 64; None stays None."""
    if data is None:
        return None
    room = keep(ctypes.create_string_buffer(len(data) + 128 + shift))
    start = (ctypes.addressof(room) + 63) // 64 * 64 + shift
    ctypes.memmove(start, data, len(data))
    return start


def pointers(kind, values):
    """A C array of pointers to structs."""
    array = keep((POINTER(kind) * max(len(values), 1))())
    for place, value in enumerate(values):
        if value is not None:
            array[place] = ctypes.pointer(value)
    return ctypes.cast(array, POINTER(POINTER(kind)))


def schema(format, name=b"", children=(), dictionary=None):
    made = keep(ArrowSchema(format=format, name=name, n_children=len(children)))
    made.children = pointers(ArrowSchema, children)
    if dictionary is not None:
        made.dictionary = ctypes.pointer(dictionary)
    made.release = ctypes.cast(RELEASE[ArrowSchema], c_void_p)
    return made


def array(length, buffers=(), children=(), dictionary=None, offset=0, null_count=0, place=address):
    """An array whose buffers are bytes or None; `place` puts them into memory."""
    made = keep(ArrowArray(length=length, null_count=null_count, offset=offset))
    made.n_buffers, made.n_children = len(buffers), len(children)
    made.buffers = keep((c_void_p * max(len(buffers), 1))(*map(place, buffers)))
    made.children = pointers(ArrowArray, children)
    if dictionary is not None:
        made.dictionary = ctypes.pointer(dictionary)
    made.release = ctypes.cast(RELEASE[ArrowArray], c_void_p)
    return made


def packed(code, *values):
    return struct.pack(f"<{len(values)}{code}", *values)


def texts(values, code="i"):
    """The buffers of a column of strings."""
    ends = [sum(map(len, values[:n])) for n in range(len(values) + 1)]
    return [None, packed(code, *ends), b"".join(values)]


def view(value, buffer=0, offset=0):
    """One view: of a short text, or into a buffer."""
    if len(value) <= 12:
        return packed("i", len(value)) + value.ljust(12, b"\0")
    return packed("i", len(value)) + value[:4] + packed("i", buffer, offset)


def capsule(value, name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
    return new(ctypes.addressof(value), name, None)


class Table:
    """An object with the interface's method for one batch."""

    def __init__(self, table_schema, batch):
        self.schema = table_schema
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return capsule(self.schema, b"arrow_schema"), capsule(self.batch, b"arrow_array")


def fill(source):
    """A callback of a stream that hands out a struct, or returns an error."""

    def get(_, out):
        if isinstance(source, int):
            return source
        ctypes.memmove(out, ctypes.addressof(source), ctypes.sizeof(source))
        return 0

    return keep(CFUNCTYPE(c_int, c_void_p, c_void_p)(get))


class Stream:
    """An object with the interface's method for a stream; each part a struct, or the number of an error."""

    def __init__(self, table_schema, batch):
        self.stream = keep(ArrowArrayStream())
        self.stream.get_schema = ctypes.cast(fill(table_schema), c_void_p)
        self.stream.get_next = ctypes.cast(fill(batch), c_void_p)
        self.stream.release = ctypes.cast(RELEASE[ArrowArrayStream], c_void_p)

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(self.stream, b"arrow_array_stream")


def dictionary(codes, entries, code="i", format=b"i", bitmap=None, **options):
    """A column of documents as positions in others: (schema, array)."""
    entry_schema, entry_array = entries
    return (
        schema(format, b"doc_id", dictionary=entry_schema),
        array(len(codes), [bitmap, packed(code, *codes)], dictionary=entry_array, **options),
    )


def strings(*values):
    return schema(b"u"), array(len(values), texts(values))


def named(format, *buffers, name=b"doc_id", n=3, **options):
    return schema(format, name), array(n, buffers, **options)


def table(docs=None, queries=None, numbers=None, bitmap=None, **options):
    """A run of n rows as a legal Table: two queries, documents a, b and c; columns are (schema, array)."""
    queries = queries or (schema(b"u", b"query_id"), array(3, texts([b"q1", b"q1", b"q2"])))
    docs = docs or (schema(b"u", b"doc_id"), array(3, texts([b"a", b"b", b"c"])))
    numbers = numbers or (schema(b"g", b"score"), array(3, [None, packed("d", 3.0, 2.0, 1.0)]))
    schemas, arrays = zip(queries, docs, numbers, strict=True)
    return Table(schema(b"+s", b"", schemas), array(3, [bitmap], arrays, **options))
