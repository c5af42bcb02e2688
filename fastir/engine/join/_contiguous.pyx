"""Rows that are grouped by query, from columns: a Run, or a table while it is read.

    queries   q1 q1 q1 | q2 q2 | q3 q3 ...      a stretch of whole queries, in one thread's hands
    docs      d7 d2 d9   d1 d4   d2 d8
    scores

The ids of a Run are known to be distinct, and the rows of each query are known, too; a table is checked while it is
read (see _join). find_duplicates() checks Run and Qrels themselves.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport TEXTS, Column, Group, Ids, Text, equal, read, room_for_rows, same_until
from fastir.engine.join._join cimport (Join, Parents, Part, Repeats, Seen, find_repeats, forget, forget_repeats,
                                       hash_group, may_repeat, not_summed)
from fastir.engine.join._judged cimport Index, Judged, QueryIndex, find_judged
from fastir.engine.measure._codes cimport NO_MEMORY, NOT_A_NUMBER, NOT_SUMMED, REPEATED

import numpy as np

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1


cdef int fill(Group* g, const Column* docs, const double* scores, int64_t first, int64_t stop) noexcept nogil:
    """Make rows first to stop the group; 0, or its problem. Without scores they are in rank order: n, n - 1, ..., 1."""
    cdef int64_t i, n = stop - first
    cdef bint nan = False
    g.n = 0
    if room_for_rows(g, n) < 0:
        return NO_MEMORY
    read(docs, first, n, g.docs)
    g.n = n
    if scores != NULL:
        for i in range(n):
            g.scores[i] = scores[first + i]
            nan |= g.scores[i] != g.scores[i]
    else:
        for i in range(n):
            g.scores[i] = <double>(n - i)
    return NOT_A_NUMBER if nan else 0


cdef first_two_rows(const Column* docs, Text doc, int64_t first, int64_t stop):
    """The first two rows from `first` to `stop` that hold a document."""
    cdef Text text
    cdef int64_t row
    rows = []
    for row in range(first, stop):
        read(docs, row, 1, &text)
        if equal(&text, &doc):
            rows.append(row)
    return rows[0], rows[1]


cdef class Columns(Join):
    """Evaluates rows that are grouped by query; made like a Join."""

    cdef void read_rows(self, Part* part, const QueryIndex* query_index, const Column* queries, const Column* docs,
                        const double* scores, int64_t first, int64_t stop) noexcept nogil:
        cdef int64_t i
        cdef fenv_t callers
        ordinary(&callers)
        part.failed = 0
        while first < stop and not part.failed:
            i = same_until(queries, first, stop)
            read(queries, first, 1, &part.group.query)
            part.failed = fill(&part.group, docs, scores, first, i)
            if not part.failed:
                part.failed = self.take(part, query_index)
            if not part.failed:
                first = i
        part.row = first
        fesetenv(&callers)

    def read(self, int t, int64_t number, Ids queries, Ids docs, const double[::1] scores, int64_t first, int64_t stop):
        """Evaluate the whole queries of rows first to stop in the scratch of thread t; they are block `number`.

        None, or a pair of rows that hold the same document of one query, or twice the row with the score NaN.
        """
        cdef Part* part = self.parts + t
        cdef const Column* query_column = &queries.column
        cdef const Column* doc_column = &docs.column
        cdef const double* numbers
        cdef const QueryIndex* query_index = self.judged.query_index(queries.column.integers)
        if first == stop:
            return None
        numbers = &scores[0]
        with nogil:
            self.read_rows(part, query_index, query_column, doc_column, numbers, first, stop)
        if part.failed == NO_MEMORY:
            raise MemoryError
        if part.failed == NOT_A_NUMBER:
            first = part.row
            while scores[first] == scores[first]:
                first += 1
            return first, first
        if part.failed == NOT_SUMMED:
            raise not_summed(&part.group, queries[part.row])
        if part.failed and (self.excluded is not None or self.least > -INFINITY):
            return first_two_rows(doc_column, part.group.docs[part.seen.later], part.row, stop)
        if part.failed:
            return part.row + part.seen.first, part.row + part.seen.later
        self.meet(part, number, queries.column.integers)
        return None

    cdef void read_groups(self, Part* part, const Column* docs, const double* scores, const int64_t* offsets,
                          const int64_t* places, const int64_t* rows, int64_t begin, int64_t end) noexcept nogil:
        cdef int64_t i, q
        cdef fenv_t callers
        ordinary(&callers)
        part.failed = 0
        for i in range(begin, end):
            if places[i] < 0:
                continue
            q = i if rows == NULL else rows[i]
            if (fill(&part.group, docs, scores, offsets[places[i]], offsets[places[i] + 1])
                    or scores != NULL and hash_group(&part.seen, &part.group) < 0):
                part.failed = NO_MEMORY
                break
            self.met[q] = 1
            part.failed = self.judge(part, q) if scores != NULL else self.judge_list(part, q)
            if part.failed:
                part.row = q
                break
        fesetenv(&callers)

    def read_run(self, int t, Ids docs, const double[::1] scores, const int64_t[::1] offsets, const int64_t[::1] places,
                 int64_t begin, int64_t end, const int64_t[::1] rows=None):
        """Evaluate queries begin to end of the qrels; their rows are group places[q] of a Run, none if that is -1.

        With `rows`, query i is the one at rows[i] in the qrels. Without scores the groups are lists, which may hold a
        document twice. None, or a query and two positions in its list that hold the same document.
        """
        cdef Part* part = self.parts + t
        cdef const Column* doc_column = &docs.column
        cdef double none = 0
        cdef const int64_t* positions = NULL if rows is None else &rows[0]
        cdef const double* numbers = NULL if scores is None else &scores[0] if scores.shape[0] else &none
        with nogil:
            self.read_groups(part, doc_column, numbers, &offsets[0], &places[0], positions, begin, end)
        if part.failed == NOT_SUMMED:
            raise not_summed(&part.group, self.judged.query_ids[part.row])
        if part.failed == REPEATED:
            return part.row, part.seen.first, part.seen.later
        if part.failed:
            raise MemoryError
        return None


cdef class GroupScratch:
    """Scratch of the functions below for the rows of one query."""

    cdef Seen seen
    cdef Repeats repeats
    cdef Group group

    def __dealloc__(self):
        forget(&self.seen)
        forget_repeats(&self.repeats)
        free(self.group.docs)
        free(self.group.scores)


def find_duplicates(Ids docs, const int64_t[::1] offsets, watch=None):
    """All pairs (earlier row, later row) of duplicate ids in one group; the earlier row is the first with the id.

    watch(0) is called repeatedly and may raise.
    """
    cdef int64_t i, k, n_repeats
    cdef GroupScratch scratch = GroupScratch()
    cdef Seen* seen = &scratch.seen
    cdef Repeats* repeats = &scratch.repeats
    cdef Group* g = &scratch.group
    cdef const Column* column = &docs.column
    pairs = []
    for k in range(offsets.shape[0] - 1):
        n_repeats = 0
        if offsets[k + 1] - offsets[k] > 1:
            with nogil:
                n_repeats = -1
                if fill(g, column, NULL, offsets[k], offsets[k + 1]) == 0 and hash_group(seen, g) == 0:
                    n_repeats = may_repeat(seen, seen.hashes, g.n)
                    if n_repeats > 0:
                        n_repeats = find_repeats(repeats, g, seen.hashes)
        if n_repeats < 0:
            raise MemoryError
        if n_repeats > 0:
            for i in range(g.n):
                if repeats.first[i] != i:
                    pairs.append((offsets[k] + repeats.first[i], offsets[k] + i))
        if k % 256 == 0:
            PyErr_CheckSignals()
            if watch is not None:
                watch(0)
    return pairs


def rows_left(Judged excluded, Parents parents, Ids docs, const int64_t[::1] offsets, const int64_t[::1] places):
    """Which rows of a Run stay without the documents of `excluded`; its group k is query places[k] there, -1 for none.

    With `parents`, which may be None, all rows of an excluded document go. Returns a uint8 array of shape (n_rows,).
    """
    cdef int64_t i, k, q, first
    cdef int failed
    cdef GroupScratch scratch = GroupScratch()
    cdef Seen* seen = &scratch.seen
    cdef Group* g = &scratch.group
    cdef const Column* column = &docs.column
    cdef const Index* index = excluded.index(docs.column.integers and parents is None)
    left = np.ones(offsets[offsets.shape[0] - 1], np.uint8)
    cdef unsigned char[::1] kept = left
    for k in range(offsets.shape[0] - 1):
        q = places[k]
        if q < 0 or excluded.offsets[q] == excluded.offsets[q + 1]:
            continue
        first = excluded.offsets[q]
        with nogil:
            failed = fill(g, column, NULL, offsets[k], offsets[k + 1])
            failed = failed or hash_group(seen, g)
            if not failed:
                if parents is not None:
                    parents.replace(g, seen.hashes)
                for i in range(g.n):
                    kept[offsets[k] + i] = find_judged(index, q, first, g.docs + i, seen.hashes[i]) < 0
        if failed:
            raise MemoryError
        if k % 256 == 0:
            PyErr_CheckSignals()
    return left


def document_rows(Parents parents, Ids docs, const int64_t[::1] offsets, const double[::1] scores, list query_ids):
    """The rows of a Run with its ids replaced by their documents' ids.

    New offsets; document ids as (bytes, starts, lengths); scores; how many rows held a document of an earlier row, and
    the position of the first query that has such rows.
    """
    cdef int64_t k, n = 0, n_repeats, repeated = 0, example = -1, n_groups = offsets.shape[0] - 1
    cdef GroupScratch scratch = GroupScratch()
    cdef Seen* seen = &scratch.seen
    cdef Repeats* repeats = &scratch.repeats
    cdef Group* g = &scratch.group
    cdef const Column* column = &docs.column
    cdef const double* numbers = &scores[0] if scores.shape[0] else NULL
    cdef Ids doc_ids = Ids()
    cdef Text* texts = <Text*>malloc((scores.shape[0] + 1) * sizeof(Text))
    doc_ids.column.kind, doc_ids.column.entries, doc_ids.column.places = TEXTS, texts, texts
    doc_ids.kept = [docs, parents]
    new_offsets, new_scores = np.zeros(n_groups + 1, np.int64), np.empty(scores.shape[0])
    cdef int64_t[::1] ends = new_offsets
    cdef double[::1] kept = new_scores
    if texts == NULL:
        raise MemoryError
    for k in range(n_groups):
        with nogil:
            n_repeats = -NO_MEMORY
            if fill(g, column, numbers, offsets[k], offsets[k + 1]) == 0 and hash_group(seen, g) == 0:
                parents.replace(g, seen.hashes)
                n_repeats = parents.merge(g, seen.hashes, repeats)
        if n_repeats == -NOT_SUMMED:
            raise not_summed(g, query_ids[k])
        if n_repeats < 0:
            raise MemoryError
        if n_repeats > 0:
            repeated += n_repeats
            example = k if example < 0 else example
        if g.n:         # else there may be no room for rows
            memcpy(texts + n, g.docs, g.n * sizeof(Text))
            memcpy(&kept[n], g.scores, g.n * sizeof(double))
        n += g.n
        ends[k + 1] = n
        if k % 256 == 0:
            PyErr_CheckSignals()
    doc_ids.column.n = n
    return new_offsets, doc_ids.copy(0, n), new_scores[:n], repeated, example
