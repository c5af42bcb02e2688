"""Lines of text to rows, without a Python object per line.

    TREC run        query Q0 document rank score tag    six fields or more; the second and last are not read
    TREC qrels      query iteration document label      exactly four
    prefs           query judge part document level     exactly five
    strata          query iteration document stratum label      exactly five
    prels           query document label method probability     exactly five
    BEIR            query document score or label       exactly three, with single tabs between, below a header
    MS MARCO run    query document rank                 three; a fourth, the score, is not read

scan_group() reads the lines up to the next change of query and leaves ids where they are: as places in the chunk. Any
white space separates fields, but for BEIR, whose ids may hold blanks; LF and CRLF end lines; blank lines are skipped
and counted, and so are lines that begin with '#', but for BEIR. The problem of a line comes back as a code, with the
line; explain_line() turns it into words. The meaning of each field is data (LineFormat): the branches on it always go
the same way, and cost 3 % of the evaluation of a TREC file (measured). A usual line is read by masks of its first 64
bytes, 16 at a time, which all x86-64 processors can: a fifth less for a whole evaluation (measured). Any other line,
and all of them elsewhere, are read byte by byte, which is what decides what a line means.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from fastir.engine.columns._line_masks cimport HAS_LINE_MASKS, behind_digits, equal_to, lowest, up_to
from fastir.engine.columns._number cimport PADDING, quick_number, read_number
from fastir.engine.columns._text cimport Group, Text, equal, room_for_rows

from fastir.engine.columns._number import slow_number
from fastir.engine.columns.line_formats import WHAT, explain

cdef enum:              # what a number is
    ANY
    LABEL
    INTEGER
    RANK
    PROBABILITY         # or NA

cdef enum:              # how many fields follow it
    NONE
    AT_MOST_ONE
    SOME

PROBLEMS = {NUL: "nul", CARRIAGE_RETURN: "carriage return", FIELDS: "fields", NUMBER: "number", OVERFLOW: "overflow",
            RANGE: "range", DATA_COMMENT: "data comment", FRACTION: "fraction", QUOTATION: "quotation",
            NEGATIVE: "negative", IMPROBABLE: "improbable", NO_RANK: "no rank"}
FORMATS = []    # the line formats that have been read; a Cursor holds the place of its own


cdef set_line_format(Cursor* c, line_format, bint is_run):
    if line_format not in FORMATS:
        FORMATS.append(line_format)
    c.is_run = is_run
    c.line_format.format = FORMATS.index(line_format)
    c.line_format.query = line_format.query
    c.line_format.doc = line_format.doc - line_format.query + 1
    c.line_format.number = line_format.number
    c.line_format.kind = {"number": ANY, "label": LABEL, "integer": INTEGER, "rank": RANK,
                          "probability": PROBABILITY}[WHAT[line_format.what]]
    c.line_format.behind = {"none": NONE, "at most one": AT_MOST_ONE, "some": SOME}[line_format.behind]
    c.line_format.tabs = line_format.tabs
    c.line_format.ranked = line_format.ranked


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


cdef inline const unsigned char* behind_field(const unsigned char* p, bint tabs) noexcept nogil:
    """Behind a field: where a token ends, or with tabs, at a tab, LF, CR or NUL."""
    if not tabs:
        return skip_token(p)
    while p[0] > 13 or not (p[0] == 9 or ends(p[0])):
        p += 1
    return p


cdef inline const unsigned char* next_field(const unsigned char* p, bint tabs) noexcept nogil:
    return p + (p[0] == 9) if tabs else skip_blanks(p)


cdef inline bint is_digits(const unsigned char* p) noexcept nogil:
    """Whether a field consists of digits alone, down to a blank or a tab."""
    while c'0' <= p[0] <= c'9':
        p += 1
    return p[0] == 32 or p[0] == 9


cdef inline int no_field(const unsigned char* p, bint tabs) noexcept nogil:
    """The problem at a position where a field should begin, or 0."""
    if p[0] > 34:
        return 0
    if ends(p[0]):
        return NUL if p[0] == 0 else FIELDS
    if tabs and p[0] == 9:
        return FIELDS
    return QUOTATION if tabs and p[0] == c'"' else 0


cdef inline const unsigned char* same_query(const unsigned char* p, const Group* g, bint tabs) noexcept nogil:
    """The position behind the group's query id, if p points to that; else NULL, as for a group without rows."""
    cdef const char* query = g.query.start
    cdef const char* stop = query + g.query.length
    if g.n == 0:
        return NULL
    while query < stop and p[0] == <unsigned char>query[0]:
        p += 1
        query += 1
    if query < stop:
        return NULL
    if tabs:
        return p if p[0] == 9 else NULL
    return p if p[0] == 32 or 9 <= p[0] <= 13 or p[0] == 0 else NULL


cdef int skip_line(Cursor* c, const unsigned char** next_line) noexcept nogil:
    """Count a line that is blank or a comment; 0, or its problem."""
    cdef const unsigned char* p = skip_blanks(c.line)
    cdef const unsigned char* number = NULL
    cdef int fields = 0, behind
    cdef double value
    while not ends(p[0]):
        if fields == c.line_format.number:
            number = p
        fields += 1
        p = skip_blanks(skip_token(p))
    if p[0] == 0:
        return NUL
    behind = fields - c.line_format.number - 1
    if number != NULL and (behind > 0 if c.line_format.behind == SOME else behind <= c.line_format.behind) and (
            read_number(number, &value) != NULL or slow_field(number, skip_token(number) - number, &value) != NUMBER):
        return DATA_COMMENT
    if fields:
        c.comments += 1
    else:
        c.blank_lines += 1
    next_line[0] = p
    return 0


cdef inline int read_row(const LineFormat* line_format, Group* g, const unsigned char** at, bint tabs) noexcept nogil:
    """Read a row from behind its query id up to its end; 0, or its problem."""
    cdef const unsigned char* p = next_field(at[0], tabs)
    cdef const unsigned char* token
    cdef const unsigned char* doc
    cdef int64_t doc_length
    cdef double value
    cdef int failed, _skipped
    if line_format.doc == 2:
        if ends(p[0]):
            return NUL if p[0] == 0 else FIELDS
        p = next_field(behind_field(p, tabs), tabs)
    failed = no_field(p, tabs) if tabs else 0
    if failed:
        return failed
    doc = p
    p = behind_field(doc, tabs)
    doc_length = p - doc
    p = next_field(p, tabs)
    if ends(p[0]):
        return NUL if p[0] == 0 else FIELDS
    token = p
    for _skipped in range(line_format.doc + line_format.query, line_format.number):
        token = p
        p = next_field(behind_field(p, tabs), tabs)
        if ends(p[0]):
            return NUL if p[0] == 0 else FIELDS
    if line_format.ranked and not is_digits(token) and quick_number(token, &value) == NULL:
        if slow_field(token, behind_field(token, tabs) - token, &value) == NUMBER:
            return NO_RANK
    token = p
    p = quick_number(token, &value)
    if p == NULL:
        p = behind_field(token, tabs)
        if line_format.kind == PROBABILITY and p - token == 2 and token[0] == c"N" and token[1] == c"A":
            value = NAN
        else:
            failed = slow_field(token, p - token, &value)
            if failed:
                return failed
    p = skip_blanks(p)
    if p[0] == 0:
        return NUL
    if (line_format.behind == SOME) == ends(p[0]):
        if line_format.behind != AT_MOST_ONE:
            return FIELDS
        p = skip_blanks(skip_token(p))
        if not ends(p[0]):
            return FIELDS
    failed = meant(line_format, &value) if line_format.kind != ANY else 0
    if failed:
        return failed
    while p[0] > 13 or not ends(p[0]):
        p += 1
    if p[0] == 0:
        return NUL
    at[0] = p
    return add_row(g, doc, doc_length, value)


cdef inline uint64_t without_lowest(uint64_t bits) noexcept nogil:
    return bits & bits - 1


cdef inline bint same_word(const Text* x, const Text* y) noexcept nogil:
    """equal() for one to eight bytes, the lowest first, of a text where eight can be read."""
    cdef uint64_t v, w
    memcpy(&v, x.start, 8)
    memcpy(&w, y.start, 8)
    return x.length == y.length and (v ^ w) << 64 - 8 * x.length == 0


cdef inline bint read_usual_row(const Cursor* c, Group* g, const unsigned char** at) noexcept nogil:
    """Read a row up to its end, if it is as usual; else return False, and nothing is done.

    Usual are an id at the very start, all fields that matter within 64 bytes, no bytes below a blank but tabs, a number
    that quick_number reads, and room for the row. `starts` loses its lowest bits field by field.

        301 Q0 doc-7 1 12.5 tag    blanks  ...1..1.....1.1....1...1
                                   starts  ....1..1.....1.1....1...
    """
    cdef const LineFormat* line_format = &c.line_format
    cdef const unsigned char* line = at[0]
    cdef uint64_t controls, blanks, starts, before
    cdef int64_t doc
    cdef Text query
    if c.stop - line < 64 + PADDING or line[0] <= c"#" or g.n == g.capacity:
        return False
    blanks = up_to(line, 32)
    controls = blanks & ~equal_to(line, 32)
    if controls and line[lowest(controls)] == 9:
        controls ^= equal_to(line, 9)
    starts = blanks << 1 & ~blanks
    if controls:
        starts &= controls ^ controls - 1           # up to the end of the line
    if line_format.doc == 2:
        starts = without_lowest(starts)
    doc = lowest(starts | <uint64_t>1 << 63)
    starts = before = without_lowest(starts)
    if line_format.number > line_format.doc + 1:
        starts = without_lowest(starts)
    if starts == 0 or quick_number(line + lowest(starts), &g.scores[g.n]) == NULL:
        return False
    if line_format.ranked and not blanks >> lowest(before) & behind_digits(line + lowest(before)):
        return False
    query.start, query.length = <const char*>line, lowest(blanks)
    if g.n and not (same_word(&query, &g.query) if query.length <= 8 else equal(&query, &g.query)):
        return False
    starts = without_lowest(starts)
    if (starts != 0) != (line_format.behind == SOME) or starts | controls == 0:
        return False
    if line_format.kind != ANY and meant(line_format, &g.scores[g.n]):
        return False
    g.docs[g.n].start = <const char*>line + doc
    g.docs[g.n].length = lowest(blanks >> doc)
    line += lowest(controls) if controls else 64
    while not controls and (line[0] > 13 or not ends(line[0])):
        line += 1
    if line[0] != 10 and line[0] != 13:
        return False
    if g.n == 0:
        g.query = query
    g.n += 1
    at[0] = line
    return True


cdef inline int add_row(Group* g, const unsigned char* doc, int64_t doc_length, double value) noexcept nogil:
    if room_for_rows(g, 1) < 0:
        return MEMORY
    g.docs[g.n].start = <const char*>doc
    g.docs[g.n].length = doc_length
    g.scores[g.n] = value
    g.n += 1
    return 0


cdef int meant(const LineFormat* line_format, double* number) noexcept nogil:
    """Turn the number of a line that is a label or a rank into what is kept; 0, or its problem."""
    cdef double value = number[0]
    if line_format.kind == PROBABILITY:
        return IMPROBABLE if value <= 0.0 or value > 1.0 else 0
    if value > 2147483647.0 or value < -2147483648.0:
        return RANGE
    if line_format.kind == LABEL:
        return 0
    if value != <double><int64_t>value:
        return FRACTION
    if line_format.kind == RANK:
        if value < 0.0:
            return NEGATIVE
        number[0] = 0.0 - value
    return 0


cdef int scan_group(Cursor* c, Group* g) noexcept nogil:
    """Read rows up to the next query or the end into g; 0, or the problem of the line at c.line."""
    cdef const unsigned char* p = c.p
    cdef const unsigned char* token
    cdef bint tabs = c.line_format.tabs, masked
    cdef int failed, _more
    masked = HAS_LINE_MASKS and not tabs and c.line_format.query == 1 and c.line_format.number <= c.line_format.doc + 2
    g.n = 0
    while p < c.stop:
        c.line = p
        if masked and read_usual_row(c, g, &p):
            c.rows += 1
        elif p[0] == c'#' and not tabs or p[0] <= 32 and ends(skip_blanks(p)[0]):
            if c.split and g.n:
                c.p = p
                return 0
            failed = skip_line(c, &p)
            if failed:
                return failed
        else:
            token = p if tabs else skip_blanks(p)
            p = same_query(token, g, tabs)
            if p == NULL:
                if g.n > 0:
                    c.p = c.line
                    return 0
                failed = no_field(token, tabs) if tabs else 0
                if failed:
                    return failed
                p = behind_field(token, tabs)
                for _more in range(1, c.line_format.query):
                    p = skip_token(skip_blanks(p))
                g.query.start = <const char*>token
                g.query.length = p - token
            failed = read_row(&c.line_format, g, &p, tabs)
            if failed:
                return failed
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


cdef bint is_contradicted(const Cursor* c, const Group* g) noexcept nogil:
    """Whether the ranks of the first and the last row of a group say the opposite of their scores.

    Ranks that are no numbers say nothing. The ids must still lie in the chunk.
    """
    cdef double first, last
    if not c.is_run or c.line_format.number != 4 or g.n < 2 or g.scores[0] == g.scores[g.n - 1]:
        return False
    if not rank_behind(g.docs, &first) or not rank_behind(g.docs + g.n - 1, &last) or first == last:
        return False
    return (first < last) == (g.scores[0] < g.scores[g.n - 1])


cdef bint rank_behind(const Text* doc, double* rank) noexcept nogil:
    """The number behind an id, in the same line."""
    return quick_number(skip_blanks(<const unsigned char*>doc.start + doc.length), rank) != NULL


cdef tuple explain_line(Cursor* c, int failed):
    """(message, column or None, the line as text) for what scan_group returned."""
    cdef int64_t n = 0
    while c.line + n < c.stop and c.line[n] != 10:
        n += 1
    return explain(FORMATS[<int>c.line_format.format], PROBLEMS[failed], (<const char*>c.line)[:n])


def last_line(const unsigned char[::1] block, int64_t size):
    """Where the line that may go on behind block[:size] begins."""
    while size > 0 and block[size - 1] != 10:
        size -= 1
    return size


def last_group(const unsigned char[::1] block, int64_t size, int64_t one_query):
    """The position in block[:size] of the rows of the last query, which may go on; 0 if there is no other query.

    The whole lines of block[:one_query] are of one query.
    """
    cdef int64_t begin, end = last_line(block, size)
    cdef const unsigned char* text = &block[0]
    one_query = last_line(block, one_query)
    with nogil:
        begin = last_query_start(text, end, one_query)
    return begin


cdef int64_t last_query_start(const unsigned char* text, int64_t end, int64_t one_query) noexcept nogil:
    """last_group() for whole lines, of which those that begin before `one_query` are of one query."""
    cdef int64_t start, begin = 0
    cdef Text query, last
    last.start, last.length = NULL, 0
    while end > 0:
        start = end - 1
        while start > 0 and text[start - 1] != 10:
            start -= 1
        if first_field(text + start, &query):
            if last.length and not equal(&query, &last):
                return begin
            if start < one_query:
                return 0
            last = query
            begin = start
        end = start
    return 0


cdef int64_t lines_read(const Cursor* c) noexcept nogil:
    """How many lines lie behind."""
    return c.rows + c.headers + c.blank_lines + c.comments
