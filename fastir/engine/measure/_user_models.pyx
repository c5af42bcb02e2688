"""Metrics that model a reader who goes down the ranking and stops: rank-biased precision, expected reciprocal rank.

The C/W/L family, which models readers more generally, is in _cwl.pyx.
"""

from libc.math cimport ceil, ldexp
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from fastir.engine.measure._arithmetic cimport faded, power, ratio
from fastir.engine.measure._codes cimport FULL, UNCUT
from fastir.engine.measure._cwl cimport CWL_DEPTH
from fastir.engine.measure._registry cimport Gains, Query, Snapshot, declare, label_grade
from fastir.engine.measure._ties cimport Tie, take_tie

from fastir.engine.measure._graded import IDEAL
from fastir.engine.measure._registry import EMPTY, PERSISTENCE, words
from fastir.engine.measure.cards import INF, Card, Param
from fastir.engine.measure.references import AMIGO_2018, CHAPELLE_2009, MOFFAT_2008, SAKAI_2019
from fastir.engine.measure.responses import CASCADE, ENDS, SUM, TOPS

cdef enum:                      # gains
    BINARY
    SCALED
    RAW
    MAPPED                      # the map's gains


cdef enum:                      # rbp_norm
    INFINITE
    CWL


cdef struct RbpParams:
    double p, gains, rbp_norm

cdef RbpParams rbp_fields


GAINS = Param("gains", "binary", "what a document adds: relevant or not; label over the query's largest; label; or "
              "what the map says, scaled to 0 to 1 unless it lies there",
              words(binary=BINARY, scaled=SCALED, raw=RAW), mapping=True)
NORM = Param("rbp_norm", "infinite", "weights sum to 1 over infinitely many ranks, or over the first 1000",
             words(infinite=INFINITE, cwl=CWL))
MAX_GRADE = Param("max_grade", 4, "top of the grading scale, or the query's largest judged label", ("query",),
                  0, 1001, True)


# ---- rank-biased precision -----------------------------------------------------------------------------------------

cdef void gain_range(const Query* q, double* low, double* high) noexcept nogil:
    """The least and largest gain that labels 0 to q.top or the map have."""
    cdef const Gains* rule = q.rule
    cdef int64_t j
    cdef double label = label_grade(rule, q.top)
    cdef bint listed
    low[0] = 0.0
    high[0] = 0.0
    for j in range(rule.n):
        low[0] = rule.values[j] if rule.values[j] < low[0] else low[0]
        high[0] = rule.values[j] if rule.values[j] > high[0] else high[0]
    while label >= 0.0:         # the largest one, or whole number below it, that the map lacks
        listed = False
        for j in range(rule.n):
            listed |= rule.labels[j] >= 0 and label_grade(rule, rule.labels[j]) == label
        if not listed:
            high[0] = label if label > high[0] else high[0]
            break
        label = ceil(label) - 1.0


cdef double rbp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const RbpParams* params = <const RbpParams*>p
    cdef double patience = params.p, total = 0.0, gain, weight = 1.0, low = 0.0, scale = 1.0
    cdef int64_t i, last = 1, depth = s.k, tied
    cdef double share = 1.0 - patience
    if params.rbp_norm == CWL:
        depth = depth if depth < CWL_DEPTH else CWL_DEPTH
        share /= 1.0 - power(patience, CWL_DEPTH)
    if params.gains == SCALED and q.top > 0:
        scale = label_grade(q.rule, q.top)
    elif params.gains == MAPPED:
        gain_range(q, &low, &scale)
        if low >= 0.0 and scale <= 1.0:
            low = 0.0
            scale = 1.0
        scale -= low
    for i in range(q.num_hits):
        if q.ranks[i] > depth:
            break
        if params.gains == BINARY:
            gain = 1.0 if q.labels[i] >= q.level else 0.0
        elif params.gains == MAPPED:
            gain = (q.gains[i] - low) / scale
            if q.labels[i] < 0 and q.gains[i] == 0.0:
                gain = 0.0
        else:
            gain = label_grade(q.rule, q.labels[i]) / scale if q.labels[i] >= q.floor else 0.0
        if gain != 0.0:
            weight = faded(weight, patience, q.ranks[i] - last)
            last = q.ranks[i]
            if q.lasts != NULL and q.lasts[i] > last:
                tied = q.lasts[i] if q.lasts[i] < depth else depth
                gain *= (1.0 - power(patience, tied - last + 1)) / (1.0 - patience) / <double>(q.lasts[i] - last + 1)
            total += gain * weight
    return share * total


def rbp_response(values, cutoff, gains):
    return TOPS if values["gains"] == "scaled" else SUM

declare(rbp, Card(
    "rbp", "rank-biased precision", "(1 - p) * sum of g_i p^(i - 1) over ranks i <= k, g_i = 1 if relevant",
    "0 if nothing relevant is retrieved", (MOFFAT_2008,),
    beyond="up to the largest label with gains=raw",
    differs="trec_eval scales labels to 1, from uninitialised memory, and has p = 0.9: gains=scaled is what it "
            "means; ranx adds raw labels: gains=raw; cwl_eval and ir_measures share the weights out over 1000 "
            "ranks: rbp_norm=cwl; ranx reads rbp@95 as p = 0.95",
    params=(PERSISTENCE, GAINS, NORM, EMPTY),
    cutoff=True, dot="p", response=rbp_response), rbp, rbp_fields)


cdef enum:                      # tail
    UNJUDGED
    ALWAYS


cdef struct ResidualParams:
    double p, tail

cdef ResidualParams residual_fields


cdef double rbp_resid(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const ResidualParams* params = <const ResidualParams*>p
    cdef int64_t i = 0, rank = 1, n = s.k if s.k < q.num_ret else q.num_ret
    cdef double weight = 1.0, total = 0.0
    while rank <= n and weight > 0.0:
        while i < q.num_hits and (q.ranks[i] < rank or q.labels[i] < 0):
            i += 1
        if i == q.num_hits or q.ranks[i] > rank:
            total += weight
        weight *= params.p
        rank += 1
    return weight + (1.0 - params.p) * total if total > 0.0 or params.tail == ALWAYS else 0.0


cdef int has_ties(const Query* q) noexcept nogil:
    cdef int64_t i
    if q.lasts != NULL:
        for i in range(q.num_hits):
            if q.lasts[i] > q.ranks[i]:
                return 1
    return 0


cdef double expected_rbp_resid(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """A tie's documents without a label are spread over its ranks; `none` is the chance that there was none so far."""
    cdef const ResidualParams* params = <const ResidualParams*>p
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
            skipped = power(params.p, last - before)
            total += weight * (1.0 - skipped)
            weight *= skipped
            none = 0.0
        if tie.first > n:
            break
        judged = tie.relevant + tie.nonrelevant
        size = tie.last - tie.first + 1
        before = tie.last if tie.last < n else n
        skipped = power(params.p, before - tie.first + 1)
        total += weight * (1.0 - skipped) * (<double>(size - judged) / <double>size)
        weight *= skipped
        for j in range(before - tie.first + 1):
            none *= <double>(judged - j if judged > j else 0) / <double>(size - j)
            if none == 0.0:
                break
    return total + weight * (1.0 if params.tail == ALWAYS else 1.0 - none)

declare(rbp_resid, Card(
    "rbp_resid", "what unjudged documents could still add to rbp",
    "p^n + (1 - p) * sum of p^(i - 1) over ranks i <= k without a label",
    "0 if all documents of the first k have a label, unless tail=always",
    (MOFFAT_2008, "trec_eval rbp_resid"),
    differs="rbp_eval always adds the ranks beyond the ranking: tail=always",
    params=(
        Param("p", 0.9, "persistence", (), 0, 1),
        Param("tail", "unjudged", "p^n, for the ranks below the ranking, counts where one above is unjudged, or always",
              words(unjudged=UNJUDGED, always=ALWAYS)),
        EMPTY),
    direction="less", cutoff=True, dot="p", reads="judged", response=SUM), expected_rbp_resid, residual_fields)


# ---- expected reciprocal rank --------------------------------------------------------------------------------------

cdef struct Scale:              # the top of the grading scale
    int32_t label
    double power                # 2^label


cdef inline double satisfied_by(const Gains* rule, int32_t label, const Scale* top) noexcept nogil:
    """The chance that a document with this label, or its code, satisfies."""
    if rule.grades != NULL:
        return rule.gains[label] / top.power
    return (1.0 - ldexp(1.0, -label)) * ldexp(1.0, label - top.label)


cdef double cascade(const Query* q, const int64_t* ranks, const int32_t* labels, int64_t n, int64_t k,
                    const Scale* top) noexcept nogil:
    """Expected reciprocal rank of labels at ranks (None: 1, 2, 3, ...) up to k."""
    cdef double total = 0.0, go_on = 1.0, satisfied
    cdef int64_t i, rank
    for i in range(n):
        rank = ranks[i] if ranks != NULL else i + 1
        if rank > k:
            break
        if labels[i] >= q.floor:
            satisfied = satisfied_by(q.rule, labels[i], top)
            total += go_on * satisfied / <double>rank
            go_on *= 1.0 - satisfied
    return total


cdef double expected_cascade(const Query* q, int64_t k, const Scale* top) noexcept nogil:
    """Expected reciprocal rank, as a mean over the orders of equal scores.

    go_on[j] is the chance that j of a tie's documents all fail to satisfy, as a mean over all choices of j: it starts
    with the documents that never satisfy, and takes in the others one by one.
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
                miss = 1.0 - satisfied_by(q.rule, q.labels[i], top)
                all_of_them *= miss
                taken += 1
                for j in range(depth if depth < taken else taken, 0, -1):
                    go_on[j] = (<double>(taken - j) * go_on[j] + <double>j * miss * go_on[j - 1]) / <double>taken
            i += 1
        for j in range(depth):
            total += before * (go_on[j] - go_on[j + 1]) / <double>(first + j)
        before *= all_of_them
    return total


cdef double query_cascade(const Query* q, int64_t k, const Scale* top) noexcept nogil:
    if q.lasts != NULL:
        return expected_cascade(q, k, top)
    return cascade(q, q.ranks, q.labels, q.num_hits, k, top)


cdef struct GradeParams:
    double max_grade            # -1: the query's largest label

cdef GradeParams grade_fields


cdef Scale grading_scale(const Query* q, double max_grade) noexcept nogil:
    cdef Scale top
    top.label = q.top if max_grade < 0 else <int32_t>max_grade
    top.power = q.rule.powers[q.top] if max_grade < 0 and q.rule.grades != NULL else ldexp(1.0, top.label)
    return top


cdef double err(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Scale top = grading_scale(q, (<const GradeParams*>p).max_grade)
    return query_cascade(q, s.k, &top)


def err_response(values, cutoff, gains):
    return TOPS if values["max_grade"] == "query" else ENDS

declare(err, Card(
    "err", "expected reciprocal rank",
    "sum of R_i / i * prod_{j<i} (1 - R_j) over ranks i <= k, R = (2^label - 1) / 2^max_grade",
    "0 if nothing has a gain; a label above max_grade is an error", (CHAPELLE_2009, "gdeval at k = 20"),
    aliases=("expected_reciprocal_rank",),
    params=(MAX_GRADE, EMPTY), cutoff=True, graded=True, response=err_response), err, grade_fields)


cdef struct IdealParams:
    double max_grade, ideal

cdef IdealParams ideal_fields


cdef double best_cascade(const Query* q, int64_t n, const Scale* top) noexcept nogil:
    """Expected reciprocal rank of n documents with the best label."""
    cdef double total = 0.0, go_on = 1.0, satisfied = satisfied_by(q.rule, q.ideal[0], top)
    cdef int64_t rank
    for rank in range(1, n + 1):
        total += go_on * satisfied / <double>rank
        go_on *= 1.0 - satisfied
    return total


cdef double nerr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const IdealParams* params = <const IdealParams*>p
    cdef Scale top = grading_scale(q, params.max_grade)
    cdef double ideal
    if params.ideal == FULL:
        ideal = 0.0
        if q.num_ideal > 0 and q.ideal[0] >= q.floor:
            ideal = best_cascade(q, q.num_ret if s.k == INT64_MAX else s.k, &top)
    else:
        ideal = cascade(q, NULL, q.ideal, q.num_ideal, INT64_MAX if params.ideal == UNCUT else s.k, &top)
    return ratio(query_cascade(q, s.k, &top), ideal)


def nerr_response(values, cutoff, gains):
    """With ideal=full the query's largest label alone counts in the ideal."""
    return TOPS if values["ideal"] == "full" else CASCADE

declare(nerr, Card(
    "nerr", "normalised expected reciprocal rank", "ERR@k / ERR@k of the ideal ranking",
    "0 if the ideal is 0: no judged document has a gain; a label above max_grade is an error",
    (CHAPELLE_2009,), differs="the nerr8 to nerr11 of C/W/L are other metrics", params=(MAX_GRADE, IDEAL, EMPTY),
    cutoff=True, graded=True, response=nerr_response), nerr, ideal_fields)


# ---- rank-biased utility -------------------------------------------------------------------------------------------

cdef struct IrbuParams:
    double p, max_grade

cdef IrbuParams irbu_fields


cdef struct RbuParams:          # begins like the other
    double p, max_grade, e

cdef RbuParams rbu_fields


cdef double irbu(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const IrbuParams* params = <const IrbuParams*>p
    cdef Scale top = grading_scale(q, params.max_grade)
    cdef double total = 0.0, weight = 1.0, satisfied
    cdef int64_t i, last = 0
    for i in range(q.num_hits):
        if q.ranks[i] > s.k:
            break
        if q.labels[i] >= q.floor:
            satisfied = satisfied_by(q.rule, q.labels[i], &top)
            weight = faded(weight, params.p, q.ranks[i] - last)
            last = q.ranks[i]
            total += weight * satisfied
            weight *= 1.0 - satisfied
    return total


cdef double rbu(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const RbuParams* params = <const RbuParams*>p
    cdef int64_t n = s.k if s.k < q.num_ret else q.num_ret
    return irbu(q, s, p) - params.e * params.p * (1.0 - power(params.p, n)) / (1.0 - params.p)


declare(irbu, Card(
    "irbu", "intentwise rank-biased utility: expected reciprocal rank with the discount of rbp",
    "sum of p^i R_i * prod_{j<i} (1 - R_j) over ranks i <= k, R = (2^label - 1) / 2^max_grade",
    "0 if nothing has a gain; a label above max_grade is an error", (AMIGO_2018, SAKAI_2019),
    params=(Param("p", 0.99, "persistence", (), 0, 1), MAX_GRADE, EMPTY), cutoff=True, graded=True,
    response=err_response), NULL, irbu_fields)

declare(rbu, Card(
    "rbu", "rank-biased utility: what is new to each subtopic, less the effort of reading",
    "sum of p^i (mean over subtopics of R_i * prod_{j<i} (1 - R_j) - e) over ranks i <= k that hold a document, "
    "R = (2^label - 1) / 2^max_grade",
    "as the formula says; a label above max_grade is an error", (AMIGO_2018, "its authors' program, for p and e"),
    low=-INF, params=(
        Param("p", 0.8, "persistence", (), 0, 1), MAX_GRADE,
        Param("e", 0.03, "the effort of reading a document", (), 0, 1, closed=True), EMPTY),
    cutoff=True, graded=True, groups="all", response=err_response,
    differs="its authors' program multiplies the value by (1 - p) / p, and scales a subtopic by its largest label"),
    NULL, rbu_fields)
