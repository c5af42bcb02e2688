# Reading TREC text, one query's rows at a time.
from libc.stdint cimport int64_t

from fastir.engine.columns._ids cimport Group


cdef enum:              # the problems of a line
    NUL = 1
    CARRIAGE_RETURN = 2
    FIELDS = 3
    NUMBER = 4
    OVERFLOW = 5
    RANGE = 6
    DATA_COMMENT = 7
    FRACTION = 8
    MEMORY = 9
    QUOTATION = 10
    NEGATIVE = 11
    IMPROBABLE = 12
    NO_RANK = 13


cdef struct LineFormat:     # line_formats.LineFormat in numbers
    int format, query, doc, number, kind, behind
    bint tabs
    bint ranked                 # whether the field before the number must be one, too


cdef struct Cursor:
    const unsigned char* p      # next byte to read
    const unsigned char* stop   # behind the last byte; it is LF
    const unsigned char* line   # where the line in work begins
    LineFormat line_format
    bint is_run
    bint grouped                # whether the second field belongs to the query
    bint split                  # whether a skipped line ends a group
    int64_t rows, headers, blank_lines, comments, crlf      # so far
    int64_t contradicted        # groups with ranks that contradict their scores, so far


cdef set_line_format(Cursor* c, line_format, bint is_run)
cdef int scan_group(Cursor* c, Group* g) noexcept nogil
cdef bint is_contradicted(const Cursor* c, const Group* g) noexcept nogil
cdef tuple explain_line(Cursor* c, int failed)
cdef int64_t lines_read(const Cursor* c) noexcept nogil


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
