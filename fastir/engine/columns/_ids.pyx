"""Ids: one column of ids, wherever and however its bytes lie: Python strings, an arena, Arrow buffers, integers.

read() turns any range of rows into Texts, addresses and lengths that borrow the bytes, a few hundred at a time so that
they stay in the first-level cache; so one join serves all kinds of ids. An integer is a Text, too: the eight bytes of
its int64, which the index of integers has (_judged). Nothing is copied, except that Python strings get an array of
Texts and narrow integers are widened.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fastir.engine.columns._memory cimport large_malloc, prefetch

import numpy as np
import os

cdef extern from "Python.h":
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyUnicode_Check(PyObject*) noexcept
    object PyUnicode_FromObject(PyObject*)
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)

cdef enum:
    RANGE_ROWS = 64
    STRINGS_AHEAD = 16      # how many Python strings ahead are fetched into the cache


cdef void read(const Column* column, int64_t first, int64_t n, Text* out) noexcept nogil:
    """Fill out[:n] with the ids of rows first to first + n."""
    cdef int64_t i
    cdef const int32_t* narrow = <const int32_t*>column.places + first
    cdef const int64_t* wide = <const int64_t*>column.places + first
    cdef const char* view = <const char*>column.places + 16 * first
    cdef uint32_t[4] words
    if n == 0:
        return      # there may be no `out`
    if column.kind == TEXTS:
        memcpy(out, <const Text*>column.places + first, n * sizeof(Text))
    elif column.kind == SPANS:
        for i in range(n):
            out[i].start = column.bytes + wide[i]
            out[i].length = column.lengths[first + i]
    elif column.kind == OFFSETS32:
        for i in range(n):
            out[i].start = column.bytes + narrow[i]
            out[i].length = narrow[i + 1] - narrow[i]
    elif column.kind == OFFSETS64:
        for i in range(n):
            out[i].start = column.bytes + wide[i]
            out[i].length = wide[i + 1] - wide[i]
    elif column.kind == VIEWS:
        for i in range(n):
            memcpy(words, view + 16 * i, 16)
            out[i].length = words[0]
            out[i].start = view + 16 * i + 4 if words[0] <= 12 else column.buffers[words[2]] + words[3]
    elif column.kind == INTEGERS:
        for i in range(n):
            out[i].start = <const char*>(wide + i)
            out[i].length = 8
    else:
        for i in range(n):
            out[i] = column.entries[wide[i]]


cdef int64_t same_until(const Column* column, int64_t first, int64_t stop) noexcept nogil:
    """The row after `first` whose id is another, or stop."""
    cdef Text one
    cdef Text[RANGE_ROWS] some
    cdef int64_t i = first + 1, j, n
    read(column, first, 1, &one)
    while i < stop:
        n = RANGE_ROWS if stop - i > RANGE_ROWS else stop - i
        read(column, i, n, some)
        for j in range(n):
            if (some[j].start != one.start or some[j].length != one.length) and not equal(some + j, &one):
                return i + j
        i += n
    return stop


def encode(str text):
    """An id as the bytes of a file: UTF-8, where surrogates become the bytes that they were read from."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text.encode("utf-8", "surrogatepass")


cdef int borrow_text(PyObject* string, Text* out, list kept) except -1:
    """The UTF-8 bytes of a str, which its object holds; bytes made of one with surrogates are added to `kept`."""
    cdef bytes data
    if not held_text(string, out):
        data = encode(<object>string)
        kept.append(data)
        out.start = data
        out.length = len(data)
    return 0


cdef class Ids:
    """A column of ids."""

    def __dealloc__(self):
        free(self.column.entries)
        free(self.column.buffers)

    def __len__(self):
        return self.column.n

    @property
    def integers(self):
        """Whether they are integers."""
        return self.column.integers

    def change(self, int64_t first, int64_t stop):
        """The row after `first` whose id is another, or stop."""
        return same_until(&self.column, first, stop)

    def begin(self, int64_t last, int64_t start):
        """The first row, not before start, from which on all rows up to `last` have the id of `last`."""
        cdef Text one, other
        read(&self.column, last, 1, &one)
        while last > start:
            read(&self.column, last - 1, 1, &other)
            if not equal(&other, &one):
                break
            last -= 1
        return last

    def same(self, int64_t row, Ids other, int64_t other_row):
        """Whether two rows have one id."""
        cdef Text a, b
        read(&self.column, row, 1, &a)
        read(&other.column, other_row, 1, &b)
        return self.column.integers == other.column.integers and equal(&a, &b)

    def __getitem__(self, int64_t row):
        """The id of a row, str or int."""
        cdef Text text
        if not 0 <= row < self.column.n:
            raise IndexError(row)
        read(&self.column, row, 1, &text)
        if self.column.integers:
            return (<const int64_t*>text.start)[0]
        return text.start[:text.length].decode("utf-8", "surrogateescape")

    def numbers(self, int64_t first, int64_t stop):
        """Integer ids of rows first to stop, as an int64 array."""
        cdef int64_t i, j, m, n = stop - first
        cdef Text[RANGE_ROWS] some
        array = np.empty(n, np.int64)
        cdef int64_t[::1] numbers = array
        for i in range(0, n, RANGE_ROWS):
            m = min(n - i, <int64_t>RANGE_ROWS)
            read(&self.column, first + i, m, some)
            for j in range(m):
                numbers[i + j] = (<const int64_t*>some[j].start)[0]
        return array

    def copy(self, int64_t first, int64_t n):
        """(bytes, starts, lengths) of some rows; integers as their decimal text."""
        cdef int64_t i, j, m, size = 20 * n if self.column.integers else 0, used = 0
        cdef Text[RANGE_ROWS] some
        if not self.column.integers:
            for i in range(0, n, RANGE_ROWS):
                m = min(n - i, <int64_t>RANGE_ROWS)
                read(&self.column, first + i, m, some)
                for j in range(m):
                    size += some[j].length
        text, starts, lengths = np.empty(size + 1, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
        cdef unsigned char[::1] out = text
        cdef int64_t[::1] places = starts, sizes = lengths
        for i in range(0, n, RANGE_ROWS):
            m = min(n - i, <int64_t>RANGE_ROWS)
            read(&self.column, first + i, m, some)
            for j in range(m):
                places[i + j] = used
                sizes[i + j] = write(some + j, self.column.integers, <char*>&out[used])
                used += sizes[i + j]
        return text[:used], starts, lengths


cdef inline int64_t write(const Text* text, bint integer, char* out) noexcept nogil:
    """Write an id as text; returns how many bytes."""
    if integer:
        return write_decimal((<const int64_t*>text.start)[0], out)
    memcpy(out, text.start, text.length)
    return text.length


def id_texts(const unsigned char[::1] text, const int64_t[::1] starts, const int64_t[::1] lengths):
    """The ids of an arena as a list of str."""
    cdef Py_ssize_t i, n = starts.shape[0], size = text.shape[0]
    cdef list ids = [None] * n
    for i in range(n):
        if starts[i] < 0 or lengths[i] < 0 or starts[i] > size - lengths[i]:
            raise ValueError(f"id {i} lies outside of the text")
        ids[i] = PyUnicode_DecodeUTF8(<const char*>&text[0] + starts[i], lengths[i], "surrogateescape")
    return ids


def ids_from_integers(array):
    """Ids from a contiguous int64 array of shape (n,)."""
    cdef const int64_t[::1] numbers = array
    cdef Ids ids = Ids()
    ids.column.kind, ids.column.integers, ids.column.n, ids.kept = INTEGERS, True, numbers.shape[0], [array]
    if ids.column.n:
        ids.column.places = &numbers[0]
    return ids


def ids_from_arena(arena):
    """Ids from the bytes of an Arena."""
    cdef const unsigned char[::1] text = arena.text
    cdef const int32_t[::1] narrow
    cdef const int64_t[::1] wide, lengths
    cdef Ids ids = Ids()
    ids.column.n, ids.column.bytes, ids.kept = len(arena), <const char*>&text[0], [arena]
    if arena.offsets is not None and arena.offsets.dtype == np.int32:
        narrow = arena.offsets
        ids.column.kind, ids.column.places = OFFSETS32, &narrow[0]
    elif arena.offsets is not None:
        wide = arena.offsets
        ids.column.kind, ids.column.places = OFFSETS64, &wide[0]
    else:
        wide, lengths, ids.column.kind = arena.starts, arena.lengths, SPANS
        if ids.column.n:
            ids.column.places, ids.column.lengths = &wide[0], &lengths[0]
    return ids


def ids_from_strings(strings):
    """Ids from a contiguous array of str objects, of NumPy too; (None, row) if the one in that row is something else.

    The array holds the strings, so it must not change while the ids are read. To hold each of them here would make the
    evaluation of such a table a quarter slower, and could not be done safely where there is no GIL.
    """
    cdef Ids ids = Ids()
    cdef Py_ssize_t i, n = len(strings)
    cdef PyObject** objects = <PyObject**><size_t>strings.ctypes.data
    cdef Text* texts = <Text*>large_malloc((n + 1) * sizeof(Text))
    ids.column.kind, ids.column.n, ids.kept = TEXTS, n, [strings]
    ids.column.entries = texts
    ids.column.places = texts
    if texts == NULL:
        raise MemoryError
    for i in range(n):
        if i + STRINGS_AHEAD < n:
            prefetch(objects[i + STRINGS_AHEAD])
        if i > 0 and objects[i] == objects[i - 1]:
            texts[i] = texts[i - 1]
            continue
        if PyUnicode_CheckExact(objects[i]):
            borrow_text(objects[i], texts + i, ids.kept)
        elif PyUnicode_Check(objects[i]):
            exact = PyUnicode_FromObject(objects[i])
            ids.kept.append(exact)
            borrow_text(<PyObject*>exact, texts + i, ids.kept)
        else:
            return None, i
    return ids, -1


cdef int64_t outside(const int64_t* places, int64_t n, int64_t limit) noexcept nogil:
    """The first of n codes that is not from 0 to limit - 1; n if all are."""
    cdef int64_t i
    cdef uint64_t signs = 0     # of the codes and of what is left above them: compilers make vector code of this
    for i in range(n):
        signs |= <uint64_t>places[i] | (<uint64_t>limit - 1 - <uint64_t>places[i])
    if not signs >> 63:
        return n
    i = 0
    while <uint64_t>places[i] < <uint64_t>limit:
        i += 1
    return i


def ids_from_codes(codes, Ids entries):
    """Ids from positions in other ids, an int64 array of shape (n,), which are checked."""
    cdef const int64_t[::1] places = codes
    cdef int64_t n = places.shape[0]
    cdef int64_t wrong = outside(&places[0], n, entries.column.n) if n else 0
    if wrong < n:
        raise ValueError(f"position {codes[wrong]} is outside of the dictionary, which has {len(entries)} values")
    cdef Ids ids = Ids()
    ids.column.kind, ids.column.n, ids.kept = CODES, places.shape[0], [codes, entries]
    ids.column.integers = entries.column.integers
    ids.column.entries = <Text*>malloc((entries.column.n + 1) * sizeof(Text))
    if ids.column.entries == NULL:
        raise MemoryError
    read(&entries.column, 0, entries.column.n, ids.column.entries)
    if ids.column.n:
        ids.column.places = &places[0]
    return ids


cdef Ids ids_from_buffers(int kind, const void* places, const void* data, const void** buffers, int64_t n_buffers,
                          int64_t n, object owner):
    """Ids from Arrow's memory, which `owner` keeps: `places` of the rows, offsets into data or views into buffers."""
    cdef Ids ids = Ids()
    cdef int64_t i
    ids.column.kind, ids.column.integers, ids.column.n, ids.kept = kind, kind == INTEGERS, n, [owner]
    ids.column.places, ids.column.bytes = places, <const char*>data
    if kind == VIEWS:
        ids.column.buffers = <const char**>malloc((n_buffers + 1) * sizeof(char*))
        if ids.column.buffers == NULL:
            raise MemoryError
        for i in range(n_buffers):
            ids.column.buffers[i] = <const char*>buffers[i]
    return ids


# ---- the secret words of the hash -----------------------------------------------------------------------------------

# A caller who knows a hash function can make ids that all fall into one slot of a table, which then takes quadratic
# time. So the two secret words of text_hash() come from the operating system at import.
#
#     FASTIR_HASH_SEED = 0 ... 2^64 - 1       the words are made from this number, to repeat a run of the program
#
# Values, the order of what is returned and error messages do not depend on them. Nothing that is made with them leaves
# the process: pickles carry ids, and tables are made again.

NAME = "FASTIR_HASH_SEED"


cdef uint64_t spread(uint64_t x) noexcept:
    """The mixing step of splitmix64."""
    x = (x ^ x >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ x >> 27) * <uint64_t>0x94D049BB133111EB
    return x ^ x >> 31


def seed_from_text(text):
    """The seed of a text; one of the operating system for an empty text."""
    if not text:
        return int.from_bytes(os.urandom(8), "little")
    if not (text.isascii() and text.isdecimal() and int(text[:40]) < 2**64):
        raise ValueError(f"{NAME} must be an integer from 0 to 2^64 - 1, got {text[:80]!r}")
    return int(text)


cdef uint64_t seed = seed_from_text(os.environ.get(NAME, ""))
START = spread(seed + <uint64_t>0x9E3779B97F4A7C15)
FACTOR = spread(seed + 2 * <uint64_t>0x9E3779B97F4A7C15) | 1
