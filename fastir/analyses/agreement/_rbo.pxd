# Rank-biased overlap.
from libc.stdint cimport int64_t


cdef struct RankBiased:
    double extrapolated, smallest, largest


cdef RankBiased rank_biased(const double* short, int64_t s, const double* long, int64_t n, const int64_t* place,
                     double p, int variant, double tail, int64_t* groups, double* common) noexcept nogil
