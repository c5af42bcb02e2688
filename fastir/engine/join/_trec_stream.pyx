"""A TREC run file evaluated while it is read.

    block   | rest of q7 | q8 ... q19 | q20 ...        cut at changes of query, any number of threads at work
                carried     thread 0     carried on

A block holds whole queries; the thread that reads it fills these queries' rows of values (_join). An error in a block
is returned with the number of its line in the block, because blocks before it may still be in work. A file that turns
out to be ungrouped is read again as columns, by the caller.
"""

import functools

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport Group
from fastir.engine.columns._trec cimport (MEMORY, Cursor, explain_line, is_contradicted, lines_read, scan_group,
                                          set_line_format)
from fastir.engine.join._join cimport Join, Part, not_summed
from fastir.engine.join._judged cimport QueryIndex
from fastir.engine.measure._codes cimport NO_MEMORY, NOT_SUMMED, REPEATED

from fastir.engine.columns.rows import CONTRADICTED
from fastir.errors import DuplicateError, FormatError, quote, remedy


cdef class Stream(Join):
    """Evaluates a run file from its blocks.

    Parameters
    ----------
    path : str
        For messages.
    format : LineFormat
    others
        As for Join.
    """

    cdef readonly object path
    cdef Cursor* cursors
    cdef const QueryIndex* query_index

    def __init__(self, path, format, rules, values, status, int n_threads):
        cdef int t
        super().__init__(rules, values, status, n_threads, False)
        self.path, self.query_index = path, self.judged.query_index(False)
        self.cursors = <Cursor*>calloc(n_threads, sizeof(Cursor))
        if self.cursors == NULL:
            raise MemoryError
        for t in range(n_threads):
            set_line_format(&self.cursors[t], format, True)

    def __dealloc__(self):
        free(self.cursors)

    @property
    def n_rows(self):
        cdef int t
        return sum([self.cursors[t].rows for t in range(self.n_threads)])

    @property
    def is_run(self):
        return True

    @property
    def repairs(self):
        """The lines that were skipped or repaired: {kind: (count, path)}."""
        cdef int t
        counts = {"blank lines": 0, "comment lines": 0, "CRLF line ends": 0, CONTRADICTED: 0}
        for t in range(self.n_threads):
            counts["blank lines"] += self.cursors[t].blank_lines
            counts["comment lines"] += self.cursors[t].comments
            counts["CRLF line ends"] += self.cursors[t].crlf
            counts[CONTRADICTED] += self.cursors[t].contradicted
        return {kind: (count, self.path) for kind, count in counts.items() if count}

    cdef void read_block(self, Part* part, Cursor* cursor) noexcept nogil:
        """Take its queries; a duplicate document is reported before an error in a later line of the query."""
        cdef fenv_t callers
        cdef int failed
        ordinary(&callers)
        part.failed = 0
        while cursor.p < cursor.stop and not part.failed:
            failed = scan_group(cursor, &part.group)
            if part.group.n > 0:
                cursor.contradicted += is_contradicted(cursor, &part.group)
                part.failed = self.take(part, self.query_index)
            part.failed = part.failed or failed
        fesetenv(&callers)

    def read(self, int t, int64_t number, unsigned char[::1] block, int64_t size):
        """Evaluate the whole queries of block[:size], the file's block `number`, in the scratch of thread t.

        block[size] becomes LF.

        Returns
        -------
        tuple
            The number of lines in the block; and None, or a function that takes the number of lines before the block
            and makes the exception for an error in it.
        """
        cdef Part* part = self.parts + t
        cdef Cursor* cursor = self.cursors + t
        cdef int64_t before = lines_read(cursor)
        block[size] = 10
        cursor.p = &block[0]
        cursor.stop = &block[size]
        with nogil:
            self.read_block(part, cursor)
        self.meet(part, number, False)
        return lines_read(cursor) - before, self.problem(part, cursor, &block[0]) if part.failed else None

    cdef problem(self, Part* part, Cursor* cursor, const unsigned char* text):
        cdef Group* g = &part.group
        cdef int64_t first, later
        if part.failed == MEMORY or part.failed == NO_MEMORY:
            return out_of_memory
        if part.failed == NOT_SUMMED:
            query = g.query.start[:g.query.length].decode("utf-8", "surrogateescape")
            return functools.partial(as_it_is, not_summed(g, query))
        if part.failed == REPEATED:
            first = newlines(text, <const unsigned char*>g.docs[part.seen.first].start) + 1
            later = newlines(text, <const unsigned char*>g.docs[part.seen.later].start) + 1
            doc = g.docs[part.seen.later].start[:g.docs[part.seen.later].length]
            return functools.partial(duplicate_in_block, doc, g.query.start[:g.query.length], first, later, self.path)
        message, column, shown = explain_line(cursor, part.failed)
        line = newlines(text, cursor.line) + 1
        return functools.partial(wrong_in_block, message, self.path, line, column, shown)


cdef int64_t newlines(const unsigned char* text, const unsigned char* stop) noexcept nogil:
    cdef int64_t n = 0
    while text < stop:
        n += text[0] == 10
        text += 1
    return n


def duplicate_error(bytes doc_id, bytes query_id, first, later, path, bint is_run):
    """The error for a duplicate document in a ranking or in a query's judgments; lines may be None."""
    doc, query = (quote(text.decode("utf-8", "surrogateescape")) for text in (doc_id, query_id))
    place = "" if first is None else f", first on line {first}"
    return DuplicateError(f"duplicate document {doc} in query {query}{place}; {remedy(is_run)}", path, later)


def out_of_memory(before):
    return MemoryError()


def as_it_is(error, before):
    return error


def duplicate_in_block(doc_id, query_id, first, later, path, before):
    return duplicate_error(doc_id, query_id, before + first, before + later, path, True)


def wrong_in_block(message, path, line, column, shown, before):
    return FormatError(message, path, before + line, column, shown)
