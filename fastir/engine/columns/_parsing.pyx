"""Text to rows, without an object for each: JSON files, lists of ids in cells, files for learning to rank."""

from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp, memcpy, strncmp

from fastir.engine.columns._ids cimport is_blank
from fastir.engine.columns._number cimport read_number

import numpy as np

from fastir.engine.columns._number import slow_number


# ---- JSON files -----------------------------------------------------------------------------------------------------

# In: the whole text {query_id: {doc_id: number}}, without NUL bytes; or a block of JSON Lines, and the names of the
# fields that are wanted. Out: rows in which an id is the position of its bytes in the text. All that is unusual, be it
# valid or not, ends the reading: strings with a backslash, values that are not finite numbers, another structure, an
# empty object. Then json reads the text, or pyarrow the lines that are left, and they find what to say.
#
# Ids are of the text's own bytes, which are those that decoding and encoding them with surrogateescape would give. The
# json module makes 600 ns of objects for each row, this loop takes 40.

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    NUMBER_BYTES = 64   # bytes of a number, and one more
    MAX_FIELDS = 4      # that a row may have: a query, a document, a number, a run
    TEXT = 0            # kinds of fields and ids
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

    They are the query ids of segments of rows, and their first rows (a list); for each row where its document id begins
    in the text and how long it is (int64), and its number (float64).
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
    """The rows of a block of JSON Lines, up to what is unusual: up to four fields of these names (bytes) and kinds.

    For each field a tuple: where its texts begin in the block and how long they are (int64), or its integers (int64),
    or its numbers (float64); then the number of rows, and of the bytes that they take.
    """
    cdef int64_t room = content.count(b"{") + 1, n = 0      # braces within texts only make it larger
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
            if p == NULL:       # the rows before stay; pyarrow reads the block from `end` on
                break
            n += 1
            end = p
    return [tuple([array[:n] for array in column]) for column in columns], n, end - text


# ---- lists of ids ---------------------------------------------------------------------------------------------------

# They come in the cells of a table, and in JSON files {query: [id, ...]}.
#
# In: the bytes of all cells and where each begins, or the bytes of a file. Out: where each list begins among the ids,
# and where each id lies in the same bytes; integers are read. Nothing is copied, and each byte is looked at once or
# twice.
#
# A cell is a list in brackets, as JSON, Python and NumPy print it, or ids with commas or blanks between them. `survey`
# finds which of these a column has, before `read_cells` reads all of it in that form. Strings in brackets may have
# escapes, which are left to the caller. What is no list ends the reading with a problem and its position; in a file,
# with None: json then finds what to say. To split the text of 1 000 cells of 12 ids takes 0.1 ms, str.split 0.6,
# json.loads 2.

cdef enum:
    MAX_ID_DIGITS = 19         # of an integer
    BRACKETS = 0            # forms of cells
    COMMAS = 1

cdef enum:                  # what is wrong; inputs/list_cells.py has the words
    GAP = 1
    UNCLOSED = 2
    NESTED = 3
    BARE = 4
    NO_COMMA = 5
    BEHIND = 6
    MIXED = 7
    UNOPENED = 8
    COMMA = 9
    CUT = 10

cdef const char* ESCAPES = b'"\\/bfnrt'
cdef const char* ESCAPED = b'"\\/\b\f\n\r\t'

cdef struct Found:          # the ids so far
    const unsigned char* text
    int64_t* starts         # of texts, or the integers themselves
    int64_t* lengths
    int64_t n
    int kind                # TEXT or INTEGER; -1 before the first
    bint single             # whether single quotes are quotes
    bint escapes            # whether a string has a backslash
    unsigned char mark      # what separates ids in brackets, a comma or a blank; 0 before the first
    int problem
    const unsigned char* at     # where the problem is


cdef inline const unsigned char* skip(const unsigned char* p, const unsigned char* end) noexcept nogil:
    while p < end and is_blank(p[0]):
        p += 1
    return p


cdef inline const unsigned char* skip_back(const unsigned char* start, const unsigned char* end) noexcept nogil:
    while end > start and is_blank((end - 1)[0]):
        end -= 1
    return end


cdef const unsigned char* fail(Found* found, int problem, const unsigned char* at) noexcept nogil:
    found.problem, found.at = problem, at
    return NULL


cdef inline void append(Found* found, int64_t start, int64_t length) noexcept nogil:
    found.starts[found.n], found.lengths[found.n] = start, length
    found.n += 1


cdef const unsigned char* after_id_number(const unsigned char* p, const unsigned char* end,
                                        int64_t* integer) noexcept nogil:
    """What is behind an integer of 64 bits as JSON has it, NULL if there is none."""
    cdef bint negative = p[0] == c"-"
    cdef const unsigned char* start = p + negative
    cdef unsigned long long value = 0
    p = start
    while p < end and <unsigned char>(p[0] - c"0") < 10 and p - start < MAX_ID_DIGITS:
        value = 10 * value + (p[0] - c"0")
        p += 1
    if p == start or value >> 63 or (start[0] == c"0" and p - start > 1):
        return NULL
    integer[0] = -<int64_t>value if negative else <int64_t>value
    return p if p == end or p[0] == c"," or p[0] == c"]" or is_blank(p[0]) else NULL


cdef const unsigned char* after_id(const unsigned char* p, const unsigned char* end, Found* found) noexcept nogil:
    """Read an item of a list in brackets; what is behind it, or NULL."""
    cdef const unsigned char* start = p
    cdef unsigned char quote = p[0]
    cdef int64_t number = 0
    cdef int kind = TEXT
    if quote == c'"' or (quote == c"'" and found.single):
        p += 1
        while p < end and p[0] != quote:
            if p[0] < 32:
                return fail(found, BARE, start)
            if p[0] == c"\\":
                found.escapes = True
                p += 1
            p += 1
        if p >= end:
            return fail(found, UNCLOSED, start)
        p += 1
    elif quote == c"," or quote == c"]":
        return fail(found, GAP, start)
    elif quote == c"[" or quote == c"{" or quote == c"(":
        return fail(found, NESTED, start)
    else:
        kind, p = INTEGER, after_id_number(p, end, &number)
        if p == NULL:
            return fail(found, CUT if quote == c"." and start + 1 < end and start[1] == c"." else BARE, start)
    if found.kind >= 0 and found.kind != kind:
        return fail(found, MIXED, start)
    found.kind = kind
    if kind == TEXT:
        append(found, start + 1 - found.text, p - start - 2)
    else:
        append(found, number, 0)
    return p


cdef const unsigned char* after_list(const unsigned char* p, const unsigned char* end, Found* found) noexcept nogil:
    """Read a list from its bracket on; returns the position behind it, or NULL, with the problem in `found`."""
    cdef const unsigned char* start
    cdef const unsigned char* stop
    cdef unsigned char mark
    p = skip(p + 1, end)
    if p < end and p[0] == c"]":
        return p + 1
    while p < end:
        start = p
        stop = after_id(p, end, found)
        if stop == NULL:
            return NULL
        p = skip(stop, end)
        if p < end and p[0] == c"]":
            return p + 1
        if p == end:
            break
        mark = c"," if p[0] == c"," else c" "
        if found.mark == 0 and (mark == c"," or p > stop and is_of_numpy(start, stop)):
            found.mark = mark
        if found.mark != mark or p == stop and mark == c" ":
            return fail(found, COMMA if mark == c"," else NO_COMMA, p)
        if mark == c",":
            p = skip(p + 1, end)
    return fail(found, UNCLOSED, end)


cdef bint is_of_numpy(const unsigned char* start, const unsigned char* stop) noexcept nogil:
    """Whether NumPy prints an id so: not in double quotes, unless there is a single one between them."""
    if start[0] != c'"':
        return True
    while start < stop and start[0] != c"'":
        start += 1
    return start < stop


cdef bint split_cell(const unsigned char* p, const unsigned char* end, bint commas, Found* found) noexcept nogil:
    """Read the ids of a cell without brackets, whose ends are no blanks; False for a problem."""
    cdef const unsigned char* start = p
    cdef const unsigned char* stop
    cdef const unsigned char* q
    if (end - 1)[0] == c"]":
        q = p
        while q < end and q[0] != c"[":
            q += 1
        if q == end:
            return fail(found, UNOPENED, end - 1) != NULL
    while start <= end:
        p = start
        while p < end and not (p[0] == c"," if commas else is_blank(p[0])):
            p += 1
        stop = skip_back(start, p)
        if stop == start:
            return fail(found, GAP, start) != NULL
        append(found, start - found.text, stop - start)
        if p == end:
            return True
        start = skip(p + 1, end)
    return True


cdef int hexadecimal(const unsigned char* p) noexcept nogil:
    """The number of four hexadecimal digits; -1 if one is something else."""
    cdef int place, code = 0
    cdef unsigned char c
    for place in range(4):
        c = p[place] | 32
        if c"0" <= p[place] <= c"9":
            code = 16 * code + p[place] - c"0"
        elif c"a" <= c <= c"f":
            code = 16 * code + c - c"a" + 10
        else:
            return -1
    return code


cdef int put_utf8(int code, unsigned char* out) noexcept nogil:
    """Write a character; how many bytes it takes."""
    cdef int place, n = 1 + (code > 0x7f) + (code > 0x7ff) + (code > 0xffff)
    for place in range(n - 1, 0, -1):
        out[place] = 0x80 | code & 0x3f
        code >>= 6
    out[0] = code if n == 1 else (0xf00 >> n & 0xff) | code
    return n


cdef int64_t put_string(const unsigned char* p, const unsigned char* stop, unsigned char* out) noexcept nogil:
    """Write a string of JSON without its escapes; how many bytes it takes, -1 for an unusual escape."""
    cdef unsigned char* start = out
    cdef int code, low, place
    while p < stop:
        if p[0] != c"\\":
            out[0] = p[0]
            p += 1
            out += 1
            continue
        code = hexadecimal(p + 2) if stop - p > 5 and p[1] == c"u" else -1
        if code >= 0:
            p += 6
            if 0xd800 <= code < 0xe000:
                low = hexadecimal(p + 2) if stop - p > 5 and p[0] == c"\\" and p[1] == c"u" else -1
                if code >= 0xdc00 or not 0xdc00 <= low < 0xe000:
                    return -1
                code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff)
                p += 6
            out += put_utf8(code, out)
            continue
        for place in range(8):
            if p[1] == ESCAPES[place]:
                out[0] = ESCAPED[place]
                break
        else:
            return -1
        p += 2
        out += 1
    return out - start


def strings_from_json(const unsigned char[::1] text, const int64_t[::1] starts, const int64_t[::1] lengths):
    """Strings that lie in double quotes, one behind the other without escapes, and the length of each.

    None if one is in other quotes or has an escape that is not usual in JSON, half a pair of surrogates among them.
    """
    cdef int64_t row, size = 0, used = 0, n = starts.shape[0]
    made, sizes = np.empty(np.sum(lengths) + 1, np.uint8), np.empty(n, np.int64)
    cdef unsigned char[::1] out = made
    cdef int64_t[::1] found = sizes
    with nogil:
        for row in range(n):
            size = -1
            if text[starts[row] - 1] == c'"':
                size = put_string(&text[0] + starts[row], &text[0] + starts[row] + lengths[row], &out[used])
            if size < 0:
                break
            found[row] = size
            used += size
    return None if size < 0 else (made[:used], sizes)


def survey(const unsigned char[::1] text, const int64_t[::1] starts, const int64_t[::1] lengths):
    """What the cells of a column have, as rows, -1 for none, and the largest number of ids.

    The first row that begins with a bracket; the first that does not; among these the first with a comma, and the first
    with a blank that has no comma beside it.
    """
    cdef int64_t row, bracket = -1, plain = -1, comma = -1, blank = -1, room = starts.shape[0]
    cdef const unsigned char* p
    cdef const unsigned char* end
    cdef bint is_plain
    with nogil:
        for row in range(starts.shape[0]):
            end = &text[0] + starts[row] + lengths[row]
            p = skip(&text[0] + starts[row], end)
            end = skip_back(p, end)
            if p == end:
                continue
            is_plain = p[0] != c"["
            if is_plain and plain < 0:
                plain = row
            elif not is_plain and bracket < 0:
                bracket = row
            while p < end:
                if p[0] == c",":
                    room += 1
                    if is_plain and comma < 0:
                        comma = row
                elif is_blank(p[0]):
                    room += 1
                    if is_plain and blank < 0 and (p - 1)[0] != c",":
                        p = skip(p, end)
                        if p[0] != c",":
                            blank = row
                        continue
                    p = skip(p, end) - 1
                p += 1
    return bracket, plain, comma, blank, room


def read_cells(const unsigned char[::1] text, const int64_t[::1] starts, const int64_t[::1] lengths, int form,
               int64_t room):
    """The lists in cells of one form: 0 in brackets, 1 with commas, 2 with blanks between ids.

    Where each list begins among the ids (int64, one more than there are); the position and the length of each id in the
    text (int64), or the integers themselves; whether ids are integers; in brackets, whether one has a backslash, and
    whether blanks separate them; and what is wrong: None, or (problem, row, position in the text).
    """
    cdef int64_t row, n = starts.shape[0]
    cdef const unsigned char* p
    cdef const unsigned char* end
    cdef Found found
    offsets = np.zeros(n + 1, np.int64)
    id_starts, id_lengths = np.empty(room + 1, np.int64), np.empty(room + 1, np.int64)
    cdef int64_t[::1] begins = offsets, places = id_starts, sizes = id_lengths
    found.text, found.starts, found.lengths = &text[0], &places[0], &sizes[0]
    found.n, found.kind, found.single, found.escapes, found.problem, found.at = 0, -1, True, False, 0, NULL
    found.mark = 0
    with nogil:
        for row in range(n):
            end = found.text + starts[row] + lengths[row]
            p = skip(found.text + starts[row], end)
            end = skip_back(p, end)
            if p < end and form == BRACKETS:
                p = after_list(p, end, &found)
                if p != NULL and p < end:
                    fail(&found, BEHIND, p)
            elif p < end:
                split_cell(p, end, form == COMMAS, &found)
            if found.problem:
                break
            begins[row + 1] = found.n
    problem = (found.problem, row, found.at - found.text) if found.problem else None
    return (offsets, id_starts[:found.n], id_lengths[:found.n], found.kind == INTEGER, bool(found.escapes),
            found.mark == c" ", problem)


cdef const unsigned char* after_quoted(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """What is behind a string in double quotes, NULL if there is none."""
    if p == end or p[0] != c'"':
        return NULL
    p += 1
    while p < end and p[0] >= 32 and p[0] != c'"':
        p += 1 + (p[0] == c"\\")
    return p + 1 if p < end and p[0] == c'"' else NULL


cdef const unsigned char* after_word(const unsigned char* p, const unsigned char* end) noexcept nogil:
    """What is behind a string, an integer of 64 bits, true, false or null; NULL if it is something else."""
    cdef int64_t number = 0
    cdef int64_t rest = end - p
    if rest and p[0] == c'"':
        return after_quoted(p, end)
    if rest > 3 and (memcmp(p, b"true", 4) == 0 or memcmp(p, b"null", 4) == 0):
        return p + 4
    return p + 5 if rest > 4 and memcmp(p, b"false", 5) == 0 else after_id_number(p, end, &number)


def records_from_json(bytes content, list keys, int query_at, int list_at):
    """The lists of a text [{key: value, ...}, ...] whose objects all have these keys, in this order; None else.

    Parameters
    ----------
    keys : list of bytes
        As JSON strings. Values are strings, integers, true, false or null, but for the list.
    query_at, list_at : int
        The places of the query id and of the list among the keys.

    Returns
    -------
    None, or tuple
        What `lists_from_json` returns; query ids may be integers, as JSON has them.
    """
    cdef list queries = [], offsets = [0]
    cdef const unsigned char* p = content
    cdef const unsigned char* end = p + len(content)
    cdef const unsigned char* start
    cdef int64_t room = content.count(b",") + content.count(b"[") + 1
    cdef int at, n_keys = len(keys)
    cdef bytes key
    cdef Found found
    starts, lengths = np.empty(room, np.int64), np.empty(room, np.int64)
    cdef int64_t[::1] places = starts, sizes = lengths
    found.text, found.starts, found.lengths = content, &places[0], &sizes[0]
    found.n, found.kind, found.single, found.escapes, found.problem, found.at = 0, -1, False, False, 0, NULL
    found.mark = c","
    p = skip(p, end)
    if p == end or p[0] != c"[":
        return None
    while p[0] != c"]":     # at first this is the bracket, and then the comma before each object
        PyErr_CheckSignals()
        p = skip(p + 1, end)
        if p == end or p[0] != c"{":
            return None
        for at in range(n_keys):    # p is at the brace, and then at the comma before each key
            key = keys[at]
            p = skip(p + 1, end)
            if end - p <= len(key) or memcmp(p, <const char*>key, len(key)) != 0:
                return None
            p = skip(p + len(key), end)
            if p == end or p[0] != c":":
                return None
            p = start = skip(p + 1, end)
            if at == list_at:
                p = after_list(p, end, &found) if p < end and p[0] == c"[" else NULL
                offsets.append(found.n)
            else:
                p = after_word(p, end)
            if p == NULL:
                return None
            if at == query_at:
                queries.append(start[:p - start])
            p = skip(p, end)
            if p == end or p[0] != (c"}" if at == n_keys - 1 else c","):
                return None
        p = skip(p + 1, end)
        if p == end or p[0] != c"," and p[0] != c"]":
            return None
    if skip(p + 1, end) != end:
        return None
    return (queries, np.array(offsets, np.int64), starts[:found.n], lengths[:found.n], found.kind == INTEGER,
            bool(found.escapes))


def lists_from_json(bytes content):
    """The lists of a text {query: [id, ...]} without NUL bytes, or None if something in it is unusual.

    The query ids (a list of bytes, as JSON strings), and what `read_cells` returns, without the problem.
    """
    cdef list queries = [], offsets = [0]
    cdef const unsigned char* p = content
    cdef const unsigned char* end = p + len(content)
    cdef int64_t room
    cdef const unsigned char* query
    cdef Found found
    p = skip(p, end)
    if p == end or p[0] != c"{":
        return None
    room = content.count(b",") + content.count(b"[") + 1
    starts, lengths = np.empty(room, np.int64), np.empty(room, np.int64)
    cdef int64_t[::1] places = starts, sizes = lengths
    found.text, found.starts, found.lengths = content, &places[0], &sizes[0]
    found.n, found.kind, found.single, found.escapes, found.problem, found.at = 0, -1, False, False, 0, NULL
    found.mark = c","
    while p[0] != c"}":     # at first this is the brace, and then the comma before each query
        PyErr_CheckSignals()
        query = skip(p + 1, end)
        p = after_quoted(query, end)
        if p == NULL:
            return None
        queries.append(query[:p - query])
        p = skip(p, end)
        if p == end or p[0] != c":":
            return None
        p = skip(p + 1, end)
        if p == end or p[0] != c"[":
            return None
        with nogil:
            p = after_list(p, end, &found)
        if p == NULL:
            return None
        offsets.append(found.n)
        p = skip(p, end)
        if p == end or p[0] != c"," and p[0] != c"}":
            return None
    if skip(p + 1, end) != end:
        return None
    return (queries, np.array(offsets, np.int64), starts[:found.n], lengths[:found.n], found.kind == INTEGER,
            bool(found.escapes))


# ---- files for learning to rank -------------------------------------------------------------------------------------

# In: the whole text. Out: where the label, the query and the document of each line lie in it. The features, nearly all
# of the text, are skipped by memchr. Of 100 000 lines with 46 features this takes 35 ms, the reading of the file as
# long, and a loop in Python 140.

cdef enum:
    LINES = 1 << 16     # after which Ctrl-C is looked for


cdef inline const unsigned char* after_field(const unsigned char* p, const unsigned char* end,
                                             const unsigned char** start) noexcept nogil:
    """The end of the next field, which begins at start[0]; an empty one if there is none before `end`."""
    while p < end and is_blank(p[0]):
        p += 1
    start[0] = p
    while p < end and not is_blank(p[0]):
        p += 1
    return p


cdef inline const unsigned char* find(const unsigned char* p, unsigned char c, const unsigned char* end) noexcept nogil:
    """The first byte c before `end`, or else `end`."""
    cdef const unsigned char* at = <const unsigned char*>memchr(p, c, end - p)
    return end if at == NULL else at


def label_lines(bytes content):
    """The fields of each line that is neither blank nor a comment: int64 of shape (7, n_lines).

    The number of each line; the position and the length of its first field; the same of the id behind qid: in its
    second field (length -1 if there is none, -2 if it is another field); and of the document behind # (length 0: none).
    """
    cdef const unsigned char* text = content
    cdef const unsigned char* stop = text + len(content)
    cdef const unsigned char* p = text
    cdef const unsigned char* start
    cdef const unsigned char* after
    cdef const unsigned char* end
    cdef const unsigned char* mark
    cdef int64_t n = 0, number = 0
    found = np.empty((7, content.count(b"\n") + 1), np.int64)
    cdef int64_t[:, ::1] out = found
    while p < stop:
        number += 1
        if number % LINES == 0:
            PyErr_CheckSignals()
        end = find(p, c"\n", stop)
        mark = find(p, c"#", end)
        after = after_field(p, mark, &start)
        if after > start:
            out[0, n], out[1, n], out[2, n] = number, start - text, after - start
            after = after_field(after, mark, &start)
            out[3, n], out[4, n] = start + 4 - text, -1 if after == start else -2
            if after - start > 4 and memcmp(start, b"qid:", 4) == 0:
                out[4, n] = after - start - 4
            after = after_field(mark + (mark < end), end, &start)
            if after - start >= 5 and memcmp(start, b"docid", 5) == 0:  # docid = d1, as LETOR has it, or docid=d1
                p = start + 5
                while p < end and is_blank(p[0]):
                    p += 1
                if p < end and p[0] == c"=":
                    after = after_field(p + 1, end, &start)
            out[5, n], out[6, n] = start - text, after - start - (after > start and (after - 1)[0] == c";")
            n += 1
        p = end + 1
    return found[:, :n]
