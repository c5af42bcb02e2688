# Documents of one query put in order, by scores and by ids.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.columns._text cimport Text


cdef struct Pair:       # while it is sorted
    uint64_t key        # what stands first has the smaller one
    int64_t place


cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    /* A key that falls as the number rises; equal numbers, 0.0 and -0.0 too, have one key. */
    static inline uint64_t fastir_falling_key(double number) {
        uint64_t bits;
        number += 0.0;
        memcpy(&bits, &number, 8);
        return bits >> 63 ? bits : ~bits ^ (uint64_t)1 << 63;
    }
    """
    uint64_t falling_key "fastir_falling_key"(double number) noexcept nogil


cdef void sort_pairs(Pair* pairs, Pair* spare, int64_t n) noexcept nogil
cdef void sort_by_id(Pair* pairs, Pair* spare, int64_t n, const Text* docs, int sign) noexcept nogil
cdef void sort_by_score(const double* scores, int64_t n, const Text* docs, int sign, Pair* pairs,
                        Pair* spare) noexcept nogil
