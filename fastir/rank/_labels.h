/* Loops over labels, 16 at a time, for the instructions that every x86-64 has, and in plain C for the others.

narrow   labels as bytes, -2 for all below -1; how many of n were done, the rest is left to the caller. Adds to `bad`
         whether one is not a whole number of 32 bits, and to `large` whether one is above 127, whose byte is then wrong
count    how many of n bytes are a label
classify  labels that need not be whole, as bytes that compare with the levels as they do */

#include <stdint.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define FASTIR_SSE2
#endif
#ifdef FASTIR_SSE2
/* Sixteen labels of 32 bits as bytes; adds to `large`. */
static inline void fastir_pack(const __m128i *v, int8_t *bytes, __m128i *large)
{
    const __m128i least = _mm_set1_epi16(-2), most = _mm_set1_epi16(127);
    const __m128i a = _mm_packs_epi32(v[0], v[1]), b = _mm_packs_epi32(v[2], v[3]);
    *large = _mm_or_si128(*large, _mm_or_si128(_mm_cmpgt_epi16(a, most), _mm_cmpgt_epi16(b, most)));
    _mm_storeu_si128((__m128i *)bytes, _mm_packs_epi16(_mm_max_epi16(a, least), _mm_max_epi16(b, least)));
}

static inline int64_t fastir_narrow_f32(const float *p, int64_t n, int8_t *bytes, int *bad, int *large)
{
    __m128 wrong = _mm_setzero_ps();
    __m128i big = _mm_setzero_si128(), v[4];
    int64_t i;
    for (i = 0; i + 16 <= n; i += 16) {
        for (int j = 0; j < 4; j++) {
            const __m128 x = _mm_loadu_ps(p + i + 4 * j);
            v[j] = _mm_cvttps_epi32(x);
            wrong = _mm_or_ps(wrong, _mm_cmpneq_ps(_mm_cvtepi32_ps(v[j]), x));
        }
        fastir_pack(v, bytes + i, &big);
    }
    *bad |= _mm_movemask_ps(wrong);
    *large |= _mm_movemask_epi8(big);
    return i;
}

static inline int64_t fastir_narrow_f64(const double *p, int64_t n, int8_t *bytes, int *bad, int *large)
{
    __m128d wrong = _mm_setzero_pd();
    __m128i big = _mm_setzero_si128(), v[4];
    int64_t i;
    for (i = 0; i + 16 <= n; i += 16) {
        for (int j = 0; j < 4; j++) {
            const __m128d x = _mm_loadu_pd(p + i + 4 * j), y = _mm_loadu_pd(p + i + 4 * j + 2);
            const __m128i low = _mm_cvttpd_epi32(x), high = _mm_cvttpd_epi32(y);
            wrong = _mm_or_pd(wrong, _mm_cmpneq_pd(_mm_cvtepi32_pd(low), x));
            wrong = _mm_or_pd(wrong, _mm_cmpneq_pd(_mm_cvtepi32_pd(high), y));
            v[j] = _mm_unpacklo_epi64(low, high);
        }
        fastir_pack(v, bytes + i, &big);
    }
    *bad |= _mm_movemask_pd(wrong);
    *large |= _mm_movemask_epi8(big);
    return i;
}

static inline int64_t fastir_narrow_i32(const int32_t *p, int64_t n, int8_t *bytes, int *bad, int *large)
{
    __m128i big = _mm_setzero_si128(), v[4];
    int64_t i;
    (void)bad;
    for (i = 0; i + 16 <= n; i += 16) {
        for (int j = 0; j < 4; j++)
            v[j] = _mm_loadu_si128((const __m128i *)(p + i + 4 * j));
        fastir_pack(v, bytes + i, &big);
    }
    *large |= _mm_movemask_epi8(big);
    return i;
}

/* A number of 64 bits is one of 32 where its upper half repeats the sign of the lower. */
static inline int64_t fastir_narrow_i64(const int64_t *p, int64_t n, int8_t *bytes, int *bad, int *large)
{
    __m128i big = _mm_setzero_si128(), wrong = _mm_setzero_si128(), v[4];
    int64_t i;
    for (i = 0; i + 16 <= n; i += 16) {
        for (int j = 0; j < 4; j++) {
            const __m128 x = _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(p + i + 4 * j)));
            const __m128 y = _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(p + i + 4 * j + 2)));
            const __m128i upper = _mm_castps_si128(_mm_shuffle_ps(x, y, _MM_SHUFFLE(3, 1, 3, 1)));
            v[j] = _mm_castps_si128(_mm_shuffle_ps(x, y, _MM_SHUFFLE(2, 0, 2, 0)));
            wrong = _mm_or_si128(wrong, _mm_xor_si128(upper, _mm_srai_epi32(v[j], 31)));
        }
        fastir_pack(v, bytes + i, &big);
    }
    *bad |= _mm_movemask_epi8(_mm_cmpeq_epi32(wrong, _mm_setzero_si128())) != 0xffff;
    *large |= _mm_movemask_epi8(big);
    return i;
}
#else
#define fastir_narrow_f32(p, n, bytes, bad, large) ((int64_t)0)
#define fastir_narrow_f64(p, n, bytes, bad, large) ((int64_t)0)
#define fastir_narrow_i32(p, n, bytes, bad, large) ((int64_t)0)
#define fastir_narrow_i64(p, n, bytes, bad, large) ((int64_t)0)
#endif

static inline int64_t fastir_count(const int8_t *p, int64_t n, int8_t label)
{
    int64_t i = 0, total = 0;
#ifdef FASTIR_SSE2
    const __m128i wanted = _mm_set1_epi8(label), zero = _mm_setzero_si128();
    __m128i sums = zero;
    while (i + 16 <= n) {
        const int64_t stop = n - i < 255 * 16 ? n - 15 : i + 255 * 16;
        __m128i counts = zero;                  /* bytes, which hold up to 255 */
        for (; i < stop; i += 16)
            counts = _mm_sub_epi8(counts, _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(p + i)), wanted));
        sums = _mm_add_epi64(sums, _mm_sad_epu8(counts, zero));
    }
    sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
    _mm_storel_epi64((__m128i *)&total, sums);
#endif
    for (; i < n; i++)
        total += p[i] == label;
    return total;
}

/* The class of a label: 0 for 0, 1 above, and one more for each level that it reaches; -1 for -1, -2 for others below. */
static inline int8_t fastir_class(double x, const double *levels, int n_levels)
{
    int class = x > 0.0 ? 1 : x == 0.0 ? 0 : x == -1.0 ? -1 : -2;
    for (int j = 0; j < n_levels; j++)
        class += x >= levels[j];
    return (int8_t)class;
}

/* The classes of n labels, and the labels themselves to `values`, both of which have room up to a multiple of 16; adds
 * to `bad` whether one is outside [-2^31, most] or NaN, and to `fractions` how many are not whole. */
static inline void fastir_classify(const double *p, int64_t n, const double *levels, int n_levels, double most,
                                   double *values, int8_t *classes, int *bad, int64_t *fractions)
{
    int64_t i = 0;
#ifdef FASTIR_SSE2
    const __m128d zero = _mm_setzero_pd(), top = _mm_set1_pd(most);
    __m128d outside = zero, lowest = zero;
    __m128i parts = _mm_setzero_si128(), found[8];
    int64_t counts[2];
    for (; i + 16 <= n; i += 16) {
        __m128d below = zero, any = zero;
        for (int j = 0; j < 8; j++) {
            const __m128d x = _mm_loadu_pd(p + i + 2 * j);
            _mm_storeu_pd(values + i + 2 * j, x);
            any = _mm_or_pd(any, x);
        }
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_castpd_si128(any), _mm_setzero_si128())) == 0xffff) {
            _mm_storeu_si128((__m128i *)(classes + i), _mm_setzero_si128());    /* sixteen zeros, as most are */
            continue;
        }
        for (int j = 0; j < 8; j++) {
            const __m128d x = _mm_loadu_pd(values + i + 2 * j);
            __m128i class = _mm_castpd_si128(_mm_cmpgt_pd(x, zero));
            below = _mm_min_pd(x, below);
            outside = _mm_or_pd(outside, _mm_cmpnle_pd(x, top));
            parts = _mm_sub_epi64(parts, _mm_castpd_si128(_mm_cmpneq_pd(_mm_cvtepi32_pd(_mm_cvttpd_epi32(x)), x)));
            for (int l = 0; l < n_levels; l++)
                class = _mm_add_epi64(class, _mm_castpd_si128(_mm_cmpge_pd(x, _mm_set1_pd(levels[l]))));
            found[j] = class;                   /* counted downwards, in 64 bits */
        }
        if (_mm_movemask_pd(below)) {
            lowest = _mm_min_pd(lowest, below);
            for (int j = 0; j < 16; j++)
                classes[i + j] = fastir_class(values[i + j], levels, n_levels);
        } else {
            __m128i v[4];
            for (int j = 0; j < 4; j++)
                v[j] = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(found[2 * j]),
                                                       _mm_castsi128_ps(found[2 * j + 1]), _MM_SHUFFLE(2, 0, 2, 0)));
            _mm_storeu_si128((__m128i *)(classes + i), _mm_sub_epi8(_mm_setzero_si128(), _mm_packs_epi16(
                _mm_packs_epi32(v[0], v[1]), _mm_packs_epi32(v[2], v[3]))));
        }
    }
    _mm_storeu_si128((__m128i *)counts, parts);
    *fractions += counts[0] + counts[1];
    *bad |= _mm_movemask_pd(_mm_or_pd(outside, _mm_cmplt_pd(lowest, _mm_set1_pd(-2147483648.0))));
#endif
    for (; i < n; i++) {
        const double x = values[i] = p[i];
        const int inside = x >= -2147483648.0 && x <= most;
        *bad |= !inside;
        *fractions += inside && x != (double)(int32_t)x;
        classes[i] = fastir_class(x, levels, n_levels);
    }
}
