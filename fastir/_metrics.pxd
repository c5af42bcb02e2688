# What a metric may read of one query. Everything is owned by the caller's scratch or by the qrels.
from libc.stdint cimport int32_t, int64_t


cdef struct Query:
    int64_t num_ret             # documents retrieved, after max_depth and judged_only
    int64_t num_hits            # judged documents among them
    const int64_t* ranks        # their ranks, from 1, ascending
    const int32_t* labels       # their labels, beside the ranks
    int64_t num_rel             # judged documents with label >= level
    int64_t num_nonrel          # judged documents with 0 <= label < level
    int64_t num_ideal           # length of the ideal list
    const int32_t* ideal        # the labels above 0, best first
    int32_t level               # relevant from this label up
    int32_t floor               # labels below have no gain
    int32_t top                 # the largest judged label


cdef struct Snapshot:           # the running sums when the walk passed cutoff k
    int64_t k                   # the cutoff, INT64_MAX for the whole ranking
    int64_t num_rel_ret
    int64_t first_rel           # rank of the first relevant document, 0 if none
    double sum_precision        # of precision(i) over the relevant documents
    double gain                 # cumulated
    double dcg
    double ideal_dcg


ctypedef double (*metric_fn)(const Query* q, const Snapshot* s, const double* p) noexcept nogil

cdef double log2_of(int64_t n) noexcept nogil
cdef double gain_of(int32_t label, int exponential) noexcept nogil
cdef double discount_at(int64_t rank, int jk2) noexcept nogil
