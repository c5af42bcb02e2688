"""Preferences: in how many pairs of documents with different labels the better document is above the other.

A query's labels are the preferences of one judge, and are counted here. A metric's block says also what it makes of
several judges, whose preferences judges.py counts by the same rules. A document that was not retrieved is below
those that were, and a pair of two such documents is in no order. No metric looks at the sizes of labels, but two make 0
special: there a document of label 0 is not relevant, and as many of these count as there are relevant ones.

Pairs are counted, not visited: pairs of retrieved documents by a merge sort of their labels, the others from how many
judged documents have a higher or lower label.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t

from fastir.engine.measure._arithmetic cimport ratio
from fastir.engine.measure._registry cimport Query, Snapshot, declare, metric_fn
from fastir.engine.measure._sort cimport labels_from

from fastir.engine.measure.cards import INF, Card


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
        direction="neither", rank_sensitive=False),
    "possible", "all")


cdef double num_prefs_ful(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Pairs pairs = count_pairs(q, False)
    return <double>(pairs.both_right + pairs.one_right)

declare_pairs(num_prefs_ful, count(
    "prefs_num_prefs_ful", "number of preferences fulfilled",
    "pairs whose better document stands above the other, or is the only one retrieved, over all judges"),
    "fulfilled", "all")


cdef double num_prefs_ful_ret(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    return <double>count_pairs(q, False).both_right

declare_pairs(num_prefs_ful_ret, count(
    "prefs_num_prefs_ful_ret", "number of preferences fulfilled, between retrieved documents",
    "pairs of retrieved documents whose better one stands above the other, over all judges"),
    "fulfilled", "retrieved")


cdef double share_of_pairs(const Query* q, const Snapshot* s, const double* p) noexcept nogil:
    cdef Pairs pairs = count_pairs(q, False)
    return ratio(<double>(pairs.both_right + pairs.one_right), <double>pairs.all)

declare_pairs(share_of_pairs, share(
    "prefs_simp", "share of preferences fulfilled", "prefs_num_prefs_ful / prefs_num_prefs_poss"),
    "pooled", "all")

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
    "pooled", "retrieved")

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
    "pooled", "implied")

declare_pairs(share_implied, share(
    "prefs_pair_imp", "share of preferences fulfilled, every pair with a retrieved document alike",
    BY_PAIR + "prefs_simp_imp"),
    "by_pair", "implied")

declare_pairs(share_implied, share(
    "prefs_avgjg_imp", "share of preferences fulfilled, where a document was retrieved, every judge alike",
    BY_JUDGE + "prefs_simp_imp"),
    "by_judge", "implied")
