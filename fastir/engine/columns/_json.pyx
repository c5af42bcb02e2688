"""The text of JSON files to rows, as TREC lines are read: without an object for each.

In: the whole text {query_id: {doc_id: number}}, without NUL bytes; or a block of JSON Lines, and the names of the
fields that are wanted. Out: rows in which an id is the position of its bytes in the text. All that is unusual, be it
valid or not, ends the reading: strings with a backslash, values that are not finite numbers, another structure, an
empty object. Then json reads the text, or pyarrow the lines that are left, and they find what to say.

Ids are of the text's own bytes, which are those that decoding and encoding them with surrogateescape would give. The
json module makes 600 ns of objects for each row, this loop takes 40.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy, strncmp

import numpy as np

from fastir.engine.columns._number cimport read_number

from fastir.engine.columns._number import slow_number

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    NUMBER_BYTES = 64   # bytes of a number, and one more
    MAX_FIELDS = 4      # that a row may have: a query, a document, a number, a run
    TEXT = 0            # kinds of fields
    INTEGER = 1
    NUMBER = 2
    MAX_DIGITS = 18     # of an integer that fits in 64 bits, whatever they are

cdef struct Rows:           # what was found, in arrays that have room for as many rows as the text has colons
    const unsigned char* text
    int64_t* starts
    int64_t* lengths
    double* numbers
    int64_t n

cdef struct Field:          # of JSON Lines: its name, its kind, and the arrays for its values
    const unsigned char* name
    int64_t name_length
    int kind
    int64_t* starts         # of texts, or the integers themselves
    int64_t* lengths
    double* numbers


cdef inline const unsigned char* after_blanks(const unsigned char* p) noexcept nogil:
    while p[0] == c" " or 9 <= p[0] <= 10 or p[0] == 13:
        p += 1
    return p


cdef inline const unsigned char* after_string(const unsigned char* p, const unsigned char** start,
                                              int64_t* length) noexcept nogil:
    """The end of a string; NULL if there is none."""
    if p[0] != c'"':
        return NULL
    p += 1
    start[0] = p
    while p[0] >= 32 and p[0] != c'"' and p[0] != c"\\":
        p += 1
    length[0] = p - start[0]
    return p + 1 if p[0] == c'"' else NULL


cdef inline const unsigned char* after_key(const unsigned char* p, const unsigned char** start,
                                           int64_t* length) noexcept nogil:
    """The end of a string, its colon and blanks; NULL if they are not there."""
    p = after_string(p, start, length)
    if p == NULL:
        return NULL
    p = after_blanks(p)
    return after_blanks(p + 1) if p[0] == c":" else NULL


cdef inline const unsigned char* after_digits(const unsigned char* p) noexcept nogil:
    """What is behind one digit or more; NULL if there is none."""
    cdef const unsigned char* start = p
    while <unsigned char>(p[0] - c"0") < 10:
        p += 1
    return p if p > start else NULL


cdef const unsigned char* after_number(const unsigned char* p) noexcept nogil:
    """What is behind a number as JSON has it, NULL if there is none."""
    p += p[0] == c"-"
    p = p + 1 if p[0] == c"0" else after_digits(p)
    if p != NULL and p[0] == c".":
        p = after_digits(p + 1)
    if p != NULL and p[0] | 32 == c"e":
        p += 1
        p = after_digits(p + (p[0] == c"-" or p[0] == c"+"))
    return p


cdef bint is_finite(const unsigned char* p, int64_t n, double* number) noexcept nogil:
    """Read the number in n bytes, if it is finite."""
    cdef unsigned char[NUMBER_BYTES] token
    if n < NUMBER_BYTES:
        memcpy(token, p, n)
        token[n] = c"\n"
        if read_number(token, number) == token + n:
            return True
    with gil:
        value = slow_number(<bytes>p[:n])
        if type(value) is float:
            number[0] = value
            return True
    return False


cdef const unsigned char* after_query(const unsigned char* p, Rows* rows) noexcept nogil:
    """Read an object of numbers; returns what is behind it, NULL if it is something else."""
    cdef const unsigned char* start
    cdef int64_t length
    if p[0] != c"{":
        return NULL
    p = after_blanks(p + 1)
    if p[0] == c"}":
        return p + 1
    while True:
        p = after_key(p, &start, &length)
        if p == NULL:
            return NULL
        rows.starts[rows.n], rows.lengths[rows.n] = start - rows.text, length
        start, p = p, after_number(p)
        if p == NULL or not is_finite(start, p - start, rows.numbers + rows.n):
            return NULL
        rows.n += 1
        p = after_blanks(p)
        if p[0] == c"}":
            return p + 1
        if p[0] != c",":
            return NULL
        p = after_blanks(p + 1)


def rows_from_json(bytes content):
    """The rows of a text {query_id: {doc_id: number}} without NUL bytes, or None if something in it is unusual.

    Returns
    -------
    None, or tuple
        The query ids of segments of rows, and their first rows (a list); for each row where its document id begins in
        the text and how long it is (int64), and its number (float64).
    """
    cdef int64_t room = content.count(b":") + 1, length
    cdef list queries = [], first_rows = []
    cdef const unsigned char* p = content
    cdef const unsigned char* query
    cdef Rows rows
    starts, lengths, numbers = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    cdef int64_t[::1] places = starts, sizes = lengths
    cdef double[::1] values = numbers
    rows.text, rows.starts, rows.lengths, rows.numbers, rows.n = p, &places[0], &sizes[0], &values[0], 0
    p = after_blanks(p)
    if p[0] != c"{":
        return None
    while p[0] != c"}":     # at first this is the brace, and then the comma before each query
        PyErr_CheckSignals()
        p = after_key(after_blanks(p + 1), &query, &length)
        if p == NULL:
            return None
        queries.append(query[:length].decode("utf-8", "surrogateescape"))
        first_rows.append(rows.n)
        with nogil:
            p = after_query(p, &rows)
        if p == NULL:
            return None
        p = after_blanks(p)
        if p[0] != c"," and p[0] != c"}":
            return None
    p = after_blanks(p + 1)
    if p != <const unsigned char*>content + len(content):
        return None
    return queries, first_rows, starts[:rows.n], lengths[:rows.n], numbers[:rows.n]


# ---- JSON Lines --------------------------------------------------------------------------------------------------


cdef const unsigned char* after_integer(const unsigned char* p, int64_t* integer) noexcept nogil:
    """What is behind a whole number of at most MAX_DIGITS digits, NULL if there is none."""
    cdef bint negative = p[0] == c"-"
    cdef const unsigned char* start = p + negative
    cdef const unsigned char* end = after_number(p)
    cdef int64_t value = 0
    if end == NULL or end - start > MAX_DIGITS:
        return NULL
    while start < end:
        if <unsigned char>(start[0] - c"0") >= 10:
            return NULL
        value = 10 * value + (start[0] - c"0")
        start += 1
    integer[0] = -value if negative else value
    return end


cdef const unsigned char* after_plain(const unsigned char* p) noexcept nogil:
    """What is behind a string, a number, true, false or null; NULL if it is something else."""
    cdef const unsigned char* start
    cdef int64_t length
    if p[0] == c'"':
        return after_string(p, &start, &length)
    if strncmp(<const char*>p, b"true", 4) == 0 or strncmp(<const char*>p, b"null", 4) == 0:
        return p + 4
    return p + 5 if strncmp(<const char*>p, b"false", 5) == 0 else after_number(p)


cdef inline const unsigned char* after_value(const unsigned char* p, Field* field, const unsigned char* text,
                                             int64_t row) noexcept nogil:
    """Read the value of a field; returns what is behind it, NULL if it is of another kind."""
    cdef const unsigned char* start = p
    if field.kind == TEXT:
        p = after_string(p, &start, field.lengths + row)
        field.starts[row] = start - text
    elif field.kind == INTEGER:
        p = after_integer(p, field.starts + row)
    else:
        p = after_number(p)
        if p != NULL and not is_finite(start, p - start, field.numbers + row):
            return NULL
    return p


cdef const unsigned char* after_row(const unsigned char* p, Field* fields, int n_fields, const unsigned char* text,
                                    int64_t row) noexcept nogil:
    """Read an object with all fields, each of them once; returns what is behind it, NULL if it is something else."""
    cdef const unsigned char* name
    cdef int64_t length
    cdef int place = 0, tried, seen = 0
    if p[0] != c"{":
        return NULL
    while True:             # at first this is the brace, and then the comma before each field
        p = after_key(after_blanks(p + 1), &name, &length)
        if p == NULL:
            return NULL
        for tried in range(n_fields):       # fields mostly have one order in all rows
            if length == fields[place].name_length and memcmp(name, fields[place].name, length) == 0:
                break
            place = place + 1 if place + 1 < n_fields else 0
        else:
            tried = n_fields
        if tried == n_fields:
            p = after_plain(p)
        elif seen & 1 << place:
            return NULL
        else:
            seen |= 1 << place
            p = after_value(p, fields + place, text, row)
            place = place + 1 if place + 1 < n_fields else 0
        if p == NULL:
            return NULL
        p = after_blanks(p)
        if p[0] == c"}":
            return p + 1 if seen == (1 << n_fields) - 1 else NULL
        if p[0] != c",":
            return NULL


def rows_from_json_lines(bytes content, list names, list kinds):
    """The rows of a block of JSON Lines, up to what is unusual.

    Parameters
    ----------
    content : bytes
    names : list of bytes
        Of the fields that are wanted, at most four; all rows must have them.
    kinds : list of int
        0 for text, 1 for integers, 2 for numbers.

    Returns
    -------
    tuple
        For each field a tuple: where its texts begin in the block and how long they are (int64), or its integers
        (int64), or its numbers (float64); the number of rows; and the number of bytes that they take.
    """
    cdef int64_t room = content.count(b"{") + 1, n = 0
    cdef int place, n_fields = len(names)
    cdef const unsigned char* text = content
    cdef const unsigned char* p = text
    cdef const unsigned char* end = text
    cdef const unsigned char* last = text + len(content)
    cdef Field[MAX_FIELDS] fields
    cdef int64_t[::1] integers
    cdef double[::1] numbers
    columns = []
    for place in range(n_fields):
        fields[place].name, fields[place].name_length = <bytes>names[place], len(names[place])
        fields[place].kind = kinds[place]
        if kinds[place] == NUMBER:
            column = (np.empty(room),)
            numbers = column[0]
            fields[place].numbers = &numbers[0]
        else:
            column = tuple(np.empty(room, np.int64) for _ in range(2 - kinds[place]))
            integers = column[0]
            fields[place].starts = &integers[0]
            integers = column[len(column) - 1]
            fields[place].lengths = &integers[0]
        columns.append(column)
    with nogil:
        while True:
            p = after_blanks(p)
            if p == last:
                end = last
                break
            p = after_row(p, fields, n_fields, text, n)
            if p == NULL:
                break
            n += 1
            end = p
    return [tuple([array[:n] for array in column]) for column in columns], n, end - text
