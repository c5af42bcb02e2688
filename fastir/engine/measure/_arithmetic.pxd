# Logarithms, powers and ratios for the metrics.
from libc.stdint cimport int64_t

cdef enum:
    TABLE = 2048

cdef double* LOG2_HIGH      # log2 of 1 to TABLE - 1

cdef double log2_beyond(int64_t n) noexcept nogil
cdef double log2_real(double x) noexcept nogil
cdef double natural_log(double x) noexcept nogil
cdef double exp2_real(double x) noexcept nogil
cdef double power_of_two(double x) noexcept nogil
cdef double power_less_one(double x) noexcept nogil


cdef inline double log2_integer(int64_t n) noexcept nogil:
    """log2 of an integer from 1 up."""
    return LOG2_HIGH[n] if n < TABLE else log2_beyond(n)


cdef inline double discount_at(int64_t rank, int jk2) noexcept nogil:
    if jk2:
        return 1.0 if rank < 2 else log2_integer(rank)
    return log2_integer(rank + 1)


cdef inline double power(double base, int64_t exponent) noexcept nogil:
    cdef double result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


cdef inline double faded(double weight, double p, int64_t steps) noexcept nogil:
    """weight * p^steps, multiplied step by step: the bits of trec_eval, which does so at every rank."""
    cdef int64_t i = 0
    while i < steps and weight > 0.0:
        weight *= p
        i += 1
    return weight


cdef inline double ratio(double a, double b) noexcept nogil:
    return a / b if b > 0 else 0.0
