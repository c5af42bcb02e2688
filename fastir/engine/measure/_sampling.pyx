"""Metrics of sampled judgments, of weighted documents, and of evidence.

Sampled judgments: what metrics would be with judgments of the whole pool, estimated from a sample of it. The qrels say
how each document came into the sample: by its stratum, of which so many documents were drawn, or by the probability
that it was drawn. These metrics are no part of a walk over labels: composites/samples.py has the ranks in the pool, and
estimate() goes over all queries, one metric at a time. It reads of each query the retrieved documents of the pool, as
ranks and rows of the qrels, and the rows themselves: label (negative: not judged), stratum from 0 or probability (NaN:
not in the sample), gain. It writes one double per query; 0 where a metric is undefined, and then `defined` is 0.

Strata are counted in arrays of the caller. A precision by strata takes a step per stratum at each relevant document,
all else one step per document. Sums go by rank within a stratum and by strata from the lowest on, as in sample_eval.pl,
which has the strata in the order of their text.

Weights: a relevant document counts as its weight, not as one. A weight is an inverse propensity: a document that was
seen with probability p counts as 1/p. composites/weights.py makes judgments whose labels are the weights of relevant
documents and 0 for the others, with the walk of real-valued labels. psp and psndcg give the numerator of
the mean here; the composite evaluator divides by the value of the best rankings.
"""

from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.string cimport memset

from fastir.engine.measure._arithmetic cimport discount_at, power, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade

import numpy as np

from fastir.engine.measure._graded import ANY_GAIN, GAIN
from fastir.engine.measure._registry import EMPTY, PERSISTENCE, words
from fastir.engine.measure.cards import INF, Card, Param
from fastir.engine.measure.references import (ASLAM_2006, CLARKE_2020, JAIN_2016, PETRONI_2021, SAPIEZYNSKI_2019,
                                              YANG_2018, YILMAZ_2008, ZHAI_2003)


cdef double SMOOTHING = 0.00001     # what sample_eval.pl adds to the counts of a stratum, so that none is empty


cdef struct Stratum:
    int64_t docs, judged, relevant                  # in the pool
    int64_t docs_above, judged_above, relevant_above    # retrieved, as far as the ranking was read
    double total


cdef struct Sample:             # of one query
    int64_t n                   # retrieved documents of the pool
    int64_t num_ret
    const int64_t* ranks        # of these, from 1, rising
    const int64_t* rows         # parallel to ranks
    int64_t n_pool              # rows; the next arrays are parallel to them
    const int32_t* labels
    const int64_t* by_label     # the rows by rising labels
    const int64_t* strata
    const double* probabilities
    const double* gains         # 0 without one
    const int64_t* by_gain      # the rows by falling gains
    int64_t n_strata
    const int64_t* sizes        # how many documents each stratum has
    Stratum* at                 # parallel to the strata, and
    unsigned char* seen         # parallel to the rows: scratch of a function
    int64_t k
    int32_t level


ctypedef double (*estimator)(const Sample* s, double* defined) noexcept nogil


# ---- strata --------------------------------------------------------------------------------------------------------
cdef void count_pool(const Sample* s) noexcept nogil:
    cdef int64_t i, row
    for i in range(s.n_strata):
        s.at[i] = Stratum(s.sizes[i], 0, 0, 0, 0, 0, 0.)
    for i in range(s.n_pool - 1, -1, -1):
        row = s.by_label[i]
        if s.labels[row] < 0:
            break
        s.at[s.strata[row]].judged += 1
        s.at[s.strata[row]].relevant += s.labels[row] >= s.level


cdef inline void pass_by(const Sample* s, int64_t row) noexcept nogil:
    """Count a retrieved document."""
    cdef Stratum* at = s.at + s.strata[row]
    at.docs_above += 1
    at.judged_above += s.labels[row] >= 0
    at.relevant_above += s.labels[row] >= s.level


cdef inline double share_above(const Stratum* at) noexcept nogil:
    """How many of the retrieved documents of a stratum are relevant, as a fraction of the judged ones."""
    return (at.relevant_above + SMOOTHING) / (at.judged_above + 3 * SMOOTHING)


cdef inline double relevant_in(const Stratum* at) noexcept nogil:
    """How many documents of a stratum are relevant, estimated."""
    return <double>(at.relevant * at.docs) / at.judged if at.judged else 0.


cdef double relevant_in_all(const Sample* s) noexcept nogil:
    cdef double total = 0.
    cdef int64_t i
    count_pool(s)
    for i in range(s.n_strata):
        total += relevant_in(s.at + i)
    return total


cdef double stratified_precision(const Sample* s, int64_t place) noexcept nogil:
    """The precision at a relevant document, from the `place` documents of the pool above it."""
    cdef double above = 0., rank = s.ranks[place], n_above = place
    cdef int64_t i
    if place:
        for i in range(s.n_strata):
            if s.at[i].docs_above:
                above += s.at[i].docs_above / n_above * share_above(s.at + i)
    return 1 / rank + n_above / rank * above


cdef double xinf_ap(const Sample* s, double* defined) noexcept nogil:
    cdef double value = 0., num_rel = relevant_in_all(s)
    cdef int64_t i
    cdef Stratum* at
    for i in range(s.n):
        if s.ranks[i] > s.k:
            break
        if s.labels[s.rows[i]] >= s.level:
            s.at[s.strata[s.rows[i]]].total += stratified_precision(s, i)
        pass_by(s, s.rows[i])
    defined[0] = num_rel
    for i in range(s.n_strata):
        at = s.at + i
        if at.relevant:
            value += relevant_in(at) / num_rel * (at.total / at.relevant)
    return value


cdef double ideal_dcg(const Sample* s) noexcept nogil:
    """The DCG of the estimated numbers of documents of each gain, rounded, best first, at ranks to k.

    As in sample_eval.pl, of the gains that would begin behind rank k one document counts, too, at its rank.
    """
    cdef double value = 0., gain, total
    cdef int64_t i = 0, t, first = 1, rank, stop
    while i < s.n_pool and s.gains[s.by_gain[i]] > 0:
        gain = s.gains[s.by_gain[i]]
        for t in range(s.n_strata):
            s.at[t].relevant = 0
        while i < s.n_pool and s.gains[s.by_gain[i]] == gain:
            s.at[s.strata[s.by_gain[i]]].relevant += 1
            i += 1
        total = 0.
        for t in range(s.n_strata):
            if s.at[t].relevant:
                total += relevant_in(s.at + t)
        rank, stop = first, first + <int64_t>(total + 0.5)
        while rank < stop and (rank <= s.k or rank == first):
            value += gain / discount_at(rank, 0)
            rank += 1
        first = stop
    return value


cdef double inf_ndcg(const Sample* s, double* defined) noexcept nogil:
    cdef double value = 0., n = 0.
    cdef int64_t i, row
    cdef Stratum* at
    count_pool(s)
    defined[0] = ideal_dcg(s)
    for i in range(s.n):
        if s.ranks[i] > s.k:
            break
        row = s.rows[i]
        s.at[s.strata[row]].total += s.gains[row] / discount_at(s.ranks[i], 0)
        pass_by(s, row)
        n += 1
    for i in range(s.n_strata):
        at = s.at + i
        if at.judged_above:
            value += at.docs_above / n * at.total / at.judged_above
    return ratio(n * value, defined[0])


cdef double i_num_rel(const Sample* s, double* defined) noexcept nogil:
    defined[0] = relevant_in_all(s)
    return defined[0]


cdef double i_num_rel_ret(const Sample* s, double* defined) noexcept nogil:
    cdef double value = 0.
    cdef int64_t i
    defined[0] = relevant_in_all(s)
    for i in range(s.n):
        if s.ranks[i] > s.k:
            break
        pass_by(s, s.rows[i])
    for i in range(s.n_strata):
        value += s.at[i].docs_above * share_above(s.at + i)
    return value


cdef double i_precision(const Sample* s, double* defined) noexcept nogil:
    return i_num_rel_ret(s, defined) / s.k


# ---- probabilities -------------------------------------------------------------------------------------------------
cdef inline bint counts(const Sample* s, int64_t row) noexcept nogil:
    """Whether a document is relevant and in the sample."""
    return s.labels[row] >= s.level and s.probabilities[row] > 0


cdef double num_rel(const Sample* s, double* defined) noexcept nogil:
    cdef double total = 0.
    cdef int64_t i
    for i in range(s.n_pool):
        if counts(s, i):
            total += 1 / s.probabilities[i]
    defined[0] = total
    return total


cdef double relevant_to(const Sample* s, int64_t k) noexcept nogil:
    """How many of the first k documents are relevant, estimated."""
    cdef double total = 0.
    cdef int64_t i
    for i in range(s.n):
        if s.ranks[i] > k:
            break
        if counts(s, s.rows[i]):
            total += 1 / s.probabilities[s.rows[i]]
    return total


cdef double stat_precision(const Sample* s, double* defined) noexcept nogil:
    cdef int64_t k = s.num_ret if s.k == INT64_MAX else s.k
    num_rel(s, defined)
    return ratio(relevant_to(s, k), <double>k)


cdef double stat_r_precision(const Sample* s, double* defined) noexcept nogil:
    cdef double estimated = num_rel(s, defined)
    cdef int64_t r = <int64_t>(estimated + 0.5)
    return ratio(relevant_to(s, r), estimated if s.num_ret < r else <double>r)


cdef double stat_ap(const Sample* s, double* defined) noexcept nogil:
    cdef double above = 0., total = 0., p
    cdef int64_t i
    for i in range(s.n):
        if counts(s, s.rows[i]):
            p = s.probabilities[s.rows[i]]
            total += (1 + above) / s.ranks[i] / p
            above += 1 / p
    return ratio(total, num_rel(s, defined))


cdef double stat_ap_variance(const Sample* s, double* defined) noexcept nogil:
    """The terms of the program: for each document, for each pair, and for the precisions, also estimates."""
    cdef double ap = stat_ap(s, defined), estimated = defined[0], n_sampled = 0., n_retrieved = 0.
    cdef double above = 0., below = 0., each = 0., pairs = 0., before = 0., precisions = 0., y, p
    cdef int64_t i
    if estimated == 0:
        return 0.
    memset(s.seen, 0, s.n_pool)
    for i in range(s.n):
        s.seen[s.rows[i]] = True
        n_retrieved += s.probabilities[s.rows[i]] > 0
        if counts(s, s.rows[i]):
            p = s.probabilities[s.rows[i]]
            y = ((1 + above) / s.ranks[i] - ap) / p
            above += 1 / p
            each += (1 - p) * y * y
            pairs += 2 * y * before
            before += y
    for i in range(s.n_pool):
        n_sampled += s.probabilities[i] > 0
        if counts(s, i) and not s.seen[i]:
            y = -ap / s.probabilities[i]
            each += (1 - s.probabilities[i]) * y * y
            pairs += 2 * y * before
            before += y
    for i in range(s.n - 1, -1, -1):
        if counts(s, s.rows[i]):
            p = s.probabilities[s.rows[i]]
            precisions += below * below * (1 - p) / p / p
            below += 1. / s.ranks[i] / p
    if n_sampled > 1:
        each -= pairs / (n_sampled - 1)
    return min((each + precisions) / estimated / estimated / (n_retrieved + 0.1) * n_sampled, 1.)


# ---- cards ---------------------------------------------------------------------------------------------------------
cdef double never_walked(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """No plan has these metrics: composites/per_metric.py takes them out."""
    return 0.


cdef class Estimator:
    """The function of a metric."""

    cdef estimator function


cdef dict _estimators = {}


cdef object declare_estimate(estimator function, card):
    """Declare a metric of sampled judgments."""
    cdef Estimator entry = Estimator.__new__(Estimator)
    entry.function = function
    _estimators[card.name] = entry
    declare(never_walked, card._replace(by_label=False, reads="pool"))


cdef object by_strata(str name, str summary, str formula, undefined, program):
    return Card(name, summary, formula, undefined, (YILMAZ_2008, f"sample_eval {program}"), aliases=(program,),
                cutoff=True, depth=1000, params=(EMPTY,), sampled="strata", differs=STRATA)


cdef object by_probability(str name, str summary, str formula, undefined, program):
    return Card(name, summary, formula, undefined, (ASLAM_2006, f"statAP_MQ_eval {program}"), params=(EMPTY,),
                sampled="probabilities", differs=SKIPPED)


cdef str NO_RELEVANT = "0 without a relevant document in the sample"
cdef str STRATA = ("sample_eval evaluates queries of both files alone, queries=intersection, and takes zeros off the "
                   "front of the run's query ids")
cdef str SKIPPED = ("statAP_MQ_eval leaves queries without a relevant document in the sample out of its means: "
                    "empty=skip")
cdef str SHARE = "(relevant above + e) / (judged above + 3e), e = 0.00001"

declare_estimate(xinf_ap, by_strata(
    "xinf_ap", "average precision estimated from a sample of each stratum of the pool",
    "sum over strata of R_s / R * mean over the relevant sampled documents of the stratum of 1/i + pooled above / i * "
    "sum over strata of the share of the pooled documents above * " + SHARE + ", 0 if not retrieved; R_s = relevant / "
    "judged * documents of the stratum, R their sum",
    NO_RELEVANT + "; a negative label is in the pool, not sampled; a stratum without a judgment counts as nothing",
    "xinfAP")._replace(sources=(YILMAZ_2008, "sample_eval infAP")))

declare_estimate(inf_ndcg, by_strata(
    "inf_ndcg", "normalised discounted cumulative gain estimated from a sample of each stratum of the pool",
    "sum over strata of (pooled in the first k / judged in the first k) * DCG@k of the stratum / DCG@k of the ideal "
    "ranking, with the estimated number of documents of each gain, rounded, but one of a gain that begins after rank k",
    NO_RELEVANT + "; an estimate can be above 1", "infNDCG")._replace(
        params=(GAIN, EMPTY), graded=True, high=INF, beyond=ANY_GAIN,
        differs=STRATA + "; it has labels in the order of their text, 9 above 10"))

declare_estimate(i_precision, by_strata(
    "inf_precision", "precision estimated from a sample of each stratum of the pool", "inf_num_rel_ret@k / k",
    "0 for an empty ranking", "iP")._replace(params=(), rank_sensitive=False))

declare_estimate(i_num_rel_ret, by_strata(
    "inf_num_rel_ret", "relevant documents retrieved, estimated from a sample of each stratum of the pool",
    "sum over strata of the pooled documents of the first k * " + SHARE, "0 for an empty ranking",
    "inum_rel_ret")._replace(params=(), aggregate="sum", high=INF, rank_sensitive=False))

declare_estimate(i_num_rel, by_strata(
    "inf_num_rel", "relevant documents in the pool, estimated from a sample of each of its strata",
    "sum over strata of relevant / judged * documents of the stratum", NO_RELEVANT, "inum_rel")._replace(
        params=(), cutoff=False, depth=None, aggregate="sum", high=INF, higher_is_better=None,
        rank_sensitive=False))

declare_estimate(stat_ap, by_probability(
    "stat_ap", "average precision estimated from a sample with unequal probabilities",
    "1/R * sum over relevant sampled documents of 1/p_i * (1 + sum of 1/p_j over those above) / i, R = sum of 1/p",
    NO_RELEVANT + "; an estimate can be above 1", "AP")._replace(aliases=("statAP",), high=INF))

declare_estimate(stat_ap_variance, by_probability(
    "stat_ap_variance", "variance of the estimate stat_ap",
    "(sum of (1 - p) y^2 - 2 / (n - 1) * sum of y y' over pairs + sum of (1 - p) / p^2 * (sum of 1 / (i p) over those "
    "below)^2) / R^2 * n / (retrieved + 0.1), at most 1; y = (precision - stat_ap) / p of a relevant sampled document, "
    "its precision 0 if it was not retrieved, n sampled documents",
    NO_RELEVANT + "; pairs of one sampled document count as nothing", "varAP")._replace(
        aliases=("varAP",), higher_is_better=None, differs=SKIPPED + "; its version 3 has other terms and no limit"))

declare_estimate(stat_precision, by_probability(
    "stat_precision", "precision estimated from a sample with unequal probabilities",
    "sum of 1/p over relevant sampled documents of the first k / k; without k: / n", "0 for an empty ranking",
    "Prec_at")._replace(cutoff=True, params=(), high=INF, rank_sensitive=False,
                        differs="statAP_MQ_eval, version 4, has 0 if the ranking is shorter than k"))

declare_estimate(stat_r_precision, by_probability(
    "stat_r_precision", "precision at rank R estimated from a sample with unequal probabilities",
    "stat_precision at rank R, rounded; in a shorter ranking: relevant documents retrieved / R; R = stat_num_rel",
    NO_RELEVANT, "R-prec")._replace(high=INF))

declare_estimate(num_rel, by_probability(
    "stat_num_rel", "relevant documents estimated from a sample with unequal probabilities",
    "sum of 1/p over relevant sampled documents", NO_RELEVANT, "Relevant")._replace(
        params=(), aggregate="sum", high=INF, higher_is_better=None, rank_sensitive=False))


# ---- all queries ---------------------------------------------------------------------------------------------------
def estimate(name, int32_t level, int64_t k, hits, pool, num_ret, double[::1] values, double[::1] defined):
    """Fill `values` of a metric for all queries, and `defined`, which is above 0 where the metric is defined.

    hits     offsets, ranks, rows: int64; rows are counted from the query's first one
    pool     offsets, labels (int32), by_label, strata, firsts, sizes, probabilities, gains (float64), by_gain: parallel
             to the rows; but offsets and firsts, where the strata of each query begin, to the queries, sizes to the
             strata
    """
    cdef const int64_t[::1] hit_offsets = hits[0], ranks = hits[1], rows = hits[2]
    cdef const int64_t[::1] offsets = pool[0], by_label = pool[2], strata = pool[3], firsts = pool[4], sizes = pool[5]
    cdef const int64_t[::1] by_gain = pool[8], retrieved = num_ret
    cdef const int32_t[::1] labels = pool[1]
    cdef const double[::1] probabilities = pool[6], gains = pool[7]
    cdef estimator function = (<Estimator>_estimators[name]).function
    cdef unsigned char[::1] seen = np.empty(np.diff(pool[0]).max(initial=0) + 1, np.uint8)
    cdef unsigned char[::1] counted = np.empty((np.diff(pool[4]).max(initial=0) + 1) * sizeof(Stratum), np.uint8)
    cdef int64_t q
    cdef Sample s
    if labels.shape[0] == 0:
        values[:] = 0.
        defined[:] = 0.
        return
    s.level, s.k, s.seen, s.at = level, k, &seen[0], <Stratum*>&counted[0]
    with nogil:
        for q in range(retrieved.shape[0]):
            s.n, s.num_ret = hit_offsets[q + 1] - hit_offsets[q], retrieved[q]
            s.ranks, s.rows = &ranks[0] + hit_offsets[q], &rows[0] + hit_offsets[q]
            s.n_pool, s.n_strata = offsets[q + 1] - offsets[q], firsts[q + 1] - firsts[q]
            s.labels, s.by_label = &labels[0] + offsets[q], &by_label[0] + offsets[q]
            s.strata, s.sizes = &strata[0] + offsets[q], &sizes[0] + firsts[q]
            s.probabilities, s.gains = &probabilities[0] + offsets[q], &gains[0] + offsets[q]
            s.by_gain = &by_gain[0] + offsets[q]
            values[q] = function(&s, &defined[q])


# ---- weights --------------------------------------------------------------------------------------------------------
cdef enum:                      # self_normalized
    BY_WEIGHTS
    NOT_AT_ALL


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
    return s.gain if p[0] == NOT_AT_ALL else ratio(s.gain, all_weights(q))

declare(weighted_recall, weighted_card(Card(
    "weighted_recall", "recall in which documents count as their weights",
    "sum of the weights of the relevant documents at ranks <= k / sum of those of all relevant documents; the first "
    "sum alone with self_normalized=false",
    NOTHING, (YANG_2018,), aliases=("snips_recall",), beyond=UP, params=(SELF, EMPTY),
    rank_sensitive=False)), weighted_recall)


cdef double weighted_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double value = per_place(q, s)
    return value if p[0] == NOT_AT_ALL else ratio(value, mean_weight(q))

declare(weighted_precision, weighted_card(Card(
    "weighted_precision", "precision in which documents count as their weights",
    "sum of w_i over relevant documents at ranks i <= k / k (without k: / n), w_i = weight / mean weight of the "
    "relevant documents; weight with self_normalized=false",
    NOTHING + "; 0 for an empty ranking", (YANG_2018,), high=INF, params=(SELF, EMPTY),
    rank_sensitive=False)), weighted_precision)


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
    cdef double value
    cdef int64_t i
    for i in range(q.num_hits):
        if q.ranks[i] > s.k:
            break
        if q.labels[i] >= q.level:
            value = label_grade(q.rule, q.labels[i]) / <double>q.ranks[i]
            return value if p[0] == NOT_AT_ALL else ratio(value, mean_weight(q))
    return 0.0

declare(weighted_mrr, weighted_card(Card(
    "weighted_mrr", "reciprocal rank that counts as the weight of the first relevant document",
    "w / rank of the first relevant document, w = weight / mean weight of the relevant documents; weight with "
    "self_normalized=false",
    NOTHING + "; 0 if none is retrieved", (YANG_2018,), high=INF, by_label=False,
    params=(SELF, EMPTY))))


# ---- forbidden documents: the judgments are made of them -------------------------------------------------------------
cdef object forbidden_card(card):
    """What all cards here have in common."""
    return card._replace(sampled="forbidden", cutoff=True, rank_sensitive=False)


cdef str NONE_FORBIDDEN = "0 where nothing is forbidden, or nothing is retrieved"


cdef double forbidden_hits(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.num_rel_ret

declare(forbidden_hits, forbidden_card(Card(
    "forbidden_hits", "forbidden documents in the first k", "f_k, the number of forbidden documents at ranks <= k",
    NONE_FORBIDDEN, (CLARKE_2020, "daimon forbidden_hits"), aliases=("harm_hits", "harmful_hits"), high=INF,
    higher_is_better=False, by_label=False)), forbidden_hits)


cdef double forbidden_rate(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if s.num_rel_ret > 0.0 else 0.0

declare(forbidden_rate, forbidden_card(Card(
    "forbidden_rate", "whether a forbidden document is in the first k", "1 if f_k > 0, else 0", NONE_FORBIDDEN,
    (CLARKE_2020, "daimon forbidden_rate"), aliases=("harm_rate", "leak_rate"), higher_is_better=False,
    by_label=False)), forbidden_rate)


cdef double leak_recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>q.num_rel)

declare(leak_recall, forbidden_card(Card(
    "leak_recall", "recall less the fraction of forbidden documents in the first k",
    "max(0, r_k / R - f_k / F), F the number of forbidden documents; r_k / R where F = 0", "0 if R = 0",
    (CLARKE_2020, "daimon leak_penalised_recall"),
    aliases=("leak_penalised_recall", "leak_penalized_recall"), params=(EMPTY,), by_label=False)), leak_recall)


# ---- evidence: sets that must be complete, and hops that need one document ------------------------------------------
# A metric is a function of int64 arrays: the ranks of the members of each set, NEVER if not in the first k; where the
# members of each set begin, of which none is empty; and where the sets of each query begin.
NEVER = np.iinfo(np.int64).max
cdef dict _of_evidence = {}


def complete(ranks, offsets):
    """The rank of the last member of each set."""
    return np.maximum.reduceat(ranks, offsets[:len(offsets) - 1])


def met(ranks, offsets):
    """Whether each hop has a document."""
    return np.minimum.reduceat(ranks, offsets[:len(offsets) - 1]) < NEVER


def count(marked, offsets):
    """How many are marked in each list."""
    return np.diff(np.append(0, np.cumsum(marked))[offsets])


def share(marked, firsts):
    return count(marked, firsts) / np.maximum(np.diff(firsts), 1)


def best_of(values, firsts):
    """The largest value of each query, 0 where it has no sets."""
    best, having = np.zeros(len(firsts) - 1), np.diff(firsts) > 0
    best[having] = np.maximum.reduceat(values, firsts[:len(firsts) - 1][having])
    return best


def evidence_recall(ranks, offsets, firsts):
    return share(complete(ranks, offsets) < NEVER, firsts)


def evidence_found(ranks, offsets, firsts):
    return best_of(np.where(complete(ranks, offsets) < NEVER, 1.0, 0.0), firsts)


def evidence_chain(ranks, offsets, firsts):
    return best_of(count(ranks < NEVER, offsets) / np.diff(offsets), firsts)


def evidence_mrr(ranks, offsets, firsts):
    last = complete(ranks, offsets)
    return best_of(np.where(last < NEVER, 1.0 / last, 0.0), firsts)


def hop_recall(ranks, offsets, firsts):
    return share(met(ranks, offsets), firsts)


def all_hops(ranks, offsets, firsts):
    return np.where(share(met(ranks, offsets), firsts) == 1.0, 1.0, 0.0)


def one_rank_each(ranks, offsets, firsts, rows):
    """The ranks of whole sets, NEVER if incomplete: the retrieved members of a set are one rank, at the last of them.

    A document in several sets is one rank for each of them that it is the last member of, in the order of the sets.
    """
    sizes = np.diff(firsts)
    query = np.repeat(np.arange(len(sizes)), sizes)
    last = np.maximum.reduceat(np.where(ranks < NEVER, ranks, 0), offsets[:len(offsets) - 1])
    step = last.max() + 1
    first = np.unique(rows, return_index=True)[1]
    at, owner = ranks[first], np.repeat(query, np.diff(offsets))[first]
    before = np.sort((owner * step + at)[at < NEVER])
    others = last - np.searchsorted(before, query * step + last, "right") + np.searchsorted(before, query * step)
    order = np.argsort(query * step + last, kind="stable")
    order = order[last[order] > 0]
    found = np.diff(np.append(0, np.cumsum(last > 0))[firsts])
    place = np.empty(len(last), np.int64)
    place[order] = np.arange(1, len(order) + 1) - np.repeat(np.cumsum(found) - found, found)
    return np.where(complete(ranks, offsets) < NEVER, others + place, NEVER)


cdef object declare_evidence(function, str summary, str formula, str kind, sources, params=(EMPTY,),
                             by_rank=False):
    """Declare a metric of sets or of hops."""
    cdef str name = function.__name__
    _of_evidence[name] = function
    declare(never_walked, Card(
        name, summary, formula, f"0 where a query has no {kind}", sources, params=params, cutoff=True, reads="pool",
        by_label=False, sampled=kind, rank_sensitive=by_rank))


SET_RANKS = Param("set_ranks", "documents", "what takes a rank: each document; or the retrieved members of a set "
                  "together, at the last of them, as in KILT", ("documents", "sets"))

declare_evidence(evidence_recall, "fraction of the sets of evidence that are complete in the first k",
                 "sets with all members at ranks <= k / sets", "sets", (PETRONI_2021, "KILT recall@k"),
                 (SET_RANKS, EMPTY))
declare_evidence(evidence_found, "whether a set of evidence is complete in the first k",
                 "1 if a set has all members at ranks <= k, else 0", "sets", (PETRONI_2021, "KILT success_rate@k"),
                 (SET_RANKS, EMPTY))
declare_evidence(evidence_chain, "largest fraction of a set of evidence in the first k",
                 "max over sets of members at ranks <= k / members", "sets", (PETRONI_2021,))
declare_evidence(evidence_mrr, "reciprocal rank at which the first set of evidence is complete",
                 "1 / rank, if it is <= k, else 0; a set is complete at the rank of its last member", "sets",
                 (PETRONI_2021,), (SET_RANKS, EMPTY), True)
declare_evidence(hop_recall, "fraction of the hops with a document in the first k",
                 "hops with a document at a rank <= k / hops", "hops", (ZHAI_2003,))
declare_evidence(all_hops, "whether each hop has a document in the first k",
                 "1 if each hop has a document at a rank <= k, else 0", "hops", (ZHAI_2003,))


def evidence_values(name, int64_t k, params, evidence, standing):
    """The values of a metric for all queries, float64; `standing` has the rank of each row of the qrels, or NEVER."""
    if len(evidence.rows) == 0:
        return np.zeros(len(evidence.firsts) - 1)
    ranks, offsets = standing[evidence.rows], evidence.offsets
    if params.get("set_ranks") == "sets":
        ranks = one_rank_each(ranks, offsets, evidence.firsts, evidence.rows)
        offsets = np.arange(len(offsets))
    return _of_evidence[name](np.where(ranks > k, NEVER, ranks), offsets, evidence.firsts)


# ---- exposure of groups: composites/exposure.py has the values -------------------------------------------------------
cdef object exposure_card(card):
    """What all cards here have in common."""
    return card._replace(sampled="groups", cutoff=True, reads="all", by_label=False, sources=(SAPIEZYNSKI_2019,
                                                                                              *card.sources))


cdef str NO_GROUPS = "NaN where no document at ranks <= k has groups, 0 where nothing is retrieved"


cdef double awrf(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 0.0

declare(awrf, exposure_card(Card(
    "awrf", "attention-weighted rank fairness: how near the exposure of groups is to a target",
    "1 - JSD(sum of v_i a_i / sum of v_i, target) over ranks i <= k of documents with groups; a_i the shares of the "
    "groups, v_i = 1 / log2(max(i, 2)), JSD the Jensen-Shannon divergence with the natural logarithm",
    NO_GROUPS, ("TREC 2022 Fair Ranking AWRF",))))

declare(awrf, exposure_card(Card(
    "ndcg_awrf", "nDCG times attention-weighted rank fairness", "ndcg(gain=binary,discount=jk2)@k * awrf@k",
    NO_GROUPS + " or R = 0", ("TREC 2022 Fair Ranking Score",), params=(EMPTY,))))
