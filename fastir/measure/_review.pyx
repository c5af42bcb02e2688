"""Metrics of technology-assisted review: what reading a ranking saves over reading the whole collection.

The collection's size is the parameter n_docs: a number, or a word for what is known of it.
"""

from libc.math cimport ceil, rint
from libc.stdint cimport INT64_MAX, int64_t

from fastir.measure._arithmetic cimport ratio
from fastir.measure._registry cimport Query, Snapshot, declare
from fastir.measure._ties cimport Tie, count_to, take_tie

from fastir.measure._registry import EMPTY, words
from fastir.measure.cards import Card, Param
from fastir.measure.references import COHEN_2006, CORMACK_2015, RIJSBERGEN_1974
from fastir.measure.responses import of_any_labels

cdef enum:                      # n_docs, as a word: their places below 0
    KNOWN = -1
    JUDGED = -2


cdef enum:                      # wanted
    UP
    NEAREST


N_DOCS = Param("n_docs", "known", "documents in the collection, at least those that are ranked or relevant: a number, "
               "no more than these, or as many as were judged", ("known", "judged"), 0, 2**53, integer=True,
               closed=True)
SIZE = "tar_eval's collection is the topic's qrels: n_docs=judged"


cdef double collection(const Query* q, double n_docs) noexcept nogil:
    """The size of the collection: no smaller than what was ranked and what is relevant besides."""
    cdef double known = <double>q.num_ret + (<double>q.num_rel - count_to(q, INT64_MAX, q.level))
    if n_docs == JUDGED:
        n_docs = <double>(q.num_rel + q.num_nonrel)
    return n_docs if n_docs > known else known


cdef struct WssParams:
    double target, wanted, n_docs

cdef WssParams wss_fields


cdef double wss(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    """For expected values, the j-th of a tie's r relevant documents stands at j (g + 1) / (r + 1) of its g ranks."""
    cdef const WssParams* params = <const WssParams*>p
    cdef double size = collection(q, params.n_docs), need = params.target * <double>q.num_rel, rank = 0.0
    cdef int64_t i = 0, found = 0
    cdef Tie tie
    need = ceil(need - 1e-9) if params.wanted == UP else rint(need)
    if q.num_rel == 0:
        return 0.0
    while <double>found < need:
        if i == q.num_hits:
            return 0.0
        i = take_tie(q, i, &tie, 0)
        if <double>(found + tie.relevant) >= need:
            rank = <double>(tie.first - 1) + (
                (need - <double>found) * <double>(tie.last - tie.first + 2) / <double>(tie.relevant + 1))
        found += tie.relevant
    return (size - rank) / size - (1.0 - params.target)

declare(wss, Card(
    "wss",
    "work saved over sampling: the share of the collection that need not be read, less the share of the relevant "
    "documents that is missed",
    "(N - rank of the K-th relevant document) / N - (1 - target), K = target * R, N = n_docs",
    "0 if R = 0, or if fewer than K are retrieved", (COHEN_2006, "tar_eval wss_95, wss_100"),
    differs=f"{SIZE}, and it rounds K: wanted=nearest; asreview-insights rounds what random sampling finds",
    low=-1.0,
    params=(
        Param("target", 0.95, "the recall to reach, which @ sets", (), 0, 1, closed=True),
        Param("wanted", "up", "K if it is not whole: the next number above, or the nearest, the even one of two",
              words(up=UP, nearest=NEAREST)),
        N_DOCS, EMPTY),
    at="target", response=of_any_labels, steady=False), wss, wss_fields)


cdef struct NcgParams:
    double share, n_docs

cdef NcgParams ncg_fields


cdef double ncg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const NcgParams* params = <const NcgParams*>p
    cdef double depth = rint(collection(q, params.n_docs) * params.share)
    return ratio(count_to(q, <int64_t>depth, q.level), <double>q.num_rel)

declare(ncg, Card(
    "ncg", "recall where a share of the collection is read",
    "r_K / R, K = share * n_docs to the nearest", "0 if R = 0", ("tar_eval NCG",), differs=f"{SIZE}; its NCG@10 is ncg@0.1",
    params=(
        Param("share", 0.1, "the share of the collection, which @ sets", (), 0, 1, closed=True), N_DOCS, EMPTY),
    at="share", response=of_any_labels, steady=False), ncg, ncg_fields)


cdef struct LossParams:
    double b, n_docs

cdef LossParams loss_fields


cdef double loss_er(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef const LossParams* params = <const LossParams*>p
    cdef double missed = 1.0 - ratio(s.num_rel_ret, <double>q.num_rel)
    cdef double size = collection(q, params.n_docs), shown = <double>(s.k if s.k < q.num_ret else q.num_ret)
    cdef double effort = ratio(params.b, size) * (shown / (<double>q.num_rel + params.b))
    return missed * missed + effort * effort

declare(loss_er, Card(
    "loss_er", "what a review that ends at rank k loses in recall and in effort",
    "(1 - r_k / R)^2 + (b / n_docs * k / (R + b))^2; k is n at most", "recall is 0 if R = 0",
    (CORMACK_2015, "tar_eval loss_er"), differs=SIZE, high=2.0, direction="less",
    params=(Param("b", 100.0, "documents that are read beside the relevant ones in a reasonable effort", (), 0, 1e9),
            N_DOCS, EMPTY),
    cutoff=True, rank_sensitive=False, response=of_any_labels, steady=False), NULL, loss_fields)


cdef struct FalloutParams:
    double n_docs

cdef FalloutParams fallout_fields


cdef double fallout(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double others = collection(q, (<const FalloutParams*>p).n_docs) - <double>q.num_rel
    return ratio(<double>(s.k if s.k < q.num_ret else q.num_ret) - s.num_rel_ret, others)

declare(fallout, Card(
    "fallout", "share of the documents that are not relevant which the first k hold",
    "(k - r_k) / (n_docs - R); k is n at most", "0 if all documents are relevant", (RIJSBERGEN_1974,),
    differs="a ranking without n_docs is taken for the whole collection", direction="less",
    params=(N_DOCS, EMPTY), cutoff=True, rank_sensitive=False, response=of_any_labels, steady=False), fallout, fallout_fields)
