"""The rows of a file of lines for `check`, and what its queries have, without a Python object per row.

In       whole lines as bytes; later, columns of documents, numbers and ranks, query by query.
Out      columns that grow row by row; the number of each line that may be wrong, which goes to a function of Python.
Why      nearly all lines of a file are right. scan_group (_trec) reads them, as it does for `evaluate`; what it does
         not look at is looked at here: the rank, the tag, further fields, the line end. A line that is skipped, that
         the reader refuses, or that has anything unusual, is given to `take`, which describes faults one by one and
         adds its row itself. So the fast way only decides that nothing is to be said of a line.

Rows keep their order whoever adds them. The tag that is compared is the one of the last line that `take` was given for
its tag; `take` gets the first CR before LF, and the others are counted.
"""

from cython cimport view
from libc.math cimport isinf
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp, memcpy, memset

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport Group, Ids, Text, copy_text, equal, is_blank, read, text_hash, word_hash
from fastir.engine.columns._memory cimport large_malloc
from fastir.engine.columns._trec cimport CARRIAGE_RETURN, MEMORY, Cursor, scan_group, set_line_format
from fastir.engine.columns._trec cimport skip_blanks, skip_token
from fastir.engine.join._judged cimport Index, Judged, find_judged

import numpy as np

cdef enum:
    MIN_ROW_BYTES = 6       # of BEIR, with its line end
    MAX_RANK_DIGITS = 15    # whose number a double holds
    CHUNK_ROWS = 256        # whose ids are read together

PADDING = b"\n" + bytes(16)     # which the reader may look at behind the last line


cdef enum:
    TEXT
    OFFSETS     # of the documents in it
    NUMBERS
    RANKS
    N_COLUMNS


cdef struct Column:
    char* data
    int64_t item_size, capacity     # bytes of an item; items


cdef class LineTable:
    """The rows of a file of lines, as columns.

    Parameters
    ----------
    line_format : LineFormat
    is_run : bool
    ranked : bool
        Whether a rank stands before the number and a tag behind it, which are kept and compared.
    """

    cdef Cursor cursor
    cdef Group group
    cdef dict numbers_of_queries    # {query as bytes: its number}
    cdef bytes query, tag           # of the last row, and the tag that lines are compared with
    cdef int64_t query_number
    cdef bint ranked, by_rank, has_crlf
    cdef Column[N_COLUMNS] columns          # by the numbers below
    cdef int64_t used               # bytes of the documents
    cdef int64_t n_skipped          # lines without a row, so far
    cdef readonly list stretches    # (first row, number of the query) of each stretch of rows of one query
    cdef readonly list skips        # (first row behind skipped lines, how many were skipped until there)
    cdef readonly int64_t n_rows, n_lines, n_crlf   # line ends in CR LF that `take` was not given

    def __init__(self, line_format, bint is_run, bint ranked):
        memset(&self.cursor, 0, sizeof(Cursor))
        set_line_format(&self.cursor, line_format, is_run)
        self.cursor.split = True
        self.ranked, self.by_rank = ranked, line_format.what == "rank"
        self.numbers_of_queries = {}
        self.query_number = -1
        self.stretches, self.skips = [], [(0, 0)]
        for i in range(N_COLUMNS):
            self.columns[i].item_size = 1 if i == TEXT else 8

    def __dealloc__(self):
        cdef int i
        for i in range(N_COLUMNS):
            free(self.columns[i].data)
        free(self.group.docs)
        free(self.group.scores)

    @property
    def query_ids(self):
        """The queries in order of first appearance, as bytes."""
        return list(self.numbers_of_queries)

    def take_columns(self):
        """The bytes of the documents, their offsets, numbers and ranks; once."""
        self.reserve(1, 1)
        (<int64_t*>self.columns[OFFSETS].data)[self.n_rows] = self.used
        return (self.take_column(TEXT, self.used + 1, np.uint8), self.take_column(OFFSETS, self.n_rows + 1, np.int64),
                self.take_column(NUMBERS, self.n_rows, float), self.take_column(RANKS, self.n_rows, float))

    cdef take_column(self, int number, int64_t n, dtype):
        """The first items of a column as an array, which owns their memory from now on."""
        cdef Column* column = self.columns + number
        cdef view.array data = <char[:n * column.item_size + 1]>column.data
        data.callback_free_data = free
        column.data, column.capacity = NULL, 0
        return np.asarray(data)[:-1].view(dtype)

    def add(self, bytes query, bytes doc, double number, double rank):
        """Add a row of the line that is given to `take`."""
        cdef Text text
        text.start, text.length = doc, len(doc)
        self.reserve(1, text.length)
        self.set_query(query)
        self.append(&text, number, rank)

    def skip(self, take, lines):
        """Give some lines to take(line, number)."""
        for line in lines:
            self.n_lines += 1
            take(line, self.n_lines)

    def read(self, bytes text, take):
        """Read whole lines, of which only the last one may have no end; take(line, number) gets the unusual ones."""
        cdef Cursor* c = &self.cursor
        cdef bytes padded = text + PADDING
        cdef fenv_t callers
        cdef int failed
        self.reserve(len(text) // MIN_ROW_BYTES + 1, len(text))
        c.p = padded
        c.stop = c.p + len(text)
        ordinary(&callers)
        try:
            while c.p < c.stop:
                c.line = c.p
                if self.is_row(c.p):
                    failed = scan_group(c, &self.group)
                    if failed == MEMORY:
                        raise MemoryError
                    self.append_group(self.group.n - (failed == CARRIAGE_RETURN), padded, take)
                    if not failed:
                        continue
                c.p = self.give(c.line, take)
        finally:
            fesetenv(&callers)

    cdef bint is_row(self, const unsigned char* p) noexcept:
        """Whether a line is one that scan_group would not skip, and no header."""
        if self.cursor.line_format.tabs:
            if self.n_lines == 0:
                return False
        elif p[0] == c"#":
            return False
        while p[0] != 10 and is_blank(p[0]):
            p += 1
        return p[0] != 10

    cdef const unsigned char* give(self, const unsigned char* line, take) except NULL:
        """Give a line to `take`; returns where the next one begins."""
        cdef const unsigned char* end = <const unsigned char*>memchr(line, 10, self.cursor.stop - line + 1)
        self.n_lines += 1
        self.has_crlf |= end > line and (end - 1)[0] == 13
        take((<const char*>line)[:end - line], self.n_lines)
        return end + 1

    cdef int append_group(self, int64_t n, bytes padded, take) except -1:
        """Add the first rows of the group, or give their lines to `take`."""
        cdef const Group* g = &self.group
        cdef const unsigned char* line
        cdef const unsigned char* begin = padded
        cdef int64_t i
        cdef double rank, number
        cdef bint other_tag
        for i in range(n):
            rank, number = 0.0, g.scores[i]
            other_tag = False
            if not isinf(number) and self.is_usual(g.docs + i, &rank, &other_tag):
                if self.query is None or not is_same(self.query, &g.query):
                    self.set_query(g.query.start[:g.query.length])
                self.n_lines += 1
                self.append(g.docs + i, -(0.0 - number) if self.by_rank else number, rank)
                continue
            line = <const unsigned char*>g.docs[i].start
            while line > begin and (line - 1)[0] != 10:
                line -= 1
            self.give(line, take)
            if other_tag:
                self.set_tag(g.docs + i)
        return 0

    cdef bint is_usual(self, const Text* doc, double* rank, bint* other_tag) noexcept:
        """Whether nothing is to be said of what stands behind the document; a rank and a line end are counted."""
        cdef const unsigned char* p = <const unsigned char*>doc.start + doc.length
        cdef const unsigned char* end
        cdef const unsigned char* tag
        cdef uint64_t digits = 0
        if not self.ranked:
            end = <const unsigned char*>memchr(p, 10, self.cursor.stop - p + 1)
        else:
            p = skip_blanks(p)
            tag = p
            while c"0" <= p[0] <= c"9":
                digits = 10 * digits + (p[0] - c"0")
                p += 1
            if p == tag or p - tag > MAX_RANK_DIGITS or not is_blank(p[0]):
                return False
            rank[0] = <double>digits
            tag = skip_blanks(skip_token(skip_blanks(p)))
            p = skip_token(tag)
            end = skip_blanks(p)
            if end[0] == 13:
                end = <const unsigned char*>memchr(end, 10, self.cursor.stop - end + 1)
            if end[0] != 10:
                return False
            if self.tag is None or p - tag != len(self.tag) or memcmp(<const char*>self.tag, tag, p - tag) != 0:
                other_tag[0] = True
                return False
        if (end - 1)[0] == 13:
            if not self.has_crlf:
                return False
            self.n_crlf += 1
        return True

    cdef set_tag(self, const Text* doc):
        """The tag of the line of a document is the one to compare with from here on."""
        cdef const unsigned char* p = <const unsigned char*>doc.start + doc.length
        p = skip_blanks(skip_token(skip_blanks(p)))
        p = skip_blanks(skip_token(p))
        self.tag = (<const char*>p)[:skip_token(p) - p]

    cdef set_query(self, bytes query):
        number = self.numbers_of_queries.setdefault(query, len(self.numbers_of_queries))
        if number != self.query_number:
            self.query, self.query_number = query, number
            self.stretches.append((self.n_rows, number))

    cdef int append(self, const Text* doc, double number, double rank) except -1:
        cdef int64_t row = self.n_rows
        if self.n_lines - row - 1 > self.n_skipped:
            self.n_skipped = self.n_lines - row - 1
            self.skips.append((row, self.n_skipped))
        copy_text(doc, self.columns[TEXT].data + self.used)
        (<int64_t*>self.columns[OFFSETS].data)[row] = self.used
        (<double*>self.columns[NUMBERS].data)[row] = number
        (<double*>self.columns[RANKS].data)[row] = rank
        self.used += doc.length
        self.n_rows = row + 1
        return 0

    cdef int reserve(self, int64_t rows, int64_t size) except -1:
        """Make room for rows, whose documents have `size` bytes."""
        cdef int64_t needed
        cdef int i
        cdef void* data
        for i in range(N_COLUMNS):
            needed = 1 + (self.used + size if i == TEXT else self.n_rows + rows)
            if needed > self.columns[i].capacity:
                needed *= 2
                data = large_malloc(needed * self.columns[i].item_size)
                if data == NULL:
                    raise MemoryError
                if self.columns[i].data != NULL:
                    memcpy(data, self.columns[i].data, self.columns[i].capacity * self.columns[i].item_size)
                free(self.columns[i].data)
                self.columns[i].data, self.columns[i].capacity = <char*>data, needed
        return 0


cdef inline bint is_same(bytes query, const Text* text) noexcept:
    return len(query) == text.length and memcmp(<const char*>query, text.start, text.length) == 0


# ---- query by query --------------------------------------------------------------------------------------------------
def ties_and_disorder(Ids docs, const int64_t[::1] offsets, const double[::1] numbers, const double[::1] ranks=None):
    """What the scores of each query show.

    Returns
    -------
    n_tied : int64 array of shape (n_queries,)
        How many documents share their score with another document of the query.
    firsts, others : int64 arrays likewise
        The rows of the first such document and of the one before it with its score, where there are some.
    disordered : bool array likewise
        Whether ranks may contradict scores: they do not rise while scores do not, row by row.
    """
    cdef int64_t n = offsets.shape[0] - 1, q, i, first, stop, before, place
    cdef uint64_t mask = 0, slot = 0
    cdef bint falling, ordered, counted = False
    cdef Text one, other
    cdef double score, key
    cdef int64_t[::1] table = np.empty(0, np.int64)
    n_tied, firsts, others = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    disordered = np.zeros(n, bool)
    cdef int64_t[::1] counts = n_tied, ones = firsts, seconds = others
    cdef unsigned char[::1] out = disordered.view(np.uint8)
    for q in range(n):
        first, stop = offsets[q], offsets[q + 1]
        falling = ordered = True
        for i in range(first + 1, stop):
            falling &= numbers[i - 1] >= numbers[i]
        if ranks is not None:
            for i in range(first + 1, stop):
                ordered &= ranks[i - 1] < ranks[i]
            out[q] = not (falling and ordered)
        if not falling:     # a table of the first row with each score
            mask = 1
            while mask < 2 * <uint64_t>(stop - first):
                mask *= 2
            if mask > <uint64_t>table.shape[0]:
                table = np.empty(mask, np.int64)
            memset(&table[0], 0, mask * sizeof(int64_t))
            mask -= 1
        before = first
        for i in range(first, stop):
            score = numbers[i]
            if score != score:
                continue
            if falling:
                if i == first or numbers[i - 1] != score:
                    before, counted = i, False
                    continue
            else:
                key = score + 0.0       # -0.0 becomes 0.0
                memcpy(&slot, &key, 8)
                slot = word_hash(slot) & mask
                while table[slot] != 0 and numbers[abs(table[slot]) - 1] != score:
                    slot = (slot + 1) & mask
                place = table[slot]
                if place == 0:
                    table[slot] = i + 1
                    continue
                before, counted = abs(place) - 1, place < 0
            read(&docs.column, before, 1, &one)
            read(&docs.column, i, 1, &other)
            if equal(&one, &other):
                continue
            if counts[q] == 0:
                ones[q], seconds[q] = i, before
            counts[q] += 1 + (not counted)
            counted = True
            if not falling:
                table[slot] = -(before + 1)
    return n_tied, firsts, others, disordered


def count_judged(Judged judged, Ids docs, const int64_t[::1] offsets, const int64_t[::1] places):
    """How many rows of each query hold a judged document; query k is places[k] of the judgments, -1 for none."""
    cdef int64_t n = offsets.shape[0] - 1, k, i, j, m, q
    cdef const Index* index = judged.index(False)
    cdef Text[CHUNK_ROWS] some
    counts = np.zeros(n, np.int64)
    cdef int64_t[::1] out = counts
    for k in range(n):
        q = places[k]
        if q < 0:
            continue
        for i in range(offsets[k], offsets[k + 1], <int64_t>CHUNK_ROWS):
            m = min(offsets[k + 1] - i, <int64_t>CHUNK_ROWS)
            read(&docs.column, i, m, some)
            for j in range(m):
                out[k] += find_judged(index, q, judged.offsets[q], some + j, text_hash(some + j)) >= 0
    return counts
