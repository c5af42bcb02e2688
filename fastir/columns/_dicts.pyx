"""Callers' dicts: inspected without a Python call per document, and cleaned if they are unusual.

In: {query_id: {doc_id: label or score}}. Out: an answer (is it nested, are the keys plain, are the ids integers), or
exact str, int and float objects in a new dict or in columns. The usual dict, with exact str or int keys and float or
int values, passes with one look at each item; for any other dict plain_judgments() returns None, and inputs/dicts.py
reads it in Python. Errors name the query and the document.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t

import numpy as np

from fastir.columns.ids import is_integer, plain_id
from fastir.errors import quote

cdef extern from "Python.h":
    ctypedef struct PyObject
    int PyErr_CheckSignals() except -1
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    Py_ssize_t PyDict_Size(object) except -1
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept
    long PyLong_AsLongAndOverflow(PyObject*, int*) noexcept

cdef enum:
    BREATH = 1 << 14        # documents between two looks at whether the user interrupts


def plain_scores(query_id, ranking, bint integers):
    """A ranking as an exact dict of str, or of int, to float; or the error that names the document."""
    cdef dict plain = {}
    cdef Py_ssize_t i
    try:
        items = list(ranking.items())
    except AttributeError:
        raise TypeError(f"run: query {quote(query_id)} must map to a dict {{doc_id: score}}, "
                        f"got {type(ranking).__name__}") from None
    for i, (doc_id, score) in enumerate(items):
        if not i & BREATH - 1:
            PyErr_CheckSignals()
            with nogil:     # for the main thread, if this one is another
                pass
        doc_id = plain_id(doc_id, integers, f"run: a document id of query {quote(query_id)}")
        if isinstance(score, (str, bytes, bytearray, dict, complex)) or score is None:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__} {quote(score)} "
                            f"(query {query_id}, document {doc_id})")
        try:
            number = float(score)
        except OverflowError:
            raise OverflowError("run: the score is too large for a float "
                                f"(query {query_id}, document {doc_id})") from None
        except MemoryError:
            raise
        except Exception as error:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__}: {error} "
                            f"(query {query_id}, document {doc_id})") from error
        plain[doc_id] = number
    if len(ranking) != len(items):
        raise RuntimeError(f"run: the ranking of query {quote(query_id)} changed size while it was read")
    return plain


def is_plain(ranking, bint integers):
    """Whether a ranking is an exact dict whose ids are exact str, or exact int objects, and whose scores are floats."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    if type(ranking) is not dict:
        return False
    while PyDict_Next(ranking, &position, &key, &value):
        if not ((PyLong_CheckExact(key) if integers else PyUnicode_CheckExact(key)) and PyFloat_CheckExact(value)):
            return False
    return True


def refuse_nan(query_id, ranking):
    """Raise the error that names the document whose score is NaN."""
    for doc_id, score in ranking.items():
        if score != score:
            raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {doc_id})")


def is_nested(data):
    """Whether this is certainly a dict of dicts; False (other mappings, dicts of columns) means: look closer."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    return type(data) is dict and (not PyDict_Next(data, &position, &key, &value) or type(<object>value) is dict)


def has_plain_keys(dict run):
    """Whether all keys are exact str objects, or all exact int objects."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    cdef bint strings = True, integers = True
    while PyDict_Next(run, &position, &key, &value):
        strings &= PyUnicode_CheckExact(key) != 0
        integers &= PyLong_CheckExact(key) != 0
    return strings or integers


cdef as_judgments(value):
    """A query's judgments as an exact dict, label 1 for ids that are listed; None if they are something unusual."""
    if type(value) is dict:
        return value
    if type(value) is str:
        return {value: 1}
    try:
        if type(value) is list or type(value) is tuple:
            return dict.fromkeys(value, 1)
        if type(value) is set or type(value) is frozenset:
            return dict.fromkeys(sorted(value), 1)  # an order that is the same in every process
    except TypeError:
        pass
    return None


def plain_judgments(dict data):
    """{query_id: {doc_id: label}} as columns, or None if something in it is unusual.

    In place of {doc_id: label} may stand the ids of relevant documents, as a list, a tuple, a set or one str.

    Returns
    -------
    None, or tuple
        query_ids, offsets (int64), doc_ids, labels (int32): exact str or exact int in the lists.
    """
    cdef PyObject* query
    cdef PyObject* value
    cdef PyObject* doc
    cdef PyObject* label
    cdef Py_ssize_t position = 0, inner, n = 0, q = 0
    cdef Py_buffer offset_buffer, label_buffer
    cdef int overflow = 0
    cdef long number
    cdef bint strings = True, integers = True
    if not has_plain_keys(data):
        return None
    cdef list judged = []       # of each query, as a dict
    while PyDict_Next(data, &position, &query, &value):
        one = as_judgments(<object>value)
        if one is None:
            return None
        judged.append(one)
        n += PyDict_Size(one)
    cdef list doc_ids = []
    offsets, labels = np.empty(len(data) + 1, np.int64), np.empty(n, np.int32)
    PyObject_GetBuffer(offsets, &offset_buffer, PyBUF_WRITABLE)
    PyObject_GetBuffer(labels, &label_buffer, PyBUF_WRITABLE)
    try:
        n = 0
        (<int64_t*>offset_buffer.buf)[0] = 0
        for one in judged:
            inner = 0
            while PyDict_Next(one, &inner, &doc, &label):
                strings &= PyUnicode_CheckExact(doc) != 0
                integers &= PyLong_CheckExact(doc) != 0
                if not (PyLong_CheckExact(label) and (strings or integers)):
                    return None
                number = PyLong_AsLongAndOverflow(label, &overflow)
                if overflow or number > 2147483647 or number < -2147483647 - 1:
                    return None
                doc_ids.append(<object>doc)
                (<int32_t*>label_buffer.buf)[n] = <int32_t>number
                n += 1
            q += 1
            (<int64_t*>offset_buffer.buf)[q] = n
    finally:
        PyBuffer_Release(&offset_buffer)
        PyBuffer_Release(&label_buffer)
    return list(data), offsets, doc_ids, labels


def has_integer_documents(dict run):
    """Whether the document ids are integers, judged by the first one; None if there is none."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, inner = 0
    while PyDict_Next(run, &position, &key, &value):
        ranking = <object>value
        if type(ranking) is dict:
            if PyDict_Next(ranking, &inner, &key, &value):
                return not PyUnicode_CheckExact(key) and is_integer(<object>key)
        elif hasattr(ranking, "keys") and len(ranking):
            return is_integer(next(iter(ranking)))
    return None
