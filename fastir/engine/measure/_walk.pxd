# The walk over one query's hits, and the metrics that share one.
from libc.stdint cimport int32_t, int64_t

from fastir.engine.measure._registry cimport Gains, Query, Snapshot


cdef enum:
    SMALL = 8                   # labels below have their gains in tables
    NEAR = 128                  # and at ranks below, tables of gain over discount


cdef struct View:               # metrics that share one walk
    int32_t level
    int32_t floor
    Gains rule
    int jk2
    int ideal                   # JUDGED_BEST, RETRIEVED_BEST, AS_LONG, FULL or UNCUT
    int64_t gain_depth          # how far down a metric reads gains, 0 for not at all
    int lists_gains             # whether a metric reads them document by document
    double small[SMALL]         # the gains of labels 0, 1, 2 and so on
    double* near                # [label][rank]: gain over discount
    double* alike               # [label][n]: their sum, where the first n have this label
    int64_t n_cutoffs
    int64_t* cutoffs            # ascending, INT64_MAX for the whole ranking
    int64_t n_graded            # how many of them are at most gain_depth
    int64_t first               # where its snapshots start
    int64_t first_slot, stop_slot


ctypedef void (*walk_fn)(const View* view, const Query* q, double* gains, double* ideal_gains,
                         Snapshot* snapshots) noexcept nogil


cdef int fill_tables(View* view) noexcept nogil
cdef int64_t ideal_gains(const View* view, const int32_t* labels, int64_t n, int64_t zeros,
                         double* gains) noexcept nogil
cdef void walk(const View* view, const Query* q, double* gains, double* ideal_gains, Snapshot* snapshots) noexcept nogil
cdef void walk_ties(const View* view, const Query* q, double* gains, double* ideal_gains,
                    Snapshot* snapshots) noexcept nogil
