"""Metrics of binary relevance: counts, sets, the ranks of relevant documents, and incomplete judgments.

Hits may hold codes below 0, when another metric of the plan reads them: every comparison here is with a label. A rank
that is not among the hits holds a document that the metric does not distinguish from a non-relevant or unjudged one.
Metrics of incomplete judgments distinguish judged non-relevant documents (labels from 0 up), documents in the pool
without a judgment (code -2), and documents outside the qrels (code -1, or no hit at all).
"""

from libc.math cimport NAN
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from fastir.engine.measure._arithmetic cimport (Tie, chance_of_any, count_to, exp2_real, log2_integer, middle_rank,
                                                natural_log, ratio, take_tie)
from fastir.engine.measure._codes cimport MOST_NUMBERS
from fastir.engine.measure._registry cimport Query, Snapshot, declare

from fastir.engine.measure._registry import BUDGET, CUTOFFS, EMPTY, EMPTY_RANKING, words
from fastir.engine.measure.cards import (AVERAGE, CHAIN, ENDS, FIRST, INF, MICRO, ODDS, SUM, Card, Numbers, Param,
                                         retrieved_to, sum_at_cutoff)
from fastir.engine.measure.references import (BERRENDORF_2020, BUCKLEY_2000, BUCKLEY_2004, HANLEY_1982, HOYT_2022,
                                              KANTOR_2000, LIN_2015, MUSGRAVE_2020, RAJPURKAR_2018, RIJSBERGEN_1974,
                                              ROBERTSON_2006, SMUCKER_2012, WU_2025, YILMAZ_2006)


# ---- counts ----------------------------------------------------------------------------------------------------------
cdef double num_q(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0

declare(num_q, Card(
    "num_q", "queries evaluated", "1 per query", "never", ("trec_eval num_q",), aliases=("NumQ",), low=1.0,
    higher_is_better=None, aggregate="count", groups="all", rank_sensitive=False, response=SUM), num_q)


cdef double num_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>q.num_ret

declare(num_ret, Card(
    "num_ret", "documents retrieved", "n", "0 for an empty ranking", ("trec_eval num_ret",), aliases=("NumRet",),
    high=INF, higher_is_better=None, aggregate="sum", groups="all", becomes=("rel", "num_rel_ret"),
    rank_sensitive=False, response=SUM), num_ret)


cdef double num_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>q.num_rel

declare(num_rel, Card(
    "num_rel", "relevant documents in the qrels", "R", "0 if none", ("trec_eval num_rel",), aliases=("NumRel",),
    differs="trec_eval -c sums labels above 0 for any -l; ir_measures leaves out queries missing from the run",
    high=INF, higher_is_better=None, aggregate="sum", rank_sensitive=False, response=SUM), num_rel)


cdef double num_rel_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.num_rel_ret

declare(num_rel_ret, Card(
    "num_rel_ret", "relevant documents retrieved", "r", "0 if none", ("trec_eval num_rel_ret",), aliases=("NumRelRet",),
    high=INF, aggregate="sum", rank_sensitive=False, response=SUM), num_rel_ret)


cdef double surfaced(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if q.num_ret > 0 else 0.0

declare(surfaced, Card(
    "surfaced", "whether anything is retrieved", "1 if n > 0, else 0", "0 for an empty ranking", (RAJPURKAR_2018,),
    aliases=("answered",), higher_is_better=None, rank_sensitive=False, response=SUM), surfaced)


cdef double false_surface(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return NAN if q.num_rel > 0 else surfaced(q, s, p)

declare(false_surface, Card(
    "false_surface", "whether anything is retrieved for a query without a right answer",
    "1 if n > 0, else 0; where R = 0",
    "NaN, and out of the mean, if a document is relevant", (RAJPURKAR_2018,),
    aliases=("false_surface_rate", "false_answer_rate"), differs="others mix both kinds of queries in one mean",
    higher_is_better=False, rank_sensitive=False, response=ENDS, steady=False), false_surface)


cdef double false_abstention(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 - surfaced(q, s, p) if q.num_rel > 0 else NAN

declare(false_abstention, Card(
    "false_abstention", "whether nothing is retrieved for a query with a relevant document",
    "1 if n = 0, else 0; where R > 0",
    "NaN, and out of the mean, if no document is relevant", (RAJPURKAR_2018,),
    aliases=("false_abstention_rate", "false_refusal"), higher_is_better=False, rank_sensitive=False, response=ENDS,
    steady=False), false_abstention)


cdef double num_nonrel_judged_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, count = 0
    for i in range(q.num_hits):
        count += 0 <= q.labels[i] < q.level
    return <double>count

declare(num_nonrel_judged_ret, Card(
    "num_nonrel_judged_ret", "documents retrieved that were judged not relevant",
    "retrieved documents with 0 <= label < rel_level", "0 if none", ("trec_eval num_nonrel_judged_ret",), high=INF,
    higher_is_better=False, aggregate="sum", reads="judged", rank_sensitive=False, response=SUM), num_nonrel_judged_ret)


# ---- at a cutoff, and sets -------------------------------------------------------------------------------------------

declare(num_rel_ret, Card(
    "hits", "relevant documents in the first k", "r_k", "0 if none is retrieved", ("ranx hits",),
    differs="num_rel_ret is the same count, summed over queries instead of averaged",
    high=INF, params=(EMPTY,), cutoff=True, rank_sensitive=False, response=SUM), num_rel_ret)


cdef double hit_rate(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if s.num_rel_ret > 0 else 0.0


cdef double expected_hit_rate(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return chance_of_any(q, s.k)

declare(hit_rate, Card(
    "hit_rate", "whether the top k holds a relevant document", "1 if r_k > 0, else 0", "0 if nothing is relevant",
    ("trec_eval success", "ranx hit_rate", "LongMemEval recall_any"),
    aliases=("success", "HitRate", "hit", "HitRatio", "hit_ratio", "HR", "recall_any", "any_recall"),
    family="success", members=(1, 5, 10),
    only_in=(("beir", "Accuracy"), ("sentence-transformers", "accuracy")), params=(EMPTY,), cutoff=True,
    rank_sensitive=False, response=FIRST),
    expected_hit_rate)


cdef double plain_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>q.num_ret if s.k == INT64_MAX else <double>s.k)


cdef enum:                      # short_rankings
    PAD
    CLIP


cdef double precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    if p[0] == CLIP and s.k > q.num_ret:
        return ratio(s.num_rel_ret, <double>q.num_ret)
    return plain_precision(q, s, p)

declare(precision, Card(
    "precision", "share of relevant documents in the first k",
    "r_k / k; without k: r / n; with a budget n is the number of documents that fit",
    "0 for an empty ranking; a ranking shorter than k still divides by k", (BUCKLEY_2000, "trec_eval P, set_P"),
    aliases=("P", "SetP", "set_P", "pre"), family="P", members=CUTOFFS,
    differs="XGBoost, which calls it pre, and CatBoost divide by n if the ranking is shorter than k: "
            "short_rankings=clip",
    params=(
        Param("short_rankings", "pad",
            "a ranking shorter than k: filled with documents that are not relevant, or k shrinks",
            words(pad=PAD, clip=CLIP)),
        EMPTY_RANKING, EMPTY, MICRO, *BUDGET),
    at_r="r_precision", cutoff=True, becomes=("relative", "relative_precision"), rank_sensitive=False, response=SUM,
    denominator=lambda values, k, n, R: n.clip(max=k) if values["short_rankings"] == "clip" else retrieved_to(k, n)),
    precision)

declare(plain_precision, Card(
    "precision_avgjg", "precision, averaged over groups of judges", "mean of r_k / k over the groups; without k: r / n",
    "0 for an empty ranking", ("trec_eval P_avgjg",), family="P_avgjg", members=CUTOFFS, params=(EMPTY,), cutoff=True,
    groups="all", rank_sensitive=False, response=SUM), plain_precision)


cdef enum:                      # recall_norm has the first two, ap_norm all
    ALL_RELEVANT
    AT_MOST_K
    RELEVANT_RETRIEVED
    AT_MOST_RETRIEVED


cdef double plain_recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>q.num_rel)


cdef double recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    if p[0] == AT_MOST_K and s.k < q.num_rel:
        return ratio(s.num_rel_ret, <double>s.k)
    return plain_recall(q, s, p)

declare(recall, Card(
    "recall", "fraction of the relevant documents that the top k holds", "r_k / R", "0 if R = 0",
    (BUCKLEY_2000, "trec_eval recall, set_recall"), aliases=("R", "set_recall", "SetR"), family="recall",
    members=CUTOFFS,
    differs="LensKit divides by min(k, R): recall_norm=min_kR, or relative_precision",
    params=(Param("recall_norm", "R", "the denominator: all relevant documents, or at most k of them",
        words(R=ALL_RELEVANT, min_kR=AT_MOST_K)), EMPTY, MICRO, *BUDGET),
    at_r="r_precision", cutoff=True, rank_sensitive=False, response=SUM,
    denominator=lambda values, k, n, R: R.clip(max=k) if values["recall_norm"] == "min_kR" else R), recall)


cdef double recall_all(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if q.num_rel > 0 and s.num_rel_ret >= <double>q.num_rel else 0.0


cdef double expected_recall_all(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """Of g documents in the tie across the cutoff, m above it: all r relevant ones are, with C(m, r) / C(g, r)."""
    cdef int64_t i = 0, j, rel_ret = 0, size, above
    cdef double chance = 1.0
    cdef Tie tie
    while i < q.num_hits and q.ranks[i] <= s.k:
        i = take_tie(q, i, &tie, 0)
        rel_ret += tie.relevant
        size = tie.last - tie.first + 1
        above = size if tie.last <= s.k else s.k - tie.first + 1
        if above < size:
            for j in range(tie.relevant):
                chance *= <double>(above - j if above > j else 0) / <double>(size - j)
    return chance if 0 < q.num_rel <= rel_ret else 0.0

declare(recall_all, Card(
    "recall_all", "whether the top k holds every relevant document", "1 if r_k = R, else 0", "0 if R = 0",
    (WU_2025, "LongMemEval recall_all"), aliases=("all_recall", "full_recall"),
    differs="LongMemEval has 1 where nothing is relevant: empty=one", params=(EMPTY,), cutoff=True,
    rank_sensitive=False, response=ENDS), expected_recall_all)


cdef double relative_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = q.num_ret if s.k == INT64_MAX else s.k
    return ratio(s.num_rel_ret, <double>(n if n < q.num_rel else q.num_rel))

declare(relative_precision, Card(
    "relative_precision", "precision at k over the best that is possible",
    "r_k / min(k, R); without k: r / min(n, R)", "0 if R = 0", ("trec_eval relative_P, set_relative_P", "BEIR R_cap"),
    aliases=("set_relative_P", "SetRelP", "R_cap", "recall_cap"), family="relative_P", members=CUTOFFS,
    only_in=(("implicit", "precision"), ("implicit", "P")),
    differs="BEIR fails for a query without relevant documents", params=(EMPTY, MICRO), cutoff=True,
    rank_sensitive=False, response=sum_at_cutoff,
    denominator=lambda values, k, n, R: R.clip(max=retrieved_to(k, n))), relative_precision)


cdef double f1(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double a = plain_precision(q, s, p), b = plain_recall(q, s, p)
    return ratio(2.0 * a * b, a + b)

def f_denominator(x, k, n, R):
    """What F divides r_k by."""
    return (retrieved_to(k, n) + x * R) / (1.0 + x)


declare(f1, Card(
    "f1", "harmonic mean of precision and recall", "2 P R / (P + R), both at k", "0 if both are 0",
    (RIJSBERGEN_1974, "ranx f1", "trec_eval set_F with x = 1"), params=(EMPTY, MICRO), cutoff=True,
    rank_sensitive=False, response=sum_at_cutoff,
    denominator=lambda values, k, n, R: f_denominator(1.0, k, n, R)), f1)


cdef enum:                      # f
    F_X
    F_BETA


cdef struct SetFParams:
    double x
    double f_weight

cdef SetFParams set_f_fields


cdef double weighted_f(const Query* q, const Snapshot* s, const double* p, double x) noexcept nogil:
    cdef double a = plain_precision(q, s, p), b = plain_recall(q, s, p)
    return ratio((x + 1.0) * a * b, b + x * a)


cdef double set_f(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const SetFParams* params = <const SetFParams*>p
    return weighted_f(q, s, p, params.x * params.x if params.f_weight == F_BETA else params.x)

declare(set_f, Card(
    "set_f", "weighted harmonic mean of precision and recall", "(x + 1) P R / (R + x P), both at k", "0 if r = 0",
    ("trec_eval set_F",), aliases=("SetF",), positional=1,
    differs="x is not beta but its square in the usual F: f_weight=beta, or f_beta",
    params=(Param("x", 1.0, "how much more recall counts", (), 0, 1e6, closed=True, aliases=("beta",)),
        Param("f_weight", "x", "what that parameter is: trec_eval's x, or the textbook's beta, whose square is x",
        words(x=F_X, beta=F_BETA)), EMPTY, MICRO),
    cutoff=True, equals=(("f_weight", "beta", "f_beta"),), rank_sensitive=False, response=sum_at_cutoff,
    denominator=lambda values, k, n, R:
        f_denominator(values["x"] ** (2 if values["f_weight"] == "beta" else 1), k, n, R)),
    set_f, set_f_fields)


cdef double f_beta(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double beta = p[0]
    return weighted_f(q, s, p, beta * beta)

declare(f_beta, Card(
    "f_beta", "weighted harmonic mean of precision and recall", "(beta^2 + 1) P R / (R + beta^2 P), both at k",
    "0 if r = 0", (RIJSBERGEN_1974,),
    differs="trec_eval set_F and ir_measures SetF take the square of beta: set_f",
    params=(Param("beta", 1.0, "how many times more recall counts", (), 0, 1e3, closed=True), EMPTY,
            MICRO),
    cutoff=True, rank_sensitive=False, response=sum_at_cutoff,
    denominator=lambda values, k, n, R: f_denominator(values["beta"] ** 2, k, n, R)),
    f_beta)


cdef double set_map(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret * s.num_rel_ret, <double>q.num_ret * <double>q.num_rel)

declare(set_map, Card(
    "set_map", "precision times recall of the whole ranking", "r^2 / (n R)", "0 if n = 0 or R = 0",
    ("trec_eval set_map",),
    aliases=("SetAP",), params=(EMPTY,), rank_sensitive=False, response=ENDS), set_map)


cdef struct UtilityParams:
    double p1, p2, p3, p4, n_docs

cdef UtilityParams utility_fields


cdef double utility(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const UtilityParams* worth = <const UtilityParams*>p
    cdef double r = s.num_rel_ret
    return (worth.p1 * r + worth.p2 * (q.num_ret - r) + worth.p3 * (q.num_rel - r)
            + worth.p4 * (worth.n_docs + r - q.num_ret - q.num_rel))


def weight(name, default, what):
    return Param(name, default, f"the worth of a document that is {what}", (), -INF, INF)


declare(utility, Card(
    "utility", "worth of the ranking as a set", "p1 r + p2 (n - r) + p3 (R - r) + p4 (n_docs + r - n - R)",
    "as the formula says", ("trec_eval utility",), positional=4,
    differs="trec_eval -c gives 0 where the query is missing and no parameter is given", low=-INF, high=INF,
    params=(
        weight("p1", 1.0, "relevant and retrieved"),
        weight("p2", -1.0, "retrieved, not relevant"),
        weight("p3", 0.0, "relevant, not retrieved"),
        weight("p4", 0.0, "neither"),
        Param("n_docs", 0, "documents in the collection", (), 0, 2**53, integer=True, closed=True),
        EMPTY), rank_sensitive=False, response=SUM), utility, utility_fields)


cdef enum:                      # rounding
    V10
    V9


cdef enum:                      # unranked
    UNRANKED_ZERO
    UNRANKED_NAN


MULTIPLES = tuple(i / 5 for i in range(1, 11))
POINTS = tuple(i / 10 for i in range(11))
RECALLS = Param("points", Numbers(POINTS), "the recall points", (), 0, 1, closed=True, many=MOST_NUMBERS)
RECALL = Param("recall", 0.0, "the recall point, which @ sets", (), 0, 1, closed=True)
TIMES = Param("x", 1.0, "the multiple of R, which @ sets", (), 0, 1e6, closed=True)
ROUNDING = Param("rounding", "v10", "recall * R rounded to the nearest (trec_eval 10), or its whole part after adding "
                 "0.9 (trec_eval 9, pytrec_eval, ir_measures)", words(v10=V10, v9=V9))
UNRANKED = Param("unranked", "zero", "an empty ranking: counts as 0, or is NaN where no relevant document makes the "
                 "recall point, and so is the mean", words(zero=UNRANKED_ZERO, nan=UNRANKED_NAN))


# ---- ranks of the relevant documents ---------------------------------------------------------------------------------
cdef double rel_ret_at(const Query* q, int64_t depth) noexcept nogil:
    """Relevant documents in the first `depth`."""
    return count_to(q, depth, q.level)


cdef double r_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(rel_ret_at(q, q.num_rel), <double>q.num_rel)

declare(r_precision, Card(
    "r_precision", "precision at rank R, the number of relevant documents", "r_R / R", "0 if R = 0",
    (BUCKLEY_2000, "trec_eval Rprec"),
    aliases=("r-precision", "Rprec", "rprecision"), params=(EMPTY, MICRO), response=CHAIN, steady=False,
    denominator=lambda values, k, n, R: R), r_precision)


cdef double map_r(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i
    cdef double rel_ret = 0.0, total = 0.0
    for i in range(q.num_hits):
        if q.ranks[i] > q.num_rel:
            break
        if q.labels[i] >= q.level:
            rel_ret += 1.0
            total += rel_ret / <double>q.ranks[i]
    return ratio(total, <double>q.num_rel)

declare(map_r, Card(
    "map_r", "average precision of the first R documents, R being the number of relevant documents",
    "sum of precision(i) over the relevant ranks i <= R, divided by R", "0 if R = 0",
    (MUSGRAVE_2020, "trec_eval map_at_R, up to its version 8"), aliases=("map_at_R",), params=(EMPTY,),
    response=CHAIN, steady=False))


cdef double r_precision_mult(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t depth = <int64_t>(p[0] * <double>q.num_rel + 0.9)
    return ratio(rel_ret_at(q, depth), <double>depth)

declare(r_precision_mult, Card(
    "r_precision_mult", "precision at a multiple of the number of relevant documents",
    "r_K / K, K = x R + 0.9 without its fraction", "0 if K = 0", ("trec_eval Rprec_mult",), family="Rprec_mult",
    members=MULTIPLES,
    params=(TIMES, EMPTY), at="x", response=CHAIN, steady=False), r_precision_mult)

declare(r_precision_mult, Card(
    "r_precision_mult_avgjg",
    "precision at a multiple of the number of relevant documents, averaged over groups of judges",
    "mean of r_K / K over the groups, K = x R + 0.9 without its fraction", "0 where K = 0",
    ("trec_eval Rprec_mult_avgjg",), family="Rprec_mult_avgjg", members=MULTIPLES, params=(TIMES, EMPTY), at="x",
    groups="all", response=CHAIN, steady=False), r_precision_mult)


cdef double mrr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 / <double>s.first_rel if s.first_rel > 0 else 0.0


cdef double expected_mrr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """Of g documents in the tie, r of them relevant, the first of these is the j-th with C(g - j, r - 1) / C(g, r)."""
    cdef int64_t i = 0, j, size
    cdef double chance, total = 0.0
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if tie.relevant > 0:
            size = tie.last - tie.first + 1
            chance = <double>tie.relevant / <double>size
            for j in range(size - tie.relevant + 1):
                if tie.first + j > s.k:
                    break
                total += chance / <double>(tie.first + j)
                if j + 1 < size:
                    chance *= <double>(size - j - tie.relevant) / <double>(size - j - 1)
            break
    return total

declare(mrr, Card(
    "mrr", "reciprocal rank of the first relevant document", "1 / rank, 0 beyond k", "0 if none is retrieved",
    (KANTOR_2000, "trec_eval recip_rank"), aliases=("recip_rank", "RR", "RecipRank", "mean_reciprocal_rank"),
    params=(EMPTY,), cutoff=True, response=FIRST), expected_mrr)


cdef double average_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double norm = p[0]
    cdef int64_t n = q.num_rel
    if (norm == AT_MOST_K or norm == AT_MOST_RETRIEVED) and s.k < n:
        n = s.k
    if norm == AT_MOST_RETRIEVED and q.num_ret < n:
        n = q.num_ret
    return ratio(s.sum_precision, s.num_rel_ret if norm == RELEVANT_RETRIEVED else <double>n)

declare(average_precision, Card(
    "map", "average precision (its mean over queries is MAP)",
    "sum of precision(i) over the relevant ranks i <= k, divided by R", "0 if R = 0",
    (BUCKLEY_2000, "trec_eval map, map_cut"),
    aliases=("AP", "average_precision", "AveragePrecision"), family="map_cut", members=CUTOFFS,
    differs="LightGBM, XGBoost and CatBoost divide by min(k, R): ap_norm=min_kR; torchmetrics and cwl_eval by "
            "r_k: ap_norm=hits; LensKit by min(n, k, R): ap_norm=min_nkR",
    params=(Param("ap_norm", "R",
        "the denominator: all relevant documents, at most k of them, those in the first k, or at most as many as the "
        "first k ranks hold documents",
        words(R=ALL_RELEVANT, min_kR=AT_MOST_K, hits=RELEVANT_RETRIEVED, min_nkR=AT_MOST_RETRIEVED)), EMPTY),
    cutoff=True, response=AVERAGE, at_r="map_r"), average_precision)


cdef double plain_map(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.sum_precision, <double>q.num_rel)

declare(plain_map, Card(
    "map_avgjg", "average precision, averaged over groups of judges", "mean of AP@k over the groups", "0 where R = 0",
    ("trec_eval map_avgjg",), params=(EMPTY,), cutoff=True, groups="all", response=AVERAGE), plain_map)


cdef double gm_map(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double value = plain_map(q, s, p)
    return value if value > 1e-5 else 1e-5

declare(gm_map, Card(
    "gm_map", "geometric mean of average precision", "max(AP, 0.00001); over queries exp(mean of ln)",
    "0.00001 if R = 0", (ROBERTSON_2006, "trec_eval gm_map"),
    differs="pytrec_eval gives the logarithm of each query's value", low=0.00001, params=(EMPTY,),
    aggregate="geometric", response=AVERAGE))


cdef double yaap(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double missing = 1.0 + <double>q.num_rel - s.sum_precision
    # 0 or less only if the caller's ideal labels miss some of the list's own
    return natural_log((1.0 + s.sum_precision) / (missing if missing > 0.0 else 1.0))

declare(yaap, Card(
    "yaap", "yet another average precision: its log odds", "ln((1 + R AP) / (1 + R - R AP))",
    "0 if R = 0; -ln(1 + R) if r = 0", (ROBERTSON_2006, "trec_eval yaap"), low=-INF, high=INF, params=(EMPTY,),
    response=ODDS))


cdef double bin_g(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double total = 0.0
    cdef int64_t i, above, rel_ret = 0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            rel_ret += 1
            above = q.ranks[i] - rel_ret
            if above < 0:
                return NAN      # ties without ids yet: all have their first rank, and are measured again
            total += 1.0 / log2_integer(2 + above)
    return ratio(total, <double>q.num_rel)


cdef double expected_bin_g(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """A relevant document is below each number of its tie's others with the same chance."""
    cdef double total = 0.0, part
    cdef int64_t i = 0, rel_ret = 0, others, above
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if tie.relevant > 0:
            others = tie.last - tie.first + 1 - tie.relevant
            part = 0.0
            if tie.first - 1 < rel_ret:
                return NAN      # as in bin_g
            for above in range(tie.first - 1 - rel_ret, tie.first + others - rel_ret):
                part += 1.0 / log2_integer(2 + above)
            total += <double>tie.relevant * part / <double>(others + 1)
            rel_ret += tie.relevant
    return ratio(total, <double>q.num_rel)

declare(bin_g, Card(
    "bin_g", "relevant documents discounted by the others above them",
    "1/R * sum over relevant ranks of 1 / log2(2 + documents above that are not relevant)", "0 if R = 0",
    ("trec_eval binG",), aliases=("binG",), params=(EMPTY,), response=CHAIN), expected_bin_g)


cdef enum:                      # no_hit
    NO_HIT_SKIP
    NO_HIT_ZERO


cdef int64_t wrong_pairs(const Query* q, int64_t depth, int64_t* rel_ret) noexcept nogil:
    """Pairs in the wrong order, of a relevant document in the first `depth` and another; and how many are relevant."""
    cdef int64_t i, seen = 0, wrong = 0
    for i in range(q.num_hits):
        if q.ranks[i] > depth:
            break
        if q.labels[i] >= q.level:
            seen += 1
            wrong += q.ranks[i] - seen
    rel_ret[0] = seen
    return wrong


cdef double pair_accuracy(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = s.k if s.k < q.num_ret else q.num_ret, rel_ret = <int64_t>s.num_rel_ret, wrong
    if rel_ret == 0:
        return 0.0 if p[0] == NO_HIT_ZERO else NAN
    if rel_ret == n:
        return 1.0
    wrong = wrong_pairs(q, n, &rel_ret)
    return 1.0 - <double>wrong / (<double>(n - rel_ret) * <double>rel_ret)

declare(pair_accuracy, Card(
    "pair_accuracy",
    "share of pairs in the right order, of one relevant document and one that is not, in the first k",
    "1 - pairs in the wrong order / pairs",
    "NaN, and out of the mean, if the top k holds no relevant document; 1 if they hold no other",
    ("ir_measures Accuracy", "RePlay RocAuc"), only_in=(("ir_measures", "Accuracy"), ("replay", "RocAuc")),
    differs="ir_measures fails where all are relevant; RePlay has 0 where none is: no_hit=zero; BEIR's Accuracy is "
            "hit_rate",
    by_label=False,
    params=(Param("no_hit", "skip", "the value if the top k holds no relevant document: NaN, out of the mean, or 0",
        words(skip=NO_HIT_SKIP, zero=NO_HIT_ZERO)), EMPTY),
    cutoff=True, response=CHAIN))


cdef enum:                      # one_class
    ONE_CLASS_SKIP
    ONE_CLASS_ZERO


cdef double auc(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t depth = s.k if s.k < q.num_ret else q.num_ret, rel_ret, wrong = wrong_pairs(q, depth, &rel_ret)
    return share_right(<double>wrong, rel_ret, depth, p)


cdef double expected_auc(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """Half of the pairs of a tie are in the right order."""
    cdef int64_t depth = s.k if s.k < q.num_ret else q.num_ret, i = 0, seen = 0
    cdef double wrong = 0.0
    cdef Tie tie
    while i < q.num_hits and q.ranks[i] <= depth:
        i = take_tie(q, i, &tie, 0)
        if tie.last > depth:
            return split_auc(&tie, wrong, seen, depth, p)
        wrong += <double>tie.relevant * (<double>(tie.first - 1 - seen)
                                         + <double>(tie.last - tie.first + 1 - tie.relevant) / 2.0)
        seen += tie.relevant
    return share_right(wrong, seen, depth, p)


cdef double split_auc(const Tie* tie, double wrong, int64_t seen, int64_t depth, const double* p) noexcept nogil:
    """The last tie has g documents, r of them relevant; m are in the first `depth`: j relevant ones with the
    chance C(r, j) C(g - r, m - j) / C(g, m). The chances grow from 1, and are divided by their sum; an order in which
    the value is undefined has none."""
    cdef int64_t m = depth - tie.first + 1, others = tie.last - tie.first + 1 - tie.relevant, j
    cdef int64_t least = m - others if m > others else 0, most = m if m < tie.relevant else tie.relevant
    cdef double chance = 1.0, chances = 0.0, total = 0.0, here
    for j in range(least, most + 1):
        here = wrong + <double>j * (<double>(tie.first - 1 - seen) + <double>(m - j) / 2.0)
        here = share_right(here, seen + j, depth, p)
        if here == here:
            total += chance * here
            chances += chance
        chance *= <double>(tie.relevant - j) * <double>(m - j) / (<double>(j + 1) * <double>(others - m + j + 1))
        if chance > 1e200:
            chance *= 1e-200
            chances *= 1e-200
            total *= 1e-200
    return total / chances if chances > 0.0 else NAN


cdef double share_right(double wrong, int64_t rel_ret, int64_t n, const double* p) noexcept nogil:
    """The fraction of pairs in the right order, of one relevant document and one other, among n documents."""
    if rel_ret == 0 or rel_ret == n:
        return 0.0 if p[0] == ONE_CLASS_ZERO else NAN
    return 1.0 - wrong / (<double>(n - rel_ret) * <double>rel_ret)

declare(auc, Card(
    "auc", "area under the ROC curve: how likely a relevant document stands above one that is not",
    "1 - pairs in the wrong order / pairs of a relevant document and another, both in the first k",
    "NaN, and out of the mean, if the top k holds no relevant document or no other, unless one_class=zero; with "
    "ties=average the mean over the orders in which it is defined",
    (HANLEY_1982,), aliases=("roc_auc", "AUROC", "QueryAUC", "GAUC"),
    differs="scikit-learn's roc_auc_score counts half of a tied pair: ties=average; torchmetrics gives 0 where all or "
            "none are relevant: one_class=zero; pair_accuracy is 1 where all are relevant; RecBole's GAUC weighs users "
            "by their relevant items: weights=",
    params=(Param("one_class", "skip", "a ranking whose first k are all relevant, or none of them: is NaN and leaves "
                  "the mean; counts as 0", words(skip=ONE_CLASS_SKIP, zero=ONE_CLASS_ZERO)), EMPTY),
    by_label=False, cutoff=True, response=CHAIN), expected_auc)


cdef double mean_rank(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """For expected values, the mean of the ranks that the tie shares."""
    cdef int64_t i, rel_ret = 0
    cdef double total = 0.0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            rel_ret += 1
            total += middle_rank(q, i)
    return total / <double>rel_ret if rel_ret > 0 else NAN

declare(mean_rank, Card(
    "mean_rank", "mean rank of the relevant documents", "sum of the relevant ranks / r",
    "NaN, and out of the mean, if no relevant document is retrieved; those that are not retrieved do not count",
    (LIN_2015,), aliases=("MR",), low=1.0, high=INF,
    higher_is_better=False, params=(EMPTY,), response=CHAIN),
    mean_rank)


NO_HIT = Param("no_hit", "skip", "the value if no relevant document is retrieved: NaN, out of the mean, or 0",
               words(skip=NO_HIT_SKIP, zero=NO_HIT_ZERO))
NOT_RETRIEVED = ("NaN, and out of the mean, if no relevant document is retrieved; those that are not retrieved do not "
                 "count")


cdef inline double no_rank(const double* p) noexcept nogil:
    return 0.0 if p[0] == NO_HIT_ZERO else NAN


cdef double first_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>s.first_rel if s.first_rel > 0 else no_rank(p)


cdef double steps_to_one(const Tie* tie) noexcept nogil:
    """The expected position of the first of a tie's relevant documents, as of the last one from below."""
    return <double>(tie.last - tie.first + 2) / <double>(tie.relevant + 1)


cdef double expected_first_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i = 0
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if tie.relevant > 0:
            return <double>(tie.first - 1) + steps_to_one(&tie)
    return no_rank(p)

declare(first_rel, Card(
    "first_rel", "rank of the first relevant document", "the smallest relevant rank",
    "NaN, and out of the mean, if no relevant document is retrieved, unless no_hit=zero", (KANTOR_2000,), low=1.0,
    high=INF, beyond="0 with no_hit=zero", higher_is_better=False, params=(NO_HIT, EMPTY), response=CHAIN),
    expected_first_rel)


cdef double last_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i = q.num_hits - 1
    while i >= 0 and q.labels[i] < q.level:
        i -= 1
    return <double>q.ranks[i] if i >= 0 else no_rank(p)


cdef double expected_last_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i = 0
    cdef double last = 0.0
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if tie.relevant > 0:
            last = <double>(tie.last + 1) - steps_to_one(&tie)
    return last if last > 0.0 else no_rank(p)

declare(last_rel, Card(
    "last_rel", "rank of the last relevant document that is retrieved", "the largest relevant rank",
    "NaN, and out of the mean, if no relevant document is retrieved, unless no_hit=zero",
    ("tar_eval last_rel", "scikit-learn coverage_error"), aliases=("coverage_error",), low=1.0,
    high=INF, beyond="0 with no_hit=zero",
    differs="tar_eval has 0 if none is retrieved: no_hit=zero; so has scikit-learn's coverage_error, which gives equal "
            "scores the last rank of them: ties=pessimistic",
    higher_is_better=False, params=(NO_HIT, EMPTY), response=CHAIN), expected_last_rel)


declare(first_rel, Card(
    "cost_first_rel", "cost of the documents up to the first relevant one", "sum of the costs at ranks <= i, i the "
    "smallest relevant rank", "NaN, and out of the mean, if no relevant document is retrieved, unless no_hit=zero",
    (SMUCKER_2012,), high=INF, higher_is_better=False, params=(NO_HIT, EMPTY), by_label=False, sampled="costs"))


declare(last_rel, Card(
    "cost_all_rel", "cost of the documents up to the last relevant one",
    "sum of the costs at ranks <= i, i the rank at which all R relevant documents are found",
    "NaN, and out of the mean, if not all relevant documents are retrieved, unless no_hit=zero",
    (SMUCKER_2012,), high=INF, higher_is_better=False, params=(NO_HIT, EMPTY), by_label=False, sampled="costs"))


cdef double median_rank(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, seen = 0, low = 0, n = <int64_t>s.num_rel_ret
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            seen += 1
            if 2 * seen == n:
                low = q.ranks[i]
            elif 2 * seen > n:
                return <double>(low + q.ranks[i]) / 2.0 if 2 * seen == n + 2 else <double>q.ranks[i]
    return NAN

declare(median_rank, Card(
    "median_rank", "median rank of the relevant documents",
    "the middle one of the relevant ranks, or the mean of the two in the middle", NOT_RETRIEVED,
    (HOYT_2022, "PyKEEN median_rank"), differs="PyKEEN takes the median over all queries together", low=1.0, high=INF,
    higher_is_better=False, params=(EMPTY,), response=CHAIN))


cdef inline double rank_mean(const Query* q, bint harmonic) noexcept nogil:
    """The harmonic mean of the relevant ranks, or the geometric one; the rank itself if there is one."""
    cdef int64_t i, rel_ret = 0, last = 0
    cdef double total = 0.0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            rel_ret += 1
            last = q.ranks[i]
            total += 1.0 / <double>last if harmonic else log2_integer(last)
    if rel_ret < 2:
        return <double>last if rel_ret == 1 else NAN
    return <double>rel_ret / total if harmonic else exp2_real(total / <double>rel_ret)


cdef double gmean_rank(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return rank_mean(q, False)

declare(gmean_rank, Card(
    "gmean_rank", "geometric mean of the relevant documents' ranks", "2^(sum of log2(rank) / r)", NOT_RETRIEVED,
    (HOYT_2022, "PyKEEN geometric_mean_rank"), aliases=("geometric_mean_rank", "GMR"),
    differs="PyKEEN weighs relevant documents alike, here queries are: the same where all have as many", low=1.0,
    high=INF, higher_is_better=False, params=(EMPTY,), aggregate="geometric", response=CHAIN))


cdef double hmean_rank(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return rank_mean(q, True)

declare(hmean_rank, Card(
    "hmean_rank", "harmonic mean of the relevant documents' ranks", "r / sum of 1 / rank", NOT_RETRIEVED,
    (HOYT_2022, "PyKEEN harmonic_mean_rank"), aliases=("harmonic_mean_rank", "HMR"),
    differs="PyKEEN takes the harmonic mean over all queries together, which is 1 / mrr where each has one relevant "
            "document", low=1.0, high=INF, higher_is_better=False, params=(EMPTY,), response=CHAIN))


cdef double amr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return mean_rank(q, s, p) / (<double>(q.num_ret + 1) / 2.0)

declare(amr, Card(
    "amr", "adjusted mean rank: the mean rank of the relevant documents over that of a random order",
    "2 mean_rank / (n + 1)", NOT_RETRIEVED, (BERRENDORF_2020, "PyKEEN adjusted_arithmetic_mean_rank"),
    aliases=("adjusted_mean_rank", "adjusted_arithmetic_mean_rank", "aamr"),
    differs="PyKEEN divides means over all queries: the same where all rank as many; its realistic ranks are "
            "ties=average",
    high=2.0, higher_is_better=False, params=(EMPTY,), response=CHAIN), amr)


cdef double amri(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double rank = mean_rank(q, s, p)
    if q.num_ret == 1:
        return rank - 1.0       # NaN, or 0
    return 1.0 - 2.0 * (rank - 1.0) / <double>(q.num_ret - 1)

declare(amri, Card(
    "amri", "adjusted mean rank index: 1 if the relevant document is first, 0 as in a random order, -1 if it is last",
    "1 - 2 (mean_rank - 1) / (n - 1)", f"{NOT_RETRIEVED}; 0 if n = 1",
    (BERRENDORF_2020, "PyKEEN adjusted_arithmetic_mean_rank_index"),
    aliases=("adjusted_mean_rank_index", "adjusted_arithmetic_mean_rank_index", "aamri"),
    differs="PyKEEN divides means over all queries: the same where all rank as many; its realistic ranks are "
            "ties=average",
    low=-1.0, params=(EMPTY,), response=CHAIN), amri)


# ---- interpolated precision ------------------------------------------------------------------------------------------
cdef struct RecallParams:
    double recall, rounding, unranked

cdef RecallParams recall_fields


cdef struct RecallsParams:      # behind them the recall points, ascending, as many as `points` says
    double points, rounding, unranked, empty

cdef RecallsParams recalls_fields


cdef int64_t relevant_needed(double recall, double num_rel, double rounding) noexcept nogil:
    """How many relevant documents make a recall point; the product is rounded half away from zero."""
    cdef double product = recall * num_rel
    cdef int64_t whole = <int64_t>product
    return <int64_t>(product + 0.9) if rounding == V9 else whole + (product - <double>whole >= 0.5)


cdef double best_precision(const Query* q, int64_t wanted) noexcept nogil:
    """The highest precision at a rank down to which at least `wanted` documents are relevant."""
    cdef int64_t i, rel_ret = 0
    cdef double best = 0.0, here
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            rel_ret += 1
            if rel_ret >= wanted:
                here = <double>rel_ret / <double>q.ranks[i]
                best = here if here > best else best
    return best


cdef double iprec(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const RecallParams* params = <const RecallParams*>p
    cdef int64_t wanted = relevant_needed(params.recall, <double>q.num_rel, params.rounding)
    if params.unranked == UNRANKED_NAN and q.num_ret == 0 and wanted == 0:
        return NAN
    return best_precision(q, wanted)

declare(iprec, Card(
    "iprec", "interpolated precision at a recall point",
    "largest precision(i) from the rank of the K-th relevant document on, K = recall * R",
    "0 if fewer than K are retrieved, or none", ("trec_eval iprec_at_recall",), family="iprec_at_recall",
    members=POINTS,
    differs="trec_eval gives NaN for an empty ranking where K = 0: unranked=nan; 9.x rounds up from .1: rounding=v9",
    params=(RECALL, ROUNDING, UNRANKED, EMPTY), at="recall", response=CHAIN), NULL, recall_fields)


cdef double iprec_avg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const RecallsParams* params = <const RecallsParams*>p
    cdef int64_t i, rel_ret = <int64_t>s.num_rel_ret, point, n = <int64_t>params.points
    cdef double best = 0.0, here, total = 0.0, num_rel = <double>q.num_rel
    cdef const double* recall = <const double*>(params + 1)
    cdef double points[MOST_NUMBERS]
    for point in range(n):
        if (params.unranked == UNRANKED_NAN and q.num_ret == 0
                and relevant_needed(recall[point], num_rel, params.rounding) == 0):
            return NAN
        points[point] = 0.0
    i = q.num_hits - 1
    point = n - 1
    while i >= 0:
        if q.labels[i] >= q.level:
            while point >= 0 and relevant_needed(recall[point], num_rel, params.rounding) > rel_ret:
                points[point] = best
                point -= 1
            here = <double>rel_ret / <double>q.ranks[i]
            best = here if here > best else best
            rel_ret -= 1
        i -= 1
    while point >= 0:
        points[point] = best
        point -= 1
    for point in range(n - 1, -1, -1):     # as trec_eval adds them up
        total += points[point]
    return total / <double>n

declare(iprec_avg, Card(
    "iprec_avg", "interpolated precision averaged over recall points", "sum of iprec / their number",
    "0 if nothing relevant is retrieved", ("trec_eval 11pt_avg",), aliases=("11pt_avg",),
    differs="trec_eval gives NaN for an empty ranking: unranked=nan; 9.x rounds up from .1: rounding=v9; both go "
    "wrong where recall points are not in ascending order",
    params=(RECALLS, ROUNDING, UNRANKED, EMPTY), positional=1, response=CHAIN), NULL, recalls_fields)


# ---- incomplete judgments -------------------------------------------------------------------------------------------
cdef enum:                      # bpref_norm
    BOTH                        # min(N, R)
    RELEVANT
    BOTH_OR_NAN


cdef enum:                      # negatives
    SKIPPED
    NONRELEVANT


cdef struct BprefParams:
    double bpref_norm, negatives

cdef BprefParams bpref_fields


# Why judged@k and unjudged@k need not add up to 1.
NEGATIVE_LABELS = (
    "a negative label (in the pool, not judged) is a judgment to judged, as to ir_measures, and none to unjudged, as "
    "to trec_eval; judged divides by min(k, n), unjudged by k; so the two need not add up to 1")
NEGATIVES = Param("negatives", "skip", "documents with negative labels: as if absent, or judged non-relevant",
                  words(skip=SKIPPED, nonrel=NONRELEVANT))


cdef int64_t bpref_bound(const Query* q, const BprefParams* params) noexcept nogil:
    """The divisor of the number of non-relevant documents above."""
    cdef int64_t nonrel = q.num_nonrel + (q.num_pooled if params.negatives == NONRELEVANT else 0)
    return q.num_rel if q.num_rel < nonrel or params.bpref_norm == RELEVANT else nonrel


cdef inline int32_t lowest_nonrelevant(const BprefParams* params) noexcept nogil:
    """The smallest code that counts as judged not relevant."""
    return -2 if params.negatives == NONRELEVANT else 0


cdef inline double preference(int64_t above, int64_t num_rel, int64_t bound) noexcept nogil:
    """0 if non-relevant documents are above though none was judged: the caller's ideal labels miss some."""
    if above == 0:
        return 1.0
    return 1.0 - <double>(above if above < num_rel else num_rel) / <double>bound if bound > 0 else 0.0


cdef double bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const BprefParams* params = <const BprefParams*>p
    cdef int64_t i, above = 0, bound = bpref_bound(q, params)
    cdef int32_t lowest = lowest_nonrelevant(params)
    cdef double total = 0.0
    if params.bpref_norm == BOTH_OR_NAN and bound == 0 and s.num_rel_ret > 0:
        return NAN
    for i in range(q.num_hits):
        if q.labels[i] < q.level:
            above += q.labels[i] >= lowest and q.labels[i] != -1
        else:
            total += preference(above, q.num_rel, bound)
    return ratio(total, <double>q.num_rel)


cdef double expected_bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """A relevant document is below each number of its tie's non-relevant ones with the same chance."""
    cdef const BprefParams* params = <const BprefParams*>p
    cdef int64_t i = 0, above = 0, more, bound = bpref_bound(q, params)
    cdef double total = 0.0, part
    cdef Tie tie
    if params.bpref_norm == BOTH_OR_NAN and bound == 0 and s.num_rel_ret > 0:
        return NAN
    while i < q.num_hits:
        i = take_tie(q, i, &tie, lowest_nonrelevant(params))
        if tie.relevant > 0:
            part = 0.0
            for more in range(tie.nonrelevant + 1):
                part += preference(above + more, q.num_rel, bound)
            total += <double>tie.relevant * (part / <double>(tie.nonrelevant + 1))
        above += tie.nonrelevant
    return ratio(total, <double>q.num_rel)

declare(bpref, Card(
    "bpref", "how rarely judged non-relevant documents stand above relevant ones",
    "1/R * sum over retrieved relevant documents of 1 - min(a, R) / min(N, R), a = judged non-relevant above; 1 "
    "if a = 0",
    "0 if R = 0; unjudged documents are skipped", (BUCKLEY_2004, "trec_eval bpref"),
    differs="ranx counts negative labels as judged non-relevant, and gives NaN where nothing else is judged: "
            "negatives=nonrel, bpref_norm=min_nan; its documentation divides by R: bpref_norm=R",
    params=(Param("bpref_norm", "min", "what a is divided by: min(N, R), R, or min(N, R) with 0 / 0 = NaN, also in the "
        "mean", words(min=BOTH, R=RELEVANT, min_nan=BOTH_OR_NAN)), NEGATIVES, EMPTY),
    reads="judged", response=CHAIN, steady=False), expected_bpref, bpref_fields)


cdef double gm_bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef BprefParams plain = BprefParams(BOTH, SKIPPED)
    cdef double value = bpref(q, s, <const double*>&plain)
    return value if value > 1e-5 else 1e-5

declare(gm_bpref, Card(
    "gm_bpref", "geometric mean of bpref", "max(bpref, 0.00001); over queries exp(mean of ln)", "0.00001 if R = 0",
    (BUCKLEY_2004, "trec_eval gm_bpref"), differs="pytrec_eval gives the logarithm of each query's value",
    low=0.00001,
    params=(EMPTY,), aggregate="geometric", reads="judged", response=CHAIN, steady=False))


cdef double inf_ap(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, relevant = 0, nonrelevant = 0, pooled = 0
    cdef double total = 0.0, above, small = 1e-5
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            if q.ranks[i] == 1:
                total += 1.0
            else:
                above = <double>(q.ranks[i] - 1)
                total += 1.0 / <double>q.ranks[i] + (above / <double>q.ranks[i]) * (
                    <double>(relevant + nonrelevant + pooled) / above) * (
                    (<double>relevant + small) / (<double>(relevant + nonrelevant) + 2.0 * small))
            relevant += 1
        elif q.labels[i] >= 0:
            nonrelevant += 1
        elif q.labels[i] < -1:
            pooled += 1
    return ratio(total, <double>q.num_rel)

declare(inf_ap, Card(
    "inf_ap", "average precision estimated from a sample of the pool",
    "1/R * sum over relevant ranks i of 1/i + (i - 1)/i * pooled above / (i - 1) * (relevant above + e) / "
    "(judged above + 2e), e = 0.00001",
    "0 if R = 0; a negative label is in the pool, not judged", (YILMAZ_2006, "trec_eval infAP"),
    aliases=("infAP",), by_label=False, params=(EMPTY,), reads="pool", response=CHAIN))


cdef double unjudged(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = s.k if s.k < q.num_ret else q.num_ret
    return ratio(<double>n - count_to(q, n, 0), <double>(n if s.k == INT64_MAX else s.k))

declare(unjudged, Card(
    "unjudged", "share of documents without a label in the first k",
    "documents of the first k without a label >= 0 / k; without k: / n",
    "0 for an empty ranking; places that a shorter ranking lacks count as judged", ("trec_eval unj",), family="unj",
    members=(5, 10, 20), higher_is_better=False, differs=NEGATIVE_LABELS,
    params=(EMPTY,), cutoff=True, reads="judged", rank_sensitive=False, response=SUM), unjudged)

declare(unjudged, Card(
    "hole", "share of documents in the first k that were not judged for any query",
    "documents of the first k that are not in the qrels of any query / k; without k: / n",
    "0 for an empty ranking; places that a shorter ranking lacks count as judged", ("BEIR Hole@k",),
    higher_is_better=False, cutoff=True, reads="judged", pooled="unjudged", rank_sensitive=False,
    response=SUM), unjudged)


cdef double judged(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(count_to(q, s.k, -2), <double>(s.k if s.k < q.num_ret else q.num_ret))

declare(judged, Card(
    "judged", "share of documents in the first k that are in the qrels, with any label",
    "documents of the qrels in the first k / min(k, n)", "0 for an empty ranking", ("ir_measures Judged",),
    differs=NEGATIVE_LABELS, params=(EMPTY,), cutoff=True,
    reads="pool", rank_sensitive=False, response=SUM), judged)
