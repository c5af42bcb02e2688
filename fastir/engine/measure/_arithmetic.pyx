"""Arithmetic that metrics share, the same to the bit on every processor.

The C library's log2, log and exp2 may differ in the last bit between machines, and results must not: these are built
from correctly rounded operations alone. log2 of an integer comes from a table computed once in double-double, so that
dividing by it in rank order gives trec_eval's sums bit for bit.
"""

from libc.math cimport floor, frexp, ldexp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np


cdef double LOG2_ENTRIES[TABLE_ENTRIES]
cdef double LOG2_LOW[TABLE_ENTRIES]


cdef void two_sum(double a, double b, double* s, double* e) noexcept nogil:
    cdef double t
    s[0] = a + b
    t = s[0] - a
    e[0] = (a - (s[0] - t)) + (b - t)


cdef void two_product(double a, double b, double* p, double* e) noexcept nogil:
    cdef double t, ah, al, bh, bl
    t = 134217729.0 * a
    ah = t - (t - a)
    al = a - ah
    t = 134217729.0 * b
    bh = t - (t - b)
    bl = b - bh
    p[0] = a * b
    e[0] = ((ah * bh - p[0]) + ah * bl + al * bh) + al * bl


cdef void dd_multiply(double ah, double al, double bh, double bl, double* h, double* l) noexcept nogil:
    cdef double p, e
    two_product(ah, bh, &p, &e)
    e = e + (ah * bl + al * bh)
    two_sum(p, e, h, l)


cdef void dd_add(double ah, double al, double bh, double bl, double* h, double* l) noexcept nogil:
    cdef double s, e
    two_sum(ah, bh, &s, &e)
    e = e + (al + bl)
    two_sum(s, e, h, l)


cdef void dd_divide(double ah, double al, double bh, double bl, double* h, double* l) noexcept nogil:
    cdef double q, ph, pl, r
    q = ah / bh
    dd_multiply(q, 0.0, bh, bl, &ph, &pl)
    r = (((ah - ph) - pl) + al) / bh
    two_sum(q, r, h, l)


cdef int split_log2(int64_t n, double* h, double* l) noexcept nogil:
    """log2 of n in about 100 bits, as an exponent, which is returned, and 2/ln 2 * atanh((m - 1)/(m + 1)), m in [1, 2).
    """
    cdef int exponent = 0, j
    cdef int64_t power = 1
    cdef double sh, sl, th, tl, ph, pl
    while power * 2 <= n:
        power *= 2
        exponent += 1
    dd_divide(<double>(n - power), 0.0, <double>(n + power), 0.0, &sh, &sl)
    dd_multiply(sh, sl, sh, sl, &th, &tl)
    h[0] = 0.0
    l[0] = 0.0
    for j in range(34, -1, -1):
        dd_divide(1.0, 0.0, 2.0 * j + 1.0, 0.0, &ph, &pl)
        dd_multiply(h[0], l[0], th, tl, h, l)
        dd_add(h[0], l[0], ph, pl, h, l)
    dd_multiply(h[0], l[0], sh, sl, h, l)
    dd_multiply(h[0], l[0], 2.8853900817779268, 4.0710547481862066e-17, h, l)
    return exponent


cdef void fill_table() noexcept nogil:
    """Fill in the logarithms of odd numbers and of their doubles, which differ from them in the exponent alone."""
    cdef int64_t odd, n
    cdef int exponent
    cdef double h, l
    LOG2_HIGH[0] = 0.0
    LOG2_LOW[0] = 0.0
    for odd in range(1, TABLE_ENTRIES, 2):
        exponent = split_log2(odd, &h, &l)
        n = odd
        while n < TABLE_ENTRIES:
            dd_add(h, l, <double>exponent, 0.0, &LOG2_HIGH[n], &LOG2_LOW[n])
            n *= 2
            exponent += 1


LOG2_HIGH = LOG2_ENTRIES
fill_table()


cdef double log2_beyond(int64_t n) noexcept nogil:
    """log2 of an integer beyond the table: its leading bits' entry plus a short series."""
    cdef int shift = 0
    cdef int64_t head = n
    cdef double x, s, t
    while head >= TABLE_ENTRIES:
        head >>= 1
        shift += 1
    x = <double>(n - (head << shift)) / <double>(head << shift)
    s = x / (2.0 + x)
    t = s * s
    x = 2.8853900817779268 * s * (1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0))))
    two_sum(LOG2_HIGH[head] + shift, x, &s, &t)
    return s + (t + LOG2_LOW[head])


def integer_logs(int64_t n):
    """log2 of 1 to n; float64 of shape (n,)."""
    cdef int64_t i
    logs = np.empty(n)
    cdef double[::1] out = logs
    for i in range(n):
        out[i] = log2_integer(i + 1)
    return logs


cdef double natural_log(double x) noexcept nogil:
    """ln of a positive number: exponent * ln 2 + 2 atanh((m - 1) / (m + 1)), m from sqrt(1/2) to sqrt(2)."""
    cdef int exponent, j
    cdef double m = frexp(x, &exponent), s, t, total = 0.0
    if m < 0.7071067811865476:
        m *= 2.0
        exponent -= 1
    s = (m - 1.0) / (m + 1.0)
    t = s * s
    for j in range(12, -1, -1):
        total = total * t + 1.0 / (2.0 * j + 1.0)
    return exponent * 0.6931471803691238 + (2.0 * s * total + exponent * 1.9082149292705877e-10)


def natural_logs(const double[::1] numbers):
    """ln of positive numbers, with the same bits everywhere; float64 of their shape."""
    cdef Py_ssize_t i
    logs = np.empty(numbers.shape[0])
    cdef double[::1] out = logs
    for i in range(numbers.shape[0]):
        out[i] = natural_log(numbers[i])
    return logs


def powers_of_two(const double[::1] numbers):
    """2^x of numbers, with the same bits everywhere; float64 of their shape."""
    cdef Py_ssize_t i
    powers = np.empty(numbers.shape[0])
    cdef double[::1] out = powers
    for i in range(numbers.shape[0]):
        out[i] = exp2_real(numbers[i])
    return powers


cdef double log2_real(double x) noexcept nogil:
    if x == floor(x) and x < 9007199254740992.0:
        return log2_integer(<int64_t>x)
    return natural_log(x) / 0.6931471805599453


cdef double exp2_real(double x) noexcept nogil:
    """2^x, by the series of e^y for the fraction of x."""
    cdef double whole = floor(x), y = (x - whole) * 0.6931471805599453, total = 1.0
    cdef int j
    if whole < -2000.0:
        return 0.0
    for j in range(20, 0, -1):
        total = 1.0 + total * y / j
    return ldexp(total, <int>whole)


cdef double power_of_two(double x) noexcept nogil:
    """2^x for x from -1022 to 1023, within one or two units in the last place: the series of e^y for what is left of
    the nearest whole number.

    exp2_real takes fifteen times as long, for exponents that a metric has one of.
    """
    cdef int64_t whole = <int64_t>floor(x + 0.5), bits
    cdef double y = (x - <double>whole) * 0.6931471805599453, total = 1.0, scale
    cdef int j
    for j in range(15, 0, -1):
        total = 1.0 + total * (y * INVERSES[j])
    bits = whole + 1023 << 52
    memcpy(&scale, &bits, sizeof(scale))
    return total * scale


cdef double power_less_one(double x) noexcept nogil:
    """2^x - 1 for x from 0 to 1023: below 1 by the series without its 1, which a small x would leave nothing of."""
    cdef double y, total = 1.0
    cdef int j
    if x >= 1.0:
        return power_of_two(x) - 1.0
    y = x * 0.6931471805599453
    for j in range(15, 1, -1):
        total = 1.0 + total * (y * INVERSES[j])
    return y * total


cdef double[16] INVERSES
INVERSES[0] = 0.0
for _j in range(1, 16):
    INVERSES[_j] = 1.0 / <double>_j
