"""The least that reading a run of dicts costs: every score is looked at, nothing else is done.

And of lists: every id is hashed, unless it has been before. Compiled by conftest.py; no part of fastir.
"""

from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject_Hash
from cpython.ref cimport PyObject


cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash


cdef extern from *:
    """
    #ifdef __GNUC__
    #define ASK_FOR(p) __builtin_prefetch(p)
    #else
    #define ASK_FOR(p) ((void)0)
    #endif
    """
    void prefetch "ASK_FOR"(const void*)


def walk(dict run):
    """The sum of all scores, which are float objects."""
    cdef PyObject* key
    cdef PyObject* docs
    cdef PyObject* score
    cdef Py_ssize_t query = 0, place
    cdef double total = 0
    while PyDict_Next(run, &query, &key, &docs):
        place = 0
        while PyDict_Next(<object>docs, &place, &key, &score):
            total += PyFloat_AS_DOUBLE(<object>score)
    return total


def walk_gathered(dict run):
    """The same sum, with the scores of 64 documents asked for before the first of them is read."""
    cdef PyObject* key
    cdef PyObject* docs
    cdef PyObject* score
    cdef PyObject* gathered[64]
    cdef Py_ssize_t query = 0, place
    cdef int i, n
    cdef double total = 0
    while PyDict_Next(run, &query, &key, &docs):
        place = 0
        n = 64
        while n == 64:
            n = 0
            while n < 64 and PyDict_Next(<object>docs, &place, &key, &score):
                prefetch(score)
                gathered[n] = score
                n += 1
            for i in range(n):
                total += PyFloat_AS_DOUBLE(<object>gathered[i])
    return total


def walk_lists(list lists):
    """The sum of the hashes of all ids in lists; a str that has been hashed before keeps its hash."""
    cdef Py_ssize_t i
    cdef unsigned long long total = 0
    cdef list ids
    for ids in lists:
        for i in range(len(ids)):
            total += <unsigned long long>PyObject_Hash(<object>PyList_GET_ITEM(ids, i))
    return total


def forget_hashes(list lists):
    """Make the strings in lists as new: nobody has hashed them."""
    cdef Py_ssize_t i
    cdef list ids
    for ids in lists:
        for i in range(len(ids)):
            (<PyASCIIObject*>PyList_GET_ITEM(ids, i)).hash = -1
