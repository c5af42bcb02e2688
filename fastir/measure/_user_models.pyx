"""Metrics that model a reader who goes down the ranking and stops: rbp, err, the C/W/L family, and compat.

A C/W/L metric (Moffat et al. 2017) is the expected gain per document read. A reader who has seen rank i goes on with
probability C_i, so the weight of rank i is the product of the C above it, over the sum of all weights; as in cwl_eval,
rankings are cut or filled up to 1000. `reader` walks those ranks; a model is the function that makes the next weight.
"""

from libc.math cimport NAN, ldexp
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport qsort

from fastir.measure._arithmetic cimport exp2_real, faded, log2_of, power, ratio
from fastir.measure._registry cimport Gains, Query, Snapshot, declare
from fastir.measure._ties cimport Tie, take_tie

from fastir.measure._graded import IDEAL
from fastir.measure._registry import EMPTY, PERSISTENCE
from fastir.measure.cards import Card, Param

cdef enum:
    CWL_DEPTH = 1000

GAINS = Param("gains", "binary", "what a document adds: relevant or not; label over the query's largest; label; or "
              "what the map says, scaled to 0 to 1 unless it lies there", ("binary", "scaled", "raw"), mapping=True)
NORM = Param("rbp_norm", "infinite", "weights sum to 1 over infinitely many ranks, or over the first 1000",
             ("infinite", "cwl"))
MAX_GRADE = Param("max_grade", 4, "top of the grading scale, or the query's largest judged label", ("query",),
                  0, 1001, True)


# ---- rank-biased precision -----------------------------------------------------------------------------------------

cdef void gain_range(const Query* q, double* low, double* high) noexcept nogil:
    """The least and largest gain that labels 0 to q.top or the map have."""
    cdef const Gains* rule = q.rule
    cdef int64_t label, j
    cdef bint listed
    low[0] = 0.0
    high[0] = 0.0
    for j in range(rule.n):
        low[0] = rule.values[j] if rule.values[j] < low[0] else low[0]
        high[0] = rule.values[j] if rule.values[j] > high[0] else high[0]
    for label in range(q.top, -1, -1):
        listed = False
        for j in range(rule.n):
            listed |= rule.labels[j] == label
        if not listed:
            high[0] = <double>label if label > high[0] else high[0]
            break


cdef double rbp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double patience = p[0], total = 0.0, gain, weight = 1.0, low = 0.0, scale = 1.0
    cdef int64_t i, last = 1, depth = s.k, tied
    cdef double share = 1.0 - patience
    if p[2] == 1.0:
        depth = depth if depth < CWL_DEPTH else CWL_DEPTH
        share /= 1.0 - power(patience, CWL_DEPTH)
    if p[1] == 1.0 and q.top > 1:
        scale = <double>q.top
    elif p[1] == 3.0:
        gain_range(q, &low, &scale)
        if low >= 0.0 and scale <= 1.0:
            low = 0.0
            scale = 1.0
        scale -= low
    for i in range(q.num_hits):
        if q.ranks[i] > depth:
            break
        if p[1] == 0.0:
            gain = 1.0 if q.labels[i] >= q.level else 0.0
        elif p[1] == 3.0:
            gain = (q.gains[i] - low) / scale
            if q.labels[i] < 0 and q.gains[i] == 0.0:
                gain = 0.0
        else:
            gain = <double>q.labels[i] / scale if q.labels[i] >= q.floor else 0.0
        if gain != 0.0:
            weight = faded(weight, patience, q.ranks[i] - last)
            last = q.ranks[i]
            if q.lasts != NULL and q.lasts[i] > last:
                tied = q.lasts[i] if q.lasts[i] < depth else depth
                gain *= (1.0 - power(patience, tied - last + 1)) / (1.0 - patience) / <double>(q.lasts[i] - last + 1)
            total += gain * weight
    return share * total

declare(rbp, Card(
    "rbp", "rank-biased precision", "(1 - p) * sum of g_i p^(i - 1) over ranks i <= k, g_i = 1 if relevant",
    "0 if nothing relevant is retrieved", "Moffat and Zobel 2008",
    range="0 to 1, or up to the largest label with gains=raw",
    differs="trec_eval scales labels to 1, from uninitialised memory, and has p = 0.9: gains=scaled is what it "
            "means; ranx adds raw labels: gains=raw; cwl_eval and ir_measures share the weights out over 1000 "
            "ranks: rbp_norm=cwl; ranx reads rbp@95 as p = 0.95",
    params=(PERSISTENCE, GAINS, NORM, EMPTY),
    cutoff=True, dot="p"), rbp)


cdef double rbp_resid(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i = 0, rank = 1, n = s.k if s.k < q.num_ret else q.num_ret
    cdef double weight = 1.0, total = 0.0
    while rank <= n and weight > 0.0:
        while i < q.num_hits and (q.ranks[i] < rank or q.labels[i] < 0):
            i += 1
        if i == q.num_hits or q.ranks[i] > rank:
            total += weight
        weight *= p[0]
        rank += 1
    return weight + (1.0 - p[0]) * total if total > 0.0 or p[1] == 1.0 else 0.0

cdef int has_ties(const Query* q) noexcept nogil:
    cdef int64_t i
    if q.lasts != NULL:
        for i in range(q.num_hits):
            if q.lasts[i] > q.ranks[i]:
                return 1
    return 0


cdef double expected_rbp_resid(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """A tie's documents without a label are spread over its ranks; `none` is the chance that there was none so far."""
    cdef int64_t i = 0, j, before = 0, last, size, judged, n = s.k if s.k < q.num_ret else q.num_ret
    cdef double weight = 1.0, total = 0.0, none = 1.0, skipped
    cdef Tie tie
    if not has_ties(q):
        return rbp_resid(q, s, p)
    tie.relevant = tie.nonrelevant = 0
    while before < n:
        if i < q.num_hits:
            i = take_tie(q, i, &tie, 0)
        else:
            tie.first = tie.last = n + 1
        if tie.first > before + 1:
            last = tie.first - 1 if tie.first <= n else n
            skipped = power(p[0], last - before)
            total += weight * (1.0 - skipped)
            weight *= skipped
            none = 0.0
        if tie.first > n:
            break
        judged = tie.relevant + tie.nonrelevant
        size = tie.last - tie.first + 1
        before = tie.last if tie.last < n else n
        skipped = power(p[0], before - tie.first + 1)
        total += weight * (1.0 - skipped) * (<double>(size - judged) / <double>size)
        weight *= skipped
        for j in range(before - tie.first + 1):
            none *= <double>(judged - j if judged > j else 0) / <double>(size - j)
            if none == 0.0:
                break
    return total + weight * (1.0 if p[1] == 1.0 else 1.0 - none)

declare(rbp_resid, Card(
    "rbp_resid", "what unjudged documents could still add to rbp",
    "p^n + (1 - p) * sum of p^(i - 1) over ranks i <= k without a label",
    "0 if all documents of the first k have a label, unless tail=always",
    "Moffat and Zobel 2008; trec_eval rbp_resid",
    differs="rbp_eval adds what lies beyond the ranking always: tail=always",
    params=(Param("p", 0.9, "persistence", (), 0, 1), Param("tail", "unjudged",
        "p^n, for the ranks below the ranking, counts where one above is unjudged, or always",
        ("unjudged", "always")), EMPTY),
    cutoff=True, dot="p", reads="judged"), expected_rbp_resid)


# ---- expected reciprocal rank --------------------------------------------------------------------------------------

cdef double cascade(const int64_t* ranks, const int32_t* labels, int64_t n, int64_t k, int32_t floor,
                    int32_t top) noexcept nogil:
    """Expected reciprocal rank of labels at ranks (None: 1, 2, 3, ...) up to k."""
    cdef double total = 0.0, go_on = 1.0, satisfied
    cdef int64_t i, rank
    for i in range(n):
        rank = ranks[i] if ranks != NULL else i + 1
        if rank > k:
            break
        if labels[i] >= floor:
            satisfied = (1.0 - ldexp(1.0, -labels[i])) * ldexp(1.0, labels[i] - top)
            total += go_on * satisfied / <double>rank
            go_on *= 1.0 - satisfied
    return total


cdef double expected_cascade(const Query* q, int64_t k, int32_t top) noexcept nogil:
    """The same, expected over the orders of equal scores.

    go_on[j] is the mean over all j of a tie's documents of the chance that none of them satisfies: it starts with those
    that never do, and takes in the others one by one.
    """
    cdef double* go_on = <double*>q.room
    cdef double total = 0.0, before = 1.0, all_of_them, miss
    cdef int64_t i = 0, j, size, depth, first, taken
    while i < q.num_hits and q.ranks[i] <= k:
        first = q.ranks[i]
        size = q.lasts[i] - first + 1
        depth = size if size <= k - first + 1 else k - first + 1
        taken = size
        all_of_them = 1.0
        j = i
        while j < q.num_hits and q.ranks[j] == first:
            taken -= q.labels[j] >= q.floor
            j += 1
        for j in range(depth + 1):
            go_on[j] = 1.0
        while i < q.num_hits and q.ranks[i] == first:
            if q.labels[i] >= q.floor:
                miss = 1.0 - (1.0 - ldexp(1.0, -q.labels[i])) * ldexp(1.0, q.labels[i] - top)
                all_of_them *= miss
                taken += 1
                for j in range(depth if depth < taken else taken, 0, -1):
                    go_on[j] = (<double>(taken - j) * go_on[j] + <double>j * miss * go_on[j - 1]) / <double>taken
            i += 1
        for j in range(depth):
            total += before * (go_on[j] - go_on[j + 1]) / <double>(first + j)
        before *= all_of_them
    return total


cdef double cascade_of(const Query* q, int64_t k, int32_t top) noexcept nogil:
    if q.lasts != NULL:
        return expected_cascade(q, k, top)
    return cascade(q.ranks, q.labels, q.num_hits, k, q.floor, top)


cdef int32_t scale_top(const Query* q, double max_grade) noexcept nogil:
    return q.top if max_grade < 0 else <int32_t>max_grade


cdef double err(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return cascade_of(q, s.k, scale_top(q, p[0]))

declare(err, Card(
    "err", "expected reciprocal rank",
    "sum of R_i / i * prod_{j<i} (1 - R_j) over ranks i <= k, R = (2^label - 1) / 2^max_grade",
    "0 if nothing has a gain; a label above max_grade is an error", "Chapelle et al. 2009; gdeval at k = 20",
    params=(MAX_GRADE, EMPTY), cutoff=True, graded=True), err)


cdef double nerr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int32_t top = scale_top(q, p[0])
    return ratio(cascade_of(q, s.k, top),
                 cascade(NULL, q.ideal, q.num_ideal, s.k, q.floor, top))

declare(nerr, Card(
    "nerr", "normalised expected reciprocal rank", "ERR@k / ERR@k of the ideal ranking",
    "0 if the ideal is 0: no judged document has a gain; a label above max_grade is an error",
    "Chapelle et al. 2009", differs="the nerr8 to nerr11 of C/W/L are other metrics", params=(MAX_GRADE, IDEAL, EMPTY),
    cutoff=True, graded=True), nerr)


# ---- C/W/L ---------------------------------------------------------------------------------------------------------

# The weight of rank i + 1 from rank i's weight, gain and sum of gains; p is max_rel, min_rel and the model's own.
ctypedef double (*next_fn)(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil


cdef double reader(const Query* q, int64_t k, const double* p, next_fn next_weight) noexcept nogil:
    """With ties, every rank of one has the mean of its documents' gains."""
    cdef int64_t i, hit = 0, last = 0, depth = k if k < CWL_DEPTH else CWL_DEPTH
    cdef double weight = 1.0, weights = 0.0, value = 0.0, total = 0.0, gain = 0.0, label
    for i in range(1, depth + 1):
        if weight == 0.0:
            break
        if i > last:
            gain = 0.0
        if hit < q.num_hits and q.ranks[hit] == i:
            last = i if q.lasts == NULL else q.lasts[hit]
            while hit < q.num_hits and q.ranks[hit] == i:
                label = <double>q.labels[hit] if q.labels[hit] >= q.floor else 0.0
                label = p[0] if label > p[0] else label
                gain += (label - p[1]) / (p[0] - p[1]) if label > p[1] else 0.0
                hit += 1
            gain /= <double>(last - i + 1)
        total += gain
        value += weight * gain
        weights += weight
        weight = next_weight(i, weight, gain, total, p)
    return ratio(value, weights)


MAX_REL = Param("max_rel", 1, "the label that counts as 1; those above count the same", (), 0, 2**31, True)
MIN_REL = Param("min_rel", 0, "the label that counts as 0; those below count the same, those between in proportion", (),
                -1, 2**31 - 1, True)
INF = float("inf")
TARGET = Param("T", 1.0, "the gain that the reader looks for", (), 0, INF)
CWL = "cwl_eval and ir_measures want max_rel always"


cdef double insq_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    cdef double c = (<double>i + 2.0 * p[2] - 1.0) / (<double>i + 2.0 * p[2])
    return weight * (c * c)


cdef double insq(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, insq_next)

declare(insq, Card(
    "insq", "gain seen by a reader ever more patient (inverse squares)",
    "C/W/L with C_i = ((i + 2T - 1) / (i + 2T))^2", "0 if nothing has a gain", "Moffat et al. 2012; cwl_eval INSQ",
    differs=CWL, params=(MAX_REL, MIN_REL, TARGET, EMPTY), graded=True), insq)


cdef double inst_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    cdef double c = (<double>i + 2.0 * p[2] - total - 1.0) / (<double>i + 2.0 * p[2] - total)
    return weight * (c * c)


cdef double inst(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, inst_next)

declare(inst, Card(
    "inst", "gain seen by a reader who stops the sooner the more was found",
    "C/W/L with C_i = ((i + 2T - c_i - 1) / (i + 2T - c_i))^2, c_i the gain up to rank i", "0 if nothing has a gain",
    "Moffat et al. 2015; cwl_eval INST", differs=CWL, params=(MAX_REL, MIN_REL, TARGET, EMPTY), graded=True))


cdef double bpm_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return weight if total < p[2] else 0.0


cdef double bpm(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, bpm_next)

declare(bpm, Card(
    "bpm", "gain per document read until T is found or k are read (bejewelled player, static)",
    "c_s / s, s the first rank with c_s >= T, at most k; k at most 1000", "0 if nothing has a gain",
    "Zhang et al. 2017; cwl_eval BPM", differs=CWL, params=(MAX_REL, MIN_REL, TARGET, EMPTY), cutoff=True,
    graded=True))


cdef double sdcg_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return 1.0 / log2_of(i + 2)


cdef double sdcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, sdcg_next)

declare(sdcg, Card(
    "sdcg", "scaled discounted cumulated gain",
    "sum of g_i / log2(i + 1) / sum of 1 / log2(i + 1), both over ranks i <= k; k at most 1000",
    "0 if nothing has a gain", "cwl_eval SDCG", differs=CWL, params=(MAX_REL, MIN_REL, EMPTY), cutoff=True,
    graded=True), sdcg)


cdef double nerr8_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return weight * (1.0 - gain)


cdef double nerr8(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, nerr8_next)

declare(nerr8, Card(
    "nerr8", "gain seen by a reader who stops at a good document, at most at k",
    "C/W/L with C_i = 1 - g_i below rank k; k at most 1000", "0 if nothing has a gain",
    "Azzopardi et al. 2021; cwl_eval NERR8", differs=CWL, params=(MAX_REL, MIN_REL, EMPTY), cutoff=True, graded=True))


cdef double nerr9_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return weight * (<double>i / <double>(i + 1)) * (1.0 - gain)


cdef double nerr9(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, nerr9_next)

declare(nerr9, Card(
    "nerr9", "as nerr8, with reciprocal ranks",
    "C/W/L with C_i = i / (i + 1) * (1 - g_i) below rank k; k at most 1000", "0 if nothing has a gain",
    "Azzopardi et al. 2021; cwl_eval NERR9", differs=CWL, params=(MAX_REL, MIN_REL, EMPTY), cutoff=True, graded=True))


cdef double nerr10_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return weight * p[2] * (1.0 - gain)


cdef double nerr10(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, nerr10_next)

declare(nerr10, Card(
    "nerr10", "as nerr8, with the patience of rbp", "C/W/L with C_i = p (1 - g_i)", "0 if nothing has a gain",
    "Azzopardi et al. 2021; cwl_eval NERR10", differs=CWL,
    params=(MAX_REL, MIN_REL, Param("p", 0.9, "persistence", (), 0, 1), EMPTY), graded=True))


cdef double nerr11_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return insq_next(i, weight, gain, total, p) * (1.0 - gain)


cdef double nerr11(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, nerr11_next)

declare(nerr11, Card(
    "nerr11", "as nerr8, with the patience of insq", "C/W/L with C_i = ((i + 2T - 1) / (i + 2T))^2 (1 - g_i)",
    "0 if nothing has a gain", "Azzopardi et al. 2021; cwl_eval NERR11", differs=CWL,
    params=(MAX_REL, MIN_REL, TARGET, EMPTY), graded=True))


cdef double tbg_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    return weight * p[3]


cdef double tbg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double with_ratio[4]
    with_ratio[0] = p[0]
    with_ratio[1] = p[1]
    with_ratio[3] = exp2_real(-1.0 / p[2])
    return reader(q, CWL_DEPTH, with_ratio, tbg_next)

declare(tbg, Card(
    "tbg", "time-biased gain, a document taking one unit of time", "C/W/L with weights 2^(-(i - 1) / h)",
    "0 if nothing has a gain", "Smucker and Clarke 2012; cwl_eval TBG",
    differs="the paper does not divide by the sum of weights and knows reading times",
    params=(MAX_REL, MIN_REL, Param("h", 224.0, "half-life of the reader's attention, in documents", (), 0, INF),
        EMPTY),
    graded=True), tbg)


cdef double u_next(int64_t i, double weight, double gain, double total, const double* p) noexcept nogil:
    weight = 1.0 - <double>i / p[2]
    return weight if weight > 0.0 and i + 1 < CWL_DEPTH else 0.0


cdef double u_measure(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, u_next)

declare(u_measure, Card(
    "u_measure", "gain by how far it stands in the text read, a document being one unit long",
    "C/W/L with weights max(0, 1 - (i - 1) / L), 0 at rank 1000", "0 if nothing has a gain",
    "Sakai and Dou 2013; cwl_eval U", aliases=("U",),
    differs="the paper does not divide by the sum of weights and knows lengths",
    params=( MAX_REL, MIN_REL, Param("L", 1000.0, "where the reader's attention ends, in documents", (), 0, INF),
        EMPTY),
    graded=True), u_measure)


# ---- similarity to the ideal ranking -------------------------------------------------------------------------------

cdef int rising_order(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef int64_t shared_depths(const Query* q) noexcept nogil:
    """Fill q.room with the depths from which on both rankings hold a document, rising; returns how many there are.

    The ideal ranking goes down by label; documents of one label stand as in the ranking, those not retrieved last.
    """
    cdef int64_t i, j = 0, stop, place, n = 0
    while j < q.num_ideal and q.ideal[j] >= q.floor:
        stop = j
        while stop < q.num_ideal and q.ideal[stop] == q.ideal[j]:
            stop += 1
        place = j
        for i in range(q.num_hits):
            if q.labels[i] == q.ideal[j]:
                place += 1
                q.room[n] = q.ranks[i] if q.ranks[i] > place else place
                n += 1
        j = stop
    qsort(q.room, n, sizeof(int64_t), rising_order)
    return n


cdef double compat(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t d, depth, n_shared, shared = 0, m = q.num_ideal
    cdef double weight = 1.0, weights = 0.0, value = 0.0, best = 0.0
    while m > 0 and q.ideal[m - 1] < q.floor:
        m -= 1
    if m == 0 or q.num_ret == 0:
        return 0.0
    n_shared = shared_depths(q)
    depth = <int64_t>p[1] if p[1] >= 1.0 else m if m > q.num_ret else q.num_ret
    for d in range(1, depth + 1):
        if weight < 1e-30:
            break
        while shared < n_shared and q.room[shared] <= d:
            shared += 1
        value += weight * (<double>shared / <double>d)
        best += weight * (<double>(d if d < m else m) / <double>d)
        weights += weight
        weight *= p[0]
    return value / (best if p[2] == 0.0 else weights)

declare(compat, Card(
    "compat", "rank-biased overlap with the ideal ranking (compatibility)",
    "sum of p^(d - 1) shared_d / d over depths d / the same for the ideal ranking with itself; shared_d "
    "documents stand in the first d of both",
    "0 if no label is above 0, or nothing is retrieved", "Clarke et al. 2020; ir_measures Compat",
    differs="the authors' program goes down to 1000: depth=1000; ir_measures orders documents of one label by "
            "score, those not retrieved as if theirs were 0, and equal scores as the qrels have them",
    params=(Param("p", 0.95, "persistence", (), 0, 1),
        Param("depth", "max", "how far down the rankings are compared: to the end of the longer, or a number",
        ("max",), 0, 2**31, True),
        Param("normalize", "true", "divide by the value of the ideal ranking, or by the sum of weights",
        ("true", "false")), EMPTY),
    graded=True))
