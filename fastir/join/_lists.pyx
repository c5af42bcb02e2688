"""The join for a run of lists of ids in rank order: every list is walked once, and its ids are looked up among the
judged ones by Python's own hash, which a str keeps once it was asked for.

Strings that nobody has hashed yet, as those of a response that was just parsed, cost their hash; the others are read as
far as their first 32 bytes. Both wait for memory, so each list is copied as pointers first, and the objects are asked
for some places ahead. Only ids that pass the filter of the judged ones are compared.

All ids must be exact str objects, or exact int objects; a list with anything else is read from a copy in plain types
(columns/id_lists). The GIL is held: nobody changes a list while it is read, unless it may be released (`breathes`).
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._prefetch cimport prefetch
from fastir.join._join cimport Counts, clear_tally, count_ranking, tally_of
from fastir.join._judged cimport Judged, Lookup, spread_hash
from fastir.join._listed cimport Listed, discard_listed, find_copies, make_room, measure_hits
from fastir.measure._codes cimport MISSING, REPEATED
from fastir.measure._measure cimport Judgments, Plan, label_code, measure

from fastir.columns.id_lists import plain_ranking, ranking as ranking_of, repeated
from fastir.columns.ids import is_integer

cdef extern from "Python.h":
    ctypedef struct PyObject
    int PyErr_CheckSignals() except -1
    int Py_EQ
    Py_ssize_t PyObject_Hash(PyObject*) except? -1
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) noexcept nogil
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    PyObject* PyTuple_GetItem(object, Py_ssize_t) except NULL

cdef enum:
    WORK_BETWEEN_SIGNALS = 100000   # ids between two looks at whether the user interrupts
    BREATH = 1 << 14        # a bit of a row's number: when it changes, a walk that may do so lets another thread run
    AHEAD = 12              # how many ids ahead are fetched into the cache


cdef bint same_object(const void* ids, int64_t i, int64_t j) noexcept nogil:
    """Whether two rows hold one id; exact str and int objects run no code of the caller's when they are compared."""
    cdef PyObject* a = (<PyObject**>ids)[i]
    cdef PyObject* b = (<PyObject**>ids)[j]
    return a == b or PyObject_RichCompareBool(a, b, Py_EQ) == 1


cdef class Walk:
    """The state of one call: the ids of the list in work, and scratch."""

    cdef Listed listed
    cdef PyObject** keys        # the list's ids, and behind them one judged id
    cdef int64_t n, capacity
    cdef bint integers
    cdef bint breathes          # whether the GIL may be released within a list

    def __dealloc__(self):
        discard_listed(&self.listed)
        free(self.keys)

    cdef int room(self, Plan plan, int64_t n, int64_t judged) except -1:
        if n >= self.capacity:
            free(self.keys)
            self.capacity = n + n // 2 + 64
            self.keys = <PyObject**>malloc((self.capacity + AHEAD + 1) * sizeof(PyObject*))
            if self.keys == NULL:
                self.capacity = 0
                raise MemoryError
        if make_room(&self.listed, plan, n, judged):
            raise MemoryError
        return 0

    cdef bint read(self, ids) except -1:
        """Collect the list's ids and their hashes; False if one is not of the exact type of the run's ids."""
        cdef int64_t i, n = self.n
        cdef uint64_t* hashes = self.listed.seen.hashes
        cdef PyObject** keys = self.keys
        cdef PyObject* key
        if type(ids) is list:
            for i in range(n):
                keys[i] = PyList_GetItem(ids, i)
        else:
            for i in range(n):
                keys[i] = PyTuple_GetItem(ids, i)
        for i in range(n, n + AHEAD):
            keys[i] = NULL
        for i in range(n):
            prefetch(<const char*>keys[i + AHEAD])
            key = keys[i]
            if not (PyLong_CheckExact(key) if self.integers else PyUnicode_CheckExact(key)):
                return False
            hashes[i] = spread_hash(PyObject_Hash(key))
            if self.breathes and not i & BREATH - 1:
                with nogil:
                    pass
        return True

    cdef int64_t match(self, Judged judged, const Lookup* lookup, list ids, int64_t first, int64_t wanted,
                       int64_t* n_hits) except -1:
        """How many judged ids the list holds; those before `wanted` become hits."""
        cdef Listed* l = &self.listed
        cdef int64_t i, place, hits = 0, found = 0
        cdef uint64_t h, slot, entry, low = 0xFFFFFFFF
        for i in range(self.n):
            h = l.seen.hashes[i]
            if not lookup.filter[h >> 38 & lookup.filter_mask] >> (h >> 32 & 63) & 1 or l.n_copies and l.copies[i]:
                continue
            slot = h & lookup.mask
            while True:
                entry = lookup.table[slot]
                if entry == 0:
                    break
                place = <int64_t>(entry & low) - 1
                if entry >> 32 == h >> 32:
                    self.keys[self.n] = PyList_GetItem(ids, first + place)
                    if same_object(self.keys, i, self.n):
                        found += 1
                        if place < wanted:
                            l.rows[hits] = i
                            l.labels[hits] = label_code(judged.labels[first + place])
                            hits += 1
                        break
                slot = (slot + 1) & lookup.mask
        n_hits[0] = hits
        return found


def longest_list(dict run):
    """The ids of the longest ranking that is a list or a tuple."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, longest = 0
    while PyDict_Next(run, &position, &key, &value):
        if type(<object>value) is list or type(<object>value) is tuple:
            longest = max(longest, len(<object>value))
    return longest


def integer_ids(dict run):
    """Whether the document ids are integers, judged by the first one; None if there is none."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    while PyDict_Next(run, &position, &key, &value):
        ids = <object>value
        if type(ids) is not list and type(ids) is not tuple:
            ids = ranking_of(<object>key, ids)
        if len(ids):
            return is_integer(ids[0])
    return None


def judge_lists(Judged judged, Plan plan, dict run, values, status, int rule, bint breathes=False):
    """Evaluate {query_id: list of doc_id}.

    Parameters
    ----------
    run : dict whose keys are exact str objects, or exact int objects
    values : float64 array of shape (n_queries, n_slots), filled
    status : uint8 array of shape (n_queries,), set to MISSING where the run lacks the query
    rule : int
        A code of COPY_CODES.
    breathes : bool
        Whether the GIL may be released within a list: nobody else can change the run.

    Returns
    -------
    Tally
    tuple of type
        The types of the run's query ids and document ids, str or int; None if there are none.
    tuple
        How many copies were repaired, the position of the first query that had one, and the rank of that.
    """
    cdef Py_buffer value_buffer, status_buffer
    cdef fenv_t callers
    cdef Counts tally
    cdef int64_t[3] copies = [0, 0, 0]
    cdef object integers = integer_ids(run)
    cdef type query_kind = type(next(iter(run))) if run else None
    clear_tally(&tally)
    PyObject_GetBuffer(values, &value_buffer, PyBUF_WRITABLE)
    PyObject_GetBuffer(status, &status_buffer, PyBUF_WRITABLE)
    ordinary(&callers)
    try:
        judge_all(judged, plan, run, query_kind is int, integers is True, <double*>value_buffer.buf,
                  <unsigned char*>status_buffer.buf, rule, &tally, copies, breathes)
    finally:
        fesetenv(&callers)
        PyBuffer_Release(&value_buffer)
        PyBuffer_Release(&status_buffer)
    kinds = query_kind, None if integers is None else int if integers else str
    return tally_of(&tally), kinds, (copies[0], copies[1], copies[2])


cdef int judge_all(Judged judged, Plan plan, dict run, bint integer_queries, bint integers, double* out,
                   unsigned char* codes, int rule, Counts* tally, int64_t* copies, bint breathes) except -1:
    """What judge_lists does."""
    cdef Walk walk = Walk.__new__(Walk)
    cdef Listed* l = &walk.listed
    cdef Py_ssize_t q
    cdef int64_t first, n_judged, n_hits, n_found, work = 0
    cdef Judgments known
    cdef int problem
    cdef PyObject* value
    cdef object ids
    cdef list query_ids = judged.queries(integer_queries), judged_ids = judged.ids(integers)
    cdef const Lookup* lookup = judged.lookup(integers)
    walk.integers, walk.breathes = integers, breathes
    for q in range(judged.n_queries):
        first = judged.offsets[q]
        n_judged = judged.offsets[q + 1] - first
        known = judged.of(q)
        value = PyDict_GetItemWithError(run, PyList_GetItem(query_ids, q))
        if value == NULL:
            codes[q] = MISSING
            walk.room(plan, 0, n_judged)
            measure(plan, &l.measured, 0, 0, &known, out + q * plan.n_slots)
            continue
        ids = <object>value
        if type(ids) is not list and type(ids) is not tuple:
            ids = ranking_of(judged.query_ids[q], ids)
            if type(ids) is not list and type(ids) is not tuple:
                ids = list(ids)
        walk.n = len(ids)
        walk.room(plan, walk.n, n_judged)
        if not walk.read(ids):
            ids = plain_ranking(judged.query_ids[q], ids, integers)
            walk.n = len(ids)
            walk.room(plan, walk.n, n_judged)
            walk.read(ids)
        problem = find_copies(l, walk.keys, walk.n, same_object, rule)
        if problem == REPEATED:
            raise repeated(judged.query_ids[q], ids[l.seen.later], l.seen.first + 1, l.seen.later + 1)
        if problem:
            raise MemoryError
        n_found = walk.match(judged, lookup + q, judged_ids, first, judged.wanted(plan.reads, q), &n_hits)
        count_ranking(tally, q, measure_hits(l, plan, walk.n, n_hits, rule, known, out + q * plan.n_slots), n_found)
        if l.n_copies:
            note_copies(l, q, copies)
        work += walk.n + 1
        if work > WORK_BETWEEN_SIGNALS:
            work = 0
            PyErr_CheckSignals()
    return 0


cdef void note_copies(const Listed* l, int64_t q, int64_t* copies) noexcept:
    """Add the copies of query q to (number, position of the first query, rank there)."""
    cdef int64_t row = 0
    if copies[0] == 0:
        while not l.copies[row]:
            row += 1
        copies[1], copies[2] = q, row + 1
    copies[0] += l.n_copies
