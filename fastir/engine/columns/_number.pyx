"""Decimal text to the nearest double, as float() would read it, without locale, objects or the GIL.

    -17.386701e-3   ->   mantissa 17386701 (up to 19 digits), exponent -9, sign

A mantissa below 2^53 with a power of ten that a double holds exactly needs one rounding: a multiplication or division.
Otherwise the product of mantissa and a 128-bit power of five decides the rounding, with an integer multiplication or
two (Lemire, "Number parsing at a gigabyte per second", 2021). The remaining cases (more digits, subnormal results,
exponents beyond the table, a product too near to a tie) go to slow_number, which is float() itself behind a stricter
grammar: no underscores, no Unicode digits, no NaN.
"""

from libc.math cimport HUGE_VAL
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

import numpy as np

from fastir.engine.columns._ids cimport Ids, Text, read

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    MIN_EXPONENT = -80  # powers of five in the table; more than any score that occurs needs
    MAX_EXPONENT = 80
    TOKEN_BYTES = 64    # bytes of a number that is read in place

cdef uint64_t[MAX_EXPONENT - MIN_EXPONENT + 1] HIGH
cdef uint64_t[MAX_EXPONENT - MIN_EXPONENT + 1] LOW


cdef fill_tables():
    """5^q for all q, scaled so that the highest of 128 bits is set; cut off, but rounded up for q from -27 to -1."""
    for i in range(23):
        TENS[i] = float(10 ** i)
    for i in range(9):
        POWERS[i] = 10 ** i
    for q in range(MIN_EXPONENT, MAX_EXPONENT + 1):
        power = 5 ** abs(q)
        if q < 0:
            bits = power.bit_length()
            power = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // power + 1
        shift = power.bit_length() - 128
        power = power >> shift if shift > 0 else power << -shift
        HIGH[q - MIN_EXPONENT] = power >> 64
        LOW[q - MIN_EXPONENT] = power & 0xFFFFFFFFFFFFFFFF


fill_tables()
cdef uint64_t one = 1
LITTLE = (<unsigned char*>&one)[0] == 1


cdef bint nearest_double(uint64_t mantissa, int64_t exponent, double* out) noexcept nogil:
    """mantissa * 10^exponent, rounded to nearest, ties to even; False if 128 bits do not decide the rounding."""
    cdef uint64_t high, low, second, m, bits
    cdef int64_t zeros = 0, binary, upper, shift
    if exponent < MIN_EXPONENT or exponent > MAX_EXPONENT:
        return False
    while not mantissa >> 63:
        mantissa <<= 1
        zeros += 1
    high = multiply(mantissa, HIGH[exponent - MIN_EXPONENT], &low)
    if high & 0x1FF == 0x1FF:
        second = multiply(mantissa, LOW[exponent - MIN_EXPONENT], &bits)
        low += second
        high += low < second
        if low == <uint64_t>0xFFFFFFFFFFFFFFFF:
            return False
    upper = high >> 63
    shift = upper + 9
    m = high >> shift
    # floor(exponent * log2(10)) + 63, in fixed point
    binary = ((217706 * exponent) >> 16) + 63 + upper - zeros + 1023
    if binary <= 0 or binary >= 2046:
        return False
    if low <= 1 and -4 <= exponent <= 23 and m & 3 == 1 and m << shift == high:
        m ^= 1
    m += m & 1
    m >>= 1
    if m >> 53:
        m >>= 1
        binary += 1
    bits = (m & (<uint64_t>0xFFFFFFFFFFFFF)) | <uint64_t>binary << 52
    memcpy(out, &bits, 8)
    return True


cdef const unsigned char* read_number(const unsigned char* p, double* out) noexcept nogil:
    """Read a number that ends at white space; returns its end, or NULL if slow_number must decide."""
    cdef const unsigned char* start
    cdef const unsigned char* digits
    cdef uint64_t mantissa = 0
    cdef int64_t n, exponent = 0, e = 0
    cdef bint negative = p[0] == c'-', below
    p += negative or p[0] == c'+'
    digits = p
    while <unsigned char>(p[0] - c'0') < 10:
        mantissa = mantissa * 10 + (p[0] - c'0')
        p += 1
    n = p - digits
    if p[0] == c'.':
        p += 1
        start = p
        while <unsigned char>(p[0] - c'0') < 10:
            mantissa = mantissa * 10 + (p[0] - c'0')
            p += 1
        exponent = start - p
        n -= exponent
    if n == 0:
        return NULL
    if n > 19:                  # leading zeros do not count
        start = digits
        while start[0] == c'0' or start[0] == c'.':
            n -= start[0] == c'0'
            start += 1
        if n > 19:
            return NULL
    if p[0] | 32 == c'e':
        p += 1
        below = p[0] == c'-'
        p += below or p[0] == c'+'
        start = p
        while <unsigned char>(p[0] - c'0') < 10 and p - start < 5:      # slow_number has longer ones
            e = e * 10 + (p[0] - c'0')
            p += 1
        if p == start:
            return NULL
        exponent += -e if below else e
    if p[0] > 32 or not (p[0] == 32 or 9 <= p[0] <= 13):
        return NULL
    if mantissa >> 53 == 0 and -22 <= exponent <= 22:       # both are exact doubles: one operation, one rounding
        out[0] = <double>mantissa / TENS[-exponent] if exponent < 0 else <double>mantissa * TENS[exponent]
    elif mantissa == 0:
        out[0] = 0.0
    elif not nearest_double(mantissa, exponent, out):
        return NULL
    if negative:
        out[0] = -out[0]
    return p


def slow_number(bytes token):
    """A decimal or an infinity in ASCII, as Python reads it; None for others, "overflow" beyond the largest double."""
    text = token.decode("ascii", "replace").lower()
    bare = text.lstrip("+-")
    if len(text) - len(bare) > 1:
        return None
    if bare in ("inf", "infinity"):
        return float(text)
    if not bare or any(c not in "0123456789.e+-" for c in bare):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return "overflow" if value in (HUGE_VAL, -HUGE_VAL) else value


def fast_number(bytes token):
    """The result of read_number for a token: a float, or None if slow_number must decide. For tests."""
    cdef double value
    cdef bytes ended = token + b"\n" * (1 + PADDING_BYTES)
    cdef const unsigned char* p = <const unsigned char*><char*>ended
    return value if quick_number(p, &value) == p + len(token) else None


def numbers_from_texts(Ids ids):
    """The numbers that a column of texts spells, blanks around them aside, as float64.

    Then the first row whose text is not a number, -1 if there is none; and why: "number" or "overflow".
    """
    cdef int64_t i, n = ids.column.n
    cdef Text text
    cdef unsigned char[TOKEN_BYTES] token
    numbers = np.empty(n)
    cdef double[::1] out = numbers
    for i in range(n):
        read(&ids.column, i, 1, &text)
        while text.length and text.start[0] in b" \t":
            text.start += 1
            text.length -= 1
        while text.length and text.start[text.length - 1] in b" \t":
            text.length -= 1
        if text.length < TOKEN_BYTES:
            memcpy(token, text.start, text.length)
            token[text.length] = c"\n"
            if read_number(token, &out[i]) == token + text.length:
                continue
        value = slow_number(text.start[:text.length])
        if value is None or value == "overflow":
            return numbers, i, value or "number"
        out[i] = value
    return numbers, -1, ""


def rows_from_text(bytes content, int64_t start, int64_t n_columns):
    """The rows of lines with an id and numbers, with tabs between, from a position on; line breaks at the end aside.

    Returns
    -------
    ids : list of str, or None
        None if a line has another number of fields, or a field is not a number as float() reads it.
    values : float64 array of shape (n_rows, n_columns)
    """
    cdef const unsigned char* begin = content
    cdef const unsigned char* p = begin + start
    cdef const unsigned char* stop = begin + len(content)
    cdef const unsigned char* end
    cdef const unsigned char* field
    cdef int64_t row = 0, c
    cdef unsigned char mark
    cdef double[:, ::1] out
    while stop > p and ((stop - 1)[0] == 10 or (stop - 1)[0] == 13):
        stop -= 1
    if stop == p:
        return [], np.empty((0, n_columns))
    n_rows = content.count(b"\n", start, stop - begin) + 1
    ids, values = [None] * n_rows, np.empty((n_rows, n_columns))
    out = values
    while p <= stop:
        end = p
        while end < stop and end[0] != 9 and end[0] != 10:
            end += 1
        if end == stop or end[0] == 10:
            return None, values
        ids[row] = p[:end - p].decode("utf-8", "surrogateescape")
        for c in range(n_columns):
            p = end + 1
            mark = 10 if c == n_columns - 1 else 9
            field = read_number(p, &out[row, c])
            if field == NULL or not (field == stop or field < stop and field[0] == mark):
                field = p
                while field < stop and field[0] != 9 and field[0] != 10:
                    field += 1
                if field < stop and field[0] != mark or field == stop and mark == 9:
                    return None, values
                try:
                    out[row, c] = float(p[:field - p].decode("utf-8", "surrogateescape"))
                except ValueError:
                    return None, values
            elif field == stop and mark == 9:
                return None, values
            end = field
        row += 1
        p = end + 1
    return ids, values


cdef const unsigned char* behind(const unsigned char* p, const unsigned char* stop, unsigned char mark) noexcept nogil:
    """What follows this character, blanks of JSON before it aside; NULL if another one is there."""
    while p < stop and (p[0] == 32 or p[0] == 10 or p[0] == 13 or p[0] == 9):
        p += 1
    return p + 1 if p < stop and p[0] == mark else NULL


cdef const unsigned char* end_of_string(const unsigned char* p, const unsigned char* stop) noexcept nogil:
    """The quotation mark that ends the string of JSON from p on, or stop."""
    while p < stop and p[0] != c'"':
        p += 1 + (p[0] == c'\\')
    return min(p, stop)


cdef read_value(const unsigned char* p, int64_t n, double* out):
    """A number of JSON, or null, which is NaN; returns whether it is one."""
    cdef unsigned char[TOKEN_BYTES] token
    if n < TOKEN_BYTES:
        memcpy(token, p, n)
        token[n] = c"\n"
        if read_number(token, out) == token + n:
            return True
    text = p[:n]
    value = "nan" if text in (b"null", b"NaN") else slow_number(text)
    if value is None or value == "overflow":
        return False
    out[0] = float(value)
    return True


def rows_from_objects(bytes content, int64_t start):
    """The rows of an object of JSON ``{id: {name: number, ...}, ...}`` whose inner objects have the same names.

    Returns
    -------
    tuple
        The ids as bytes of JSON strings, the names likewise, the float64 values of shape (n_rows, n_names), and where
        the object ends; or None if it is another one, of which rows that are dicts say what is wrong.
    """
    cdef const unsigned char* begin = content
    cdef const unsigned char* stop = begin + len(content)
    cdef const unsigned char* p = behind(begin + start, stop, c"{")
    cdef const unsigned char* end
    cdef int64_t width = 0, row = 0, column
    cdef list ids = [], names = []
    cdef bytes name
    cdef double[:, ::1] out = np.empty((64, 1))
    while True:
        if not row & 4095:
            PyErr_CheckSignals()
        p = NULL if p == NULL else behind(p, stop, c'"')
        if p == NULL:
            return None
        end = end_of_string(p, stop)
        ids.append(p[:end - p])
        p = behind(end, stop, c'"')
        p = NULL if p == NULL else behind(p, stop, c":")
        p = NULL if p == NULL else behind(p, stop, c"{")
        column = 0
        while True:
            p = NULL if p == NULL else behind(p, stop, c'"')
            if p == NULL:
                return None
            end = end_of_string(p, stop)
            if row == 0:
                names.append(p[:end - p])
                out = longer(out, 64, column + 1)
            elif column == width:
                return None
            name = names[column]
            if end - p != len(name) or memcmp(p, <const char*>name, end - p):
                return None
            p = behind(end, stop, c'"')
            p = NULL if p == NULL else behind(p, stop, c":")
            if p == NULL:
                return None
            while p < stop and (p[0] == 32 or p[0] == 10 or p[0] == 13 or p[0] == 9):
                p += 1
            end = p
            while end < stop and end[0] > 32 and end[0] != c"," and end[0] != c"}":
                end += 1
            if not read_value(p, end - p, &out[row, column]):
                return None
            column += 1
            p = behind(end, stop, c",")
            if p == NULL:
                break
        width = column if row == 0 else width
        p = behind(end, stop, c"}")
        if p == NULL or column != width:
            return None
        row += 1
        end = behind(p, stop, c",")
        if end == NULL:
            break
        p = end
        if row == out.shape[0]:
            out = longer(out, 2 * row, width)
    p = behind(p, stop, c"}")
    return None if p == NULL else (ids, names, np.asarray(out)[:row].copy(), p - begin)


cdef longer(const double[:, ::1] old, int64_t n, int64_t width):
    """A copy with room for n rows of `width`."""
    new = np.empty((n, width))
    new[:old.shape[0], :min(old.shape[1], width)] = old[:, :min(old.shape[1], width)]
    return new
