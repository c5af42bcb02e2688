"""Graded metrics: the gains of labels, discounted by their ranks, against the best ranking that the judgments allow.

A metric here reads the gains that _measure.pyx has laid parallel to the hits, and the ideal gains, best first. Labels
without a gain of their own, 0 among them, may be absent from both: they add nothing.
"""

from libc.stdint cimport int64_t

from fastir.engine.measure._arithmetic cimport discount_at, log2_real, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade

from fastir.engine.measure._codes import GAIN_CODES, IDEAL_CODES
from fastir.engine.measure._registry import CUTOFFS, EMPTY, EMPTY_RANKING
from fastir.engine.measure.cards import (CHAIN, ENDS, INF, OUTER, RATIO, SUM, Card, Param, chain_of_two_gains,
                                         several_sums)
from fastir.engine.measure.references import BURGES_2005, JARVELIN_2002

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
    "ndcg", "normalised discounted cumulative gain", "DCG@k / DCG@k of the ideal ranking, g_i = label", NO_GAIN,
    (JARVELIN_2002, "trec_eval ndcg, ndcg_cut"), beyond=ANY_GAIN, family="ndcg_cut", members=CUTOFFS,
    differs=f"scikit-learn, LightGBM and CatBoost take the ideal from the retrieved list: ideal=retrieved; "
    f"code that sums the ideal over all relevant documents: ideal=uncut; {SORTED}",
    params=(GAIN, DISCOUNT, IDEAL, EMPTY_RANKING, EMPTY), cutoff=True, graded=True, sums=True,
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
