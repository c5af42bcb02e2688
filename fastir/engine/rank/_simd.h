/* Loops that read whole matrices of scores, or labels in rank order, once for each set of instructions.

They are plain C, which compilers turn into vector instructions by themselves: written by hand for AVX2 they were no
faster, but for the bits of `find`, for which C has no word; AVX-512 made counting slower (Zen 4). Only counts, places
and scores come out, so all sets give the same bits. NaN is neither above a level nor below it.

count   above[j] += scores > levels[j]; reach[j] += scores that are not < levels[j], NaN too; n is below 2^31
find    the places of the scores that are not < level, NaN too, into an array with room for n + 1; how many they are
lanes   best[j] is the largest of scores j, j + n_lanes, j + 2 n_lanes, ..., -inf if there is none but NaN
list    the ranks of the labels above 0, and these labels; how many they are, or -1 if more than `room`, beyond which
        there is space for 128. Adds to `negative` how many are below 0; sets `beyond` where one is above 1, and perhaps
        where one behind the n is. `padded` says that 64 labels behind the n can be read. Each label is read once, as
        another thread may be changing it

A compiler that cannot build one function for other instructions than the rest has only the first set. */

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "_bits.h"
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define FASTIR_SSE2
#endif

typedef struct {
    const char *name;
    void (*count_f32)(const float *, int64_t, const double *, int64_t, int64_t *, int64_t *);
    void (*count_f64)(const double *, int64_t, const double *, int64_t, int64_t *, int64_t *);
    int64_t (*find_f32)(const float *, int64_t, double, int32_t *);
    int64_t (*find_f64)(const double *, int64_t, double, int32_t *);
    void (*lanes_f32)(const float *, int64_t, float *, int64_t);
    void (*lanes_f64)(const double *, int64_t, double *, int64_t);
    int64_t (*list)(const int8_t *, int64_t, int, int64_t, int64_t *, int32_t *, int64_t *, int *);
} fastir_loops;

#define TARGET
#define SCORE float
#define COUNT int32_t
#define NAME(loop) loop##_f32
#include "_simd_loops.h"
#define SCORE double
#define COUNT int64_t
#define NAME(loop) loop##_f64
#include "_simd_loops.h"

/* An instruction that counts bits is none that every x86-64 has. */
static inline int count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (int)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

static inline void read_word(const int8_t *labels, int8_t *copy, uint64_t *above, uint64_t *below, int *beyond)
{
    uint64_t a = 0, b = 0;
#ifdef FASTIR_SSE2
    const __m128i zero = _mm_setzero_si128();
    __m128i any = zero, v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = _mm_loadu_si128((const __m128i *)(labels + 16 * i));
        _mm_storeu_si128((__m128i *)(copy + 16 * i), v[i]);
        a |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpgt_epi8(v[i], zero)) << 16 * i;
        any = _mm_or_si128(any, v[i]);
    }
    if (_mm_movemask_epi8(any))
        for (int i = 0; i < 4; i++)
            b |= (uint64_t)(unsigned)_mm_movemask_epi8(v[i]) << 16 * i;
    *beyond |= _mm_movemask_epi8(_mm_cmpgt_epi8(any, _mm_set1_epi8(1))) | (b != 0);
#else
    for (int i = 0; i < 64; i++) {
        copy[i] = labels[i];
        a |= (uint64_t)(copy[i] > 0) << i;
        b |= (uint64_t)(copy[i] < 0) << i;
        *beyond |= copy[i] > 1;
    }
#endif
    *above = a;
    *below = b;
}

#define NAME(loop) loop
#define COUNT_BITS count_bits
#define FIRST_BIT(x) fastir_lowest((x) | (uint64_t)1 << 63)
#include "_label_loop.h"
#undef TARGET

static const fastir_loops fastir_portable = {
    "portable", count_f32, count_f64, find_f32, find_f64, lanes_f32, lanes_f64, list};

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,popcnt")))

/* A bit for each of 32 scores that is not < least. */
TARGET static inline uint32_t reaching_f32(const float *scores, float least)
{
    const __m256 level = _mm256_set1_ps(least);
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++) {
        const __m256 reach = _mm256_cmp_ps(_mm256_loadu_ps(scores + 8 * i), level, _CMP_NLT_UQ);
        bits |= (uint32_t)_mm256_movemask_ps(reach) << 8 * i;
    }
    return bits;
}

TARGET static inline uint32_t reaching_f64(const double *scores, double least)
{
    const __m256d level = _mm256_set1_pd(least);
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++) {
        const __m256d reach = _mm256_cmp_pd(_mm256_loadu_pd(scores + 4 * i), level, _CMP_NLT_UQ);
        bits |= (uint32_t)_mm256_movemask_pd(reach) << 4 * i;
    }
    return bits;
}

#define SCORE float
#define COUNT int32_t
#define NAME(loop) loop##_f32_avx2
#define REACHING reaching_f32
#include "_simd_loops.h"
#undef REACHING
#define SCORE double
#define COUNT int64_t
#define NAME(loop) loop##_f64_avx2
#define REACHING reaching_f64
#include "_simd_loops.h"
#undef REACHING

TARGET static inline void read_word_avx2(const int8_t *labels, int8_t *copy, uint64_t *above, uint64_t *below,
                                         int *beyond)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i v = _mm256_loadu_si256((const __m256i *)labels);
    const __m256i w = _mm256_loadu_si256((const __m256i *)(labels + 32));
    _mm256_storeu_si256((__m256i *)copy, v);
    _mm256_storeu_si256((__m256i *)(copy + 32), w);
    *above = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(v, zero))
        | (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(w, zero)) << 32;
    *below = (uint32_t)_mm256_movemask_epi8(v) | (uint64_t)(uint32_t)_mm256_movemask_epi8(w) << 32;
    *beyond |= !_mm256_testz_si256(_mm256_or_si256(v, w), _mm256_set1_epi8(~1));
}

#define NAME(loop) loop##_avx2
#define COUNT_BITS __builtin_popcountll
#define FIRST_BIT(x) ((int64_t)_tzcnt_u64(x))
#include "_label_loop.h"
#undef TARGET

static const fastir_loops fastir_avx2 = {"avx2", count_f32_avx2, count_f64_avx2, find_f32_avx2, find_f64_avx2,
                                         lanes_f32_avx2, lanes_f64_avx2, list_avx2};

/* The sets that this machine has, the best last; how many. */
static int fastir_sets(fastir_loops *sets)
{
    sets[0] = fastir_portable;
    sets[1] = fastir_avx2;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt") ? 2 : 1;
}
#else
static int fastir_sets(fastir_loops *sets)
{
    sets[0] = fastir_portable;
    return 1;
}
#endif
