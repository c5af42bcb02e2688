"""Which instructions the loops over whole matrices and ranked labels use, chosen once, when this module is imported.

The loops are in _simd.h, the same for every set of instructions, and only return counts and positions, so the choice
shows in nothing but time: with AVX2, float32 scores are counted against four levels at once 1.9 times and float64
scores 6 times as fast as with the instructions that any x86-64 processor has, and labels of rankings of 1000 are listed
1.5 times as fast where 2 in 100 are relevant, 1.4 times where 30 are. The environment variable FASTIR_SIMD names
another set.
"""

import os

from libc.stdint cimport int8_t, int32_t, int64_t

from fastir.errors import quote

cdef extern from "_simd.h" nogil:
    ctypedef struct fastir_loops:
        const char* name
        void (*count_f32)(const float*, int64_t, const double*, int64_t, int64_t*, int64_t*) noexcept nogil
        void (*count_f64)(const double*, int64_t, const double*, int64_t, int64_t*, int64_t*) noexcept nogil
        int64_t (*find_f32)(const float*, int64_t, double, int32_t*) noexcept nogil
        int64_t (*find_f64)(const double*, int64_t, double, int32_t*) noexcept nogil
        void (*lanes_f32)(const float*, int64_t, float*, int64_t) noexcept nogil
        void (*lanes_f64)(const double*, int64_t, double*, int64_t) noexcept nogil
        int64_t (*list)(const int8_t*, int64_t, int, int64_t, int64_t*, int32_t*, int64_t*, int*) noexcept nogil
    int fastir_sets(fastir_loops* sets) noexcept

cdef int64_t BLOCK_SCORES = 4096       # counted against all levels while they are in the first-level cache
cdef fastir_loops loops


def choose():
    """Choose among the sets; the name of the chosen one, and the names of all that this machine has."""
    global loops
    cdef fastir_loops sets[4]
    cdef int i, n = fastir_sets(sets)
    names = [sets[i].name.decode() for i in range(n)]
    name = os.environ.get("FASTIR_SIMD") or names[n - 1]
    if name not in names:
        raise ValueError(f"FASTIR_SIMD is {quote(name)}; must be one of {', '.join(names)} on this machine")
    loops = sets[<int>names.index(name)]
    return name, names


CHOSEN, AVAILABLE = choose()


cdef void count_scores(const void* scores, bint single, int64_t n, const double* levels, int64_t n_levels,
                      int64_t* above, int64_t* reach) noexcept nogil:
    """Add to above[j] how many of n floats (`single`) or doubles are greater than levels[j], to reach[j] how many are
    not less; NaN counts in `reach` alone. Levels must be numbers that the scores' type holds.
    """
    cdef int64_t i = 0, size
    while i < n:
        size = BLOCK_SCORES if n - i > BLOCK_SCORES else n - i
        if single:
            loops.count_f32(<const float*>scores + i, size, levels, n_levels, above, reach)
        else:
            loops.count_f64(<const double*>scores + i, size, levels, n_levels, above, reach)
        i += size


cdef int64_t find_scores(const void* scores, bint single, int64_t n, double level, int32_t* places) noexcept nogil:
    """Write where scores, fewer than 2^31, are not less than `level`, NaN too, to an array with room for n + 1; return
    how many there are.
    """
    if single:
        return loops.find_f32(<const float*>scores, n, level, places)
    return loops.find_f64(<const double*>scores, n, level, places)


cdef int64_t list_labels(const int8_t* labels, int64_t n, bint padded, int64_t room, int64_t* ranks,
                         int32_t* hit_labels, int64_t* negative, int* beyond) noexcept nogil:
    """Write the ranks of the labels above 0 and these labels; return how many there are, or -1 if more than `room`,
    beyond which there is space for 128 more. Add to `negative` how many are below 0, and set `beyond` if one may be
    above 1. padded: 64 labels behind the n can be read.
    """
    return loops.list(labels, n, padded, room, ranks, hit_labels, negative, beyond)


cdef void fill_lanes(const void* scores, bint single, int64_t n, void* best, int64_t n_lanes) noexcept nogil:
    """Deal scores out to lanes, of which each keeps its largest, in an array of the scores' type; -inf without any."""
    if single:
        loops.lanes_f32(<const float*>scores, n, <float*>best, n_lanes)
    else:
        loops.lanes_f64(<const double*>scores, n, <double*>best, n_lanes)
