"""The join for a run of lists of ids in rank order: each list becomes the rows of its query, and is judged as in _join.

    ["d7", "d2", "d9"] ─ borrow ─▶ Texts, with the scores 3.0, 2.0, 1.0 ─ hash ─▶ judged?, repeated? ─▶ hits

A list has no scores; those that say its order, from its length down to 1, are exact and never tie, so everything that
is true of rows with scores is true of lists. Strings are read as bytes where they lie and hashed by ours: that costs a
third of Python's own hash, which strings that were just parsed do not have yet. Reading them waits for memory, so a
list is copied as pointers first, and the strings are prefetched some positions ahead, also of the next lists: 0.7 of
the time for lists of 100, half of it for their first ten.

Where every metric has a cutoff, no id below the deepest one is read: 20 000 lists of 100 for recall@10 take 40 % of the
time. Only a list without a judged document among the first is read on, for the warning that there is none.

All ids must be exact str objects, or exact int objects; a list with anything else is read from a copy in plain types
(columns/id_lists). The GIL is held, so no thread changes a list while it is read, unless `releases_gil` says
otherwise. Python code would let others have it, so a list with strings that only Python can encode is copied, too.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc

from fastir.engine.columns._entries cimport fetch_next, list_item, tuple_item, unchanged, unchanged_ids
from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._ids cimport Group, Text, borrow_text, held_text, room_for_rows
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.join._counts cimport Counts
from fastir.engine.join._join cimport Join, Part, hash_group
from fastir.engine.join._judged cimport find_judged
from fastir.engine.measure._codes cimport REPEATED

from fastir.engine.columns.id_lists import plain_ranking, ranking, duplicate_error, sequence
from fastir.engine.columns.ids import is_integer

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    int Py_EQ
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) noexcept

cdef enum:
    WORK_BETWEEN_SIGNALS = 100000   # ids between two looks at whether the user interrupts
    GIL_ROWS = 1 << 14                # a bit of a row's number: when it changes, another thread may have the GIL
    AHEAD = 16                      # how many ids ahead are fetched into the cache
    FETCHED = 128                   # and up to how many of the lists that come next

cdef enum:                          # results of Lists.fill
    FILLED
    NOT_PLAIN                       # an id is of another type than the run's, or a str with surrogates
    TOO_LARGE                       # an integer does not fit in 64 bits


cdef class Lists(Join):
    """Evaluates {query_id: ids in rank order}; made like a Join of one thread.

    Attributes
    ----------
    releases_gil : bool
        Whether the GIL may be released within a list: only the caller can change the run.
    """

    cdef public bint releases_gil
    cdef PyObject** keys        # the ids of the list in work
    cdef int64_t* numbers       # what integers are
    cdef int64_t capacity
    cdef list kept              # what owns bytes that no str holds
    cdef int64_t depth          # how many ids of a list matter

    def __dealloc__(self):
        free(self.keys)

    cdef int room(self, Group* g, int64_t n) except -1:
        if n >= self.capacity:
            free(self.keys)
            self.capacity = n + n // 2 + 64
            self.keys = <PyObject**>malloc((self.capacity + AHEAD) * (sizeof(PyObject*) + sizeof(int64_t)))
            if self.keys == NULL:
                self.capacity = 0
                raise MemoryError
            self.numbers = <int64_t*>(self.keys + self.capacity + AHEAD)
        g.n = 0
        if room_for_rows(g, n) < 0:
            raise MemoryError
        return 0

    cdef int fill(self, Group* g, ids, int64_t start, int64_t n, bint mine) except -1:
        """Make n ids of a list or tuple, which may be `mine` alone, the group: FILLED, NOT_PLAIN or TOO_LARGE."""
        cdef int64_t i
        cdef int too_large = 0
        cdef PyObject** keys = self.keys
        cdef PyObject* key
        cdef Text* text
        if type(ids) is list:
            for i in range(n):
                keys[i] = list_item(ids, start + i)
        else:
            for i in range(n):
                keys[i] = tuple_item(ids, start + i)
        for i in range(n, n + AHEAD):
            keys[i] = <PyObject*>ids    # never an address without memory
        for i in range(n):
            prefetch(<const char*>keys[i + AHEAD])
            prefetch(<const char*>keys[i + AHEAD] + 64)
            key = keys[i]
            text = g.docs + i
            if self.integers:
                if not PyLong_CheckExact(key):
                    return NOT_PLAIN
                self.numbers[i] = PyLong_AsLongLongAndOverflow(key, &too_large)
                if too_large:
                    return TOO_LARGE
                text.start, text.length = <const char*>(self.numbers + i), 8
            else:
                if not PyUnicode_CheckExact(key):
                    return NOT_PLAIN
                if not held_text(key, text):
                    if not mine:    # what comes next runs Python code, during which others could change the list
                        return NOT_PLAIN
                    borrow_text(key, text, self.kept)
            g.scores[i] = <double>(n - i)
            if self.releases_gil and not i & GIL_ROWS - 1:
                with nogil:
                    pass
        g.n = n
        return FILLED

    def read(self, dict run, bint integer_queries, list rows=None):
        """Evaluate a run with keys that are exact str objects, or exact int objects; False if an integer is too large.

        Only the queries at the positions in `rows` are looked for; None for all.
        """
        cdef fenv_t callers
        self.kept = []
        self.depth = INT64_MAX if self.reads_all() else self.plan.deepest
        ordinary(&callers)
        try:
            return self.read_all(unchanged(run), self.judged.queries(integer_queries), rows)
        finally:
            fesetenv(&callers)

    cdef bint reads_all(self) noexcept:
        """Whether documents below the deepest cutoff can change a value, a rank above it or what is counted."""
        return (self.plan.judged_only or self.plan.sorts or self.once or self.removes or self.parents is not None
                or self.excluded is not None)

    cdef int find_below(self, Part* part, int64_t q, ids, int64_t depth) except -1:
        """Whether there is a judged document among the ids below a depth: 1 or 0; 2 if an integer is too large."""
        cdef Group* g = &part.group
        cdef int64_t i, first = self.judged.offsets[q], n = len(ids)
        if first == self.judged.offsets[q + 1]:
            return 0
        self.room(g, n - depth)
        cdef int state = self.fill(g, ids, depth, n - depth, False)
        if state == NOT_PLAIN:
            state = self.fill(g, plain_ranking(self.judged.query_ids[q], ids, self.integers), depth, n - depth, True)
        if state == TOO_LARGE:
            return 2
        if hash_group(&part.seen, g) < 0:
            raise MemoryError
        for i in range(g.n):
            if find_judged(self.index, q, first, g.docs + i, part.seen.hashes[i]) >= 0:
                return 1
        return 0

    cdef bint read_all(self, dict run, list query_ids, list rows) except -1:
        cdef Part* part = self.parts
        cdef Counts counts = <Counts>part.counts
        cdef int64_t i, q, n, depth, n_unjudged, example, work = 0
        cdef int state
        cdef Py_ssize_t position = 0, place = 0
        cdef Py_ssize_t next_position
        cdef list lists = list(run.values()) if rows is None else []    # held, so that one can look ahead
        cdef PyObject* query_id
        cdef PyObject* key
        cdef PyObject* value
        cdef object ids
        for i in range(self.judged.n_queries if rows is None else len(rows)):
            q = i if rows is None else rows[i]
            query_id = PyList_GetItem(query_ids, q)
            next_position = position
            if PyDict_Next(run, &next_position, &key, &value) and (
                    key == query_id or PyObject_RichCompareBool(key, query_id, Py_EQ) == 1):
                position = next_position    # the run has its queries in the order of the qrels
                fetch_next(lists, place, min(self.depth, FETCHED))
                place += 1
            else:
                value = PyDict_GetItemWithError(run, query_id)
            if value == NULL:
                continue
            ids = <object>value
            if type(ids) is not list and type(ids) is not tuple:
                ids = ranking(self.judged.query_ids[q], ids)
            ids = unchanged_ids(ids)
            n = len(ids)
            depth = min(n, self.depth)
            self.room(&part.group, depth)
            state = self.fill(&part.group, ids, 0, depth, False)
            if state == NOT_PLAIN:
                ids = plain_ranking(self.judged.query_ids[q], ids, self.integers)
                n = len(ids)
                depth = min(n, self.depth)
                self.room(&part.group, depth)
                state = self.fill(&part.group, ids, 0, depth, True)
            if state == TOO_LARGE:
                return False
            self.met[q] = 1
            n_unjudged, example = counts.n_unjudged_queries, counts.unjudged_queries_example
            part.failed = self.judge_list(part, q)
            if part.failed == REPEATED:
                raise duplicate_error(self.judged.query_ids[q], ids[part.seen.later], part.seen.first + 1,
                               part.seen.later + 1)
            if part.failed:
                raise MemoryError
            if counts.n_unjudged_queries > n_unjudged and depth < n:      # judged ids may follow below the depth
                state = self.find_below(part, q, ids, depth)
                if state == 2:
                    return False
                if state == 1:
                    counts.n_unjudged_queries, counts.unjudged_queries_example = n_unjudged, example
                depth = n
            if self.kept:
                self.kept = []
            work += depth + 1
            if work > WORK_BETWEEN_SIGNALS:
                work = 0
                PyErr_CheckSignals()
        return True


def longest_list(dict run):
    """The ids of the longest ranking that is a list or a tuple."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0, longest = 0
    run = unchanged(run)
    while PyDict_Next(run, &position, &key, &value):
        if type(<object>value) is list or type(<object>value) is tuple:
            longest = max(longest, len(<object>value))
    return longest


def id_kinds(dict run):
    """The types of the run's query ids and document ids, each str or int by the first one; None if there is none."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    query_id = None
    run = unchanged(run)
    while PyDict_Next(run, &position, &key, &value):
        query_id, ids = <object>key, <object>value
        if type(ids) is not list and type(ids) is not tuple:
            ids = sequence(ids)
            if ids is None:     # an error if the qrels have the query
                continue
        first = ids[:1]
        if first:
            if type(first[0]) is str:
                return type(query_id), str
            integers = is_integer(first[0])
            plain_ranking(query_id, first, integers)    # refuses what is neither
            return type(query_id), int if integers else str
    return None if query_id is None else type(query_id), None
