# The rows of one ranking that is a dict: its ids, borrowed, and its scores as float64.
#
# One walk collects the scores and checks on the way that every key is a str, or every key an int, and every value a
# number that _scalars reads. It runs no Python code, so that what is borrowed stays valid until its caller runs some,
# or lets go of the GIL. Where there is no GIL, the caller hands in a copy that no other thread knows.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from fastir.engine.columns._entries cimport gather, strings_only
from fastir.engine.columns._prefetch cimport prefetch
from fastir.engine.columns._scalars cimport Reader, is_numpy_id, read_score

cdef extern from "Python.h":
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept

cdef enum:                  # results of read_rows
    ROWS_READ
    NOT_PLAIN               # an id is of another kind, or a score is no number that can be read without Python code
    HAS_NAN

cdef enum:
    ROWS_AHEAD = 64         # rows whose scores are asked for before the first of them is read
    GIL_ROWS = 1 << 14  # a bit of a row's number: when it changes, another thread may have the GIL


cdef inline bint are_plain(PyObject** keys, Py_ssize_t n, bint integers) noexcept:
    """Whether n ids are exact objects of their kind."""
    cdef Py_ssize_t i
    cdef bint plain = True
    for i in range(n):
        plain &= (PyLong_CheckExact(keys[i]) if integers else PyUnicode_CheckExact(keys[i])) != 0
    return plain


cdef inline bint are_known(PyObject** keys, Py_ssize_t n, bint integers) noexcept:
    """Whether n ids are exact objects of their kind or, which takes longer to see, NumPy's."""
    cdef Py_ssize_t i
    cdef Reader reader
    reader.type = NULL
    for i in range(n):
        prefetch(<const char*>keys[i])
    for i in range(n):
        if not are_plain(keys + i, 1, integers) and not is_numpy_id(&reader, keys[i], integers):
            return False
    return True


cdef inline bint begins_with_numpy(dict ranking, bint integers) noexcept:
    """Whether the first id is a NumPy scalar."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    cdef Reader reader
    reader.type = NULL
    return (not strings_only(ranking) and PyDict_Next(ranking, &position, &key, &value)
            and is_numpy_id(&reader, key, integers))


cdef inline bint read_batch(Reader* reader, PyObject** values, Py_ssize_t n, double* scores, bint* nan) noexcept:
    """The scores of n rows, and whether one is NaN; False if one is not plain."""
    cdef Py_ssize_t i
    cdef bint is_nan = False
    for i in range(n):
        if not read_score(reader, values[i], scores + i):
            return False
        is_nan |= scores[i] != scores[i]
    nan[0] |= is_nan
    return True


cdef inline int read_rows(dict ranking, bint integers, bint may_be_numpy, bint releases_gil, int64_t n, Reader* reader,
                          PyObject** keys, double* scores) noexcept:
    """Read n rows, as many as the ranking has.

    Parameters
    ----------
    integers : whether ids are int, not str
    may_be_numpy : whether they may be NumPy's scalars
    releases_gil : whether another thread may have the GIL meanwhile: nobody else can change the ranking
    reader : is set anew
    keys, scores : filled

    Returns
    -------
    ROWS_READ, NOT_PLAIN or HAS_NAN.
    """
    cdef PyObject* values[ROWS_AHEAD]
    cdef Py_ssize_t position = 0, m
    cdef bint strings = strings_only(ranking), nan = False
    cdef int64_t i = 0
    reader.type, reader.wide = NULL, False
    while i < n:
        m = gather(ranking, strings, &position, keys + i, values, min(ROWS_AHEAD, n - i))
        if m == 0:
            break
        if strings and integers or not (strings or (are_known if may_be_numpy else are_plain)(keys + i, m, integers)) \
                or not read_batch(reader, values, m, scores + i, &nan):
            return NOT_PLAIN
        i += m
        if releases_gil and not i & GIL_ROWS - 1:
            with nogil:
                pass
    return HAS_NAN if nan else ROWS_READ
