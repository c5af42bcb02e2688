"""Real-valued labels as codes: the grades of a set of judgments, from the lowest up.

Every kernel reads labels as int32. Whole labels are what they say. Where one label of a set of judgments is a fraction,
all of them become codes: 0 for 0, and for labels above 0 their positions among the distinct ones, from 1 up, so that
codes compare as labels do; a Plan for these Grades (request/plan.py) has relevance levels and labels of gains as codes,
too, and looks up the label of a code when a formula adds it. Negative labels have no grade: -1 stays -1, outside the
qrels, and every other one is -2, in the pool without a judgment.
"""

from libc.stdint cimport INT32_MAX, int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from fastir.engine.measure._arithmetic cimport power_less_one, power_of_two
from fastir.engine.measure._registry cimport ROW_BITS


cdef enum:
    POOLED = -2                     # in the pool without a judgment
    FIRST_SLOTS = 1 << 10           # slots of the table at first; a power of two
    MAX_HASHED_LABELS = 1 << 12     # distinct labels; of more, all labels are sorted
    DIGIT_BITS = 11                 # bits of a label by which they are sorted at a time
    FULL_TABLE = 1                  # what number_labels() may return
    NO_MEMORY = 2
    FEW_BITS = 11
    FEW_SLOTS = 1 << FEW_BITS       # of the table of few labels
    MAX_FEW_LABELS = 32             # distinct labels above 0, and others; of more, codes gain nothing as bytes
    AT_ONCE = 8                     # labels that are all 0 more often than not
    FIRST_LABELS = 1 << 12          # labels by which the codes are first put in order


cdef struct Table:              # of distinct doubles above 0, by their bits
    double* labels              # 0.0 is a free slot
    int32_t* numbers            # in order of first appearance
    uint64_t mask
    int64_t n


cdef inline uint64_t find_place(const Table* table, double label) noexcept nogil:
    """The slot of a label, or the free slot for it."""
    cdef uint64_t bits, place
    memcpy(&bits, &label, sizeof(bits))
    bits *= <uint64_t>0x9E3779B97F4A7C15
    place = bits >> 20 & table.mask
    while table.labels[place] != 0.0 and table.labels[place] != label:
        place = place + 1 & table.mask
    return place


cdef int resize(Table* table, uint64_t size) noexcept nogil:
    """Give the table so many slots; 0, or -1 without memory."""
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
                place = find_place(&larger, table.labels[i])
                larger.labels[place], larger.numbers[place] = table.labels[i], table.numbers[i]
    free(table.labels)
    free(table.numbers)
    table[0] = larger
    return 0


cdef int number_labels(Table* table, const double[::1] labels, int32_t[::1] codes) noexcept nogil:
    """Fill in codes of labels from 0 down, and the numbers of the others + 1; 0, FULL_TABLE or NO_MEMORY."""
    cdef int64_t i
    cdef uint64_t place
    cdef double label
    cdef int32_t code
    for i in range(labels.shape[0]):
        label = labels[i]
        if not label > 0.0:
            codes[i] = 0 if label == 0.0 else -1 if label == -1.0 else POOLED
            continue
        place = find_place(table, label)
        if table.labels[place] == 0.0:
            if table.n == MAX_HASHED_LABELS:
                return FULL_TABLE
            table.labels[place], table.numbers[place] = label, <int32_t>table.n
            table.n += 1
            code = <int32_t>table.n
            if 2 * table.n > <int64_t>table.mask and resize(table, 4 * (table.mask + 1)) < 0:
                return NO_MEMORY
        else:
            code = table.numbers[place] + 1
        codes[i] = code
    return 0


class Grades:
    """The distinct labels above 0 of a set of real-valued judgments; immutable.

    labels      float64, ascending, 0.0 first: the label of each code; behind them `others`, which no document has, but
                for which a gain was given
    powers      2^label; and `gains`, 2^label - 1
    largest     the largest label of a document
    """

    def __init__(self, labels, others=()):
        self.n_grades, self.largest = len(labels), float(labels[-1])
        labels = np.concatenate((labels, others))
        cdef const double[::1] label_by_code = labels
        cdef int64_t i
        powers, gains = np.zeros(len(labels)), np.zeros(len(labels))
        cdef double[::1] power = powers, gain = gains
        for i in range(label_by_code.shape[0]):
            if label_by_code[i] <= 1023.0:
                power[i], gain[i] = power_of_two(label_by_code[i]), power_less_one(label_by_code[i])
        self.labels, self.powers, self.gains = labels, powers, gains

    def code_from(self, level):
        """The code from which on labels are at least `level`, not below 0; it may be one more than there are."""
        return max(int(np.searchsorted(self.labels[:self.n_grades], level)), 1) if level > 0 else 0

    def with_labels(self, labels):
        """These grades, with codes for further labels; negative ones have none."""
        labels = [label for label in labels if label >= 0]
        if not labels:
            return self
        graded = set(self.labels.tolist())
        others = tuple(dict.fromkeys(float(label) for label in labels if label not in graded))
        return Grades(self.labels, others) if others else self

    def exact_code(self, label):
        """The code of a label that is among these; a negative one is its own."""
        return label if label < 0 else int(np.flatnonzero(self.labels == label)[0])

    def decode(self, codes):
        """The labels of codes, as float64; negative codes stay."""
        return np.where(codes < 0, codes, self.labels[np.maximum(codes, 0)])


class Rows:
    """Takes the part of Grades if the code of a label above 0 is its class and its row.

    class    how many of `levels` (above 0, rising, fewer than MOST_LEVELS) a label reaches, and one more
    code     class << ROW_BITS | row

    Only what compares labels with a level, and what adds up the gains of the first ranks, can read such codes.
    """

    labels = None

    def __init__(self, levels):
        self.levels = levels

    def code_from(self, level):
        """The code from which on labels are at least `level`."""
        reached = int(np.searchsorted(self.levels, level, "right"))
        return reached + 1 << ROW_BITS if reached else 1

    def with_labels(self, labels):
        """These: no label has a gain of its own."""
        return self

    def exact_code(self, label):
        """The code of a negative label, which is its own: no other has a gain of its own."""
        return label


MOST_LEVELS = 100
MOST_ROWS = 1 << ROW_BITS   # of a group


def coded(*columns):
    """The Grades of all labels of some arrays of finite numbers together, and each array as int32 codes."""
    cdef Table table
    cdef int failed = 0
    cdef double[::1] labels
    cdef int32_t[::1] codes
    table.labels, table.numbers, table.n = NULL, NULL, 0
    copies = [np.array(column, np.float64) for column in columns]   # another thread may change what a caller gave
    code_arrays = [np.empty(len(column), np.int32) for column in columns]
    try:
        if resize(&table, FIRST_SLOTS) < 0:
            raise MemoryError
        for labels, codes in zip(copies, code_arrays):
            with nogil:
                failed = number_labels(&table, labels, codes)
            if failed == NO_MEMORY:
                raise MemoryError
            if failed:
                return coded_by_sorting(copies, code_arrays)
        distinct = np.empty(table.n)
        fill_distinct(&table, distinct)
    finally:
        free(table.labels)
        free(table.numbers)
    order = np.argsort(distinct)
    places = np.concatenate(([POOLED, -1], np.zeros(len(distinct) + 1))).astype(np.int32)   # of codes from -2 up
    places[order + 3] = np.arange(1, len(distinct) + 1)
    for column in code_arrays:
        put_in_order[int32_t](column, places)
    return Grades(np.concatenate(([0.0], distinct[order]))), code_arrays


ctypedef fused real:
    float
    double


cdef struct FewLabels:          # of a set of judgments
    uint64_t bits[FEW_SLOTS]        # of the labels; 0 is a free slot, but for the first one, which is that of 0
    int8_t codes[FEW_SLOTS]
    uint8_t fractions[FEW_SLOTS]    # whether the label is one
    double distinct[MAX_FEW_LABELS + 1]     # the labels above 0 by their codes
    int n, n_others
    bint is_rising                  # whether codes compare as the labels do


cdef inline uint64_t few_slot(uint64_t bits) noexcept nogil:
    """The first slot for a label."""
    return bits * <uint64_t>0x9E3779B97F4A7C15 >> 64 - FEW_BITS


cdef int place_label(FewLabels* table, double label) noexcept nogil:
    """The slot of a label, new or known; -1 if it is out of range, or one too many."""
    cdef int code
    cdef uint64_t bits, place
    memcpy(&bits, &label, sizeof(bits))
    place = few_slot(bits)
    while table.bits[place] != bits:
        if place > 0 and table.bits[place] == 0:
            break
        place = place + 1 & FEW_SLOTS - 1
    else:
        return <int>place
    if not -2147483648.0 <= label <= 2147483647.0:
        return -1
    if label > 0.0:
        if table.n == MAX_FEW_LABELS:
            return -1
        table.n += 1
        code = table.n
        table.distinct[code] = label
        table.is_rising = table.is_rising and (code == 1 or label > table.distinct[code - 1])
    else:
        if table.n_others == MAX_FEW_LABELS:
            return -1
        table.n_others += 1
        code = 0 if label == 0.0 else -1 if label == -1.0 else POOLED
    table.bits[place] = bits
    table.codes[place] = <int8_t>code
    table.fractions[place] = label != <double><int64_t>label
    return <int>place


cdef int64_t number_few(FewLabels* table, const real* labels, int64_t n, int8_t* codes, int64_t* first) noexcept nogil:
    """Fill in the codes of labels; how many are fractions, and the place of the first, or -1 if they are not few."""
    cdef int64_t i = 0, j, stop, n_fractions = 0, found
    cdef uint64_t bits, slot, unknown
    cdef int place, others
    cdef double label
    while i < n:
        stop = min(i + AT_ONCE, n)
        if stop == i + AT_ONCE:
            others = 0
            for j in range(AT_ONCE):
                codes[i + j] = 0
                others |= labels[i + j] != 0
            if not others:
                i = stop
                continue
        unknown = 0
        found = 0
        for j in range(i, stop):
            label = labels[j]
            memcpy(&bits, &label, sizeof(bits))
            slot = few_slot(bits)
            unknown |= table.bits[slot] ^ bits
            codes[j] = table.codes[slot]
            found += table.fractions[slot]
        if unknown or (found and n_fractions == 0):
            found = 0
            for j in range(i, stop):
                place = place_label(table, labels[j])
                if place < 0:
                    return -1
                codes[j] = table.codes[place]
                if n_fractions + found == 0:
                    first[0] = j
                found += table.fractions[place]
        n_fractions += found
        i = stop
    return n_fractions


cdef list put_few_in_order(FewLabels* table):
    """Make codes compare as labels do; the new code of each from POOLED up."""
    cdef int i
    distinct = sorted([table.distinct[i] for i in range(1, table.n + 1)])
    codes = {label: code for code, label in enumerate(distinct, 1)}
    places = [POOLED, -1, 0, *[codes[table.distinct[i]] for i in range(1, table.n + 1)]]
    for i in range(FEW_SLOTS):
        if table.codes[i] > 0:
            table.codes[i] = places[table.codes[i] + 2]
    for i in range(table.n):
        table.distinct[i + 1] = distinct[i]
    table.is_rising = True
    return places


def few_coded(*columns):
    """`coded` for few distinct labels: codes of int8, which are read as fast as whole labels.

    Returns
    -------
    tuple or None
        (Grades, the codes of each column, (how many labels of it are fractions, the place of the first)); None if
        other than floats side by side are among the columns, none is a fraction, or a label is out of range or one too
        many.
    """
    cdef FewLabels table
    cdef int64_t n, n_fractions, first = 0
    cdef const double[::1] doubles
    cdef const float[::1] singles
    cdef int8_t[::1] codes
    memset(&table, 0, sizeof(table))
    table.is_rising = True
    if any(column.dtype.char not in "fd" or not column.flags.c_contiguous for column in columns):
        return None
    code_arrays = [np.empty(len(column), np.int8) for column in columns]
    fractions = [(0, 0)] * len(columns)
    # The first labels come twice: then most codes compare as the labels do.
    for which, end in ((0, FIRST_LABELS), *[(i, None) for i in range(len(columns))]):
        column, codes = columns[which][:end], code_arrays[which]
        n = len(column)
        if n == 0:
            continue
        if column.dtype.char == "d":
            doubles = column
            with nogil:
                n_fractions = number_few(&table, &doubles[0], n, &codes[0], &first)
        else:
            singles = column
            with nogil:
                n_fractions = number_few(&table, &singles[0], n, &codes[0], &first)
        if n_fractions < 0:
            return None
        fractions[which] = n_fractions, first if n_fractions else 0
        if end is not None and not table.is_rising:
            put_few_in_order(&table)
    if not any(n_fractions for n_fractions, _ in fractions):
        return None
    if not table.is_rising:
        places = np.array(put_few_in_order(&table), np.int8)
        for column in code_arrays:
            put_in_order[int8_t](column, places)
    return Grades(np.array([0.0, *[table.distinct[i] for i in range(1, table.n + 1)]])), code_arrays, fractions


cdef struct Place:              # of a label above 0 among all
    uint64_t bits               # of the label; they compare as the labels do
    int64_t row


cdef Place* sort_places(Place* places, Place* spare, int64_t n) noexcept nogil:
    """Sort by the bits, DIGIT_BITS of them at a time from the lowest on; the array that holds the positions then."""
    cdef int64_t homes[1 << DIGIT_BITS]
    cdef int64_t i, home, size, which_digit
    cdef uint64_t differing = 0, digit
    cdef int shift, which
    for i in range(1, n):
        differing |= places[i].bits ^ places[0].bits
    for which in range(6):
        shift = which * DIGIT_BITS
        if not differing >> shift & (1 << DIGIT_BITS) - 1:
            continue
        memset(homes, 0, sizeof(homes))
        for i in range(n):
            homes[places[i].bits >> shift & (1 << DIGIT_BITS) - 1] += 1
        home = 0
        for which_digit in range(1 << DIGIT_BITS):
            size = homes[which_digit]
            homes[which_digit] = home
            home += size
        for i in range(n):
            digit = places[i].bits >> shift & (1 << DIGIT_BITS) - 1
            spare[homes[digit]] = places[i]
            homes[digit] += 1
        places, spare = spare, places
    return places


cdef coded_by_sorting(list columns, list code_arrays):
    """`coded` for many distinct labels: columns of float64, and their codes, to be filled."""
    cdef const double[::1] labels = columns[0] if len(columns) == 1 else np.concatenate(columns)
    cdef int64_t i, n = labels.shape[0], n_positive = 0
    whole = code_arrays[0] if len(code_arrays) == 1 else np.empty(n, np.int32)
    distinct = np.zeros(n + 1)
    cdef int32_t[::1] codes = whole
    cdef double[::1] label_by_code = distinct
    cdef int32_t code = 0
    cdef double label
    cdef Place* places = <Place*>malloc((2 * n + 1) * sizeof(Place))
    cdef Place* rising
    if places == NULL:
        raise MemoryError
    with nogil:
        for i in range(n):
            label = labels[i]
            if label > 0.0:
                memcpy(&places[n_positive].bits, &label, sizeof(label))
                places[n_positive].row = i
                n_positive += 1
            else:
                codes[i] = 0 if label == 0.0 else -1 if label == -1.0 else POOLED
        rising = sort_places(places, places + n, n_positive)
        for i in range(n_positive):
            if i == 0 or rising[i].bits != rising[i - 1].bits:
                if code == INT32_MAX - 1:
                    break
                code += 1
                label_by_code[code] = labels[rising[i].row]
            codes[rising[i].row] = code
    free(places)
    if code == INT32_MAX - 1:
        raise MemoryError
    if len(code_arrays) > 1:
        code_arrays = np.split(whole, np.cumsum([len(column) for column in columns[:-1]]))
    return Grades(distinct[:code + 1].copy()), code_arrays


ctypedef fused code_bits:
    int8_t
    int32_t


cdef put_in_order(code_bits[::1] codes, const code_bits[::1] places):
    """Make ranks among the distinct labels of numbers in order of first appearance."""
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


def count_fractions(labels, offsets):
    """How many labels of the queries are fractional, and the position of the query of the first; (0, 0) if none is."""
    if labels.dtype.kind != "f":
        return 0, 0
    places = np.flatnonzero(labels != np.trunc(labels))
    if not len(places):
        return 0, 0
    return len(places), int(np.searchsorted(offsets, places[0], "right")) - 1


def has_fractions(labels):
    """Whether one of some finite numbers is fractional."""
    return labels.dtype.kind == "f" and bool((labels != np.trunc(labels)).any())
