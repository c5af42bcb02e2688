# The compiled plan, the scratch that a thread needs for it, and the walk itself.
from libc.stdint cimport int32_t, int64_t

from fastir.measure._registry cimport Gains, Query, Snapshot, metric_fn


cdef enum:                      # which documents of a ranking become hits
    RELEVANT = 0                # those with a label above 0
    JUDGED = 1                  # all with a label
    POOL = 2                    # and those in the qrels without one
    ALL = 3                     # every one


cdef enum:
    SMALL = 8                   # labels below have their gains in tables
    NEAR = 128                  # and at ranks below, what they add
    TINY = 7                    # labels up to this are counted in the bytes of one word


cdef struct View:               # metrics that share one walk
    int32_t level
    int32_t floor
    Gains rule
    int jk2
    int ideal_retrieved
    int64_t gain_depth          # how far down a metric reads gains, 0 for not at all
    int lists_gains             # whether a metric reads them document by document
    double small[SMALL]         # the gains of labels 0, 1, 2 and so on
    double* near                # [label][rank]: gain over discount
    double* alike               # [label][n]: their sum, where the first n have this label
    int64_t n_cutoffs
    int64_t* cutoffs            # ascending, INT64_MAX for the whole ranking
    int64_t first               # where its snapshots start
    int64_t first_slot, stop_slot


cdef struct Slot:               # one requested value; those of a view stand together
    metric_fn function
    int64_t column              # where it stands in the row of values
    int64_t snapshot
    double* params
    int plain                   # whether neither of the next is so, and it reads RELEVANT
    int replaces_empty          # whether `empty` is the value of a query without relevant documents
    double empty
    int graded
    int reads


cdef struct Judgments:          # a query's part of the qrels
    const int32_t* labels       # best first
    int64_t n_positive          # those above 0
    int64_t n_judged            # those from 0 up
    int64_t n_pool              # all
    bint retrieved              # whether the ranking is made of them, all of them
    const double* values        # NULL, or the labels are codes: what they stand for


cdef struct Scratch:
    Snapshot* snapshots
    int32_t* sorted
    int64_t* ranks              # of all hits; one allocation with what follows
    int32_t* labels
    int64_t* lasts              # beside ranks: where the tie of the hit ends, for expected values
    int64_t* positive_ranks     # of those with a label above 0, where there are others
    int64_t* positive_lasts
    int32_t* positive_labels
    int64_t* room
    double* gains
    double* ideal_gains
    int64_t capacity


ctypedef void (*walk_fn)(const View* view, const Query* q, const double* values, double* gains,
                         Snapshot* snapshots) noexcept nogil


cdef class Plan:
    cdef walk_fn walk
    cdef View* views
    cdef Slot* slots
    cdef double* numbers        # the params of all slots
    cdef readonly Py_ssize_t n_views, n_slots
    cdef Py_ssize_t n_snapshots
    cdef readonly int reads     # RELEVANT to ALL
    cdef readonly bint judged_only
    cdef readonly int64_t max_depth
    cdef readonly int64_t deepest   # the largest cutoff
    cdef readonly bint average  # whether values are expected ones, over the orders of equal scores

cdef inline int32_t label_code(int32_t label) noexcept nogil:
    """A label of the qrels as the metrics see it: any negative one is -2, in the pool without a judgment."""
    return label if label >= 0 else -2


cdef int enlarge(Scratch* scratch, Plan plan, int64_t n) noexcept nogil
cdef void release(Scratch* scratch) noexcept nogil
cdef int64_t write_runs(const int64_t* sizes, int32_t top, int32_t* labels) noexcept nogil
cdef void sort_labels(int32_t* a, int64_t n) noexcept nogil
cdef void measure(Plan plan, Scratch* scratch, int64_t n_hits, int64_t num_ret, const Judgments* known,
                  double* out) noexcept nogil


cdef inline int grow(Scratch* scratch, Plan plan, int64_t n) noexcept nogil:
    """Room for n hits and as many judged documents; 0, or -1 without memory."""
    return 0 if n <= scratch.capacity and scratch.ranks != NULL else enlarge(scratch, plan, n)
