# The join for a dict of dicts, for callers who want only some of the queries.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from fastir.engine.columns._entries cimport Reader
from fastir.engine.join._counts cimport Counts
from fastir.engine.join._judged cimport Judged, Lookup
from fastir.engine.measure._measure cimport Plan
from fastir.engine.rank._rank cimport Ranking


cdef class Walk:                # one set of rules in one call: the rows of the current ranking, scratch, and counts
    cdef Ranking ranking
    cdef double* scores
    cdef PyObject** keys        # the rows' ids, and behind them the hits'; one allocation with scores
    cdef int64_t n, n_hits, n_found, capacity
    cdef Judged judged
    cdef Plan plan
    cdef list ids               # the judged ids, of the kind that the run has
    cdef const Lookup* lookups  # the judged ids by hash, NULL until a ranking is looked up
    cdef double* out            # a row per query
    cdef unsigned char* codes   # likewise
    cdef object status          # the status codes, made for the first query that is missing from the run
    cdef Py_buffer value_buffer, status_buffer
    cdef Counts counts
    cdef bint counts_unjudged   # whether the unjudged documents are wanted
    cdef bytearray uncounted    # None until a ranking is kept for count_rest()
    cdef Reader reader
    cdef bint numpy_ids         # whether the current ranking's first id is a NumPy scalar
    cdef bint many              # whether its ids are looked up among the judged ones
    cdef bint tied              # whether one of its hits is tied
    cdef Walk reads             # this walk takes its rows; None: it reads the rankings itself
    cdef Walk asks              # and this one's hits
    cdef int ties
    cdef bint single, integers
    cdef bint pooled            # whether the first query's judged ids hold for all queries
    cdef bint again             # whether the judged ids were joined with a dict before
    cdef bint is_whole          # whether the run has most queries of the qrels, so that a table of all pays
    cdef list exclusions        # for each query of the qrels the ids that leave its ranking, in all forms; or None
    cdef frozenset gone         # excluded ids of the current ranking, None if there are none; and how many it had
    cdef int64_t n_gone
    cdef double least           # the least score that is retrieved; and how many rows of the ranking are below it
    cdef int64_t n_low
    cdef bint releases_gil          # whether the GIL may be released within a ranking, which is then a copy
    cdef int begin(self, Judged judged, Plan plan, bint integers, int ties, bint single, bint releases_gil) except -1
    cdef int write_to(self, values, status) except -1
    cdef int open_status(self) except -1
    cdef void let_go(self) noexcept
    cdef int room(self, int64_t n, int64_t hits) except -1
    cdef bint keep(self, int64_t q) except -1
    cdef int64_t probe(self, dict ranking, int64_t first, int64_t n) except -1
    cdef int64_t count(self, dict ranking, int64_t start, int64_t stop) except -1
    cdef int follow(self, list walks) except -1
    cdef int prepare(self, dict ranking, int64_t place) except -1
    cdef int find(self, dict ranking, int64_t place) except -1
    cdef int leave_out(self, dict ranking) except -1
    cdef void leave_low(self) noexcept
    cdef int look_up(self, dict ranking, int64_t q) except -1
    cdef int rank(self, int64_t place, int64_t row) except -1
    cdef int note(self, dict ranking, int64_t place) except -1
    cdef int note_rounded(self, int64_t place, tuple docs) except -1
    cdef Counts take_counts(self)
    cdef int lack(self, int64_t place, int64_t row) except -1


cdef int judge_all(list walks, Judged judged, dict run, bint integer_queries, list rows) except -1
