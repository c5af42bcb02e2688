/* Loops over labels, 16 at a time, for the instructions that every x86-64 has, and in plain C for the others.

narrow   labels as bytes, -2 for all below -1; how many of n were done, the rest is left to the caller. Adds to `bad`
         whether one is not a whole number of 32 bits, and to `large` whether one is above 127, whose byte is then wrong
count    how many of n bytes are a label
classify  labels that need not be whole, as bytes that compare with the levels as they do
keys     labels as numbers of 16 bits that rise with them, by which the few that may be the best are found */

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define FASTIR_SSE2
#endif
#ifdef FASTIR_SSE2
/* Sixteen labels of 16 bits as bytes; adds to `large`. */
static inline void fastir_pack_16(__m128i a, __m128i b, int8_t *bytes, __m128i *large)
{
    const __m128i least = _mm_set1_epi16(-2), most = _mm_set1_epi16(127);
    *large = _mm_or_si128(*large, _mm_or_si128(_mm_cmpgt_epi16(a, most), _mm_cmpgt_epi16(b, most)));
    _mm_storeu_si128((__m128i *)bytes, _mm_packs_epi16(_mm_max_epi16(a, least), _mm_max_epi16(b, least)));
}

/* Sixteen labels of 32 bits. */
static inline void fastir_pack(const __m128i *v, int8_t *bytes, __m128i *large)
{
    fastir_pack_16(_mm_packs_epi32(v[0], v[1]), _mm_packs_epi32(v[2], v[3]), bytes, large);
}

static inline int64_t fastir_narrow_i16(const int16_t *p, int64_t n, int8_t *bytes, int *bad, int *large)
{
    __m128i big = _mm_setzero_si128();
    int64_t i;
    (void)bad;
    for (i = 0; i + 16 <= n; i += 16)
        fastir_pack_16(_mm_loadu_si128((const __m128i *)(p + i)), _mm_loadu_si128((const __m128i *)(p + i + 8)),
                       bytes + i, &big);
    *large |= _mm_movemask_epi8(big);
    return i;
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
#define fastir_narrow_i16(p, n, bytes, bad, large) ((int64_t)0)
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
    const __m128d big = _mm_set1_pd(6755399441055744.0);        /* 3 * 2^51: a sum with it has no fraction */
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
            parts = _mm_sub_epi64(parts, _mm_castpd_si128(_mm_cmpneq_pd(_mm_sub_pd(_mm_add_pd(x, big), big), x)));
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

#define FASTIR_LANES 32

/* The upper half of a label as a float: of two labels the larger one has no smaller key; a negative label's is below 0. */
static inline int16_t fastir_key(double label)
{
    const float narrow = (float)label;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return (int16_t)(bits >> 16);
}

/* The keys of n labels, and -2^15 behind them up to a multiple of FASTIR_LANES. */
static inline void fastir_keys(const double *p, int64_t n, int16_t *keys)
{
    int64_t i = 0;
#ifdef FASTIR_SSE2
    for (; i + 8 <= n; i += 8) {
        __m128i v[2];
        for (int j = 0; j < 2; j++) {
            const __m128 low = _mm_cvtpd_ps(_mm_loadu_pd(p + i + 4 * j));
            const __m128 high = _mm_cvtpd_ps(_mm_loadu_pd(p + i + 4 * j + 2));
            v[j] = _mm_srai_epi32(_mm_castps_si128(_mm_movelh_ps(low, high)), 16);
        }
        _mm_storeu_si128((__m128i *)(keys + i), _mm_packs_epi32(v[0], v[1]));
    }
#endif
    for (; i < n; i++)
        keys[i] = fastir_key(p[i]);
    for (; i % FASTIR_LANES; i++)
        keys[i] = INT16_MIN;
}

#define FASTIR_FEW 10       /* ranks for which half as many lanes do */

/* A key that at least k of n keys are not below, which are not below 0, for k up to FASTIR_LANES: dealt out to lanes, of
 * which each keeps its largest, it is the k-th largest of these. */
static inline int fastir_kth_key(const int16_t *keys, int64_t n, int k)
{
    int16_t best[FASTIR_LANES];
#ifdef FASTIR_SSE2
    const int parts = k <= FASTIR_FEW ? 2 : 4;
    __m128i lanes[4], above[4], bound = _mm_set1_epi16(INT16_MIN);
    for (int j = 0; j < 4; j++)
        lanes[j] = _mm_loadu_si128((const __m128i *)(keys + 8 * j));
    for (int64_t i = FASTIR_LANES; i < n; i += FASTIR_LANES)
        for (int j = 0; j < 4; j++)
            lanes[j] = _mm_max_epi16(lanes[j], _mm_loadu_si128((const __m128i *)(keys + i + 8 * j)));
    for (int j = 0; j < 4; j++)
        above[j] = _mm_set1_epi16((int16_t)(8 * parts - k + 1));
    if (parts == 2)
        for (int j = 0; j < 2; j++)
            lanes[j] = _mm_max_epi16(lanes[j], lanes[j + 2]);
    for (int j = 0; j < parts; j++)
        _mm_storeu_si128((__m128i *)(best + 8 * j), lanes[j]);
    for (int i = 0; i < 8 * parts; i++) {
        const __m128i key = _mm_set1_epi16(best[i]);
        above[0] = _mm_add_epi16(above[0], _mm_cmplt_epi16(key, lanes[0]));     /* one less for each that it is above */
        above[1] = _mm_add_epi16(above[1], _mm_cmplt_epi16(key, lanes[1]));
        if (parts == 4) {
            above[2] = _mm_add_epi16(above[2], _mm_cmplt_epi16(key, lanes[2]));
            above[3] = _mm_add_epi16(above[3], _mm_cmplt_epi16(key, lanes[3]));
        }
    }
    for (int j = 0; j < parts; j++) {               /* the largest that at least k reach */
        const __m128i reached = _mm_cmpgt_epi16(above[j], _mm_setzero_si128());
        bound = _mm_max_epi16(bound, _mm_or_si128(_mm_and_si128(reached, lanes[j]),
                                                  _mm_andnot_si128(reached, _mm_set1_epi16(INT16_MIN))));
    }
    bound = _mm_max_epi16(bound, _mm_srli_si128(bound, 8));
    bound = _mm_max_epi16(bound, _mm_srli_si128(bound, 4));
    bound = _mm_max_epi16(bound, _mm_srli_si128(bound, 2));
    return (int16_t)_mm_extract_epi16(bound, 0);
#else
    int bound = INT16_MIN;
    memcpy(best, keys, sizeof best);
    for (int64_t i = FASTIR_LANES; i < n; i++)
        best[i % FASTIR_LANES] = keys[i] > best[i % FASTIR_LANES] ? keys[i] : best[i % FASTIR_LANES];
    for (int i = 0; i < FASTIR_LANES; i++) {
        int reached = 0;
        for (int j = 0; j < FASTIR_LANES; j++)
            reached += best[j] >= best[i];
        bound = reached >= k && best[i] > bound ? best[i] : bound;
    }
    return bound;
#endif
}

/* How many of n labels are above each of them; both arrays have room up to a multiple of 4. */
static inline void fastir_count_above(const double *labels, int n, int64_t *ranks)
{
#ifdef FASTIR_SSE2
    for (int i = 0; i < n; i += 4) {
        const __m128d a = _mm_loadu_pd(labels + i), b = _mm_loadu_pd(labels + i + 2);
        __m128i above_a = _mm_setzero_si128(), above_b = above_a;
        for (int j = 0; j < n; j++) {
            const __m128d label = _mm_set1_pd(labels[j]);
            above_a = _mm_sub_epi64(above_a, _mm_castpd_si128(_mm_cmplt_pd(a, label)));
            above_b = _mm_sub_epi64(above_b, _mm_castpd_si128(_mm_cmplt_pd(b, label)));
        }
        _mm_storeu_si128((__m128i *)(ranks + i), above_a);
        _mm_storeu_si128((__m128i *)(ranks + i + 2), above_b);
    }
#else
    for (int i = 0; i < n; i++) {
        ranks[i] = 0;
        for (int j = 0; j < n; j++)
            ranks[i] += labels[i] < labels[j];
    }
#endif
}

/* A bit for each of FASTIR_LANES keys that is not below `bound`. */
static inline uint32_t fastir_reaching(const int16_t *keys, int bound)
{
    uint32_t bits = 0;
#ifdef FASTIR_SSE2
    const __m128i least = _mm_set1_epi16((int16_t)bound);
    for (int j = 0; j < 2; j++) {
        const __m128i a = _mm_cmplt_epi16(_mm_loadu_si128((const __m128i *)(keys + 16 * j)), least);
        const __m128i b = _mm_cmplt_epi16(_mm_loadu_si128((const __m128i *)(keys + 16 * j + 8)), least);
        bits |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b)) << 16 * j;
    }
    return ~bits;
#else
    for (int j = 0; j < FASTIR_LANES; j++)
        bits |= (uint32_t)(keys[j] >= bound) << j;
    return bits;
#endif
}
