# Where the fields of a short line begin and end: a bit for each of 64 bytes, with the 16-byte words that all have.
from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #if defined(_MSC_VER)
    #include <intrin.h>
    #endif
    #define FASTIR_LINE_MASKS 1

    static inline uint64_t fastir_bits(__m128i a, __m128i b, __m128i c, __m128i d)
    {
        uint32_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
        uint32_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
        return low | (uint64_t)high << 32;
    }

    /* Which of 64 bytes are blank or below, up to ' ', and which of these are neither blank nor tab. */
    static inline uint64_t fastir_line_masks(const unsigned char *p, uint64_t *controls)
    {
        const __m128i blank = _mm_set1_epi8(32), below = _mm_set1_epi8(31), tab = _mm_set1_epi8(9);
        __m128i blanks[4], others[4];
        for (int i = 0; i < 4; i++) {
            const __m128i v = _mm_loadu_si128((const __m128i *)p + i);
            blanks[i] = _mm_cmpeq_epi8(_mm_min_epu8(v, blank), v);
            others[i] = _mm_andnot_si128(_mm_cmpeq_epi8(v, tab), _mm_cmpeq_epi8(_mm_min_epu8(v, below), v));
        }
        *controls = fastir_bits(others[0], others[1], others[2], others[3]);
        return fastir_bits(blanks[0], blanks[1], blanks[2], blanks[3]);
    }
    #else
    #define FASTIR_LINE_MASKS 0
    static inline uint64_t fastir_line_masks(const unsigned char *p, uint64_t *controls) { return *controls = *p; }
    #endif

    /* The place of the lowest bit that is set; one is. */
    static inline int fastir_lowest(uint64_t bits)
    {
    #if defined(_MSC_VER) && defined(_M_X64)
        unsigned long place;
        _BitScanForward64(&place, bits);
        return (int)place;
    #elif defined(__GNUC__)
        return __builtin_ctzll(bits);
    #else
        int place = 0;
        while (!(bits >> place & 1))
            place++;
        return place;
    #endif
    }
    """
    bint HAS_LINE_MASKS "FASTIR_LINE_MASKS"
    uint64_t line_masks "fastir_line_masks"(const unsigned char*, uint64_t* controls) noexcept nogil
    int lowest "fastir_lowest"(uint64_t) noexcept nogil
