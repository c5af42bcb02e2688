"""Metrics of single tasks: preferences, technology-assisted review, learning to rank.

A preference is a pair of documents with different labels; the better document should be above the other. A query's
labels are the preferences of one judge, and are counted here. A metric's block says also what it makes of several
judges, whose preferences judges.py counts by the same rules. A document that was not retrieved is below those that
were, and a pair of two such documents is in no order. No metric looks at the sizes of labels, but two make 0 special:
there a document of label 0 is not relevant, and as many of these count as there are relevant ones. Pairs are counted,
not visited: pairs of retrieved documents by a merge sort of their labels, the others from how many judged documents
have a higher or lower label.

Metrics of technology-assisted review say what reading a ranking saves over reading the whole collection. How many
documents there are is a parameter without a default, n_docs: no ranking tells. Where there are fewer than are ranked or
relevant a value is infinite, which no other value is; fastir/request/plan.py raises an error for it.
"""

from libc.math cimport INFINITY, NAN, ceil, rint
from libc.stdint cimport INT32_MAX, INT64_MAX, int32_t, int64_t

from fastir.engine.measure._arithmetic cimport Tie, chance_of_any, count_to, middle_rank, ratio, take_tie
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade, metric_fn
from fastir.engine.measure._sort cimport labels_from

from fastir.engine.measure._graded import ANY_GAIN, GAIN, NO_GAIN
from fastir.engine.measure._registry import EMPTY, words
from fastir.engine.measure._user_models import MAX_GRADE, err_response
from fastir.engine.measure.cards import CHAIN, INF, Card, Param, several_sums
from fastir.engine.measure.references import (COHEN_2006, CORMACK_2015, HANLEY_1982, RIJSBERGEN_1974, SAKAI_2007,
                                              TSOUMAKAS_2010)


cdef struct Pairs:              # of documents with different labels
    int64_t both                # of two that were retrieved
    int64_t both_right          # and the better one above
    int64_t one                 # of one that was retrieved and one that was not
    int64_t one_right
    int64_t all


cdef inline int32_t lowest_relevant(const Query* q) noexcept nogil:
    """Labels below are 0: a level of the metric's own takes their worth away."""
    return max(q.floor, 1)


cdef inline int64_t count_relevant(const Query* q) noexcept nogil:
    return labels_from(q.ideal, q.num_ideal, lowest_relevant(q))


cdef int64_t merge_runs(const int32_t* a, int64_t n, int64_t width, int32_t* out) noexcept nogil:
    """Merge falling runs of `width` labels two by two; returns how many pairs were larger label first."""
    cdef int64_t first = 0, middle, stop, i, j, k = 0, right = 0
    while first < n:
        middle, stop = min(first + width, n), min(first + 2 * width, n)
        i, j = first, middle
        while i < middle or j < stop:
            if j == stop or (i < middle and a[i] > a[j]):
                out[k] = a[i]
                i += 1
            else:
                out[k] = a[j]
                j += 1
                right += i - first
            k += 1
        first = stop
    return right


cdef Pairs count_pairs(const Query* q, bint relevant_only) noexcept nogil:
    """The pairs of judged documents, or of relevant ones."""
    cdef Pairs pairs = Pairs(0, 0, 0, 0, 0)
    cdef int64_t n_relevant = count_relevant(q)
    cdef int64_t n_judged = n_relevant if relevant_only else q.num_rel + q.num_nonrel
    cdef int64_t n = 0, width = 1, i, stop, lower = 0, higher = 0
    cdef int32_t lowest = lowest_relevant(q)
    cdef int32_t* a = <int32_t*>q.room
    cdef int32_t* b = a + q.num_hits
    for i in range(q.num_hits):
        if q.labels[i] >= lowest or (q.labels[i] >= 0 and not relevant_only):
            a[n] = q.labels[i] if q.labels[i] >= lowest else 0
            n += 1
    while width < n:
        pairs.both_right += merge_runs(a, n, width, b)
        a, b = b, a
        width *= 2
    i = 0
    while i < n:                # labels that are equal
        stop = labels_from(a, n, a[i])
        pairs.both += i * (stop - i)
        if a[i] < INT32_MAX:
            higher += (stop - i) * labels_from(q.ideal, n_relevant, a[i] + 1)
        if a[i] > 0:
            lower += (stop - i) * (n_judged - labels_from(q.ideal, n_relevant, a[i]))
        i = stop
    pairs.one_right = max(lower - pairs.both, 0)
    pairs.one = pairs.one_right + max(higher - pairs.both, 0)
    i = 0
    while i < n_relevant:
        stop = labels_from(q.ideal, n_relevant, q.ideal[i])
        pairs.all += (stop - i) * (n_judged - stop)
        i = stop
    return pairs


BY_PAIR = "mean over pairs of the share of judges with this pair that the ranking agrees with; with one judge as "
BY_JUDGE = "mean over judges of fulfilled / possible; with one judge as "


cdef share(str name, str summary, str formula):
    """The card of a fraction of preferences."""
    return Card(name, summary, formula, "0 without a pair; documents without a label are in none",
                (f"trec_eval {name}",),
                differs="trec_eval orders equal scores by ascending ids for these metrics: ties=doc_id_asc",
                reads="judged", graded=True, groups="pairs")


cdef count(str name, str summary, str formula):
    """The card of a number of preferences."""
    return share(name, summary, formula)._replace(high=INF, aggregate="sum")


cdef dict _judges_metrics = {}


cdef object declare_pairs(metric_fn function, card, str judges_function, str pairs):
    """Declare a metric of preferences: its function of the labels of one judge, and its function of several Judges.

    The latter is what a function of judges.py makes for these PAIRS; it is imported where there are several judges.
    """
    _judges_metrics[card.name] = judges_function, pairs
    declare(function, card, NULL, None, True)


def judges_metric(name):
    """What a metric makes of several judges: a function of Judges."""
    from fastir.engine.measure import judges

    judges_function, pairs = _judges_metrics[name]
    return getattr(judges, judges_function)(pairs)


cdef double num_prefs_poss(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>count_pairs(q, False).all

declare_pairs(num_prefs_poss, count(
    "prefs_num_prefs_poss", "number of preferences", "pairs with different labels, over all judges")._replace(
        higher_is_better=None, rank_sensitive=False),
    "count_possible", "all")


cdef double num_prefs_ful(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Pairs pairs = count_pairs(q, False)
    return <double>(pairs.both_right + pairs.one_right)

declare_pairs(num_prefs_ful, count(
    "prefs_num_prefs_ful", "number of preferences fulfilled",
    "pairs whose better document stands above the other, or is the only one retrieved, over all judges"),
    "count_fulfilled", "all")


cdef double num_prefs_ful_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>count_pairs(q, False).both_right

declare_pairs(num_prefs_ful_ret, count(
    "prefs_num_prefs_ful_ret", "number of preferences fulfilled, between retrieved documents",
    "pairs of retrieved documents whose better one stands above the other, over all judges"),
    "count_fulfilled", "retrieved")


cdef double share_of_pairs(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Pairs pairs = count_pairs(q, False)
    return ratio(<double>(pairs.both_right + pairs.one_right), <double>pairs.all)

declare_pairs(share_of_pairs, share(
    "prefs_simp", "share of preferences fulfilled", "prefs_num_prefs_ful / prefs_num_prefs_poss"),
    "pool_judges", "all")

declare_pairs(share_of_pairs, share(
    "prefs_pair", "share of preferences fulfilled, every pair of documents alike", BY_PAIR + "prefs_simp"),
    "by_pair", "all")

declare_pairs(share_of_pairs, share(
    "prefs_avgjg", "share of preferences fulfilled, every judge alike", BY_JUDGE + "prefs_simp"),
    "by_judge", "all")


cdef struct Retrieved:          # documents
    int64_t relevant, nonrelevant
    int64_t first               # the first nonrelevant ones
    int64_t above               # over these, the judged documents above them


cdef Retrieved count_retrieved(const Query* q, int64_t most) noexcept nogil:
    """The retrieved documents; the `most` first nonrelevant ones are the first."""
    cdef Retrieved counts = Retrieved(0, 0, 0, 0)
    cdef int64_t i
    for i in range(q.num_hits):
        if q.labels[i] >= lowest_relevant(q):
            counts.relevant += 1
        elif q.labels[i] >= 0:
            if counts.nonrelevant < most:
                counts.above += counts.relevant + counts.nonrelevant
                counts.first += 1
            counts.nonrelevant += 1
    return counts


cdef double with_as_many(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t relevant = count_relevant(q), n_judged = q.num_rel + q.num_nonrel, right
    cdef int64_t lacking = 2 * relevant - n_judged
    cdef Retrieved counts = count_retrieved(q, relevant)
    cdef Pairs pairs = count_pairs(q, lacking < 0)
    right = pairs.both_right + pairs.one_right
    if lacking >= 0:
        return ratio(<double>(right + counts.relevant * lacking), <double>(pairs.all + relevant * lacking))
    right += counts.above + (relevant - counts.first) * (counts.relevant + counts.nonrelevant)
    return ratio(<double>right, <double>(pairs.all + n_judged * relevant))

declare_pairs(with_as_many, share(
    "prefs_avgjg_Rnonrel", "share of preferences fulfilled, with as many documents of label 0 as others",
    "mean over judges of fulfilled / possible, where R - N documents of label 0 are added and never retrieved; or, if "
    "R < N, only the first R of them count, and the pairs are those of labels above 0 and each judged document with "
    "each of the R; R documents have a label above 0, N have 0"),
    "by_judge_with_as_many", "all")


cdef double share_retrieved(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Pairs pairs = count_pairs(q, False)
    return ratio(<double>pairs.both_right, <double>pairs.both)

declare_pairs(share_retrieved, share(
    "prefs_simp_ret", "share of preferences fulfilled, between retrieved documents",
    "prefs_num_prefs_ful_ret / pairs of retrieved documents, over all judges")._replace(
        sources=("trec_eval prefs_simp_ret", "TF-Ranking OPAMetric"), aliases=("opa", "ordered_pair_accuracy"),
        differs="trec_eval orders equal scores by ascending ids for these metrics: ties=doc_id_asc; TF-Ranking counts "
        "them as wrong: ties=pessimistic; and it weighs queries by their pairs: weights="),
    "pool_judges", "retrieved")

declare_pairs(share_retrieved, share(
    "prefs_pair_ret", "share of preferences fulfilled, every pair of retrieved documents alike",
    BY_PAIR + "prefs_simp_ret"),
    "by_pair", "retrieved")

declare_pairs(share_retrieved, share(
    "prefs_avgjg_ret", "share of preferences fulfilled, between retrieved documents, every judge alike",
    BY_JUDGE + "prefs_simp_ret"),
    "by_judge", "retrieved")


cdef double share_retrieved_with_as_many(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Retrieved counts = count_retrieved(q, q.num_hits)
    cdef int64_t lacking = counts.relevant - counts.nonrelevant
    cdef Pairs pairs = count_pairs(q, lacking < 0)
    if lacking >= 0:
        return ratio(<double>(pairs.both_right + counts.relevant * lacking),
                     <double>(pairs.both + count_relevant(q) * lacking))
    return ratio(<double>(pairs.both_right + count_retrieved(q, counts.relevant).above),
                 <double>(pairs.both + (counts.relevant + counts.nonrelevant) * counts.relevant))

declare_pairs(share_retrieved_with_as_many, share(
    "prefs_avgjg_Rnonrel_ret",
    "share of preferences fulfilled, between retrieved documents, with as many of label 0 as others",
    "as prefs_avgjg_Rnonrel of the retrieved documents alone; if R > N, R (R - N) pairs are added to those fulfilled "
    "and (R - N) of each document above 0, retrieved or not, to the possible ones"),
    "by_judge_with_as_many", "retrieved")


cdef double share_implied(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Pairs pairs = count_pairs(q, False)
    return ratio(<double>(pairs.both_right + pairs.one_right), <double>(pairs.both + pairs.one))

declare_pairs(share_implied, share(
    "prefs_simp_imp", "share of preferences fulfilled, where a document was retrieved",
    "prefs_num_prefs_ful / pairs of which one or both documents were retrieved, over all judges"),
    "pool_judges", "implied")

declare_pairs(share_implied, share(
    "prefs_pair_imp", "share of preferences fulfilled, every pair with a retrieved document alike",
    BY_PAIR + "prefs_simp_imp"),
    "by_pair", "implied")

declare_pairs(share_implied, share(
    "prefs_avgjg_imp", "share of preferences fulfilled, where a document was retrieved, every judge alike",
    BY_JUDGE + "prefs_simp_imp"),
    "by_judge", "implied")


# ---- technology-assisted review -------------------------------------------------------------------------------------
cdef enum:                      # n_docs, as a word: its position below 0
    JUDGED = -1


cdef enum:                      # wanted
    UP
    NEAREST


N_DOCS = Param("n_docs", None, "how many documents the collection has, or that it is what was judged of the query",
               ("judged",), 0, 2**53, integer=True, example=100_000)
TAR_EVAL = "tar_eval's collection is what was judged of a topic, n_docs=judged, and at least what is ranked"


cdef double collection_size(const Query* q, double n_docs) noexcept nogil:
    """The size of the collection; 0 if it is too small to be true."""
    if n_docs == JUDGED:
        n_docs = <double>(q.num_rel + q.num_nonrel)
    return n_docs if n_docs >= <double>q.num_ret and n_docs >= <double>q.num_rel else 0.0


cdef inline double n_shown(const Query* q, const Snapshot* s) noexcept nogil:
    return <double>(s.k if s.k < q.num_ret else q.num_ret)


cdef struct WssParams:
    double target, wanted, n_docs

cdef WssParams wss_fields


cdef double wss(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """For expected values, the j-th of a tie's r relevant documents is at j (g + 1) / (r + 1) of its g ranks."""
    cdef const WssParams* params = <const WssParams*>p
    cdef double size = collection_size(q, params.n_docs), need = params.target * <double>q.num_rel, rank = 0.0
    cdef int64_t i = 0, rel_ret = 0
    cdef Tie tie
    need = ceil(need - 1e-9) if params.wanted == UP else rint(need)
    if q.num_rel == 0:
        return 0.0
    if size == 0.0:
        return INFINITY
    while <double>rel_ret < need and i < q.num_hits:
        i = take_tie(q, i, &tie, 0)
        if <double>(rel_ret + tie.relevant) >= need:
            rank = <double>(tie.first - 1) + (
                (need - <double>rel_ret) * <double>(tie.last - tie.first + 2) / <double>(tie.relevant + 1))
        rel_ret += tie.relevant
    return (size - (rank if <double>rel_ret >= need else size)) / size - (1.0 - params.target)

declare(wss, Card(
    "wss",
    "work saved over sampling: the share of the collection that need not be read, less the share of the relevant "
    "documents that is missed",
    "(n_docs - rank of the K-th relevant document) / n_docs - (1 - target), K = target * R",
    "0 if R = 0; where fewer than K are retrieved all is read, and the rank is n_docs",
    (COHEN_2006, "tar_eval wss_95, wss_100"), aliases=("work_saved_over_sampling",),
    differs=f"{TAR_EVAL}; it rounds K, wanted=nearest, and has 0 where fewer than K are retrieved; asreview-insights "
            "rounds what random sampling finds",
    low=-1.0,
    params=(
        Param("target", 0.95, "the recall to reach, which @ sets", (), 0, 1, closed=True),
        Param("wanted", "up", "K if it has a fraction: the next number above, or the nearest, the even one of two",
              words(up=UP, nearest=NEAREST)),
        N_DOCS, EMPTY),
    at="target", reads="judged", response=several_sums, steady=False), wss, wss_fields)


cdef struct ShareParams:
    double share, n_docs

cdef ShareParams share_fields


cdef double ncg_share(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const ShareParams* params = <const ShareParams*>p
    cdef double size = collection_size(q, params.n_docs)
    if q.num_rel == 0:
        return 0.0
    return count_to(q, <int64_t>rint(size * params.share), q.level) / <double>q.num_rel if size > 0.0 else INFINITY

declare(ncg_share, Card(
    "ncg_share", "recall where a share of the collection is read",
    "r_K / R, K = share * n_docs to the nearest, the even one of two", "0 if R = 0",
    ("tar_eval NCG, recall@10%",), aliases=("recall_share",),
    differs=f"{TAR_EVAL}; the recall@10% of 2018 is ncg_share@0.1; the NCG@x of 2017 reads multiples of "
            "floor(n_docs / 10), one step less where n_docs is a multiple of ten; asreview-insights rounds K down",
    params=(
        Param("share", 0.1, "the share of the collection, which @ sets", (), 0, 1, closed=True), N_DOCS, EMPTY),
    at="share", reads="judged", response=several_sums, steady=False), ncg_share, share_fields)


cdef double hit_rate_share(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const ShareParams* params = <const ShareParams*>p
    cdef double size = collection_size(q, params.n_docs)
    if q.num_rel == 0:
        return 0.0
    return chance_of_any(q, <int64_t>rint(size * params.share)) if size > 0.0 else INFINITY

declare(hit_rate_share, Card(
    "hit_rate_share", "whether a relevant document is found where a share of the candidates is read",
    "1 if r_K > 0, else 0, K = share * n_docs to the nearest, the even one of two", "0 if R = 0",
    ("tar_eval recall@10%, whether it is above 0",),
    params=(Param("share", 0.1, "the share of the candidates, which @ sets", (), 0, 1, closed=True), N_DOCS, EMPTY),
    at="share", reads="judged", response=CHAIN, steady=False), hit_rate_share, share_fields)


cdef struct LimitedAucParams:
    double n_docs

cdef LimitedAucParams limited_auc_fields


cdef double limited_auc(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """The first k documents include what a shorter ranking lacks, and no relevant ones are there."""
    cdef double size = collection_size(q, (<const LimitedAucParams*>p).n_docs), others = size - <double>q.num_rel
    cdef int64_t i = 0, depth = q.num_ret if s.k == INT64_MAX else s.k
    cdef double hits = 0.0, right = 0.0, rank = 0.0
    if q.num_rel == 0:
        return 0.0
    if size == 0.0:
        return INFINITY
    if others == 0.0:
        return NAN
    for i in range(q.num_hits):
        if q.ranks[i] > depth:
            break
        if q.labels[i] >= q.level:
            right += hits * (<double>q.ranks[i] - rank - 1.0)
            rank = <double>q.ranks[i]
            hits += 1.0
    right += hits * (<double>depth - rank)
    right += (hits + <double>q.num_rel) / 2.0 * (others - (<double>depth - hits))
    return right / (<double>q.num_rel * others)

declare(limited_auc, Card(
    "limited_auc",
    "area under the ROC curve of the whole collection, of which the first k documents are shown and others come in any "
    "order",
    "(for each of the first k documents that is not relevant, the relevant ones above it; for each other one of the "
    "collection (r_k + R) / 2) / (R (n_docs - R))",
    "0 if R = 0; NaN, and out of the mean, if all documents are relevant",
    (HANLEY_1982, "implicit AUC_at_k"), aliases=("auc_limited",), only_in=(("implicit", "auc"),),
    differs="auc compares documents of the first k alone; a ranking shorter than k is filled with documents that are "
            "not relevant, and where k is more than the collection the value can be below 0",
    low=-INF, params=(N_DOCS, EMPTY), cutoff=True, reads="judged", response=several_sums, steady=False), NULL,
    limited_auc_fields)


cdef struct LossParams:
    double b, n_docs

cdef LossParams loss_fields


cdef double loss_er(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const LossParams* params = <const LossParams*>p
    cdef double missed = 1.0 - ratio(s.num_rel_ret, <double>q.num_rel)
    cdef double size = collection_size(q, params.n_docs)
    cdef double effort = ratio(params.b, size) * (n_shown(q, s) / (<double>q.num_rel + params.b))
    if size == 0.0 and q.num_ret + q.num_rel > 0:
        return INFINITY
    return missed * missed + effort * effort

declare(loss_er, Card(
    "loss_er", "what a review that ends at rank k loses in recall and in effort",
    "(1 - r_k / R)^2 + (b / n_docs * k / (R + b))^2; k is n at most", "recall is 0 if R = 0",
    (CORMACK_2015, "tar_eval loss_er"), differs=TAR_EVAL, high=2.0, higher_is_better=False,
    params=(Param("b", 100.0, "documents that are read beside the relevant ones in a reasonable effort", (), 0, 1e9),
            N_DOCS, EMPTY),
    cutoff=True, reads="judged", rank_sensitive=False, response=several_sums,
    steady=False), NULL, loss_fields)


cdef double fallout(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double size = collection_size(q, p[0]), others = size - <double>q.num_rel
    cdef double wrong = n_shown(q, s) - s.num_rel_ret
    if (size == 0.0 and q.num_ret + q.num_rel > 0) or wrong > others:
        return INFINITY
    return ratio(wrong, others)

declare(fallout, Card(
    "fallout", "fraction of the non-relevant documents that the top k holds",
    "(k - r_k) / (n_docs - R); k is n at most", "0 if all documents are relevant", (RIJSBERGEN_1974,),
    aliases=("fall_out", "fall-out"), differs="torchmetrics' collection is what it was given: n_docs=judged",
    higher_is_better=False, params=(N_DOCS, EMPTY), cutoff=True, reads="judged", rank_sensitive=False,
    response=several_sums, steady=False),
    fallout)


# ---- learning to rank and multilabel classification, Q-measure ------------------------------------------------------
cdef double arp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """For expected values, the mean of the ranks that the tie shares."""
    cdef int64_t i
    cdef double total = 0.0, labels = 0.0, label
    for i in range(q.num_hits):
        if q.labels[i] >= q.floor:
            label = label_grade(q.rule, q.labels[i])
            labels += label
            total += label * middle_rank(q, i)
    return total / labels if labels > 0.0 else NAN

declare(arp, Card(
    "arp", "average relevance position: the mean rank, weighted by the labels", "sum of g_i i / sum of g_i",
    "NaN, and out of the mean, if nothing with a gain is retrieved", ("TF-Ranking ARPMetric",),
    aliases=("average_relevance_position",),
    differs="TF-Ranking weighs queries by the sums of their labels: weights=", low=1.0, high=INF,
    higher_is_better=False, params=(EMPTY,), graded=True, response=several_sums, steady=False), arp)


cdef double label_ranking_loss(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, seen = 0
    cdef double wrong = 0.0
    for i in range(q.num_hits):
        if q.labels[i] >= q.level:
            seen += 1
            wrong += <double>(q.ranks[i] - seen)
    return ratio(wrong, <double>seen * <double>(q.num_ret - seen))

declare(label_ranking_loss, Card(
    "label_ranking_loss", "share of pairs in the wrong order, of a relevant document and another",
    "pairs in the wrong order / (r (n - r))", "0 if all retrieved documents are relevant, or none is",
    (TSOUMAKAS_2010, "scikit-learn label_ranking_loss"), aliases=("lrl",),
    differs="scikit-learn counts a tied pair as wrong: ties=pessimistic", higher_is_better=False, params=(EMPTY,),
    response=CHAIN, steady=False))


cdef struct PfoundParams:
    double decay, max_grade

cdef PfoundParams pfound_fields


cdef double pfound(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const PfoundParams* params = <const PfoundParams*>p
    cdef double top = label_grade(q.rule, q.top) if params.max_grade < 0 else params.max_grade
    cdef double look = 1.0, total = 0.0, satisfied
    cdef int64_t i, rank = 1
    for i in range(q.num_hits):
        if q.ranks[i] > s.k:
            break
        if q.labels[i] >= q.floor:
            while rank < q.ranks[i] and look > 0.0:
                look *= params.decay
                rank += 1
            satisfied = label_grade(q.rule, q.labels[i]) / top
            total += look * satisfied
            look *= 1.0 - satisfied
    return total

declare(pfound, Card(
    "pfound", "how likely a reader who goes on by chance finds what was looked for",
    "sum of P_i t_i over ranks i <= k, P_1 = 1, P_(i+1) = P_i (1 - t_i) decay, t = label / max_grade",
    "0 if nothing has a gain; a label above max_grade is an error", ("CatBoost PFound",),
    differs="CatBoost's labels are probabilities: max_grade=1", params=(
        Param("decay", 0.85, "how likely a reader goes on who has not found it", (), 0, 1, closed=True),
        MAX_GRADE, EMPTY),
    cutoff=True, graded=True, response=err_response, steady=False), NULL, pfound_fields)


cdef double q_measure(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double beta = p[0], total = 0.0, gain = 0.0, ideal = 0.0
    cdef int64_t i, j = 0, n_gains = 0
    for i in range(q.num_hits):
        if q.gains[i] > 0.0:
            n_gains += 1
            gain += q.gains[i]
            while j < q.num_ideal_gains and j < q.ranks[i]:
                ideal += q.ideal_gains[j]
                j += 1
            total += (<double>n_gains + beta * gain) / (<double>q.ranks[i] + beta * ideal)
    return ratio(total, <double>q.num_ideal_gains)

declare(q_measure, Card(
    "q_measure", "Q-measure: average precision that sees the gains, too",
    "1/R * sum of (r_i + beta cg_i) / (i + beta ideal cg_i) over the ranks i of documents with a gain; R counts those "
    "of the qrels", NO_GAIN, (SAKAI_2007, "NTCIREVAL Q-measure"), aliases=("q-measure",), beyond=ANY_GAIN,
    params=(Param("beta", 1.0, "how much gains count beside precision", (), 0, 1e3, closed=True), GAIN, EMPTY),
    graded=True, by_label=False, response=several_sums, steady=False))
