/* The loop of _simd.h over labels in rank order, for the instructions that TARGET allows. WORD says how 64 labels are
 * read: *above has a bit for each that is above 0, *below for each below, and they are copied. */

TARGET static int64_t NAME(list)(const int8_t *labels, int64_t n, int padded, int64_t room, int64_t *ranks,
                                 int32_t *hit_labels, int64_t *negative, int *beyond)
{
    int8_t copy[65], last[64];      /* where no bit is left, the first one is 63 or 64 */
    int64_t start, n_hits = 0;
    copy[64] = 0;
    for (start = 0; start < n; start += 64) {
        const int64_t left = n - start;
        const int8_t *word = labels + start;
        uint64_t above, below;
        int64_t i = n_hits;
        if (left < 64 && !padded) {
            memcpy(last, word, (size_t)left);
            memset(last + left, 0, (size_t)(64 - left));
            word = last;
        }
        NAME(read_word)(word, copy, &above, &below, beyond);
        if (left < 64) {
            above &= ((uint64_t)1 << left) - 1;
            below &= ((uint64_t)1 << left) - 1;
        }
        n_hits += COUNT_BITS(above);
        if (below)
            *negative += COUNT_BITS(below);
        for (int j = 0; j < 4; j++) {
            const int64_t place = FIRST_BIT(above);
            ranks[i + j] = start + place + 1;
            hit_labels[i + j] = copy[place];
            above &= above - 1;
        }
        for (i += 4; i < n_hits; i += 8)
            for (int j = 0; j < 8; j++) {
                const int64_t place = FIRST_BIT(above);
                ranks[i + j] = start + place + 1;
                hit_labels[i + j] = copy[place];
                above &= above - 1;
            }
        if (n_hits > room)
            return -1;
    }
    return n_hits;
}

#undef NAME
#undef COUNT_BITS
#undef FIRST_BIT
