"""The metrics: each is one block, its function beside its card.

In: one query's judged documents in rank order (Query) and the running sums at the metric's cutoff (Snapshot), which
_measure.pyx fills in one walk. Out: one double. A metric is a few lines over the snapshot; one that needs every hit
(bpref, rbp, err) walks `q.ranks` and `q.labels` itself. Its parameters come as doubles, in the order of the card's
`params`; a word is its position among the choices.

log2 is our own, built from correctly rounded operations alone: the C library's may differ in the last bit between
processors, and results must not. Divisions by it, in rank order, give trec_eval's sums bit for bit.
"""

from libc.math cimport ldexp
from libc.stdint cimport INT64_MAX, int32_t, int64_t

from fastir.cards import Card, Param


# ---- shared arithmetic ---------------------------------------------------------------------------------------------

cdef enum:
    TABLE = 2048

cdef double LOG2_HIGH[TABLE]
cdef double LOG2_LOW[TABLE]


cdef void two_sum(double a, double b, double* s, double* e) noexcept nogil:
    cdef double t
    s[0] = a + b
    t = s[0] - a
    e[0] = (a - (s[0] - t)) + (b - t)


cdef void two_product(double a, double b, double* p, double* e) noexcept nogil:
    cdef double t, ah, al, bh, bl
    t = 134217729.0 * a
    ah = t - (t - a)
    al = a - ah
    t = 134217729.0 * b
    bh = t - (t - b)
    bl = b - bh
    p[0] = a * b
    e[0] = ((ah * bh - p[0]) + ah * bl + al * bh) + al * bl


cdef void dd_multiply(double ah, double al, double bh, double bl, double* h, double* l) noexcept nogil:
    cdef double p, e
    two_product(ah, bh, &p, &e)
    e = e + (ah * bl + al * bh)
    two_sum(p, e, h, l)


cdef void dd_add(double ah, double al, double bh, double bl, double* h, double* l) noexcept nogil:
    cdef double s, e
    two_sum(ah, bh, &s, &e)
    e = e + (al + bl)
    two_sum(s, e, h, l)


cdef void dd_divide(double ah, double al, double bh, double bl, double* h, double* l) noexcept nogil:
    cdef double q, ph, pl, r
    q = ah / bh
    dd_multiply(q, 0.0, bh, bl, &ph, &pl)
    r = (((ah - ph) - pl) + al) / bh
    two_sum(q, r, h, l)


cdef void log2_double_double(int64_t n, double* h, double* l) noexcept nogil:
    """log2 of n in about 100 bits: exponent plus 2/ln 2 * atanh((m - 1)/(m + 1)), m in [1, 2)."""
    cdef int exponent = 0, j
    cdef int64_t power = 1
    cdef double sh, sl, th, tl, ph, pl, zh, zl
    while power * 2 <= n:
        power *= 2
        exponent += 1
    dd_divide(<double>(n - power), 0.0, <double>(n + power), 0.0, &sh, &sl)
    dd_multiply(sh, sl, sh, sl, &th, &tl)
    zh = 0.0
    zl = 0.0
    for j in range(34, -1, -1):
        dd_divide(1.0, 0.0, 2.0 * j + 1.0, 0.0, &ph, &pl)
        dd_multiply(zh, zl, th, tl, &zh, &zl)
        dd_add(zh, zl, ph, pl, &zh, &zl)
    dd_multiply(zh, zl, sh, sl, &zh, &zl)
    dd_multiply(zh, zl, 2.8853900817779268, 4.0710547481862066e-17, &zh, &zl)
    dd_add(zh, zl, <double>exponent, 0.0, h, l)


cdef void fill_table() noexcept nogil:
    cdef int64_t n
    LOG2_HIGH[0] = 0.0
    LOG2_LOW[0] = 0.0
    for n in range(1, TABLE):
        log2_double_double(n, &LOG2_HIGH[n], &LOG2_LOW[n])


fill_table()


cdef double log2_of(int64_t n) noexcept nogil:
    """log2 of an integer from 1 up; beyond the table, its leading bits' entry plus a short series."""
    cdef int shift = 0
    cdef int64_t head = n
    cdef double x, s, t
    if n < TABLE:
        return LOG2_HIGH[n]
    while head >= TABLE:
        head >>= 1
        shift += 1
    x = <double>(n - (head << shift)) / <double>(head << shift)
    s = x / (2.0 + x)
    t = s * s
    x = 2.8853900817779268 * s * (1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0))))
    two_sum(LOG2_HIGH[head] + shift, x, &s, &t)
    return s + (t + LOG2_LOW[head])


cdef double gain_of(int32_t label, int exponential) noexcept nogil:
    return ldexp(1.0, label) - 1.0 if exponential else <double>label


cdef double discount_at(int64_t rank, int jk2) noexcept nogil:
    if jk2:
        return 1.0 if rank < 2 else log2_of(rank)
    return log2_of(rank + 1)


cdef double power(double base, int64_t exponent) noexcept nogil:
    cdef double result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


cdef double ratio(double a, double b) noexcept nogil:
    return a / b if b > 0 else 0.0


# ---- the registry --------------------------------------------------------------------------------------------------

cdef list _cards = []
cdef dict _functions = {}

GAIN = Param("gain", "linear", "what a label adds: itself, or 2^label - 1 (labels up to 1000)", ("linear", "exp2"))
EMPTY = Param("empty", "zero", "a query without relevant documents: counts as 0, or stays NaN and leaves the mean",
              ("zero", "skip"))
IDEAL = Param("ideal", "judged", "the ideal ranking holds all judged documents, or only those retrieved",
              ("judged", "retrieved"))
DISCOUNT = Param("discount", "log2", "log2(rank + 1), or the original: none at rank 1, then log2(rank)",
                 ("log2", "jk2"))
MAX_GRADE = Param("max_grade", 4, "top of the grading scale, or the query's largest judged label", ("query",),
                  0, 1001, True)


cdef object declare(metric_fn function, card):
    _cards.append(card)
    _functions[card.name] = <size_t>function


def function_address(name):
    """The address of a metric's function, for the plan's table."""
    return _functions[name]




# ---- counts --------------------------------------------------------------------------------------------------------

cdef double num_q(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0

declare(num_q, Card(
    "num_q", "queries evaluated", "1 per query", "never", "trec_eval num_q", aliases=("NumQ",), range="1",
    aggregate="count"))


cdef double num_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>q.num_ret

declare(num_ret, Card(
    "num_ret", "documents retrieved", "n", "0 for an empty ranking", "trec_eval num_ret", aliases=("NumRet",),
    range="0 up", aggregate="sum"))


cdef double num_rel(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>q.num_rel

declare(num_rel, Card(
    "num_rel", "relevant documents in the qrels", "R", "0 if none", "trec_eval num_rel", aliases=("NumRel",),
    range="0 up", aggregate="sum"))


cdef double num_rel_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>s.num_rel_ret

declare(num_rel_ret, Card(
    "num_rel_ret", "relevant documents retrieved", "r", "0 if none", "trec_eval num_rel_ret", aliases=("NumRelRet",),
    range="0 up", aggregate="sum"))


# ---- binary metrics ------------------------------------------------------------------------------------------------

declare(num_rel_ret, Card(
    "hits", "relevant documents in the first k", "r_k", "0 if none is retrieved", "ranx hits",
    differs="num_rel_ret is the same count, summed over queries instead of averaged",
    range="0 to k", params=(EMPTY,), cutoff=True))


cdef double hit_rate(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 if s.num_rel_ret > 0 else 0.0

declare(hit_rate, Card(
    "hit_rate", "whether the first k hold a relevant document", "1 if r_k > 0, else 0", "0 if nothing is relevant",
    "trec_eval success, ranx hit_rate", aliases=("success",), params=(EMPTY,), cutoff=True))


cdef double precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(<double>s.num_rel_ret, <double>q.num_ret if s.k == INT64_MAX else <double>s.k)

declare(precision, Card(
    "precision", "share of relevant documents in the first k", "r_k / k; without k: r / n",
    "0 for an empty ranking; a ranking shorter than k still divides by k", "trec_eval P, set_P", aliases=("P",),
    params=(EMPTY,), cutoff=True))


cdef double recall(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(<double>s.num_rel_ret, <double>q.num_rel)

declare(recall, Card(
    "recall", "share of the relevant documents that the first k hold", "r_k / R", "0 if R = 0",
    "trec_eval recall, set_recall", aliases=("R",), params=(EMPTY,), cutoff=True))


cdef double f1(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double a = precision(q, s, p), b = recall(q, s, p)
    return ratio(2.0 * a * b, a + b)

declare(f1, Card(
    "f1", "harmonic mean of precision and recall", "2 P R / (P + R), both at k", "0 if both are 0",
    "van Rijsbergen 1979; ranx f1, trec_eval set_F with x = 1", params=(EMPTY,), cutoff=True))


cdef double r_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, found = 0
    for i in range(q.num_hits):
        if q.ranks[i] > q.num_rel:
            break
        found += q.labels[i] >= q.level
    return ratio(<double>found, <double>q.num_rel)

declare(r_precision, Card(
    "r_precision", "precision at as many documents as are relevant", "r_R / R", "0 if R = 0", "trec_eval Rprec",
    aliases=("r-precision", "Rprec", "rprecision"), params=(EMPTY,)))


cdef double mrr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return 1.0 / <double>s.first_rel if s.first_rel > 0 else 0.0

declare(mrr, Card(
    "mrr", "reciprocal rank of the first relevant document", "1 / rank, 0 beyond k", "0 if none is retrieved",
    "Voorhees 1999; trec_eval recip_rank", aliases=("recip_rank", "RR"), params=(EMPTY,), cutoff=True))


cdef double average_precision(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t n = q.num_rel
    if p[0] == 1.0 and s.k < n:
        n = s.k
    return ratio(s.sum_precision, <double>n)

declare(average_precision, Card(
    "map", "average precision (its mean over queries is MAP)",
    "sum of precision(i) over the relevant ranks i <= k, divided by R", "0 if R = 0",
    "trec_eval map, map_cut", aliases=("AP", "average_precision"),
    differs="LightGBM, XGBoost and CatBoost divide by min(k, R): ap_norm=min_kR",
    params=(Param("ap_norm", "R", "the denominator: all relevant documents, or at most k", ("R", "min_kR")), EMPTY),
    cutoff=True))


cdef double bpref(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int64_t i, above = 0
    cdef int64_t bound = q.num_rel if q.num_rel < q.num_nonrel else q.num_nonrel
    cdef double total = 0.0
    for i in range(q.num_hits):
        if q.labels[i] < q.level:
            above += 1
        elif above == 0:
            total += 1.0
        else:
            total += 1.0 - <double>(above if above < q.num_rel else q.num_rel) / <double>bound
    return ratio(total, <double>q.num_rel)

declare(bpref, Card(
    "bpref", "how seldom judged non-relevant documents stand above relevant ones",
    "1/R * sum over retrieved relevant documents of 1 - min(a, R) / min(N, R), "
    "a = judged non-relevant above; 1 if a = 0",
    "0 if R = 0; unjudged documents are skipped", "Buckley and Voorhees 2004 as in trec_eval bpref",
    differs="ranx gives NaN where nothing non-relevant is judged", params=(EMPTY,), reads_nonrelevant=True))


# ---- graded metrics ------------------------------------------------------------------------------------------------

cdef double cg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.gain

declare(cg, Card(
    "cg", "cumulated gain", "sum of the labels at ranks <= k", "0 if nothing has a gain",
    "Järvelin and Kekäläinen 2002", range="0 up", params=(EMPTY,), cutoff=True, graded=True))


cdef double dcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return s.dcg

declare(dcg, Card(
    "dcg", "discounted cumulated gain", "sum of label_i / log2(i + 1) over ranks i <= k", "0 if nothing has a gain",
    "trec_eval dcg; Järvelin and Kekäläinen 2002 with discount=jk2", range="0 up",
    params=(GAIN, DISCOUNT, EMPTY), cutoff=True, graded=True))

declare(dcg, Card(
    "dcg_burges", "discounted cumulated gain, exponential gains",
    "sum of (2^label_i - 1) / log2(i + 1) over ranks i <= k",
    "0 if nothing has a gain; a label above 1000 is an error", "Burges et al. 2005; ranx dcg_burges", range="0 up",
    params=(DISCOUNT, EMPTY), cutoff=True, graded=True, gain="exp2"))


cdef double ndcg(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return ratio(s.dcg, s.ideal_dcg)

declare(ndcg, Card(
    "ndcg", "normalised discounted cumulated gain", "DCG@k / DCG@k of the ideal ranking, gain = label",
    "0 if the ideal is 0: no judged document has a gain", "trec_eval ndcg, ndcg_cut",
    differs="scikit-learn, LightGBM and CatBoost take the ideal from the retrieved list: ideal=retrieved",
    params=(GAIN, DISCOUNT, IDEAL, EMPTY), cutoff=True, graded=True))

declare(ndcg, Card(
    "ndcg_burges", "normalised discounted cumulated gain, exponential gains",
    "DCG@k / DCG@k of the ideal ranking, gain = 2^label - 1",
    "0 if the ideal is 0: no judged document has a gain; a label above 1000 is an error",
    "Burges et al. 2005; ranx ndcg_burges, gdeval", params=(DISCOUNT, IDEAL, EMPTY),
    cutoff=True, graded=True, gain="exp2"))


cdef double rbp(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef double patience = p[0], total = 0.0, gain, weight = 1.0
    cdef double scale = <double>q.top if p[1] == 1.0 and q.top > 1 else 1.0
    cdef int64_t i, last = 1
    for i in range(q.num_hits):
        if q.ranks[i] > s.k:
            break
        if p[1] == 0.0:
            gain = 1.0 if q.labels[i] >= q.level else 0.0
        else:
            gain = <double>q.labels[i] / scale if q.labels[i] >= q.floor else 0.0
        if gain > 0.0:
            weight *= power(patience, q.ranks[i] - last)
            last = q.ranks[i]
            total += gain * weight
    return (1.0 - patience) * total

declare(rbp, Card(
    "rbp", "rank-biased precision", "(1 - p) * sum of g_i p^(i - 1) over ranks i <= k, g_i = 1 if relevant",
    "0 if nothing relevant is retrieved", "Moffat and Zobel 2008",
    range="0 to 1, or up to the largest label with gains=raw",
    differs="trec_eval scales labels to 1 and has p = 0.9: gains=scaled; ranx adds raw labels: gains=raw",
    params=(Param("p", 0.8, "persistence", (), 0, 1),
            Param("gains", "binary", "what a document adds: relevant or not, label over the query's largest, label",
                  ("binary", "scaled", "raw")), EMPTY), cutoff=True, dot="p"))


cdef double cascade(const int64_t* ranks, const int32_t* labels, int64_t n, int64_t k, int32_t floor,
                    int32_t top) noexcept nogil:
    """Expected reciprocal rank of labels at ranks (None: 1, 2, 3, ...) up to k."""
    cdef double total = 0.0, go_on = 1.0, satisfied
    cdef int64_t i, rank
    for i in range(n):
        rank = ranks[i] if ranks != NULL else i + 1
        if rank > k:
            break
        if labels[i] >= floor:
            satisfied = (1.0 - ldexp(1.0, -labels[i])) * ldexp(1.0, labels[i] - top)
            total += go_on * satisfied / <double>rank
            go_on *= 1.0 - satisfied
    return total


cdef int32_t scale_top(const Query* q, double max_grade) noexcept nogil:
    return q.top if max_grade < 0 else <int32_t>max_grade


cdef double err(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return cascade(q.ranks, q.labels, q.num_hits, s.k, q.floor, scale_top(q, p[0]))

declare(err, Card(
    "err", "expected reciprocal rank",
    "sum of R_i / i * prod_{j<i} (1 - R_j) over ranks i <= k, R = (2^label - 1) / 2^max_grade",
    "0 if nothing has a gain; a label above max_grade is an error", "Chapelle et al. 2009; gdeval at k = 20",
    params=(MAX_GRADE, EMPTY), cutoff=True, graded=True))


cdef double nerr(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef int32_t top = scale_top(q, p[0])
    return ratio(cascade(q.ranks, q.labels, q.num_hits, s.k, q.floor, top),
                 cascade(NULL, q.ideal, q.num_ideal, s.k, q.floor, top))

declare(nerr, Card(
    "nerr", "normalised expected reciprocal rank", "ERR@k / ERR@k of the ideal ranking",
    "0 if the ideal is 0: no judged document has a gain; a label above max_grade is an error",
    "Chapelle et al. 2009", params=(MAX_GRADE, IDEAL, EMPTY), cutoff=True, graded=True))


CARDS = tuple(_cards)
