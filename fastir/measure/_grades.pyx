"""Labels that are not whole, as codes: the grades of a set of judgments, from the lowest up.

Every kernel reads labels as int32. Whole labels are what they say. Where one label of a set of judgments is a fraction,
all of them become codes: 0 for 0, and for those above 0 their places among the distinct ones, from 1 up, so that codes
compare as labels do; a Plan for these Grades (request/plan.py) has relevance levels and labels of gains as codes, too,
and looks up what a code stands for where a formula adds it. Negative labels have no grade: -1 stays -1, outside the
qrels, and every other one is -2, in the pool without a judgment.
"""

from libc.math cimport floor, ldexp
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np


cdef enum:
    POOLED = -2                 # in the pool without a judgment
    FIRST_SIZE = 1 << 10        # places of the table at first; a power of two


cdef struct Table:              # of distinct doubles above 0, by their bits
    double* labels              # 0.0 is a free place
    int32_t* numbers            # in order of first appearance
    uint64_t mask
    int64_t n


cdef inline uint64_t place_of(const Table* table, double label) noexcept nogil:
    """Where a label stands, or the free place for it."""
    cdef uint64_t bits, place
    memcpy(&bits, &label, sizeof(bits))
    bits *= <uint64_t>0x9E3779B97F4A7C15
    place = bits >> 20 & table.mask
    while table.labels[place] != 0.0 and table.labels[place] != label:
        place = place + 1 & table.mask
    return place


cdef int resize(Table* table, uint64_t size) noexcept nogil:
    """Give the table so many places; 0, or -1 without memory."""
    cdef Table larger
    cdef uint64_t i, place
    larger.labels = <double*>calloc(size, sizeof(double))
    larger.numbers = <int32_t*>calloc(size, sizeof(int32_t))
    larger.mask = size - 1
    larger.n = table.n
    if larger.labels == NULL or larger.numbers == NULL:
        free(larger.labels)
        free(larger.numbers)
        return -1
    if table.labels != NULL:
        for i in range(table.mask + 1):
            if table.labels[i] != 0.0:
                place = place_of(&larger, table.labels[i])
                larger.labels[place], larger.numbers[place] = table.labels[i], table.numbers[i]
    free(table.labels)
    free(table.numbers)
    table[0] = larger
    return 0


cdef int number_labels(Table* table, const double[::1] labels, int32_t[::1] codes) noexcept nogil:
    """Fill in codes of labels from 0 down, and the numbers of the others + 1; 0, or -1 without memory."""
    cdef int64_t i
    cdef uint64_t place
    cdef double label
    cdef int32_t code
    for i in range(labels.shape[0]):
        label = labels[i]
        if not label > 0.0:
            codes[i] = 0 if label == 0.0 else -1 if label == -1.0 else POOLED
            continue
        place = place_of(table, label)
        if table.labels[place] == 0.0:
            if table.n == INT32_MAX - 1:
                return -1
            table.labels[place], table.numbers[place] = label, <int32_t>table.n
            table.n += 1
            code = <int32_t>table.n
            if 2 * table.n > <int64_t>table.mask and resize(table, 4 * (table.mask + 1)) < 0:
                return -1
        else:
            code = table.numbers[place] + 1
        codes[i] = code
    return 0


cdef double power_of_two(double x) noexcept nogil:
    """2^x, within one or two units in the last place: the series of e^y for what is left of the nearest whole number.

    exp2_real takes fifteen times as long, for exponents that a metric has one of.
    """
    cdef double whole = floor(x + 0.5), y = (x - whole) * 0.6931471805599453, total = 1.0
    cdef int j
    for j in range(15, 0, -1):
        total = 1.0 + total * (y * INVERSES[j])
    return ldexp(total, <int>whole)


cdef double[16] INVERSES
INVERSES[0] = 0.0
for _j in range(1, 16):
    INVERSES[_j] = 1.0 / <double>_j


class Grades:
    """The distinct labels above 0 of a set of judgments, some of which are not whole; immutable.

    Parameters
    ----------
    labels : float64 array of shape (n_grades,)
        Ascending, 0.0 first: the label that each code from 0 up stands for.
    others : tuple of float
        Labels that no document has, for which a gain was given: the codes behind.

    Attributes
    ----------
    powers : float64 array of shape (n_grades,)
        2^label.
    """

    def __init__(self, labels, others=()):
        self.n_known = len(labels)
        labels = np.concatenate((labels, others))
        cdef const double[::1] of_codes = labels
        cdef int64_t i
        powers = np.empty(len(labels))
        cdef double[::1] out = powers
        for i in range(of_codes.shape[0]):
            out[i] = power_of_two(of_codes[i]) if of_codes[i] <= 1023.0 else 0.0
        self.labels, self.powers = labels, powers

    def code_from(self, level):
        """The code from which on labels are at least `level`, a number above 0; it may be one more than there are."""
        return max(int(np.searchsorted(self.labels[:self.n_known], level)), 1)

    def with_labels(self, labels):
        """These grades, and codes for labels that they lack; negative ones have none."""
        labels = [label for label in labels if label >= 0]
        if not labels:
            return self
        known = set(self.labels.tolist())
        others = tuple(dict.fromkeys(float(label) for label in labels if label not in known))
        return Grades(self.labels, others) if others else self

    def code_of(self, label):
        """The code of a label that is among these; a negative one is its own."""
        return label if label < 0 else int(np.flatnonzero(self.labels == label)[0])

    def labels_of(self, codes):
        """The labels that codes stand for, as float64; negative codes stay."""
        return np.where(codes < 0, codes, self.labels[np.maximum(codes, 0)])


def coded(*columns):
    """The Grades of all these labels together, and each column as codes.

    Parameters
    ----------
    *columns : arrays of finite numbers

    Returns
    -------
    Grades, list of int32 arrays
    """
    cdef Table table
    cdef int failed = 0
    cdef double[::1] labels
    cdef int32_t[::1] codes
    table.labels, table.numbers, table.n = NULL, NULL, 0
    made = []
    try:
        if resize(&table, FIRST_SIZE) < 0:
            raise MemoryError
        for column in columns:
            labels = np.array(column, np.float64)   # a copy: another thread may change what a caller gave
            codes_made = np.empty(len(column), np.int32)
            made.append(codes_made)
            codes = codes_made
            with nogil:
                failed = number_labels(&table, labels, codes)
            if failed:
                raise MemoryError
        distinct = np.empty(table.n)
        fill_distinct(&table, distinct)
    finally:
        free(table.labels)
        free(table.numbers)
    order = np.argsort(distinct)
    places = np.concatenate(([POOLED, -1], np.zeros(len(distinct) + 1))).astype(np.int32)   # of codes from -2 up
    places[order + 3] = np.arange(1, len(distinct) + 1)
    for column in made:
        put_in_order(column, places)
    return Grades(np.concatenate(([0.0], distinct[order]))), made


cdef put_in_order(int32_t[::1] codes, const int32_t[::1] places):
    """Make places among the distinct labels of numbers in order of first appearance."""
    cdef int64_t i
    with nogil:
        for i in range(codes.shape[0]):
            codes[i] = places[codes[i] + 2]


cdef fill_distinct(const Table* table, double[::1] out):
    """Write the labels of a table by their numbers."""
    cdef uint64_t i
    for i in range(table.mask + 1):
        if table.labels[i] != 0.0:
            out[table.numbers[i]] = table.labels[i]


def fractions_of(labels, offsets):
    """How many labels of the queries are not whole, and the place of the query of the first; (0, 0) if all are."""
    if labels.dtype.kind != "f":
        return 0, 0
    places = np.flatnonzero(labels != np.trunc(labels))
    if not len(places):
        return 0, 0
    return len(places), int(np.searchsorted(offsets, places[0], "right")) - 1


def has_fractions(labels):
    """Whether one of some finite numbers is not whole."""
    return labels.dtype.kind == "f" and bool((labels != np.trunc(labels)).any())
