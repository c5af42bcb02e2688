"""Metrics that libraries of learning to rank and of multilabel classification have, and NTCIR's Q-measure."""

from libc.math cimport NAN
from libc.stdint cimport int64_t

from fastir.engine.measure._arithmetic cimport middle_rank, ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, label_grade

from fastir.engine.measure._graded import ANY_GAIN, GAIN, NO_GAIN
from fastir.engine.measure._registry import EMPTY
from fastir.engine.measure._user_models import MAX_GRADE, err_response
from fastir.engine.measure.cards import CHAIN, INF, Card, Param, several_sums
from fastir.engine.measure.references import SAKAI_2007, TSOUMAKAS_2010


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
    direction="less", params=(EMPTY,), graded=True, response=several_sums, steady=False), arp)


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
    differs="scikit-learn counts a tied pair as wrong: ties=pessimistic", direction="less", params=(EMPTY,),
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
