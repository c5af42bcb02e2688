"""What a document counts in each run, its features, and how a method puts these together to one score.

    scores of a run, in rank order ── normalize ──▶ scores ─┐
    ranks ── values_by_rank ──▶ a number for each rank ─────┴─▶ features ── combine ──▶ fused scores

fuse() and tune() run the same functions, so that a setting that was tuned gives the same bits when it is applied. Sums
go over the runs in their order, one run after the other over all documents: a loop that compilers turn into vector
code, which adds in the same order for each document. A feature of NaN: the document is missing from that run.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

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

cdef double LEAST = 1e-9    # by which a norm divides at least


cdef class Recipes:
    """A method in all its settings.

    Parameters
    ----------
    feature, norm, rule : words of FEATURES, NORMS and RULES
    absent : float
    weights : float64 array of shape (n_settings, n_runs)
    factors : float64 array of shape (n_settings, n_runs + 1)
    tables : float64 array of shape (n_settings or 1, n_runs, width)
    windows : int64 array of shape (n_settings,)
    """

    def __init__(self, feature, norm, rule, double absent, const double[:, ::1] weights, const double[:, ::1] factors,
                 const double[:, :, ::1] tables, const int64_t[::1] windows):
        self.weights, self.factors, self.tables, self.windows = weights, factors, tables, windows
        self.shared.n_runs = weights.shape[1]
        self.shared.feature, self.shared.norm = FEATURES.index(feature), NORMS.index(norm)
        self.shared.rule, self.shared.absent = RULES.index(rule), absent
        self.shared.width = self.shared.stride = tables.shape[2]

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
    values[n] = recipe.absent
    if recipe.feature == SCORE and recipe.norm != BORDA:
        memcpy(values, scores, n * sizeof(double))
    elif recipe.feature == SCORE:
        for i in range(n):
            values[i] = 1.0 - <double>i / <double>n_docs
        values[n] = 0.5 - <double>(n - 1) / <double>(2 * n_docs)
    elif recipe.feature == BORDA_POINTS:
        for i in range(n):
            values[i] = <double>(n_docs - i)
        values[n] = <double>(n_docs - n + 1) / 2.0
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


cdef double median(double* some, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef double value
    for i in range(1, n):
        value = some[i]
        j = i
        while j > 0 and some[j - 1] > value:
            some[j] = some[j - 1]
            j -= 1
        some[j] = value
    return some[n // 2] if n % 2 else (some[n // 2 - 1] + some[n // 2]) / 2.0


cdef double fused_score(const Recipe* recipe, const double* features, int64_t stride, double* room) noexcept nogil:
    """The fused score of a document, of whose features those that are not NaN count."""
    cdef int64_t r, count = 0
    cdef double value, total = 0.0, weight = 0.0
    for r in range(recipe.n_runs):
        value = features[r * stride]
        if value != value:
            continue
        room[count] = value
        count += 1
        total += recipe.weights[r] * value if recipe.rule == COUNTED else value
        weight += recipe.weights[r]
    if recipe.rule == COUNTED:
        return total * recipe.factors[count]
    if recipe.rule == MEAN:
        return total / count
    if recipe.rule == PRODUCT:
        return total * weight
    if recipe.rule == MEDIAN:
        return median(room, count)
    value = room[0]
    for r in range(1, count):
        value = min(value, room[r]) if recipe.rule == SMALLEST else max(value, room[r])
    return value


cdef void combine(const Recipe* recipe, const double* features, int64_t stride, int64_t n, double* room,
                  double* fused) noexcept nogil:
    """The fused scores of n documents.

    Parameters
    ----------
    features : run r begins at ``r * stride``
    room : workspace of n_runs numbers
    """
    cdef int64_t i, r
    cdef const double* x = features
    cdef const double* y = features + stride
    cdef double v = recipe.weights[0], w
    if recipe.rule != LINEAR:
        for i in range(n):
            fused[i] = fused_score(recipe, features + i, stride, room)
        return
    if recipe.n_runs == 1:
        for i in range(n):
            fused[i] = v * x[i]
        return
    w = recipe.weights[1]
    for i in range(n):
        fused[i] = v * x[i] + w * y[i]
    for r in range(2, recipe.n_runs):
        x = features + r * stride
        v = recipe.weights[r]
        for i in range(n):
            fused[i] += v * x[i]


cdef struct Ballot:
    const Recipe* recipe
    const int32_t* places
    int64_t stride


cdef bint has_majority(const void* ballot, int64_t a, int64_t b) noexcept nogil:
    """Whether runs of more weight rank document a before b than b before a."""
    cdef const Ballot* all = <const Ballot*>ballot
    cdef const int32_t* places = all.places
    cdef int64_t r
    cdef double votes = 0.0
    for r in range(all.recipe.n_runs):
        votes += all.recipe.weights[r] * <double>((places[a] < places[b]) - (places[a] > places[b]))
        places += all.stride
    return votes > 0.0


cdef void majority(const Recipe* recipe, const int32_t* places, int64_t stride, const int64_t* sizes, int64_t n,
                   Entry* entries, Entry* spare, double* fused) noexcept nogil:
    """n, n - 1, ..., 1 for documents in the order of majorities between two of them, as merge sort finds it.

    Majorities can go in circles, and tie: the order before decides, which is by Borda points, and
    where these are equal by the ids, in whose order the documents come.

    Parameters
    ----------
    places : of run r from ``r * stride`` on, ``sizes[r]`` for a missing document
    """
    cdef int64_t i, r
    cdef double points
    cdef Ballot ballot = Ballot(recipe, places, stride)
    for i in range(n):
        points = 0.0
        for r in range(recipe.n_runs):
            points += recipe.weights[r] * (<double>(n - places[r * stride + i]) if places[r * stride + i] < sizes[r]
                                           else <double>(n - sizes[r] + 1) / 2.0)
        entries[i].key, entries[i].place = falling_key(points), <uint32_t>i
    sort_entries(entries, spare, n, 0, True)
    merge(entries, spare, n, has_majority, &ballot)
    for i in range(n):
        fused[entries[i].place] = <double>(n - i)
