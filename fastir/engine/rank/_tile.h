/* Copy columns of scores to the rows of a tile: tile[i * width + j] is score i of column j, where the columns begin
 * `stride` bytes apart. Squares are turned in registers with the instructions that every x86-64 has, and columns asked for
 * ahead, as each stands on a page of its own. */

#include <stdint.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define FASTIR_AHEAD(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)

static inline void fastir_turn_f32(const char *in, int64_t stride, float *tile, int64_t width)
{
    __m128 a = _mm_loadu_ps((const float *)in), b = _mm_loadu_ps((const float *)(in + stride));
    __m128 c = _mm_loadu_ps((const float *)(in + 2 * stride)), d = _mm_loadu_ps((const float *)(in + 3 * stride));
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(tile, a);
    _mm_storeu_ps(tile + width, b);
    _mm_storeu_ps(tile + 2 * width, c);
    _mm_storeu_ps(tile + 3 * width, d);
}

static inline void fastir_turn_f64(const char *in, int64_t stride, double *tile, int64_t width)
{
    for (int i = 0; i < 4; i += 2)
        for (int j = 0; j < 4; j += 2) {
            const __m128d a = _mm_loadu_pd((const double *)(in + j * stride) + i);
            const __m128d b = _mm_loadu_pd((const double *)(in + (j + 1) * stride) + i);
            _mm_storeu_pd(tile + i * width + j, _mm_unpacklo_pd(a, b));
            _mm_storeu_pd(tile + (i + 1) * width + j, _mm_unpackhi_pd(a, b));
        }
}
#else
#if defined(__GNUC__)
#define FASTIR_AHEAD(address) __builtin_prefetch(address)
#else
#define FASTIR_AHEAD(address) ((void)0)
#endif
#define FASTIR_TURN(SCORE)                                                  \
    for (int j = 0; j < 4; j++)                                             \
        for (int i = 0; i < 4; i++)                                         \
            tile[i * width + j] = ((const SCORE *)(in + j * stride))[i];

static inline void fastir_turn_f32(const char *in, int64_t stride, float *tile, int64_t width) { FASTIR_TURN(float) }
static inline void fastir_turn_f64(const char *in, int64_t stride, double *tile, int64_t width) { FASTIR_TURN(double) }
#endif

enum { FASTIR_COLUMNS_AHEAD = 16 };

#define FASTIR_COPY(SCORE, TURN)                                                                             \
    int64_t i, j = 0;                                                                                        \
    for (; j + 4 <= columns; j += 4) {                                                                       \
        const char *in = start + j * stride;                                                                 \
        for (int k = 0; k < 4; k++)                                                                          \
            for (i = 0; i < rows; i += 64 / (int64_t)sizeof(SCORE))                                          \
                FASTIR_AHEAD(in + (FASTIR_COLUMNS_AHEAD + k) * stride + i * (int64_t)sizeof(SCORE));         \
        for (i = 0; i + 4 <= rows; i += 4)                                                                   \
            TURN(in + i * (int64_t)sizeof(SCORE), stride, tile + i * width + j, width);                      \
        for (; i < rows; i++)                                                                                \
            for (int k = 0; k < 4; k++)                                                                      \
                tile[i * width + j + k] = ((const SCORE *)(in + k * stride))[i];                             \
    }                                                                                                        \
    for (; j < columns; j++)                                                                                 \
        for (i = 0; i < rows; i++)                                                                           \
            tile[i * width + j] = ((const SCORE *)(start + j * stride))[i];

static void fastir_copy_f32(const char *start, int64_t stride, int64_t rows, int64_t columns, float *tile, int64_t width)
{
    FASTIR_COPY(float, fastir_turn_f32)
}

static void fastir_copy_f64(const char *start, int64_t stride, int64_t rows, int64_t columns, double *tile, int64_t width)
{
    FASTIR_COPY(double, fastir_turn_f64)
}
