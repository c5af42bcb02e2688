"""C/W/L metrics (Moffat et al. 2017): the expected gain per document read.

A reader who has seen rank i goes on with probability C_i, so the weight of rank i is the product of the C above it,
over the sum of all weights; as in cwl_eval, rankings are cut or filled up to rank 1000. `reader` walks these ranks; a
model is the function that makes the next weight.
"""

from libc.stdint cimport int64_t

from fastir.engine.measure._arithmetic cimport exp2_real, log2_integer, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade

from fastir.engine.measure._registry import EMPTY
from fastir.engine.measure.cards import INF, Card, Param
from fastir.engine.measure.references import (AZZOPARDI_2021, MOFFAT_2012, MOFFAT_2015, SAKAI_2013, SMUCKER_2012,
                                              ZHANG_2017)
from fastir.engine.measure.responses import ENDS, OUTER, READER, SUM

MAX_REL = Param("max_rel", 1, "the label that counts as 1; labels above count the same", (), 0, 2**31, True)
MIN_REL = Param("min_rel", 0, "the label that counts as 0, as labels below do; labels between count in proportion", (),
                -1, 2**31 - 1, True)
TARGET = Param("T", 1.0, "the gain that the reader looks for", (), 0, INF)
CWL = "cwl_eval and ir_measures always require max_rel"
MOST_SUMS = 100     # of gains that a reader can have seen, for bounds of bpm


cdef struct ScaleParams:        # the labels that count as 1 and 0; all C/W/L metrics begin with them
    double max_rel, min_rel

cdef ScaleParams scale_fields


cdef struct TargetParams:
    double max_rel, min_rel, T

cdef TargetParams target_fields


cdef struct PersistenceParams:
    double max_rel, min_rel, p

cdef PersistenceParams persistence_fields


cdef struct HalfLifeParams:
    double max_rel, min_rel, h

cdef HalfLifeParams half_life_fields


cdef struct LengthParams:
    double max_rel, min_rel, L

cdef LengthParams length_fields


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
    return reader(q, CWL_DEPTH, p, (<const TargetParams*>p).T, insq_next)

declare(insq, Card(
    "insq", "gain seen by a reader ever more patient (inverse squares)",
    "C/W/L with C_i = ((i + 2T - 1) / (i + 2T))^2", "0 if nothing has a gain", (MOFFAT_2012, "cwl_eval INSQ"),
    differs=CWL, params=(MAX_REL, MIN_REL, TARGET, EMPTY), graded=True, response=SUM), insq, target_fields)


cdef double inst_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    cdef double c = (<double>i + 2.0 * parameter - total - 1.0) / (<double>i + 2.0 * parameter - total)
    return weight * (c * c)


cdef double inst(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, (<const TargetParams*>p).T, inst_next)


def inst_response(values, cutoff, gains):
    return ENDS if values["T"] >= 0.5 else OUTER

declare(inst, Card(
    "inst", "gain seen by a reader who stops sooner the more gain was found",
    "C/W/L with C_i = ((i + 2T - c_i - 1) / (i + 2T - c_i))^2, c_i the gain up to rank i", "0 if nothing has a gain",
    (MOFFAT_2015, "cwl_eval INST"), differs=CWL, params=(MAX_REL, MIN_REL, TARGET, EMPTY), graded=True,
    response=inst_response),
    NULL, target_fields)


cdef double bpm_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight if total < parameter else 0.0


cdef double bpm(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, (<const TargetParams*>p).T, bpm_next)


def bpm_response(values, cutoff, gains):
    """Whether a reader can have seen few sums of gains."""
    few = values["T"] * (values["max_rel"] - values["min_rel"]) <= MOST_SUMS
    return ENDS if values["max_rel"] == 1 else READER if few else OUTER

declare(bpm, Card(
    "bpm", "gain per document read until T is found or k are read (bejewelled player, static)",
    "c_s / s, s the first rank with c_s >= T, at most k; k at most 1000", "0 if nothing has a gain",
    (ZHANG_2017, "cwl_eval BPM"), differs=CWL, params=(MAX_REL, MIN_REL, TARGET, EMPTY), cutoff=True,
    by_label=False, graded=True, response=bpm_response), NULL, target_fields)


cdef double sdcg_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return 1.0 / log2_integer(i + 2)


cdef double sdcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, 0.0, sdcg_next)

declare(sdcg, Card(
    "sdcg", "scaled discounted cumulated gain",
    "sum of g_i / log2(i + 1) / sum of 1 / log2(i + 1), both over ranks i <= k; k at most 1000",
    "0 if nothing has a gain", ("cwl_eval SDCG",), differs=CWL, params=(MAX_REL, MIN_REL, EMPTY),
    cutoff=True,
    graded=True, response=SUM), sdcg, scale_fields)


cdef double nerr8_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * (1.0 - gain)


cdef double nerr8(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, 0.0, nerr8_next)

declare(nerr8, Card(
    "nerr8", "gain seen by a reader who stops at a good document, at most at k",
    "C/W/L with C_i = 1 - g_i below rank k; k at most 1000", "0 if nothing has a gain",
    (AZZOPARDI_2021, "cwl_eval NERR8"), differs=CWL, params=(MAX_REL, MIN_REL, EMPTY), cutoff=True,
    graded=True, response=ENDS), NULL, scale_fields)


cdef double nerr9_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * (<double>i / <double>(i + 1)) * (1.0 - gain)


cdef double nerr9(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, s.k, p, 0.0, nerr9_next)

declare(nerr9, Card(
    "nerr9", "as nerr8, with reciprocal ranks",
    "C/W/L with C_i = i / (i + 1) * (1 - g_i) below rank k; k at most 1000", "0 if nothing has a gain",
    (AZZOPARDI_2021, "cwl_eval NERR9"), differs=CWL, params=(MAX_REL, MIN_REL, EMPTY), cutoff=True,
    graded=True, response=ENDS), NULL, scale_fields)


cdef double nerr10_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * parameter * (1.0 - gain)


cdef double nerr10(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, (<const PersistenceParams*>p).p, nerr10_next)

declare(nerr10, Card(
    "nerr10", "as nerr8, with the patience of rbp", "C/W/L with C_i = p (1 - g_i)", "0 if nothing has a gain",
    (AZZOPARDI_2021, "cwl_eval NERR10"), differs=CWL,
    params=(MAX_REL, MIN_REL, Param("p", 0.9, "persistence", (), 0, 1), EMPTY), graded=True,
    response=ENDS), NULL, persistence_fields)


cdef double nerr11_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return insq_next(i, weight, gain, total, parameter) * (1.0 - gain)


cdef double nerr11(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, (<const TargetParams*>p).T, nerr11_next)

declare(nerr11, Card(
    "nerr11", "as nerr8, with the patience of insq", "C/W/L with C_i = ((i + 2T - 1) / (i + 2T))^2 (1 - g_i)",
    "0 if nothing has a gain", (AZZOPARDI_2021, "cwl_eval NERR11"), differs=CWL,
    params=(MAX_REL, MIN_REL, TARGET, EMPTY), graded=True, response=ENDS), NULL, target_fields)


cdef double tbg_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    return weight * parameter


cdef double tbg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, exp2_real(-1.0 / (<const HalfLifeParams*>p).h), tbg_next)

declare(tbg, Card(
    "tbg", "time-biased gain, a document taking one unit of time", "C/W/L with weights 2^(-(i - 1) / h)",
    "0 if nothing has a gain", (SMUCKER_2012, "cwl_eval TBG"),
    differs="the paper does not divide by the sum of weights and knows reading times",
    params=(MAX_REL, MIN_REL, Param("h", 224.0, "half-life of the reader's attention, in documents", (), 0, INF),
        EMPTY),
    graded=True, response=SUM), tbg, half_life_fields)


cdef double u_next(int64_t i, double weight, double gain, double total, double parameter) noexcept nogil:
    weight = 1.0 - <double>i / parameter
    return weight if weight > 0.0 and i + 1 < CWL_DEPTH else 0.0


cdef double u_measure(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return reader(q, CWL_DEPTH, p, (<const LengthParams*>p).L, u_next)

declare(u_measure, Card(
    "u_measure", "gain by how far it stands in the text read, a document being one unit long",
    "C/W/L with weights max(0, 1 - (i - 1) / L), 0 at rank 1000", "0 if nothing has a gain",
    (SAKAI_2013, "cwl_eval U"), aliases=("U",),
    differs="the paper does not divide by the sum of weights and knows lengths",
    params=(MAX_REL, MIN_REL, Param("L", 1000.0, "where the reader's attention ends, in documents", (), 0, INF),
        EMPTY),
    graded=True, response=SUM), u_measure, length_fields)
