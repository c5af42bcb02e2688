"""Rankings of a query from several runs put together: one list of documents, what each counts, and the fused ranking.

    run 1   a c d          documents   a c d e        places  run 1   0 1 2 3      ─▶ features ─▶ fused scores
    run 2   c e                                               run 2   2 0 2 1         (_recipe)   in rank order

In: the columns of runs, where each query's rows are, Recipes. Out, for each query in rows of its own: the documents
in the order of fused scores, or of ids with their features, which _trials fuses again and again.

A ranking that stands in rank order, as most do, is not sorted. Its ids are hashed into one table for all runs of the
query, with half of the hash beside the number of the document, so that ids are hardly ever compared in vain; the first
run, whose ids differ, is not compared at all.

Some queries are fused at a time, in two steps: threads fuse them in memory that stays in the cache; then it is known
where each query's rows and bytes begin in the result, and threads copy them there. So the result, which is large, is
touched once, and has no gaps: of 7000 queries of 1000 documents new memory was two thirds of the time.

Features are those of some documents at a time, a tile, so that memory is in proportion to the rows and not to documents
times runs. Most queries are one tile. Where a method or the caller needs all places at once, the tile is the query.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport Column, Ids, Text, copy_text, equal, text_hash
from fastir.engine.columns._ids cimport read as read_ids
from fastir.analyses.fusion._recipe cimport Recipe, Recipes, combine, gather, majority, normalize, values_by_rank
from fastir.analyses.fusion._sorting cimport sort_by_id, sort_by_score
from fastir.engine.measure._measure cimport with_spare
from fastir.engine.rank._sorted_rows cimport Entry
from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

from fastir.analyses.fusion._recipe import NORMS, RULES

cdef int64_t BLOCK = 4      # queries
cdef int INVERTED = NORMS.index("min-max-inverted")
cdef int MAJORITY = RULES.index("majority")

cdef int64_t TILE = 1 << 20     # features

cdef enum:
    SPARSE = 2              # words of the table for each row, at least
    HALF = 32               # bits of a hash that stand in the table; the others are the document's number, from 1


cdef struct Scratch:          # the scratch of a thread, all in one allocation
    int64_t capacity        # rows of all runs
    Entry* entries
    Entry* spare
    Text* texts             # of one run
    Text* docs              # of all runs, each once
    double* ranked          # scores of all runs in rank order
    double* values
    double* fused
    double* room
    uint64_t* hashes
    int64_t width           # documents of a tile
    double* features        # of a tile, those of run r from r * width on
    int64_t* bases          # where the scores of each run begin in `ranked`
    int64_t* sizes
    uint64_t* table
    int32_t* places         # as features
    int32_t* found          # the document of each row, in rank order; the rows of a run begin at its base


cdef int reserve(Scratch* b, int64_t n, int64_t n_runs, bint in_tiles) noexcept nogil:
    """Make room for n rows; 0, or -1 without memory."""
    cdef int64_t m, slots = 16
    cdef char* p
    if n + n_runs < b.capacity:
        return 0
    m = with_spare(n + n_runs)
    b.width = min(m, max(TILE // n_runs, <int64_t>1)) if in_tiles else m
    while slots < SPARSE * m:
        slots *= 2
    free(b.entries)
    b.capacity = 0
    p = <char*>malloc(m * (2 * sizeof(Entry) + 2 * sizeof(Text) + 4 * sizeof(double)) + 3 * n_runs * sizeof(int64_t)
                      + slots * sizeof(uint64_t) + n_runs * b.width * (sizeof(double) + sizeof(int32_t))
                      + m * sizeof(int32_t))
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
    b.hashes = <uint64_t*>(b.fused + m)
    b.room = <double*>(b.hashes + m)
    b.bases = <int64_t*>(b.room + n_runs)
    b.sizes = b.bases + n_runs
    b.table = <uint64_t*>(b.sizes + n_runs)
    b.features = <double*>(b.table + slots)
    b.places = <int32_t*>(b.features + n_runs * b.width)
    b.found = b.places + n_runs * b.width
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
    by_id : bool
        Documents stay in the order of their ids; their scores are n, n - 1, ..., 1.
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
    cdef int64_t[::1] docs                                      # Texts of the queries that were begun
    cdef double[::1] scores, out_scores
    cdef double[:, :] features, out_features                    # with contiguous rows
    cdef int32_t[:, :] ranks, out_ranks
    cdef unsigned char[::1] out_text
    cdef int32_t[::1] narrow_starts         # of which one is None
    cdef int64_t[::1] wide_starts
    cdef int sign
    cdef bint by_id, copies
    cdef Scratch* scratches[MAX_THREADS]        # made by the threads

    def __init__(self, Recipes recipes, list columns, list numbers, const int64_t[:, ::1] firsts,
                 const int64_t[:, ::1] sizes, int sign, bint by_id, int64_t top):
        cdef int64_t r, n_queries = firsts.shape[1]
        cdef Ids ids
        cdef const double[::1] rows
        self.n_runs = firsts.shape[0]
        self.kept = [recipes, columns, numbers]
        recipes.read(0, &self.recipe)
        self.firsts, self.sizes, self.sign, self.by_id, self.top = firsts, sizes, sign, by_id, top
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
            if self.by_id:
                self.features, self.ranks = np.empty((self.n_runs, room)), np.empty((self.n_runs, room), np.int32)
        self.first, self.stop, self.copies = first, stop, False
        self.taken, self.n_blocks = 0, block_count(stop - first, BLOCK)

    def copy_to(self, unsigned char[::1] text, starts, double[::1] scores, int64_t row, int64_t place,
                double[:, :] features=None, int32_t[:, :] ranks=None):
        """Let run() copy what was fused, from a row and a place in the text on.

        Parameters
        ----------
        text : uint8 array
        starts, scores : int32 or int64, and float64 arrays
            Where each id begins in the text, and its fused score.
        row, place : int
        features, ranks : float64 and int32 arrays of shape (n_runs, n_rows) with contiguous rows, or None
            What each document counts in each run, and its rank there from 0; the number of ranks if that lacks it.
        """
        cdef int64_t q
        for q in range(self.first, self.stop):
            self.rows[q], self.places[q] = row, place
            row += self.n_docs[q]
            place += self.n_text[q]
        self.narrow_starts, self.wide_starts = (starts, None) if starts.dtype == np.int32 else (None, starts)
        self.out_text, self.out_scores = text, scores
        self.out_features, self.out_ranks, self.copies, self.taken = features, ranks, True, 0

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
        cdef int64_t i, m, r, first = 0, n = 0
        cdef bint whole = self.by_id or self.recipe.rule == MAJORITY
        cdef Entry* order = NULL
        for r in range(self.n_runs):
            n += self.sizes[r, q]
        self.n_docs[q] = self.n_text[q] = 0
        if n == 0:
            return 0
        if reserve(b, n, self.n_runs, not whole):
            return -1
        n = self.find_documents(b, q, n)
        if whole and self.sign != 0:
            self.put_in_id_order(b, n)
        for r in range(self.n_runs):
            normalize(self.recipe.norm, b.ranked + b.bases[r], b.sizes[r])
        while first < n:
            m = min(b.width, n - first)
            self.make_features(b, first, m, n)
            if not whole:
                combine(&self.recipe, b.features, b.width, m, b.room, b.fused + first)
            first += m
        if self.by_id:
            for i in range(n):
                b.fused[i] = <double>(n - i)
            for r in range(self.n_runs):
                memcpy(&self.features[r, self.rooms[q]], b.features + r * b.width, n * sizeof(double))
                memcpy(&self.ranks[r, self.rooms[q]], b.places + r * b.width, n * sizeof(int32_t))
        else:
            if self.recipe.rule == MAJORITY:
                majority(&self.recipe, b.places, b.width, b.sizes, n, b.entries, b.spare, b.fused)
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

    cdef void make_features(self, Scratch* b, int64_t first, int64_t m, int64_t n_docs) noexcept nogil:
        """The places and features of m documents, a tile, in each run."""
        cdef int64_t i, r, d
        cdef int32_t n
        cdef int32_t* places
        cdef const int32_t* found
        for r in range(self.n_runs):
            places, found, n = b.places + r * b.width, b.found + b.bases[r], <int32_t>b.sizes[r]
            for i in range(m):
                places[i] = n
            for i in range(n):
                d = found[i] - first
                if 0 <= d < m:
                    places[d] = <int32_t>i
            values_by_rank(&self.recipe, r, b.ranked + b.bases[r], n, n_docs, b.values)
            gather(b.values, places, m, b.features + r * b.width)

    cdef Entry* rank_order(self, Scratch* b, const double* scores, int64_t n) noexcept nogil:
        """The rows of one ranking in rank order; NULL if they stand in it."""
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
        """Keep the first n documents; without an order as they stand."""
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
        cdef int64_t i, r, n = self.n_docs[q], row = self.rows[q], place = self.places[q]
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
        for r in range(self.n_runs):
            if self.out_features is not None:
                memcpy(&self.out_features[r, row], &self.features[r, self.rooms[q]], n * sizeof(double))
            if self.out_ranks is not None:
                memcpy(&self.out_ranks[r, row], &self.ranks[r, self.rooms[q]], n * sizeof(int32_t))
