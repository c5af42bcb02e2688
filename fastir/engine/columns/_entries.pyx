"""Python objects, read without running Python code: scores and labels, the entries of dicts, rankings as columns."""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.math cimport INFINITY, NAN
from libc.stdint cimport INT32_MAX, INT32_MIN, int16_t, int32_t, int64_t, int8_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcpy

from fastir.engine.columns._ids cimport Text, copy_text, held_text
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.measure._sort cimport falling_order

import numpy as np
from numpy import empty, float64, int64, uint8, zeros


# ---- scores and labels ----------------------------------------------------------------------------------------------

# In: an object of a caller's dict. Out: its value, or the answer that it is of another type, such as Fraction,
# whose __float__ may run any code: then the caller makes a snapshot before it asks for values.
#
# The object of a NumPy scalar is the head that all objects have and then the value, as arrayscalars.h of NumPy's C
# interface says. NumPy is not needed to build for that; instead each type is tried once, at import, with samples, and
# one whose samples are not found there is read from a snapshot. A subclass could define __float__ anew, so types must
# be exact, except float's, whose value C code reads without asking.
#
# An integer is rounded to the nearest float64, as float() does. Beyond 2^53 two different ones may become equal:
# Reader.wide says that one was met, and integers_made_equal() looks.

cdef extern from "Python.h":
    int PyFloat_Check(PyObject*) noexcept
    int PyBool_Check(PyObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) noexcept
    double PyLong_AsDouble(PyObject*) noexcept
    void PyErr_Clear() noexcept

cdef enum:                  # Reader.kind but FLOAT64: what is behind the head of an object
    UNREADABLE              # without running Python code
    PYTHON_INTEGER
    FLOAT                   # of a subclass of float
    FLOAT16
    FLOAT32
    INT8
    INT16
    INT32
    INT64
    UINT8
    UINT16
    UINT32
    UINT64
    BOOLEAN                 # of NumPy

cdef enum:
    MAX_TYPES = 16
    HALF_BIAS = 25          # a float16 is a mantissa of 11 bits times 2^(exponent - 25)

cdef struct Scalar:
    PyTypeObject* type
    int kind

cdef Scalar[MAX_TYPES] SCALARS
cdef int n_scalars = 0
cdef PyTypeObject* numpy_str


cdef int scalar_kind(PyObject* value) noexcept:
    cdef PyTypeObject* type = Py_TYPE(value)
    cdef int i
    if PyLong_CheckExact(value) or PyBool_Check(value):
        return PYTHON_INTEGER
    for i in range(n_scalars):
        if SCALARS[i].type == type:
            return SCALARS[i].kind
    return FLOAT if PyFloat_Check(value) else UNREADABLE


cdef inline double power_of_two(int exponent) noexcept:
    """2^exponent, from -1022 up."""
    cdef uint64_t bits = <uint64_t>(exponent + 1023) << 52
    cdef double power
    memcpy(&power, &bits, sizeof(power))
    return power


cdef inline double half(uint16_t bits) noexcept:
    cdef int exponent = bits >> 10 & 31, mantissa = bits & 1023
    cdef double size
    if exponent == 31:
        size = NAN if mantissa else INFINITY
    elif exponent == 0:
        size = mantissa * power_of_two(1 - HALF_BIAS)
    else:
        size = (mantissa + 1024) * power_of_two(exponent - HALF_BIAS)
    return -size if bits >> 15 else size


cdef int64_t integer_at(int kind, const void* p) noexcept:
    """The value of a NumPy integer; a UINT64 is taken modulo 2^64."""
    if kind == INT64 or kind == UINT64:
        return (<const int64_t*>p)[0]
    if kind == INT32:
        return (<const int32_t*>p)[0]
    if kind == UINT32:
        return (<const uint32_t*>p)[0]
    if kind == INT16:
        return (<const int16_t*>p)[0]
    if kind == UINT16:
        return (<const uint16_t*>p)[0]
    if kind == INT8:        # in a conditional expression both would be read as one type
        return (<const int8_t*>p)[0]
    return (<const uint8_t*>p)[0]


cdef inline int kind_seen(Reader* reader, PyObject* value) noexcept:
    if Py_TYPE(value) != reader.type:
        reader.type = Py_TYPE(value)
        reader.kind = scalar_kind(value)
    return reader.kind


cdef inline const void* behind_head(PyObject* value) noexcept:
    return <const char*>value + sizeof(PyObject)


cdef int read_other(Reader* reader, PyObject* value, double* out) noexcept:
    """read_score() of what is no exact float."""
    cdef int kind = kind_seen(reader, value), overflow = 0
    cdef int64_t number
    if kind == PYTHON_INTEGER:
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        out[0] = <double>number
        reader.wide |= beyond(number)
        if overflow:
            reader.wide = True
            out[0] = PyLong_AsDouble(value)
            if out[0] == -1.0:      # it is larger than every float: none that overflows is -1
                PyErr_Clear()
                return False
    elif kind == FLOAT:
        out[0] = float_value(value)
    elif kind == FLOAT64:
        out[0] = float64_value(value)
    elif kind == FLOAT32:
        out[0] = (<const float*>behind_head(value))[0]
    elif kind == FLOAT16:
        out[0] = half((<const uint16_t*>behind_head(value))[0])
    elif kind == UINT64:
        out[0] = <double>(<const uint64_t*>behind_head(value))[0]
        reader.wide |= out[0] >= <double>(<int64_t>1 << FLOAT64_BITS)
    elif kind != UNREADABLE:
        number = integer_at(kind, behind_head(value))
        out[0] = <double>number
        reader.wide |= beyond(number)
    return kind != UNREADABLE


cdef bint read_integer(Reader* reader, PyObject* value, int64_t* out) noexcept:
    """Read an int, a bool or a NumPy integer; False if it is something else, or not an int64."""
    cdef int kind = kind_seen(reader, value), overflow = 0
    if kind == PYTHON_INTEGER:
        out[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
        return not overflow
    if kind < INT8 or kind == FLOAT64:
        return False
    out[0] = integer_at(kind, behind_head(value))
    return kind != UINT64 or out[0] >= 0


cdef bint read_numpy_integer(Reader* reader, PyObject* value, int64_t* out) noexcept:
    """Read a NumPy integer, which no bool is; False if it is something else, or not an int64."""
    cdef int kind = kind_seen(reader, value)
    return INT8 <= kind <= UINT64 and read_integer(reader, value, out)


cdef bint read_id(Reader* reader, PyObject* value, int64_t* out) noexcept:
    """Read an int or a NumPy integer, but no bool; False if it is something else, or not an int64."""
    if PyLong_CheckExact(value):
        return read_integer(reader, value, out)
    return read_numpy_integer(reader, value, out)


cdef bint is_numpy_id(Reader* reader, PyObject* value, bint integers) noexcept:
    """Whether an id is a NumPy integer that is an int64, or an exact np.str_, which keeps the hash of a str."""
    cdef int64_t number
    if integers:
        return read_numpy_integer(reader, value, &number)
    return Py_TYPE(value) == numpy_str


cdef bint read_known(Reader* reader, PyObject* value, double* out) noexcept:
    """Read a number as float() does; False if that may run Python code, as of a subclass of float, or overflows."""
    if PyFloat_CheckExact(value):
        out[0] = float_value(value)
        return True
    return kind_seen(reader, value) != FLOAT and read_other(reader, value, out)


cdef bint read_integers(array, int64_t start, int64_t n, int64_t* out) except -1:
    """Read entries of a NumPy array of one dimension; False if it is another array, or they are not native int64."""
    cdef Py_buffer buffer
    cdef int64_t i, step
    cdef int kind = UNREADABLE
    cdef const char* p
    cdef int64_t signs = 0
    try:
        PyObject_GetBuffer(array, &buffer, PyBUF_STRIDES | PyBUF_FORMAT)
    except ValueError:          # of an array of dates, among others
        return False
    if buffer.ndim == 1 and start + n <= buffer.shape[0] and buffer.format[1] == 0:
        for i in range(4):
            if buffer.itemsize == 1 << i:
                kind = INT8 + i if buffer.format[0] in b"bhilq" else UINT8 + i if buffer.format[0] in b"BHILQ" else kind
    if kind != UNREADABLE:
        step = buffer.strides[0]
        p = <const char*>buffer.buf + start * step
        if kind == INT64:
            for i in range(n):
                memcpy(out + i, p + i * step, sizeof(int64_t))
        else:
            for i in range(n):
                out[i] = integer_at(kind, p + i * step)
                signs |= out[i]
    PyBuffer_Release(&buffer)
    return kind != UNREADABLE and (kind != UINT64 or signs >= 0)

cdef bint read_whole(Reader* reader, PyObject* value, int64_t* out) noexcept:
    """Read an integer of 32 bits, or a float that is one, of Python or NumPy; False if it is something else."""
    cdef double number
    if read_integer(reader, value, out):
        return INT32_MIN <= out[0] <= INT32_MAX
    if not read_known(reader, value, &number) or not INT32_MIN <= number <= INT32_MAX:
        return False
    out[0] = <int64_t>number
    return <double>out[0] == number


cdef bint some_are_equal(const double* scores, int64_t n) except -1:
    """Whether two scores of at least 2^53 are equal, whatever their sign."""
    cdef double least = <double>(<int64_t>1 << FLOAT64_BITS)
    cdef int64_t i, m = 0
    cdef bint rises = False, repeats = False
    cdef double* wide
    for i in range(1, n):
        rises |= not scores[i - 1] > scores[i]
    if not rises:       # most rankings fall
        return False
    wide = <double*>malloc(n * sizeof(double))
    if wide == NULL:
        raise MemoryError
    for i in range(n):
        if not -least < scores[i] < least:
            wide[m] = scores[i]
            m += 1
    qsort(wide, m, sizeof(double), falling_order)
    for i in range(1, m):
        repeats |= wide[i] == wide[i - 1]
    free(wide)
    return repeats


cdef tuple equal_integers(list ids, list scores):
    """The first two ids whose scores are different integers, but not as float64; None if there are none."""
    first = {}
    for doc_id, score in zip(ids, scores):
        if isinstance(score, (int, np.integer)):
            score = int(score)
            other_id, other = first.setdefault(float(score), (doc_id, score))
            if other != score:
                return other_id, doc_id
    return None


cdef tuple integers_made_equal(dict ranking, const double* scores, int64_t n):
    """equal_integers() of a ranking; `scores` are all of its scores as float64."""
    return equal_integers(list(ranking), list(ranking.values())) if some_are_equal(scores, n) else None


cdef list known_types():
    """(type, kind, samples) of NumPy's scalars that are to be read."""
    kinds = {"f2": FLOAT16, "f4": FLOAT32, "f8": FLOAT64, "i1": INT8, "i2": INT16, "i4": INT32, "i8": INT64,
             "u1": UINT8, "u2": UINT16, "u4": UINT32, "u8": UINT64, "b1": BOOLEAN}
    return [(dtype.type, kinds[f"{dtype.kind}{dtype.itemsize}"], [dtype.type(number) for number in (0, 1, 100)]
             + [dtype.type(-number) for number in (1, 100) if dtype.kind in "if"])
            for dtype in map(np.dtype, "efd?bhilqBHILQ")]


cdef int note_types() except -1:
    """Fill SCALARS with the types of which samples are read correctly."""
    global n_scalars
    cdef Reader reader
    cdef double number
    cdef int kind
    cdef PyObject* sample_object
    for scalar_type, kind, samples in known_types():
        good = True
        for sample in samples:
            sample_object = <PyObject*>sample
            number = -1
            reader.type, reader.kind, reader.wide = Py_TYPE(sample_object), kind, False
            good = good and read_other(&reader, sample_object, &number) and number == float(sample)
        if good:
            SCALARS[n_scalars].type, SCALARS[n_scalars].kind = <PyTypeObject*>scalar_type, kind
            n_scalars += 1
    return 0


cdef PyTypeObject* numpy_str_type() except? NULL:
    """The type of np.str_, if it has the hash of a str and keeps it; else NULL."""
    sample = np.str_("sample")
    return Py_TYPE(<PyObject*>sample) if hash(sample) == hash("sample") == key_hash(<PyObject*>sample) else NULL


note_types()
numpy_str = numpy_str_type()


# ---- the entries of dicts -------------------------------------------------------------------------------------------

# The self-test of what _entries.pxd assumes about CPython's dicts runs once, when this module is imported. In: dicts of
# every kind that evaluations meet: empty, small, with indices of one byte and of two, with removed entries, copied,
# unpacked, cleared and filled again, with keys of other types and of mixed ones, and the attributes of an object, whose
# values lie elsewhere. Out: `entries_are_known`, which is true if the version of the interpreter is one of those that
# were read for this, and each dict gives the same objects in the same order as PyDict_Next. A false answer costs speed,
# and nothing else changes: raw entries are twice as fast in every build, so none goes without them, and the wheel of
# the limited API is no slower than one for each version would be.
#
# columns_from_rankings() reads each ranking in one pass:
#
#     {"q1": {"d7": 2.0, "d2": 1.5}, ...}    text d7d2...    lengths 2 2 ...    numbers 2.0 1.5 ...
#
# If the objects lie in no order, each look at one waits for memory. Here a ranking's objects are prefetched together
# and read once; copies of dicts, joined strings and lists of scores would wait again for each: 10^6 rows of 1000
# queries took 2 to 4 times as long (measured). Nothing here runs Python code while a ranking is read: it is of a
# moment.
#
# Only exact str, of which UTF-8 can be made, and exact float that are no NaN are read; for anything else the answer is
# None, and the caller's Python reads it, or says what is wrong.

cdef enum:
    SAMPLE_BATCH = 16           # pairs of a sample that are compared at once


cdef list entry_addresses(dict pairs, bint plain):
    """(address of the key, address of the value), in order."""
    cdef PyObject* keys[SAMPLE_BATCH]
    cdef PyObject* values[SAMPLE_BATCH]
    cdef Py_ssize_t i, n, position = 0
    addresses = []
    while True:
        n = gather(pairs, plain, &position, keys, values, SAMPLE_BATCH)
        if n == 0:
            return addresses
        for i in range(n):
            addresses.append((<size_t>keys[i], <size_t>values[i]))


class Attributes:
    def __init__(self):
        self.a, self.b = 1.0, 2.0


def samples():
    many = {str(number): float(number) for number in range(300)}
    with_gaps = dict(many)
    for number in range(0, 300, 7):
        del with_gaps[str(number)]
    cleared = dict(with_gaps)
    cleared.clear()
    cleared["again"] = 1.0
    other = {1: 1.0, "a": 2.0}
    del other[1]
    return [{}, {"a": 1.0}, {"\u00e9": 1.0, "\u6587": 2}, dict.fromkeys("abcdefghij", 1.0), many, with_gaps,
            with_gaps.copy(), {**with_gaps, "z": 1.0}, cleared, {1: 1.0, 2: 2.0}, {"a": 1.0, 2: 2.0}, other,
            vars(Attributes())]


def as_assumed(list dicts):
    """Whether the interpreter is known, and reading the entries of these dicts gives what PyDict_Next gives."""
    cdef bint plain
    if not KNOWN_DICTS:
        return False
    for pairs in dicts:
        plain = has_plain_entries(pairs)
        if plain and not all(type(key) is str for key in pairs):
            return False
        if entry_addresses(pairs, plain) != entry_addresses(pairs, False):
            return False
    return True


def in_use():
    """Whether entries are read in this process."""
    return entries_are_known


entries_are_known = as_assumed(samples())


# ---- rankings as columns ---------------------------------------------------------------------------------------------
cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyUnicode_CheckExact(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) noexcept
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    Py_ssize_t PyDict_Size(object) except -1

cdef enum:
    BATCH_ROWS = 256        # pairs that are gathered at once
    SIGNAL_ROWS = 1 << 14   # documents between two looks at whether the user interrupts


cdef class Arrays:
    """Bytes of ids, and their starts, lengths and numbers in arrays of a known size."""

    cdef char* text
    cdef int64_t used, capacity
    cdef Py_ssize_t n, n_rows, looked
    cdef int64_t* starts
    cdef int64_t* lengths
    cdef double* numbers

    def __dealloc__(self):
        free(self.text)

    cdef int make_room(self, int64_t more) except -1:
        cdef char* text
        cdef int64_t size = 2 * (self.used + more) + 1      # ids without bytes have a start, too
        if self.used + more >= self.capacity:
            text = <char*>realloc(self.text, size)
            if text == NULL:
                raise MemoryError
            self.text, self.capacity = text, size
        return 0

    cdef bint add(self, dict ranking) except -1:
        """Append the rows of a ranking; False if something in it is unusual, or there are more than expected."""
        cdef PyObject* keys[BATCH_ROWS]
        cdef PyObject* values[BATCH_ROWS]
        cdef Text texts[BATCH_ROWS]
        cdef Py_ssize_t position = 0, i, n
        cdef int64_t size
        cdef double number
        cdef bint plain = strings_only(ranking)
        while True:
            if self.n - self.looked > SIGNAL_ROWS:
                self.looked = self.n
                PyErr_CheckSignals()
                plain = strings_only(ranking)       # which a handler could change
            n = gather(ranking, plain, &position, keys, values, BATCH_ROWS)
            if n == 0:
                return True
            if self.n + n > self.n_rows:
                return False
            for i in range(n):
                prefetch(<const char*>keys[i])
                prefetch(<const char*>keys[i] + 64)
            size = 0
            for i in range(n):
                if not PyUnicode_CheckExact(keys[i]) or not held_text(keys[i], texts + i):
                    return False
                size += texts[i].length
            self.make_room(size)
            for i in range(n):
                if not PyFloat_CheckExact(values[i]):
                    return False
                number = PyFloat_AsDouble(values[i])
                if number != number:
                    return False
                copy_text(texts + i, self.text + self.used)
                self.starts[self.n], self.lengths[self.n], self.numbers[self.n] = self.used, texts[i].length, number
                self.used += texts[i].length
                self.n += 1


def columns_from_rankings(dict rankings):
    """{query_id: {doc_id: score}} as (query_ids, offsets, text, starts, lengths, numbers), or None: read it otherwise.

    `text` holds the bytes of all ids, uint8; the other arrays are int64, and float64 the numbers.
    """
    cdef Arrays arrays = Arrays()
    cdef Py_buffer of_starts, of_lengths, of_numbers
    cdef Py_ssize_t q
    cdef list query_ids = [], each = []
    cdef dict ranking
    cdef bint usual = True
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    with cython.critical_section(rankings):     # two calls that lock it themselves could see two states of it
        while PyDict_Next(rankings, &position, &key, &value):
            query_ids.append(<object>key)
            each.append(<object>value)
    for q in range(len(each)):
        if type(each[q]) is not dict:
            return None
        arrays.n_rows += PyDict_Size(each[q])
    starts, lengths, numbers = empty(arrays.n_rows, int64), empty(arrays.n_rows, int64), empty(arrays.n_rows, float64)
    offsets = zeros(len(query_ids) + 1, int64)
    places = []
    PyObject_GetBuffer(starts, &of_starts, PyBUF_WRITABLE)
    PyObject_GetBuffer(lengths, &of_lengths, PyBUF_WRITABLE)
    PyObject_GetBuffer(numbers, &of_numbers, PyBUF_WRITABLE)
    arrays.starts, arrays.lengths = <int64_t*>of_starts.buf, <int64_t*>of_lengths.buf
    arrays.numbers = <double*>of_numbers.buf
    try:
        for q in range(len(each)):
            ranking = <dict>each[q]
            with cython.critical_section(ranking):
                usual = arrays.add(ranking)
            if not usual:
                return None
            places.append(arrays.n)
    finally:
        PyBuffer_Release(&of_starts)
        PyBuffer_Release(&of_lengths)
        PyBuffer_Release(&of_numbers)
    if arrays.n < arrays.n_rows:        # another thread has taken some away
        return None
    offsets[1:] = places
    text = empty(arrays.used, uint8)
    if arrays.used:
        PyObject_GetBuffer(text, &of_lengths, PyBUF_WRITABLE)
        memcpy(of_lengths.buf, arrays.text, arrays.used)
        PyBuffer_Release(&of_lengths)
    return query_ids, offsets, text, starts, lengths, numbers
