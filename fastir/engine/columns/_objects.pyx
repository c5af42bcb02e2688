"""Columns of Python objects: from lists and rows of tuples to arrays that hold the objects, and from these to numbers.

In: a list of ids or of numbers, a list of tuples, or an array of objects. Out: arrays of objects, int64 or float64; or
the answer that one is unusual, which its caller in inputs then looks at in Python.

Objects that were made in no order lie all over the memory, and each of them is touched, if only to hold it: they are
prefetched some rows ahead. An array holds what it has: the list may change while ids of the array are borrowed.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._entries cimport Reader, read_id, read_known

cdef extern from "Python.h":
    int PyTuple_Check(PyObject*) noexcept
    Py_ssize_t PyTuple_Size(PyObject*) noexcept
    int PyList_CheckExact(PyObject*) noexcept
    Py_ssize_t PyList_Size(PyObject*) noexcept
    PyObject* PyList_GetItem(object, Py_ssize_t) noexcept
    PyObject* PyTuple_GetItem(PyObject*, Py_ssize_t) noexcept
    void Py_INCREF(PyObject*) noexcept
    void Py_XDECREF(PyObject*) noexcept

cdef enum:
    OBJECTS_AHEAD = 16      # objects between the prefetch of one and its use; rows, half as many
    MAX_FIELDS = 4


cdef inline void put(PyObject** place, PyObject* value) noexcept:
    """Hold an object in an array."""
    cdef PyObject* old = place[0]
    Py_INCREF(value)
    place[0] = value
    Py_XDECREF(old)


cdef inline PyObject** objects_in(array) except? NULL:
    return <PyObject**><size_t>array.ctypes.data


cdef int check_length(values, Py_ssize_t n) except -1:
    """Within a critical section: whether another thread has made a list shorter."""
    if len(values) < n:
        raise RuntimeError("a column changed while it was read")
    return 0


def objects_from_list(list values, Py_ssize_t first, Py_ssize_t stop):
    """The objects of a list from `first` to `stop`, which it has, as an array."""
    cdef Py_ssize_t i, n = stop - first
    array = np.empty(n, object)
    cdef PyObject** out = objects_in(array)
    with cython.critical_section(values):
        check_length(values, stop)
        for i in range(n):
            if i + OBJECTS_AHEAD < n:
                prefetch(PyList_GetItem(values, first + i + OBJECTS_AHEAD))
            put(out + i, PyList_GetItem(values, first + i))
    return array


def pick(list values, const int64_t[::1] rows):
    """The objects of a list at some rows, as a list."""
    cdef Py_ssize_t i, n = rows.shape[0]
    cdef list picked = []
    for i in range(n):
        if i + OBJECTS_AHEAD < n and 0 <= rows[i + OBJECTS_AHEAD] < len(values):
            prefetch(PyList_GetItem(values, rows[i + OBJECTS_AHEAD]))
        picked.append(values[rows[i]])
    return picked


cdef inline bint is_row(PyObject* row, Py_ssize_t width) noexcept:
    if PyTuple_Check(row):
        return PyTuple_Size(row) == width
    return PyList_CheckExact(row) and PyList_Size(row) == width


cdef inline PyObject* field_at(PyObject* row, Py_ssize_t i) noexcept:
    return PyTuple_GetItem(row, i) if PyTuple_Check(row) else PyList_GetItem(<object>row, i)


def fields_from_rows(tuple rows, tuple places, Py_ssize_t width):
    """The fields at some positions of tuples and lists of `width`, each as an array; None if a row is neither."""
    cdef Py_ssize_t i, field, n = len(rows), n_fields = len(places)
    cdef PyObject** out[MAX_FIELDS]
    cdef Py_ssize_t at[MAX_FIELDS]
    cdef PyObject* row
    cdef PyObject* row_objects = <PyObject*>rows
    columns = [np.empty(n, object) for _ in places]
    for field in range(n_fields):
        out[field], at[field] = objects_in(columns[field]), places[field]
    for i in range(n):
        if i + OBJECTS_AHEAD < n:
            prefetch(PyTuple_GetItem(row_objects, i + OBJECTS_AHEAD))
        if i + OBJECTS_AHEAD // 2 < n:
            row = PyTuple_GetItem(row_objects, i + OBJECTS_AHEAD // 2)
            for field in range(n_fields if is_row(row, width) else 0):
                prefetch(field_at(row, at[field]))
        row = PyTuple_GetItem(row_objects, i)
        with cython.critical_section(<object>row):
            if not is_row(row, width):
                return None
            for field in range(n_fields):
                put(out[field] + i, field_at(row, at[field]))
    return columns


cdef inline uint64_t spread_address(PyObject* one) noexcept:
    """An address with lowest bits that differ from its neighbours'."""
    return <uint64_t><size_t>one * <uint64_t>0x9E3779B97F4A7C15 >> 32


cdef struct Objects:            # the objects of a list, or of an array
    PyObject* list
    PyObject** array


cdef Objects view_objects(values) except *:
    cdef Objects objects
    objects.list, objects.array = <PyObject*>values, NULL
    if type(values) is not list:
        objects.array = objects_in(values)
    return objects


cdef inline PyObject* object_at(const Objects* objects, Py_ssize_t i) noexcept:
    return objects.array[i] if objects.array != NULL else PyList_GetItem(<object>objects.list, i)


cdef inline bint read_numbers(values, Py_ssize_t n, int64_t* integers, double* floats) except -1:
    """Fill one of the arrays, the other is NULL; False if an object is no such number without running Python code."""
    cdef Py_ssize_t i
    cdef Objects objects = view_objects(values)
    cdef Reader reader
    reader.type = NULL
    with cython.critical_section(values):
        check_length(values, n)
        for i in range(n):
            if i + OBJECTS_AHEAD < n:
                prefetch(object_at(&objects, i + OBJECTS_AHEAD))
            if not (read_id(&reader, object_at(&objects, i), integers + i) if integers != NULL
                    else read_known(&reader, object_at(&objects, i), floats + i)):
                return False
    return True


def read_integers(values):
    """A list or contiguous array of int objects, of NumPy too, as int64; None if one is something else, or no int64."""
    cdef Py_ssize_t n = len(values)
    array = np.empty(n, np.int64)
    cdef int64_t[::1] numbers = array
    return array if read_numbers(values, n, &numbers[0] if n else NULL, NULL) else None


def read_floats(values):
    """A list or contiguous array of numbers as float64; None if one is something else, which its own code must read."""
    cdef Py_ssize_t n = len(values)
    array = np.empty(n)
    cdef double[::1] numbers = array
    return array if read_numbers(values, n, NULL, &numbers[0] if n else NULL) else None


def places_of_objects(list ordered, list objects):
    """The position in `ordered` of each object, the very same one, as int64; None if one is not there.

    No other thread may change the lists. A dict takes ten times as long: it compares what they hold.
    """
    cdef Py_ssize_t i, n = len(ordered), m = len(objects)
    cdef uint64_t slot, mask = 1
    cdef PyObject* one
    while mask < 2 * n:
        mask *= 2
    table, found = np.zeros(mask, np.int64), np.empty(m, np.int64)
    cdef int64_t[::1] slots = table, places = found
    mask -= 1
    for i in range(n):
        slot = spread_address(PyList_GetItem(ordered, i)) & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = i + 1
    for i in range(m):
        one = PyList_GetItem(objects, i)
        slot = spread_address(one) & mask
        while slots[slot] != 0 and PyList_GetItem(ordered, slots[slot] - 1) != one:
            slot = (slot + 1) & mask
        if slots[slot] == 0:
            return None
        places[i] = slots[slot] - 1
    return found
