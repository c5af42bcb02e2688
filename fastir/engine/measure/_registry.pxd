# The data of one query that a metric may read, all owned by the caller's scratch or by the qrels; declarations.
from libc.stdint cimport int32_t, int64_t


cdef enum:
    ROW_BITS = 24               # of a code that names the row which has the label


cdef struct Gains:              # what a label adds
    int curve                   # LINEAR, EXP2 or BINARY
    int64_t n                   # labels with a gain of their own, which the two arrays hold
    int32_t* labels
    double* values
    int64_t n_grades            # of labels that are codes, because some are fractional; else 0
    const double* grades        # by code: the label that the judge gave, 0.0 for 0
    const double* powers        # by code: 2^label
    const double* gains         # by code: 2^label - 1


cdef struct Query:
    int64_t num_ret             # documents retrieved, after max_depth and judged_only
    int64_t num_hits            # the documents among them that the metric's card `reads`
    const int64_t* ranks        # their ranks, from 1, ascending
    const int64_t* lasts        # NULL, or for expected values: the hit has any rank from ranks[i] to lasts[i]
    const int32_t* labels       # parallel to ranks: labels or their codes; -2 in the pool unjudged, -1 not in the qrels
    const double* values        # NULL, or where the hits' codes name rows: the labels by row
    const double* ideal_values  # and the ideal list's labels
    const double* gains         # parallel to ranks, for graded metrics
    bint relevant               # whether all hits have a label >= level
    int64_t num_rel             # judged documents with label >= level
    int64_t num_nonrel          # judged documents with 0 <= label < level
    int64_t num_pooled          # documents of the qrels with a negative label
    int64_t num_ideal           # length of the ideal list
    const int32_t* ideal        # the labels above 0, best first
    int64_t num_ideal_gains
    const double* ideal_gains   # the gains above 0, best first, for graded metrics
    const Gains* rule           # what made the gains
    int32_t level               # relevant from this label up
    int32_t floor               # labels below have no gain
    int32_t top                 # the largest judged label or its code
    int64_t* room               # for a metric that declares it: room for as many numbers as there are hits


cdef struct Snapshot:           # the running sums when the walk passed cutoff k
    int64_t k                   # the cutoff, INT64_MAX for the whole ranking
    double num_rel_ret          # whole, unless it is an expected value
    int64_t first_rel           # rank of the first relevant document, 0 if none
    double sum_precision        # of precision(i) over the relevant documents
    double gain                 # cumulative
    double dcg
    double ideal_dcg


ctypedef double (*metric_fn)(const Query* q, const Snapshot* s, const double* p) noexcept nogil

cdef inline double label_grade(const Gains* rule, int32_t label) noexcept nogil:
    """The label that a judge gave, of a label from 0 up or its code."""
    return <double>label if rule.grades == NULL else rule.grades[label]


cdef object declare(metric_fn function, card, metric_fn expected=*, fields=*, bint room=*)
cdef bint takes_room(name) except -1
cdef metric_fn metric_function(name, bint expected) except? NULL
