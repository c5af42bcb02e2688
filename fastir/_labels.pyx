"""Columns of labels, read group by group whatever their dtype and stride, and the checks of their numbers.

Labels are narrowed to bytes, which int8 are already and are read in place; -2 stands for all that are below. A group
with a label above 127 is read as 32 bits, and everything else works on either:

    list_hits       labels in rank order: 64 bytes become a mask, and only its set bits are looked at
    count_labels    the judgments that a group's own labels are: labels up to 7 are counted in the bytes of one word
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyObject_GetBuffer
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from fastir._measure cimport RELEVANT, Judgments, label_code, sort_labels

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #endif
    #ifdef _MSC_VER
    #include <intrin.h>
    static __inline int fastir_first_bit(uint64_t x) { unsigned long i; _BitScanForward64(&i, x); return (int)i; }
    #else
    #define fastir_first_bit(x) __builtin_ctzll(x)
    #endif

    /* Of 64 labels: a bit for each above 0, and a bit for each below. */
    static inline void fastir_signs(const int8_t *p, uint64_t *above, uint64_t *below) {
        uint64_t a = 0, b = 0;
    #if defined(__SSE2__) || defined(_M_X64)
        const __m128i zero = _mm_setzero_si128();
        for (int i = 0; i < 4; i++) {
            __m128i v = _mm_loadu_si128((const __m128i *)(p + 16 * i));
            a |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpgt_epi8(v, zero)) << 16 * i;
            b |= (uint64_t)(unsigned)_mm_movemask_epi8(v) << 16 * i;
        }
    #else
        for (int i = 0; i < 64; i++) {
            a |= (uint64_t)(p[i] > 0) << i;
            b |= (uint64_t)(p[i] < 0) << i;
        }
    #endif
        *above = a;
        *below = b;
    }
    """
    int fastir_first_bit(uint64_t x) noexcept nogil
    void fastir_signs(const int8_t* p, uint64_t* above, uint64_t* below) noexcept nogil

cdef enum:
    TINY = 7

KINDS = ("int8", "int32", "int64", "float32", "float64")

ctypedef fused number:
    int8_t
    int32_t
    int64_t
    float
    double


cdef int open_column(Column* column, Py_buffer* buffer, array) except -1:
    """Fill a Column; the buffer is released by the caller."""
    PyObject_GetBuffer(array, buffer, PyBUF_STRIDES | PyBUF_FORMAT)
    column.data = <const char*>buffer.buf
    column.n = buffer.shape[0]
    column.step = buffer.strides[0] // buffer.itemsize
    column.kind = KINDS.index(array.dtype.name)
    return 0


cdef int read_as(const number* p, int64_t step, int64_t n, int8_t* bytes, int32_t* wide) noexcept nogil:
    """Labels as bytes: 0, 1 where one is above 127 and all are in `wide`, 2 where one is no whole number of 32 bits."""
    cdef int64_t i
    cdef int large = 0, bad = 0
    cdef int32_t label
    for i in range(n):
        if number is float or number is double:
            label = <int32_t>p[i * step] if -2147483648.0 <= p[i * step] <= 2147483647.0 else 0
            bad |= label != p[i * step]
        elif number is int64_t:
            label = <int32_t>p[i * step]
            bad |= label != p[i * step]
        else:
            label = p[i * step]
        large |= label > 127
        bytes[i] = <int8_t>(label if label > -2 else -2)
    if large and not bad:
        for i in range(n):
            wide[i] = <int32_t>p[i * step]
    return 2 if bad else large


cdef bint read_labels(const Column* column, int64_t first, int64_t n, int8_t* bytes, int32_t* wide,
                      Labels* labels) noexcept nogil:
    """Read the labels of a group; whether one is no whole number of 32 bits."""
    cdef int outcome
    cdef int64_t step = column.step
    cdef const char* p = column.data
    labels.n = n
    if column.kind == 0 and step == 1:
        labels.bytes = <const int8_t*>p + first
        labels.padded = first + n + TAIL <= column.n
        return False
    first *= step
    if column.kind == 0:
        outcome = read_as(<const int8_t*>p + first, step, n, bytes, wide)
    elif column.kind == 1:
        outcome = read_as(<const int32_t*>p + first, step, n, bytes, wide)
    elif column.kind == 2:
        outcome = read_as(<const int64_t*>p + first, step, n, bytes, wide)
    elif column.kind == 3:
        outcome = read_as(<const float*>p + first, step, n, bytes, wide)
    else:
        outcome = read_as(<const double*>p + first, step, n, bytes, wide)
    labels.bytes = bytes if outcome == 0 else NULL
    labels.wide = wide
    labels.padded = True
    return outcome == 2


cdef inline void signs_of(const Labels* labels, int64_t start, uint64_t* above, uint64_t* below) noexcept nogil:
    """fastir_signs of the labels from `start` on, without those behind the last."""
    cdef int8_t last[TAIL]
    cdef int64_t left = labels.n - start
    if left >= TAIL or labels.padded:
        fastir_signs(labels.bytes + start, above, below)
    else:
        memcpy(last, labels.bytes + start, left)
        fastir_signs(last, above, below)
    if left < TAIL:
        above[0] &= (<uint64_t>1 << left) - 1
        below[0] &= (<uint64_t>1 << left) - 1


cdef int64_t list_hits(const Labels* labels, int reads, int64_t* ranks, int32_t* found, int64_t* negative) noexcept nogil:
    """The hits among labels in rank order; how many."""
    cdef int64_t i, start, n_hits = 0
    cdef uint64_t above, below
    cdef int32_t label
    if labels.bytes != NULL and reads == RELEVANT:
        start = 0
        while start < labels.n:
            signs_of(labels, start, &above, &below)
            while above:
                i = start + fastir_first_bit(above)
                ranks[n_hits] = i + 1
                found[n_hits] = labels.bytes[i]
                n_hits += 1
                above &= above - 1
            while below:
                negative[0] += 1
                below &= below - 1
            start += TAIL
        return n_hits
    for i in range(labels.n):
        label = label_at(labels, i)
        negative[0] += label < 0
        if counts(label, reads):
            ranks[n_hits] = i + 1
            found[n_hits] = label_code(label)
            n_hits += 1
    return n_hits


cdef void count_labels(const Labels* labels, int32_t* ideal, Judgments* known) noexcept nogil:
    """The judgments that a group's labels are, with room for as many in `ideal`."""
    cdef int64_t i, start, stop, n = labels.n, found = 0
    cdef int64_t sizes[256]
    cdef uint64_t packed
    cdef int32_t label, top = TINY
    cdef int bits = 0
    known.labels = ideal
    known.n_judged = known.n_pool = n
    if labels.bytes == NULL:
        known.n_judged = known.n_pool = 0
        for i in range(n):
            known.n_judged += labels.wide[i] >= 0
            known.n_pool += labels.wide[i] != -1
            ideal[found] = labels.wide[i]
            found += labels.wide[i] > 0
        known.n_positive = found
        sort_labels(ideal, found)
        return
    for i in range(n):
        bits |= labels.bytes[i]
    if 0 <= bits <= TINY:
        memset(sizes, 0, (TINY + 1) * sizeof(int64_t))
        for start in range(0, n, 255):
            stop = start + 255 if start + 255 < n else n
            packed = 0
            for i in range(start, stop):
                packed += <uint64_t>1 << 8 * labels.bytes[i]
            for label in range(1, TINY + 1):
                sizes[label] += <int64_t>(packed >> 8 * label & 255)
    else:
        top = 127
        memset(sizes, 0, sizeof(sizes))
        for i in range(n):
            sizes[labels.bytes[i] & 255] += 1
        for label in range(128, 256):
            known.n_judged -= sizes[label]
        known.n_pool -= sizes[255]
    for label in range(top, 0, -1):
        for i in range(sizes[label]):
            ideal[found] = label
            found += 1
    known.n_positive = found
