# Scores and labels as Python objects: float, int and NumPy's scalars, read without running Python code.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    PyTypeObject* Py_TYPE(PyObject*) noexcept

cdef extern from *:
    """
    #ifdef Py_LIMITED_API
    #define fastir_float(value) PyFloat_AsDouble(value)
    #define fastir_is_digit(value) 0
    #define fastir_digit(value) 0
    #define fastir_is_pair(value) 0
    #define fastir_pair(value) 0
    #define fastir_hash_of_key(key) PyObject_Hash(key)
    #else
    #define fastir_hash_of_key(key) (((PyASCIIObject*)(key))->hash)  /* a str that is the key of a dict has it */
    #define fastir_float(value) PyFloat_AS_DOUBLE(value)
    #if PY_VERSION_HEX >= 0x030C0000
    #define fastir_is_digit(value) PyUnstable_Long_IsCompact((PyLongObject*)(value))
    #define fastir_digit(value) PyUnstable_Long_CompactValue((PyLongObject*)(value))
    #define fastir_digits(value) (((PyLongObject*)(value))->long_value.ob_digit)
    #define fastir_is_negative(value) ((((PyLongObject*)(value))->long_value.lv_tag & 3) == 2)
    #if PY_VERSION_HEX < 0x030F0000
    #define fastir_is_pair(value) (((PyLongObject*)(value))->long_value.lv_tag >> 3 == 2)
    #else
    #define fastir_is_pair(value) 0
    #endif
    #else
    #define fastir_is_digit(value) ((size_t)Py_SIZE(value) + 1 <= 2)
    #define fastir_digit(value) (Py_SIZE(value) * (Py_ssize_t)((PyLongObject*)(value))->ob_digit[0])
    #define fastir_digits(value) (((PyLongObject*)(value))->ob_digit)
    #define fastir_is_negative(value) (Py_SIZE(value) < 0)
    #define fastir_is_pair(value) (Py_SIZE(value) == 2 || Py_SIZE(value) == -2)
    #endif
    static inline int64_t fastir_pair(PyObject *value) {
        int64_t size = (int64_t)fastir_digits(value)[1] << PyLong_SHIFT | (int64_t)fastir_digits(value)[0];
        return fastir_is_negative(value) ? -size : size;
    }
    #endif
    """
    double float_value "fastir_float"(PyObject*) noexcept        # of a float or of an object of a subclass
    bint is_digit "fastir_is_digit"(PyObject*) noexcept          # whether an int has the least size, and what it is
    Py_ssize_t digit "fastir_digit"(PyObject*) noexcept
    bint is_pair "fastir_is_pair"(PyObject*) noexcept            # whether an int has the size after that: to 60 bits
    int64_t pair "fastir_pair"(PyObject*) noexcept
    Py_ssize_t key_hash "fastir_hash_of_key"(PyObject*) noexcept     # of a str, or of NumPy's


cdef enum:
    FLOAT64 = 100       # a Reader.kind; the others are known in _scalars.pyx alone
    FLOAT64_BITS = 53   # every integer of this many bits is a float64


cdef struct Reader:             # of objects that most often are of one type
    PyTypeObject* type          # of the last one that was no float
    int kind                    # what it is
    bint wide                   # whether an integer was met that may not be a float64


cdef int read_other(Reader* reader, PyObject* value, double* out) noexcept
cdef bint read_integer(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint read_numpy_integer(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint read_id(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint is_numpy_id(Reader* reader, PyObject* value, bint integers) noexcept
cdef bint read_whole(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint read_known(Reader* reader, PyObject* value, double* out) noexcept
cdef bint read_integers(array, int64_t start, int64_t n, int64_t* out) except -1
cdef tuple equal_integers(list ids, list scores)
cdef tuple integers_made_equal(dict ranking, const double* scores, int64_t n)


cdef inline bint beyond(int64_t number) noexcept:
    return number > <int64_t>1 << FLOAT64_BITS or number < -(<int64_t>1 << FLOAT64_BITS)


cdef inline double float64_value(PyObject* value) noexcept:
    """The value of an np.float64."""
    return (<const double*>(<const char*>value + sizeof(PyObject)))[0]


cdef inline bint read_score(Reader* reader, PyObject* value, double* out) noexcept:
    """Read a number as float64; False if its type may run Python code, or it is too large."""
    if PyFloat_CheckExact(value):
        out[0] = float_value(value)
        return True
    if PyLong_CheckExact(value) and is_digit(value):
        out[0] = <double>digit(value)
        return True
    if PyLong_CheckExact(value) and is_pair(value):
        out[0] = <double>pair(value)
        reader.wide |= beyond(pair(value))
        return True
    if Py_TYPE(value) == reader.type and reader.kind == FLOAT64:
        out[0] = float64_value(value)
        return True
    return read_other(reader, value, out)
