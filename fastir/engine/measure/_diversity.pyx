"""Metrics of rankings that serve several intents: subtopics of a query, each with judgments of its own.

Everything here is a mean over subtopics of a metric of one subtopic's judgments (evaluation/groups.py takes it). That
holds for alpha-nDCG and its kin too: the novelty of a document, the sum over its subtopics s of (1 - alpha)^(documents
above that serve s), falls apart into one sum per subtopic, in which only that subtopic's relevant documents count. So a
subtopic is a query to every kernel, and nothing below knows of more than one list of labels. Only the ideal ranking,
greedy over all subtopics at once, needs them together; it depends on the qrels alone, is made once, and is evaluated
like a run.

Qrels without subtopics count as one subtopic, also for the ideal ranking.
"""

from libc.stdint cimport INT64_MAX, int64_t

from fastir.engine.measure._arithmetic cimport chance_of_any, log2_integer, power, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare

from fastir.engine.measure._registry import EMPTY
from fastir.engine.measure.cards import AVERAGE, CHAIN, FIRST, SUM, Card, Param
from fastir.engine.measure.references import AGRAWAL_2009, CHAPELLE_2009, CLARKE_2008, CLARKE_2009, ZHAI_2003

ALPHA = Param("alpha", 0.5, "how much of the interest in a subtopic each document on it uses up", (), 0, 1, closed=True,
              aliases=("α",))
RANK_ONE = Param("rank_one", "normalised", "at k = 1: divided by the number of subtopics as at other k, or not",
                 ("normalised", "raw"))
BETA = Param("beta", 0.5, "persistence", (), 0, 1, aliases=("β",))
NONE = "0 if nothing is relevant; subtopics without a relevant document do not count"
RAW = "or up to the number of subtopics with rank_one=raw"
NDEVAL = ("ndeval and ir_measures do not divide by the number of subtopics at k = 1: rank_one=raw; ndeval goes down to "
          "rank 20")
CLARKE = (CLARKE_2008, CLARKE_2009, "ndeval")


cdef struct AlphaParams:
    double alpha

cdef AlphaParams alpha_fields


cdef struct NoveltyParams:
    double alpha, beta

cdef NoveltyParams novelty_fields


ctypedef double (*weight_fn)(int64_t rank) noexcept nogil


cdef double log_weight(int64_t rank) noexcept nogil:
    return 1.0 / log2_integer(rank + 1)


cdef double rank_weight(int64_t rank) noexcept nogil:
    return 1.0 / <double>rank


cdef double novelty(const Query* q, int64_t k, double alpha, weight_fn weight) noexcept nogil:
    """Sum of weights over the relevant ranks up to k, each 1 - alpha times less than the one before."""
    cdef double interest = 1.0, total = 0.0
    cdef int64_t i
    for i in range(q.num_hits):
        if q.ranks[i] > k:
            break
        if q.labels[i] >= q.level:
            total += interest * weight(q.ranks[i])
            interest *= 1.0 - alpha
    return total


cdef double best_novelty(int64_t n, double alpha, weight_fn weight) noexcept nogil:
    """The largest sum of weights for n relevant documents: at ranks 1 to n."""
    cdef double interest = 1.0, total = 0.0
    cdef int64_t rank
    for rank in range(1, n + 1):
        total += interest * weight(rank)
        interest *= 1.0 - alpha
        if interest == 0.0:
            break
    return total


cdef int64_t minimum(int64_t a, int64_t b) noexcept nogil:
    return a if a < b else b


cdef double alpha_dcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = (<const AlphaParams*>p).alpha
    return ratio(novelty(q, s.k, alpha, log_weight), best_novelty(s.k, alpha, log_weight))

declare(alpha_dcg, Card(
    "alpha_dcg", "discounted novelty over subtopics",
    "mean over subtopics of sum of (1 - alpha)^(relevant above i) / log2(i + 1) over relevant ranks i <= k / the "
    "same if all were relevant",
    NONE, CLARKE, aliases=("alpha-DCG", "α_DCG"), differs=NDEVAL, beyond=RAW,
    params=(ALPHA, RANK_ONE, EMPTY), cutoff=True, depth=20,
    groups="relevant", response=CHAIN), NULL, alpha_fields)


cdef double alpha_ndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = (<const AlphaParams*>p).alpha
    return ratio(novelty(q, s.k, alpha, log_weight), best_novelty(minimum(s.k, q.num_rel), alpha, log_weight))

declare(alpha_ndcg, Card(
    "alpha_ndcg", "discounted novelty over subtopics against the ideal ranking",
    "alpha_dcg@k / alpha_dcg@k of the greedy ideal ranking", NONE, CLARKE, aliases=("alpha-nDCG", "α_nDCG"),
    params=(ALPHA, EMPTY), cutoff=True, depth=20, groups="relevant", normalises="alpha_dcg",
    response=CHAIN), NULL, alpha_fields)


cdef double err_ia(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = (<const AlphaParams*>p).alpha
    return ratio(novelty(q, s.k, alpha, rank_weight), best_novelty(s.k, alpha, rank_weight))

declare(err_ia, Card(
    "err_ia", "expected reciprocal rank over subtopics",
    "mean over subtopics of sum of (1 - alpha)^(relevant above i) / i over relevant ranks i <= k / the same if "
    "all were relevant",
    NONE, (CHAPELLE_2009, "ndeval"), aliases=("ERR-IA",), differs=NDEVAL, beyond=RAW,
    params=(ALPHA, RANK_ONE, EMPTY), cutoff=True, depth=20, groups="relevant", response=CHAIN), NULL, alpha_fields)


cdef double nerr_ia(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = (<const AlphaParams*>p).alpha
    return ratio(novelty(q, s.k, alpha, rank_weight), best_novelty(minimum(s.k, q.num_rel), alpha, rank_weight))

declare(nerr_ia, Card(
    "nerr_ia", "expected reciprocal rank over subtopics against the ideal ranking",
    "err_ia@k / err_ia@k of the greedy ideal ranking", NONE, (CHAPELLE_2009, "ndeval"), aliases=("nERR-IA",),
    params=(ALPHA, EMPTY), cutoff=True, depth=20, groups="relevant", normalises="err_ia",
    response=CHAIN), NULL, alpha_fields)


cdef double nrbp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const NoveltyParams* params = <const NoveltyParams*>p
    cdef double interest = 1.0, total = 0.0
    cdef int64_t i, last = 1
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            interest *= power(params.beta, q.ranks[i] - last)
            last = q.ranks[i]
            total += interest
            interest *= 1.0 - params.alpha
    return (1.0 - (1.0 - params.alpha) * params.beta) * total

declare(nrbp, Card(
    "nrbp", "novelty- and rank-biased precision",
    "(1 - (1 - alpha) beta) * mean over subtopics of sum of (1 - alpha)^(relevant above i) beta^(i - 1) over "
    "relevant ranks i",
    NONE, (CLARKE_2009, "ndeval"), params=(ALPHA, BETA, EMPTY), groups="relevant",
    response=CHAIN), NULL, novelty_fields)


cdef double nnrbp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const NoveltyParams* params = <const NoveltyParams*>p
    cdef double go_on = (1.0 - params.alpha) * params.beta
    return ratio(nrbp(q, s, p), 1.0 - power(go_on, q.num_rel))

declare(nnrbp, Card(
    "nnrbp", "novelty- and rank-biased precision against the ideal ranking",
    "nrbp / nrbp of the greedy ideal ranking", NONE, (CLARKE_2009, "ndeval"),
    differs="ndeval gives NaN where nothing is relevant", params=(ALPHA, BETA, EMPTY), groups="relevant",
    normalises="nrbp", response=CHAIN), NULL, novelty_fields)


cdef double map_ia(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.sum_precision, <double>q.num_rel)

declare(map_ia, Card(
    "map_ia", "average precision over subtopics", "mean over subtopics of AP", NONE, (AGRAWAL_2009, "ndeval"),
    aliases=("AP_IA", "MAP-IA"), params=(EMPTY,), groups="relevant", response=AVERAGE), map_ia)


cdef double p_ia(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>(q.num_ret if s.k == INT64_MAX else s.k))

declare(p_ia, Card(
    "p_ia", "precision over subtopics", "mean over subtopics of r_k / k; without k: r / n", NONE,
    (AGRAWAL_2009, "ndeval"), aliases=("P-IA",), params=(EMPTY,), cutoff=True, groups="relevant",
    rank_sensitive=False, response=SUM), p_ia)


cdef double st_recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if s.num_rel_ret > 0 else 0.0


cdef double expected_st_recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return chance_of_any(q, s.k)

declare(st_recall, Card(
    "st_recall", "share of the subtopics that the first k serve", "subtopics with r_k > 0 / subtopics", NONE,
    (ZHAI_2003, "ndeval strec"), aliases=("StRecall", "strec"), params=(EMPTY,), cutoff=True, groups="relevant",
    rank_sensitive=False, response=FIRST),
    expected_st_recall)
