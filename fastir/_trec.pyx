"""TREC text to columns, without a Python object per line.

In: chunks of bytes, in order. Out: for each row the place of its document id in one arena of bytes and its number (a
run's score or a qrels' label), and where runs of rows with one query id begin. Any white space separates fields; LF and
CRLF end lines; blank lines and lines that start with '#' are skipped and counted. Numbers of at most 19 digits whose
mantissa is below 2^53 are exact by one multiplication or division; the rest goes to Python's own correctly rounded
parser. What is wrong is raised as FormatError with path and line.
"""

from libc.math cimport HUGE_VAL
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memchr, memcmp, memcpy

import numpy as np

from fastir.errors import FormatError, quote

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef extern from "<fenv.h>" nogil:
    ctypedef struct fenv_t:
        pass
    const fenv_t* FE_DFL_ENV
    int fegetenv(fenv_t*) noexcept
    int fesetenv(const fenv_t*) noexcept

cdef double[23] TENS
cdef int _i
for _i in range(23):
    TENS[_i] = float(10 ** _i)


cdef bint is_blank(unsigned char c) noexcept nogil:
    return c == 32 or (9 <= c <= 13)


cdef int fast_number(const unsigned char* p, int64_t n, double* out) noexcept nogil:
    """A plain decimal; 0 if it was one that is exact here."""
    cdef int64_t i = 0
    cdef int digits = 0, exponent = 0, e = 0
    cdef bint negative = False, negative_e = False, point = False, any_digit = False
    cdef uint64_t mantissa = 0
    cdef double value
    if n > 0 and (p[0] == c'-' or p[0] == c'+'):
        negative = p[0] == c'-'
        i = 1
    while i < n:
        if c'0' <= p[i] <= c'9':
            if digits >= 19:
                return -1
            mantissa = mantissa * 10 + (p[i] - c'0')
            digits += mantissa != 0
            exponent -= point
            any_digit = True
        elif p[i] == c'.' and not point:
            point = True
        else:
            break
        i += 1
    if not any_digit:
        return -1
    if i < n:
        if p[i] != c'e' and p[i] != c'E':
            return -1
        i += 1
        if i < n and (p[i] == c'-' or p[i] == c'+'):
            negative_e = p[i] == c'-'
            i += 1
        if i >= n or n - i > 4:
            return -1
        while i < n:
            if not c'0' <= p[i] <= c'9':
                return -1
            e = e * 10 + (p[i] - c'0')
            i += 1
        exponent += -e if negative_e else e
    if mantissa >> 53 != 0:
        return -1
    value = <double>mantissa
    if exponent < 0:
        if exponent < -22:
            return -1
        value /= TENS[-exponent]
    elif exponent > 0:
        if exponent > 22:
            return -1
        value *= TENS[exponent]
    out[0] = -value if negative else value
    return 0


def slow_number(bytes token):
    """A decimal or an infinity in ASCII, as Python reads it; None if it is none, "overflow" if it is too large."""
    text = token.decode("ascii", "replace").lower()
    bare = text.lstrip("+-")
    if len(text) - len(bare) > 1:
        return None
    if bare in ("inf", "infinity"):
        return float(text)
    if not bare or any(c not in "0123456789.e+-" for c in bare):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return "overflow" if value in (HUGE_VAL, -HUGE_VAL) else value


cdef class Reader:
    """Collects the rows of one file.

    Parameters
    ----------
    path : str
        For messages.
    is_run : bool
        Six fields or more with a score, or exactly four with a label.
    """

    cdef readonly object path
    cdef bint is_run
    cdef object arrays
    cdef int64_t[::1] starts, lengths, group_rows, group_starts, group_lengths
    cdef double[::1] numbers
    cdef unsigned char[::1] arena
    cdef readonly int64_t n_rows, n_groups, n_lines, used
    cdef readonly int64_t blank_lines, comments, crlf
    cdef readonly list skips

    def __init__(self, path, bint is_run):
        self.path = path
        self.is_run = is_run
        self.skips = []
        self.starts = np.empty(0, np.int64)
        self.lengths = np.empty(0, np.int64)
        self.group_rows = np.empty(0, np.int64)
        self.group_starts = np.empty(0, np.int64)
        self.group_lengths = np.empty(0, np.int64)
        self.numbers = np.empty(0)
        self.arena = np.empty(0, np.uint8)

    cdef reserve(self, int64_t size):
        cdef int64_t rows = size // (12 if self.is_run else 8) + 2

        def grown(old, used, more):
            if used + more <= len(old):
                return old
            new = np.empty(max(used + more, 2 * len(old)), np.asarray(old).dtype)
            new[:used] = np.asarray(old)[:used]
            return new

        self.starts = grown(self.starts, self.n_rows, rows)
        self.lengths = grown(self.lengths, self.n_rows, rows)
        self.numbers = grown(self.numbers, self.n_rows, rows)
        self.group_rows = grown(self.group_rows, self.n_groups, rows)
        self.group_starts = grown(self.group_starts, self.n_groups, rows)
        self.group_lengths = grown(self.group_lengths, self.n_groups, rows)
        self.arena = grown(self.arena, self.used, size + 1)

    def columns(self):
        """Trimmed arrays: (arena, starts, lengths, numbers) of the rows, (first row, query id) of the groups."""
        arena = np.asarray(self.arena)[:self.used + 1]
        ids = [arena[s:s + n].tobytes() for s, n in zip(np.asarray(self.group_starts)[:self.n_groups].tolist(),
                                                        np.asarray(self.group_lengths)[:self.n_groups].tolist())]
        return (arena, np.asarray(self.starts)[:self.n_rows], np.asarray(self.lengths)[:self.n_rows],
                np.asarray(self.numbers)[:self.n_rows], np.asarray(self.group_rows)[:self.n_groups], ids)

    def line_of(self, row):
        """The line that a row came from."""
        import bisect

        return row + 1 + bisect.bisect_right(self.skips, row)

    def feed(self, const unsigned char[::1] chunk, int64_t size, bint last):
        """Read the whole lines of chunk[:size] (all of it if `last`); returns how many bytes were taken."""
        cdef int64_t taken = 0
        cdef int failed
        cdef fenv_t callers
        if size == 0:
            return 0
        self.reserve(size)
        with nogil:
            fegetenv(&callers)          # a neighbour's flags must not flush small scores to zero
            fesetenv(FE_DFL_ENV)
            failed = self.scan(&chunk[0], size, last, &taken)
            fesetenv(&callers)
        if failed:
            self.fail(chunk, taken, size, failed)
        PyErr_CheckSignals()
        return taken

    cdef int scan(self, const unsigned char* text, int64_t size, bint last, int64_t* taken) noexcept nogil:
        cdef const unsigned char* p
        cdef const unsigned char* end
        cdef const unsigned char* stop = text + size
        cdef const unsigned char* line = text
        cdef const unsigned char* token[6]
        cdef int64_t length[6]
        cdef int fields, wanted = 6 if self.is_run else 4, number = 4 if self.is_run else 3, status
        cdef bint has_cr = memchr(text, 13, size) != NULL, has_nul = memchr(text, 0, size) != NULL
        cdef double value
        cdef int64_t g
        while line < stop:
            taken[0] = line - text
            end = <const unsigned char*>memchr(line, 10, stop - line)
            if end == NULL:
                if not last:
                    return 0
                end = stop
            p = line
            if has_nul and memchr(line, 0, end - line) != NULL:
                return 1
            if has_cr and end > line and (end - 1)[0] == 13:
                self.crlf += 1
                if memchr(line, 13, end - line - 1) != NULL and memchr(line, 13, end - line - 1) != <void*>(end - 2):
                    return 2
            elif has_cr and memchr(line, 13, end - line) != NULL:
                return 2
            fields = 0
            while fields < 6:
                while p < end and is_blank(p[0]):
                    p += 1
                if p == end:
                    break
                token[fields] = p
                while p < end and not is_blank(p[0]):
                    p += 1
                length[fields] = p - token[fields]
                fields += 1
            if fields == 0 or line[0] == c'#':
                if fields == 0:
                    self.blank_lines += 1
                elif fields >= wanted and fast_number(token[number], length[number], &value) == 0 and (
                        self.is_run or fields == 4):
                    return 7
                else:
                    self.comments += 1
                with gil:
                    self.skips.append(self.n_rows)
                self.n_lines += 1
                line = end + 1
                continue
            if fields < wanted or (not self.is_run and fields > 4):
                return 3
            if fast_number(token[number], length[number], &value) != 0:
                with gil:
                    status = self.number(token[number], length[number], &value)
                if status:
                    return status
            if not self.is_run:
                if value != <double><int64_t>value:
                    return 8
                if value > 2147483647.0 or value < -2147483648.0:
                    return 6
            g = self.n_groups - 1
            if g < 0 or self.group_lengths[g] != length[0] or memcmp(&self.arena[self.group_starts[g]], token[0], length[0]):
                g += 1
                self.group_starts[g] = self.used
                self.group_lengths[g] = length[0]
                self.group_rows[g] = self.n_rows
                memcpy(&self.arena[self.used], token[0], length[0])
                self.used += length[0]
                self.n_groups += 1
            self.starts[self.n_rows] = self.used
            self.lengths[self.n_rows] = length[2]
            memcpy(&self.arena[self.used], token[2], length[2])
            self.used += length[2]
            self.numbers[self.n_rows] = value
            self.n_rows += 1
            self.n_lines += 1
            line = end + 1
        taken[0] = size
        return 0

    cdef int number(self, const unsigned char* p, int64_t n, double* out) noexcept:
        value = slow_number(p[:n])
        if value is None:
            return 4
        if value == "overflow":
            return 5
        out[0] = value
        return 0

    cdef fail(self, const unsigned char[::1] chunk, int64_t start, int64_t size, int failed):
        text = bytes(chunk[start:size]).partition(b"\n")[0]
        shown = text[:200].decode("utf-8", "backslashreplace")
        fields = text.split()
        column = 5 if self.is_run else 4
        got = fields[column - 1].decode("utf-8", "backslashreplace") if len(fields) >= column else ""
        what = "score" if self.is_run else "label"
        where = ""
        if len(fields) > 2:
            where = f" (query {quote(fields[0].decode('utf-8', 'replace'))[1:-1]}, document {quote(fields[2].decode('utf-8', 'replace'))[1:-1]})"
        if failed == 1:
            message = "the line holds a NUL byte; the file looks truncated, binary or UTF-16"
            column = None
        elif failed == 2:
            message = "malformed line: a carriage return inside it; expected lines that end in LF or CRLF"
            column = None
        elif failed == 3:
            message, column = self.wrong_fields(shown, len(fields)), None
        elif failed == 4 and got.lower().lstrip("+-").startswith("nan"):
            message = f"{what} {quote(got)} is not a number: NaN cannot be ranked{where}"
        elif failed == 4:
            message = f"{what} {quote(got)} is not a number{where}"
        elif failed == 5:
            message = f"{what} {quote(got)} is too large for a float{where}"
        elif failed == 6:
            message = f"label {quote(got)} is out of range; expected an integer from -2^31 to 2^31 - 1{where}"
        elif failed == 8:
            message = f"label {quote(got)} is not an integer number{where}"
        else:
            message = "the line starts with '#' like a comment but has the fields of a data line; remove the '#' or the line"
            column = None
        raise FormatError(message, self.path, self.n_lines + 1, column, shown)

    def wrong_fields(self, shown, n):
        kind, expected = ("run", "6 fields or more (query Q0 document rank score tag)") if self.is_run else (
            "qrels", "exactly 4 fields (query iteration document label)")
        hint = ""
        if shown.lstrip()[:1] in "{[":
            hint = "; it looks like JSON"
        elif "query-id" in shown or "corpus-id" in shown:
            hint = "; it looks like the header of a BEIR file"
        elif shown.count(",") >= 2 and n < 3:
            hint = "; it looks like CSV with comma separated columns"
        elif self.is_run and n == 4:
            hint = "; it looks like qrels: are the two files swapped?"
        elif not self.is_run and n >= 6:
            hint = "; it looks like a run: are the two files swapped?"
        elif n == 3:
            hint = "; it looks like an MS MARCO file of 3 columns"
        return f"malformed {kind} line with {n} fields, expected {expected}{hint}"
