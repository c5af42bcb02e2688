"""Scores and labels as Python objects, read without running Python code: float, int, bool and NumPy's scalars.

In: an object of a caller's dict. Out: its value, or the answer that it is of another type, such as Fraction,
whose __float__ may run any code: then the caller makes a snapshot before it asks for values.

The object of a NumPy scalar is the head that all objects have and then the value, as arrayscalars.h of NumPy's C
interface says. NumPy is not needed to build for that; instead each type is tried once, at import, with samples, and one
whose samples are not found there is read from a snapshot. A subclass could define __float__ anew, so types must be
exact, except float's, whose value C code reads without asking.

An integer is rounded to the nearest float64, as float() does. Beyond 2^53 two different ones may become equal:
Reader.wide says that one was met, and integers_made_equal() looks.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, NAN
from libc.stdint cimport INT32_MAX, INT32_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy

import numpy as np

from fastir.engine.measure._sort cimport falling_order

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
