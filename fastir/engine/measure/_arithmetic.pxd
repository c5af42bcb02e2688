# Logarithms, powers and ratios for the metrics.
from libc.stdint cimport int32_t, int64_t

from fastir.engine.measure._registry cimport Query


cdef enum:
    TABLE_ENTRIES = 2048

cdef double* LOG2_HIGH      # log2 of 1 to TABLE_ENTRIES - 1

cdef double log2_beyond(int64_t n) noexcept nogil
cdef double log2_real(double x) noexcept nogil
cdef double natural_log(double x) noexcept nogil
cdef double exp2_real(double x) noexcept nogil
cdef double power_of_two(double x) noexcept nogil
cdef double power_less_one(double x) noexcept nogil


cdef inline double log2_integer(int64_t n) noexcept nogil:
    """log2 of an integer from 1 up."""
    return LOG2_HIGH[n] if n < TABLE_ENTRIES else log2_beyond(n)


cdef inline double discount_at(int64_t rank, int jk2) noexcept nogil:
    if jk2:
        return 1.0 if rank < 2 else log2_integer(rank)
    return log2_integer(rank + 1)


cdef inline double power(double base, int64_t exponent) noexcept nogil:
    cdef double result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


cdef inline double fade(double weight, double p, int64_t steps) noexcept nogil:
    """weight * p^steps, multiplied step by step: the bits of trec_eval, which does so at every rank."""
    cdef int64_t i = 0
    while i < steps and weight > 0.0:
        weight *= p
        i += 1
    return weight


cdef inline double ratio(double a, double b) noexcept nogil:
    return a / b if b > 0 else 0.0


# Equal scores under ties=average: what a metric's value is expected to be, over all orders of them.
#
# The hits of a tie are neighbours and share its ranks, from Query.ranks[i] to Query.lasts[i]; its other documents fill
# the rest. Where lasts is NULL there are no ties, and everything here counts plainly. A sum over ranks
# takes the mean of a tie's documents at each of its ranks (_measure.walk_ties); other metrics have closed forms of
# their own, beside their cards.
cdef struct Tie:                # documents of one score, or a single one
    int64_t first, last         # the ranks that they share
    int64_t relevant
    int64_t nonrelevant         # hits with lower labels


cdef inline int64_t take_tie(const Query* q, int64_t i, Tie* tie, int32_t lowest) noexcept nogil:
    """Count the tie that begins with hit i, its non-relevant ones from label `lowest` up; where the next begins."""
    tie.first = q.ranks[i]
    tie.last = tie.first if q.lasts == NULL else q.lasts[i]
    tie.relevant = tie.nonrelevant = 0
    while i < q.num_hits and q.ranks[i] == tie.first:
        if q.labels[i] >= q.level:
            tie.relevant += 1
        else:
            tie.nonrelevant += q.labels[i] >= lowest and q.labels[i] != -1
        i += 1
    return i


cdef inline double middle_rank(const Query* q, int64_t i) noexcept nogil:
    """The mean of the ranks that the tie of hit i shares."""
    return <double>q.ranks[i] if q.lasts == NULL else <double>(q.ranks[i] + q.lasts[i]) / 2.0


cdef inline double count_to(const Query* q, int64_t depth, int32_t low) noexcept nogil:
    """How many of the first `depth` documents have labels from `low` on, -1 never."""
    cdef int64_t i = 0, first, last, count
    cdef double total = 0.0
    while i < q.num_hits and q.ranks[i] <= depth:
        first = q.ranks[i]
        last = first if q.lasts == NULL else q.lasts[i]
        count = 0
        while i < q.num_hits and q.ranks[i] == first:
            count += q.labels[i] >= low and q.labels[i] != -1
            i += 1
        if last <= depth:
            total += <double>count
        else:
            total += <double>count * <double>(depth - first + 1) / <double>(last - first + 1)
    return total


cdef inline double chance_of_any(const Query* q, int64_t depth) noexcept nogil:
    """The chance that the first `depth` hold a relevant document."""
    cdef int64_t i = 0, j, size
    cdef double none = 1.0
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if tie.relevant > 0:
            size = tie.last - tie.first + 1
            for j in range(size):
                if tie.first + j > depth or none == 0.0:
                    break
                none *= <double>(size - tie.relevant - j if size - tie.relevant > j else 0) / <double>(size - j)
            break
    return 1.0 - none
