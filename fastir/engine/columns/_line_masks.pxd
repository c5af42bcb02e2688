# Where the fields of a short line begin and end: a bit for each of 64 bytes, with the 16-byte words that all have.
from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include "_bits.h"
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #define FASTIR_LINE_MASKS 1

    static inline uint64_t fastir_bits(__m128i a, __m128i b, __m128i c, __m128i d)
    {
        uint32_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
        uint32_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
        return low | (uint64_t)high << 32;
    }

    /* Which of 64 bytes are at most `most`. */
    static inline uint64_t fastir_up_to(const unsigned char *p, int most)
    {
        const __m128i limit = _mm_set1_epi8((char)most);
        __m128i v[4];
        for (int i = 0; i < 4; i++) {
            v[i] = _mm_loadu_si128((const __m128i *)p + i);
            v[i] = _mm_cmpeq_epi8(_mm_min_epu8(v[i], limit), v[i]);
        }
        return fastir_bits(v[0], v[1], v[2], v[3]);
    }

    /* Which of 64 bytes are `one`. */
    static inline uint64_t fastir_equal_to(const unsigned char *p, int one)
    {
        const __m128i same = _mm_set1_epi8((char)one);
        __m128i v[4];
        for (int i = 0; i < 4; i++)
            v[i] = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p + i), same);
        return fastir_bits(v[0], v[1], v[2], v[3]);
    }
    /* A bit for the first of 16 bytes that is no digit; the next bit if all are. */
    static inline uint64_t fastir_behind_digits(const unsigned char *p)
    {
        __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
        uint32_t digits = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v));
        return digits + 1 & ~digits;
    }
    #else
    #define FASTIR_LINE_MASKS 0
    static inline uint64_t fastir_behind_digits(const unsigned char *p) { return (unsigned)(*p - '0') > 9; }
    static inline uint64_t fastir_up_to(const unsigned char *p, int most) { return *p <= most; }
    static inline uint64_t fastir_equal_to(const unsigned char *p, int one) { return *p == one; }
    #endif
    """
    bint HAS_LINE_MASKS "FASTIR_LINE_MASKS"
    uint64_t up_to "fastir_up_to"(const unsigned char*, int most) noexcept nogil
    uint64_t equal_to "fastir_equal_to"(const unsigned char*, int one) noexcept nogil
    uint64_t behind_digits "fastir_behind_digits"(const unsigned char*) noexcept nogil
    int lowest "fastir_lowest"(uint64_t) noexcept nogil
