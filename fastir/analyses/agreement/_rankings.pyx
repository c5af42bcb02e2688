"""A run's rankings in rank order, one query at a time, without an object for a document.

In: columns, or a caller's {query_id: {doc_id: score}}. Out: for one query scores that do not rise, and the ids as
bytes, which an arena holds or the caller's strings, with their hashes; integers are written as decimal text, by which
they are ordered, too. A query that the run lacks has an empty ranking.

What is borrowed from a dict is valid until Python code runs or the GIL is let go: another thread may then change it. So
read() runs none. A ranking that cannot be read without (other mappings, scores that are no plain numbers, ids with
surrogates or of more than 64 bits) is converted, and read() returns False: all that was borrowed must be read again.
Where one of two rankings has many rows, both are read from copies of the dicts, which hold the strings: a handler of
signals may run meanwhile.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fastir.engine.columns._entries cimport HAS_NAN, ROWS_READ, read_rows, unchanged
from fastir.engine.columns._ids cimport held_text, text_hash, write_decimal
from fastir.engine.columns._ids cimport read as read_ids
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.measure._measure cimport with_spare
from fastir.engine.rank._order cimport SIGNAL_ROWS, falls, put_in_order

import numpy as np

from fastir.engine.columns._dicts import plain_scores, refuse_nan
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.ids import Arena

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    dict PyDict_Copy(object)
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    Py_ssize_t PyDict_Size(object) except -1
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) noexcept

cdef enum:
    AHEAD = 16          # how many rows ahead an id is asked for
    STRETCH = 64        # rows whose ids are read before they are hashed
    LINE = 64           # bytes that arrive together; an id may reach into a second line
    LONGEST = 32        # characters of an integer, and what write_decimal may write behind them


cdef class Rankings:
    """The base of the two."""

    def __dealloc__(self):
        free(self.scores)

    cdef int room(self, int64_t n) except -1:
        """Make the current ranking one of n rows."""
        cdef int64_t m = with_spare(n)
        if n > self.capacity or self.scores == NULL:
            free(self.scores)
            self.capacity = self.n = 0
            self.scores = <double*>malloc(m * (sizeof(double) + sizeof(Text) + sizeof(uint64_t) + sizeof(Row)))
            if self.scores == NULL:
                raise MemoryError
            self.ids = <Text*>(self.scores + m)
            self.hashes = <uint64_t*>(self.ids + m)
            self.rows = <Row*>(self.hashes + m)
            self.capacity = m
        self.n = n
        return 0

    cdef int settle(self) except -1 nogil:
        """Put the current ranking in rank order."""
        if not falls(self.scores, self.n):
            put_in_order(self.scores, self.ids, <int64_t*>self.hashes, self.n, self.rows)
        return 0

    cdef int64_t length(self, query_id) except -1:
        """How many rows a query's ranking has, if it can be borrowed, else 0."""
        return 0

    cdef bint read(self, query_id, bint many) except -1:
        """Make a query's ranking the current one; False if Python code has run that may change what was borrowed.

        `many` says that handlers of signals may run: nothing is borrowed but from a copy.
        """
        raise NotImplementedError


cdef class ColumnRankings(Rankings):
    """The rankings of a run in columns."""

    def __init__(self, Ids column, dict places, const int64_t[::1] offsets, const double[::1] numbers):
        self.column, self.places, self.offsets, self.numbers = column, places, offsets, numbers

    cdef int64_t length(self, query_id) except -1:
        cdef PyObject* place = PyDict_GetItemWithError(self.places, <PyObject*>query_id)
        cdef int64_t q
        if place == NULL:
            return 0
        q = <object>place
        return self.offsets[q + 1] - self.offsets[q]

    cdef bint read(self, query_id, bint many) except -1:
        cdef PyObject* place = PyDict_GetItemWithError(self.places, <PyObject*>query_id)
        cdef int64_t q, first = 0, n = 0, start, stop, i
        if place != NULL:
            q = <object>place
            first, n = self.offsets[q], self.offsets[q + 1] - self.offsets[q]
        self.room(n)
        if n == 0:
            return True
        memcpy(self.scores, &self.numbers[0] + first, self.n * sizeof(double))
        for start in range(0, self.n, STRETCH):
            if many and not start & SIGNAL_ROWS - 1:
                PyErr_CheckSignals()
            stop = min(self.n, start + STRETCH)
            read_ids(&self.column.column, first + start, stop - start, self.ids + start)
            for i in range(start, stop):
                self.hashes[i] = text_hash(self.ids + i)
        self.settle()
        return True


cdef class DictRankings(Rankings):
    """The rankings of a dict whose keys are exact str or exact int objects."""

    def __init__(self, dict run, bint integers):
        self.run, self.integers = unchanged(run), integers

    def __dealloc__(self):
        free(self.keys)

    cdef int64_t length(self, query_id) except -1:
        cdef PyObject* ranking = PyDict_GetItemWithError(self.run, <PyObject*>query_id)
        return PyDict_Size(<object>ranking) if ranking != NULL and type(<object>ranking) is dict else 0

    cdef bint read(self, query_id, bint many) except -1:
        cdef PyObject* entry = PyDict_GetItemWithError(self.run, <PyObject*>query_id)
        cdef object ranking
        cdef int state
        if entry == NULL:
            self.room(0)
            return True
        if self.converted is not None and self.converted_id is query_id:
            self.take_converted()
            return True
        ranking = <object>entry
        if type(ranking) is dict:
            self.held = PyDict_Copy(ranking) if many else unchanged(<dict>ranking)
            self.room(PyDict_Size(self.held))
            self.room_for_keys(self.n)
            state = read_rows(self.held, self.integers, False, False, self.n, &self.reader, self.keys, self.scores)
            if state == ROWS_READ and self.borrow(many):
                self.settle()
                return True
            if state == HAS_NAN:
                refuse_nan(query_id, ranking)
        self.convert(query_id, ranking)
        return False

    cdef int room_for_keys(self, int64_t n) except -1:
        cdef int64_t m = with_spare(n)
        if n > self.n_keys or self.keys == NULL:
            free(self.keys)
            self.n_keys = 0
            self.keys = <PyObject**>malloc(m * (sizeof(PyObject*) + (LONGEST if self.integers else 0)))
            if self.keys == NULL:
                raise MemoryError
            self.digits = <char*>(self.keys + m)
            self.n_keys = m
        return 0

    cdef bint borrow(self, bint many) except -1:
        """Set ids and hashes to those of the keys; False if one is not held by its object, or too large an integer."""
        cdef int64_t i, number
        cdef int too_large = 0
        for i in range(self.n):
            if many and not i & SIGNAL_ROWS - 1:
                PyErr_CheckSignals()
            prefetch(<const char*>self.keys[min(i + AHEAD, self.n - 1)])
            prefetch(<const char*>self.keys[min(i + AHEAD, self.n - 1)] + LINE)
            if not self.integers:
                if not held_text(self.keys[i], self.ids + i):
                    return False
            else:
                number = PyLong_AsLongLongAndOverflow(self.keys[i], &too_large)
                if too_large:
                    return False
                self.ids[i].start = self.digits + LONGEST * i
                self.ids[i].length = write_decimal(number, self.digits + LONGEST * i)
            self.hashes[i] = text_hash(self.ids + i)
        return True

    cdef int convert(self, query_id, ranking) except -1:
        """Copy a ranking into columns."""
        cdef dict plain = plain_scores(query_id, ranking, self.integers)
        scores = np.fromiter(plain.values(), np.float64, len(plain))
        if np.isnan(scores).any():
            refuse_nan(query_id, plain)
        offsets = np.array([0, len(plain)], np.int64)
        self.converted = ColumnRankings(ids_from_arena(Arena.of(list(plain))), {query_id: 0}, offsets, scores)
        self.converted_id = query_id
        return 0

    cdef int take_converted(self) except -1:
        """Make the converted ranking the current one."""
        cdef ColumnRankings converted = self.converted
        converted.read(self.converted_id, True)
        self.scores, converted.scores = converted.scores, self.scores
        self.ids, converted.ids = converted.ids, self.ids
        self.hashes, converted.hashes = converted.hashes, self.hashes
        self.rows, converted.rows = converted.rows, self.rows
        self.capacity, converted.capacity = converted.capacity, self.capacity
        self.n = converted.n
        return 0
