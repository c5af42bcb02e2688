"""Callers' dicts: inspected without a Python call per document, and cleaned if they are unusual.

In: {query_id: {doc_id: label or score}}. Out: an answer (is it nested, are the keys plain, are the ids integers), or
exact str, int and float objects in a new dict or in columns. The usual dict, with exact str or int keys and values that
_scalars reads, passes with one look at each item; for any other dict plain_judgments() returns None, and
inputs/dicts.py reads it in Python. Errors name the query and the document.

Other threads may change a caller's dict. Each is looked at in a critical section, which costs nothing where there is a
GIL; an inner section can let the outer one go, so what is needed of a dict beyond its section is held.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.number cimport PyIndex_Check, PyNumber_Float
from cpython.object cimport PyObject
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from fastir.engine.columns._entries cimport (PyTypeObject, Py_TYPE, Reader, digit, equal_integers, fetch_next, is_digit,
                                             list_item, read_known, read_numpy_integer, read_whole, tuple_item)

from collections import OrderedDict

from numpy import empty, float64, int32, int64, zeros

from fastir.engine.columns.ids import is_integer, plain_id
from fastir.engine.columns.rows import LISTED_TWICE
from fastir.errors import quote

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    Py_ssize_t PyDict_Size(object) except -1
    int PyDict_Check(object) noexcept
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    int PyUnicode_Check(PyObject*) noexcept
    object PyUnicode_FromObject(PyObject*)
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept

cdef enum:
    SIGNAL_ROWS = 1 << 14   # documents between two looks at whether the user interrupts
    SORTED_IDS = 1 << 16    # ids
    SAMPLED_IDS = 31        # ids, of which the middle one parts many
    MAX_PAIRED_IDS = 8      # that are compared pair by pair

# What a subclass may define anew
ITEMS, ITERATE, LENGTH = dict.items, dict.__iter__, dict.__len__
METHOD = type({}.items)


cdef int answer_signals() except -1:
    """Raise KeyboardInterrupt if the user interrupts, here or, if this is another thread, in the main one."""
    PyErr_CheckSignals()
    with nogil:
        pass
    return 0


cdef dict own_items(mapping):
    """The dict with the items of a mapping, in its order; None if only its own Python code can list them.

    It is the mapping itself, where that is a dict or an object of a subclass that leaves items(), the order and the
    length unchanged: defaultdict, Counter. An OrderedDict has an order of its own: it is copied if that differs.
    """
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, i = 0
    if type(mapping) is dict:
        return <dict>mapping
    if not PyDict_Check(mapping):
        return None
    kind = type(mapping)
    if kind is OrderedDict:
        keys = list(mapping)
        with cython.critical_section(mapping):
            while i < len(keys) and PyDict_Next(mapping, &position, &key, &value):
                if key != PyList_GetItem(keys, i):
                    break
                i += 1
        return <dict>mapping if i == len(keys) == PyDict_Size(mapping) else dict(mapping)
    if kind.__iter__ is ITERATE and kind.__len__ is LENGTH:
        items = mapping.items
        if type(items) is METHOD and items == ITEMS.__get__(mapping):
            return <dict>mapping
    return None


cdef exact_id(Reader* reader, PyObject* doc_id, bint integers):
    """A document's id as an exact str or int; None if plain_id() must look at it."""
    cdef int64_t number
    if integers:
        if PyLong_CheckExact(doc_id):
            return <object>doc_id
        return number if read_numpy_integer(reader, doc_id, &number) else None
    if PyUnicode_CheckExact(doc_id):
        return <object>doc_id
    return PyUnicode_FromObject(doc_id) if PyUnicode_Check(doc_id) else None


def plain_scores(query_id, ranking, bint integers, list rounded=None):
    """A ranking as an exact dict of str, or of int, to float; or the error that names the document.

    If scores are different integers that are one float64, (query_id, two of their documents) is added to `rounded`.
    """
    cdef dict plain = {}, items = own_items(ranking)
    cdef list ids, scores
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t i, position = 0
    cdef Reader id_reader, reader
    cdef double number
    cdef PyTypeObject* kind
    cdef PyTypeObject* unknown = NULL       # the type of the last score that read_known does not know: it is asked once
    id_reader.type = reader.type = NULL
    reader.wide = False
    if items is None:
        ids, scores = unusual_items(query_id, ranking)
    else:
        ids, scores = [], []
        with cython.critical_section(items):    # two calls that lock it themselves could see two states of it
            while PyDict_Next(items, &position, &key, &value):
                ids.append(<object>key)
                scores.append(<object>value)
    for i in range(len(ids)):
        if not i & SIGNAL_ROWS - 1:
            answer_signals()
        doc_id = exact_id(&id_reader, PyList_GetItem(ids, i), integers)
        if doc_id is None:
            doc_id = plain_id(ids[i], integers, f"run: a document id of query {quote(query_id)}")
        kind = Py_TYPE(PyList_GetItem(scores, i))
        if kind != unknown and read_known(&reader, PyList_GetItem(scores, i), &number):
            plain[doc_id] = number
            continue
        score = scores[i]
        if kind != unknown and (isinstance(score, (str, bytes, bytearray, dict, complex)) or score is None):
            raise TypeError(f"run: the score must be a number, got {type(score).__name__} {quote(score)} "
                            f"(query {query_id}, document {doc_id})")
        unknown = kind
        try:
            plain[doc_id] = PyNumber_Float(score)
        except OverflowError:
            raise OverflowError("run: the score is too large for a float "
                                f"(query {query_id}, document {doc_id})") from None
        except MemoryError:
            raise
        except Exception as error:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__}: {error} "
                            f"(query {query_id}, document {doc_id})") from error
    if len(ranking) != len(ids):
        raise RuntimeError(f"run: the ranking of query {quote(query_id)} changed size while it was read")
    if reader.wide and rounded is not None:
        docs = equal_integers(ids, scores)
        if docs is not None:
            rounded.append((query_id, docs))
    return plain


cdef tuple unusual_items(query_id, ranking):
    """The ids and the scores of a mapping that only its own code can read."""
    cdef list items
    try:
        items = list(ranking.items())
    except AttributeError:
        raise TypeError(f"run: query {quote(query_id)} must map to a dict {{doc_id: score}}, "
                        f"got {type(ranking).__name__}") from None
    return [doc_id for doc_id, _ in items], [score for _, score in items]


def is_plain(ranking, bint integers):
    """Whether a ranking is an exact dict of exact str, or exact int objects, to floats."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    if type(ranking) is not dict:
        return False
    with cython.critical_section(ranking):
        while PyDict_Next(ranking, &position, &key, &value):
            if not ((PyLong_CheckExact(key) if integers else PyUnicode_CheckExact(key)) and PyFloat_CheckExact(value)):
                return False
    return True


def refuse_nan(query_id, ranking):
    """Raise the error that names the document with the score NaN, if only when the ranking was read."""
    for doc_id, score in ranking.items():
        if score != score:
            raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {doc_id})")
    raise RuntimeError(f"run: the ranking of query {quote(query_id)} changed while it was read")


def is_nested(data):
    """Whether this is certainly a dict of dicts; False (other mappings, dicts of columns) means: look closer."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    if type(data) is not dict:
        return False
    with cython.critical_section(data):
        return not PyDict_Next(data, &position, &key, &value) or type(<object>value) is dict


def has_plain_keys(dict run):
    """Whether all keys are exact str objects, or all exact int objects."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    cdef bint strings = True, integers = True
    with cython.critical_section(run):
        while PyDict_Next(run, &position, &key, &value):
            strings &= PyUnicode_CheckExact(key) != 0
            integers &= PyLong_CheckExact(key) != 0
    return strings or integers


cdef dict as_judgments(value):
    """A query's judgments as own_items(), or {id: 1} of ids that are listed; None if they are something unusual."""
    if PyDict_Check(value):
        return own_items(value)
    try:
        if type(value) is list or type(value) is tuple:
            return label_ids(tuple(value))       # the list of one moment
        if type(value) is set or type(value) is frozenset:
            return label_in_order(members(value))    # an order that is the same in every process
    except TypeError:
        pass
    return None


cdef list in_order(value):
    """The members of a set of a few exact str, sorted; None if there are others, or many."""
    cdef list ids
    cdef Py_ssize_t i
    if len(value) > SIGNAL_ROWS:
        return None
    ids = list(value)
    for i in range(len(ids)):
        if type(ids[i]) is not str:
            return None
    ids.sort()
    return ids


cdef bint are_distinct(ids):
    """Whether a list or tuple has so few exact str that comparing them all is quick, and no two are equal."""
    cdef Py_ssize_t i, j, n = len(ids)
    if n > MAX_PAIRED_IDS:
        return False
    for i in range(n):
        if not PyUnicode_CheckExact(item(ids, i)):
            return False
        for j in range(i):
            if <str>item(ids, i) == <str>item(ids, j):
                return False
    return True


cdef inline PyObject* item(ids, Py_ssize_t i) noexcept:
    """The members of a list or tuple."""
    return list_item(ids, i) if type(ids) is list else tuple_item(ids, i)


cdef dict label_ids(tuple ids):
    """{id: 1} of ids that are listed."""
    cdef dict labels = {}
    cdef Py_ssize_t i
    for i in range(len(ids)):
        if not i & SIGNAL_ROWS - 1:
            answer_signals()
        labels[ids[i]] = 1
    return labels


cdef list members(value):
    """The members of a set; a large set is read piece by piece."""
    cdef list ids = []
    if len(value) <= SORTED_IDS:
        return list(value)
    for doc_id in value:
        if not len(ids) & SIGNAL_ROWS - 1:
            answer_signals()
        ids.append(doc_id)
    return ids


cdef dict label_in_order(list ids):
    """{id: 1} of str, or int, that all differ, sorted; if there are many, ids below one in the middle come before the
    others.

    The list is emptied on the way: a list of millions takes long to be copied or freed, and answers no signal then.
    """
    cdef Py_ssize_t i, n
    cdef dict labels = {}
    cdef list part, low, high, parts = [ids]
    while parts:
        part = parts.pop()
        n = len(part)
        if n > SORTED_IDS:
            middle = sorted(part[::n // SAMPLED_IDS])[SAMPLED_IDS // 2]
            low, high = [], []
            for i in range(n):
                if not i & SIGNAL_ROWS - 1:
                    answer_signals()
                doc_id = part.pop()
                (low if doc_id < middle else high).append(doc_id)
            if low and high:
                parts += (high, low)
                continue
            part = low or high
        part.sort()
        for doc_id in part:
            labels[doc_id] = 1
        answer_signals()
    return labels


def plain_judgments(data, bint floats=True):
    """{query_id: {doc_id: label}} as columns, or None if something in it is unusual, as 1.0 is without `floats`.

    Instead of {doc_id: label} a query may have the ids of relevant documents, as a list, a tuple, a set or one str.

    Returns
    -------
    None, or tuple
        query_ids, offsets (int64), doc_ids, labels (int32, or float64 if one is fractional); the lists hold exact str
        or exact int. Then the repairs, if a list of relevant ids has one of them again.
    """
    cdef PyObject* query
    cdef PyObject* value
    cdef Py_ssize_t position = 0, q, first = -1
    cdef Py_buffer buffer
    cdef Labels labels = Labels.__new__(Labels)
    cdef list query_ids = [], values = []
    cdef dict pairs = own_items(data)
    labels.floats = floats
    if pairs is None:
        return None
    pairs = pairs if type(pairs) is dict else dict(pairs)
    if not has_plain_keys(pairs):
        return None
    with cython.critical_section(pairs):
        while PyDict_Next(pairs, &position, &query, &value):
            query_ids.append(<object>query)
            values.append(<object>value)
    offsets = zeros(len(query_ids) + 1, int64)
    PyObject_GetBuffer(offsets, &buffer, PyBUF_WRITABLE)
    try:
        for q in range(len(values)):
            fetch_next(values, q, MAX_PAIRED_IDS)
            if not labels.add_judgments(values[q]):
                return None
            if labels.repeats and first < 0:
                first = q
            (<int64_t*>buffer.buf)[q + 1] = labels.n
    finally:
        PyBuffer_Release(&buffer)
    if labels.repeats:
        repairs = {LISTED_TWICE: (labels.repeats, f"query {query_ids[first]}")}
        return query_ids, offsets, labels.doc_ids, labels.array(), repairs
    return query_ids, offsets, labels.doc_ids, labels.array()


cdef class Labels:
    """Document ids and labels, gathered from one dict after the other."""

    cdef list doc_ids
    cdef int32_t* labels
    cdef double* reals          # instead of them, from the first fractional one on
    cdef Py_ssize_t n, capacity, signals
    cdef Py_ssize_t repeats     # ids that a list of relevant ones has again
    cdef bint strings, integers, floats

    def __cinit__(self):
        self.doc_ids = []
        self.strings = self.integers = True

    def __dealloc__(self):
        free(self.labels)
        free(self.reals)

    cdef int make_room(self, Py_ssize_t size) except -1:
        """Make room for so many labels."""
        cdef int32_t* labels
        cdef double* reals
        if self.reals == NULL:
            labels = <int32_t*>realloc(self.labels, size * sizeof(int32_t))
            if labels == NULL:
                raise MemoryError
            self.labels = labels
        else:
            reals = <double*>realloc(self.reals, size * sizeof(double))
            if reals == NULL:
                raise MemoryError
            self.reals = reals
        self.capacity = size
        return 0

    cdef int hold_reals(self) except -1:
        """Go on with labels that may be fractions."""
        cdef Py_ssize_t i
        self.reals = <double*>malloc(self.capacity * sizeof(double))
        if self.reals == NULL:
            raise MemoryError
        for i in range(self.n):
            self.reals[i] = self.labels[i]
        return 0

    cdef bint add_judgments(self, value) except -1:
        """Append a query's judgments, or the ids of its relevant documents; False if something in them is unusual."""
        cdef bint added = False
        cdef dict judged
        if self.n // SIGNAL_ROWS > self.signals:
            self.signals = self.n // SIGNAL_ROWS
            PyErr_CheckSignals()
        if type(value) is list or type(value) is tuple:
            with cython.critical_section(value):
                added = are_distinct(value) and self.add_relevant(value)
        elif type(value) is str:
            added = self.add_relevant((value,))
        elif type(value) is set or type(value) is frozenset:
            ids = in_order(value)       # an order that is the same in every process
            added = ids is not None and self.add_relevant(ids)
        if added:
            return True
        judged = as_judgments(value)
        if judged is None:
            return False
        if (type(value) is list or type(value) is tuple) and len(value) > PyDict_Size(judged):
            self.repeats += len(value) - PyDict_Size(judged)
        with cython.critical_section(judged):
            return self.add(judged)

    cdef bint add_relevant(self, ids) except -1:
        """Append distinct exact str, a list or tuple, with label 1; False if other ids are integers."""
        cdef Py_ssize_t i, n = len(ids)
        if n == 0:
            return True
        self.integers = False
        if not self.strings:
            return False
        if self.n + n > self.capacity:
            self.make_room(self.n + n + (self.n + n) // 2)
        for i in range(n):
            self.doc_ids.append(<object>item(ids, i))
            if self.reals == NULL:
                self.labels[self.n + i] = 1
            else:
                self.reals[self.n + i] = 1.0
        self.n += n
        return True

    cdef bint add(self, dict judged) except -1:
        """Append a query's judgments; False if something in them is unusual."""
        cdef Py_ssize_t position = 0, size = self.n + PyDict_Size(judged)
        cdef PyObject* doc
        cdef PyObject* label
        cdef Reader reader, id_reader
        cdef int64_t number = 0
        cdef double real = 0.0
        if size > self.capacity:
            self.make_room(size + size // 2)
        reader.type = id_reader.type = NULL
        while True:
            if self.n & SIGNAL_ROWS - 1 == SIGNAL_ROWS - 1:
                PyErr_CheckSignals()
            if not PyDict_Next(judged, &position, &doc, &label):
                return self.n == size
            if self.n == size:      # a handler of signals has changed them
                return False
            if self.strings and type(<object>doc) is str:
                self.integers = False
                doc_id = <object>doc
            else:
                self.strings &= PyUnicode_Check(doc) != 0
                self.integers &= PyUnicode_Check(doc) == 0
                doc_id = exact_id(&id_reader, doc, self.integers) if self.strings or self.integers else None
                if doc_id is None:
                    return False
            if self.reals == NULL and PyLong_CheckExact(label) and is_digit(label):
                number = digit(label)
            elif self.reals != NULL or not read_whole(&reader, label, &number):
                if not (self.floats and read_known(&reader, label, &real) and INT32_MIN <= real <= INT32_MAX):
                    return False
                if self.reals == NULL:
                    self.hold_reals()
            if not self.floats and not PyIndex_Check(<object>label):
                return False
            self.doc_ids.append(doc_id)
            if self.reals == NULL:
                self.labels[self.n] = <int32_t>number
            else:
                self.reals[self.n] = real
            self.n += 1

    cdef object array(self):
        """The labels as a new array, int32 or, if one is fractional, float64."""
        cdef Py_buffer buffer
        labels = empty(self.n, int32 if self.reals == NULL else float64)
        if self.n:
            PyObject_GetBuffer(labels, &buffer, PyBUF_WRITABLE)
            if self.reals == NULL:
                memcpy(buffer.buf, self.labels, self.n * sizeof(int32_t))
            else:
                memcpy(buffer.buf, self.reals, self.n * sizeof(double))
            PyBuffer_Release(&buffer)
        return labels


def has_integer_documents(dict run):
    """Whether the document ids are integers, judged by the first one; None if there is none."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, inner
    cdef object ranking, doc_id
    while True:
        with cython.critical_section(run):
            if not PyDict_Next(run, &position, &key, &value):
                return None
            ranking = <object>value
        if type(ranking) is dict:
            inner = 0
            with cython.critical_section(ranking):
                if not PyDict_Next(ranking, &inner, &key, &value):
                    continue
                doc_id = <object>key
            return type(doc_id) is not str and is_integer(doc_id)
        if hasattr(ranking, "keys") and len(ranking):
            return is_integer(next(iter(ranking)))
