"""Dicts, with entries that are read from memory: a self-test, and a dict of rankings as columns.

The self-test of what _entries.pxd assumes about CPython's dicts runs once, when this module is imported. In: dicts of
every kind that evaluations meet: empty, small, with indices of one byte and of two, with removed entries, copied,
unpacked, cleared and filled again, with keys of other types and of mixed ones, and the attributes of an object, whose
values lie elsewhere. Out: `entries_are_known`, which is true if the version of the interpreter is one of those that
were read for this, and each dict gives the same objects in the same order as PyDict_Next. A false answer costs speed,
and nothing else changes: raw entries are twice as fast in every build, so none goes without them, and the wheel of the
limited API is no slower than one for each version would be.

columns_from_rankings() reads each ranking in one pass:

    {"q1": {"d7": 2.0, "d2": 1.5}, ...}    text d7d2...    lengths 2 2 ...    numbers 2.0 1.5 ...

If the objects lie in no order, each look at one waits for memory. Here a ranking's objects are prefetched together
and read once; copies of dicts, joined strings and lists of scores would wait again for each: 10^6 rows of 1000
queries took 2 to 4 times as long (measured). Nothing here runs Python code while a ranking is read: it is of a moment.

Only exact str, of which UTF-8 can be made, and exact float that are no NaN are read; for anything else the answer is
None, and the caller's Python reads it, or says what is wrong.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from fastir.engine.columns._ids cimport held_text
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._text cimport Text, copy_text

from numpy import empty, float64, int64, uint8, zeros

cdef enum:
    SAMPLE_BATCH = 16           # pairs of a sample that are compared at once


cdef list entry_addresses(dict pairs, bint plain):
    """(address of the key, address of the value), in order."""
    cdef PyObject* keys[SAMPLE_BATCH]
    cdef PyObject* values[SAMPLE_BATCH]
    cdef Py_ssize_t i, n, position = 0
    addresses = []
    while True:
        n = gather(pairs, plain, &position, keys, values, SAMPLE_BATCH)
        if n == 0:
            return addresses
        for i in range(n):
            addresses.append((<size_t>keys[i], <size_t>values[i]))


class Attributes:
    def __init__(self):
        self.a, self.b = 1.0, 2.0


def samples():
    many = {str(number): float(number) for number in range(300)}
    with_gaps = dict(many)
    for number in range(0, 300, 7):
        del with_gaps[str(number)]
    cleared = dict(with_gaps)
    cleared.clear()
    cleared["again"] = 1.0
    other = {1: 1.0, "a": 2.0}
    del other[1]
    return [{}, {"a": 1.0}, {"\u00e9": 1.0, "\u6587": 2}, dict.fromkeys("abcdefghij", 1.0), many, with_gaps,
            with_gaps.copy(), {**with_gaps, "z": 1.0}, cleared, {1: 1.0, 2: 2.0}, {"a": 1.0, 2: 2.0}, other,
            vars(Attributes())]


def as_assumed(list dicts):
    """Whether the interpreter is known, and reading the entries of these dicts gives what PyDict_Next gives."""
    cdef bint plain
    if not KNOWN_DICTS:
        return False
    for pairs in dicts:
        plain = has_plain_entries(pairs)
        if plain and not all(type(key) is str for key in pairs):
            return False
        if entry_addresses(pairs, plain) != entry_addresses(pairs, False):
            return False
    return True


def in_use():
    """Whether entries are read in this process."""
    return entries_are_known


entries_are_known = as_assumed(samples())


# ---- rankings as columns ---------------------------------------------------------------------------------------------

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyUnicode_CheckExact(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) noexcept
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    Py_ssize_t PyDict_Size(object) except -1

cdef enum:
    BATCH_ROWS = 256        # pairs that are gathered at once
    SIGNAL_ROWS = 1 << 14   # documents between two looks at whether the user interrupts


cdef class Arrays:
    """Bytes of ids, and their starts, lengths and numbers in arrays of a known size."""

    cdef char* text
    cdef int64_t used, capacity
    cdef Py_ssize_t n, n_rows, looked
    cdef int64_t* starts
    cdef int64_t* lengths
    cdef double* numbers

    def __dealloc__(self):
        free(self.text)

    cdef int make_room(self, int64_t more) except -1:
        cdef char* text
        cdef int64_t size = 2 * (self.used + more) + 1      # ids without bytes have a start, too
        if self.used + more >= self.capacity:
            text = <char*>realloc(self.text, size)
            if text == NULL:
                raise MemoryError
            self.text, self.capacity = text, size
        return 0

    cdef bint add(self, dict ranking) except -1:
        """Append the rows of a ranking; False if something in it is unusual, or there are more than expected."""
        cdef PyObject* keys[BATCH_ROWS]
        cdef PyObject* values[BATCH_ROWS]
        cdef Text texts[BATCH_ROWS]
        cdef Py_ssize_t position = 0, i, n
        cdef int64_t size
        cdef double number
        cdef bint plain = strings_only(ranking)
        while True:
            if self.n - self.looked > SIGNAL_ROWS:
                self.looked = self.n
                PyErr_CheckSignals()
                plain = strings_only(ranking)       # which a handler could change
            n = gather(ranking, plain, &position, keys, values, BATCH_ROWS)
            if n == 0:
                return True
            if self.n + n > self.n_rows:
                return False
            for i in range(n):
                prefetch(<const char*>keys[i])
                prefetch(<const char*>keys[i] + 64)
            size = 0
            for i in range(n):
                if not PyUnicode_CheckExact(keys[i]) or not held_text(keys[i], texts + i):
                    return False
                size += texts[i].length
            self.make_room(size)
            for i in range(n):
                if not PyFloat_CheckExact(values[i]):
                    return False
                number = PyFloat_AsDouble(values[i])
                if number != number:
                    return False
                copy_text(texts + i, self.text + self.used)
                self.starts[self.n], self.lengths[self.n], self.numbers[self.n] = self.used, texts[i].length, number
                self.used += texts[i].length
                self.n += 1


def columns_from_rankings(dict rankings):
    """{query_id: {doc_id: score}} as (query_ids, offsets, text, starts, lengths, numbers), or None: read it otherwise.

    `text` holds the bytes of all ids, uint8; the other arrays are int64, and float64 the numbers.
    """
    cdef Arrays arrays = Arrays()
    cdef Py_buffer of_starts, of_lengths, of_numbers
    cdef Py_ssize_t q
    cdef list query_ids = [], each = []
    cdef dict ranking
    cdef bint usual = True
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    with cython.critical_section(rankings):     # two calls that lock it themselves could see two states of it
        while PyDict_Next(rankings, &position, &key, &value):
            query_ids.append(<object>key)
            each.append(<object>value)
    for q in range(len(each)):
        if type(each[q]) is not dict:
            return None
        arrays.n_rows += PyDict_Size(each[q])
    starts, lengths, numbers = empty(arrays.n_rows, int64), empty(arrays.n_rows, int64), empty(arrays.n_rows, float64)
    offsets = zeros(len(query_ids) + 1, int64)
    places = []
    PyObject_GetBuffer(starts, &of_starts, PyBUF_WRITABLE)
    PyObject_GetBuffer(lengths, &of_lengths, PyBUF_WRITABLE)
    PyObject_GetBuffer(numbers, &of_numbers, PyBUF_WRITABLE)
    arrays.starts, arrays.lengths = <int64_t*>of_starts.buf, <int64_t*>of_lengths.buf
    arrays.numbers = <double*>of_numbers.buf
    try:
        for q in range(len(each)):
            ranking = <dict>each[q]
            with cython.critical_section(ranking):
                usual = arrays.add(ranking)
            if not usual:
                return None
            places.append(arrays.n)
    finally:
        PyBuffer_Release(&of_starts)
        PyBuffer_Release(&of_lengths)
        PyBuffer_Release(&of_numbers)
    if arrays.n < arrays.n_rows:        # another thread has taken some away
        return None
    offsets[1:] = places
    text = empty(arrays.used, uint8)
    if arrays.used:
        PyObject_GetBuffer(text, &of_lengths, PyBUF_WRITABLE)
        memcpy(of_lengths.buf, arrays.text, arrays.used)
        PyBuffer_Release(&of_lengths)
    return query_ids, offsets, text, starts, lengths, numbers
