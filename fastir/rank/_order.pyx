"""All rows of a ranking in rank order: the higher score first, and of equal ones the larger id, as under trec_eval.

For those who need whole rankings, as to compare two of them or to pool many; a metric needs the ranks of a few
documents alone (_rank). Ids are compared as bytes, integers as their decimal text. Most rankings stand in order
already, or but for their ties: then only rows of one score are sorted.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, qsort

from fastir.columns._ids cimport Ids, read
from fastir.columns._text cimport Text, compare

import numpy as np


cdef int rank_order(const void* a, const void* b) noexcept nogil:
    cdef const Row* x = <const Row*>a
    cdef const Row* y = <const Row*>b
    if x.score != y.score:
        return (x.score < y.score) - (x.score > y.score)
    return compare(&y.id, &x.id)


cdef void put_in_order(Row* rows, int64_t n) noexcept nogil:
    """Sort the rows of one ranking, whose scores are no NaN."""
    cdef int64_t i, first = 0
    cdef bint rises = False
    for i in range(1, n):
        rises |= rows[i].score > rows[i - 1].score
    if rises:
        qsort(rows, n, sizeof(Row), rank_order)
        return
    for i in range(1, n + 1):
        if i == n or rows[i].score != rows[first].score:
            if i - first > 1:
                qsort(rows + first, i - first, sizeof(Row), rank_order)
            first = i


def in_rank_order(Ids ids, const int64_t[::1] offsets, const double[::1] scores):
    """The rows of many rankings, of each in rank order.

    Parameters
    ----------
    ids : Ids
        No integers but as text.
    offsets : int64 array of shape (n_rankings + 1,)
    scores : float64 array of shape (n_rows,), without NaN

    Returns
    -------
    int64 array of shape (n_rows,)
    """
    cdef int64_t q, i, first, n, longest = 0
    order = np.arange(scores.shape[0])
    cdef int64_t[::1] places = order
    cdef Row* rows
    cdef Text* texts
    for q in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    rows = <Row*>malloc((longest + 1) * (sizeof(Row) + sizeof(Text)))
    if rows == NULL:
        raise MemoryError
    texts = <Text*>(rows + longest + 1)
    with nogil:
        for q in range(offsets.shape[0] - 1):
            first, n = offsets[q], offsets[q + 1] - offsets[q]
            if n < 2 or falls(&scores[first], n):
                continue
            read(&ids.column, first, n, texts)
            for i in range(n):
                rows[i].score, rows[i].id, rows[i].place = scores[first + i], texts[i], first + i
            put_in_order(rows, n)
            for i in range(n):
                places[first + i] = rows[i].place
    free(rows)
    return order
