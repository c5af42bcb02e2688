"""Metrics of technology-assisted review: what reading a ranking saves over reading the whole collection.

How many documents there are is a parameter without a default, n_docs: no ranking tells. Where there are fewer than are
ranked or relevant a value is infinite, which no other one is; fastir/request/plan.py makes an error of it.
"""

from libc.math cimport INFINITY, NAN, ceil, rint
from libc.stdint cimport INT64_MAX, int64_t

from fastir.engine.measure._arithmetic cimport Tie, chance_of_any, count_to, ratio, take_tie
from fastir.engine.measure._registry cimport Query, Snapshot, declare

from fastir.engine.measure._registry import EMPTY, words
from fastir.engine.measure.cards import CHAIN, INF, Card, Param, several_sums
from fastir.engine.measure.references import COHEN_2006, CORMACK_2015, HANLEY_1982, RIJSBERGEN_1974

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


cdef inline double shown_to(const Query* q, const Snapshot* s) noexcept nogil:
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
        Param("wanted", "up", "K if it is not whole: the next number above, or the nearest, the even one of two",
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
    cdef double effort = ratio(params.b, size) * (shown_to(q, s) / (<double>q.num_rel + params.b))
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


cdef struct FalloutParams:
    double n_docs

cdef FalloutParams fallout_fields


cdef double fallout(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double size = collection_size(q, (<const FalloutParams*>p).n_docs), others = size - <double>q.num_rel
    cdef double wrong = shown_to(q, s) - s.num_rel_ret
    if (size == 0.0 and q.num_ret + q.num_rel > 0) or wrong > others:
        return INFINITY
    return ratio(wrong, others)

declare(fallout, Card(
    "fallout", "fraction of the non-relevant documents that the top k holds",
    "(k - r_k) / (n_docs - R); k is n at most", "0 if all documents are relevant", (RIJSBERGEN_1974,),
    aliases=("fall_out", "fall-out"), differs="torchmetrics' collection is what it was given: n_docs=judged",
    higher_is_better=False, params=(N_DOCS, EMPTY), cutoff=True, reads="judged", rank_sensitive=False,
    response=several_sums, steady=False),
    fallout, fallout_fields)
