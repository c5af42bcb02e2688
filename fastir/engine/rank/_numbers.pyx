"""Numbers of documents, such as costs, in rank order: only of the documents down to where someone stops reading.

A caller has the numbers in a dict by id. Most rankings are in rank order already, except for ties; then the numbers of
the first documents are looked up with the ids as they are, and no other id is read. Rankings in another order are left
to the caller, who hands in the rows in rank order.

Per query a reader goes on to at least so many documents, and then until the sum of the numbers is above a limit.
"""

from cpython.object cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc, qsort

from fastir.engine.columns._entries cimport (DICTS_AHEAD, PAIRS_AHEAD, Reader, ask_for_dicts, ask_for_pairs,
                                             entries_are_known, gather, list_item, read_score,
                                             strings_only, unchanged)
from fastir.engine.columns._ids cimport Ids
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.measure._codes cimport INPUT, REVERSED
from fastir.engine.rank._rank cimport id_sign

import numpy as np

from fastir.engine.rank._order import falls_to

cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    Py_ssize_t PyDict_Size(object) except -1
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyUnicode_Compare(PyObject*, PyObject*) noexcept nogil
    Py_ssize_t PyObject_Hash(PyObject*) except? -1

cdef enum:
    FIRST_ROWS = 8      # rows that are asked for first; later ones in batches of BATCH_ROWS
    BATCH_ROWS = 64     # at most PAIRS_AHEAD

cdef enum:              # what becomes of a document
    READ_ON
    STOP
    NO_NUMBER           # it has no number, or one that is not from 0 up


cdef int ask(dict known, PyObject** ids, Py_ssize_t n) except -1:
    """Ask for the memory of n look-ups of exact str or int objects."""
    cdef Py_ssize_t[BATCH_ROWS] hashes
    cdef Py_ssize_t i
    if not strings_only(known):
        return 0
    for i in range(n):
        hashes[i] = PyObject_Hash(ids[i])
    ask_for_pairs(known, hashes, n)
    return 0


cdef struct Rows:           # of one ranking, as far as it is read
    PyObject** keys         # one allocation with the scores
    double* scores


cdef int larger_first(const void* a, const void* b) noexcept nogil:
    return PyUnicode_Compare((<PyObject**>b)[0], (<PyObject**>a)[0])


cdef int smaller_first(const void* a, const void* b) noexcept nogil:
    return PyUnicode_Compare((<PyObject**>a)[0], (<PyObject**>b)[0])


cdef bint settle(Rows* rows, int64_t first, int64_t stop, bint integers, int ties) noexcept:
    """Put rows with falling scores into rank order, those of equal scores; whether that can be done here."""
    cdef int64_t i = first, j, end
    while i < stop:
        end = i + 1
        while end < stop and rows.scores[end] == rows.scores[i]:
            end += 1
        if end - i > 1 and ties == REVERSED:
            for j in range((end - i) // 2):
                rows.keys[i + j], rows.keys[end - 1 - j] = rows.keys[end - 1 - j], rows.keys[i + j]
        elif end - i > 1 and integers:
            return False
        elif end - i > 1:
            qsort(rows.keys + i, end - i, sizeof(PyObject*), larger_first if id_sign(ties) > 0 else smaller_first)
        i = end
    return True


cdef bint are_ranked(const double* scores, int64_t n) noexcept nogil:
    """Whether no score is above the one before it."""
    cdef int64_t i
    cdef bint falling = True
    for i in range(1, n):
        falling &= scores[i] <= scores[i - 1]
    return falling


cdef bint is_tied(const double* scores, int64_t n, int64_t size) noexcept nogil:
    """Whether one of the first n of `size` falling scores is equal to another."""
    cdef int64_t i
    for i in range(1, min(n + 1, size)):
        if scores[i] == scores[i - 1]:
            return True
    return False


cdef class Numbers:
    """The numbers of the documents that are read, query after query.

    `sizes` says how many each query has, -1 where the rows are not known to be in rank order, or a document has no
    right number; `sums` are those down to each document. `wrong` is the query and the id of such a document where the
    order is known, or None.

    Parameters: for each query the least and the largest number of documents (int64); the sum above which the reader
    stops; the number of documents that have none, NaN where each must have one.
    """

    cdef readonly object sizes, numbers, sums, wrong
    cdef const int64_t[::1] least, most
    cdef int64_t[::1] counts
    cdef double[::1] found, totals
    cdef double limit, absent, total
    cdef int64_t used
    cdef Reader reader

    def __init__(self, const int64_t[::1] least, const int64_t[::1] most, double limit, double absent):
        cdef int64_t q, room = 0
        for q in range(most.shape[0]):
            room += most[q]
        self.least, self.most, self.limit, self.absent = least, most, limit, absent
        self.sizes = np.full(most.shape[0], -1, np.int64)
        self.numbers, self.sums = np.empty(room), np.empty(room)
        self.counts, self.found, self.totals = self.sizes, self.numbers, self.sums
        self.reader.type = NULL

    cdef int add(self, int64_t q, int64_t n, dict known, PyObject* doc_id) except -1:
        """Read the number of document n of a query; the id is an exact str or int, and so are the keys."""
        cdef PyObject* value = PyDict_GetItemWithError(known, doc_id)
        cdef double number = self.absent
        if value != NULL and not (PyFloat_CheckExact(value) or PyLong_CheckExact(value)):
            return NO_NUMBER
        if value != NULL and not read_score(&self.reader, value, &number):
            return NO_NUMBER
        if number != number or number == INFINITY or (value != NULL and number < 0):
            return NO_NUMBER
        self.total += number
        self.found[self.used + n], self.totals[self.used + n] = number, self.total
        return STOP if n + 1 >= self.least[q] and self.total > self.limit else READ_ON

    def arrays(self):
        """The numbers and their sums."""
        return self.numbers[:self.used].copy(), self.sums[:self.used].copy()

    def read_dicts(self, list rankings, list known, falls, bint integers, bint single, int ties):
        """Read dicts with scores, or None; `known` are the dicts of numbers, `falls` whether scores are known to fall.

        All ids are to be exact int, or exact str; a query with others is left, and one with integers of equal scores.
        """
        cdef const unsigned char[::1] falling = falls
        cdef PyObject* dicts[DICTS_AHEAD]
        cdef int64_t q, n, longest = 0
        for ranking in rankings:
            longest = max(longest, 0 if ranking is None else <int64_t>PyDict_Size(ranking))
        cdef Rows rows
        rows.keys = <PyObject**>malloc((longest + BATCH_ROWS) * (sizeof(PyObject*) + sizeof(double)))
        rows.scores = <double*>(rows.keys + longest + BATCH_ROWS)
        if rows.keys == NULL:
            raise MemoryError
        try:
            for q in range(len(rankings)):
                if entries_are_known and q % DICTS_AHEAD == 0:
                    for n in range(q, min(q + DICTS_AHEAD, len(rankings))):
                        dicts[n - q] = list_item(rankings, n)
                    ask_for_dicts(dicts, min(DICTS_AHEAD, len(rankings) - q))
                ranking = rankings[q]
                if ranking is None:
                    self.counts[q] = 0
                    continue
                if not falling[q] and not falls_to(ranking, 0, single):
                    continue
                self.total = 0
                n = self.read_dict(q, unchanged(ranking), known[q], &rows, integers, single, ties)
                if self.wrong is not None:
                    return
                self.counts[q] = n
                self.used += max(n, <int64_t>0)
        finally:
            free(rows.keys)

    cdef int64_t read_dict(self, int64_t q, dict ranking, dict known, Rows* rows, bint integers, bint single,
                           int ties) except -2:
        """The numbers of a ranking with scores that fall; how many, or -1. No Python code runs: ids are borrowed."""
        cdef PyObject** keys = rows.keys
        cdef PyObject* values[BATCH_ROWS]
        cdef Py_ssize_t position = 0, m, batch = FIRST_ROWS
        cdef bint plain = strings_only(ranking)
        cdef int64_t i, n = 0, filled = 0, stop, most = min(self.most[q], <int64_t>PyDict_Size(ranking))
        cdef int outcome
        cdef Reader reader
        reader.type = NULL
        while n < most:
            m = gather(ranking, plain, &position, keys + filled, values, max(min(batch, most + 1 - filled), FIRST_ROWS))
            for i in range(filled, filled + m):
                prefetch(<const char*>keys[i])
            for i in range(filled, filled + m):
                if not read_score(&reader, values[i - filled], rows.scores + i):
                    return -1
                if not (PyLong_CheckExact(keys[i]) if integers else PyUnicode_CheckExact(keys[i])):
                    return -1
                if single:
                    rows.scores[i] = <double><float>rows.scores[i]
            filled += m
            stop = filled
            if m > 0 and ties != INPUT:     # the last score may go on in the next batch
                stop -= 1
                while stop > n and rows.scores[stop - 1] == rows.scores[stop]:
                    stop -= 1
            if ties != INPUT and not settle(rows, n, stop, integers, ties):
                return -1
            batch = min(PAIRS_AHEAD, BATCH_ROWS)
            while n < stop and n < most:
                m = min(batch, min(stop, most) - n)
                ask(known, keys + n, m)
                for i in range(n, n + m):
                    outcome = self.add(q, i, known, keys[i])
                    if outcome == NO_NUMBER:
                        self.wrong = q, <object>keys[i]
                        return -1
                    if outcome == STOP:
                        return i + 1
                n += m
        return n

    def read_rows(self, Ids ids, const int64_t[::1] begins, const int64_t[::1] ends, const double[::1] scores, order,
                  list known, int ties):
        """Read queries of rows, those from begins[q] to ends[q]; `order` has the rows in rank order, or is None.

        Where it is None, a query is left if its scores do not fall, or two that are read are equal.
        """
        cdef const int64_t[::1] rows = order
        cdef const double* of_query
        cdef PyObject* objects[BATCH_ROWS]
        cdef int64_t q, n, row, first, size, most, batch
        cdef int outcome
        for q in range(begins.shape[0]):
            first, size = begins[q], ends[q] - begins[q]
            of_query = &scores[first] if size > 0 else NULL
            if order is None and not are_ranked(of_query, size):
                continue
            self.total, n, outcome = 0, 0, READ_ON
            most = min(self.most[q], size)
            batch = FIRST_ROWS
            while outcome == READ_ON and n < most:
                doc_ids = [ids[first + row if order is None else rows[first + row]]
                           for row in range(n, min(n + batch, most))]
                for row in range(len(doc_ids)):
                    objects[row] = list_item(doc_ids, row)
                ask(known[q], objects, len(doc_ids))
                for row in range(len(doc_ids)):
                    outcome = self.add(q, n, known[q], objects[row])
                    if outcome == NO_NUMBER:
                        doc_id = doc_ids[row]
                        break
                    n += 1
                    if outcome == STOP:
                        break
                batch = BATCH_ROWS
            if outcome == NO_NUMBER:
                if order is None:
                    continue
                self.wrong = q, doc_id
                return
            if order is None and ties != INPUT and is_tied(of_query, n, size):
                continue
            self.counts[q] = n
            self.used += n


def are_plain_numbers(dict numbers, bint integers):
    """Whether all ids are exact int, or else exact str, and all numbers exact float or int, finite and from 0 up."""
    cdef PyObject* keys[BATCH_ROWS]
    cdef PyObject* values[BATCH_ROWS]
    cdef Py_ssize_t position = 0, i, m
    cdef dict held = unchanged(numbers)
    cdef bint plain = strings_only(held), right = not (plain and integers)
    cdef double number = 0
    cdef Reader reader
    reader.type = NULL
    while right:
        m = gather(held, plain, &position, keys, values, BATCH_ROWS)
        if m == 0:
            break
        for i in range(m):
            right &= PyFloat_CheckExact(values[i]) or PyLong_CheckExact(values[i])
            right = right and read_score(&reader, values[i], &number) and 0 <= number < INFINITY
            right &= plain or (PyLong_CheckExact(keys[i]) if integers else PyUnicode_CheckExact(keys[i]))
    return right


def rank_within(const double[::1] costs, const int64_t[::1] offsets, double most, bint skip, bint at_least_one):
    """The new rank, from 1, of each document that fits `most`, 0 of the others; and how many of each query fit.

    A user stops at the first document that does not fit or, with `skip`, passes over it.
    """
    cdef int64_t q, i, n
    cdef double total
    ranks, sizes = np.zeros(costs.shape[0], np.int64), np.empty(offsets.shape[0] - 1, np.int64)
    cdef int64_t[::1] new = ranks, kept = sizes
    for q in range(offsets.shape[0] - 1):
        n, total = 0, 0
        for i in range(offsets[q], offsets[q + 1]):
            if total + costs[i] <= most:
                total += costs[i]
                n += 1
                new[i] = n
            elif not skip:
                break
        if n == 0 and at_least_one and offsets[q] < offsets[q + 1]:
            new[offsets[q]] = n = 1
        kept[q] = n
    return ranks, sizes
