"""What a document counts in each run, its features, and how a method puts these together to one score.

    scores of a run, in rank order ── normalize ──▶ scores ─┐
    ranks ── values_by_rank ──▶ a number for each rank ─────┴─▶ features ── combine_lists ──▶ fused scores

The features of a document are a list: those of the runs that have it, in the order of the runs. So memory and time grow
with the rows, not with documents times runs. A sum with a number for each run that lacks the document adds these one by
one, too; only in a gap of more than MANY runs it adds them as one difference.

tune() lays the features of few runs out as a matrix, because a loop over it is vector code. It adds in the order of the
runs, so both give the same bits.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memmove, memset

from fastir.analyses.fusion._sorting cimport merge
from fastir.engine.rank._sorted_rows cimport Entry, falling_key, sort_entries

FEATURES = ("score", "table", "segments", "parts", "window", "borda")
NORMS = (None, "min-max", "min-max-inverted", "max", "sum", "zmuv", "rank", "borda")
RULES = ("linear", "counted", "mean", "product", "min", "max", "median", "majority")

cdef enum:
    SCORE, TABLE, SEGMENTS, PARTS, WINDOW, BORDA_POINTS     # as in FEATURES

cdef enum:
    AS_IT_IS, MIN_MAX, INVERTED, BY_MAX, BY_SUM, ZMUV, BY_RANK, BORDA     # as in NORMS

cdef enum:
    LINEAR, COUNTED, MEAN, PRODUCT, SMALLEST, LARGEST, MEDIAN, MAJORITY     # as in RULES

cdef enum:
    INSERTED = 32           # scores up to which a median is found by insertion

cdef double LEAST = 1e-9    # by which a norm divides at least


cdef class Recipes:
    """A method in all its settings.

    Parameters
    ----------
    feature, norm, rule : words of FEATURES, NORMS and RULES
    absent : float
    weights : float64 array of shape (n_settings, n_runs)
    factors : float64 array of shape (n_settings, n_runs + 1)
    tables : float64 array of shape (n_settings or 1, n_runs or 1, width)
    windows : int64 array of shape (n_settings,)
    """

    def __init__(self, feature, norm, rule, double absent, const double[:, ::1] weights, const double[:, ::1] factors,
                 const double[:, :, ::1] tables, const int64_t[::1] windows):
        self.weights, self.factors, self.tables, self.windows = weights, factors, tables, windows
        self.shared.n_runs = weights.shape[1]
        self.shared.feature, self.shared.norm = FEATURES.index(feature), NORMS.index(norm)
        self.shared.rule, self.shared.absent = RULES.index(rule), absent
        self.shared.width = tables.shape[2]
        self.shared.stride = tables.shape[2] if tables.shape[1] > 1 else 0

    cdef void read(self, int64_t setting, Recipe* recipe) noexcept nogil:
        recipe[0] = self.shared
        recipe.weights, recipe.factors = &self.weights[setting, 0], &self.factors[setting, 0]
        recipe.window = self.windows[setting]
        if recipe.width > 0:
            recipe.table = &self.tables[setting if self.tables.shape[0] > 1 else 0, 0, 0]


cdef void normalize(int norm, double* scores, int64_t n) noexcept nogil:
    """Change the scores of one ranking, which do not rise (with INVERTED do not fall), as a norm does."""
    cdef int64_t i
    cdef double shift = 0.0, divisor = 0.0, total = 0.0
    if norm == AS_IT_IS or norm == BORDA or n == 0:
        return
    if norm == BY_RANK:
        for i in range(n):
            scores[i] = 1.0 - <double>i / <double>n
        return
    if norm == INVERTED:
        shift = scores[n - 1]
        divisor = max(shift - scores[0], LEAST)
        for i in range(n):
            scores[i] = (shift - scores[i]) / divisor
        return
    if norm == MIN_MAX:
        shift = scores[n - 1]
        divisor = scores[0] - shift
    elif norm == BY_MAX:
        divisor = scores[0]
    else:
        for i in range(n):
            total += scores[i]
        if norm == BY_SUM:
            shift = scores[n - 1]
            divisor = total - shift * n
        else:
            shift = total / n
            for i in range(n):
                divisor += (scores[i] - shift) * (scores[i] - shift)
            divisor = sqrt(divisor / n)
    divisor = max(divisor, LEAST)
    for i in range(n):
        scores[i] = (scores[i] - shift) / divisor


cdef bint counts_absent(const Recipe* recipe) noexcept nogil:
    """Whether a document counts in runs that lack it."""
    return recipe.feature == BORDA_POINTS or (recipe.feature == SCORE and recipe.norm == BORDA) or (
        recipe.rule == LINEAR and recipe.absent != 0.0)


cdef double absent_value(const Recipe* recipe, int64_t n, int64_t n_docs) noexcept nogil:
    """What a document counts that a ranking of n documents lacks."""
    if recipe.feature == SCORE and recipe.norm == BORDA:
        return 0.5 - <double>(n - 1) / <double>(2 * n_docs)
    if recipe.feature == BORDA_POINTS:
        return <double>(n_docs - n + 1) / 2.0
    return recipe.absent


cdef void values_by_rank(const Recipe* recipe, int64_t run, const double* scores, int64_t n, int64_t n_docs,
                         double* values) noexcept nogil:
    """What the n documents of a ranking count by rank, and behind them what a missing document counts.

    Parameters
    ----------
    scores : normalized, in rank order; NULL where the caller multiplies the values of SEGMENTS himself
    n_docs : how many documents all rankings of the query have
    """
    cdef int64_t i, first, stop, size, width = recipe.width
    cdef double share
    cdef const double* table = recipe.table + run * recipe.stride if width > 0 else NULL
    values[n] = absent_value(recipe, n, n_docs)
    if recipe.feature == SCORE and recipe.norm != BORDA:
        memcpy(values, scores, n * sizeof(double))
    elif recipe.feature == SCORE:
        for i in range(n):
            values[i] = 1.0 - <double>i / <double>n_docs
    elif recipe.feature == BORDA_POINTS:
        for i in range(n):
            values[i] = <double>(n_docs - i)
    elif recipe.feature == PARTS:
        size = max((n + recipe.window - 1) // recipe.window, <int64_t>1)
        for i in range(n):
            values[i] = table[i // size] / <double>(i // size + 1)
    elif recipe.feature == WINDOW:      # the table is of sums over the ranks before each
        for i in range(n):
            first, stop = max(i - recipe.window, <int64_t>0), min(i + recipe.window + 1, n)
            share = <double>(stop - first)
            values[i] = (table[min(stop, width - 1)] - table[min(first, width - 1)]) / share
    else:
        for i in range(n):
            values[i] = table[i] if i < width else recipe.absent
        if recipe.feature == SEGMENTS and scores != NULL:
            for i in range(n):
                values[i] *= scores[i] + 1.0


cdef int falling(const void* a, const void* b) noexcept nogil:
    return ((<const double*>a)[0] < (<const double*>b)[0]) - ((<const double*>a)[0] > (<const double*>b)[0])


cdef double median(double* some, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef double value
    if n > INSERTED:
        qsort(some, n, sizeof(double), falling)
    for i in range(1, n if n <= INSERTED else 0):
        value = some[i]
        j = i
        while j > 0 and some[j - 1] > value:
            some[j] = some[j - 1]
            j -= 1
        some[j] = value
    return some[n // 2] if n % 2 else (some[n // 2 - 1] + some[n // 2]) / 2.0


cdef double fused_score(const Recipe* recipe, const int32_t* runs, const double* values, int64_t n,
                        double* room) noexcept nogil:
    """The fused score of a document that n runs have, each with a feature; not by LINEAR. NULL: all runs have it."""
    cdef int64_t i, r
    cdef double total = 0.0, weight = 0.0, value = values[0]
    if recipe.rule == MEDIAN:
        memmove(room, values, n * sizeof(double))
        return median(room, n)
    if recipe.rule == SMALLEST or recipe.rule == LARGEST:
        for i in range(1, n):
            value = min(value, values[i]) if recipe.rule == SMALLEST else max(value, values[i])
        return value
    for i in range(n):
        r = i if runs == NULL else runs[i]
        total += recipe.weights[r] * values[i] if recipe.rule == COUNTED else values[i]
        weight += recipe.weights[r]
    return scaled(recipe, total, n) if recipe.rule != PRODUCT else total * weight


cdef inline double scaled(const Recipe* recipe, double total, int64_t n) noexcept nogil:
    """A sum over n runs, as COUNTED and MEAN take it."""
    return total * recipe.factors[n] if recipe.rule == COUNTED else total / n


cdef double sum_of_all(const Recipe* recipe, const int32_t* runs, const double* values, int64_t n,
                       const double* absent, const double* before) noexcept nogil:
    """The weighted sum over all runs, of which n have the document.

    Parameters
    ----------
    absent, before : what a document that a run lacks adds, and the sum of these over the runs before each and over all
    """
    cdef int64_t i, r = 0, next_run
    cdef double total = 0.0
    for i in range(n + 1):
        next_run = runs[i] if i < n else recipe.n_runs
        if next_run - r > MANY:
            total += before[next_run] - before[r]
        else:
            for r in range(r, next_run):
                total += absent[r]
        if i < n:
            total += recipe.weights[next_run] * values[i]
        r = next_run + 1
    return total


cdef void combine_lists(const Recipe* recipe, const Lists* lists, int64_t n_docs, double* fused) noexcept nogil:
    """The fused scores of documents; by MAJORITY, their Borda points."""
    cdef int64_t d, i, first, n
    cdef bint whole = counts_absent(recipe), adds = recipe.rule == LINEAR or recipe.rule == MAJORITY
    cdef double total = 0.0
    if whole:
        for i in range(recipe.n_runs):
            lists.before[i] = total
            lists.absent[i] = absent_value(recipe, lists.sizes[i], n_docs) * (recipe.weights[i] if adds else 1.0)
            total += lists.absent[i]
        lists.before[recipe.n_runs] = total
    elif adds or recipe.rule == COUNTED or recipe.rule == MEAN:     # row by row: no short loops, which cost time
        memset(fused, 0, n_docs * sizeof(double))
        for i in range(lists.starts[n_docs]):
            fused[lists.docs[i]] += lists.values[i] * (recipe.weights[lists.runs[i]] if recipe.rule != MEAN else 1.0)
        for d in range(0 if adds else n_docs):
            fused[d] = scaled(recipe, fused[d], lists.starts[d + 1] - lists.starts[d])
        return
    for d in range(n_docs):
        first, n = lists.starts[d], lists.starts[d + 1] - lists.starts[d]
        if whole and adds:
            fused[d] = sum_of_all(recipe, lists.runs + first, lists.values + first, n, lists.absent, lists.before)
        elif whole:
            memcpy(lists.before, lists.absent, recipe.n_runs * sizeof(double))
            for i in range(first, first + n):
                lists.before[lists.runs[i]] = lists.values[i]
            fused[d] = fused_score(recipe, NULL, lists.before, recipe.n_runs, lists.before)
        else:
            fused[d] = fused_score(recipe, lists.runs + first, lists.values + first, n, lists.before)


cdef void combine(const Recipe* recipe, const double* features, int64_t stride, int64_t n,
                  double* fused) noexcept nogil:
    """The fused scores of n documents by LINEAR; the features in run r begin at ``r * stride``."""
    cdef int64_t i, r
    cdef const double* x = features
    cdef const double* y = features + stride
    cdef double v = recipe.weights[0], w = recipe.weights[1]
    for i in range(n):
        fused[i] = v * x[i] + w * y[i]
    for r in range(2, recipe.n_runs):
        x = features + r * stride
        v = recipe.weights[r]
        for i in range(n):
            fused[i] += v * x[i]


cdef struct Ballot:
    const Recipe* recipe
    const Lists* lists


cdef bint has_majority(const void* ballot, int64_t a, int64_t b) noexcept nogil:
    """Whether runs of more weight rank document a before b than b before a; one that lacks a document ranks it last."""
    cdef const double* weights = (<const Ballot*>ballot).recipe.weights
    cdef const Lists* lists = (<const Ballot*>ballot).lists
    cdef const int32_t* runs = lists.runs
    cdef const double* points = lists.values
    cdef int64_t i = lists.starts[a], j = lists.starts[b], last = lists.starts[a + 1], end = lists.starts[b + 1]
    cdef double votes = 0.0
    while i < last or j < end:
        if j == end or (i < last and runs[i] < runs[j]):
            votes += weights[runs[i]]
            i += 1
        elif i == last or runs[j] < runs[i]:
            votes -= weights[runs[j]]
            j += 1
        else:
            votes += weights[runs[i]] if points[i] > points[j] else -weights[runs[i]]
            i += 1
            j += 1
    return votes > 0.0


cdef void majority(const Recipe* recipe, const Lists* lists, int64_t n, Entry* entries, Entry* spare,
                   double* fused) noexcept nogil:
    """n, n - 1, ..., 1 for documents in the order of majorities between two of them, as merge sort finds it.

    Majorities can go in circles, and tie: the order before decides, which is by Borda points, and
    where these are equal by the ids, in whose order the documents come.

    Parameters
    ----------
    lists : of Borda points
    """
    cdef int64_t i
    cdef Ballot ballot = Ballot(recipe, lists)
    combine_lists(recipe, lists, n, fused)
    for i in range(n):
        entries[i].key, entries[i].place = falling_key(fused[i]), <uint32_t>i
    sort_entries(entries, spare, n, 0, True)
    merge(entries, spare, n, has_majority, &ballot)
    for i in range(n):
        fused[entries[i].place] = <double>(n - i)
