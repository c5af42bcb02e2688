"""From a dict of dicts to values in the order of its queries.

evaluate() of the core goes through the qrels: a query that the run lacks has a value, too. The tools here go through
the run, which may be one query out of thousands: only its queries are looked up (a query of ten documents takes 2 µs
for qrels of any size).
"""

cimport cython
from libc.stdlib cimport free, malloc

import numpy as np

from fastir.engine.join._dicts cimport Walk, judge_all
from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.join._judged cimport Judged
from fastir.engine.measure._measure cimport Plan

from fastir.errors import quote

cdef extern from "Python.h":
    ctypedef struct PyObject
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    PyObject* PyDict_GetItemWithError(object, object) except? NULL


def run_values(Judged judged, Plan plan, run, dict positions, int ties, bint single):
    """Ids and float64 values, a row each, of the run's queries; those that are not in `positions`, {id: position in the
    qrels}, are left out.
    """
    cdef list query_ids = [], rows = []
    cdef Py_ssize_t position = 0
    cdef PyObject* query
    cdef PyObject* value
    cdef PyObject* row
    cdef double[:, ::1] out
    cdef unsigned char* codes
    cdef fenv_t callers
    cdef Walk walk
    while True:
        with cython.critical_section(run):      # for each query: looking for an id may run Python code
            if not PyDict_Next(run, &position, &query, &value):
                break
            query_id = <object>query
        if not isinstance(query_id, str):
            raise TypeError(f"run: a query id must be a str, got {type(query_id).__name__} {quote(query_id)}")
        row = PyDict_GetItemWithError(positions, query_id)
        if row != NULL:
            query_ids.append(query_id)
            rows.append(<object>row)
    values = np.empty((len(rows), plan.n_slots))
    if not rows:
        return query_ids, values
    out = values
    codes = <unsigned char*>malloc(len(rows))
    if codes == NULL:
        raise MemoryError
    walk = Walk.__new__(Walk)
    walk.begin(judged, plan, False, ties, single, False)
    walk.out, walk.codes = &out[0, 0], codes
    ordinary(&callers)
    try:
        judge_all([walk], judged, <dict>run, False, rows)
    finally:
        fesetenv(&callers)
        free(codes)
    return query_ids, values
