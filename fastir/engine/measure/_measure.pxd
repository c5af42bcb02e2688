# The compiled plan, and the scratch that a thread needs for it.
from libc.stdint cimport int32_t, int64_t

from fastir.engine.measure._codes cimport JUDGED, POOL
from fastir.engine.measure._registry cimport Gains, Query, Snapshot, metric_fn


cdef enum:
    MAX_TINY_LABEL = 7  # labels up to this are counted in the bytes of one word
    RUN_LABELS = 8      # labels that are written at once
    TABLE_LABELS = 8    # labels below have their gains in tables
    TABLE_RANKS = 128   # and at ranks below, tables of gain over discount


cdef struct View:               # metrics that share one walk
    int32_t level
    int32_t floor
    Gains rule
    int jk2
    int ideal                   # JUDGED_BEST, RETRIEVED_BEST, AS_LONG, FULL or UNCUT
    int64_t gain_depth          # how far down a metric reads gains, 0 for not at all
    int lists_gains             # whether a metric reads them document by document
    double small[TABLE_LABELS]         # the gains of labels 0, 1, 2 and so on
    double* near                # [label][rank]: gain over discount
    double* alike               # [label][n]: their sum, where the first n have this label
    int64_t n_cutoffs
    int64_t* cutoffs            # ascending, INT64_MAX for the whole ranking
    int64_t n_graded            # how many of them are at most gain_depth
    int64_t first               # where its snapshots start
    int64_t first_slot, stop_slot


ctypedef void (*walk_fn)(const View* view, const Query* q, double* gains, double* ideal_gains,
                         Snapshot* snapshots) noexcept nogil


cdef struct Slot:               # one requested value; the slots of a view are neighbours
    metric_fn function
    int64_t column              # its position in the row of values
    int64_t snapshot
    double* params
    int plain                   # whether neither of the next two is so, and it reads RELEVANT
    int skips_empty_ranking        # whether an empty ranking is NaN
    int replaces_empty          # whether `empty` is the value of a query without relevant documents
    double empty
    int graded
    int reads


cdef struct Judgments:          # a query's part of the qrels
    const int32_t* labels       # best first
    int64_t n_positive          # labels above 0
    int64_t n_judged            # labels from 0 up
    int64_t n_pool              # all
    bint retrieved              # whether the ranking is made of them, all of them


cdef struct Scratch:
    Query* queries              # for each view, with what is the same for all queries; one allocation with the next
    Snapshot* snapshots
    int64_t* ranks              # of all hits; one allocation with the arrays below that the plan needs
    int32_t* labels
    int64_t* lasts              # parallel to ranks: where the tie of the hit ends, for expected values
    int64_t* positive_ranks     # of hits with a label above 0, if there are others
    int64_t* positive_lasts
    int32_t* positive_labels
    int32_t* sorted             # the labels of the retrieved documents, for ideal rankings of these
    int64_t* room
    double* gains               # for metrics that read them document by document
    double* ideal_gains         # and where labels have gains of their own
    int64_t capacity
    const double* values        # the owner's: NULL, or where codes name rows, the labels by row
    const double* ideal_values


cdef struct Collected:          # where a plan without metrics puts the hits of every query
    const int32_t* first        # the labels of the qrels, into which Judgments.labels points; NULL: at their rows
    int64_t* ranks              # parallel to labels; a query's hits from its first label on
    int32_t* labels


cdef struct Ties:               # where a plan also puts the ties of every query's hits, in any order
    const int32_t* judged       # the labels of the qrels, into which Judgments.labels points
    int64_t* firsts             # parallel to labels; a query's hits from its first label on; NULL: `falls` alone
    int64_t* lasts
    int32_t* labels
    int64_t* num_ret            # of a query with hits, at its first label: how many documents are ranked
    int64_t* n_hits             # and how many of them are hits
    unsigned char* falls        # and whether its scores fall


cdef class Plan:
    cdef walk_fn walk
    cdef Ties ties              # judged is NULL unless they are wanted
    cdef Collected collected    # ranks is NULL in a plan that measures
    cdef object owners          # what owns the memory of collected
    cdef object spare           # scratch that a join left for the next call, or None
    cdef View* views
    cdef Slot* slots
    cdef double* numbers        # the params of all slots
    cdef object grades          # keeps what the views' rules point to
    cdef readonly Py_ssize_t n_views, n_slots
    cdef Py_ssize_t n_snapshots
    cdef readonly int reads     # a code of READ_CODES
    cdef readonly bint judged_only
    cdef readonly int64_t max_depth
    cdef readonly int64_t deepest   # the largest cutoff
    cdef readonly int64_t gain_depth    # the last rank at which a metric reads gains
    cdef readonly bint average  # whether values are expected ones, over the orders of equal scores
    cdef bint room, gains, listed_gains, sorts  # which arrays of Scratch it needs in addition
    cdef take_views(self, list views, const double[::1] grades, const double[::1] powers, const double[::1] gains)
    cdef take_slots(self, list slots)

cdef enum:
    POOL_LABEL = -2     # the code of all negative labels: in the pool without a judgment; no code is smaller


cdef inline int32_t label_code(int32_t label) noexcept nogil:
    """A label of the qrels as the metrics see it."""
    return label if label >= 0 else POOL_LABEL


cdef inline bint is_hit(int32_t label, int reads) noexcept nogil:
    """Whether a plan with this `reads` looks at a document with this label; -1 is a document outside the qrels."""
    return label > 0 or (label == 0 and reads >= JUDGED) or (label < -1 and reads >= POOL)


cdef int enlarge(Scratch* scratch, Plan plan, int64_t n) noexcept nogil
cdef void release(Scratch* scratch) noexcept nogil
cdef void write_runs(const int64_t* sizes, int32_t top, int32_t* labels) noexcept nogil
cdef void sort_labels(int32_t* a, int64_t n) noexcept nogil
cdef void measure(Plan plan, Scratch* scratch, int64_t n_hits, int64_t num_ret, const Judgments* judgments,
                  double* out) noexcept nogil


cdef inline int64_t with_spare(int64_t n) noexcept nogil:
    """How many entries to make room for where n are needed: some for the next query, none if that is much memory."""
    return n + 8 + (n // 2 if n < 1 << 20 else 0)   # for a short ranking little enough to be malloc's quick sizes


cdef inline int grow(Scratch* scratch, Plan plan, int64_t n) noexcept nogil:
    """Make room for n hits and as many judged documents; 0, or -1 without memory."""
    return 0 if n <= scratch.capacity and scratch.ranks != NULL else enlarge(scratch, plan, n)
