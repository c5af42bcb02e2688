# Logarithms, powers and ratios for the metrics.
from libc.stdint cimport int64_t

cdef double log2_of(int64_t n) noexcept nogil
cdef double log2_real(double x) noexcept nogil
cdef double natural_log(double x) noexcept nogil
cdef double exp2_real(double x) noexcept nogil
cdef double discount_at(int64_t rank, int jk2) noexcept nogil
cdef double power(double base, int64_t exponent) noexcept nogil
cdef double ratio(double a, double b) noexcept nogil
