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


cdef void normalize(int norm, double* scores, int64_t n) noexcept nogil
cdef void values_by_rank(const Recipe* recipe, int64_t run, const double* scores, int64_t n, int64_t n_docs,
                         double* values) noexcept nogil
cdef void combine(const Recipe* recipe, const double* features, int64_t stride, int64_t n, double* room,
                  double* fused) noexcept nogil
cdef void majority(const Recipe* recipe, const int32_t* places, int64_t stride, const int64_t* sizes, int64_t n,
                   Entry* entries, Entry* spare, double* fused) noexcept nogil


cdef inline void gather(const double* values, const int32_t* places, int64_t n, double* features) noexcept nogil:
    """What each document counts, from what each rank counts."""
    cdef int64_t i
    for i in range(n):
        features[i] = values[places[i]]
