/* The place of the lowest bit of a word, which has one, by one instruction where there is such: for masks of bytes. */

#pragma once
#include <stdint.h>
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
#include <intrin.h>
#endif

static inline int fastir_lowest(uint64_t bits)
{
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
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
