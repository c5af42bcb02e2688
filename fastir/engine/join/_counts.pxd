# What is counted while a run is joined: by each thread, then of all of them.
#
# The functions assign plainly: in the debug build Cython refuses `+=` of an attribute where the GIL is released.
from libc.stdint cimport int64_t


cdef class Counts:
    cdef public int64_t matched, ranked, unjudged
    cdef public int64_t varied, flat, flat_example, flat_rows, tied, tied_example, nothing, nothing_example
    cdef public int64_t repeated, repeated_example, rounded, rounded_example, excluded, excluded_example
    cdef public bytearray uncounted
    cdef public tuple rounded_docs
    cdef add(self, Counts other)


cdef inline int64_t earlier(int64_t a, int64_t b) noexcept nogil:
    """The smaller of two positions, where -1 means none."""
    return a if b < 0 or 0 <= a < b else b


cdef inline void count_ranking(Counts counts, int64_t q, int64_t n, int64_t n_found) noexcept nogil:
    """Count query q with a ranking of n documents, n_found of which are in the qrels."""
    counts.matched = counts.matched + 1
    counts.ranked = counts.ranked + n
    counts.unjudged = counts.unjudged + n - n_found
    if n > 0 and n_found == 0:
        counts.nothing = counts.nothing + 1
        counts.nothing_example = earlier(counts.nothing_example, q)


cdef inline void count_order(Counts counts, int64_t q, const double* scores, int64_t n, int64_t n_hits,
                             bint tied) noexcept nogil:
    """Count query q, of whose n documents n_hits were ranked; `scores` are read if one of these was tied."""
    cdef int64_t i = 1
    if n_hits == 0 or n < 2:
        return
    if tied:
        counts.tied = counts.tied + 1
        counts.tied_example = earlier(counts.tied_example, q)
        while i < n and scores[i] == scores[0]:
            i += 1
        if i == n:
            counts.flat = counts.flat + 1
            counts.flat_rows = counts.flat_rows + n
            counts.flat_example = earlier(counts.flat_example, q)
            return
    counts.varied = counts.varied + 1


cdef inline void count_rounded(Counts counts, int64_t q) noexcept nogil:
    counts.rounded = counts.rounded + 1
    counts.rounded_example = earlier(counts.rounded_example, q)


cdef inline void count_excluded(Counts counts, int64_t q, int64_t n) noexcept nogil:
    """Count n rows that left query q."""
    counts.excluded = counts.excluded + n
    counts.excluded_example = earlier(counts.excluded_example, q)


cdef inline void count_repeats(Counts counts, int64_t q, int64_t n) noexcept nogil:
    """Count n rows of query q that repeat the document of an earlier row."""
    counts.repeated = counts.repeated + n
    counts.repeated_example = earlier(counts.repeated_example, q)
