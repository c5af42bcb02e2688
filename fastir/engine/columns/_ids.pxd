# A column of ids.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from fastir.engine.columns._text cimport Text

cdef extern from *:
    """
    /* The bytes of a str that is ASCII, or NULL: without a call where the layout of objects is known. */
    static inline const char *fastir_ascii(PyObject *string, Py_ssize_t *length) {
    #ifndef Py_LIMITED_API
        if (PyUnicode_IS_COMPACT_ASCII(string)) {
            *length = PyUnicode_GET_LENGTH(string);
            return (const char *)PyUnicode_DATA(string);
        }
    #endif
        return NULL;
    }
    """
    const char* ascii_bytes "fastir_ascii"(PyObject*, Py_ssize_t*) noexcept

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(PyObject*, Py_ssize_t*) noexcept
    void PyErr_Clear() noexcept


cdef enum:              # how the ids lie
    TEXTS               # places: Text[n]
    SPANS               # places: int64[n] into bytes, and their lengths
    OFFSETS32           # places: int32[n + 1] into bytes
    OFFSETS64           # places: int64[n + 1] into bytes
    VIEWS               # places: 16 bytes each, Arrow's string view; long ones lie in buffers
    INTEGERS            # places: int64[n]
    CODES               # places: int64[n] into entries


cdef struct Column:
    int kind
    bint integers                       # an id is the eight bytes of an int64
    int64_t n
    const char* bytes
    const void* places
    const int64_t* lengths
    const char** buffers
    Text* entries


cdef class Ids:
    cdef Column column
    cdef list kept                      # what owns all this


cdef inline bint held_text(PyObject* string, Text* out) noexcept:
    """The UTF-8 bytes of a str, which its object holds; False if it has surrogates. Runs no Python code."""
    cdef Py_ssize_t length = 0
    out.start = ascii_bytes(string, &length)
    if out.start == NULL:
        out.start = PyUnicode_AsUTF8AndSize(string, &length)
        if out.start == NULL:
            PyErr_Clear()
    out.length = length
    return out.start != NULL


cdef int borrow_text(PyObject* string, Text* out, list kept) except -1
cdef void read(const Column* column, int64_t first, int64_t n, Text* out) noexcept nogil
cdef int64_t same_until(const Column* column, int64_t first, int64_t stop) noexcept nogil
cdef Ids ids_from_buffers(int kind, const void* places, const void* data, const void** buffers, int64_t n_buffers,
                          int64_t n, object owner)
