"""Lines of text to rows, without a Python object per line.

    TREC run        query Q0 document rank score tag    six fields or more; the second and last are not read
    TREC qrels      query iteration document label      exactly four
    prefs           query judge part document level     exactly five
    strata          query iteration document stratum label      exactly five
    prels           query document label method probability     exactly five
    BEIR            query document score or label       exactly three, with single tabs between, below a header
    MS MARCO run    query document rank                 three; a fourth, the score, is not read
    pairs           query document                      exactly two: judgments without labels, each number is 1

scan_group() reads the lines up to the next change of query and leaves ids where they are: as positions in the chunk.
Any white space separates fields, except in BEIR, where ids may hold blanks; LF and CRLF end lines; blank lines are
skipped and counted, and so are lines that begin with '#', except in BEIR. The problem of a line comes back as a code,
with the line; explain_line() turns it into words. The meaning of each field is data (LineFormat): the branches on it
always go the same way, and cost 3 % of the evaluation of a TREC file (measured). A usual line is read by masks of its
first 64 bytes, 16 at a time, which all x86-64 processors can: a fifth less for a whole evaluation (measured). Any other
line, and all of them elsewhere, are read byte by byte, which is what decides what a line means.

Reader makes columns of the rows of a whole file, for callers that need all of them at once:

    rows         d7 d2 | d1 d4 d9 | d2 ...      numbers, and documents one behind the other in an arena
    segments     q1    | q2       | q1 ...      of one query each; a query that comes back begins another

A block is taken without the GIL, and with one change of the floating-point environment. No Python object is made per
row, and per segment only the query's id, at the end. Whether a query comes back is seen from the hashes of the ids,
sorted: equal ones may be different queries, of which the caller's dict then knows better. Who wants one query has the
others read and checked, and not kept.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._number cimport PADDING_BYTES, quick_number, read_number
from fastir.engine.columns._ids cimport Group, Text, copy_text, equal, room_for_rows, text_hash

import numpy as np

from fastir.engine.columns._number import slow_number
from fastir.engine.columns.line_formats import WHAT, explain
from fastir.engine.columns.other_formats import HEADER
from fastir.engine.columns.rows import CONTRADICTED
from fastir.errors import FormatError, quote

# Where the fields of a short line begin and end: a bit for each of 64 bytes, with the 16-byte words that all have.
cdef extern from *:
    """
    #include <stdint.h>
    #include "_bits.h"
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #define FASTIR_LINE_MASKS 1

    static inline uint64_t fastir_bits(__m128i a, __m128i b, __m128i c, __m128i d)
    {
        uint32_t low = (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
        uint32_t high = (uint32_t)_mm_movemask_epi8(c) | (uint32_t)_mm_movemask_epi8(d) << 16;
        return low | (uint64_t)high << 32;
    }

    /* Which of 64 bytes are at most `most`. */
    static inline uint64_t fastir_up_to(const unsigned char *p, int most)
    {
        const __m128i limit = _mm_set1_epi8((char)most);
        __m128i v[4];
        for (int i = 0; i < 4; i++) {
            v[i] = _mm_loadu_si128((const __m128i *)p + i);
            v[i] = _mm_cmpeq_epi8(_mm_min_epu8(v[i], limit), v[i]);
        }
        return fastir_bits(v[0], v[1], v[2], v[3]);
    }

    /* Which of 64 bytes are `one`. */
    static inline uint64_t fastir_equal_to(const unsigned char *p, int one)
    {
        const __m128i same = _mm_set1_epi8((char)one);
        __m128i v[4];
        for (int i = 0; i < 4; i++)
            v[i] = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p + i), same);
        return fastir_bits(v[0], v[1], v[2], v[3]);
    }
    /* A bit for the first of 16 bytes that is no digit; the next bit if all are. */
    static inline uint64_t fastir_behind_digits(const unsigned char *p)
    {
        __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
        uint32_t digits = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v));
        return digits + 1 & ~digits;
    }
    #else
    #define FASTIR_LINE_MASKS 0
    static inline uint64_t fastir_behind_digits(const unsigned char *p) { return (unsigned)(*p - '0') > 9; }
    static inline uint64_t fastir_up_to(const unsigned char *p, int most) { return *p <= most; }
    static inline uint64_t fastir_equal_to(const unsigned char *p, int one) { return *p == one; }
    #endif
    """
    bint HAS_LINE_MASKS "FASTIR_LINE_MASKS"
    uint64_t up_to "fastir_up_to"(const unsigned char*, int most) noexcept nogil
    uint64_t equal_to "fastir_equal_to"(const unsigned char*, int one) noexcept nogil
    uint64_t behind_digits "fastir_behind_digits"(const unsigned char*) noexcept nogil
    int lowest "fastir_lowest"(uint64_t) noexcept nogil

cdef enum:              # what a number is
    ANY
    LABEL
    INTEGER
    RANK
    PROBABILITY         # or NA
    MISSING             # the document is the last field

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
                          "probability": PROBABILITY, "none": MISSING}[WHAT[line_format.what]]
    c.line_format.behind = {"none": NONE, "at most one": AT_MOST_ONE, "some": SOME}[line_format.behind]
    c.line_format.tabs = line_format.tabs
    c.line_format.ranked = line_format.ranked


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
    if c.line_format.kind == MISSING:
        number = NULL
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
    failed = no_field(p, tabs) if tabs else 0       # blanks never leave an empty field between them, tabs may
    if failed:
        return failed
    doc = p
    p = behind_field(doc, tabs)
    doc_length = p - doc
    p = next_field(p, tabs)
    if line_format.kind == MISSING and doc_length and ends(p[0]) and p[0]:
        at[0] = p
        return add_row(g, doc, doc_length, 1.0)
    if ends(p[0]) or line_format.kind == MISSING:
        return NUL if p[0] == 0 else FIELDS
    token = p       # then the field before the number, which a line with ranks has to have as one
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
    if p == NULL:       # the rare number that only float() decides, which needs the GIL
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
    failed = check_number(line_format, &value) if line_format.kind != ANY else 0
    if failed:
        return failed
    while p[0] > 13 or not ends(p[0]):      # no line end is above 13: one comparison for nearly every byte
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
    if c.stop - line < 64 + PADDING_BYTES or line[0] <= c"#" or g.n == g.capacity:
        return False
    blanks = up_to(line, 32)
    controls = blanks & ~equal_to(line, 32)
    if controls and line[lowest(controls)] == 9:
        controls ^= equal_to(line, 9)
    starts = blanks << 1 & ~blanks      # a field begins where a blank is followed by none
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
    if line_format.kind != ANY and check_number(line_format, &g.scores[g.n]):
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


cdef int check_number(const LineFormat* line_format, double* number) noexcept nogil:
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
    masked = masked and c.line_format.kind != MISSING
    g.n = 0
    while p < c.stop:
        c.line = p
        if masked and read_usual_row(c, g, &p):     # nearly every line; the rest of the loop decides what others mean
            c.rows += 1
        elif p[0] == c'#' and not tabs or p[0] <= 32 and ends(skip_blanks(p)[0]):
            if c.split and g.n:     # the group ends here, and the next call skips the line
                c.p = p
                return 0
            failed = skip_line(c, &p)
            if failed:
                return failed
        else:
            token = p if tabs else skip_blanks(p)
            p = same_query(token, g, tabs)
            if p == NULL:
                if g.n > 0:         # another query: its first line is read by the next call
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


# ---- a whole file ----------------------------------------------------------------------------------------------------
cdef enum:
    MIN_ROW_BYTES = 6        # bytes of a row: of BEIR, with its line end


cdef class Reader:
    """Collects the rows of one file as columns, of one query (`only`, bytes) or of all; `path` is for messages."""

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

        The documents as bytes, starts and lengths; numbers; where each segment of rows of one query begins, and its
        query id (list of str); and whether no query is known to come back.
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
        cdef int64_t rows = size // MIN_ROW_BYTES + 1, n = self.n_stretches, end = self.query_ends[n - 1] if n else 0
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
