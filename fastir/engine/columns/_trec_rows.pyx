"""The rows of a whole file as columns, for callers that need all of them at once.

    rows         d7 d2 | d1 d4 d9 | d2 ...      numbers, and documents one behind the other in an arena
    stretches    q1    | q2       | q1 ...      of one query each; a query that comes back begins another

A block is taken without the GIL, and with one change of the floating-point environment. No Python object is made per
row, and per stretch only the query's id, at the end. Whether a query comes back is seen from the hashes of the ids,
sorted: equal ones may be different queries, of which the caller's dict then knows better. Who wants one query has the
others read and checked, and not kept.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._text cimport Group, Text, copy_text, equal, text_hash
from fastir.engine.columns._trec cimport (CARRIAGE_RETURN, MEMORY, Cursor, explain_line, is_contradicted, lines_read,
                                          scan_group, set_line_format)

from fastir.engine.columns.other_formats import HEADER
from fastir.engine.columns.rows import CONTRADICTED
from fastir.errors import FormatError, quote

cdef enum:
    SHORTEST = 6        # bytes of a row: of BEIR, with its line end


cdef class Reader:
    """Collects the rows of one file as columns.

    Parameters
    ----------
    path : str
        For messages.
    is_run : bool
    line_format : LineFormat
    only : bytes or None
        The query whose rows are kept; None keeps those of all.
    """

    cdef readonly object path
    cdef bytes only
    cdef Text wanted                            # the same, where the GIL is not held
    cdef Cursor cursor
    cdef Group group
    cdef int64_t[::1] lengths                   # of the document of each row in the arena
    cdef double[::1] numbers
    cdef unsigned char[::1] arena, queries      # of the documents; the queries one behind the other
    cdef int64_t[::1] first_rows, query_ends    # of each stretch of rows of one query
    cdef uint64_t[::1] query_hashes
    cdef int64_t used, n_stretches
    cdef list skips             # (first row behind skipped lines and rows, how many were skipped until there)
    cdef int64_t skipped
    cdef readonly int64_t n_rows

    def __init__(self, path, bint is_run, line_format, bytes only=None):
        self.path = path
        self.only = only
        if only is not None:
            self.wanted.start, self.wanted.length = only, len(only)
        memset(&self.cursor, 0, sizeof(Cursor))
        set_line_format(&self.cursor, line_format, is_run)
        self.cursor.split = True
        self.skips = [(0, 0)]
        self.lengths = self.first_rows = self.query_ends = np.empty(0, np.int64)
        self.numbers = np.empty(0)
        self.arena = self.queries = np.empty(0, np.uint8)
        self.query_hashes = np.empty(0, np.uint64)

    def __dealloc__(self):
        free(self.group.docs)
        free(self.group.scores)

    @property
    def is_run(self):
        return self.cursor.is_run

    @property
    def is_empty(self):
        """Whether the file has no row, of whichever query."""
        return self.cursor.rows == 0

    @property
    def repairs(self):
        """The lines that were skipped or repaired: {kind: (count, path)}."""
        counts = {"blank lines": self.cursor.blank_lines, "comment lines": self.cursor.comments,
                  "CRLF line ends": self.cursor.crlf, CONTRADICTED: self.cursor.contradicted}
        return {kind: (count, self.path) for kind, count in counts.items() if count}

    def columns(self):
        """The rows, once all are read.

        Returns
        -------
        arena, starts, lengths : arrays
            Of the documents.
        numbers : float64 array
        first_rows : int64 array
            Of each stretch of rows of one query.
        query_ids : list of str
            Aligned with first_rows.
        is_grouped : bool
            Whether no query is known to come back.
        """
        cdef int64_t i, start = 0, n = self.n_stretches
        cdef const char* text = <const char*>&self.queries[0]
        hashes = np.asarray(self.query_hashes)[:n]
        hashes.sort()
        is_grouped = not (hashes[1:] == hashes[:-1]).any()
        self.query_hashes = hashes = None       # before the ids take their room
        query_ids = [None] * n
        for i in range(n):
            query_ids[i] = text[start:self.query_ends[i]].decode("utf-8", "surrogateescape")
            start = self.query_ends[i]
        self.queries = self.query_ends = None
        lengths = np.asarray(self.lengths)[:self.n_rows]
        starts = np.zeros(self.n_rows, np.int64)
        np.cumsum(lengths[:-1], out=starts[1:])
        return (np.asarray(self.arena)[:self.used + 1], starts, lengths, np.asarray(self.numbers)[:self.n_rows],
                np.asarray(self.first_rows)[:n], query_ids, is_grouped)

    def line_number(self, row):
        """The line that a row came from."""
        import bisect

        place = bisect.bisect_right(self.skips, (row, 1 << 62)) - 1
        return row + 1 + self.skips[place][1]

    def read(self, unsigned char[::1] block, int64_t size):
        """Read the whole lines of block[:size]; block[size] becomes LF."""
        cdef int failed
        cdef fenv_t callers
        block[size] = 10
        self.cursor.p = &block[0]
        self.cursor.stop = &block[size]
        if self.cursor.line_format.tabs and lines_read(&self.cursor) == 0:
            self.read_header()
        self.reserve(size)
        with nogil:
            ordinary(&callers)
            failed = 0
            while self.cursor.p < self.cursor.stop and not failed:
                failed = scan_group(&self.cursor, &self.group)
                if self.group.n and (self.wanted.start == NULL or equal(&self.group.query, &self.wanted)):
                    self.append()
            fesetenv(&callers)
        if failed:
            self.fail(failed)

    cdef reserve(self, int64_t size):
        """Make room for the rows in a block; memory that is not used in the end is never touched."""
        cdef int64_t rows = size // SHORTEST + 1, n = self.n_stretches, end = self.query_ends[n - 1] if n else 0
        if self.used + size + 1 > self.arena.shape[0]:
            self.arena = longer(self.arena, self.used, size + 1)
        if end + size + 1 > self.queries.shape[0]:
            self.queries = longer(self.queries, end, size + 1)
        if self.n_rows + rows > self.lengths.shape[0]:
            self.lengths = longer(self.lengths, self.n_rows, rows)
            self.numbers = longer(self.numbers, self.n_rows, rows)
        if n + rows > self.first_rows.shape[0]:
            self.first_rows = longer(self.first_rows, n, rows)
            self.query_ends = longer(self.query_ends, n, rows)
            self.query_hashes = longer(self.query_hashes, n, rows)

    cdef read_header(self):
        cdef Cursor* c = &self.cursor
        cdef int64_t n = 0
        while c.p[n] != 10:
            n += 1
        text = c.p[:n]
        c.crlf += text.endswith(b"\r")
        text = text[:200].decode("utf-8", "backslashreplace")
        if text.strip() != HEADER:
            raise FormatError(f"the header is {quote(text)}, expected {HEADER!r}", self.path, 1, None, text)
        c.headers = 1
        c.p += n + 1

    cdef fail(self, int failed):
        if failed == MEMORY:
            raise MemoryError
        message, column, shown = explain_line(&self.cursor, failed)
        line = lines_read(&self.cursor) + (failed != CARRIAGE_RETURN)     # found behind a line that is counted already
        raise FormatError(message, self.path, line, column, shown)

    cdef void append(self) noexcept nogil:
        cdef int64_t i, end = 0, n = self.n_stretches, row = self.n_rows, used = self.used
        cdef const Group* g = &self.group
        cdef int64_t skipped = lines_read(&self.cursor) - g.n - row
        cdef Text last
        cdef Cursor* cursor = &self.cursor
        if skipped > self.skipped:
            self.skipped = skipped
            with gil:
                self.skips.append((row, skipped))
        if n:
            end = self.query_ends[n - 1]
            last.length = end - (self.query_ends[n - 2] if n > 1 else 0)
            last.start = <const char*>&self.queries[end - last.length]
        if n == 0 or not equal(&g.query, &last):
            memcpy(&self.queries[end], g.query.start, g.query.length)
            self.query_ends[n] = end + g.query.length
            self.query_hashes[n] = text_hash(&g.query)
            self.first_rows[n] = row
            self.n_stretches = n + 1
            cursor.contradicted += is_contradicted(cursor, g)
        for i in range(g.n):
            copy_text(g.docs + i, <char*>&self.arena[used])
            self.lengths[row] = g.docs[i].length
            self.numbers[row] = g.scores[i]
            row += 1
            used += g.docs[i].length
        self.n_rows = row       # not counted in place, which the checks of a debug build need the GIL for
        self.used = used


cdef longer(old, int64_t used, int64_t more):
    """A copy with room for `more` entries behind the used ones, and for as many again, which are not touched yet."""
    new = np.empty(2 * (used + more), np.asarray(old).dtype)
    new[:used] = np.asarray(old)[:used]
    return new
