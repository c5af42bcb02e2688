"""Ranks of the judged documents of a run with rows anywhere, in parts that never meet: two passes over each part.

    first      which rows hold judged documents?    ─▶ the score of each judgment that is a hit, and rows by query
    second     how many rows are before each?       ─▶ counts, which are added up over all parts to ranks

All that passes between parts is an array of the judgments, whose documents stand query by query as the qrels have them
(_judged). For the second pass the hits of a query, found in the first, are put into rank order; a row is counted at the
first hit that it is before, and at the first hit that has its score:

    hits of q        9.0   7.5   7.5   2.0          in slots offsets[q] + 0, 1, ...
    before              1     0     2     5         rows between a hit and the one before it: ranks are running sums
    alike               1     2     .     3         rows with this score, the hits themselves among them

A hit's own row is not before it, but before the next. So a row needs its query's position, one search among few scores,
and its document's id only where a hit has the same score, as in _rank. Tie rules by label need no ids: there all hits
with one score have the rows above counted at the first, and labels settle the rest. Parts may have ids of any kind:
order goes by their text. Both passes sum a hash of each row's document and score by query, so that rows which changed
between them are found, for 1 to 5 % of a run from a Parquet file. A FirstPass is of one thread, which a SecondPass need
not be; the arrays are the caller's, and are.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcpy

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport (INTEGERS, Column, Ids, Text, compare, equal, fold, last_word, read, text_hash,
                                         write_decimal)
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.join._judged cimport Index, Judged, collision, find_judged
from fastir.engine.join._query_table cimport (Names, QueryTable, free_names, free_table, id_words, integer_code,
                                              make_table, may_be_judged, list_names, note_name, pair_hash, query_code)
from fastir.engine.measure._codes cimport (COLLISION, INPUT, NOT_A_NUMBER, NO_MEMORY, OPTIMISTIC, PESSIMISTIC, REPEATED)
from fastir.engine.measure._sort cimport scores_above, scores_from
from fastir.engine.rank._rank cimport comparable, id_sign, label_order, score_order

import numpy as np

cdef enum:
    CHUNK_ROWS = 256    # rows between two looks at the columns
    PLACES_PER_ID = 64  # slots in a table of integers for each that it holds, at most

cdef extern from *:
    """
    /* Fixed words, not secret ones: sums of passes in two processes are compared. */
    #define FASTIR_ROW_WORD 0x9E3779B97F4A7C15ULL
    #define FASTIR_DOC_WORD 0xD1B54A32D192ED03ULL
    """
    const uint64_t ROW_WORD "FASTIR_ROW_WORD"
    const uint64_t DOC_WORD "FASTIR_DOC_WORD"


cdef struct Hit:        # a judged document that was retrieved
    double score
    int64_t slot        # of its judgment
    const Text* doc     # NULL if the tie rule goes by label
    int32_t label
    int32_t ties        # the rule


cdef int in_rank_order(const void* a, const void* b) noexcept nogil:
    cdef const Hit* x = <const Hit*>a
    cdef const Hit* y = <const Hit*>b
    cdef int order = score_order(x.score, y.score)
    if order != 0:
        return order
    return label_order(x.label, y.label, x.ties) if x.doc == NULL else id_sign(x.ties) * compare(y.doc, x.doc)


cdef inline uint64_t row_hash(const Text* doc, uint64_t integer, double score) noexcept nogil:
    """A hash of a document and its score; `doc` is NULL if the id is an integer.

    Summed over the rows of a query it does not depend on their order, so that both passes can say what they have seen.
    """
    cdef uint64_t h = DOC_WORD, v = 0, w = 0, bits = 0
    cdef const char* p
    cdef int64_t n
    memcpy(&bits, &score, 8)
    if doc == NULL:
        h ^= integer
    else:
        p, n = doc.start, doc.length
        h += <uint64_t>n * ROW_WORD
        while n > 16:   # two words in a product, which takes longer than all else
            memcpy(&v, p, 8)
            memcpy(&w, p + 8, 8)
            h = fold(h ^ v, w ^ ROW_WORD)
            p += 16
            n -= 16
        if n > 8:
            memcpy(&w, p, 8)
            h = fold(h ^ w, ROW_WORD)
            p += 8
            n -= 8
        h ^= last_word(p, n)
    return fold(h, bits ^ ROW_WORD)


cdef class QueryFinder:
    """Finds the queries of rows.

    Parameters
    ----------
    judged : Judged
    integer_queries, integer_docs : bool
        The kinds of the rows' ids.
    excluded : Judged or None
        Documents of the queries of `judged`, in their order; their rows do not count.
    like : QueryFinder or None
        One of the same `judged` and kinds, to share its table: runs of one table are looked up alike.
    """

    cdef Judged judged, excluded
    cdef QueryFinder like
    cdef const Index* excluded_index
    cdef QueryTable table
    cdef const Index* docs
    cdef bint integer_queries, integer_docs, borrows    # whether the table is shared with `like`

    def __init__(self, Judged judged, bint integer_queries, bint integer_docs, Judged excluded=None,
                 QueryFinder like=None):
        self.judged, self.integer_queries, self.integer_docs = judged, integer_queries, integer_docs
        self.excluded = excluded
        if excluded is not None:
            self.excluded_index = excluded.index(integer_docs)
        self.docs = judged.index(integer_docs)
        if like is not None and self.table.codes == NULL:
            if like.judged is not judged or like.integer_queries != integer_queries or (
                    like.integer_docs != integer_docs):
                raise ValueError("a table of other qrels, or of ids of another kind")
            self.table, self.like, self.borrows = like.table, like, True
        elif self.table.codes == NULL and make_table(
                &self.table, judged, judged.query_index(integer_queries), self.docs,
                PLACES_PER_ID * judged.n_queries) < 0:
            raise MemoryError

    def __dealloc__(self):
        if not self.borrows:
            free_table(&self.table)

    cdef check(self, Ids queries, Ids docs, int64_t n):
        if queries.column.integers != self.integer_queries or docs.column.integers != self.integer_docs:
            raise ValueError("ids of another kind")
        if queries.column.n != n or docs.column.n != n:
            raise ValueError("columns differ in length")

    cdef bint is_excluded(self, int64_t q, const Column* docs, int64_t row) noexcept nogil:
        """Whether a row of query q has an excluded document."""
        cdef Text doc
        cdef int64_t first = self.excluded.offsets[q]
        if first == self.excluded.offsets[q + 1]:
            return False
        read(docs, row, 1, &doc)
        return find_judged(self.excluded_index, q, first, &doc, text_hash(&doc)) >= 0

    cdef void find_queries(self, const Column* queries, int64_t first, int64_t n, Text* texts,
                           int64_t* codes) noexcept nogil:
        """The position of each row's query, or -1; a row often has the query of the row before."""
        cdef int64_t i
        cdef const uint64_t* words
        cdef bint again
        if queries.kind == INTEGERS:
            words = <const uint64_t*>queries.places + first
            for i in range(n):
                again = i > 0 and words[i] == words[i - 1]
                codes[i] = codes[i - 1] if again else integer_code(&self.table, words[i])
            return
        read(queries, first, n, texts)
        for i in range(n):
            again = i > 0 and equal(texts + i, texts + i - 1)
            codes[i] = codes[i - 1] if again else query_code(&self.table, texts + i)


cdef class FirstPass(QueryFinder):
    """Finds the judged documents among rows; made like a QueryFinder."""

    cdef Names names        # of unknown queries, each with the call of unknown_queries() that gives it
    cdef int64_t call, n_returned

    def __dealloc__(self):
        free_names(&self.names)

    def probe(self, Ids queries, Ids docs, const double[::1] numbers, double[::1] scores, int64_t[::1] num_ret,
              uint64_t[::1] sums, int64_t[::1] again, bint once, int64_t[::1] left=None):
        """Look at some rows.

        Parameters
        ----------
        queries, docs, numbers
            The rows.
        scores : float64 array of shape (n_judgments,)
            Of each judgment, NaN until its document is retrieved; parallel to the qrels as Judged has them.
        num_ret, again : int64 arrays of shape (n_queries,)
            Rows of each query, and those among them with a judged document that was in an earlier row.
        sums : uint64 array of shape (n_queries,)
            The sum of row_hash() over the rows of each query.
        once : bool
            Whether such rows are no error: the largest score stays.
        left : int64 array of shape (n_queries,)
            Further rows of each query with an excluded document; None if there is none.

        Returns
        -------
        tuple of int
            How many of the rows have a query of the qrels, and the row that is an error, -1 if there is none.
        """
        cdef int64_t n_matched = 0, row = -1, n = numbers.shape[0], n_queries = self.judged.n_queries
        cdef int failed
        self.check(queries, docs, n)
        if scores.shape[0] != self.judged.offsets[n_queries] or not (
                num_ret.shape[0] == again.shape[0] == sums.shape[0] == n_queries) or (
                self.excluded is not None and (left is None or left.shape[0] != n_queries)):
            raise ValueError("arrays that are not parallel to the qrels")
        if n == 0 or n_queries == 0:
            return 0, -1
        with nogil:
            failed = self.probe_rows(&queries.column, &docs.column, &numbers[0], n,
                                  &scores[0] if scores.shape[0] else NULL, &num_ret[0], &sums[0], &again[0],
                                     NULL if left is None else &left[0], once,
                                  &n_matched, &row)
        if failed == NO_MEMORY:
            raise MemoryError
        if failed == COLLISION:
            raise collision()
        return n_matched, row

    cdef int probe_rows(self, const Column* queries, const Column* docs, const double* numbers, int64_t n_rows,
                        double* scores, int64_t* num_ret, uint64_t* sums, int64_t* again, int64_t* left, bint once,
                        int64_t* n_matched, int64_t* row) noexcept nogil:
        cdef Text[CHUNK_ROWS] query_texts
        cdef Text[CHUNK_ROWS] doc_texts
        cdef int64_t[CHUNK_ROWS] codes
        cdef uint64_t[CHUNK_ROWS] hashes
        cdef const uint64_t* words
        cdef int64_t i, j, q, n, first = 0
        cdef double score
        cdef double* place
        cdef int failed
        while first < n_rows:
            n = min(CHUNK_ROWS, n_rows - first)
            self.find_queries(queries, first, n, query_texts, codes)
            words = id_words(docs, first, n, doc_texts, hashes)
            for i in range(n):
                q, score = codes[i], numbers[first + i]
                if score != score:
                    row[0] = first + i
                    return NOT_A_NUMBER
                if q < 0:
                    failed = self.note_unknown(queries, first, i, codes, query_texts)
                    if failed:
                        return failed
                    continue
                n_matched[0] += 1
                if self.excluded is not None and self.is_excluded(q, docs, first + i):
                    left[q] += 1
                    continue
                num_ret[q] += 1
                if self.integer_docs:
                    sums[q] += row_hash(NULL, words[i], score)
                else:
                    sums[q] += row_hash(doc_texts + i, 0, score)
                if may_be_judged(&self.table, pair_hash(words[i], q)):  # a filter: nearly all that pass are judged
                    read(docs, first + i, 1, doc_texts + i)
                    j = find_judged(self.docs, q, self.judged.offsets[q], doc_texts + i, text_hash(doc_texts + i))
                    if j < 0:
                        continue
                    place = scores + self.judged.offsets[q] + j
                    if place[0] != place[0]:        # NaN: the document has not been met
                        place[0] = score
                    elif once:
                        place[0] = max(place[0], score)
                        again[q] += 1
                    else:
                        row[0] = first + i
                        return REPEATED
            first += n
        return 0

    cdef int note_unknown(self, const Column* queries, int64_t first, int64_t i, const int64_t* codes,
                          Text* texts) noexcept nogil:
        """Note the query of row first + i, the i-th of texts, unless the row before has the same."""
        read(queries, first + i, 1, texts + i)
        if i > 0 and codes[i - 1] < 0 and equal(texts + i, texts + i - 1):
            return 0
        return note_name(&self.names, texts + i, text_hash(texts + i), self.call)

    def unknown_queries(self):
        """The query ids that the qrels do not have, as bytes of text: those that no earlier call has returned."""
        if self.names.n == self.n_returned:
            return set()
        self.n_returned = self.names.n
        self.call += 1
        return {name for name, call in list_names(&self.names, self.integer_queries) if call == self.call - 1}


cdef class SecondPass(QueryFinder):
    """Counts the rows before the judged documents that were retrieved.

    Parameters
    ----------
    judged, integer_queries, integer_docs, excluded, like
        As for QueryFinder.
    scores : float64 array of shape (n_judgments,)
        The sums of the first pass, of all parts.
    ties : int
        A code of TIE_CODES.
    single : bool
        Whether scores are compared as float32.
    reads : int
        A code of READ_CODES: only documents that metrics read have ranks.
    """

    cdef Hit* hits          # of a query from its slot on, in rank order
    cdef double* levels     # parallel to them: their scores
    cdef int64_t* n_hits    # of each query
    cdef int ties
    cdef bint single

    def __init__(self, Judged judged, bint integer_queries, bint integer_docs, const double[::1] scores, int ties,
                 bint single, int reads, Judged excluded=None, QueryFinder like=None):
        cdef int64_t i, q, slot, n = scores.shape[0]
        cdef Hit* hit
        if self.hits != NULL or n != judged.offsets[judged.n_queries]:
            raise ValueError("scores that are not parallel to the qrels")
        super().__init__(judged, integer_queries, integer_docs, excluded, like)
        self.ties, self.single = ties, single
        self.hits = <Hit*>calloc(n + 1, sizeof(Hit))
        self.levels = <double*>calloc(n + 1, sizeof(double))
        self.n_hits = <int64_t*>calloc(judged.n_queries + 1, sizeof(int64_t))
        if self.hits == NULL or self.levels == NULL or self.n_hits == NULL:
            raise MemoryError
        for q in range(judged.n_queries):
            for i in range(judged.n_read(reads, q)):
                slot = judged.offsets[q] + i
                if scores[slot] != scores[slot]:
                    continue
                hit = self.hits + judged.offsets[q] + self.n_hits[q]
                hit.score, hit.slot, hit.label = comparable(scores[slot], single), slot, judged.labels[slot]
                hit.doc = judged.texts + slot if ties < INPUT else NULL
                hit.ties = ties
                self.n_hits[q] += 1
            hit = self.hits + judged.offsets[q]
            qsort(hit, self.n_hits[q], sizeof(Hit), in_rank_order)
            for i in range(self.n_hits[q]):
                self.levels[judged.offsets[q] + i] = hit[i].score

    def __dealloc__(self):
        free(self.hits)
        free(self.levels)
        free(self.n_hits)

    def count(self, Ids queries, Ids docs, const double[::1] numbers, int64_t[::1] num_ret, uint64_t[::1] sums,
              int64_t[::1] before, int64_t[::1] alike):
        """Count some rows.

        Parameters
        ----------
        queries, docs, numbers
            The rows; no number is NaN.
        num_ret, sums : int64 and uint64 arrays of shape (n_queries,)
            As for FirstPass.probe.
        before, alike : int64 arrays of shape (n_judgments,)
            Counts, as the picture above shows, that grow.
        """
        cdef int64_t n = numbers.shape[0]
        cdef fenv_t callers
        self.check(queries, docs, n)
        self.check_counts(before, alike)
        if not num_ret.shape[0] == sums.shape[0] == self.judged.n_queries:
            raise ValueError("an array that is not parallel to the queries")
        if n == 0 or before.shape[0] == 0:
            return
        with nogil:
            ordinary(&callers)
            self.count_rows(&queries.column, &docs.column, &numbers[0], n, &num_ret[0], &sums[0], &before[0], &alike[0])
            fesetenv(&callers)

    cdef check_counts(self, const int64_t[::1] before, const int64_t[::1] alike):
        if not before.shape[0] == alike.shape[0] == self.judged.offsets[self.judged.n_queries]:
            raise ValueError("counts that are not parallel to the qrels")

    cdef void count_rows(self, const Column* queries, const Column* docs, const double* numbers, int64_t n_rows,
                         int64_t* num_ret, uint64_t* sums, int64_t* before, int64_t* alike) noexcept nogil:
        cdef Text[CHUNK_ROWS] texts
        cdef Text[CHUNK_ROWS] doc_texts
        cdef const uint64_t* words = NULL
        cdef int64_t[CHUNK_ROWS] codes
        cdef int64_t i, q, n, low, high, slot, quarter, first = 0
        cdef const double* levels
        cdef double score
        cdef bint single = self.single
        while first < n_rows:
            n = min(CHUNK_ROWS, n_rows - first)
            self.find_queries(queries, first, n, texts, codes)
            if docs.kind == INTEGERS:
                words = <const uint64_t*>docs.places + first
            else:
                read(docs, first, n, doc_texts)
            for i in range(n):
                if codes[i] >= 0:  # where the search looks first
                    levels = self.levels + self.judged.offsets[codes[i]]
                    quarter = self.n_hits[codes[i]] >> 2
                    prefetch(levels + quarter)
                    prefetch(levels + 2 * quarter)
                    prefetch(levels + 3 * quarter)
            for i in range(n):
                q = codes[i]
                if q < 0:
                    continue
                if self.excluded is not None and self.is_excluded(q, docs, first + i):
                    codes[i] = -1
                    continue
                num_ret[q] += 1
                if words != NULL:
                    sums[q] += row_hash(NULL, words[i], numbers[first + i])
                elif self.integer_docs:
                    sums[q] += row_hash(NULL, last_word(doc_texts[i].start, 8), numbers[first + i])
                else:
                    sums[q] += row_hash(doc_texts + i, 0, numbers[first + i])
                score, slot = comparable(numbers[first + i], single), self.judged.offsets[q]
                levels = self.levels + slot
                high = scores_from(levels, self.n_hits[q], score)
                if high > 0 and levels[high - 1] == score:
                    low = scores_above(levels, self.n_hits[q], score)
                    alike[slot + low] += 1
                    if self.ties < INPUT:
                        high = self.tied_place(docs, first + i, slot, low, high)
                codes[i] = -1
                if high < self.n_hits[q]:
                    codes[i] = slot + high  # counted later, when it is at hand
                    prefetch(before + codes[i])
            for i in range(n):      # the counters have arrived in the cache by now
                if codes[i] >= 0:
                    before[codes[i]] += 1
            first += n

    cdef int64_t tied_place(self, const Column* docs, int64_t row, int64_t slot, int64_t low,
                            int64_t high) noexcept nogil:
        """The first of the hits from low to high, all with the score of a row, that the row is before, or high."""
        cdef int64_t middle
        cdef int sign = id_sign(self.ties)
        cdef const Hit* hit
        cdef char[24] digits
        cdef Text doc
        read(docs, row, 1, &doc)
        if self.integer_docs:
            doc.length = write_decimal((<const int64_t*>doc.start)[0], digits)
            doc.start = digits
        while low < high:
            middle = (low + high) // 2
            hit = self.hits + slot + middle
            if sign * compare(&doc, hit.doc) > 0:
                high = middle
            else:
                low = middle + 1
        return low

    def find_ranks(self, const int64_t[::1] before, const int64_t[::1] alike):
        """The ranks that follow from the counts of all parts.

        Returns
        -------
        sizes : int64 array of shape (n_queries,)
            How many hits each query has.
        ranks, labels : int64 and int32 arrays of shape (n_hits,)
            Query by query, by rising ranks.
        tied : bool array of shape (n_queries,)
            Whether a hit has the score of another row.
        """
        cdef int64_t q, i, j, slot, above, last, total = 0, n_queries = self.judged.n_queries
        self.check_counts(before, alike)
        sizes, tied = np.zeros(n_queries, np.int64), np.zeros(n_queries, np.bool_)
        for q in range(n_queries):
            sizes[q] = self.n_hits[q]
            total += self.n_hits[q]
        ranks, labels = np.empty(total, np.int64), np.empty(total, np.int32)
        cdef int64_t[::1] out = ranks
        cdef int32_t[::1] out_labels = labels
        cdef unsigned char[::1] out_tied = tied.view(np.uint8)
        total = 0
        for q in range(n_queries):
            slot, above, i = self.judged.offsets[q], 0, 0
            while i < self.n_hits[q]:
                last = i + scores_from(self.levels + slot + i, self.n_hits[q] - i, self.levels[slot + i])
                out_tied[q] |= alike[slot + i] > 1
                for j in range(i, last):
                    above += before[slot + j]
                    out[total + j] = above + 1
                    if self.ties == OPTIMISTIC:
                        out[total + j] += j - i
                    elif self.ties == PESSIMISTIC:
                        out[total + j] = above + alike[slot + i] - (last - 1 - j)
                    out_labels[total + j] = max(self.hits[slot + j].label, -1)
                i = last
            total += self.n_hits[q]
        return sizes, ranks, labels, tied
