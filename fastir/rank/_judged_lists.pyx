"""Rankings that were judged before: per query the ranks and labels of the judged documents, and all its judgments.

    offsets        0     2  3        a query's hits: ranks from 1 up, rising, and their labels
    ranks          1  4  7 ...
    labels         2  0  1 ...       -1: in the pool, without a judgment
    ideal_labels   3  2  1  0  0     all judgments, best first, with offsets of their own

Nothing is ranked here: the hits are copied to the scratch of a thread, those that the plan reads, and measured. What
comes in was checked before. Threads take blocks of queries.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.measure._codes cimport ALL, NO_MEMORY
from fastir.measure._measure cimport Judgments, Plan, Scratch, grow, is_hit, label_code, measure, release
from fastir.measure._sort cimport labels_from
from fastir.threads._blocks cimport MOST_THREADS, Blocks, blocks_of

cdef int64_t BLOCK = 64     # queries


cdef class JudgedLists(Blocks):
    """Measures judged rankings.

    Parameters
    ----------
    plan : Plan
    offsets, ideal_offsets : int64 arrays of shape (n_queries + 1,)
    ranks, labels : int64 and int32 arrays of shape (n_hits,)
    num_ret : int64 array of shape (n_queries,)
    ideal_labels : int32 array of shape (n_judgments,)
    values : float64 array of shape (n_queries, n_slots), filled
    """

    cdef Plan plan
    cdef const int64_t[::1] offsets, ideal_offsets, ranks, num_ret
    cdef const int32_t[::1] labels, ideal_labels
    cdef double[:, ::1] values
    cdef Scratch* desks[MOST_THREADS]

    def __cinit__(self, Plan plan, const int64_t[::1] offsets, const int64_t[::1] ranks, const int32_t[::1] labels,
                  const int64_t[::1] num_ret, const int64_t[::1] ideal_offsets, const int32_t[::1] ideal_labels,
                  double[:, ::1] values):
        self.plan, self.offsets, self.ranks, self.labels, self.num_ret = plan, offsets, ranks, labels, num_ret
        self.ideal_offsets, self.ideal_labels, self.values = ideal_offsets, ideal_labels, values
        self.n_blocks = blocks_of(num_ret.shape[0], BLOCK)

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            if self.desks[t] != NULL:
                release(self.desks[t])
                free(self.desks[t])

    cdef int measure_query(self, Scratch* desk, int64_t q) noexcept nogil:
        """A row of values; 0 or NO_MEMORY."""
        cdef int64_t i, n_hits = 0, first = self.ideal_offsets[q]
        cdef int64_t n = self.offsets[q + 1] - self.offsets[q], room = self.num_ret[q] if self.plan.reads == ALL else n
        cdef Judgments known
        known.n_pool = self.ideal_offsets[q + 1] - first
        if grow(desk, self.plan, max(room, known.n_pool)) < 0:
            return NO_MEMORY
        for i in range(self.offsets[q], self.offsets[q + 1]):
            if is_hit(label_code(self.labels[i]), self.plan.reads):
                desk.ranks[n_hits] = self.ranks[i]
                desk.labels[n_hits] = label_code(self.labels[i])
                n_hits += 1
        known.labels = &self.ideal_labels[first] if known.n_pool > 0 else NULL
        known.n_positive = labels_from(known.labels, known.n_pool, 1)
        known.n_judged = labels_from(known.labels, known.n_pool, 0)
        known.retrieved = False
        known.values = NULL
        measure(self.plan, desk, n_hits, self.num_ret[q], &known, &self.values[q, 0])
        return 0

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t q
        cdef int problem = 0
        cdef fenv_t callers
        if self.desks[thread] == NULL:
            self.desks[thread] = <Scratch*>calloc(1, sizeof(Scratch))
            if self.desks[thread] == NULL:
                return NO_MEMORY
        ordinary(&callers)
        for q in range(block * BLOCK, min((block + 1) * BLOCK, self.num_ret.shape[0])):
            problem = self.measure_query(self.desks[thread], q)
            if problem:
                break
        fesetenv(&callers)
        return problem

    def check(self):
        """Raise MemoryError if a block failed."""
        if self.failed:
            raise MemoryError
