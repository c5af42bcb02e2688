"""Doubles to the shortest decimal text that reads back exactly: the text of repr(), without an object per number.

    0.1 + 0.2   =   c * 2^q   ->   digits 30000000000000004, exponent -17   ->   "0.30000000000000004"

All decimals between the midpoints to the neighbouring doubles read back as the double. The digits are the double as a
multiple of the power of ten that is just smaller than that interval, or of ten times that power if a multiple of it
lies inside. Three products with a 128-bit power of ten, whose cut-off rest leaves a bit, decide all of it (Giulietti,
"The Schubfach way to render doubles", 2020, which has the proof). repr() of a float takes three to ten times as long.

rows_text() puts a matrix of them between texts: a line of a table, or an object of JSON, for each row.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from fastir.engine.columns._number cimport multiply
from fastir.engine.columns._ids cimport write_decimal

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL

cdef enum:
    MIN_POWER = -292        # the powers of ten that doubles need
    MAX_POWER = 324
    MAX_NUMBER_BYTES = 32   # bytes of a number, -1.2345678901234567e-308, and what write_decimal needs behind it
    USUAL_HEAD_BYTES = 64   # bytes of a head

cdef uint64_t[MAX_POWER - MIN_POWER + 1] HIGH
cdef uint64_t[MAX_POWER - MIN_POWER + 1] LOW


cdef fill_tables():
    """10^k for all k, scaled so that the highest of 128 bits is set, and rounded up."""
    for k in range(MIN_POWER, MAX_POWER + 1):
        over, under = 10 ** max(k, 0), 10 ** max(-k, 0)
        shift = 128 + under.bit_length() - over.bit_length()
        power = -(-(over << max(shift, 0)) // (under << max(-shift, 0)))
        if power >> 128:
            power = (power + 1) >> 1
        HIGH[k - MIN_POWER] = power >> 64
        LOW[k - MIN_POWER] = power & 0xFFFFFFFFFFFFFFFF


fill_tables()


cdef inline uint64_t scale(const uint64_t* high, const uint64_t* low, uint64_t n) noexcept nogil:
    """n times a power of ten, cut off, with the last bit set if anything but 0 was cut off."""
    cdef uint64_t rest, below, whole
    below = multiply(low[0], n, &rest)
    whole = multiply(high[0], n, &rest)
    rest += below
    whole += rest < below
    return whole | (rest > 1)


cdef inline uint64_t shortest_digits(uint64_t bits, int64_t* exponent) noexcept nogil:
    """The digits of the double with these bits, which is finite and above 0; times 10^exponent."""
    cdef uint64_t c = bits & ((<uint64_t>1 << 52) - 1), least, middle, most, s
    cdef int64_t q = <int64_t>(bits >> 52), k, shift
    cdef bint closer = c == 0 and q > 1         # to the double below, whose exponent is one less
    cdef bint odd = c & 1, low_fits, high_fits
    if q:
        c |= <uint64_t>1 << 52
    else:
        q = 1
    q -= 1075
    k = (q * 1262611 - (524031 if closer else 0)) >> 22         # floor(log10(the width of the interval))
    shift = q + (-k * 1741647 >> 19) + 1                        # floor(log2(10^-k))
    cdef const uint64_t* high = &HIGH[-k - MIN_POWER]
    cdef const uint64_t* low = &LOW[-k - MIN_POWER]
    least = scale(high, low, 4 * c - 2 + closer << shift) + odd    # in quarters; a bound reads back if c is even
    middle = scale(high, low, 4 * c << shift)
    most = scale(high, low, 4 * c + 2 << shift) - odd
    s = middle >> 2
    if s >= 10:
        low_fits = least <= s // 10 * 40
        high_fits = s // 10 * 40 + 40 <= most
        if low_fits != high_fits:
            exponent[0] = k + 1
            return s // 10 + high_fits
    exponent[0] = k
    low_fits = least <= 4 * s
    high_fits = 4 * s + 4 <= most
    if low_fits == high_fits:
        high_fits = middle > 4 * s + 2 - (s & 1)                # the nearer of the two; of equal ones the even
    return s + high_fits


cdef char* write_positive(uint64_t bits, char* out) noexcept nogil:
    """Write a finite number above 0; returns where its text ends."""
    cdef int64_t exponent, n, point
    cdef uint64_t digits = shortest_digits(bits, &exponent)
    cdef char[20] text
    while digits % 10 == 0:
        digits //= 10
        exponent += 1
    n = write_decimal(digits, text)
    point = n + exponent                # the point follows so many digits
    if -4 < point <= 0:
        memcpy(out, b"0.000", 5)
        memcpy(out + 2 - point, text, n)
        return out + 2 - point + n
    if n <= point <= 16:
        memcpy(out, text, n)
        memset(out + n, c"0", point - n)
        memcpy(out + point, b".0", 2)
        return out + point + 2
    if not 0 < point <= 16:
        return write_scientific(text, n, point - 1, out)
    memcpy(out, text, point)
    out[point] = c"."
    memcpy(out + point + 1, text + point, n - point)
    return out + n + 1


cdef char* write_scientific(const char* text, int64_t n, int64_t exponent, char* out) noexcept nogil:
    """Digits with a point behind the first, and an exponent of at least two digits."""
    out[0] = text[0]
    out += 1
    if n > 1:
        out[0] = c"."
        memcpy(out + 1, text + 1, n - 1)
        out += n
    out[0] = c"e"
    out[1] = c"-" if exponent < 0 else c"+"
    exponent = -exponent if exponent < 0 else exponent
    out += 2
    if exponent < 10:
        out[0] = c"0"
        out += 1
    return out + write_decimal(exponent, out)


cdef inline char* append(const char* text, int64_t n, char* out) noexcept nogil:
    memcpy(out, text, n)
    return out + n


def rows_text(list heads, const double[:, ::1] values, list between, bytes nan=b"nan", bytes infinity=b"inf"):
    """Rows of numbers between texts.

    Parameters
    ----------
    heads : list of str
        What each row begins with; a surrogate is the byte that it was read from.
    values : float64 array of shape (len(heads), len(between) - 1)
    between : list of bytes
        The text before the first number of a row, between two, and behind the last.
    nan, infinity : bytes
        Their texts.

    Returns
    -------
    uint8 array of shape (n_bytes,)
    """
    cdef int64_t i, j, most, used = 0, width = values.shape[1]
    cdef Py_ssize_t length
    cdef uint64_t bits, special = <uint64_t>0x7FF << 52
    cdef const char* head
    cdef char* p
    cdef bytes text
    cdef unsigned char[::1] whole
    if (values.shape[0], width) != (len(heads), len(between) - 1):
        raise ValueError(f"{len(heads)} rows of {len(between) - 1} values expected, got {values.shape[0]} of {width}")
    most = sum(map(len, between)) + width * (1 + max(MAX_NUMBER_BYTES, len(nan), len(infinity)))
    whole = np.empty(values.shape[0] * (most + USUAL_HEAD_BYTES), np.uint8)
    for i in range(values.shape[0]):
        text = None
        try:
            head = PyUnicode_AsUTF8AndSize(heads[i], &length)
        except UnicodeEncodeError:
            text = heads[i].encode("utf-8", "surrogateescape")
            head, length = text, len(text)
        if used + length + most > whole.shape[0]:
            whole = longer(whole, used, length + most)
        p = append(between[0], len(<bytes>between[0]), append(head, length, <char*>&whole[used]))
        for j in range(width):
            memcpy(&bits, &values[i, j], 8)
            if bits >> 63 and values[i, j] == values[i, j]:
                p = append(b"-", 1, p)
            bits &= ~(<uint64_t>1 << 63)
            if bits < special and bits:
                p = write_positive(bits, p)
            else:
                text = b"0.0" if bits == 0 else infinity if bits == special else nan
                p = append(text, len(text), p)
            text = between[j + 1]
            p = append(text, len(text), p)
        used = p - <char*>&whole[0]
    return np.asarray(whole)[:used]


cdef longer(const unsigned char[::1] old, int64_t used, int64_t more):
    """A copy with room for `more` bytes behind the used ones."""
    new = np.empty(2 * (used + more), np.uint8)
    new[:used] = old[:used]
    return new
