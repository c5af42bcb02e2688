"""The fields of a Coverage, and whether it is clean.

A class in C because each call makes one, and a call may be one query of ten documents: in Python this took an eighth
of its time.
"""

from fastir.join._join cimport Tally


cdef class Overlap:
    """What an evaluation met; parameters and attributes are those of Coverage, which says the rest."""

    cdef readonly object prepared, status, tally, run_ids
    cdef readonly Py_ssize_t n_run
    cdef public object run_repairs
    cdef public bint clean

    def __init__(self, prepared, status, tally, Py_ssize_t n_run, run_ids, run_repairs):
        cdef Tally counts
        cdef Py_ssize_t found
        cdef bint unusual
        if type(tally) is Tally:
            counts = <Tally>tally
            found, unusual = counts.found, counts.nothing or counts.repeated or counts.rounded
        else:
            found, unusual = tally.found, tally.nothing or tally.repeated or tally.rounded
        self.prepared, self.status, self.tally, self.n_run = prepared, status, tally, n_run
        self.run_ids = list(run_ids) if n_run > found else ()
        self.run_repairs = self.all_repairs(run_repairs) if unusual else run_repairs
        self.clean = (found == n_run == prepared.shape[0] and not unusual and not run_repairs
                      and not prepared.qrels._repairs)

    def all_repairs(self, run_repairs):
        """The repairs, and those that the tally counted."""
        return run_repairs
