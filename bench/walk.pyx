"""The least that reading a run of dicts costs: every score is looked at, nothing else is done.

Compiled by bench_dicts.py; no part of fastir.
"""

from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject_Hash
from cpython.ref cimport PyObject


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


def walk_lists(list lists):
    """The sum of the hashes of all ids in lists; a str that has been hashed before keeps its hash."""
    cdef Py_ssize_t i
    cdef unsigned long long total = 0
    cdef list ids
    for ids in lists:
        for i in range(len(ids)):
            total += <unsigned long long>PyObject_Hash(<object>PyList_GET_ITEM(ids, i))
    return total
