# Reading TREC text, one query's rows at a time.
from libc.stdint cimport int64_t

from fastir._text cimport Group, Text


cdef struct Cursor:
    const unsigned char* p      # next byte to read
    const unsigned char* stop   # behind the last; LF stands there
    const unsigned char* line   # where the line in work begins
    bint is_run
    bint split                  # whether a skipped line ends a group
    int64_t rows, blank_lines, comments, crlf       # so far


cdef int scan_group(Cursor* c, Group* g) noexcept nogil
cdef tuple explain_line(Cursor* c, int failed)
cdef int64_t lines_of(const Cursor* c) noexcept nogil
cdef bint first_field(const unsigned char* line, Text* field) noexcept nogil
