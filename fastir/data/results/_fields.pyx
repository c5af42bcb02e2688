"""The fields of Results, and the two readings of it that follow most calls: the means, and a dict for each query.

In C because a Results is made in every call, and a call may evaluate one query in a microsecond. Several threads may
read a Results at once: what is made at a reading and kept is set and read in critical sections. A row of the nested
dict is a copy of one dict whose values are then replaced: its keys are hashed and placed once, not once for each query.
"""

cimport cython
from cpython.buffer cimport PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer

from numpy import dtype

cdef object FLOAT64 = dtype("float64")
cdef frozenset ALONE = frozenset(("mean", "sum", "count", "mean_or_nan"))   # of one value they are this value


cdef class Fields:
    """The fields of Results, whose docstring says what they are; `values` is made read-only.

    Values and status codes may be functions that make them when they are first read: a run of few queries leaves those
    of many to be filled in.
    """

    cdef readonly object _query_ids, _names, _aggregates, _weights
    cdef object values, status_codes, report, provenance    # these, or functions that make them
    cdef dict means

    def __init__(self, query_ids, names, values, status_codes, aggregates, report, weights=None, provenance=None):
        if not callable(values):
            values.setflags(False)      # by keyword it takes twice as long
        self._query_ids, self._names, self.values, self.status_codes = query_ids, names, values, status_codes
        self._aggregates, self._weights = aggregates, weights
        self.report, self.provenance = report, provenance

    def keys(self):
        """The names, as `dict` asks for them."""
        return list(self._names)

    def __getitem__(self, name):
        cdef dict means
        with cython.critical_section(self):
            means = self.means
        if means is None:
            means = {} if len(self._query_ids) != 1 or self._weights is not None else plain_means(self)
            with cython.critical_section(self):
                self.means = means if self.means is None else self.means
                means = self.means
        mean = means.get(name)
        if mean is None:
            mean = means[name] = self._mean(name)
        return mean

    @property
    def _values(self):
        with cython.critical_section(self):
            values = self.values
        if not callable(values):
            return values
        values = values()
        values.setflags(False)
        with cython.critical_section(self):
            self.values = values if callable(self.values) else self.values     # of several threads, the first one's
            return self.values

    @property
    def _late_values(self):
        """What makes the values when they are first read, or None if they were made."""
        with cython.critical_section(self):
            return self.values if callable(self.values) else None

    @property
    def _status_codes(self):
        with cython.critical_section(self):
            if callable(self.status_codes):
                self.status_codes = self.status_codes()
            return self.status_codes

    @property
    def _report(self):
        with cython.critical_section(self):
            return self.report

    @_report.setter
    def _report(self, report):
        with cython.critical_section(self):
            self.report = report

    @property
    def _provenance(self):
        with cython.critical_section(self):
            return self.provenance

    @_provenance.setter
    def _provenance(self, provenance):
        with cython.critical_section(self):
            self.provenance = provenance


def status_codes(Fields fields):
    """The index into the statuses of each query."""
    return fields._status_codes


cdef int get_buffer(values, Py_buffer* buffer, Py_ssize_t n, Py_ssize_t n_names) except -1:
    """Look at float64 values of shape (n, n_names); a memoryview would take as long as reading those of a query."""
    PyObject_GetBuffer(values, buffer, PyBUF_STRIDES)
    if buffer.ndim != 2 or buffer.shape[0] != n or buffer.shape[1] != n_names or values.dtype != FLOAT64:
        PyBuffer_Release(buffer)
        raise ValueError(f"values must be float64 of shape {(n, n_names)}")
    return 0


cdef dict plain_means(Fields fields):
    """The means over a single query that are its values."""
    cdef dict means = {}
    cdef double number
    cdef Py_ssize_t i = 0
    cdef Py_buffer buffer
    cdef object values = fields.values
    if callable(values):
        values = fields._values
    get_buffer(values, &buffer, 1, len(fields._names))
    for name in fields._names:
        number = (<const double*>(<const char*>buffer.buf + i * buffer.strides[1]))[0]
        if number == number and fields._aggregates[i] in ALONE:
            means[name] = number + 0.0      # a sum is not -0.0
        i += 1
    PyBuffer_Release(&buffer)
    return means


def row_dicts(query_ids, dict row, keys, values):
    """{query_id: a copy of `row` with these values for these keys}; float64 of shape (n_queries, n_keys)."""
    cdef dict rows = {}, copied
    cdef tuple names = tuple(keys)
    cdef Py_buffer buffer
    cdef const char* place
    cdef Py_ssize_t i = 0, j
    get_buffer(values, &buffer, len(query_ids), len(names))
    try:
        for query_id in query_ids:
            copied = row.copy()
            place = <const char*>buffer.buf + i * buffer.strides[0]
            for j in range(len(names)):
                copied[names[j]] = (<const double*>(place + j * buffer.strides[1]))[0]
            rows[query_id] = copied
            i += 1
    finally:
        PyBuffer_Release(&buffer)
    return rows
