"""The fields of a Coverage, and whether it is complete.

A class in C because each call makes one, and a call may be one query of ten documents: in Python this took an eighth
of its time.
"""

from fastir.engine.join._counts cimport Counts
from fastir.engine.measure._codes cimport MISSING

from numpy import full, uint8


cdef class Overlap:
    """What an evaluation met; parameters and attributes are those of Coverage, which says the rest."""

    cdef readonly object prepared, counts, run_ids, rows
    cdef object codes
    cdef readonly Py_ssize_t n_run
    cdef public object run_repairs
    cdef public bint is_complete

    def __init__(self, prepared, status, Counts counts, Py_ssize_t n_run, run_ids, run_repairs, rows=None):
        cdef Py_ssize_t in_both = counts.n_matched_queries
        cdef bint unusual = (counts.n_unjudged_queries or counts.n_repeated_rows or counts.n_rounded_queries
                             or counts.n_excluded_rows or counts.n_low_rows or counts.n_flat_queries)
        self.prepared, self.codes, self.counts, self.n_run, self.rows = prepared, status, counts, n_run, rows
        self.run_ids = list(run_ids) if n_run > in_both else ()
        self.run_repairs = self.all_repairs(run_repairs) if unusual else run_repairs
        self.is_complete = (in_both == n_run == prepared.shape[0] and not unusual and not run_repairs
                      and not prepared.qrels.columns.repairs)

    @property
    def status(self):
        if self.rows is None:
            return self.codes
        status = full(self.prepared.shape[0], MISSING, uint8)
        status[self.rows] = self.codes
        return status

    def all_repairs(self, run_repairs):
        """The repairs, and those that the evaluation counted."""
        return run_repairs
