"""The join for a run that is a dict of dicts: probe each ranking with the judged ids.

The ids of the qrels carry their hashes, so a probe costs a few nanoseconds; the run's own keys are never hashed, copied
or compared. From the second run on, if many documents were judged, the ranking's ids are looked up among them instead,
in a table by the hash that each id carries: half the cost of that many probes, but the table must be made first.

One walk over a ranking collects its scores and checks on the way that every key is a str and every value a float.
Anything else (int scores, NumPy scalars, other mappings) is read from a snapshot in plain types (columns/_dicts), made
once: a caller's __float__ that changes the dict meanwhile does not reach us.

Keys are borrowed from the ranking until its query is measured. Where there is no GIL, other threads may change it
meanwhile: there the run and each ranking are copied, each at once. A critical section would not do: looking up a key
takes the dict's lock, too, and in CPython 3.13 that lets a section go that holds it.

Judged documents that no metric reads matter only to the report. Where looking them up would be most of the work, a word
per document of the ranking is kept instead, and count_rest() counts when the report is read: the id itself if it is an
integer, else the 64-bit hash that the str carries. Neither the caller's dict nor its ids are held. Among a thousand
documents and a thousand judged ones, two different ids share a hash once in 10^13 queries.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc

from fastir.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.columns._prefetch cimport prefetch
from fastir.join._join cimport Counts, clear_tally, count_ranking, tally_of
from fastir.join._judged cimport Judged, Lookup, spread_hash
from fastir.join._unchanged cimport unchanged
from fastir.measure._codes cimport MISSING
from fastir.measure._measure cimport Judgments, Plan, label_code, measure
from fastir.rank._rank cimport Hit, Ranking, compare_fn, discard, rank_and_measure, reserve

import numpy as np

from fastir.columns._dicts import has_integer_documents, plain_scores, refuse_nan

cdef extern from "Python.h":
    ctypedef struct PyObject
    int PyErr_CheckSignals() except -1
    int Py_EQ
    Py_ssize_t PyObject_Hash(PyObject*) except? -1
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    Py_ssize_t PyDict_Size(object) except -1
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    int PyByteArray_Resize(bytearray, Py_ssize_t) except -1
    char* PyByteArray_AsString(bytearray) noexcept
    Py_ssize_t PyByteArray_Size(bytearray) noexcept
    int PyFloat_Check(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) noexcept
    int PyUnicode_Compare(PyObject*, PyObject*) noexcept nogil
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL

cdef extern from *:
    """
    #ifdef Py_LIMITED_API
    #define fastir_hash_of_key(key) PyObject_Hash(key)
    #else
    #define fastir_hash_of_key(key) (((PyASCIIObject*)(key))->hash)  /* a str that is the key of a dict has it */
    #endif
    """
    Py_ssize_t hash_of_key "fastir_hash_of_key"(PyObject*) noexcept

cdef enum:
    # With more judged documents than a third of the ranking, the ranking's are looked up among them.
    LOOKED_UP_RATIO = 3
    # Judged documents that no metric reads are counted at once in a ranking that is at least this many times as long.
    COUNTED_RATIO = 8
    # Rows and probes between two looks at whether the user interrupts.
    WORK_BETWEEN_SIGNALS = 100000
    # A bit of a row's number: when it changes, a walk that may do so lets another thread have the GIL.
    BREATH = 1 << 14


cdef enum:                  # results of Walk.read
    ROWS_READ
    NOT_PLAIN               # an id is of another kind, or a score is not a float
    HAS_NAN


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    return PyUnicode_Compare((<PyObject**>a)[0], (<PyObject**>b)[0])


cdef int compare_integers(const void* a, const void* b) noexcept with gil:
    """Compare integers by their decimal text, because they may be large."""
    cdef str x = str(<object>(<PyObject**>a)[0]), y = str(<object>(<PyObject**>b)[0])
    return (x > y) - (x < y)


def count_rest(Judged judged, Plan plan, bytearray uncounted):
    """How many judged documents that no metric read are in the rankings whose words Walk.keep() kept."""
    cdef int64_t q, n, i = 0, found = 0
    cdef bint integers
    words = np.frombuffer(uncounted, np.int64)
    while i < len(words):
        q, integers, n = words[i] >> 1, words[i] & 1, words[i + 1]
        rest = judged.ids(integers)[judged.offsets[q] + judged.wanted(plan.reads, q):judged.offsets[q + 1]]
        found += len(set(words[i + 2:i + 2 + n].tolist()).intersection(rest if integers else map(hash, rest)))
        i += 2 + n
    return found


cdef int64_t count(list ids, dict ranking, int64_t start, int64_t stop) except -1:
    """How many of the ids from start to stop are in the ranking."""
    cdef int64_t i, found = 0
    for i in range(start, stop):
        found += PyDict_GetItemWithError(ranking, PyList_GetItem(ids, i)) != NULL
    return found


cdef inline int64_t candidate(const Lookup* lookup, uint64_t h, uint64_t slot) noexcept nogil:
    """The next slot from `slot` on that may hold the id of hash h, or -1."""
    while lookup.table[slot] != 0:
        if lookup.table[slot] >> 32 == h >> 32:
            return <int64_t>slot
        slot = (slot + 1) & lookup.mask
    return -1


cdef inline bint same(PyObject* a, PyObject* b) except -1:
    return a == b or PyObject_RichCompareBool(a, b, Py_EQ) == 1


cdef class Walk:
    """The state of one call: the rows of the current ranking, and scratch."""

    cdef Ranking ranking
    cdef double* scores
    cdef PyObject** keys        # the rows' ids, and behind them the hits'; one allocation with scores
    cdef int64_t n, capacity
    cdef Judged judged
    cdef Plan plan
    cdef list ids               # the judged ids, of the kind that the run has
    cdef const Lookup* lookups  # the judged ids by hash, NULL until a ranking is looked up
    cdef Counts* tally
    cdef bytearray uncounted    # None where a tally of unjudged documents is not wanted
    cdef int ties
    cdef bint single, integers
    cdef bint again             # whether the judged ids were joined with a dict before
    cdef bint breathes          # whether the GIL may be released within a ranking, which is then a copy

    def __dealloc__(self):
        discard(&self.ranking)
        free(self.scores)

    cdef int room(self, int64_t n, int64_t hits) except -1:
        cdef int64_t m
        if n + hits >= self.capacity:
            m = n + hits + (n + hits) // 2 + 64
            free(self.scores)
            self.capacity = 0
            self.scores = <double*>malloc(m * (sizeof(double) + sizeof(PyObject*)))
            if self.scores == NULL:
                raise MemoryError
            self.keys = <PyObject**>(self.scores + m)
            self.capacity = m
        if reserve(&self.ranking, self.plan, n, hits) < 0:
            raise MemoryError
        return 0

    cdef int read(self, dict ranking) except -1:
        """Collect the rows; ROWS_READ, NOT_PLAIN or HAS_NAN."""
        cdef Py_ssize_t position = 0
        cdef PyObject* key
        cdef PyObject* value
        cdef double score
        cdef bint nan = False, single = self.single
        cdef int64_t i = 0
        while i < self.n and PyDict_Next(ranking, &position, &key, &value):
            if not ((PyLong_CheckExact(key) if self.integers else PyUnicode_CheckExact(key)) and PyFloat_Check(value)):
                return NOT_PLAIN
            score = PyFloat_AsDouble(value)
            if single:
                score = <double><float>score
            nan |= score != score
            self.keys[i] = key
            self.scores[i] = score
            i += 1
            if self.breathes and not i & BREATH - 1:
                with nogil:
                    pass
        return HAS_NAN if nan else ROWS_READ

    cdef bint keep(self, int64_t q) except -1:
        """Append query q's ranking as int64: 2 q, and 1 for integers; its length; its words. False if one is longer."""
        cdef bytearray kept = self.uncounted
        cdef Py_ssize_t size = PyByteArray_Size(kept)
        cdef int64_t* words
        cdef int64_t i
        PyByteArray_Resize(kept, size + (self.n + 2) * sizeof(int64_t))
        words = <int64_t*>(PyByteArray_AsString(kept) + size)
        words[0], words[1] = 2 * q + self.integers, self.n
        words += 2
        if not self.integers:
            for i in range(self.n):
                words[i] = hash_of_key(self.keys[i])
            return True
        try:
            for i in range(self.n):
                words[i] = <int64_t><object>self.keys[i]
        except OverflowError:
            PyByteArray_Resize(kept, size)
            return False
        return True

    cdef int64_t probe(self, dict ranking, int64_t first, int64_t n) except -1:
        """Collect the hits, the ids among n judged ones that are in the ranking; how many."""
        cdef int64_t i, n_hits = 0
        cdef PyObject* key
        cdef PyObject* value
        cdef double score
        for i in range(first, first + n):
            if self.breathes and not i & BREATH - 1:
                with nogil:
                    pass
            key = PyList_GetItem(self.ids, i)
            value = PyDict_GetItemWithError(ranking, key)
            if value != NULL:
                score = PyFloat_AsDouble(value)
                self.keys[self.n + n_hits] = key
                self.ranking.hits[n_hits].score = <double><float>score if self.single else score
                self.ranking.hits[n_hits].item = &self.keys[self.n + n_hits]
                self.ranking.hits[n_hits].row = -1
                self.ranking.hits[n_hits].label = label_code(self.judged.labels[i])
                n_hits += 1
        return n_hits

    cdef int64_t match(self, const Lookup* lookup, int64_t first, int64_t wanted, int64_t* n_hits) except -1:
        """Look up the ranking's ids among the judged ones; how many there are. Judged ids before `wanted` become hits.

        Comparing with a judged id waits for memory: all candidates are found and asked for before one is compared.
        """
        cdef int64_t i, j, place, n = 0, n_found = 0
        cdef uint64_t h, low = 0xFFFFFFFF
        cdef PyObject* key
        cdef Hit* hits = self.ranking.hits
        for i in range(self.n):
            if self.breathes and not i & BREATH - 1:
                with nogil:
                    pass
            h = spread_hash(PyObject_Hash(self.keys[i]))
            if lookup.filter[h >> 38 & lookup.filter_mask] >> (h >> 32 & 63) & 1:
                place = candidate(lookup, h, h & lookup.mask)
                if place >= 0:
                    key = PyList_GetItem(self.ids, first + <int64_t>(lookup.table[place] & low) - 1)
                    prefetch(<const char*>key)
                    prefetch(<const char*>key + 64)
                    prefetch(<const char*>self.keys[i] + 64)
                    hits[n].item = key
                    hits[n].row = i
                    hits[n].label = <int32_t>place
                    n += 1
        j = 0
        for i in range(n):
            if self.breathes and not i & BREATH - 1:
                with nogil:
                    pass
            place = hits[i].label
            key = self.keys[hits[i].row]
            while place >= 0 and not same(<PyObject*>hits[i].item, key):
                h = spread_hash(PyObject_Hash(key))
                place = candidate(lookup, h, <uint64_t>(place + 1) & lookup.mask)
                if place >= 0:
                    hits[i].item = PyList_GetItem(self.ids, first + <int64_t>(lookup.table[place] & low) - 1)
            if place < 0:
                continue
            n_found += 1
            place = <int64_t>(lookup.table[place] & low) - 1
            if place < wanted:
                hits[j].row = hits[i].row
                hits[j].score = self.scores[hits[i].row]
                hits[j].item = &self.keys[hits[i].row]
                hits[j].label = label_code(self.judged.labels[first + place])
                j += 1
        n_hits[0] = j
        return n_found

    cdef int judge(self, dict ranking, int64_t q, double* out) except -1:
        """Evaluate the ranking of query q; what read() returns."""
        cdef Judged judged = self.judged
        cdef int64_t first = judged.offsets[q], n = judged.offsets[q + 1] - first, n_hits, n_found
        cdef int64_t probes = judged.wanted(self.plan.reads, q), rest = n - probes
        cdef bint tied, many
        cdef compare_fn compare = compare_integers if self.integers else compare_keys
        cdef Judgments known
        cdef const char* keys
        cdef int state
        self.n = PyDict_Size(ranking)
        many = self.again and probes * LOOKED_UP_RATIO > self.n
        if many and self.lookups == NULL:
            self.lookups = judged.lookup(self.integers)
        self.room(self.n, max(self.n if many else 0, n))
        state = self.read(ranking)
        if state != ROWS_READ:
            return state
        if many:
            n_found = self.match(self.lookups + q, first, probes, &n_hits)
            rest = 0
        else:
            n_hits = n_found = self.probe(ranking, first, probes)
        if rest > 0 and self.n > 0 and self.uncounted is not None:
            if rest * COUNTED_RATIO <= self.n or n_hits == 0 or not self.keep(q):
                n_found += count(self.ids, ranking, first + probes, first + n)
        known = judged.of(q)
        keys = <const char*>self.keys
        if self.breathes:
            with nogil:
                tied = rank_and_measure(self.plan, &self.ranking, self.scores, keys, sizeof(PyObject*), self.n, n_hits,
                                        compare, self.ties, known, out)
        else:
            tied = rank_and_measure(self.plan, &self.ranking, self.scores, keys, sizeof(PyObject*), self.n, n_hits,
                                    compare, self.ties, known, out)
        count_ranking(self.tally, q, self.n, n_found)
        if tied:
            self.tally.tied += 1
            self.tally.tied_example = q if self.tally.tied_example < 0 else self.tally.tied_example
        return ROWS_READ


def longest_ranking(dict run):
    """The documents of the longest ranking that is a dict."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, longest = 0
    with cython.critical_section(run):
        while PyDict_Next(run, &position, &key, &value):
            if type(<object>value) is dict:
                longest = max(longest, PyDict_Size(<object>value))
    return longest


def judge_dict(Judged judged, Plan plan, dict run, values, status, int ties, bint single, bint breathes=False):
    """Evaluate {query_id: {doc_id: score}}.

    Parameters
    ----------
    run : dict whose keys are exact str objects, or exact int objects
    values : float64 array of shape (n_queries, n_slots), filled
    status : uint8 array of shape (n_queries,), set to MISSING where the run lacks the query
    breathes : bool
        Whether the GIL may be released within a ranking: nobody else can change the run.

    Returns
    -------
    Tally
    bytearray
        What Walk.keep() kept of rankings in which looking up the documents that no metric reads would have been most of
        the work: `unjudged` is too high by count_rest() of it
    tuple of type
        The types of the run's query ids and document ids, str or int; None if there are none.
    """
    cdef Py_buffer value_buffer, status_buffer
    cdef fenv_t callers
    cdef Counts tally
    cdef bytearray uncounted = bytearray()
    cdef object integers = has_integer_documents(run)
    cdef object query_id = next(iter(run), None)
    cdef type query_kind = None if query_id is None else type(query_id)
    clear_tally(&tally)
    PyObject_GetBuffer(values, &value_buffer, PyBUF_WRITABLE)
    PyObject_GetBuffer(status, &status_buffer, PyBUF_WRITABLE)
    ordinary(&callers)
    try:
        judge_all(judged, plan, run, query_kind is int, integers is True, <double*>value_buffer.buf,
                  <unsigned char*>status_buffer.buf, ties, single, None, &tally, uncounted, breathes)
    finally:
        fesetenv(&callers)
        PyBuffer_Release(&value_buffer)
        PyBuffer_Release(&status_buffer)
    return tally_of(&tally), uncounted, (query_kind, None if integers is None else int if integers else str)


cdef int judge_all(Judged judged, Plan plan, dict run, bint integer_queries, bint integers, double* out,
                   unsigned char* codes, int ties, bint single, list rows, Counts* tally,
                   bytearray uncounted, bint breathes=False) except -1:
    """What judge_dict does, for all queries or for those at the positions in `rows`, which then are the rows of `out`.

    Without `uncounted`, a tally of unjudged documents is not wanted.
    """
    cdef Walk walk = Walk.__new__(Walk)
    cdef Py_ssize_t q, row, n_rows = judged.n_queries if rows is None else len(rows)
    cdef int64_t work = 0
    cdef Judgments known
    cdef double* row_out
    cdef int state
    cdef PyObject* value
    cdef dict ranking
    cdef object given
    cdef list query_ids = judged.queries(integer_queries)
    walk.judged, walk.plan, walk.ids, walk.integers = judged, plan, judged.ids(integers), integers
    walk.ties, walk.single, walk.tally, walk.uncounted = ties, single, tally, uncounted
    walk.breathes, walk.again = breathes, judged.used
    judged.used = True
    run = unchanged(run)
    for row in range(n_rows):
        q = row if rows is None else rows[row]
        row_out = out + row * plan.n_slots
        value = PyDict_GetItemWithError(run, PyList_GetItem(query_ids, q))
        if value == NULL:
            codes[row] = MISSING
            walk.room(0, judged.offsets[q + 1] - judged.offsets[q])
            known = judged.of(q)
            measure(plan, &walk.ranking.measured, 0, 0, &known, row_out)
            continue
        given = <object>value
        ranking = unchanged(given) if type(given) is dict else plain_scores(judged.query_ids[q], given, integers)
        state = walk.judge(ranking, q, row_out)
        if state == NOT_PLAIN:
            ranking = plain_scores(judged.query_ids[q], ranking, integers)
            state = walk.judge(ranking, q, row_out)
        if state == HAS_NAN:
            refuse_nan(judged.query_ids[q], ranking)
        work += walk.n + judged.wanted(plan.reads, q)
        if work > WORK_BETWEEN_SIGNALS:
            work = 0
            PyErr_CheckSignals()
    return 0
