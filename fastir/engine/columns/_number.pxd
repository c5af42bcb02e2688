# Decimal text to doubles.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    PADDING_BYTES = 8             # bytes that must be readable behind a number

cdef extern from *:
    """
    #define FASTIR_NO_DECIMAL UINT64_MAX
    """
    const uint64_t NO_DECIMAL "FASTIR_NO_DECIMAL"

cdef bint LITTLE            # whether the first byte of a word is its lowest
cdef uint64_t[9] POWERS     # of ten
cdef double[23] TENS

cdef const unsigned char* read_number(const unsigned char* p, double* out) noexcept nogil


cdef inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t* low) noexcept nogil:
    """The upper half of a * b; the lower goes to `low`."""
    cdef uint64_t mask = 0xFFFFFFFF
    cdef uint64_t p = (a & mask) * (b & mask), q = (a >> 32) * (b & mask), r = (a & mask) * (b >> 32)
    cdef uint64_t middle = (p >> 32) + (q & mask) + (r & mask)
    low[0] = middle << 32 | p & mask
    return (a >> 32) * (b >> 32) + (q >> 32) + (r >> 32) + (middle >> 32)


cdef inline int64_t eight_digits(const unsigned char* p, uint64_t* number) noexcept nogil:
    """Read up to eight digits at once, lowest byte first; returns how many."""
    cdef uint64_t bytes_ = <uint64_t>0x01010101 << 32 | 0x01010101
    cdef uint64_t word, others, n
    memcpy(&word, p, 8)
    word ^= bytes_ * 0x30
    others = (word + bytes_ * 0x76 | word) & bytes_ * 0x80        # the highest bit of each byte that is not a digit
    # how many bytes lie before the first of them: one bit for each byte up to there, added up by the multiplication
    n = (((others & 0 - others) - 1 & bytes_) * bytes_ >> 56) - (others != 0)
    if n == 0:
        return 0
    number[0] = sum_of_digits(word << 64 - 8 * n)
    return n


cdef inline uint64_t sum_of_digits(uint64_t word) noexcept nogil:
    """The number whose eight digits are the bytes of a word, the highest digit in the lowest byte."""
    cdef uint64_t pairs = <uint64_t>0xFF << 32 | 0xFF
    cdef uint64_t high = <uint64_t>1000000 << 32 | 100, low = <uint64_t>10000 << 32 | 1
    word = word * 10 + (word >> 8)                              # pairs of digits, then fours, then all
    return ((word & pairs) * high + (word >> 16 & pairs) * low) >> 32


cdef inline uint64_t decimal_value(const char* p, int64_t n) noexcept nogil:
    """The number of which n bytes are the decimal form, where that has up to eight digits; else NO_DECIMAL."""
    cdef uint64_t bytes_ = <uint64_t>0x01010101 << 32 | 0x01010101, word = 0
    cdef uint32_t first, last
    if n < 1 or n > 8 or (p[0] == c'0' and n > 1):
        return NO_DECIMAL
    if n < 4:
        word = <unsigned char>p[0] | <uint64_t><unsigned char>p[n >> 1] << 8 * (n >> 1)
        word |= <uint64_t><unsigned char>p[n - 1] << 8 * (n - 1)
    else:
        memcpy(&first, p, 4)
        memcpy(&last, p + n - 4, 4)
        word = first | <uint64_t>last << 8 * (n - 4)
    word = (word ^ bytes_ * 0x30) << 64 - 8 * n
    return NO_DECIMAL if (word + bytes_ * 0x76 | word) & bytes_ * 0x80 else sum_of_digits(word)


cdef inline const unsigned char* quick_number(const unsigned char* p, double* out) noexcept nogil:
    """read_number(), quicker for digits, a point and up to seven digits; PADDING_BYTES behind it must be readable."""
    cdef const unsigned char* start = p
    cdef uint64_t mantissa = 0, eight = 0
    cdef int64_t n
    while <unsigned char>(p[0] - c'0') < 10:
        mantissa = mantissa * 10 + (p[0] - c'0')
        p += 1
    if p[0] == c'.' and 0 < p - start < 8 and LITTLE:
        p += 1
        n = eight_digits(p, &eight)
        p += n
        if p[0] <= 32 and n < 8 and (p[0] == 32 or 9 <= p[0] <= 13):
            out[0] = <double><int64_t>(mantissa * POWERS[n] + eight) / TENS[n]
            return p
    return read_number(start, out)
