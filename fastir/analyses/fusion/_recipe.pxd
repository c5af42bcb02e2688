# One way to fuse the documents of a query: what a document counts in each run, and how that is put together.
from libc.stdint cimport int32_t, int64_t

from fastir.engine.rank._sorted_rows cimport Entry


cdef struct Recipe:
    int64_t n_runs
    int feature                 # a code of FEATURES
    int norm                    # a code of NORMS
    int rule                    # a code of RULES
    double absent               # what a document counts in a run that lacks it; NaN: that run is left out
    const double* table         # of each run, `width` numbers by rank; runs are `stride` numbers apart
    int64_t width, stride
    int64_t window              # of WINDOW, ranks to either side; of PARTS, how many there are
    const double* weights       # one for each run
    const double* factors       # by the number of runs that have a document


cdef class Recipes:
    cdef Recipe shared          # what does not differ between settings
    cdef const double[:, ::1] weights, factors
    cdef const double[:, :, ::1] tables
    cdef const int64_t[::1] windows
    cdef void read(self, int64_t setting, Recipe* recipe) noexcept nogil


cdef enum:
    MANY = 8                    # runs: of more, documents times runs is too much to be laid out


cdef struct Lists:              # the features of documents in the runs that have them, and room
    const int32_t* starts       # of each document, and the end
    const int32_t* docs         # of each row, as the next two
    const int32_t* runs
    const double* values
    const int64_t* sizes        # of the rankings
    double* absent              # room for n_runs
    double* before              # and for one more


cdef void normalize(int norm, double* scores, int64_t n) noexcept nogil
cdef bint counts_absent(const Recipe* recipe) noexcept nogil
cdef double absent_value(const Recipe* recipe, int64_t n, int64_t n_docs) noexcept nogil
cdef void values_by_rank(const Recipe* recipe, int64_t run, const double* scores, int64_t n, int64_t n_docs,
                         double* values) noexcept nogil
cdef void combine_lists(const Recipe* recipe, const Lists* lists, int64_t n_docs, double* fused) noexcept nogil
cdef void combine(const Recipe* recipe, const double* features, int64_t stride, int64_t n,
                  double* fused) noexcept nogil
cdef void majority(const Recipe* recipe, const Lists* lists, int64_t n, Entry* entries, Entry* spare,
                   double* fused) noexcept nogil
