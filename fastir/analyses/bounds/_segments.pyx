"""Running sums over the unjudged documents of each query, and where the values of a query are extreme.

    query                 q1             q2
    unjudged              d1  d2  d3  |  d4              by rank; shares is what each adds
    running sums      0   s1  s2  s3  |  0  s4           where the first 0, 1, 2, ... have a label

The queries of a block follow each other; `starts` says where the values of each begin, n + 1 of them for n
unjudged documents. NumPy's own functions go query by query: with 50 queries of 1000 unjudged documents they took three
times as long.
"""

from libc.stdint cimport INT32_MIN, int32_t, int64_t

import numpy as np


def running_sums(const double[::1] shares, const int64_t[::1] starts, bint from_below):
    """The sums of the first 0, 1, 2, ... shares of each query, or of the last: float64 of shape (starts[-1],).

    Parameters
    ----------
    shares : float64 array of shape (n_unjudged,)
    starts : int64 array of shape (n_queries + 1,)
    from_below : bool
    """
    cdef int64_t q, i, first, n
    result = np.empty(starts[starts.shape[0] - 1])
    cdef double[::1] sums = result
    for q in range(starts.shape[0] - 1):
        first, n = starts[q] - q, starts[q + 1] - starts[q] - 1
        sums[starts[q]] = 0.0
        for i in range(n):
            sums[starts[q] + i + 1] = sums[starts[q] + i] + shares[first + n - 1 - i if from_below else first + i]
    return result


def extreme_places(const double[::1] values, const int64_t[::1] starts, bint largest, bint last=False):
    """The position, from 0, of the largest or smallest value of each query; of equal ones the first, or the last.

    Returns int64 of shape (n_queries,), and the values there.
    """
    cdef int64_t q, i, n_queries = starts.shape[0] - 1
    cdef int64_t best
    places, extremes = np.empty(n_queries, np.int64), np.empty(n_queries)
    cdef int64_t[::1] out = places
    cdef double[::1] there = extremes
    for q in range(n_queries):
        best = starts[q]
        for i in range(starts[q] + 1, starts[q + 1]):
            if (last and values[i] == values[best]
                    or (values[i] > values[best] if largest else values[i] < values[best])):
                best = i
        out[q], there[q] = best - starts[q], values[best]
    return places, extremes


def precision_sums(const int64_t[::1] offsets, const int64_t[::1] ranks, const int32_t[::1] labels, int64_t cutoff,
                   int32_t level):
    """What 0, 1, 2, ... relevant unjudged documents add to the sum of precisions of each query, at most and at least.

    It is most where the first unjudged documents are relevant, least where the last ones are. One more relevant
    unjudged document adds its own precision, and 1 / rank for each relevant document below it.

    Parameters
    ----------
    offsets, ranks, labels
        As in UnjudgedRanks.
    cutoff : int
        Ranks beyond it do not count.
    level : int
        The label from which on a judged document is relevant.

    Returns
    -------
    tuple
        How many judged documents inside are relevant, int64 of shape (n_queries,), and the sum of their precisions
        without relevant unjudged documents, float64; where the sums of each query begin, int64 of shape
        (n_queries + 1,); the largest and the smallest sums, float64.
    """
    cdef int64_t q, i, first, stop, start, n, doc, above, n_queries = offsets.shape[0] - 1
    cdef double share, below, below_all, total
    num_relevant, judged = np.empty(n_queries, np.int64), np.zeros(n_queries)
    starts_of = np.zeros(n_queries + 1, np.int64)
    most, least = np.zeros(ranks.shape[0] + n_queries), np.zeros(ranks.shape[0] + n_queries)
    cdef int64_t[::1] relevant = num_relevant, starts = starts_of
    cdef double[::1] top = most, bottom = least, base = judged
    for q in range(n_queries):
        first, stop, start, above, n = offsets[q], offsets[q], starts[q], 0, 0
        while stop < offsets[q + 1] and ranks[stop] <= cutoff:
            if labels[stop] == INT32_MIN:
                n += 1
            elif labels[stop] >= level:
                above += 1
                base[q] += above * (1.0 / ranks[stop])
            stop += 1
        relevant[q], starts[q + 1], doc, below, below_all, total = above, start + n + 1, n, 0.0, 0.0, 0.0
        for i in range(stop - 1, first - 1, -1):
            share = 1.0 / ranks[i]
            if labels[i] == INT32_MIN:
                top[start + doc] = (above + doc) * share + below
                below_all += share
                total += (above + 1) * share + (below_all - share)
                bottom[start + n - doc + 1] = total
                doc -= 1
            elif labels[i] >= level:
                above -= 1
                below += share
                below_all += share
        for i in range(start + 1, start + n + 1):
            top[i] += top[i - 1]
    return num_relevant, judged, starts_of, most[:starts_of[n_queries]], least[:starts_of[n_queries]]
