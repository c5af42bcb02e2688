"""Metrics of relevant or not: counts, sets, cutoffs, recall points, incomplete judgments, coverage.

Hits may hold codes below 0, when another metric of the plan reads them: every comparison here is with a label. A rank
that is not among the hits holds a document that the metric does not tell from a non-relevant or unjudged one.
"""

from libc.math cimport NAN
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from fastir.measure._arithmetic cimport log2_of, natural_log, ratio
from fastir.measure._registry cimport Query, Snapshot, declare
from fastir.measure._ties cimport Tie, chance_of_any, count_to, take_tie

from fastir.measure._registry import CUTOFFS, EMPTY
from fastir.measure.cards import Card, Numbers, Param

INF = float("inf")
NEGATIVES = Param("negatives", "skip", "documents with negative labels: as if absent, or judged non-relevant",
                  ("skip", "nonrel"))
MULTIPLES = tuple(i / 5 for i in range(1, 11))
POINTS = tuple(i / 10 for i in range(11))
RECALLS = Param("points", Numbers(POINTS), "the recall points", (), 0, 1, closed=True, many=True)
RECALL = Param("recall", 0.0, "the recall point, which @ sets", (), 0, 1, closed=True)
TIMES = Param("x", 1.0, "the multiple of R, which @ sets", (), 0, 1e6, closed=True)
ROUNDING = Param("rounding", "v10", "recall * R rounded to the nearest (trec_eval 10), or its whole part after adding "
                 "0.9 (trec_eval 9, pytrec_eval, ir_measures)", ("v10", "v9"))
UNRANKED = Param("unranked", "zero", "an empty ranking: counts as 0, or is NaN where no relevant document makes the "
                 "recall point, and so is the mean", ("zero", "nan"))


# ---- counts --------------------------------------------------------------------------------------------------------

cdef double num_q(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0

declare(num_q, Card(
    "num_q", "queries evaluated", "1 per query", "never", "trec_eval num_q", aliases=("NumQ",), range="1",
    aggregate="count", groups="all"), num_q)


cdef double num_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>q.num_ret

declare(num_ret, Card(
    "num_ret", "documents retrieved", "n", "0 for an empty ranking", "trec_eval num_ret", aliases=("NumRet",),
    range="0 up", aggregate="sum", groups="all"), num_ret)


cdef double num_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>q.num_rel

declare(num_rel, Card(
    "num_rel", "relevant documents in the qrels", "R", "0 if none", "trec_eval num_rel", aliases=("NumRel",),
    differs="trec_eval -c sums labels above 0 whatever -l says; ir_measures leaves out queries missing from the run",
    range="0 up", aggregate="sum"), num_rel)


cdef double num_rel_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.num_rel_ret

declare(num_rel_ret, Card(
    "num_rel_ret", "relevant documents retrieved", "r", "0 if none", "trec_eval num_rel_ret", aliases=("NumRelRet",),
    range="0 up", aggregate="sum"), num_rel_ret)


cdef double num_nonrel_judged_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, found = 0
    for i in range(q.num_hits):
        found += 0 <= q.labels[i] < q.level
    return <double>found

declare(num_nonrel_judged_ret, Card(
    "num_nonrel_judged_ret", "documents retrieved that were judged not relevant",
    "retrieved documents with 0 <= label < rel_level", "0 if none", "trec_eval num_nonrel_judged_ret", range="0 up",
    aggregate="sum", reads="judged"), num_nonrel_judged_ret)


# ---- at a cutoff, and sets -----------------------------------------------------------------------------------------

declare(num_rel_ret, Card(
    "hits", "relevant documents in the first k", "r_k", "0 if none is retrieved", "ranx hits",
    differs="num_rel_ret is the same count, summed over queries instead of averaged",
    range="0 to k", params=(EMPTY,), cutoff=True), num_rel_ret)


cdef double hit_rate(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if s.num_rel_ret > 0 else 0.0


cdef double expected_hit_rate(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return chance_of_any(q, s.k)

declare(hit_rate, Card(
    "hit_rate", "whether the first k hold a relevant document", "1 if r_k > 0, else 0", "0 if nothing is relevant",
    "trec_eval success, ranx hit_rate", aliases=("success", "HitRate"), family="success", members=(1, 5, 10),
    only_in=(("beir", "Accuracy"), ("sentence-transformers", "accuracy")), params=(EMPTY,), cutoff=True),
    expected_hit_rate)


cdef double plain_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>q.num_ret if s.k == INT64_MAX else <double>s.k)


cdef double precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    if p[0] == 1.0 and s.k > q.num_ret:
        return ratio(s.num_rel_ret, <double>q.num_ret)
    return plain_precision(q, s, p)

declare(precision, Card(
    "precision", "share of relevant documents in the first k", "r_k / k; without k: r / n",
    "0 for an empty ranking; a ranking shorter than k still divides by k", "trec_eval P, set_P",
    aliases=("P", "SetP", "set_P", "pre"), family="P", members=CUTOFFS,
    differs="XGBoost, which calls it pre, and CatBoost divide by n if the ranking is shorter than k: short=clip",
    params=(Param("short", "pad", "a ranking shorter than k: filled with documents that are not relevant, or k shrinks",
        ("pad", "clip")), EMPTY),
    cutoff=True), precision)

declare(plain_precision, Card(
    "precision_avgjg", "precision, averaged over groups of judges", "mean of r_k / k over the groups; without k: r / n",
    "0 for an empty ranking", "trec_eval P_avgjg", family="P_avgjg", members=CUTOFFS, params=(EMPTY,), cutoff=True,
    groups="all"), plain_precision)


cdef double recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret, <double>q.num_rel)

declare(recall, Card(
    "recall", "share of the relevant documents that the first k hold", "r_k / R", "0 if R = 0",
    "trec_eval recall, set_recall", aliases=("R", "set_recall", "SetR"), family="recall", members=CUTOFFS,
    params=(EMPTY,), cutoff=True), recall)


cdef double relative_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = q.num_ret if s.k == INT64_MAX else s.k
    return ratio(s.num_rel_ret, <double>(n if n < q.num_rel else q.num_rel))

declare(relative_precision, Card(
    "relative_precision", "precision at k over the best that is possible",
    "r_k / min(k, R); without k: r / min(n, R)", "0 if R = 0", "trec_eval relative_P, set_relative_P; BEIR R_cap",
    aliases=("set_relative_P", "SetRelP", "R_cap"), family="relative_P", members=CUTOFFS,
    differs="BEIR fails for a query without relevant documents", params=(EMPTY,), cutoff=True), relative_precision)


cdef double f1(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double a = plain_precision(q, s, p), b = recall(q, s, p)
    return ratio(2.0 * a * b, a + b)

declare(f1, Card(
    "f1", "harmonic mean of precision and recall", "2 P R / (P + R), both at k", "0 if both are 0",
    "van Rijsbergen 1979; ranx f1, trec_eval set_F with x = 1", params=(EMPTY,), cutoff=True), f1)


cdef double set_f(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double a = plain_precision(q, s, p), b = recall(q, s, p), x = p[0] * p[0] if p[1] == 1.0 else p[0]
    return ratio((x + 1.0) * a * b, b + x * a)

declare(set_f, Card(
    "set_f", "weighted harmonic mean of precision and recall", "(x + 1) P R / (R + x P), both at k", "0 if r = 0",
    "trec_eval set_F", aliases=("SetF",), positional=1,
    differs="x is not beta but its square in the usual F: f=beta, or f_beta",
    params=(Param("x", 1.0, "how much more recall counts", (), 0, 1e6, closed=True, aliases=("beta",)),
        Param("f", "x", "what that parameter is: trec_eval's x, or the textbook's beta, whose square is x",
        ("x", "beta")), EMPTY),
    cutoff=True), set_f)


cdef double f_beta(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double squared[2]
    squared[0], squared[1] = p[0], 1.0
    return set_f(q, s, squared)

declare(f_beta, Card(
    "f_beta", "weighted harmonic mean of precision and recall", "(beta^2 + 1) P R / (R + beta^2 P), both at k",
    "0 if r = 0", "van Rijsbergen 1979",
    differs="trec_eval set_F and ir_measures SetF take the square of beta: set_f",
    params=(Param("beta", 1.0, "how many times more recall counts", (), 0, 1e3, closed=True), EMPTY), cutoff=True),
    f_beta)


cdef double set_map(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.num_rel_ret * s.num_rel_ret, <double>q.num_ret * <double>q.num_rel)

declare(set_map, Card(
    "set_map", "precision times recall of the whole ranking", "r^2 / (n R)", "0 if n = 0 or R = 0", "trec_eval set_map",
    aliases=("SetAP",), params=(EMPTY,)), set_map)


cdef double utility(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double r = s.num_rel_ret
    return (p[0] * r + p[1] * (q.num_ret - r) + p[2] * (q.num_rel - r) + p[3] * (p[4] + r - q.num_ret - q.num_rel))


def weight(name, default, what):
    return Param(name, default, f"the worth of a document that is {what}", (), -INF, INF)


declare(utility, Card(
    "utility", "worth of the ranking as a set", "p1 r + p2 (n - r) + p3 (R - r) + p4 (n_docs + r - n - R)",
    "as the formula says", "trec_eval utility", positional=4,
    differs="trec_eval -c gives 0 where the query is missing and no parameter is given", range="any number",
    params=(weight("p1", 1.0, "relevant and retrieved"), weight("p2", -1.0, "retrieved, not relevant"),
        weight("p3", 0.0, "relevant, not retrieved"), weight("p4", 0.0, "neither"),
        Param("n_docs", 0, "documents in the collection", (), 0, 2**53, integer=True, closed=True), EMPTY)), utility)


# ---- ranks of the relevant documents -------------------------------------------------------------------------------

cdef double found_by(const Query* q, int64_t depth) noexcept nogil:
    """Relevant documents in the first `depth`."""
    return count_to(q, depth, q.level)


cdef double r_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(found_by(q, q.num_rel), <double>q.num_rel)

declare(r_precision, Card(
    "r_precision", "precision at as many documents as are relevant", "r_R / R", "0 if R = 0", "trec_eval Rprec",
    aliases=("r-precision", "Rprec", "rprecision"), params=(EMPTY,)), r_precision)


cdef double r_precision_mult(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t depth = <int64_t>(p[0] * <double>q.num_rel + 0.9)
    return ratio(found_by(q, depth), <double>depth)

declare(r_precision_mult, Card(
    "r_precision_mult", "precision at a multiple of the number of relevant documents",
    "r_K / K, K = x R + 0.9 without its fraction", "0 if K = 0", "trec_eval Rprec_mult", family="Rprec_mult",
    members=MULTIPLES,
    params=(TIMES, EMPTY), at="x"), r_precision_mult)

declare(r_precision_mult, Card(
    "r_precision_mult_avgjg",
    "precision at a multiple of the number of relevant documents, averaged over groups of judges",
    "mean of r_K / K over the groups, K = x R + 0.9 without its fraction", "0 where K = 0",
    "trec_eval Rprec_mult_avgjg", family="Rprec_mult_avgjg", members=MULTIPLES, params=(TIMES, EMPTY), at="x",
    groups="all"), r_precision_mult)


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
    "Voorhees 1999; trec_eval recip_rank", aliases=("recip_rank", "RR"), params=(EMPTY,), cutoff=True), expected_mrr)


cdef double average_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = q.num_rel
    if p[0] == 1.0 and s.k < n:
        n = s.k
    return ratio(s.sum_precision, s.num_rel_ret if p[0] == 2.0 else <double>n)

declare(average_precision, Card(
    "map", "average precision (its mean over queries is MAP)",
    "sum of precision(i) over the relevant ranks i <= k, divided by R", "0 if R = 0", "trec_eval map, map_cut",
    aliases=("AP", "average_precision"), family="map_cut", members=CUTOFFS,
    differs="LightGBM, XGBoost and CatBoost divide by min(k, R): ap_norm=min_kR; torchmetrics and cwl_eval by "
            "r_k: ap_norm=hits",
    params=(Param("ap_norm", "R", "the denominator: all relevant documents, at most k of them, or those in the first k",
        ("R", "min_kR", "hits")), EMPTY),
    cutoff=True), average_precision)


cdef double plain_map(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.sum_precision, <double>q.num_rel)

declare(plain_map, Card(
    "map_avgjg", "average precision, averaged over groups of judges", "mean of AP@k over the groups", "0 where R = 0",
    "trec_eval map_avgjg", params=(EMPTY,), cutoff=True, groups="all"), plain_map)


cdef double gm_map(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double value = plain_map(q, s, p)
    return value if value > 1e-5 else 1e-5

declare(gm_map, Card(
    "gm_map", "geometric mean of average precision", "max(AP, 0.00001); over queries exp(mean of ln)",
    "0.00001 if R = 0", "Robertson 2006; trec_eval gm_map",
    differs="pytrec_eval gives the logarithm of each query's value", range="0.00001 to 1", params=(EMPTY,),
    aggregate="geometric"))


cdef double yaap(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return natural_log((1.0 + s.sum_precision) / (1.0 + <double>q.num_rel - s.sum_precision))

declare(yaap, Card(
    "yaap", "yet another average precision: its log odds", "ln((1 + R AP) / (1 + R - R AP))",
    "0 if R = 0; -ln(1 + R) if r = 0", "trec_eval yaap", range="any number", params=(EMPTY,)))


cdef double bin_g(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double total = 0.0
    cdef int64_t i, found = 0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            found += 1
            total += 1.0 / log2_of(2 + q.ranks[i] - found)
    return ratio(total, <double>q.num_rel)


cdef double expected_bin_g(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """A relevant document stands below each number of its tie's others with the same chance."""
    cdef double total = 0.0, part
    cdef int64_t i = 0, found = 0, others, above
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if tie.relevant > 0:
            others = tie.last - tie.first + 1 - tie.relevant
            part = 0.0
            for above in range(tie.first - 1 - found, tie.first + others - found):
                part += 1.0 / log2_of(2 + above)
            total += <double>tie.relevant * part / <double>(others + 1)
            found += tie.relevant
    return ratio(total, <double>q.num_rel)

declare(bin_g, Card(
    "bin_g", "relevant documents discounted by the others above them",
    "1/R * sum over relevant ranks of 1 / log2(2 + documents above that are not relevant)", "0 if R = 0",
    "trec_eval binG", aliases=("binG",), params=(EMPTY,)), expected_bin_g)


cdef double pair_accuracy(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = s.k if s.k < q.num_ret else q.num_ret, found = <int64_t>s.num_rel_ret, i, seen = 0, wrong = 0
    if found == 0:
        return NAN
    if found == n:
        return 1.0
    for i in range(q.num_hits):
        if q.ranks[i] > n:
            break
        if q.labels[i] >= q.level:
            seen += 1
            wrong += q.ranks[i] - seen
    return 1.0 - <double>wrong / (<double>(n - found) * <double>found)

declare(pair_accuracy, Card(
    "pair_accuracy",
    "share of pairs in the right order, of one relevant document and one that is not, in the first k",
    "1 - pairs in the wrong order / pairs",
    "NaN, and out of the mean, if the first k hold no relevant document; 1 if they hold no other",
    "ir_measures Accuracy", only_in=(("ir_measures", "Accuracy"),),
    differs="ir_measures fails where all are relevant; BEIR's Accuracy is hit_rate",
    params=(EMPTY,), cutoff=True))


cdef double auc(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t found = <int64_t>s.num_rel_ret, i, seen = 0, wrong = 0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            seen += 1
            wrong += q.ranks[i] - seen
    return share_right(<double>wrong, found, q.num_ret)


cdef double expected_auc(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """Half of the pairs of a tie are in the right order."""
    cdef int64_t i = 0, seen = 0
    cdef double wrong = 0.0
    cdef Tie tie
    while i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        wrong += <double>tie.relevant * (<double>(tie.first - 1 - seen)
                                         + <double>(tie.last - tie.first + 1 - tie.relevant) / 2.0)
        seen += tie.relevant
    return share_right(wrong, seen, q.num_ret)


cdef double share_right(double wrong, int64_t found, int64_t n) noexcept nogil:
    """The share of pairs in the right order, of one of so many relevant documents among n and one other."""
    return NAN if found == 0 or found == n else 1.0 - wrong / (<double>(n - found) * <double>found)

declare(auc, Card(
    "auc", "area under the ROC curve: how likely a relevant document stands above one that is not",
    "1 - pairs in the wrong order / pairs of a relevant document and another, both retrieved",
    "NaN, and out of the mean, if no relevant document is retrieved or no other", "Hanley and McNeil 1982",
    aliases=("roc_auc", "AUROC"),
    differs="scikit-learn's roc_auc_score counts half of a tied pair: ties=average; pair_accuracy is 1 where all are "
            "relevant",
    params=(EMPTY,)), expected_auc)


cdef double mean_rank(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """Where ranks are expected ones, the mean of those that the tie shares."""
    cdef int64_t i, found = 0
    cdef double total = 0.0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            found += 1
            total += <double>q.ranks[i] if q.lasts == NULL else <double>(q.ranks[i] + q.lasts[i]) / 2.0
    return total / <double>found if found > 0 else NAN

declare(mean_rank, Card(
    "mean_rank", "mean rank of the relevant documents", "sum of the relevant ranks / r",
    "NaN, and out of the mean, if no relevant document is retrieved; those that are not retrieved do not count",
    "Bordes et al. 2013, with one relevant document a query", aliases=("MR",), range="1 up", params=(EMPTY,)),
    mean_rank)


# ---- interpolated precision ----------------------------------------------------------------------------------------

cdef enum:
    MANY = 100                  # cards.MANY


cdef int64_t wanted_for(double recall, double num_rel, int old) noexcept nogil:
    """How many relevant documents make a recall point; the product is rounded half away from zero."""
    cdef double product = recall * num_rel
    cdef int64_t whole = <int64_t>product
    return <int64_t>(product + 0.9) if old else whole + (product - <double>whole >= 0.5)


cdef double best_precision(const Query* q, int64_t wanted) noexcept nogil:
    """The highest precision at a rank from which on so many relevant documents have been found."""
    cdef int64_t i, found = 0
    cdef double best = 0.0, here
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            found += 1
            if found >= wanted:
                here = <double>found / <double>q.ranks[i]
                best = here if here > best else best
    return best


cdef double iprec(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t wanted = wanted_for(p[0], <double>q.num_rel, p[1] == 1.0)
    if p[2] == 1.0 and q.num_ret == 0 and wanted == 0:
        return NAN
    return best_precision(q, wanted)

declare(iprec, Card(
    "iprec", "interpolated precision at a recall point",
    "largest precision(i) from the rank of the K-th relevant document on, K = recall * R",
    "0 if fewer than K are retrieved, or none", "trec_eval iprec_at_recall", family="iprec_at_recall",
    members=POINTS,
    differs="trec_eval gives NaN for an empty ranking where K = 0: unranked=nan; 9.x rounds up from .1: rounding=v9",
    params=(RECALL, ROUNDING, UNRANKED, EMPTY), at="recall"))


cdef double iprec_avg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, found = <int64_t>s.num_rel_ret, point, n = <int64_t>p[0]
    cdef double best = 0.0, here, total = 0.0
    cdef const double* recall = p + 4
    cdef double points[MANY]
    for point in range(n):
        if p[2] == 1.0 and q.num_ret == 0 and wanted_for(recall[point], <double>q.num_rel, p[1] == 1.0) == 0:
            return NAN
        points[point] = 0.0
    i = q.num_hits - 1
    point = n - 1
    while i >= 0:
        if q.labels[i] >= q.level:
            while point >= 0 and wanted_for(recall[point], <double>q.num_rel, p[1] == 1.0) > found:
                points[point] = best
                point -= 1
            here = <double>found / <double>q.ranks[i]
            best = here if here > best else best
            found -= 1
        i -= 1
    while point >= 0:
        points[point] = best
        point -= 1
    for point in range(n - 1, -1, -1):     # as trec_eval adds them up
        total += points[point]
    return total / <double>n

declare(iprec_avg, Card(
    "iprec_avg", "interpolated precision averaged over recall points", "sum of iprec / their number",
    "0 if nothing relevant is retrieved", "trec_eval 11pt_avg", aliases=("11pt_avg",),
    differs="trec_eval gives NaN for an empty ranking: unranked=nan; 9.x rounds up from .1: rounding=v9; both go "
    "wrong where recall points are not in ascending order",
    params=(RECALLS, ROUNDING, UNRANKED, EMPTY), positional=1))


# ---- incomplete judgments and coverage -----------------------------------------------------------------------------

cdef int64_t bpref_bound(const Query* q, const double* p) noexcept nogil:
    """What the count of non-relevant documents above is divided by."""
    cdef int64_t nonrel = q.num_nonrel + (q.num_pooled if p[1] == 1.0 else 0)
    return q.num_rel if q.num_rel < nonrel or p[0] == 1.0 else nonrel


cdef inline double preferred(int64_t above, int64_t num_rel, int64_t bound) noexcept nogil:
    return 1.0 - <double>(above if above < num_rel else num_rel) / <double>bound if above > 0 else 1.0


cdef double bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, above = 0, bound = bpref_bound(q, p)
    cdef int32_t lowest = -2 if p[1] == 1.0 else 0
    cdef double total = 0.0
    if p[0] == 2.0 and bound == 0 and s.num_rel_ret > 0:
        return NAN
    for i in range(q.num_hits):
        if q.labels[i] < q.level:
            above += q.labels[i] >= lowest and q.labels[i] != -1
        else:
            total += preferred(above, q.num_rel, bound)
    return ratio(total, <double>q.num_rel)


cdef double expected_bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """A relevant document stands below each number of its tie's non-relevant ones with the same chance."""
    cdef int64_t i = 0, above = 0, more, bound = bpref_bound(q, p)
    cdef double total = 0.0, part
    cdef Tie tie
    if p[0] == 2.0 and bound == 0 and s.num_rel_ret > 0:
        return NAN
    while i < q.num_hits:
        i = take_tie(q, i, &tie, -2 if p[1] == 1.0 else 0)
        if tie.relevant > 0:
            part = 0.0
            for more in range(tie.nonrelevant + 1):
                part += preferred(above + more, q.num_rel, bound)
            total += <double>tie.relevant * (part / <double>(tie.nonrelevant + 1))
        above += tie.nonrelevant
    return ratio(total, <double>q.num_rel)

declare(bpref, Card(
    "bpref", "how seldom judged non-relevant documents stand above relevant ones",
    "1/R * sum over retrieved relevant documents of 1 - min(a, R) / min(N, R), a = judged non-relevant above; 1 "
    "if a = 0",
    "0 if R = 0; unjudged documents are skipped", "Buckley and Voorhees 2004 as in trec_eval bpref",
    differs="ranx counts negative labels as judged non-relevant, and gives NaN where nothing else is judged: "
            "negatives=nonrel, bpref_norm=min_nan; its documentation divides by R: bpref_norm=R",
    params=(Param("bpref_norm", "min", "what a is divided by: min(N, R), R, or min(N, R) with 0 / 0 = NaN, also in the "
        "mean", ("min", "R", "min_nan")), NEGATIVES, EMPTY),
    reads="judged"), expected_bpref)


cdef double gm_bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double plain[2]
    plain[0] = plain[1] = 0.0
    cdef double value = bpref(q, s, plain)
    return value if value > 1e-5 else 1e-5

declare(gm_bpref, Card(
    "gm_bpref", "geometric mean of bpref", "max(bpref, 0.00001); over queries exp(mean of ln)", "0.00001 if R = 0",
    "trec_eval gm_bpref", differs="pytrec_eval gives the logarithm of each query's value", range="0.00001 to 1",
    params=(EMPTY,), aggregate="geometric", reads="judged"))


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
    "0 if R = 0; a negative label is in the pool, not judged", "Yilmaz and Aslam 2006; trec_eval infAP",
    aliases=("infAP",), params=(EMPTY,), reads="pool"))


cdef double unjudged(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = s.k if s.k < q.num_ret else q.num_ret
    return ratio(<double>n - count_to(q, n, 0), <double>(n if s.k == INT64_MAX else s.k))

declare(unjudged, Card(
    "unjudged", "share of documents without a label in the first k",
    "documents of the first k without a label >= 0 / k; without k: / n",
    "0 for an empty ranking; places that a shorter ranking lacks count as judged", "trec_eval unj", family="unj",
    members=(5, 10, 20),
    params=(EMPTY,), cutoff=True, reads="judged"), unjudged)

declare(unjudged, Card(
    "hole", "share of documents in the first k that were judged for no query at all",
    "documents of the first k that stand nowhere in the qrels / k; without k: / n",
    "0 for an empty ranking; places that a shorter ranking lacks count as judged", "BEIR Hole@k",
    cutoff=True, reads="judged", pooled="unjudged"), unjudged)


cdef double judged(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(count_to(q, s.k, -2), <double>(s.k if s.k < q.num_ret else q.num_ret))

declare(judged, Card(
    "judged", "share of documents in the first k that the qrels have, whatever their label",
    "documents of the qrels in the first k / min(k, n)", "0 for an empty ranking", "ir_measures Judged",
    differs="unjudged counts negative labels as unjudged and divides by k", params=(EMPTY,), cutoff=True,
    reads="pool"), judged)
