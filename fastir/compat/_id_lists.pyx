"""Lists of ids as labels in rank order, and their values, for tools that take such lists.

Ids are whatever the tool compares: of any type that has a hash. The first copy of a document counts; the others
keep their ranks and count for nothing, or are removed (`dict.fromkeys`) where the tool does that.
"""

import functools

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.measure._measure cimport Judgments, Plan, Scratch, grow, measure, release

import numpy as np

from fastir.evaluation.labels import evaluate_ranked
from fastir.request.options import RANKED, check_options
from fastir.request.plan import compile_settings

cdef extern from "Python.h":
    ctypedef struct PyObject
    PyObject* PyDict_GetItemWithError(object, object) except? NULL


cdef class Numbers:
    """A growing array of floats."""

    cdef double* first
    cdef Py_ssize_t n, room

    def __dealloc__(self):
        free(self.first)

    cdef int add(self, double number) except -1:
        cdef void* larger
        if self.n == self.room:
            larger = realloc(self.first, (2 * self.room + 128) * sizeof(double))
            if larger == NULL:
                raise MemoryError
            self.first, self.room = <double*>larger, 2 * self.room + 128
        self.first[self.n] = number
        self.n += 1
        return 0

    cdef array(self):
        cdef double[::1] numbers
        numbers_array = np.empty(self.n)
        numbers = numbers_array
        if self.n > 0:
            memcpy(&numbers[0], self.first, self.n * sizeof(double))
        return numbers_array


def labels_in_order(retrieved, relevant):
    """The labels of the ids of each query, in rank order; the first copy of an id has the label, the others have 0.

    A tuple of labels and offsets of the retrieved ids, then of the relevant ones (labels float64, offsets int64). The
    ids of one query are looked up before the next query is read: they are still in the processor's cache then.
    """
    cdef Numbers labels = Numbers(), ideal = Numbers()
    cdef list offsets = [0], ideal_offsets = [0]
    cdef PyObject* found
    cdef dict left
    for ids, judged in zip(retrieved, relevant, strict=True):
        left = dict(judged)
        for label in left.values():
            ideal.add(label)
        for each in ids:
            found = PyDict_GetItemWithError(left, each)
            if found == NULL:
                labels.add(0)
            else:
                labels.add(<object>found)
                del left[each]
        offsets.append(labels.n)
        ideal_offsets.append(ideal.n)
    return labels.array(), np.array(offsets, np.int64), ideal.array(), np.array(ideal_offsets, np.int64)


def values(retrieved, relevant, metrics, convention, **options):
    """Values of shape (n_queries, n_metrics), float64, of ids in rank order and {relevant id: label} for each query.

    `metrics`, `convention` and `options` are as for `evaluate_ranked`; labels are from 0 up.
    """
    labels, places, ideal, ideal_places = labels_in_order(retrieved, relevant)
    options |= {"convention": convention, "ideal_labels": ideal, "ideal_offsets": ideal_places}
    return evaluate_ranked(labels, places, metrics, **options).values


@functools.cache
def plan_of(metric, convention):
    """The plan of a metric of rankings without ids."""
    return compile_settings((metric,), check_options(ties=RANKED, convention=convention, choices={})).plan


def value_of_one(retrieved, relevant, metric, convention):
    """The value of one query, as `values` with labels of 1, without an array: that would take longer than the rest.

    A set of retrieved ids, for metrics that do not read ranks, has the relevant ones first.
    """
    cdef Plan plan = plan_of(metric, convention)
    cdef bint ordered = not isinstance(retrieved, set)
    cdef list ids = list(retrieved) if ordered else []
    cdef set left = set(relevant)
    cdef int64_t num_ret = len(ids) if ordered else len(<set>retrieved), n = len(left), n_hits = 0, i, rank
    cdef double value = 0.0
    cdef int32_t* labels = <int32_t*>malloc((n + 1) * sizeof(int32_t))
    cdef fenv_t callers
    cdef Judgments judgments
    cdef Scratch scratch
    memset(&scratch, 0, sizeof(Scratch))
    memset(&judgments, 0, sizeof(Judgments))
    try:
        if labels == NULL or grow(&scratch, plan, max(num_ret, n)) < 0:
            raise MemoryError
        for i in range(n):
            labels[i] = 1
        if ordered:
            for rank, each in enumerate(ids, 1):
                if each in left:
                    left.discard(each)
                    scratch.ranks[n_hits], scratch.labels[n_hits] = rank, 1
                    n_hits += 1
        else:
            n_hits = len(left & <set>retrieved)
            for i in range(n_hits):
                scratch.ranks[i], scratch.labels[i] = i + 1, 1
        judgments.labels = labels
        judgments.n_positive = judgments.n_judged = judgments.n_pool = n
        ordinary(&callers)
        measure(plan, &scratch, n_hits, num_ret, &judgments, &value)
        fesetenv(&callers)
    finally:
        release(&scratch)
        free(labels)
    return value


def labels_of_numbers(list judged, list ranked):
    """The label of each ranked id, and whether it was judged; ids are numbers, and the first judgment of one counts.

    Both sides have a float64 array of shape (n_documents, 2) for each query: ids, and in `judged` labels.
    """
    cdef Py_ssize_t q, i, at = 0, mask = 1, n = sum(map(len, ranked))
    cdef const double[:, ::1] known, given
    cdef double[::1] label_of
    cdef unsigned char[::1] judged_of
    cdef int row
    cdef int* table                 # of the judged ids: rows + 1 at slots that the bits of the ids give; 0 is free
    labels, there = np.zeros(n), np.zeros(n, np.uint8)
    label_of, judged_of = labels, there
    while mask < 8 * max(map(len, judged), default=0):
        mask *= 2
    table = <int*>malloc(mask * sizeof(int))
    if table == NULL:
        raise MemoryError
    try:
        for q in range(len(judged)):
            memset(table, 0, mask * sizeof(int))
            known, given = np.ascontiguousarray(judged[q]), np.ascontiguousarray(ranked[q])
            if known.shape[0] > 0 and given.shape[0] > 0:
                for i in range(known.shape[0]):
                    row = i + 1
                    find_row(table, mask - 1, &known[0, 0], known[i, 0], row)
                for i in range(given.shape[0]):
                    row = find_row(table, mask - 1, &known[0, 0], given[i, 0], 0)
                    if row > 0:
                        label_of[at + i], judged_of[at + i] = known[row - 1, 1], True
            at += given.shape[0]
    finally:
        free(table)
    return labels, there.view(bool)


cdef inline int find_row(int* table, Py_ssize_t mask, const double* rows, double number, int row) noexcept:
    """The row of an id, plus 1; if the table has none, `row`, which is stored."""
    cdef uint64_t bits
    cdef Py_ssize_t slot
    number += 0.0                   # -0.0 is 0.0
    memcpy(&bits, &number, sizeof(bits))
    slot = <Py_ssize_t>(bits * <uint64_t>0x9E3779B97F4A7C15 >> 32) & mask
    while table[slot] > 0:
        if rows[2 * (table[slot] - 1)] == number:
            return table[slot]
        slot = (slot + 1) & mask
    table[slot] = row
    return row
