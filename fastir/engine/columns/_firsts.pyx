"""Where each document of a query comes first, among rows that have been put together from several tables."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

import numpy as np

from fastir.engine.columns._ids cimport Text, borrow_text, equal, held_text, text_hash
from fastir.engine.columns._memory cimport prefetch

cdef extern from "Python.h":
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    int PyUnicode_Check(PyObject*) noexcept

cdef enum:
    AHEAD = 16      # how many strings ahead are fetched into the cache


def first_rows(list ids, const int64_t[::1] order, const int64_t[::1] offsets):
    """Find the rows that repeat an id of their query.

    Parameters
    ----------
    ids : list of str, or of int
    order, offsets : int64 arrays
        Query i has the rows ``order[offsets[i] : offsets[i + 1]]``, in this order.

    Returns
    -------
    tuple
        For each row the first one of its query with the same id; and `order` and `offsets` of these first rows.
    """
    cdef int64_t q, most = 0, size = 1, n_queries = len(offsets) - 1, n = len(ids)
    cdef Text* texts = NULL
    cdef uint64_t* table = NULL
    cdef list kept = []
    if n_queries < 0 or len(order) != n or offsets[0] != 0 or offsets[n_queries] != n:
        raise ValueError(f"offsets must go from 0 to the {n} ids, and the order be parallel to them")
    for q in range(n_queries):
        if offsets[q] > offsets[q + 1]:
            raise ValueError(f"offsets must rise, but offsets[{q + 1}] is less than the one before")
        most = max(most, offsets[q + 1] - offsets[q])
    while size < 2 * most:
        size *= 2
    if n > 0 and all(type(one) is int for one in ids):
        ids = list(map(str, ids))
    array = np.empty(n, np.int64)
    left, new_offsets = np.empty(n, np.int64), np.zeros(n_queries + 1, np.int64)
    cdef int64_t[::1] rows = array, firsts = left, stops = new_offsets
    try:
        texts = <Text*>malloc((most + 1) * sizeof(Text))
        table = <uint64_t*>calloc(size, sizeof(uint64_t))
        if texts == NULL or table == NULL:
            raise MemoryError
        for q in range(n_queries):
            stops[q + 1] = stops[q]
            if offsets[q + 1] > offsets[q]:
                borrow_query(ids, &order[0], offsets[q], offsets[q + 1], texts, kept)
                stops[q + 1] += find_firsts(texts, &order[offsets[q]], offsets[q + 1] - offsets[q], table, &rows[0],
                                            &firsts[stops[q]])
    finally:
        free(texts)
        free(table)
    return array, left[:new_offsets[n_queries]], new_offsets


cdef int borrow_query(list ids, const int64_t* order, int64_t first, int64_t stop, Text* texts, list kept) except -1:
    """The bytes of the strings in the rows order[first:stop]."""
    cdef int64_t i
    cdef PyObject* string
    cdef const char* ahead
    for i in range(first, stop):
        if i + AHEAD < stop:
            ahead = <const char*>PyList_GetItem(ids, order[i + AHEAD])
            prefetch(ahead)
            prefetch(ahead + 64)
        string = PyList_GetItem(ids, order[i])
        if not PyUnicode_Check(string):
            raise TypeError(f"expected ids of one kind, got {<object>string!r}")
        if not held_text(string, texts + i - first):
            borrow_text(string, texts + i - first, kept)
    return 0


cdef int64_t find_firsts(const Text* texts, const int64_t* order, int64_t n, uint64_t* table, int64_t* rows,
                         int64_t* firsts) noexcept nogil:
    """Fill the entries of n rows, and `firsts`; returns how many there are.

    An entry of `table` is the upper half of a hash, and a position + 1 in the lower; 0 is free.
    """
    cdef int64_t i, n_firsts = 0
    cdef uint64_t h, slot, mask = 1, low = 0xFFFFFFFF
    while mask < 2 * <uint64_t>n:
        mask *= 2
    memset(table, 0, mask * sizeof(uint64_t))
    mask -= 1
    for i in range(n):
        h = text_hash(texts + i)
        slot = h & mask
        while table[slot] != 0:
            if table[slot] >> 32 == h >> 32 and equal(texts + (table[slot] & low) - 1, texts + i):
                break
            slot = (slot + 1) & mask
        if table[slot] == 0:
            table[slot] = (h >> 32 << 32) | <uint64_t>(i + 1)
            firsts[n_firsts] = order[i]
            n_firsts += 1
        rows[order[i]] = order[(table[slot] & low) - 1]
    return n_firsts
