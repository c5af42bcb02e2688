"""Metrics of incomplete judgments, and how much of a ranking was judged.

They distinguish judged non-relevant documents (labels from 0 up), documents in the pool without a judgment (code -2),
and documents outside the qrels (code -1, or no hit at all).
"""

from libc.math cimport NAN
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from fastir.engine.measure._arithmetic cimport Tie, count_to, ratio, take_tie
from fastir.engine.measure._registry cimport Query, Snapshot, declare

from fastir.engine.measure._registry import EMPTY, words
from fastir.engine.measure.cards import CHAIN, SUM, Card, Param
from fastir.engine.measure.references import BUCKLEY_2004, YILMAZ_2006

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
