"""The text of a JSON file {query_id: {doc_id: number}} to rows, as TREC lines are read: without an object for each.

In: the whole text, without NUL bytes. Out: the stretches of rows of its queries, in which an id is the place of its
bytes in the text; or None for all that is unusual, be it valid or not: strings with a backslash, values that are not
finite numbers, another structure, an empty object. Then json reads the text, and json_files finds what to say.

Ids are of the text's own bytes, which are those that decoding and encoding them with surrogateescape would give. The
json module makes 600 ns of objects for each row, this loop takes 40.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from fastir.columns._number cimport read_number

from fastir.columns._number import slow_number

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    WIDTH = 64              # bytes of a number, and one more

cdef struct Rows:           # what was found, in arrays that have room for as many rows as the text has colons
    const unsigned char* text
    int64_t* starts
    int64_t* lengths
    double* numbers
    int64_t n


cdef inline const unsigned char* after_blanks(const unsigned char* p) noexcept nogil:
    while p[0] == c" " or 9 <= p[0] <= 10 or p[0] == 13:
        p += 1
    return p


cdef inline const unsigned char* after_key(const unsigned char* p, const unsigned char** start,
                                           int64_t* length) noexcept nogil:
    """What is behind a string, its colon and blanks; NULL if that is not what stands there."""
    if p[0] != c'"':
        return NULL
    p += 1
    start[0] = p
    while p[0] >= 32 and p[0] != c'"' and p[0] != c"\\":
        p += 1
    length[0] = p - start[0]
    if p[0] != c'"':
        return NULL
    p = after_blanks(p + 1)
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
    cdef unsigned char[WIDTH] token
    if n < WIDTH:
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
        The query ids of stretches of rows, and their first rows (a list); of each row where its document id begins in
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
