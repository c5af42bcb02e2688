"""All rows of a ranking in rank order: the higher score first, and of equal ones the larger id, as under trec_eval.

For those who need whole rankings, as to compare two of them or to pool many; a metric needs the ranks of a few
documents alone (_rank). Ids are compared as bytes, integers as their decimal text. Most rankings are in order
already, or except for ties: then only rows of one score are sorted. Many rows are divided into few before they are
sorted, and between two sorts Ctrl-C is answered: a million tied rows would take most of a second in one piece.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

from fastir.engine.columns._entries cimport gather, strings_only
from fastir.engine.columns._ids cimport Ids, Text, compare, read
from fastir.engine.measure._codes cimport TREC
from fastir.engine.rank._rank cimport id_sign, score_order

import numpy as np

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    int PyFloat_CheckExact(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) noexcept

cdef enum:
    MAX_PARTITION_DEPTH = 64          # partings of one ranking, one within the other, at most
    BATCH_ROWS = 64                   # pairs that are gathered at once


cdef int rank_order(const void* a, const void* b) noexcept nogil:
    cdef const Row* x = <const Row*>a
    cdef const Row* y = <const Row*>b
    cdef int order = score_order(x.score, y.score)
    return order if order != 0 else id_sign(TREC) * compare(&y.id, &x.id)


cdef int64_t partition(Row* rows, int64_t n) noexcept nogil:
    """Move rows, so that none of the first m belongs below one of the others; m, which is neither 0 nor n."""
    cdef int64_t i = -1, j = n, middle = n // 2
    cdef Row pivot
    if rank_order(rows + middle, rows) < 0:
        rows[0], rows[middle] = rows[middle], rows[0]
    if rank_order(rows + n - 1, rows + middle) < 0:
        rows[n - 1], rows[middle] = rows[middle], rows[n - 1]
        if rank_order(rows + middle, rows) < 0:
            rows[0], rows[middle] = rows[middle], rows[0]
    pivot = rows[middle]        # the median of three: the last row does not belong above it
    while True:
        i += 1
        while rank_order(rows + i, &pivot) < 0:
            i += 1
        j -= 1
        while rank_order(&pivot, rows + j) < 0:
            j -= 1
        if i >= j:
            return j + 1
        rows[i], rows[j] = rows[j], rows[i]


cdef int sort_rows(Row* rows, int64_t n, int64_t depth) except -1 nogil:
    """Sort rows; where `depth` partings have not helped, without looking at signals any more."""
    cdef int64_t m
    while n > SIGNAL_ROWS and depth > 0:
        with gil:
            PyErr_CheckSignals()
        depth -= 1
        m = partition(rows, n)
        sort_rows(rows, m, depth)
        rows += m
        n -= m
    qsort(rows, n, sizeof(Row), rank_order)
    return 0


cdef int sort(double* scores, Text* ids, int64_t* words, int64_t n, Row* rows) except -1 nogil:
    cdef int64_t i
    for i in range(n):
        rows[i].score, rows[i].id, rows[i].word = scores[i], ids[i], words[i]
    sort_rows(rows, n, MAX_PARTITION_DEPTH)
    for i in range(n):
        scores[i], ids[i], words[i] = rows[i].score, rows[i].id, rows[i].word
    return 0


cdef int put_in_order(double* scores, Text* ids, int64_t* words, int64_t n, Row* rows) except -1 nogil:
    """Put one ranking in rank order; more than SIGNAL_ROWS may run Python's handlers of signals.

    No score is NaN, and ids are text. `words` go with their rows; `rows` is a workspace of n rows.
    """
    cdef int64_t i, first = 0   # of the rows that tie with the current one
    for i in range(1, n + 1):
        if i < n and scores[i] == scores[i - 1]:
            continue
        if i < n and scores[i] > scores[i - 1]:
            sort(scores, ids, words, n, rows)
            return 0
        if i - first > 1:
            sort(scores + first, ids + first, words + first, i - first, rows)
        first = i
    return 0


def in_rank_order(Ids ids, const int64_t[::1] offsets, const double[::1] scores):
    """The rows of many rankings, of each in rank order, as int64; ids are text, and no score is NaN."""
    cdef int64_t q, first, n, longest = 0
    order = np.arange(scores.shape[0], dtype=np.int64)
    cdef int64_t[::1] places = order
    cdef Row* rows
    cdef Text* texts
    cdef double* copies
    for q in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    rows = <Row*>malloc((longest + 1) * (sizeof(Row) + sizeof(Text) + sizeof(double)))
    if rows == NULL:
        raise MemoryError
    texts = <Text*>(rows + longest)
    copies = <double*>(texts + longest)
    try:
        with nogil:
            for q in range(offsets.shape[0] - 1):
                first, n = offsets[q], offsets[q + 1] - offsets[q]
                if n < 2 or falls(&scores[first], n):
                    continue
                read(&ids.column, first, n, texts)
                memcpy(copies, &scores[first], n * sizeof(double))
                put_in_order(copies, texts, &places[first], n, rows)
    finally:
        free(rows)
    return order


def falls_to(dict ranking, int64_t depth, bint single):
    """Whether a dict has its documents in rank order, by any rule for ties: floats that fall.

    Scores may be equal where no order of theirs matters to the first `depth` documents. With `single` they are float32.
    """
    cdef PyObject* keys[BATCH_ROWS]
    cdef PyObject* values[BATCH_ROWS]
    cdef Py_ssize_t position = 0, i, m
    cdef double score, last = 0.0
    cdef int64_t n = 0
    cdef bint plain
    with cython.critical_section(ranking):
        plain = strings_only(ranking)
        while True:
            m = gather(ranking, plain, &position, keys, values, BATCH_ROWS)
            if m == 0:
                return True
            for i in range(m):
                if not PyFloat_CheckExact(values[i]):
                    return False
                score = PyFloat_AsDouble(values[i])
                if single:
                    score = <double><float>score
                if n > 0 and (score > last or (score == last and n <= depth)):
                    return False
                last = score
                n += 1
