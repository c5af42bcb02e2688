"""Rankings of a query from several runs put together: one list of documents, what each counts, and the fused ranking.

    run 1   a c d          documents   a c d e        lists   a: 1  c: 1 2  d: 1  e: 2    ─▶ features ─▶ fused scores
    run 2   c e                                       ranks      0     1 0     2     1       (_recipe)   in rank order

In: the columns of runs, where each query's rows are, Recipes. Out, for each query in rows of its own: the documents
in the order of fused scores, or of ids with their lists, which _trials fuses again and again.

A ranking in rank order, as most are, is not sorted. Its ids are hashed into one table for all runs of the
query, with half of the hash beside the number of the document, so that ids are hardly ever compared in vain; the first
run, whose ids differ, is not compared at all.

Some queries are fused at a time, in two steps: threads fuse them in memory that stays in the cache; then it is known
where each query's rows and bytes begin in the result, and threads copy them there. So the result, which is large, is
touched once, and has no gaps: of 7000 queries of 1000 documents new memory was two thirds of the time.

Each document has the list of its rows, in the order of the runs: memory and time are in proportion to the rows, and not
to documents times runs.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove, memset

import numpy as np

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport Column, Ids, Text, copy_text, equal, text_hash
from fastir.engine.columns._ids cimport read as read_ids
from fastir.analyses.fusion._recipe cimport Lists, Recipe, Recipes, combine_lists, majority, normalize, values_by_rank
from fastir.analyses.fusion._sorting cimport sort_by_id, sort_by_score
from fastir.engine.measure._measure cimport with_spare
from fastir.engine.rank._sorted_rows cimport Entry
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

from fastir.analyses.fusion._recipe import NORMS, RULES
from fastir.engine.columns.rows import offsets_from_sizes

cdef int64_t BLOCK = 4      # queries
cdef int INVERTED = NORMS.index("min-max-inverted")
cdef int MAJORITY = RULES.index("majority")

cdef enum:
    SPARSE = 2              # words of the table for each row, at least
    HALF = 32               # bits of a hash that the table holds; the others are the document's number, from 1


cdef struct Scratch:          # the scratch of a thread, all in one allocation
    int64_t capacity        # rows of all runs
    Entry* entries
    Entry* spare
    Text* texts             # of one run
    Text* docs              # of all runs, each once
    double* ranked          # scores of all runs in rank order
    double* values
    double* fused
    uint64_t* hashes
    Lists lists             # of the documents; `values` of the rows in the same order
    int32_t* starts
    int32_t* listed_docs
    int32_t* runs
    double* listed
    int64_t* bases          # where the scores of each run begin in `ranked`
    int64_t* sizes
    uint64_t* table
    int32_t* found          # the document of each row, in rank order; the rows of a run begin at its base


cdef int reserve(Scratch* b, int64_t n, int64_t n_runs) noexcept nogil:
    """Make room for n rows; 0, or -1 without memory."""
    cdef int64_t m, slots = 16
    cdef char* p
    if n + n_runs < b.capacity:
        return 0
    m = with_spare(n + n_runs)
    while slots < SPARSE * m:
        slots *= 2
    free(b.entries)
    b.capacity = 0
    p = <char*>malloc(m * (2 * sizeof(Entry) + 2 * sizeof(Text) + 5 * sizeof(double) + 4 * sizeof(int32_t))
                      + (4 * n_runs + 1) * sizeof(int64_t) + slots * sizeof(uint64_t))
    b.entries = <Entry*>p
    if p == NULL:
        return -1
    b.capacity = m
    b.spare = b.entries + m
    b.texts = <Text*>(b.spare + m)
    b.docs = b.texts + m
    b.ranked = <double*>(b.docs + m)
    b.values = b.ranked + m
    b.fused = b.values + m
    b.listed = b.fused + m
    b.hashes = <uint64_t*>(b.listed + m)
    b.lists.absent = <double*>(b.hashes + m)
    b.lists.before = b.lists.absent + n_runs
    b.bases = <int64_t*>(b.lists.before + n_runs + 1)
    b.sizes = b.bases + n_runs
    b.table = <uint64_t*>(b.sizes + n_runs)
    b.found = <int32_t*>(b.table + slots)
    b.starts = b.found + m
    b.runs = b.starts + m
    b.listed_docs = b.runs + m
    return 0


cdef bint is_falling(const double* scores, int64_t n, double sign) noexcept nogil:
    """Whether each score, times the sign, is below the one before it."""
    cdef int64_t i, rises = 0
    for i in range(1, n):
        rises += not sign * scores[i] < sign * scores[i - 1]    # a sum, of which compilers make vector code
    return rises == 0


cdef class Fusion(Blocks):
    """Fuses the rankings of queries: begin() some, run, copy_to() arrays, run.

    Parameters
    ----------
    recipes : Recipes
        Of which the first setting is used.
    columns, numbers : lists of Ids and of float64 arrays
        The rows of each run.
    firsts, sizes : int64 arrays of shape (n_runs, n_queries)
        Where each query's rows begin in each run, and how many they are.
    sign : int
        Which of equal scores comes first: 1 the larger id, -1 the smaller one, 0 the one that came first.
    lists : arrays of shapes (n_rows + n_queries,) and four times (n_rows,), float64 the fourth, else int32; or None
        Documents stay in the order of their ids; their scores are n, n - 1, ..., 1. Filled with where the list of each
        document begins among the rows of its query and where the last one ends, and with the document, run, feature
        and rank from 0 of each row in lists; the last two may have no slots.
    top : int
        How many documents of each query are kept.

    Attributes
    ----------
    counts, n_bytes : int64 arrays of shape (n_queries,)
        How many documents were kept, and how long their ids are together.
    """

    cdef readonly object counts, n_bytes
    cdef Recipe recipe
    cdef list kept
    cdef const Column** columns
    cdef const double** numbers
    cdef int64_t n_runs, first, stop, top
    cdef const int64_t[:, ::1] firsts, sizes
    cdef int64_t[::1] n_docs, n_text, rooms, rows, places       # of each query; the last three say where it begins
    cdef const int64_t[::1] bases                               # and where its rows do, of all queries
    cdef int64_t[::1] docs                                      # Texts of the queries that were begun
    cdef double[::1] scores, out_scores
    cdef int32_t[::1] list_starts, list_docs, list_runs, list_ranks
    cdef double[::1] list_values
    cdef unsigned char[::1] out_text
    cdef int32_t[::1] narrow_starts         # of which one is None
    cdef int64_t[::1] wide_starts
    cdef int sign
    cdef bint by_id, copies
    cdef Scratch* scratches[MAX_THREADS]        # made by the threads

    def __init__(self, Recipes recipes, list columns, list numbers, const int64_t[:, ::1] firsts,
                 const int64_t[:, ::1] sizes, int sign, lists, int64_t top):
        cdef int64_t r, n_queries = firsts.shape[1]
        cdef Ids ids
        cdef const double[::1] rows
        self.n_runs = firsts.shape[0]
        self.kept = [recipes, columns, numbers]
        recipes.read(0, &self.recipe)
        self.firsts, self.sizes, self.sign, self.top = firsts, sizes, sign, top
        self.by_id, self.bases = lists is not None, offsets_from_sizes(np.asarray(sizes).sum(0))
        if self.by_id:
            self.list_starts, self.list_docs, self.list_runs, self.list_values, self.list_ranks = lists
        self.counts, self.n_bytes = self.n_docs, self.n_text = np.zeros((2, n_queries), np.int64)
        self.rooms, self.rows, self.places = np.zeros((3, n_queries), np.int64)
        self.docs, self.scores = np.empty(0, np.int64), np.empty(0)
        self.columns = <const Column**>calloc(2 * self.n_runs, sizeof(void*))
        if self.columns == NULL:
            raise MemoryError
        self.numbers = <const double**>(self.columns + self.n_runs)
        for r in range(self.n_runs):
            ids, rows = columns[r], numbers[r]
            self.columns[r] = &ids.column
            if rows.shape[0] > 0:
                self.numbers[r] = &rows[0]

    def begin(self, int64_t first, int64_t stop):
        """Let run() fuse some queries."""
        cdef int64_t q, r, n, room = 0
        for q in range(first, stop):
            self.rooms[q] = room
            n = 0
            for r in range(self.n_runs):
                n += self.sizes[r, q]
            room += min(n, self.top)
        if room > self.scores.shape[0]:
            self.docs, self.scores = np.empty(room * sizeof(Text) // 8, np.int64), np.empty(room)
        self.first, self.stop, self.copies = first, stop, False
        self.taken, self.n_blocks = 0, block_count(stop - first, BLOCK)

    def copy_to(self, unsigned char[::1] text, starts, double[::1] scores, int64_t row, int64_t place):
        """Let run() copy what was fused, from a row and a place in the text on.

        Parameters
        ----------
        text : uint8 array
        starts, scores : int32 or int64, and float64 arrays
            Where each id begins in the text, and its fused score.
        row, place : int
        """
        cdef int64_t q
        for q in range(self.first, self.stop):
            self.rows[q], self.places[q] = row, place
            row += self.n_docs[q]
            place += self.n_text[q]
        self.narrow_starts, self.wide_starts = (starts, None) if starts.dtype == np.int32 else (None, starts)
        self.out_text, self.out_scores, self.copies, self.taken = text, scores, True, 0

    def __dealloc__(self):
        cdef int t
        free(self.columns)
        for t in range(self.n_threads):
            if self.scratches[t] != NULL:
                free(self.scratches[t].entries)
                free(self.scratches[t])

    def check(self):
        """Raise MemoryError if a block failed."""
        if self.failed:
            raise MemoryError

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t q
        cdef int problem = 0
        cdef fenv_t callers
        if self.scratches[thread] == NULL:
            self.scratches[thread] = <Scratch*>calloc(1, sizeof(Scratch))
            if self.scratches[thread] == NULL:
                return -1
        ordinary(&callers)
        for q in range(self.first + block * BLOCK, min(self.first + (block + 1) * BLOCK, self.stop)):
            if self.copies:
                self.copy(q)
            else:
                problem = self.fuse(self.scratches[thread], q)
            if problem:
                break
        fesetenv(&callers)
        return problem

    cdef int fuse(self, Scratch* b, int64_t q) noexcept nogil:
        """Fuse one query; 0, or -1 without memory."""
        cdef int64_t i, r, n = self.bases[q + 1] - self.bases[q]
        cdef bint whole = self.by_id or self.recipe.rule == MAJORITY
        cdef Entry* order = NULL
        self.n_docs[q] = self.n_text[q] = 0
        if self.by_id:
            self.list_starts[self.bases[q] + q] = 0
        if n == 0:
            return 0
        if reserve(b, n, self.n_runs):
            return -1
        n = self.find_documents(b, q, n)
        if whole and self.sign != 0:
            self.put_in_id_order(b, n)
        for r in range(self.n_runs):
            normalize(self.recipe.norm, b.ranked + b.bases[r], b.sizes[r])
        self.make_lists(b, q, n)
        if self.by_id:
            for i in range(n):
                b.fused[i] = <double>(n - i)
        else:
            if self.recipe.rule == MAJORITY:
                majority(&self.recipe, &b.lists, n, b.entries, b.spare, b.fused)
            else:
                combine_lists(&self.recipe, &b.lists, n, b.fused)
            sort_by_score(b.fused, n, b.docs, self.sign, b.entries, b.spare)
            order = b.entries
        self.keep(b, q, min(n, self.top), order)
        return 0

    cdef int64_t find_documents(self, Scratch* b, int64_t q, int64_t n_rows) noexcept nogil:
        """Find the documents of all runs, and which of them each row is; returns how many there are."""
        cdef int64_t i, r, n, d, base = 0, n_docs = 0, slots = 16, row
        cdef uint64_t h, slot, mask
        cdef const double* scores
        cdef Entry* order
        while slots < SPARSE * n_rows:
            slots *= 2
        mask = <uint64_t>(slots - 1)
        memset(b.table, 0, slots * sizeof(uint64_t))
        for r in range(self.n_runs):
            n = b.sizes[r] = self.sizes[r, q]
            b.bases[r] = base
            if n == 0:
                continue
            scores = self.numbers[r] + self.firsts[r, q]
            read_ids(self.columns[r], self.firsts[r, q], n, b.texts)
            order = self.rank_order(b, scores, n)
            for i in range(n):
                b.hashes[i] = text_hash(b.texts + i)
            for i in range(n):
                row = i if order == NULL else order[i].place
                b.ranked[base + i] = scores[row]
                h = b.hashes[row]
                slot = h & mask
                d = n_docs
                while b.table[slot] != 0:
                    if b.table[slot] >> HALF == h >> HALF and r > 0:
                        d = <int64_t>(b.table[slot] & <uint64_t>0xFFFFFFFF) - 1
                        if equal(b.docs + d, b.texts + row):
                            break
                        d = n_docs
                    slot = slot + 1 & mask
                if d == n_docs:
                    n_docs += 1
                    b.docs[d] = b.texts[row]
                    b.table[slot] = h >> HALF << HALF | <uint64_t>n_docs
                b.found[base + i] = <int32_t>d
            base += n
        return n_docs

    cdef void make_lists(self, Scratch* b, int64_t q, int64_t n_docs) noexcept nogil:
        """The list of each document: the runs that have it, and what it counts there."""
        cdef int64_t i, r, n, row = self.bases[q], last = self.n_runs - 1, n_rows = b.bases[last] + b.sizes[last]
        cdef int32_t d, slot
        cdef int32_t* starts = &self.list_starts[row + q] if self.by_id else b.starts
        cdef int32_t* docs = &self.list_docs[row] if self.by_id else b.listed_docs
        cdef int32_t* runs = &self.list_runs[row] if self.by_id else b.runs
        cdef int32_t* ranks = &self.list_ranks[row] if self.by_id and self.list_ranks.shape[0] > 0 else NULL
        cdef double* values = &self.list_values[row] if self.by_id and self.list_values.shape[0] > 0 else b.listed
        cdef const int32_t* found
        b.lists.starts, b.lists.docs, b.lists.runs, b.lists.values, b.lists.sizes = starts, docs, runs, values, b.sizes
        memset(starts, 0, (n_docs + 1) * sizeof(int32_t))
        for i in range(n_rows):
            starts[b.found[i] + 1] += 1
        for i in range(n_docs):
            starts[i + 1] += starts[i]
        for r in range(self.n_runs):
            found, n = b.found + b.bases[r], b.sizes[r]
            values_by_rank(&self.recipe, r, b.ranked + b.bases[r], n, n_docs, b.values)
            for i in range(n):
                d = found[i]
                slot = starts[d]
                starts[d] = slot + 1
                docs[slot], runs[slot], values[slot] = d, <int32_t>r, b.values[i]
                if ranks != NULL:
                    ranks[slot] = <int32_t>i
        memmove(starts + 1, starts, n_docs * sizeof(int32_t))      # each start had become the next one
        starts[0] = 0

    cdef Entry* rank_order(self, Scratch* b, const double* scores, int64_t n) noexcept nogil:
        """The rows of one ranking in rank order; NULL if they are in it."""
        cdef int64_t i
        if is_falling(scores, n, -1.0 if self.recipe.norm == INVERTED else 1.0):
            return NULL
        for i in range(n):
            b.values[i] = -scores[i] if self.recipe.norm == INVERTED else scores[i]
        sort_by_score(b.values, n, b.texts, self.sign, b.entries, b.spare)
        return b.entries

    cdef void put_in_id_order(self, Scratch* b, int64_t n) noexcept nogil:
        """Documents in the order of ids, by which equal scores are decided."""
        cdef int64_t i, last = self.n_runs - 1
        cdef int32_t* moved = <int32_t*>b.spare
        for i in range(n):
            b.entries[i].place = <uint32_t>i
        sort_by_id(b.entries, b.spare, n, b.docs, self.sign)
        for i in range(n):
            b.texts[i] = b.docs[b.entries[i].place]
        memcpy(b.docs, b.texts, n * sizeof(Text))
        for i in range(n):
            moved[b.entries[i].place] = <int32_t>i
        for i in range(b.bases[last] + b.sizes[last]):
            b.found[i] = moved[b.found[i]]

    cdef void keep(self, Scratch* b, int64_t q, int64_t n, const Entry* order) noexcept nogil:
        """Keep the first n documents; without an order, unchanged."""
        cdef int64_t i, d, size = 0
        cdef Text* docs = <Text*>&self.docs[0] + self.rooms[q]
        cdef double* scores = &self.scores[self.rooms[q]]
        for i in range(n):
            d = i if order == NULL else order[i].place
            docs[i], scores[i] = b.docs[d], b.fused[d]
            size += b.docs[d].length
        self.n_docs[q], self.n_text[q] = n, size

    cdef void copy(self, int64_t q) noexcept nogil:
        """Copy what was kept of a query into its place."""
        cdef int64_t i, n = self.n_docs[q], row = self.rows[q], place = self.places[q]
        cdef const Text* docs
        if n == 0:
            return
        docs = <const Text*>&self.docs[0] + self.rooms[q]
        for i in range(n):
            if docs[i].length > 0:
                copy_text(docs + i, <char*>&self.out_text[place])
            if self.narrow_starts is None:
                self.wide_starts[row + i] = place
            else:
                self.narrow_starts[row + i] = <int32_t>place
            place += docs[i].length
        memcpy(&self.out_scores[row], &self.scores[self.rooms[q]], n * sizeof(double))
