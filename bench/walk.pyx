"""The least that reading a run of dicts costs: every score is looked at, nothing else is done.

Compiled by bench_dicts.py; no part of fastir.
"""

from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE
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
