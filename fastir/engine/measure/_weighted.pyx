"""Weights of judged documents: metrics in which a relevant document counts as its weight, not as one.

In      hits and ideal whose labels are the weights of the relevant documents, 0 for the others: composites/weights.py
        makes such judgments, so the walk, its gains and its cutoffs are the same as of other real-valued labels.
Out     one double. psp and psndcg give the mean's numerator here; the rule set divides by what the best rankings have.

A weight is an inverse propensity: if documents are seen with probability p, one that was seen counts as 1/p.
"""

from libc.stdint cimport INT64_MAX, int64_t

from fastir.engine.measure._arithmetic cimport discount_at, power, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade

from fastir.engine.measure._graded import GAIN
from fastir.engine.measure._registry import EMPTY, PERSISTENCE, words
from fastir.engine.measure.cards import INF, Card, Param
from fastir.engine.measure.references import JAIN_2016, YANG_2018


cdef enum:                      # self_normalized
    BY_WEIGHTS
    NOT_AT_ALL


cdef struct WeightedParams:
    double self_normalized

cdef WeightedParams weighted_fields


cdef struct WeightedRbpParams:
    double p, self_normalized

cdef WeightedRbpParams weighted_rbp_fields


cdef double all_weights(const Query* q) noexcept nogil:
    """The sum of the weights of all relevant documents."""
    cdef double total = 0.0
    cdef int64_t i
    for i in range(q.num_ideal):
        total += label_grade(q.rule, q.ideal[i])
    return total


cdef inline double mean_weight(const Query* q) noexcept nogil:
    return ratio(all_weights(q), <double>q.num_rel)


cdef inline double per_place(const Query* q, const Snapshot* s) noexcept nogil:
    return ratio(s.gain, <double>(q.num_ret if s.k == INT64_MAX else s.k))


# ---- pyxclib -------------------------------------------------------------------------------------------------------


cdef double psp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return per_place(q, s)


cdef double psndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double ideal = 0.0
    cdef int64_t rank
    for rank in range(1, min(q.num_rel, s.k) + 1):
        ideal += 1.0 / discount_at(rank, 0)
    return ratio(s.dcg, ideal)


cdef object weighted_card(card):
    """What all cards here have in common."""
    return card._replace(sampled="weights", cutoff=True)


cdef str NOTHING = "0 without a relevant document"
cdef str BEST = ("the mean over the queries of the same for the ranking by weight, so that the mean is a quotient of "
                 "two means")

declare(psp, weighted_card(Card(
    "psp", "propensity-scored precision", "sum of the weights of the relevant documents at ranks <= k / k / " + BEST,
    NOTHING, (JAIN_2016, "pyxclib psprecision"), high=INF, rank_sensitive=False,
    differs="pyxclib has no values of single queries")), psp)

declare(psndcg, weighted_card(Card(
    "psndcg", "propensity-scored nDCG",
    "sum of w_i / log2(i + 1) over relevant documents at ranks i <= k / sum of 1 / log2(i + 1) over i <= min(k, R) / "
    + BEST, NOTHING, (JAIN_2016, "pyxclib psndcg"), high=INF,
    differs="pyxclib has no values of single queries, and its means in float32")), psndcg)


# ---- inverse propensity --------------------------------------------------------------------------------------------


SELF = Param("self_normalized", "true", "whether weights are divided by those of all relevant documents",
             words(true=BY_WEIGHTS, false=NOT_AT_ALL))
cdef str UP = "any number from 0 up with self_normalized=false"


cdef double weighted_recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const WeightedParams* params = <const WeightedParams*>p
    return s.gain if params.self_normalized == NOT_AT_ALL else ratio(s.gain, all_weights(q))

declare(weighted_recall, weighted_card(Card(
    "weighted_recall", "recall in which documents count as their weights",
    "sum of the weights of the relevant documents at ranks <= k / sum of those of all relevant documents; the first "
    "sum alone with self_normalized=false",
    NOTHING, (YANG_2018,), aliases=("snips_recall",), beyond=UP, params=(SELF, EMPTY),
    rank_sensitive=False)), weighted_recall, weighted_fields)


cdef double weighted_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const WeightedParams* params = <const WeightedParams*>p
    cdef double value = per_place(q, s)
    return value if params.self_normalized == NOT_AT_ALL else ratio(value, mean_weight(q))

declare(weighted_precision, weighted_card(Card(
    "weighted_precision", "precision in which documents count as their weights",
    "sum of w_i over relevant documents at ranks i <= k / k (without k: / n), w_i = weight / mean weight of the "
    "relevant documents; weight with self_normalized=false",
    NOTHING + "; 0 for an empty ranking", (YANG_2018,), high=INF, params=(SELF, EMPTY),
    rank_sensitive=False)), weighted_precision, weighted_fields)


cdef double weighted_ndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.dcg, s.ideal_dcg)

declare(weighted_ndcg, weighted_card(Card(
    "weighted_ndcg", "nDCG in which gains count as often as their documents' weights say",
    "DCG@k / DCG@k of the ideal ranking, g_i = weight * gain of a relevant document",
    NOTHING + "; a negative gain counts as 0", (YANG_2018,), params=(GAIN, EMPTY), graded=True)), weighted_ndcg)


cdef double weighted_rbp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const WeightedRbpParams* params = <const WeightedRbpParams*>p
    cdef double total = 0.0
    cdef int64_t i
    for i in range(q.num_hits):
        if q.ranks[i] > s.k:
            break
        if q.labels[i] >= q.level:
            total += label_grade(q.rule, q.labels[i]) * power(params.p, q.ranks[i] - 1)
    total *= 1.0 - params.p
    return total if params.self_normalized == NOT_AT_ALL else ratio(total, all_weights(q))

declare(weighted_rbp, weighted_card(Card(
    "weighted_rbp", "rank-biased precision averaged over relevant documents by their weights",
    "(1 - p) * sum of w_i p^(i - 1) over relevant documents at ranks i <= k / sum of the weights of all relevant "
    "documents; the first sum alone with self_normalized=false",
    NOTHING, (YANG_2018, "LensKit IPSRBP"), aliases=("IPSRBP",), beyond=UP,
    differs="LensKit has p = 0.85",
    params=(PERSISTENCE, SELF, EMPTY), dot="p")), NULL, weighted_rbp_fields)


cdef double weighted_mrr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const WeightedParams* params = <const WeightedParams*>p
    cdef double value
    cdef int64_t i
    for i in range(q.num_hits):
        if q.ranks[i] > s.k:
            break
        if q.labels[i] >= q.level:
            value = label_grade(q.rule, q.labels[i]) / <double>q.ranks[i]
            return value if params.self_normalized == NOT_AT_ALL else ratio(value, mean_weight(q))
    return 0.0

declare(weighted_mrr, weighted_card(Card(
    "weighted_mrr", "reciprocal rank that counts as the weight of the first relevant document",
    "w / rank of the first relevant document, w = weight / mean weight of the relevant documents; weight with "
    "self_normalized=false",
    NOTHING + "; 0 if none is retrieved", (YANG_2018,), high=INF, by_label=False,
    params=(SELF, EMPTY))), NULL, weighted_fields)
