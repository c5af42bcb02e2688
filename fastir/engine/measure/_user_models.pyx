"""Metrics that model a reader who goes down the ranking and stops: rank-biased precision, expected reciprocal rank, the
C/W/L family, which models readers more generally, and the rank-biased overlap with the ideal ranking.

C/W/L metrics (Moffat et al. 2017): the expected gain per document read.

A reader who has seen rank i goes on with probability C_i, so the weight of rank i is the product of the C above it,
over the sum of all weights; as in cwl_eval, rankings are cut or filled up to rank 1000. `reader` walks these ranks; a
model is the function that makes the next weight.
"""

from libc.math cimport ceil, ldexp
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport qsort

from fastir.engine.measure._arithmetic cimport Tie, exp2_real, fade, log2_integer, power, ratio, take_tie
from fastir.engine.measure._codes cimport FULL, UNCUT
from fastir.engine.measure._registry cimport Gains, Query, Snapshot, declare, label_grade
from fastir.engine.measure._sort cimport rising_order

from fastir.engine.measure._graded import IDEAL
from fastir.engine.measure._registry import EMPTY, PERSISTENCE, words
from fastir.engine.measure.cards import CASCADE, ENDS, INF, OUTER, READER, SUM, TOPS, Card, Param, chain_of_two_gains
from fastir.engine.measure.references import (AMIGO_2018, AZZOPARDI_2021, CHAPELLE_2009, CLARKE_2020, MOFFAT_2008,
                                              MOFFAT_2012, MOFFAT_2015, SAKAI_2013, SAKAI_2019, SMUCKER_2012,
                                              ZHANG_2017)

cdef enum:
    CWL_DEPTH = 1000            # the rank to which C/W/L metrics read


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


# ---- rank-biased precision -------------------------------------------------------------------------------------------
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
    while label >= 0.0:         # the largest label, or integer below it, that is not in the map
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
            weight = fade(weight, patience, q.ranks[i] - last)
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
    higher_is_better=False, cutoff=True, dot="p", reads="judged", response=SUM), expected_rbp_resid, residual_fields)


# ---- expected reciprocal rank ----------------------------------------------------------------------------------------
cdef struct Scale:              # the top of the grading scale
    int32_t label
    double power                # 2^label


cdef inline double satisfaction(const Gains* rule, int32_t label, const Scale* top) noexcept nogil:
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
            satisfied = satisfaction(q.rule, labels[i], top)
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
                miss = 1.0 - satisfaction(q.rule, q.labels[i], top)
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


cdef Scale grading_scale(const Query* q, double max_grade) noexcept nogil:
    cdef Scale top
    top.label = q.top if max_grade < 0 else <int32_t>max_grade
    top.power = q.rule.powers[q.top] if max_grade < 0 and q.rule.grades != NULL else ldexp(1.0, top.label)
    return top


cdef double err(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Scale top = grading_scale(q, p[0])
    return query_cascade(q, s.k, &top)


def err_response(values, cutoff, gains):
    return TOPS if values["max_grade"] == "query" else ENDS

declare(err, Card(
    "err", "expected reciprocal rank",
    "sum of R_i / i * prod_{j<i} (1 - R_j) over ranks i <= k, R = (2^label - 1) / 2^max_grade",
    "0 if nothing has a gain; a label above max_grade is an error", (CHAPELLE_2009, "gdeval at k = 20"),
    aliases=("expected_reciprocal_rank",),
    params=(MAX_GRADE, EMPTY), cutoff=True, graded=True, response=err_response), err)


cdef struct IdealParams:
    double max_grade, ideal

cdef IdealParams ideal_fields


cdef double best_cascade(const Query* q, int64_t n, const Scale* top) noexcept nogil:
    """Expected reciprocal rank of n documents with the best label."""
    cdef double total = 0.0, go_on = 1.0, satisfied = satisfaction(q.rule, q.ideal[0], top)
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


# ---- rank-biased utility ---------------------------------------------------------------------------------------------
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
            satisfied = satisfaction(q.rule, q.labels[i], &top)
            weight = fade(weight, params.p, q.ranks[i] - last)
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


# ---- C/W/L -----------------------------------------------------------------------------------------------------------
MAX_REL = Param("max_rel", 1, "the label that counts as 1; labels above count the same", (), 0, 2**31, True)
MIN_REL = Param("min_rel", 0, "the label that counts as 0, as labels below do; labels between count in proportion", (),
                -1, 2**31 - 1, True)
TARGET = Param("T", 1.0, "the gain that the reader looks for", (), 0, INF)
NEEDS_MAX_REL = "cwl_eval and ir_measures always require max_rel"
WITH_COSTS = "or any number from 0 with doc_costs"
MAX_GAIN_SUMS = 100     # of gains that a reader can have seen, for bounds of bpm


cdef struct ScaleParams:        # the labels that count as 1 and 0; all C/W/L metrics begin with them
    double max_rel, min_rel

cdef ScaleParams scale_fields

cdef enum:
    OWN = 2                     # the position of the parameter of a model's own, behind these


def reader_card(name, summary, formula, sources, *own, **more):
    """The card of a C/W/L metric, with the parameters of its own."""
    card = Card(name, summary, formula, "0 if nothing has a gain", sources, differs=NEEDS_MAX_REL, graded=True,
                params=(MAX_REL, MIN_REL, *own, EMPTY))
    return card._replace(**more)


# The weight of rank i + 1 from rank i's weight, gain and sum of gains, and the model's own parameter.
ctypedef double (*next_fn)(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil


cdef double reader(const Query* q, int64_t k, const double* p, double parameter, next_fn next_weight) noexcept nogil:
    """The metric's value for ranks up to k; within a tie every rank has the mean of its documents' gains."""
    cdef const ScaleParams* scale = <const ScaleParams*>p
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
                label = label_grade(q.rule, q.labels[hit]) if q.labels[hit] >= q.floor else 0.0
                label = scale.max_rel if label > scale.max_rel else label
                if label > scale.min_rel:
                    gain += (label - scale.min_rel) / (scale.max_rel - scale.min_rel)
                hit += 1
            gain /= <double>(last - i + 1)
        total += gain
        value += weight * gain
        weights += weight
        weight = next_weight(i, weight, gain, total, parameter)
    return ratio(value, weights)


cdef double insq_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    cdef double c = (<double>i + 2.0 * parameter - 1.0) / (<double>i + 2.0 * parameter)
    return weight * (c * c)


cdef double insq(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, p[OWN], insq_next)

declare(insq, reader_card(
    "insq", "gain seen by a reader ever more patient (inverse squares)", "C/W/L with C_i = ((i + 2T - 1) / (i + 2T))^2",
    (MOFFAT_2012, "cwl_eval INSQ"), TARGET, response=SUM), insq, scale_fields)


cdef double inst_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    cdef double c = (<double>i + 2.0 * parameter - total - 1.0) / (<double>i + 2.0 * parameter - total)
    return weight * (c * c)


cdef double inst(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, p[OWN], inst_next)


def inst_response(values, cutoff, gains):
    return ENDS if values["T"] >= 0.5 else OUTER

declare(inst, reader_card(
    "inst", "gain seen by a reader who stops sooner the more gain was found",
    "C/W/L with C_i = ((i + 2T - c_i - 1) / (i + 2T - c_i))^2, c_i the gain up to rank i",
    (MOFFAT_2015, "cwl_eval INST"), TARGET, response=inst_response), NULL, scale_fields)


cdef double bpm_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight if total < parameter else 0.0


cdef double bpm(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, p[OWN], bpm_next)


def bpm_response(values, cutoff, gains):
    """Whether a reader can have seen few sums of gains."""
    few = values["T"] * (values["max_rel"] - values["min_rel"]) <= MAX_GAIN_SUMS
    return ENDS if values["max_rel"] == 1 else READER if few else OUTER

declare(bpm, reader_card(
    "bpm", "gain per document read until T is found or k are read (bejewelled player, static)",
    "c_s / s, s the first rank with c_s >= T, at most k; k at most 1000", (ZHANG_2017, "cwl_eval BPM"), TARGET,
    cutoff=True, by_label=False, response=bpm_response), NULL, scale_fields)


cdef double sdcg_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return 1.0 / log2_integer(i + 2)


cdef double sdcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, 0.0, sdcg_next)

declare(sdcg, reader_card(
    "sdcg", "scaled discounted cumulative gain",
    "sum of g_i / log2(i + 1) / sum of 1 / log2(i + 1), both over ranks i <= k; k at most 1000",
    ("cwl_eval SDCG",), cutoff=True, response=SUM), sdcg, scale_fields)


cdef double nerr8_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * (1.0 - gain)


cdef double nerr8(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, 0.0, nerr8_next)

declare(nerr8, reader_card(
    "nerr8", "gain seen by a reader who stops at a good document, at most at k",
    "C/W/L with C_i = 1 - g_i below rank k; k at most 1000", (AZZOPARDI_2021, "cwl_eval NERR8"), cutoff=True,
    response=ENDS), NULL, scale_fields)


cdef double nerr9_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * (<double>i / <double>(i + 1)) * (1.0 - gain)


cdef double nerr9(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, 0.0, nerr9_next)

declare(nerr9, reader_card(
    "nerr9", "as nerr8, with reciprocal ranks", "C/W/L with C_i = i / (i + 1) * (1 - g_i) below rank k; k at most 1000",
    (AZZOPARDI_2021, "cwl_eval NERR9"), cutoff=True, response=ENDS), NULL, scale_fields)


cdef double nerr10_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * parameter * (1.0 - gain)


cdef double nerr10(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, p[OWN], nerr10_next)

declare(nerr10, reader_card(
    "nerr10", "as nerr8, with the patience of rbp", "C/W/L with C_i = p (1 - g_i)", (AZZOPARDI_2021, "cwl_eval NERR10"),
    Param("p", 0.9, "persistence", (), 0, 1), response=ENDS), NULL, scale_fields)


cdef double nerr11_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return insq_next(i, weight, gain, total, parameter) * (1.0 - gain)


cdef double nerr11(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, p[OWN], nerr11_next)

declare(nerr11, reader_card(
    "nerr11", "as nerr8, with the patience of insq", "C/W/L with C_i = ((i + 2T - 1) / (i + 2T))^2 (1 - g_i)",
    (AZZOPARDI_2021, "cwl_eval NERR11"), TARGET, response=ENDS), NULL, scale_fields)


cdef double tbg_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * parameter


cdef double tbg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, exp2_real(-1.0 / p[OWN]), tbg_next)

declare(tbg, reader_card(
    "tbg", "time-biased gain, a document taking one unit of time, or its cost",
    "C/W/L with weights 2^(-(i - 1) / h); with doc_costs sum of g_i 2^(-T_i / h), T_i the costs at ranks < i, the "
    "seconds to get there", (SMUCKER_2012, "cwl_eval TBG"),
    Param("h", 224.0, "half-life of the reader's attention, in documents; in seconds with doc_costs", (), 0, INF),
    differs="the paper does not divide by the sum of weights and knows reading times, as here with doc_costs",
    beyond=WITH_COSTS, response=SUM), tbg, scale_fields)


cdef double u_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    weight = 1.0 - <double>i / parameter
    return weight if weight > 0.0 and i + 1 < CWL_DEPTH else 0.0


cdef double u_measure(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, p[OWN], u_next)

declare(u_measure, reader_card(
    "u_measure", "gain by how far it stands in the text read, a document being one unit long, or as long as its cost",
    "C/W/L with weights max(0, 1 - (i - 1) / L), 0 at rank 1000; with doc_costs sum of g_i max(0, 1 - pos_i / L), pos_i"
    " the costs at ranks <= i, the characters read", (SAKAI_2013, "cwl_eval U"),
    Param("L", 1000.0, "where the reader's attention ends, in documents; in characters with doc_costs", (), 0, INF),
    aliases=("U",), beyond=WITH_COSTS,
    differs="the paper does not divide by the sum of weights and knows lengths, as here with doc_costs",
    response=SUM), u_measure, scale_fields)


# ---- overlap with the ideal ranking ----------------------------------------------------------------------------------
cdef int64_t shared_depths(const Query* q) noexcept nogil:
    """Fill q.room with the depths from which on both rankings hold a document, rising; returns how many there are.

    The ideal ranking goes down by label; documents of one label keep the order of the ranking, those not retrieved
    last. Another order of the ideal ranking comes as labels that are all different (composites/per_metric.py).
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


cdef enum:                      # normalize
    BY_IDEAL
    BY_WEIGHTS


cdef struct CompatParams:
    double p, depth, normalize  # depth: -1 for "max"

cdef CompatParams compat_fields


cdef double compat(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const CompatParams* params = <const CompatParams*>p
    cdef int64_t d, depth, n_shared, shared = 0, m = q.num_ideal
    cdef double weight = 1.0, weights = 0.0, value = 0.0, best = 0.0
    while m > 0 and q.ideal[m - 1] < q.floor:
        m -= 1
    if m == 0 or q.num_ret == 0:
        return 0.0
    n_shared = shared_depths(q)
    depth = <int64_t>params.depth if params.depth >= 1.0 else m if m > q.num_ret else q.num_ret
    for d in range(1, depth + 1):
        if weight < 1e-30:
            break
        while shared < n_shared and q.room[shared] <= d:
            shared += 1
        value += weight * (<double>shared / <double>d)
        best += weight * (<double>(d if d < m else m) / <double>d)
        weights += weight
        weight *= params.p
    return value / (best if params.normalize == BY_IDEAL else weights)

cdef tuple _COMPAT = (
    Param("p", 0.95, "persistence", (), 0, 1),
    Param("depth", "max", "the depth to which the rankings are compared: the end of the longer, or a number",
          ("max",), 0, 2**31, True),
    Param("normalize", "true", "divide by the value of the ideal ranking, or by the sum of weights",
          words(true=BY_IDEAL, false=BY_WEIGHTS)))

declare(compat, Card(
    "compat", "rank-biased overlap with the ideal ranking (compatibility)",
    "sum of p^(d - 1) shared_d / d over depths d / the same for the ideal ranking with itself; shared_d "
    "documents stand in the first d of both",
    "0 if no label is above 0, or nothing is retrieved", (CLARKE_2020, "ir_measures Compat"),
    differs="the authors' program goes down to 1000: depth=1000; ir_measures takes 0 for the score of what is not "
            "retrieved, and equal scores as the qrels have them: missing_documents=zero",
    params=(
        *_COMPAT,
        Param("missing_documents", "last", "where the ideal ranking has documents of one label that are not retrieved: "
              "below the others, or as if their score were 0, and equal scores as in the qrels; labels without ids "
              "have the former", ("last", "zero")),
        EMPTY),
    graded=True, response=chain_of_two_gains, steady=False), NULL, compat_fields, True)

declare(compat, Card(
    "compat_help_harm", "compatibility with the relevant documents less that with the forbidden ones",
    "compat on the labels - compat on the forbidden documents, by their grades of harm",
    "0 on a side without documents", (CLARKE_2020,), aliases=("help_harm", "helpful_minus_harmful"), low=-1.0,
    params=(
        *_COMPAT,
        EMPTY),
    graded=True, steady=False, by_label=False, sampled="forbidden"), NULL, compat_fields, True)
