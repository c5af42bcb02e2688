# Ids as bytes, borrowed from a chunk of a file, an arena or a str: order, hash, the rows of one query; columns of ids.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcmp, memcpy


# The secret words of the hash, which _ids.pyx makes.
cdef uint64_t START     # where a hash begins
cdef uint64_t FACTOR    # what it is multiplied by; odd


cdef extern from *:
    """
    #include <stdint.h>
    #if defined(_MSC_VER) && defined(_M_X64)
    #include <intrin.h>
    #endif

    /* Both halves of the product of two words, combined by XOR. */
    static inline uint64_t fastir_fold(uint64_t x, uint64_t y) {
    #if defined(__SIZEOF_INT128__)
        unsigned __int128 product = (unsigned __int128)x * y;
        return (uint64_t)product ^ (uint64_t)(product >> 64);
    #elif defined(_MSC_VER) && defined(_M_X64)
        uint64_t high, low = _umul128(x, y, &high);
        return low ^ high;
    #else
        uint64_t a = x >> 32, b = (uint32_t)x, c = y >> 32, d = (uint32_t)y;
        uint64_t middle = a * d + (b * d >> 32), other = b * c + (uint32_t)middle;
        return x * y ^ (a * c + (middle >> 32) + (other >> 32));
    #endif
    }
    """
    uint64_t fold "fastir_fold"(uint64_t x, uint64_t y) noexcept nogil


cdef inline bint is_blank(unsigned char c) noexcept nogil:
    return c == 32 or 9 <= c <= 13


cdef struct Text:
    const char* start
    int64_t length


cdef struct Group:              # the rows of one query
    Text query
    Text* docs
    double* scores              # aligned with docs
    int64_t n, capacity


cdef inline int room_for_rows(Group* g, int64_t more) noexcept nogil:
    """Make room for `more` rows; 0, or -1 without memory."""
    cdef void* p
    cdef int64_t size = 2 * g.n + more + 1024
    if g.n + more <= g.capacity:
        return 0
    p = realloc(g.docs, size * sizeof(Text))
    if p == NULL:
        return -1
    g.docs = <Text*>p
    p = realloc(g.scores, size * sizeof(double))
    if p == NULL:
        return -1
    g.scores = <double*>p
    g.capacity = size
    return 0


cdef inline int compare(const Text* x, const Text* y) noexcept nogil:
    cdef int c = memcmp(x.start, y.start, x.length if x.length < y.length else y.length)
    if c:
        return c
    return (x.length > y.length) - (x.length < y.length)


cdef inline uint64_t last_word(const char* p, int64_t n) noexcept nogil:
    """The last 8 bytes as one word, or all of a shorter text: texts of one length up to 8 differ if their words do."""
    cdef uint64_t w = 0
    if n >= 8:
        memcpy(&w, p + n - 8, 8)
    elif n >= 4:
        memcpy(&w, p, 4)
        memcpy(<char*>&w + 4, p + n - 4, 4)
    elif n > 0:
        w = <unsigned char>p[0] | <uint64_t><unsigned char>p[n >> 1] << 8 | <uint64_t><unsigned char>p[n - 1] << 16
    return w


cdef inline void copy_text(const Text* text, char* out) noexcept nogil:
    """Copy the bytes; without a call for ids of usual length."""
    cdef const char* p = text.start
    cdef int64_t n = text.length
    if 8 <= n <= 16:
        memcpy(out, p, 8)
        memcpy(out + n - 8, p + n - 8, 8)
    elif 4 <= n < 8:
        memcpy(out, p, 4)
        memcpy(out + n - 4, p + n - 4, 4)
    else:
        memcpy(out, p, n)


cdef inline bint equal_words(const char* p, const char* q, int64_t n) noexcept nogil:
    """Whether all but the last 8 bytes are equal."""
    cdef uint64_t v = 0, w = 0
    while n > 8:
        memcpy(&v, p, 8)
        memcpy(&w, q, 8)
        if v != w:
            return False
        p += 8
        q += 8
        n -= 8
    return True


cdef inline bint equal(const Text* x, const Text* y) noexcept nogil:
    """Without a call for ids of usual length."""
    cdef int64_t n = x.length
    if n != y.length or last_word(x.start, n) != last_word(y.start, n):
        return False
    return equal_words(x.start, y.start, n)


cdef inline uint64_t mix(uint64_t h, uint64_t w) noexcept nogil:
    """A hash and one more word.

    The upper half of the product matters: without it, flipping the highest bits of two neighbouring words would leave
    the hash as it was, whatever the factor is.
    """
    return fold(h ^ w, FACTOR)


cdef inline uint64_t word_hash(uint64_t word) noexcept nogil:
    """text_hash() for the eight bytes of a word."""
    return mix(mix(START, word), START ^ 8)


cdef inline void hash_words(const uint64_t* words, int64_t n, uint64_t* hashes) noexcept nogil:
    """word_hash() of each; the secret words stay in registers, which no store can change."""
    cdef uint64_t start = START, factor = FACTOR
    cdef int64_t i
    for i in range(n):
        hashes[i] = fold(fold(start ^ words[i], factor) ^ start ^ 8, factor)


cdef inline uint64_t text_hash(const Text* text) noexcept nogil:
    """64 well-mixed bits; the last 8 bytes are read as one word, overlapping the one before.

    The length comes in a product of its own: added to a word, it could cancel a difference of the texts ("2", "12").
    """
    cdef const char* p = text.start
    cdef int64_t n = text.length
    cdef uint64_t length = n, h = START, w = 0, last = last_word(p, n)
    while n > 8:
        memcpy(&w, p, 8)
        h = mix(h, w)
        p += 8
        n -= 8
    return mix(mix(h, last), START ^ length)


cdef inline int compare_decimal(int64_t x, int64_t y) noexcept nogil:
    """Like compare() on how the two numbers are written."""
    cdef char a[24]
    cdef char b[24]
    cdef Text p, q
    p.start, q.start = a, b
    p.length, q.length = write_decimal(x, a), write_decimal(y, b)
    return compare(&p, &q)


cdef inline void write_digits(uint64_t number, int64_t n, char* out) noexcept nogil:
    """Write the last n, 1 to 8, digits of a number below 10^8, and 8 - n bytes more."""
    # pairs of lanes of 32, 16, then 8 bits: the first digit ends up lowest; all divisions by multiplying
    cdef uint64_t lanes = number // 10000 | number % 10000 << 32
    cdef uint64_t upper = lanes * 10486 >> 20 & 0x0000007F0000007FU
    lanes = upper | lanes - 100 * upper << 16
    upper = lanes * 103 >> 10 & 0x000F000F000F000FU
    lanes = (upper | lanes - 10 * upper << 8 | 0x3030303030303030U) >> 8 * (8 - n)
    out[0], out[1], out[2], out[3] = <char>lanes, <char>(lanes >> 8), <char>(lanes >> 16), <char>(lanes >> 24)
    out[4], out[5], out[6], out[7] = <char>(lanes >> 32), <char>(lanes >> 40), <char>(lanes >> 48), <char>(lanes >> 56)


cdef inline int64_t write_decimal(int64_t x, char* out) noexcept nogil:
    """Write a number in decimal; returns how many characters. Up to 7 bytes behind them are lost."""
    cdef uint64_t left = 0 - <uint64_t>x if x < 0 else <uint64_t>x, eight = 100000000
    cdef uint64_t first = left
    cdef int64_t n = x < 0, parts = 0, digits
    out[0] = c'-'
    while first >= eight:
        first //= eight
        parts += 1
    digits = (1 + (first >= 10) + (first >= 100) + (first >= 1000) + (first >= 10000) + (first >= 100000)
              + (first >= 1000000) + (first >= 10000000))
    write_digits(first, digits, out + n)
    n += digits
    if parts == 2:
        write_digits(left // eight % eight, 8, out + n)
        n += 8
    if parts > 0:
        write_digits(left % eight, 8, out + n)
        n += 8
    return n


# ---- a column of ids -------------------------------------------------------------------------------------------------
cdef extern from *:
    """
    /* The bytes of a str that is ASCII, or NULL: without a call where the layout of objects is known. */
    static inline const char *fastir_ascii(PyObject *string, Py_ssize_t *length) {
    #ifndef Py_LIMITED_API
        if (PyUnicode_IS_COMPACT_ASCII(string)) {
            *length = PyUnicode_GET_LENGTH(string);
            return (const char *)PyUnicode_DATA(string);
        }
    #endif
        return NULL;
    }
    """
    const char* ascii_bytes "fastir_ascii"(PyObject*, Py_ssize_t*) noexcept

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(PyObject*, Py_ssize_t*) noexcept
    void PyErr_Clear() noexcept


cdef enum:              # how the ids lie
    TEXTS               # places: Text[n]
    SPANS               # places: int64[n] into bytes, and their lengths
    OFFSETS32           # places: int32[n + 1] into bytes
    OFFSETS64           # places: int64[n + 1] into bytes
    VIEWS               # places: 16 bytes each, Arrow's string view; long ones lie in buffers
    INTEGERS            # places: int64[n]
    CODES               # places: int64[n] into entries


cdef struct Column:
    int kind
    bint integers                       # an id is the eight bytes of an int64
    int64_t n
    const char* bytes
    const void* places
    const int64_t* lengths
    const char** buffers
    Text* entries


cdef class Ids:
    cdef Column column
    cdef list kept                      # what owns all this


cdef inline bint held_text(PyObject* string, Text* out) noexcept:
    """The UTF-8 bytes of a str, which its object holds; False if it has surrogates. Runs no Python code."""
    cdef Py_ssize_t length = 0
    out.start = ascii_bytes(string, &length)
    if out.start == NULL:
        out.start = PyUnicode_AsUTF8AndSize(string, &length)
        if out.start == NULL:
            PyErr_Clear()
    out.length = length
    return out.start != NULL


cdef int borrow_text(PyObject* string, Text* out, list kept) except -1
cdef void read(const Column* column, int64_t first, int64_t n, Text* out) noexcept nogil
cdef int64_t same_until(const Column* column, int64_t first, int64_t stop) noexcept nogil
cdef Ids ids_from_buffers(int kind, const void* places, const void* data, const void** buffers, int64_t n_buffers,
                          int64_t n, object owner)
