"""Rankings that were judged before: per query the ranks and labels of the judged documents, and all its judgments.

    offsets        0     2  3        a query's hits: ranks from 1 up, rising, and their labels
    ranks          1  4  7 ...
    labels         2  0  1 ...       -1: in the pool, without a judgment
    ideal_labels   3  2  1  0  0     all judgments, best first, with offsets of their own

Nothing is ranked here: the hits are copied to the scratch of a thread, those that the plan reads, and measured. What
comes in was checked before. Threads take blocks of rows: of JudgedRanks a row is a query, of unjudged._labelings one
labeling of a query.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.measure._codes cimport ALL, NO_MEMORY
from fastir.engine.measure._measure cimport Judgments, Plan, Scratch, grow, is_hit, label_code, measure, release
from fastir.engine.measure._sort cimport labels_from
from fastir.engine.threads._blocks cimport Blocks, block_count

cdef int64_t BLOCK_ROWS = 64     # rows


cdef class Rows(Blocks):
    """Rows of values, each of one ranking; the hits of a row are put into the scratch of its thread by a subclass."""

    cdef int begin(self, Plan plan, double[:, ::1] values) except -1:
        self.plan, self.values, self.n_rows = plan, values, values.shape[0]
        self.n_blocks = block_count(self.n_rows, BLOCK_ROWS)
        return 0

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            if self.scratch[t] != NULL:
                release(self.scratch[t])
                free(self.scratch[t])

    cdef int measure_row(self, int thread, int64_t row) noexcept nogil:
        """A row of values; 0 or NO_MEMORY."""
        return NO_MEMORY

    cdef void measure_hits(self, int thread, int64_t row, int64_t n_hits, int64_t num_ret, const int32_t* labels,
                           int64_t n) noexcept nogil:
        """Measure the hits in the scratch of a thread against all n labels of their query, best first."""
        cdef Judgments judgments
        judgments.labels = labels
        judgments.n_pool = n
        judgments.n_positive = labels_from(labels, n, 1)
        judgments.n_judged = labels_from(labels, n, 0)
        judgments.retrieved = False
        measure(self.plan, self.scratch[thread], n_hits, num_ret, &judgments, &self.values[row, 0])

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t row
        cdef int problem = 0
        cdef fenv_t callers
        if self.scratch[thread] == NULL:
            self.scratch[thread] = <Scratch*>calloc(1, sizeof(Scratch))
            if self.scratch[thread] == NULL:
                return NO_MEMORY
        ordinary(&callers)
        for row in range(block * BLOCK_ROWS, min((block + 1) * BLOCK_ROWS, self.n_rows)):
            problem = self.measure_row(thread, row)
            if problem:
                break
        fesetenv(&callers)
        return problem

    def check(self):
        """Raise MemoryError if a block failed."""
        if self.failed:
            raise MemoryError


cdef class JudgedRanks(Rows):
    """Measures judged rankings, query by query; int64 and int32 arrays as `collecting_plan` fills them.

    `values` is float64 of shape (n_queries, n_slots), filled. A plan of expected values needs the `lasts`, too.
    """

    cdef const int64_t[::1] offsets, ideal_offsets, ranks, num_ret, lasts
    cdef const int32_t[::1] labels, ideal_labels

    def __cinit__(self, Plan plan, const int64_t[::1] offsets, const int64_t[::1] ranks, const int32_t[::1] labels,
                  const int64_t[::1] num_ret, const int64_t[::1] ideal_offsets, const int32_t[::1] ideal_labels,
                  double[:, ::1] values, const int64_t[::1] lasts=None):
        if plan.average and lasts is None:
            raise ValueError("expected values need the last rank of each tie")
        self.begin(plan, values)
        self.lasts = lasts
        self.offsets, self.ranks, self.labels, self.num_ret = offsets, ranks, labels, num_ret
        self.ideal_offsets, self.ideal_labels = ideal_offsets, ideal_labels

    cdef int measure_row(self, int thread, int64_t row) noexcept nogil:
        cdef Scratch* scratch = self.scratch[thread]
        cdef int64_t i, n_hits = 0, first = self.ideal_offsets[row], n_pool = self.ideal_offsets[row + 1] - first
        cdef int64_t n = self.offsets[row + 1] - self.offsets[row]
        if grow(scratch, self.plan,
                max(self.num_ret[row] if self.plan.reads == ALL or self.plan.average else n, n_pool)) < 0:
            return NO_MEMORY
        for i in range(self.offsets[row], self.offsets[row + 1]):
            if is_hit(label_code(self.labels[i]), self.plan.reads):
                scratch.ranks[n_hits] = self.ranks[i]
                if self.plan.average:
                    scratch.lasts[n_hits] = self.lasts[i]
                scratch.labels[n_hits] = label_code(self.labels[i])
                n_hits += 1
        self.measure_hits(thread, row, n_hits, self.num_ret[row],
                          &self.ideal_labels[first] if n_pool > 0 else NULL, n_pool)
        return 0
