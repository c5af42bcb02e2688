/* Loops that read whole matrices of scores, once for each set of instructions.

They are plain C, which compilers turn into vector instructions by themselves: written by hand for AVX2 they were no
faster, but for the bits of `find`, for which C has no word; AVX-512 made counting slower (Zen 4). Only counts, places
and scores come out, so all sets give the same bits. NaN is neither above a level nor below it.

count   above[j] += scores > levels[j]; reach[j] += scores that are not < levels[j], NaN too; n is below 2^31
find    the places of the scores that are not < level, NaN too, into an array with room for n + 1; how many they are
lanes   best[j] is the largest of scores j, j + n_lanes, j + 2 n_lanes, ..., -inf if there is none but NaN

A compiler that cannot build one function for other instructions than the rest has only the first set. */

#include <math.h>
#include <stdint.h>

typedef struct {
    const char *name;
    void (*count_f32)(const float *, int64_t, const double *, int64_t, int64_t *, int64_t *);
    void (*count_f64)(const double *, int64_t, const double *, int64_t, int64_t *, int64_t *);
    int64_t (*find_f32)(const float *, int64_t, double, int32_t *);
    int64_t (*find_f64)(const double *, int64_t, double, int32_t *);
    void (*lanes_f32)(const float *, int64_t, float *, int64_t);
    void (*lanes_f64)(const double *, int64_t, double *, int64_t);
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
#undef TARGET

static const fastir_loops fastir_portable = {
    "portable", count_f32, count_f64, find_f32, find_f64, lanes_f32, lanes_f64};

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

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
#undef TARGET

static const fastir_loops fastir_avx2 = {
    "avx2", count_f32_avx2, count_f64_avx2, find_f32_avx2, find_f64_avx2, lanes_f32_avx2, lanes_f64_avx2};

/* The sets that this machine has, the best last; how many. */
static int fastir_sets(fastir_loops *sets)
{
    sets[0] = fastir_portable;
    sets[1] = fastir_avx2;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? 2 : 1;
}
#else
static int fastir_sets(fastir_loops *sets)
{
    sets[0] = fastir_portable;
    return 1;
}
#endif
