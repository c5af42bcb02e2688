"""Graded metrics, and metrics of rankings that serve several intents.

Graded metrics discount the gains of labels by their ranks, and compare them with the best ranking that the judgments
allow. They read the gains that _measure.pyx has laid parallel to the hits, and the ideal gains, best first. Labels
without a gain of their own, 0 among them, may be absent from both: they add nothing.

Metrics of several intents are means over the subtopics of a query, each with judgments of its own
(evaluation/groups.py takes the mean). That holds for alpha-nDCG and its kin too: the novelty of a document, the sum
over its subtopics s of (1 - alpha)^(documents above that serve s), falls apart into one sum per subtopic, in which only
that subtopic's relevant documents count. So a subtopic is a query to every kernel. Only the ideal ranking, greedy over
all subtopics at once, needs them together; it depends on the qrels alone, is made once, and is evaluated like a run.
Qrels without subtopics count as one subtopic, also for the ideal ranking.
"""

from libc.stdint cimport INT64_MAX, int64_t

from fastir.engine.measure._arithmetic cimport chance_of_any, discount_at, log2_integer, log2_real, power, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade

from fastir.engine.measure._codes import GAIN_CODES, IDEAL_CODES
from fastir.engine.measure._registry import BUDGET, CUTOFFS, EMPTY, EMPTY_RANKING
from fastir.engine.measure.cards import (AVERAGE, CHAIN, ENDS, FIRST, INF, OUTER, RATIO, SUM, Card, Param,
                                         chain_of_two_gains, several_sums)
from fastir.engine.measure.references import (AGRAWAL_2009, BURGES_2005, CHAPELLE_2009, CLARKE_2008, CLARKE_2009,
                                              JARVELIN_2002, ZHAI_2003)


GAIN = Param("gain", "linear", "what a label adds: itself, 2^label - 1 (labels up to 1000), 1 if it is relevant, or "
             "what the map says, itself for labels that it lacks; its labels -1 and -2 are documents outside the "
             "qrels, and in the pool without a judgment", tuple(GAIN_CODES), mapping=True, aliases=("gains", "dcg"),
             synonyms=(("exp-log2", "exp2"), ("log2", "linear")))
IDEAL = Param("ideal", "judged", "the ideal ranking holds all judged documents, only those retrieved, no more of "
              "them than are retrieved, at each rank to k (without k: to n) a document as good as the best of them, or "
              "all judged documents without a cut at k",
              tuple(IDEAL_CODES))
DISCOUNT = Param("discount", "log2", "log2(rank + 1), or the original: none at rank 1, then log2(rank)",
                 ("log2", "jk2"))
ANY_GAIN = "or any number with gain={...}"
NO_GAIN = "0 if the ideal is 0: no judged document has a gain"
SORTED = ("trec_eval takes custom gains less than 1 apart for equal when it sorts the ideal, and mixes up the "
          "parameters of dcg, ideal_dcg and ndcg asked for together")


cdef double cg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.gain

declare(cg, Card(
    "cg", "cumulative gain", "sum of the labels at ranks <= k", "0 if nothing has a gain",
    (JARVELIN_2002,), high=INF, params=(EMPTY,), cutoff=True, graded=True, sums=True,
    rank_sensitive=False, response=SUM), cg)


cdef double dcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.dcg

declare(dcg, Card(
    "dcg", "discounted cumulative gain", "sum of g_i / log2(i + 1) over ranks i <= k, g_i = label",
    "0 if nothing has a gain", (JARVELIN_2002, "trec_eval dcg"), differs=SORTED, beyond=ANY_GAIN,
    high=INF, params=(GAIN, DISCOUNT, EMPTY), cutoff=True, graded=True, sums=True,
    equals=(("gain", "exp2", "dcg_burges"),), response=SUM), dcg)

declare(dcg, Card(
    "dcg_burges", "discounted cumulative gain, exponential gains",
    "sum of (2^label_i - 1) / log2(i + 1) over ranks i <= k",
    "0 if nothing has a gain; a label above 1000 is an error", (BURGES_2005, "ranx dcg_burges"), high=INF,
    params=(DISCOUNT, EMPTY), cutoff=True, graded=True, sums=True, gain="exp2", response=SUM), dcg)


cdef double ideal_dcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.ideal_dcg


def ideal_dcg_response(values, cutoff, gains):
    """The judged documents are the same for all rankings, those retrieved are not."""
    return SUM if values["ideal"] == "judged" else ENDS

declare(ideal_dcg, Card(
    "ideal_dcg", "discounted cumulative gain of the ideal ranking", "DCG@k of the judged documents, best gain first",
    NO_GAIN, (JARVELIN_2002, "trec_eval ideal_dcg"), aliases=("idcg",), differs=SORTED, high=INF,
    higher_is_better=None, params=(GAIN, DISCOUNT, IDEAL, EMPTY), cutoff=True, graded=True, sums=True,
    rank_sensitive=False, response=ideal_dcg_response), ideal_dcg)


cdef double ndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.dcg, s.ideal_dcg)

declare(ndcg, Card(
    "ndcg", "normalised discounted cumulative gain",
    "DCG@k / DCG@k of the ideal ranking, g_i = label; a budget does not cut the ideal ranking, so all "
    "runs and budgets divide by the same", NO_GAIN, (JARVELIN_2002, "trec_eval ndcg, ndcg_cut"), beyond=ANY_GAIN,
    family="ndcg_cut", members=CUTOFFS,
    differs=f"scikit-learn, LightGBM and CatBoost take the ideal from the retrieved list: ideal=retrieved; "
    f"code that sums the ideal over all relevant documents: ideal=uncut; {SORTED}",
    params=(GAIN, DISCOUNT, IDEAL, EMPTY_RANKING, EMPTY, *BUDGET), cutoff=True, graded=True, sums=True,
    equals=(("gain", "exp2", "ndcg_burges"),), response=RATIO, quotient=("dcg", "ideal_dcg")), ndcg)

declare(ndcg, Card(
    "ndcg_burges", "normalised discounted cumulative gain, exponential gains",
    "DCG@k / DCG@k of the ideal ranking, gain = 2^label - 1", f"{NO_GAIN}; a label above 1000 is an error",
    (BURGES_2005, "ranx ndcg_burges", "gdeval"), params=(DISCOUNT, IDEAL, EMPTY_RANKING, EMPTY),
    cutoff=True, graded=True, sums=True, gain="exp2", response=RATIO, quotient=("dcg_burges", "ideal_dcg")), ndcg)


cdef double ncg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double ideal = 0.0
    cdef int64_t i
    for i in range(q.num_ideal if q.num_ideal < s.k else s.k):
        if q.ideal[i] >= q.floor:
            ideal += label_grade(q.rule, q.ideal[i])
    return ratio(s.gain, ideal)

declare(ncg, Card(
    "ncg", "normalised cumulative gain", "CG@k / CG@k of the ideal ranking, g_i = label", NO_GAIN, (JARVELIN_2002,),
    aliases=("normalised_cumulated_gain",),
    differs="tar_eval's NCG divides by all relevant documents, and its cutoffs are shares of the collection: ncg_share",
    params=(EMPTY,), cutoff=True, graded=True, rank_sensitive=False, response=several_sums), ncg)


cdef double ndcg_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double total = 0.0, sum_gains = 0.0, sum_ideal = 0.0
    cdef int64_t i, j = 0, n_gains = 0, m = q.num_ideal_gains
    for i in range(q.num_hits):
        sum_gains += q.gains[i] / discount_at(q.ranks[i], 0)
        if q.gains[i] > 0.0:
            n_gains += 1
            while j < m and j < q.ranks[i]:
                sum_ideal += q.ideal_gains[j] / discount_at(j + 1, 0)
                j += 1
            total += ratio(sum_gains, sum_ideal)
    while j < m:
        sum_ideal += q.ideal_gains[j] / discount_at(j + 1, 0)
        j += 1
    total += ratio(<double>(m - n_gains) * sum_gains, sum_ideal)
    return ratio(total, <double>m) if total > 0.0 else 0.0


def ndcg_rel_response(values, cutoff, gains):
    return CHAIN if len(set(gains)) <= 2 else OUTER

declare(ndcg_rel, Card(
    "ndcg_rel", "nDCG averaged over the ranks of the documents with a gain",
    "1/m * (sum of DCG@i / IDCG@i over ranks i with a gain + (m - q) * DCG / IDCG), m documents judged with a "
    "gain, q retrieved",
    f"{NO_GAIN}; 0 if the sum is negative", ("trec_eval ndcg_rel",), differs=SORTED, params=(GAIN, EMPTY), graded=True,
    response=ndcg_rel_response, steady=False))


cdef double r_ndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double total = 0.0, sum_gains = 0.0, sum_ideal = 0.0
    cdef int64_t i = 0, rank, terms = 0, m = q.num_ideal_gains
    if q.num_rel == 0 or m == 0:
        return 0.0
    for rank in range(1, m + 1):
        sum_ideal += q.ideal_gains[rank - 1] / discount_at(rank, 0)
        while i < q.num_hits and q.ranks[i] <= rank:
            sum_gains += q.gains[i] / discount_at(q.ranks[i], 0)
            i += 1
        if rank == m or q.ideal_gains[rank - 1] != q.ideal_gains[rank]:
            total += sum_gains / sum_ideal
            terms += 1
    if q.num_ret >= m + 2:
        while i < q.num_hits:
            sum_gains += q.gains[i] / discount_at(q.ranks[i], 0)
            i += 1
        total += sum_gains / sum_ideal
        terms += 1
    return total / <double>terms

declare(r_ndcg, Card(
    "r_ndcg", "nDCG averaged over the ranks where the ideal gain changes",
    "mean of DCG@p / IDCG@p over the ranks p <= m after which the ideal gain falls, and of DCG / IDCG if n >= m "
    "+ 2; m documents were judged with a gain",
    f"0 if R = 0; {NO_GAIN}", ("trec_eval Rndcg",), beyond=ANY_GAIN,
    aliases=("Rndcg",), differs=SORTED, params=(GAIN, EMPTY),
    graded=True, response=chain_of_two_gains, steady=False))


cdef double g(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double total = 0.0, sum_gains = 0.0, cost = 0.0, ideal = 0.0
    cdef int64_t i, j = 0
    for j in range(q.num_ideal_gains):
        ideal += q.ideal_gains[j]
    j = 0
    for i in range(q.num_hits):
        if q.gains[i] != 0.0:
            sum_gains += q.gains[i]
            while j < q.num_ideal_gains and j < q.ranks[i]:
                cost += q.ideal_gains[j] if q.ideal_gains[j] > 1.0 else 1.0
                j += 1
            if j < q.ranks[i]:
                cost += <double>(q.ranks[i] - j)
                j = q.ranks[i]
            total += q.gains[i] / log2_real(2.0 + (cost - sum_gains if cost > sum_gains else 0.0))
    return ratio(total, ideal)


def g_response(values, cutoff, gains):
    return CHAIN if len(set(gains)) <= 2 and max(gains) <= 1.0 else OUTER

declare(g, Card(
    "g", "gain discounted by what was missed so far",
    "sum of g_i / log2(2 + C_i - S_i) / sum of the ideal gains; S_i sums the gains to rank i, C_i the ideal "
    "gains, at least 1 each",
    NO_GAIN, ("trec_eval G",),
    beyond=ANY_GAIN, differs=SORTED, by_label=False, params=(GAIN, EMPTY), graded=True,
    response=g_response, steady=False))


# ---- several intents ------------------------------------------------------------------------------------------------
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
    cdef double alpha = p[0]
    return ratio(novelty(q, s.k, alpha, log_weight), best_novelty(s.k, alpha, log_weight))

declare(alpha_dcg, Card(
    "alpha_dcg", "discounted novelty over subtopics",
    "mean over subtopics of sum of (1 - alpha)^(relevant above i) / log2(i + 1) over relevant ranks i <= k / the "
    "same if all were relevant",
    NONE, CLARKE, aliases=("alpha-DCG", "α_DCG"), differs=NDEVAL, beyond=RAW,
    params=(ALPHA, RANK_ONE, EMPTY), cutoff=True, depth=20,
    groups="relevant", response=CHAIN))


cdef double alpha_ndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = p[0]
    return ratio(novelty(q, s.k, alpha, log_weight), best_novelty(minimum(s.k, q.num_rel), alpha, log_weight))

declare(alpha_ndcg, Card(
    "alpha_ndcg", "discounted novelty over subtopics against the ideal ranking",
    "alpha_dcg@k / alpha_dcg@k of the greedy ideal ranking", NONE, CLARKE, aliases=("alpha-nDCG", "α_nDCG"),
    params=(ALPHA, EMPTY), cutoff=True, depth=20, groups="relevant", normalises="alpha_dcg",
    response=CHAIN))


cdef double err_ia(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = p[0]
    return ratio(novelty(q, s.k, alpha, rank_weight), best_novelty(s.k, alpha, rank_weight))

declare(err_ia, Card(
    "err_ia", "expected reciprocal rank over subtopics",
    "mean over subtopics of sum of (1 - alpha)^(relevant above i) / i over relevant ranks i <= k / the same if "
    "all were relevant",
    NONE, (CHAPELLE_2009, "ndeval"), aliases=("ERR-IA",), differs=NDEVAL, beyond=RAW,
    params=(ALPHA, RANK_ONE, EMPTY), cutoff=True, depth=20, groups="relevant", response=CHAIN))


cdef double nerr_ia(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double alpha = p[0]
    return ratio(novelty(q, s.k, alpha, rank_weight), best_novelty(minimum(s.k, q.num_rel), alpha, rank_weight))

declare(nerr_ia, Card(
    "nerr_ia", "expected reciprocal rank over subtopics against the ideal ranking",
    "err_ia@k / err_ia@k of the greedy ideal ranking", NONE, (CHAPELLE_2009, "ndeval"), aliases=("nERR-IA",),
    params=(ALPHA, EMPTY), cutoff=True, depth=20, groups="relevant", normalises="err_ia",
    response=CHAIN))


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
