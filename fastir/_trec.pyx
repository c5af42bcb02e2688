"""TREC text to rows, without a Python object per line.

    run     query Q0 document rank score tag        six fields or more; the second, fourth and last are not read
    qrels   query iteration document label          exactly four

scan_group() reads the lines up to the next change of query and leaves ids where they are: as places in the chunk. Any
white space separates fields; LF and CRLF end lines; blank lines and lines that begin with '#' are skipped and counted.
What is wrong comes back as a number, with the line; explain_line() turns it into words. A plain loop over bytes is as
fast as masks of 16 bytes (measured), and needs no dispatch.

Reader collects the rows of a whole file as columns, for whoever needs all of them at once.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from fastir._fenv cimport fenv_t, fesetenv, ordinary
from fastir._number cimport read_number
from fastir._text cimport Group, Text, equal, room_for_rows

from fastir._number import slow_number
from fastir.errors import FormatError, quote

cdef inline const unsigned char* skip_token(const unsigned char* p) noexcept nogil:
    """Behind a token: at white space or NUL."""
    while True:
        while p[0] > 32:
            p += 1
        if p[0] == 32 or p[0] <= 13 and (p[0] >= 9 or p[0] == 0):
            return p
        p += 1


cdef inline const unsigned char* skip_blanks(const unsigned char* p) noexcept nogil:
    """At a token, or at LF, CR or NUL."""
    while p[0] == 32 or p[0] == 9 or p[0] == 11 or p[0] == 12:
        p += 1
    return p


cdef inline bint ends(unsigned char c) noexcept nogil:
    return c == 10 or c == 13 or c == 0


cdef bint first_field(const unsigned char* line, Text* field) noexcept nogil:
    """The first field of a line that is neither blank nor a comment."""
    cdef const unsigned char* p = skip_blanks(line)
    if line[0] == c'#' or ends(p[0]):
        return False
    field.start = <const char*>p
    field.length = skip_token(p) - p
    return True


cdef int slow_field(const unsigned char* p, int64_t n, double* out) noexcept with gil:
    value = slow_number((<const char*>p)[:n])
    if value is None:
        return NUMBER
    if value == "overflow":
        return OVERFLOW
    out[0] = value
    return 0


cdef inline const unsigned char* same_query(const unsigned char* p, const Group* g) noexcept nogil:
    """Behind the group's query id, if that stands at p; else NULL, as for a group without rows."""
    cdef const char* query = g.query.start
    cdef const char* stop = query + g.query.length
    if g.n == 0:
        return NULL
    while query < stop and p[0] == <unsigned char>query[0]:
        p += 1
        query += 1
    return p if query == stop and (p[0] == 32 or 9 <= p[0] <= 13 or p[0] == 0) else NULL


cdef int skip_line(Cursor* c, const unsigned char** next_line) noexcept nogil:
    """Count a line that is blank or a comment; 0, or what is wrong with it."""
    cdef const unsigned char* p = skip_blanks(c.line)
    cdef const unsigned char* number = NULL
    cdef int fields = 0, wanted = 6 if c.is_run else 4
    cdef double value
    while not ends(p[0]):
        fields += 1
        if fields == wanted - c.is_run:
            number = p
        p = skip_blanks(skip_token(p))
    if p[0] == 0:
        return NUL
    if fields and fields >= wanted and (c.is_run or fields == 4) and read_number(number, &value) != NULL:
        return DATA_COMMENT
    if fields:
        c.comments += 1
    else:
        c.blank_lines += 1
    next_line[0] = p
    return 0


cdef int scan_group(Cursor* c, Group* g) noexcept nogil:
    """Read rows up to the next query or the end into g; 0, or what is wrong with the line at c.line."""
    cdef const unsigned char* p = c.p
    cdef const unsigned char* token
    cdef const unsigned char* doc
    cdef int64_t doc_length
    cdef double value
    cdef int failed
    g.n = 0
    while p < c.stop:
        c.line = p
        if p[0] == c'#' or p[0] <= 32 and ends(skip_blanks(p)[0]):
            if c.split and g.n:
                c.p = p
                return 0
            failed = skip_line(c, &p)
            if failed:
                return failed
        else:
            token = skip_blanks(p)
            p = same_query(token, g)
            if p == NULL:
                if g.n > 0:
                    c.p = c.line
                    return 0
                p = skip_token(token)
                g.query.start = <const char*>token
                g.query.length = p - token
            p = skip_blanks(p)
            if ends(p[0]):
                return NUL if p[0] == 0 else FIELDS
            doc = skip_blanks(skip_token(p))
            p = skip_token(doc)
            doc_length = p - doc
            p = skip_blanks(p)
            if ends(p[0]):
                return NUL if p[0] == 0 else FIELDS
            if c.is_run:
                p = skip_blanks(skip_token(p))
                if ends(p[0]):
                    return NUL if p[0] == 0 else FIELDS
            token = p
            p = read_number(token, &value)
            if p == NULL:
                p = skip_token(token)
                failed = slow_field(token, p - token, &value)
                if failed:
                    return failed
            p = skip_blanks(p)
            if p[0] == 0:
                return NUL
            if c.is_run == ends(p[0]):
                return FIELDS
            if not c.is_run:
                if value > 2147483647.0 or value < -2147483648.0:
                    return LABEL_RANGE
                if value != <double><int64_t>value:
                    return LABEL_FRACTION
            while p[0] > 13 or not ends(p[0]):
                p += 1
            if p[0] == 0:
                return NUL
            if room_for_rows(g, 1) < 0:
                return MEMORY
            g.docs[g.n].start = <const char*>doc
            g.docs[g.n].length = doc_length
            g.scores[g.n] = value
            g.n += 1
            c.rows += 1
        if p[0] == 13:
            while p[0] == 13:
                p += 1
            if p[0] != 10:
                return CARRIAGE_RETURN
            c.crlf += 1
        p += 1
    c.p = c.stop
    return 0


cdef tuple explain_line(Cursor* c, int failed):
    """(message, column or None, the line as text) for what scan_group found."""
    cdef int64_t n = 0
    while c.line + n < c.stop and c.line[n] != 10:
        n += 1
    text = (<const char*>c.line)[:n]
    shown = text[:200].decode("utf-8", "backslashreplace")
    if failed == NUL:
        return "the line holds a NUL byte; the file looks truncated, binary or UTF-16", None, shown
    if failed == CARRIAGE_RETURN or failed == FIELDS and b"\r" in text.rstrip(b"\r"):
        return "malformed line: a carriage return inside it; expected lines that end in LF or CRLF", None, shown
    if failed == DATA_COMMENT:
        return "the line starts with '#' like a comment but has the fields of a data line; remove the '#' or the line", None, shown
    fields = text.split()
    if failed == FIELDS:
        return wrong_fields(c.is_run, shown, len(fields)), None, shown
    column = 5 if c.is_run else 4
    what = "score" if c.is_run else "label"
    query, doc_id, got = (fields[place].decode("utf-8", "backslashreplace") for place in (0, 2, column - 1))
    where = f" (query {bare(query)}, document {bare(doc_id)})"
    problem = {
        OVERFLOW: "is too large for a float",
        LABEL_RANGE: "is out of range; expected an integer from -2^31 to 2^31 - 1",
        LABEL_FRACTION: "is not an integer number",
    }.get(failed, "is not a number")
    if failed == NUMBER and got.lower().lstrip("+-").startswith("nan"):
        problem = "is not a number: NaN cannot be ranked"
    return f"{what} {quote(got)} {problem}{where}", column, shown


def bare(text):
    """An id for a message, shortened and escaped as by quote(), without the quotes."""
    return quote(text).strip("'\"")


def wrong_fields(is_run, shown, n):
    """The message for a line with the wrong number of fields, with a guess at what the file is."""
    kind, expected = ("run", "6 fields or more (query Q0 document rank score tag)") if is_run else (
        "qrels", "exactly 4 fields (query iteration document label)")
    hint = ""
    if shown.lstrip()[:1] in "{[":
        hint = "; it looks like JSON"
    elif "query-id" in shown or "corpus-id" in shown:
        hint = "; it looks like the header of a BEIR file"
    elif shown.count(",") >= 2 and n < 3:
        hint = "; it looks like CSV with comma separated columns"
    elif is_run and n == 4:
        hint = "; it looks like qrels: are the two files swapped?"
    elif not is_run and n >= 6:
        hint = "; it looks like a run: are the two files swapped?"
    elif n == 3:
        hint = "; it looks like an MS MARCO file of 3 columns"
    return f"malformed {kind} line with {n} fields, expected {expected}{hint}"


cdef class Reader:
    """Collects the rows of one file as columns.

    Parameters
    ----------
    path : str
        For messages.
    is_run : bool
    """

    cdef readonly object path
    cdef Cursor cursor
    cdef Group group
    cdef int64_t[::1] starts, lengths
    cdef double[::1] numbers
    cdef unsigned char[::1] arena
    cdef int64_t used
    cdef list group_ids, group_rows
    cdef list skips             # (first row behind skipped lines, how many were skipped until there)
    cdef int64_t skipped
    cdef bytes last_query
    cdef readonly int64_t n_rows

    def __init__(self, path, bint is_run):
        self.path = path
        memset(&self.cursor, 0, sizeof(Cursor))
        self.cursor.is_run = is_run
        self.cursor.split = True
        self.group_ids = []
        self.group_rows = []
        self.skips = [(0, 0)]
        self.starts = np.empty(0, np.int64)
        self.lengths = np.empty(0, np.int64)
        self.numbers = np.empty(0)
        self.arena = np.empty(0, np.uint8)

    def __dealloc__(self):
        free(self.group.docs)
        free(self.group.scores)

    @property
    def is_run(self):
        return self.cursor.is_run

    @property
    def repairs(self):
        """What was skipped or taken for what it meant: {kind: (count, path)}."""
        counts = {"blank lines": self.cursor.blank_lines, "comment lines": self.cursor.comments,
                  "CRLF line ends": self.cursor.crlf}
        return {kind: (count, self.path) for kind, count in counts.items() if count}

    def columns(self):
        """(arena, starts, lengths, numbers) of the rows, (first row, query id) of each run of one query."""
        arena = np.asarray(self.arena)[:self.used + 1]
        return (arena, np.asarray(self.starts)[:self.n_rows], np.asarray(self.lengths)[:self.n_rows],
                np.asarray(self.numbers)[:self.n_rows], np.array(self.group_rows, np.int64), self.group_ids)

    def line_of(self, row):
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
        while self.cursor.p < self.cursor.stop:
            with nogil:
                ordinary(&callers)
                failed = scan_group(&self.cursor, &self.group)
                fesetenv(&callers)
            if self.group.n:
                self.append()
            if failed:
                self.fail(failed)

    cdef fail(self, int failed):
        if failed == MEMORY:
            raise MemoryError
        message, column, shown = explain_line(&self.cursor, failed)
        line = lines_of(&self.cursor) + (failed != CARRIAGE_RETURN)     # found behind a line that is counted already
        raise FormatError(message, self.path, line, column, shown)

    cdef append(self):
        cdef int64_t i, size = 0
        cdef Group* g = &self.group
        for i in range(g.n):
            size += g.docs[i].length
        self.starts = grown(self.starts, self.n_rows, g.n)
        self.lengths = grown(self.lengths, self.n_rows, g.n)
        self.numbers = grown(self.numbers, self.n_rows, g.n)
        self.arena = grown(self.arena, self.used, size + 1)
        skipped = self.cursor.blank_lines + self.cursor.comments
        if skipped > self.skipped:
            self.skips.append((self.n_rows, skipped))
            self.skipped = skipped
        query = g.query.start[:g.query.length]
        if query != self.last_query:
            self.last_query = query
            self.group_ids.append(query)
            self.group_rows.append(self.n_rows)
        cdef int64_t* starts = &self.starts[0]
        cdef int64_t* lengths = &self.lengths[0]
        cdef double* numbers = &self.numbers[0]
        cdef unsigned char* arena = &self.arena[0]
        for i in range(g.n):
            memcpy(arena + self.used, g.docs[i].start, g.docs[i].length)
            starts[self.n_rows] = self.used
            lengths[self.n_rows] = g.docs[i].length
            numbers[self.n_rows] = g.scores[i]
            self.used += g.docs[i].length
            self.n_rows += 1


def last_line(const unsigned char[::1] block, int64_t size):
    """Where the line that may go on behind block[:size] begins."""
    while size > 0 and block[size - 1] != 10:
        size -= 1
    return size


def last_group(const unsigned char[::1] block, int64_t size):
    """Where the rows of the last query in block[:size] begin, which may go on; 0 if there is no other query."""
    cdef const unsigned char* text = &block[0]
    cdef int64_t start, end = last_line(block, size), begin = 0
    cdef Text query, last
    last.start, last.length = NULL, 0
    while end > 0:
        start = end - 1
        while start > 0 and text[start - 1] != 10:
            start -= 1
        if first_field(text + start, &query):
            if last.length and not equal(&query, &last):
                return begin
            last = query
            begin = start
        end = start
    return 0


cdef int64_t lines_of(const Cursor* c) noexcept nogil:
    """How many lines lie behind."""
    return c.rows + c.blank_lines + c.comments


def grown(old, int64_t used, int64_t more):
    """The array, or a longer copy with room for `more` entries behind the used ones."""
    if used + more <= len(old):
        return old
    new = np.empty(max(used + more, 2 * len(old), 1024), np.asarray(old).dtype)
    new[:used] = np.asarray(old)[:used]
    return new
