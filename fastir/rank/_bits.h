/* The lowest bit of a word, which has one, by one instruction: for the masks of _labels.h and _simd.h. */

#include <stdint.h>
#ifdef _MSC_VER
#include <intrin.h>
static __inline int64_t fastir_first_bit(uint64_t x) { unsigned long i; _BitScanForward64(&i, x); return i; }
#else
#define fastir_first_bit(x) ((int64_t)__builtin_ctzll(x))
#endif
