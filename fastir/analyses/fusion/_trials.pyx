"""Many settings of one method, each measured on each query: no run is built, no id is read.

    documents of a query, in the order of ids     3.2 1.0 0.0 ...    features in run 1, and in run 2 below
    judged ones among them                        ^       ^          positions and labels: the hits

In: the lists that Fusion made of every query, the hits, all labels of the qrels, and Recipes. Out: a row of values for
each query in each setting. A row is the fused scores of all documents; then a hit's rank, one plus the scores above its
own and those equal to it before it: documents are in the order in which ties are decided, so no id is read. A hit with
so many scores above it that no metric looks there is left out. If hits are many and metrics look deep, the scores are
sorted instead. The ranks are measured by the same kernel as a run's ranks, so values have the bits of `evaluate`.

Rows of one query are neighbours: if runs are few, the method adds, and settings share the features, its lists are laid
out as a matrix once, which stays in the first-level cache from setting to setting.
"""

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int32_t, int64_t
from libc.stdlib cimport free, malloc

from fastir.analyses.fusion._recipe cimport (
    MANY, Lists, Recipe, Recipes, absent_value, combine, combine_lists, majority, values_by_rank,
)
from fastir.analyses.fusion._sorting cimport sort_by_score
from fastir.engine.measure._codes cimport ALL, NO_MEMORY
from fastir.engine.measure._measure cimport Plan, Scratch, grow, is_hit, label_code
from fastir.engine.rank._judged_ranks cimport Rows
from fastir.engine.rank._simd cimport count_scores
from fastir.engine.rank._sorted_rows cimport Entry
from fastir.engine.threads._blocks cimport MAX_THREADS

import numpy as np

from fastir.analyses.fusion._recipe import FEATURES, RULES
from fastir.engine.columns.rows import offsets_from_sizes

cdef int SEGMENTS = FEATURES.index("segments")
cdef int LINEAR = RULES.index("linear")
cdef int MAJORITY = RULES.index("majority")

cdef enum:
    COUNTED = 16            # hits up to which counting is faster than sorting
    SHALLOW = 8             # or if no metric looks below an eighth of the documents, where most hits soon prove to be
    STRETCH = 256           # scores that are counted before hits with too many above them are left out
    NO_HIT = -128           # less than any code of a label


cdef class TrialValues(Rows):
    """Measures settings on queries.

    Parameters
    ----------
    plan : Plan
    recipes : Recipes
    n_settings : int
    starts, docs, runs, features, ranks : int32 arrays, the features float64
        The lists, as Fusion makes them. Where features differ between settings, they are scores for "segments", else
        have no slots; only then there are ranks.
    sizes : int64 array of shape (n_runs, n_queries)
        How long each ranking is.
    single : bool
        Whether fused scores are compared in single precision.
    left_out : int64 array of shape (n_queries,)
        The position of a document that is taken out of each ranking; -1 if there is none.
    n_docs : int64 array of shape (n_queries,)
    offsets, positions, labels : int64, int64 and int32 arrays
        Each query's hits: their positions among its documents, from 0, and labels.
    ideal_offsets, ideal_labels : int64 and int32 arrays
        All labels of each query, best first.
    values : float64 array of shape (n_queries * n_settings, 1), filled
    """

    cdef Recipes recipes
    cdef const double[::1] features
    cdef const int32_t[::1] starts, docs, runs, ranks
    cdef const int64_t[::1] bases, left_out, n_docs, offsets, positions, ideal_offsets
    cdef const int64_t[:, ::1] sizes
    cdef const int32_t[::1] labels, ideal_labels
    cdef int64_t most, n_runs, n_settings, depth    # `depth`: below it the plan reads no hit
    cdef int64_t most_rows                          # of a query
    cdef bint single, is_matrix
    cdef double* rooms[MAX_THREADS]     # made by the threads: `most` numbers for each array of scores
    cdef double* matrices[MAX_THREADS]  # and the features of few runs as a matrix, or values in two orders
    cdef int64_t queries[MAX_THREADS]   # whose matrix that is

    def __init__(self, Plan plan, Recipes recipes, int64_t n_settings, const int32_t[::1] starts,
                 const int32_t[::1] docs, const int32_t[::1] runs, const double[::1] features,
                 const int32_t[::1] ranks, const int64_t[:, ::1] sizes, bint single,
                 const int64_t[::1] left_out, const int64_t[::1] n_docs, const int64_t[::1] offsets,
                 const int64_t[::1] positions, const int32_t[::1] labels, const int64_t[::1] ideal_offsets,
                 const int32_t[::1] ideal_labels, double[:, ::1] values):
        self.begin(plan, values)
        self.recipes, self.features, self.n_docs = recipes, features, n_docs
        self.starts, self.docs, self.runs, self.ranks = starts, docs, runs, ranks
        self.bases = offsets_from_sizes(np.asarray(sizes).sum(0))
        self.sizes, self.offsets, self.positions, self.labels = sizes, offsets, positions, labels
        self.ideal_offsets, self.ideal_labels = ideal_offsets, ideal_labels
        self.single, self.left_out = single, left_out
        self.n_runs, self.n_settings = sizes.shape[0], n_settings
        self.depth = INT64_MAX if plan.judged_only or plan.sorts else min(plan.deepest, plan.max_depth)
        self.most = max(np.max(n_docs, initial=1), 1) + self.n_runs
        self.most_rows = np.max(np.diff(self.bases), initial=1) + self.n_runs
        self.is_matrix = recipes.shared.rule == LINEAR and self.n_runs <= MANY and ranks.shape[0] == 0

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            free(self.rooms[t])
            free(self.matrices[t])

    cdef int measure_row(self, int thread, int64_t row) noexcept nogil:
        cdef Scratch* scratch = self.scratch[thread]
        cdef int64_t q = row // self.n_settings, n = self.n_docs[q], first = self.ideal_offsets[q]
        cdef int64_t n_pool = self.ideal_offsets[q + 1] - first, n_hits = self.offsets[q + 1] - self.offsets[q]
        cdef int64_t i, left_out = self.left_out[q]
        cdef double* scores
        cdef const int32_t* ideal = NULL
        if self.rooms[thread] == NULL:
            self.rooms[thread] = <double*>malloc((7 * self.most + 3 * self.n_runs + 1) * sizeof(double))
            self.matrices[thread] = <double*>malloc(
                (self.n_runs * self.most if self.is_matrix else 2 * self.most_rows) * sizeof(double))
            self.queries[thread] = -1
            if self.rooms[thread] == NULL or self.matrices[thread] == NULL:
                return NO_MEMORY
        if grow(scratch, self.plan, max(n if self.plan.reads == ALL else n_hits, n_pool)) < 0:
            return NO_MEMORY
        if n_hits > 0:
            scores = self.rooms[thread]
            self.fuse(thread, q, row % self.n_settings)
            if self.single:
                for i in range(n):
                    scores[i] = <float>scores[i]
            if left_out >= 0:
                scores[left_out] = -INFINITY        # below all others, and it is no hit
            if n_hits <= COUNTED or self.depth < n // SHALLOW:
                n_hits = self.count_ranks(scratch, self.rooms[thread], q)
            else:
                n_hits = self.sort_ranks(scratch, self.rooms[thread], q)
        if n_pool > 0:
            ideal = &self.ideal_labels[first]
        self.measure_hits(thread, row, n_hits, n - (left_out >= 0), ideal, n_pool)
        return 0

    cdef void fuse(self, int thread, int64_t q, int64_t setting) noexcept nogil:
        """The fused scores of a query's documents, at the beginning of the thread's room."""
        cdef Recipe recipe
        cdef Lists lists
        cdef double* room = self.rooms[thread]
        cdef double* features = self.matrices[thread]
        cdef Entry* entries = <Entry*>(room + 3 * self.most)
        cdef int64_t* sizes = <int64_t*>(room + 7 * self.most)
        cdef int64_t r, i, n = self.n_docs[q], row = self.bases[q], n_rows = self.bases[q + 1] - row, base = 0
        self.recipes.read(setting, &recipe)
        if self.is_matrix:
            if self.queries[thread] != q:
                self.lay_out(&recipe, thread, q)
            combine(&recipe, features, self.most, n, room)
            return
        lists.starts, lists.docs, lists.runs = &self.starts[row + q], &self.docs[row], &self.runs[row]
        lists.values = NULL
        if self.ranks.shape[0] == 0:
            lists.values = &self.features[row]
        lists.sizes, lists.absent = sizes, <double*>(sizes + self.n_runs)
        lists.before = lists.absent + self.n_runs
        for r in range(self.n_runs):
            sizes[r] = self.sizes[r, q]
        if lists.values == NULL:
            lists.values = features + self.most_rows
            for r in range(self.n_runs):        # where the values of each run begin
                (<int64_t*>lists.before)[r] = base
                values_by_rank(&recipe, r, NULL, sizes[r], n, features + base)
                base += sizes[r]
            for i in range(n_rows):
                features[self.most_rows + i] = features[
                    (<int64_t*>lists.before)[self.runs[row + i]] + self.ranks[row + i]]
                if recipe.feature == SEGMENTS:
                    features[self.most_rows + i] *= self.features[row + i] + 1.0
        if recipe.rule == MAJORITY:
            majority(&recipe, &lists, n, entries, entries + self.most, room)
        else:
            combine_lists(&recipe, &lists, n, room)

    cdef void lay_out(self, const Recipe* recipe, int thread, int64_t q) noexcept nogil:
        """The features of a query as a matrix."""
        cdef double* features = self.matrices[thread]
        cdef int64_t r, d, i, n = self.n_docs[q]
        cdef double absent
        for r in range(self.n_runs):
            absent = absent_value(recipe, self.sizes[r, q], n)
            for d in range(n):
                features[r * self.most + d] = absent
        for i in range(self.bases[q], self.bases[q + 1]):
            features[self.runs[i] * self.most + self.docs[i]] = self.features[i]
        self.queries[thread] = q

    cdef int64_t count_ranks(self, Scratch* scratch, double* room, int64_t q) noexcept nogil:
        """Put the hits that the plan reads, with their ranks, into the scratch, but those below `depth`; how many."""
        cdef int64_t h, i, j, k, size, n = self.n_docs[q], first = 0, left = 0, n_hits = 0
        cdef int64_t rank
        cdef double* levels = room + 3 * self.most
        cdef int64_t* above = <int64_t*>(levels + self.most)
        cdef int64_t* reach = above + self.most
        cdef int64_t* which = reach + self.most
        for h in range(self.offsets[q], self.offsets[q + 1]):
            if is_hit(label_code(self.labels[h]), self.plan.reads):
                levels[left], above[left], reach[left], which[left] = room[self.positions[h]], 0, 0, h
                left += 1
        while first < n and left > 0:
            size = min(n - first, <int64_t>STRETCH)
            count_scores(room + first, False, size, levels, left, above, reach)
            first += size
            k = 0
            for j in range(left):
                levels[k], above[k], reach[k], which[k] = levels[j], above[j], reach[j], which[j]
                k += above[j] < self.depth
            left = k
        for k in range(left):
            rank = above[k] + 1
            if reach[k] > rank:         # some score is equal: documents before it rank above
                for i in range(self.positions[which[k]]):
                    rank += room[i] == levels[k]
            j = n_hits
            while j > 0 and scratch.ranks[j - 1] > rank:
                scratch.ranks[j], scratch.labels[j] = scratch.ranks[j - 1], scratch.labels[j - 1]
                j -= 1
            scratch.ranks[j], scratch.labels[j] = rank, label_code(self.labels[which[k]])
            n_hits += 1
        return n_hits

    cdef int64_t sort_ranks(self, Scratch* scratch, double* room, int64_t q) noexcept nogil:
        """The same, by sorting all documents."""
        cdef int64_t h, i, n = self.n_docs[q], n_hits = 0
        cdef Entry* entries = <Entry*>(room + 3 * self.most)
        cdef int32_t* by_place = <int32_t*>(room + self.most)
        cdef int32_t label
        sort_by_score(room, n, NULL, 0, entries, entries + self.most)
        for i in range(n):
            by_place[i] = NO_HIT
        for h in range(self.offsets[q], self.offsets[q + 1]):
            label = label_code(self.labels[h])
            if is_hit(label, self.plan.reads):
                by_place[self.positions[h]] = label
        for i in range(n):
            if by_place[entries[i].place] != NO_HIT:
                scratch.ranks[n_hits], scratch.labels[n_hits] = i + 1, by_place[entries[i].place]
                n_hits += 1
        return n_hits
