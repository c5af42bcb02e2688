"""A query's judged items, from CSR, made ready for a ranking of item numbers.

The numbers of a row may come in any order; most come rising, as a canonical CSR has them, and are then only copied.
Sorting finds a duplicate item; the labels above 0 are sorted again, best first, for the ideal ranking. All of
this is in scratch of the thread that evaluates the row: nothing is prepared for all rows at once, and nothing is kept.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, qsort

from fastir.engine.measure._codes cimport NO_MEMORY, REPEATED
from fastir.engine.measure._measure cimport RUN, label_code, sort_labels


cdef int by_number(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const Item*>a).number, y = (<const Item*>b).number
    return (x > y) - (x < y)


cdef int take_items(Relevant* r, const int64_t* numbers, const int32_t* labels, int64_t n) noexcept nogil:
    """Fill r with n items; labels is NULL where all are 1. 0, NO_MEMORY, or REPEATED and r.at_fault."""
    cdef int64_t i
    cdef int32_t* ideal
    cdef bint rising = True
    if n >= r.capacity:
        free(r.items)
        r.capacity = n + n // 2 + 64
        r.items = <Item*>malloc(r.capacity * (sizeof(Item) + sizeof(int32_t)) + RUN * sizeof(int32_t))
        if r.items == NULL:
            r.capacity = 0
            return NO_MEMORY
    ideal = <int32_t*>(r.items + r.capacity)
    r.n = n
    r.judgments.labels = ideal
    r.judgments.n_pool = n
    r.judgments.n_positive = r.judgments.n_judged = 0
    for i in range(n):
        r.items[i].number = numbers[i]
        r.items[i].label = 1 if labels == NULL else label_code(labels[i])
        rising &= i == 0 or numbers[i - 1] < numbers[i]
        r.judgments.n_judged += r.items[i].label >= 0
        if r.items[i].label > 0:
            ideal[r.judgments.n_positive] = r.items[i].label
            r.judgments.n_positive += 1
    if labels != NULL:
        sort_labels(ideal, r.judgments.n_positive)
    if not rising:
        qsort(r.items, n, sizeof(Item), by_number)
        for i in range(1, n):
            if r.items[i - 1].number == r.items[i].number:
                r.at_fault = r.items[i].number
                return REPEATED
    return 0
