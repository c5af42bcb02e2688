/* The loops of _simd.h, for scores of type SCORE and the instructions that TARGET allows; counts are as wide as scores. */

TARGET static void NAME(count)(const SCORE *scores, int64_t n, const double *levels, int64_t n_levels, int64_t *above,
                               int64_t *reach)
{
    int64_t i, j;
    for (j = 0; j + 4 <= n_levels; j += 4) {
        const SCORE a = (SCORE)levels[j], b = (SCORE)levels[j + 1], c = (SCORE)levels[j + 2], d = (SCORE)levels[j + 3];
        COUNT above_a = 0, above_b = 0, above_c = 0, above_d = 0, reach_a = 0, reach_b = 0, reach_c = 0, reach_d = 0;
        for (i = 0; i < n; i++) {
            const SCORE score = scores[i];
            above_a += score > a;
            above_b += score > b;
            above_c += score > c;
            above_d += score > d;
            reach_a += !(score < a);
            reach_b += !(score < b);
            reach_c += !(score < c);
            reach_d += !(score < d);
        }
        above[j] += above_a;
        above[j + 1] += above_b;
        above[j + 2] += above_c;
        above[j + 3] += above_d;
        reach[j] += reach_a;
        reach[j + 1] += reach_b;
        reach[j + 2] += reach_c;
        reach[j + 3] += reach_d;
    }
    for (; j < n_levels; j++) {
        const SCORE level = (SCORE)levels[j];
        COUNT above_level = 0, reach_level = 0;
        for (i = 0; i < n; i++) {
            above_level += scores[i] > level;
            reach_level += !(scores[i] < level);
        }
        above[j] += above_level;
        reach[j] += reach_level;
    }
}

TARGET static int64_t NAME(find)(const SCORE *scores, int64_t n, double level, int32_t *places)
{
    const SCORE least = (SCORE)level;
    int64_t i, found = 0;
    for (i = 0; i + 32 <= n; i += 32) {
#ifdef REACHING
        uint32_t bits = REACHING(scores + i, least);
        for (; bits; bits &= bits - 1)
            places[found++] = (int32_t)(i + __builtin_ctz(bits));
#else
        COUNT any = 0;
        for (int64_t j = 0; j < 32; j++)
            any |= !(scores[i + j] < least);
        if (any)
            for (int64_t j = 0; j < 32; j++) {
                places[found] = (int32_t)(i + j);
                found += !(scores[i + j] < least);
            }
#endif
    }
    for (; i < n; i++) {
        places[found] = (int32_t)i;
        found += !(scores[i] < least);
    }
    return found;
}

TARGET static void NAME(lanes)(const SCORE *__restrict scores, int64_t n, SCORE *__restrict best, int64_t n_lanes)
{
    int64_t i, j;
    for (j = 0; j < n_lanes; j++)
        best[j] = (SCORE)-INFINITY;
    for (i = 0; i + n_lanes <= n; i += n_lanes)
        for (j = 0; j < n_lanes; j++)
            best[j] = scores[i + j] > best[j] ? scores[i + j] : best[j];
    for (j = 0; i + j < n; j++)
        best[j] = scores[i + j] > best[j] ? scores[i + j] : best[j];
}

#undef SCORE
#undef COUNT
#undef NAME
