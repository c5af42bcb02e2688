"""Rankings whose unjudged documents are given labels: each labeling of a query is measured like judged rankings.

    labels of the ranking   2  .  0  .  |  .  1  .        a dot is unjudged, the bar the cutoff
    from_top, counts 2 1    2  3  0  1  |  b  1  b        order 0 1 3: two reach order[1], one reaches order[2]
    else                    2  1  0  3  |  b  1  b        the same, counted from the last one within the cutoff up

`inside` counts the unjudged documents within the cutoff; all others, and those missing from the ranking, have the label
`below`. A labeling can also come with a label for each unjudged document, by rank, last the documents missing from the
ranking. The ideal list is the labels of the query's judged and unjudged documents, which are merged anew for each
labeling: they are few runs of equal labels. Threads take blocks of labelings;
what comes in was checked before.
"""

from libc.stdint cimport INT32_MIN, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove

from fastir.engine.measure._codes cimport ALL, NO_MEMORY
from fastir.engine.measure._measure cimport Plan, Scratch, grow, is_hit, label_code
from fastir.engine.rank._judged_ranks cimport Rows
from fastir.engine.threads._blocks cimport MAX_THREADS

UNJUDGED = INT32_MIN


cdef struct LabelScratch:       # of a thread, next to its Scratch
    int64_t room                # of each of these
    int32_t* unjudged_labels    # of the unjudged documents of a ranking, by rank
    int32_t* ideal              # labels of judged and unjudged documents, best first
    int32_t* run_labels         # the labels of the unjudged documents as runs, best first, and how many have each
    int64_t* run_sizes


cdef class Labelings(Rows):
    """Measures labelings of rankings with unjudged documents.

    Parameters
    ----------
    plan : Plan
    offsets, judged_offsets : int64 arrays of shape (n_queries + 1,)
    ranks, labels : int64 and int32 arrays of shape (n_slots,)
        Judged and unjudged documents by rank; the label of an unjudged one is UNJUDGED.
    num_ret, unseen : int64 arrays of shape (n_queries,)
        The length of the ranking, and how many more documents get the label `below`.
    judged_labels : int32 array of shape (n_judged,)
        Best first.
    rows, inside : int64 arrays of shape (n_labelings,)
    from_top : uint8 array of shape (n_labelings,)
    counts : int64 array of shape (n_labelings, n_levels)
        How many unjudged documents within the cutoff have at least the label ``order[i + 1]``; falling.
    below : int32 array of shape (n_labelings,)
    order : int32 array of shape (n_levels + 1,)
    starts : int64 array of shape (n_labelings,), or empty
        Where the labels of the unjudged documents begin among `unjudged_labels`; from_top to order are then not looked
        at.
    unjudged_labels : int32 array
    values : float64 array of shape (n_labelings, n_slots), filled
    """

    cdef const int64_t[::1] offsets, judged_offsets, ranks, num_ret, unseen, rows, inside, starts
    cdef const int32_t[::1] labels, judged_labels, below, order, unjudged_labels
    cdef const int32_t* first_unjudged_label
    cdef bint by_document
    cdef const int64_t[:, ::1] counts
    cdef const uint8_t[::1] from_top
    cdef LabelScratch[MAX_THREADS] label_scratch

    def __cinit__(self, Plan plan, const int64_t[::1] offsets, const int64_t[::1] ranks, const int32_t[::1] labels,
                  const int64_t[::1] num_ret, const int64_t[::1] unseen, const int64_t[::1] judged_offsets,
                  const int32_t[::1] judged_labels, const int64_t[::1] rows, const uint8_t[::1] from_top,
                  const int64_t[:, ::1] counts, const int64_t[::1] inside, const int32_t[::1] below,
                  const int32_t[::1] order, const int64_t[::1] starts, const int32_t[::1] unjudged_labels,
                  double[:, ::1] values):
        self.begin(plan, values)
        self.offsets, self.ranks, self.labels, self.num_ret = offsets, ranks, labels, num_ret
        self.unseen, self.judged_offsets, self.judged_labels = unseen, judged_offsets, judged_labels
        self.rows, self.from_top, self.counts, self.inside, self.below = rows, from_top, counts, inside, below
        self.order, self.starts, self.unjudged_labels = order, starts, unjudged_labels
        self.by_document = starts.shape[0] > 0
        self.first_unjudged_label = &unjudged_labels[0] if unjudged_labels.shape[0] > 0 else NULL

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            free(self.label_scratch[t].unjudged_labels)
            free(self.label_scratch[t].ideal)
            free(self.label_scratch[t].run_labels)
            free(self.label_scratch[t].run_sizes)

    cdef int make_room(self, int thread, int64_t n_slots, int64_t num_ret, int64_t n_ideal) noexcept nogil:
        cdef int64_t room = n_ideal + self.order.shape[0] + 1
        cdef LabelScratch* buffers = &self.label_scratch[thread]
        if grow(self.scratch[thread], self.plan, max(num_ret if self.plan.reads == ALL else n_slots, n_ideal)) < 0:
            return NO_MEMORY
        if room > buffers.room:
            free(buffers.unjudged_labels)
            free(buffers.ideal)
            free(buffers.run_labels)
            free(buffers.run_sizes)
            buffers.room = 0
            buffers.unjudged_labels = <int32_t*>calloc(room, sizeof(int32_t))
            buffers.ideal = <int32_t*>calloc(room, sizeof(int32_t))
            buffers.run_labels = <int32_t*>calloc(room, sizeof(int32_t))
            buffers.run_sizes = <int64_t*>calloc(room, sizeof(int64_t))
            if (buffers.unjudged_labels == NULL or buffers.ideal == NULL or buffers.run_labels == NULL
                    or buffers.run_sizes == NULL):
                return NO_MEMORY
            buffers.room = room
        return 0

    cdef const int32_t* labeling(self, LabelScratch* buffers, int64_t c, int64_t n) noexcept nogil:
        """The labels that a labeling gives to the unjudged documents of a ranking, of which there are at most n."""
        cdef int64_t step, doc, start = 0, stop, inside
        cdef int32_t* labels = buffers.unjudged_labels
        cdef int32_t label
        if self.by_document:
            return self.first_unjudged_label + self.starts[c]
        inside = self.inside[c]
        for step in range(self.counts.shape[1], -1, -1):
            stop = self.counts[c, step - 1] if step > 0 else inside
            label = self.order[step]
            if self.from_top[c]:
                for doc in range(start, stop):
                    labels[doc] = label
            else:
                for doc in range(inside - stop, inside - start):
                    labels[doc] = label
            start = max(start, stop)
        label = self.below[c]
        for doc in range(inside, n):
            labels[doc] = label
        return labels

    cdef int64_t fill_hits(self, Scratch* scratch, LabelScratch* buffers, int64_t c,
                           int64_t* n_unjudged) noexcept nogil:
        """The hits of a labeling; returns how many. `n_unjudged` is set to the unjudged documents of the ranking."""
        cdef int64_t q = self.rows[c], i, doc = 0, n_hits = 0, start = self.offsets[q], stop = self.offsets[q + 1]
        cdef const int32_t* unjudged_labels = self.labeling(buffers, c, stop - start)
        cdef int64_t* hit_ranks = scratch.ranks
        cdef int32_t* hit_labels = scratch.labels
        cdef int reads = self.plan.reads
        cdef int32_t label
        for i in range(start, stop):
            label = self.labels[i]
            if label == INT32_MIN:
                label = unjudged_labels[doc]
                doc += 1
            if is_hit(label_code(label), reads):
                hit_ranks[n_hits] = self.ranks[i]
                hit_labels[n_hits] = label_code(label)
                n_hits += 1
        n_unjudged[0] = doc
        return n_hits

    cdef void put_run(self, LabelScratch* buffers, int64_t* n_runs, int32_t label, int64_t size) noexcept nogil:
        """Insert a run of equal labels among runs that are sorted, best first."""
        cdef int64_t i = n_runs[0]
        while i > 0 and buffers.run_labels[i - 1] < label:
            i -= 1
        if i > 0 and buffers.run_labels[i - 1] == label:
            buffers.run_sizes[i - 1] += size
            return
        memmove(buffers.run_labels + i + 1, buffers.run_labels + i, (n_runs[0] - i) * sizeof(int32_t))
        memmove(buffers.run_sizes + i + 1, buffers.run_sizes + i, (n_runs[0] - i) * sizeof(int64_t))
        buffers.run_labels[i] = label
        buffers.run_sizes[i] = size
        n_runs[0] += 1

    cdef int64_t put_runs(self, LabelScratch* buffers, int64_t c, int64_t n_unjudged) noexcept nogil:
        """The labels of the unjudged documents as runs; returns how many there are. The ranking has n_unjudged."""
        cdef int64_t levels = self.counts.shape[1], n_runs = 0, i, before, here
        n_unjudged += self.unseen[self.rows[c]]
        if self.by_document:
            for i in range(n_unjudged):
                self.put_run(buffers, &n_runs, self.unjudged_labels[self.starts[c] + i], 1)
            return n_runs
        before = self.inside[c]
        for i in range(levels + 1):
            here = self.counts[c, i] if i < levels else 0
            self.put_run(buffers, &n_runs, self.order[i], before - here)
            before = here
        self.put_run(buffers, &n_runs, self.below[c], n_unjudged - self.inside[c])
        return n_runs

    cdef int64_t merge_ideal(self, LabelScratch* buffers, int64_t c, int64_t n_unjudged) noexcept nogil:
        """All labels of the query under a labeling, best first; returns how many."""
        cdef int64_t q = self.rows[c], n_runs = self.put_runs(buffers, c, n_unjudged), i, place, n = 0
        cdef int64_t j = self.judged_offsets[q], stop = self.judged_offsets[q + 1]
        cdef int32_t* ideal = buffers.ideal
        cdef int32_t label
        for i in range(n_runs):
            label = buffers.run_labels[i]
            while j < stop and self.judged_labels[j] > label:
                ideal[n] = self.judged_labels[j]
                n += 1
                j += 1
            for place in range(n, n + buffers.run_sizes[i]):
                ideal[place] = label
            n += buffers.run_sizes[i]
        while j < stop:
            ideal[n] = self.judged_labels[j]
            n += 1
            j += 1
        return n

    cdef int measure_row(self, int thread, int64_t row) noexcept nogil:
        cdef int64_t q = self.rows[row], n_slots = self.offsets[q + 1] - self.offsets[q], n_hits, n_ideal, n_unjudged
        cdef LabelScratch* buffers = &self.label_scratch[thread]
        if self.make_room(thread, n_slots, self.num_ret[q],
                          self.judged_offsets[q + 1] - self.judged_offsets[q] + n_slots + self.unseen[q]):
            return NO_MEMORY
        n_hits = self.fill_hits(self.scratch[thread], buffers, row, &n_unjudged)
        n_ideal = self.merge_ideal(buffers, row, n_unjudged)
        self.measure_hits(thread, row, n_hits, self.num_ret[q], buffers.ideal, n_ideal)
        return 0
