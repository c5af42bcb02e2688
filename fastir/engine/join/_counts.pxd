# What is counted while a run is joined: by each thread, then of all of them.
#
# The functions assign plainly: in the debug build Cython refuses `+=` of an attribute where the GIL is released.
from libc.stdint cimport int64_t


cdef class Counts:
    cdef public int64_t n_matched_queries, n_ranked_docs, n_unjudged_docs, n_varied_queries, n_flat_queries, n_flat_docs
    cdef public int64_t n_tied_queries, n_unjudged_queries, n_repeated_rows, n_rounded_queries, n_excluded_rows
    cdef public int64_t n_low_rows
    cdef public int64_t tied_queries_example, flat_queries_example, unjudged_queries_example, repeated_rows_example
    cdef public int64_t rounded_queries_example, excluded_rows_example, low_rows_example
    cdef public bytearray uncounted
    cdef public tuple rounded_docs
    cdef add(self, Counts other)


cdef inline int64_t earlier(int64_t a, int64_t b) noexcept nogil:
    """The smaller of two positions, where -1 means none."""
    return a if b < 0 or 0 <= a < b else b


cdef inline void count_ranking(Counts counts, int64_t q, int64_t n, int64_t n_found) noexcept nogil:
    """Count query q with a ranking of n documents, n_found of which are in the qrels."""
    counts.n_matched_queries = counts.n_matched_queries + 1
    counts.n_ranked_docs = counts.n_ranked_docs + n
    counts.n_unjudged_docs = counts.n_unjudged_docs + n - n_found
    if n > 0 and n_found == 0:
        counts.n_unjudged_queries = counts.n_unjudged_queries + 1
        counts.unjudged_queries_example = earlier(counts.unjudged_queries_example, q)


cdef inline void count_order(Counts counts, int64_t q, const double* scores, int64_t n, int64_t n_hits,
                             bint tied) noexcept nogil:
    """Count query q, of whose n documents n_hits were ranked; `scores` are read if one of these was tied."""
    cdef int64_t i = 1
    if n_hits == 0 or n < 2:
        return
    if tied:
        counts.n_tied_queries = counts.n_tied_queries + 1
        counts.tied_queries_example = earlier(counts.tied_queries_example, q)
        while i < n and scores[i] == scores[0]:
            i += 1
        if i == n:
            counts.n_flat_queries = counts.n_flat_queries + 1
            counts.n_flat_docs = counts.n_flat_docs + n
            counts.flat_queries_example = earlier(counts.flat_queries_example, q)
            return
    counts.n_varied_queries = counts.n_varied_queries + 1


cdef inline void count_rounded(Counts counts, int64_t q) noexcept nogil:
    counts.n_rounded_queries = counts.n_rounded_queries + 1
    counts.rounded_queries_example = earlier(counts.rounded_queries_example, q)


cdef inline void count_excluded(Counts counts, int64_t q, int64_t n) noexcept nogil:
    """Count n rows that left query q."""
    counts.n_excluded_rows = counts.n_excluded_rows + n
    counts.excluded_rows_example = earlier(counts.excluded_rows_example, q)


cdef inline void count_low(Counts counts, int64_t q, int64_t n) noexcept nogil:
    """Count n rows of query q with low scores."""
    if n > 0:
        counts.n_low_rows = counts.n_low_rows + n
        counts.low_rows_example = earlier(counts.low_rows_example, q)


cdef inline void count_repeats(Counts counts, int64_t q, int64_t n) noexcept nogil:
    """Count n rows of query q that repeat the document of an earlier row."""
    counts.n_repeated_rows = counts.n_repeated_rows + n
    counts.repeated_rows_example = earlier(counts.repeated_rows_example, q)
