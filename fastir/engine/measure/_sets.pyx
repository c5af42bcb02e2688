"""Metrics of binary relevance that take the first k documents as a set: counts, precision, recall and their means.

Hits may hold codes below 0, when another metric of the plan reads them: every comparison here is with a label.
"""

from libc.stdint cimport INT64_MAX, int64_t

from fastir.engine.measure._arithmetic cimport Tie, chance_of_any, ratio, take_tie
from fastir.engine.measure._registry cimport Query, Snapshot, declare

from fastir.engine.measure._registry import CUTOFFS, EMPTY, EMPTY_RANKING, words
from fastir.engine.measure.cards import ENDS, FIRST, INF, MICRO, SUM, Card, Param, retrieved_to, sum_at_cutoff
from fastir.engine.measure.references import BUCKLEY_2000, RIJSBERGEN_1974, WU_2025


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


cdef struct PrecisionParams:
    double short_rankings

cdef PrecisionParams precision_fields


cdef double precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    if (<const PrecisionParams*>p).short_rankings == CLIP and s.k > q.num_ret:
        return ratio(s.num_rel_ret, <double>q.num_ret)
    return plain_precision(q, s, p)

declare(precision, Card(
    "precision", "share of relevant documents in the first k", "r_k / k; without k: r / n",
    "0 for an empty ranking; a ranking shorter than k still divides by k", (BUCKLEY_2000, "trec_eval P, set_P"),
    aliases=("P", "SetP", "set_P", "pre"), family="P", members=CUTOFFS,
    differs="XGBoost, which calls it pre, and CatBoost divide by n if the ranking is shorter than k: "
            "short_rankings=clip",
    params=(
        Param("short_rankings", "pad",
            "a ranking shorter than k: filled with documents that are not relevant, or k shrinks",
            words(pad=PAD, clip=CLIP)),
        EMPTY_RANKING, EMPTY, MICRO),
    at_r="r_precision", cutoff=True, becomes=("relative", "relative_precision"), rank_sensitive=False, response=SUM,
    denominator=lambda values, k, n, R: n.clip(max=k) if values["short_rankings"] == "clip" else retrieved_to(k, n)),
    precision, precision_fields)

declare(plain_precision, Card(
    "precision_avgjg", "precision, averaged over groups of judges", "mean of r_k / k over the groups; without k: r / n",
    "0 for an empty ranking", ("trec_eval P_avgjg",), family="P_avgjg", members=CUTOFFS, params=(EMPTY,), cutoff=True,
    groups="all", rank_sensitive=False, response=SUM), plain_precision)


cdef enum:                      # recall_norm
    ALL_RELEVANT
    AT_MOST_K


cdef struct RecallParams:
    double recall_norm

cdef RecallParams recall_fields


cdef double plain_recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>q.num_rel)


cdef double recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    if (<const RecallParams*>p).recall_norm == AT_MOST_K and s.k < q.num_rel:
        return ratio(s.num_rel_ret, <double>s.k)
    return plain_recall(q, s, p)

declare(recall, Card(
    "recall", "fraction of the relevant documents that the top k holds", "r_k / R", "0 if R = 0",
    (BUCKLEY_2000, "trec_eval recall, set_recall"), aliases=("R", "set_recall", "SetR"), family="recall",
    members=CUTOFFS,
    differs="LensKit divides by min(k, R): recall_norm=min_kR, or relative_precision",
    params=(Param("recall_norm", "R", "the denominator: all relevant documents, or at most k of them",
        words(R=ALL_RELEVANT, min_kR=AT_MOST_K)), EMPTY, MICRO),
    at_r="r_precision", cutoff=True, rank_sensitive=False, response=SUM,
    denominator=lambda values, k, n, R: R.clip(max=k) if values["recall_norm"] == "min_kR" else R),
    recall, recall_fields)


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
    rank_sensitive=False,
    response=sum_at_cutoff, denominator=lambda values, k, n, R: f_denominator(1.0, k, n, R)), f1)


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


cdef struct FBetaParams:
    double beta

cdef FBetaParams f_beta_fields


cdef double f_beta(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double beta = (<const FBetaParams*>p).beta
    return weighted_f(q, s, p, beta * beta)

declare(f_beta, Card(
    "f_beta", "weighted harmonic mean of precision and recall", "(beta^2 + 1) P R / (R + beta^2 P), both at k",
    "0 if r = 0", (RIJSBERGEN_1974,),
    differs="trec_eval set_F and ir_measures SetF take the square of beta: set_f",
    params=(Param("beta", 1.0, "how many times more recall counts", (), 0, 1e3, closed=True), EMPTY,
            MICRO),
    cutoff=True, rank_sensitive=False, response=sum_at_cutoff,
    denominator=lambda values, k, n, R: f_denominator(values["beta"] ** 2, k, n, R)),
    f_beta, f_beta_fields)


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
