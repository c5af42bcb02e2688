"""One walk over a query's hits in rank order, which leaves the running sums at every cutoff.

In: a View with the tables of its gains, the hits with their labels (or codes, where some labels are not whole: places
in a table of labels, or class and row). Out: a Snapshot for each cutoff of the view, and the gains of the hits where a
metric reads them.

    ranks    2   5   6   40  ...          cutoffs   5     10     whole
    labels   1   3   0   2   ...          snapshots [0]   [1]    [2]

For small labels at the first ranks a table has the summands, so that the walk needs no division; the tables hold the
quotients that a division would give, so no bit depends on the way taken. Sums are sequential in rank order.
"""

from libc.math cimport ldexp
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint32_t
from libc.stdlib cimport malloc, qsort
from libc.string cimport memset

from fastir.engine.measure._arithmetic cimport discount_at, power_less_one
from fastir.engine.measure._codes cimport BINARY, EXP2, FULL, UNCUT
from fastir.engine.measure._registry cimport ROW_BITS, Gains, Query, Snapshot
from fastir.engine.measure._sort cimport falling_order, labels_from

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #endif

    /* The sum `total` after `rel_ret` relevant documents, and what n more add; ranks are below 2^52. Divisions take
     * most of the time, so they are done in pairs; a number below 2^52 becomes a double by the bits of 2^52. One number
     * behind the ranks can be read, whatever it is. */
    static inline double fastir_add_precisions(const int64_t *ranks, int64_t n, double rel_ret, double total) {
        int64_t i = 0;
    #if defined(__SSE2__) || defined(_M_X64)
        const __m128d big = _mm_set1_pd(4503599627370496.0), two = _mm_set1_pd(2.0);
        __m128d counts = _mm_set_pd(rel_ret + 2.0, rel_ret + 1.0);
        for (; i + 2 <= n; i += 2) {
            const __m128d rank = _mm_or_pd(_mm_castsi128_pd(_mm_loadu_si128((const __m128i *)(ranks + i))), big);
            const __m128d precision = _mm_div_pd(counts, _mm_sub_pd(rank, big));
            total += _mm_cvtsd_f64(precision);
            total += _mm_cvtsd_f64(_mm_unpackhi_pd(precision, precision));
            counts = _mm_add_pd(counts, two);
        }
        /* the last one of an odd number; for an even one the same with a rank that is not theirs, and none of it */
        const __m128d odd = _mm_castsi128_pd(_mm_set1_epi32((int)(i - n)));
        const __m128d rank = _mm_or_pd(_mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(ranks + i))), big);
        total += _mm_cvtsd_f64(_mm_and_pd(_mm_div_sd(counts, _mm_sub_sd(rank, big)), odd));
    #else
        for (; i < n; i++)
            total += (rel_ret + (double)(i + 1)) / (double)ranks[i];
    #endif
        return total;
    }
    """
    double fastir_add_precisions(const int64_t* ranks, int64_t n, double rel_ret, double total) noexcept nogil

cdef enum:
    MANY = 2                # relevant documents from which on their precisions are summed in a loop of their own


cdef double gain_by_rule(const Gains* rule, int32_t label, int32_t floor) noexcept nogil:
    cdef int64_t j
    if 0 <= label < floor:
        return 0.0
    for j in range(rule.n):
        if rule.labels[j] == label:
            return rule.values[j]
    if label <= 0:
        return 0.0
    if rule.curve == BINARY:
        return 1.0
    if rule.grades != NULL:
        return rule.gains[label] if rule.curve == EXP2 else rule.grades[label]
    return ldexp(1.0, label) - 1.0 if rule.curve == EXP2 else <double>label


cdef int fill_tables(View* view) noexcept nogil:
    """Make the tables of the summands of small labels at the first ranks; 0, or -1 without memory."""
    cdef int64_t rank, n = (view.gain_depth if view.gain_depth < NEAR - 1 else NEAR - 1) + 1
    cdef int32_t label
    cdef double* near = <double*>malloc(2 * SMALL * NEAR * sizeof(double))
    view.near = near
    if near == NULL:
        return -1
    view.alike = near + SMALL * NEAR
    for label in range(SMALL):
        view.small[label] = 0.0
        if view.rule.grades == NULL or label < view.rule.n_grades:
            view.small[label] = gain_by_rule(&view.rule, label, view.floor)
        near[label * NEAR] = view.alike[label * NEAR] = 0.0
        for rank in range(1, n):
            near[label * NEAR + rank] = view.small[label] / discount_at(rank, view.jk2)
            view.alike[label * NEAR + rank] = view.alike[label * NEAR + rank - 1] + near[label * NEAR + rank]
    return 0


cdef double gain_of_value(const View* view, int32_t code, double label) noexcept nogil:
    """The gain of a document with a label above 0, whose code says how it compares with the levels."""
    if code < view.floor:
        return 0.0
    if view.rule.curve == BINARY:
        return 1.0
    return power_less_one(label) if view.rule.curve == EXP2 else label


cdef inline double label_gain(const View* view, const double* values, int32_t label) noexcept nogil:
    """The gain of a document whose label, or its code, is `label`; values: NULL, or the labels by row."""
    if <uint32_t>label < SMALL:
        return view.small[label]
    if values != NULL and label > 0:
        return gain_of_value(view, label, values[label & (1 << ROW_BITS) - 1])
    return gain_by_rule(&view.rule, label, view.floor)


cdef inline double added(const View* view, int32_t label, int64_t rank, double gain) noexcept nogil:
    """The summand of DCG for a document with this label and gain."""
    if 0 <= label < SMALL and rank < NEAR:
        return view.near[label * NEAR + rank]
    return gain / discount_at(rank, view.jk2)


cdef int64_t ideal_gains(const View* view, const int32_t* labels, int64_t n, int64_t zeros,
                         double* gains) noexcept nogil:
    """How many gains above 0 there are, of labels that stand best first and of documents with label 0.

    Where labels have gains of their own, these are filled in, best first; else walk_ideal does that on its way.
    """
    cdef int64_t i, _i, n_gains = 0
    cdef double gain
    if view.rule.n == 0:
        return n if view.floor <= 1 else labels_from(labels, n, view.floor)
    for i in range(n):
        gain = label_gain(view, NULL, labels[i])
        if gain > 0.0:
            gains[n_gains] = gain
            n_gains += 1
    gain = label_gain(view, NULL, 0)
    if gain > 0.0:
        for _i in range(zeros):
            gains[n_gains] = gain
            n_gains += 1
    qsort(gains, n_gains, sizeof(double), falling_order)
    return n_gains


cdef void walk(const View* view, const Query* q, double* gains, double* ideal_gains,
               Snapshot* snapshots) noexcept nogil:
    """Run over the hits and the ideal list, noting their gains and leaving the sums at each cutoff.

    One loop, because splitting it costs more: the end of each short loop is mispredicted.
    """
    cdef int64_t i = 0, c, k, rank, first = 0, n = q.num_hits, depth = view.gain_depth
    cdef const int64_t* ranks = q.ranks
    cdef const int32_t* labels = q.labels
    cdef int32_t level = view.level
    cdef double rel_ret = 0.0, precisions = 0.0, gain = 0.0, dcg = 0.0, value
    for c in range(view.n_cutoffs):
        k = view.cutoffs[c]
        while i < n and ranks[i] <= k:
            rank = ranks[i]
            if rank > depth and n - i >= MANY and rel_ret == i and q.relevant and ranks[n - 1] <= k:
                precisions = fastir_add_precisions(ranks + i, n - i, rel_ret, precisions)
                first = rank if first == 0 else first
                rel_ret = <double>n
                i = n
                break
            if labels[i] >= level:
                rel_ret += 1.0
                first = rank if first == 0 else first
                precisions += rel_ret / <double>rank
            if rank <= depth:
                value = label_gain(view, q.values, labels[i])
                gain += value
                dcg += added(view, labels[i], rank, value)
                if view.lists_gains:
                    gains[i] = value
            i += 1
        snapshots[c].k = k
        snapshots[c].num_rel_ret = rel_ret
        snapshots[c].first_rel = first
        snapshots[c].sum_precision = precisions
        snapshots[c].gain = gain
        snapshots[c].dcg = dcg
    if depth > 0:
        walk_ideal(view, q, ideal_gains, snapshots)


cdef inline void walk_ideal(const View* view, const Query* q, double* gains, Snapshot* snapshots) noexcept nogil:
    """Leave the sum of the ideal list at each cutoff to which gains are read; where labels are alike, from a table."""
    cdef int64_t c, n = q.num_ideal_gains if q.num_ideal_gains < view.gain_depth else view.gain_depth
    cdef const double* sums
    if view.ideal == FULL:
        walk_full(view, q, gains, snapshots)
    elif view.ideal == UNCUT:
        walk_uncut(view, q, gains, snapshots)
    elif (0 < n < NEAR and view.rule.n == 0 and not view.lists_gains and q.ideal[0] < SMALL
          and q.ideal[0] == q.ideal[n - 1]):
        sums = view.alike + q.ideal[0] * NEAR
        for c in range(view.n_graded):
            snapshots[c].ideal_dcg = sums[n if n < view.cutoffs[c] else view.cutoffs[c]]
    else:
        walk_ideal_labels(view, q, n, gains, snapshots)


cdef void walk_ideal_labels(const View* view, const Query* q, int64_t n, double* gains,
                            Snapshot* snapshots) noexcept nogil:
    """Run over n of the ideal list, leaving the sum at each cutoff."""
    cdef int64_t i = 0, c, k
    cdef double ideal_dcg = 0.0, gain
    cdef bint plain = view.rule.n == 0
    for c in range(view.n_graded):
        k = n if n < view.cutoffs[c] else view.cutoffs[c]
        while i < k:
            if plain:
                gain = label_gain(view, q.ideal_values, q.ideal[i])
                ideal_dcg += added(view, q.ideal[i], i + 1, gain)
                if view.lists_gains:
                    gains[i] = gain
            else:
                ideal_dcg += gains[i] / discount_at(i + 1, view.jk2)
            i += 1
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_uncut(const View* view, const Query* q, double* gains, Snapshot* snapshots) noexcept nogil:
    """Like walk_ideal, with the sum of the whole ideal list at every cutoff."""
    cdef int64_t i, c
    cdef double ideal_dcg = 0.0, gain
    for i in range(q.num_ideal_gains):
        gain = label_gain(view, q.ideal_values, q.ideal[i]) if view.rule.n == 0 else gains[i]
        ideal_dcg += gain / discount_at(i + 1, view.jk2)
        if view.lists_gains:
            gains[i] = gain
    for c in range(view.n_graded):
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_full(const View* view, const Query* q, const double* gains, Snapshot* snapshots) noexcept nogil:
    """Like walk_ideal, with the best gain at each rank down to the cutoff, or to the end of the ranking."""
    cdef int64_t rank = 0, c, k
    cdef double ideal_dcg = 0.0, best = 0.0
    if q.num_ideal_gains > 0:
        best = label_gain(view, q.ideal_values, q.ideal[0]) if view.rule.n == 0 else gains[0]
    for c in range(view.n_graded):
        k = q.num_ret if view.cutoffs[c] == INT64_MAX else view.cutoffs[c]
        if k < rank:            # the whole ranking is shorter than the cutoffs
            rank, ideal_dcg = 0, 0.0
        while rank < k:
            rank += 1
            ideal_dcg += best / discount_at(rank, view.jk2)
        snapshots[c].ideal_dcg = ideal_dcg


cdef void walk_ties(const View* view, const Query* q, double* gains, double* ideal_gains,
                    Snapshot* snapshots) noexcept nogil:
    """Like walk, for expected values: each rank of a tie has the mean of the summands of its documents there.

    Of g documents, r of them relevant, each has a chance of r / g at the j-th rank, and if one is there, of (r - 1) /
    (g - 1) for every rank of the tie above it.
    """
    cdef Snapshot s
    cdef int64_t i = 0, c = 0, first, last, rank
    cdef double above = 0.0, relevant, gain, value, cumulated = 0.0, size, place
    memset(&s, 0, sizeof(Snapshot))
    while i < q.num_hits and c < view.n_cutoffs:
        first, last = q.ranks[i], q.lasts[i]
        relevant = gain = 0.0
        while i < q.num_hits and q.ranks[i] == first:
            relevant += q.labels[i] >= view.level
            if first <= view.gain_depth:
                value = label_gain(view, q.values, q.labels[i])
                gain += value
                if view.lists_gains:
                    gains[i] = value
            i += 1
        size = <double>(last - first + 1)
        for rank in range(first, last + 1):
            while c < view.n_cutoffs and rank > view.cutoffs[c]:
                s.k = view.cutoffs[c]
                snapshots[c] = s
                c += 1
            if c == view.n_cutoffs:
                break
            place = <double>(rank - first)
            if relevant > 0.0:
                s.num_rel_ret = above + relevant * (place + 1.0) / size
                s.sum_precision += relevant / size * (
                    above + 1.0 + (place * (relevant - 1.0) / (size - 1.0) if place > 0.0 else 0.0)) / <double>rank
            if gain != 0.0:
                s.gain = cumulated + gain * (place + 1.0) / size
                s.dcg += gain / size / discount_at(rank, view.jk2)
        above += relevant
        cumulated += gain
    while c < view.n_cutoffs:
        s.k = view.cutoffs[c]
        snapshots[c] = s
        c += 1
    if view.gain_depth > 0:
        walk_ideal(view, q, ideal_gains, snapshots)
