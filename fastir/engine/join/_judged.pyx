"""The qrels, prepared once for any number of runs.

One array of judged ids per query, best label first, is three things at once: the list to probe a dict with, the ideal
ranking, and by its counts num_rel:

    labels of q     3  1  1 | 0  0 | -1
                    positive  judged  in the pool, without a judgment

Other forms of the ids are made when the first run needs them: ids as Python objects, str or int, to probe dicts with;
and for ids that come as bytes an Index, one for text and one for integers, in which an id is the eight bytes of an
int64 and ids that are not the decimal text of one are left out. Before each query's table is a filter of 32
bits or more per id: nearly all ranked documents are unjudged and end at it, without a branch that depends on the table.

Any number of threads may need a form that is not there yet. To make one runs Python code, which lets a critical section
go: so each thread looks again before it stores its own, and the first one's stays.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy, memset

import numpy as np
from numpy import uint8, zeros

from fastir.engine.columns._ids cimport Text, borrow_text, equal, text_hash
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.measure._codes cimport JUDGED, NO_RELEVANT, POOL, RELEVANT
from fastir.engine.measure._measure cimport Judgments, Plan
from fastir.engine.measure._sort cimport rising_order

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    Py_ssize_t PyObject_Hash(object) except -1
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*) noexcept

cdef enum:
    SPAN = 1024     # labels less than this apart are sorted by counting
    SIGNAL_IDS = 1 << 15        # ids between two looks at whether the user interrupts
    AHEAD = 16                  # how many strings ahead are fetched into the cache


cdef class Judged:
    """The judged documents of every query; immutable except for the forms that are made on demand.

    Made from query ids, document ids (a list of str or of int, or an Arena), int64 offsets of shape (n_queries + 1,)
    and int32 labels parallel to the documents; a negative label means in the pool, not judged.
    """

    def __cinit__(self, list query_ids, doc_ids, offsets, labels):
        cdef Py_buffer offset_buffer, label_buffer
        PyObject_GetBuffer(offsets, &offset_buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        try:
            PyObject_GetBuffer(labels, &label_buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
            try:
                if not (has_integers(&offset_buffer, sizeof(int64_t)) and has_integers(&label_buffer, sizeof(int32_t))):
                    raise ValueError("qrels: offsets must be int64 and labels int32")
                self.fill(query_ids, doc_ids, <const int64_t*>offset_buffer.buf, offset_buffer.shape[0],
                          <const int32_t*>label_buffer.buf, label_buffer.shape[0])
            finally:
                PyBuffer_Release(&label_buffer)
        finally:
            PyBuffer_Release(&offset_buffer)

    cdef int fill(self, list query_ids, doc_ids, const int64_t* offsets, Py_ssize_t n_offsets, const int32_t* labels,
                  int64_t n) except -1:
        """Copy the judgments, the best first."""
        cdef Py_ssize_t q
        cdef int64_t i
        cdef int64_t* order
        cdef int64_t* spare
        if not (n_offsets == len(query_ids) + 1 and offsets[0] == 0 and offsets[n_offsets - 1] == n
                and len(doc_ids) == n):
            raise ValueError(f"qrels: offsets must go from 0 to the {n} labels, parallel to as many ids")
        for q in range(len(query_ids)):
            if offsets[q] > offsets[q + 1]:
                raise ValueError(f"qrels: offsets must rise, but offsets[{q + 1}] is less than the one before")
        # All offsets are checked by now: they are indices below.
        order = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        spare = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        self.kept = []
        self.query_ids = query_ids
        self.n_queries = len(query_ids)
        self.offsets = <int64_t*>calloc(self.n_queries + 1, sizeof(int64_t))
        self.labels = <int32_t*>malloc((n + 1) * sizeof(int32_t))
        self.positive = <int64_t*>calloc(self.n_queries + 1, sizeof(int64_t))
        self.judged = <int64_t*>calloc(self.n_queries + 1, sizeof(int64_t))
        try:
            if (order == NULL or spare == NULL or self.offsets == NULL or self.labels == NULL or self.positive == NULL
                    or self.judged == NULL):
                raise MemoryError
            for q in range(self.n_queries):
                self.offsets[q + 1] = offsets[q + 1]
                if offsets[q + 1] > offsets[q]:
                    self.sort(q, labels + offsets[q], order, spare)
                for i in range(offsets[q], offsets[q + 1]):
                    self.positive[q] += self.labels[i] > 0
                    self.judged[q] += self.labels[i] >= 0
            if type(doc_ids) is list:
                ids = [doc_ids[order[i]] for i in range(n)]
                if n > 0 and type(ids[0]) is int:
                    self.integers = ids
                    self.are_integers = True
                else:
                    self.strings = ids
            else:
                self.take(doc_ids, order, n)
        finally:
            free(order)
            free(spare)
        return 0

    cdef take(self, arena, const int64_t* order, int64_t n):
        """Fill self.texts from an Arena."""
        cdef const unsigned char[::1] text = arena.text
        cdef const int64_t[::1] starts = arena.starts, lengths = arena.lengths
        cdef int64_t i
        self.arena = arena
        self.texts = <Text*>malloc((n + 1) * sizeof(Text))
        if self.texts == NULL:
            raise MemoryError
        for i in range(n):
            self.texts[i].start = <const char*>&text[0] + starts[order[i]]
            self.texts[i].length = lengths[order[i]]

    def __dealloc__(self):
        free(self.offsets); free(self.labels); free(self.positive); free(self.judged); free(self.texts)
        discard_index(self.indexes[0]); discard_index(self.indexes[1])
        discard_query_index(self.query_indexes[0]); discard_query_index(self.query_indexes[1])
        discard_lookups(self.lookups[0]); discard_lookups(self.lookups[1])

    cdef int64_t n_read(self, int reads, int64_t q) noexcept nogil:
        """How many documents of a query, from the first on, a plan with this `reads` looks up."""
        if reads == RELEVANT:
            return self.positive[q]
        return self.judged[q] if reads == JUDGED else self.offsets[q + 1] - self.offsets[q]

    cdef Judgments judgments(self, int64_t q) noexcept nogil:
        """The judgments of a query, for _measure.measure."""
        cdef Judgments judgments
        judgments.labels = self.labels + self.offsets[q]
        judgments.n_positive = self.positive[q]
        judgments.n_judged = self.judged[q]
        judgments.n_pool = self.offsets[q + 1] - self.offsets[q]
        judgments.retrieved = False
        return judgments

    cdef void sort(self, int64_t q, const int32_t* labels, int64_t* order, int64_t* spare) noexcept:
        """Fill order and self.labels for query q: best label first, else as they came."""
        cdef int64_t first = self.offsets[q], n = self.offsets[q + 1] - first, i, place
        cdef int64_t counts[SPAN + 1]
        cdef int32_t low = labels[0], high = labels[0]
        for i in range(n):
            low = labels[i] if labels[i] < low else low
            high = labels[i] if labels[i] > high else high
        if <int64_t>high - low < SPAN:
            memset(counts, 0, (<int64_t>high - low + 2) * sizeof(int64_t))
            for i in range(n):
                counts[high - labels[i] + 1] += 1
            for i in range(high - low):
                counts[i + 1] += counts[i]
            for i in range(n):
                place = first + counts[high - labels[i]]
                counts[high - labels[i]] += 1
                order[place] = first + i
                self.labels[place] = labels[i]
            return
        for i in range(n):
            spare[i] = (<int64_t>high - labels[i]) << 31 | i
        qsort(spare, n, sizeof(int64_t), rising_order)
        for i in range(n):
            place = spare[i] & 0x7FFFFFFF
            order[first + i] = first + place
            self.labels[first + i] = labels[place]

    def top_labels(self):
        """The largest label of each query that has documents, with the document: (label, query position, doc_id)."""
        ids = self.ids(False)
        return [(self.labels[self.offsets[q]], q, ids[self.offsets[q]])
                for q in range(self.n_queries) if self.offsets[q + 1] > self.offsets[q]]

    def status(self, int32_t level):
        """uint8 array: NO_RELEVANT for every query without a label of at least `level` above 0, else EVALUATED."""
        cdef Py_ssize_t q
        cdef Py_buffer buffer  # a memoryview would take 200 ns, as much as everything else here
        cdef unsigned char* view = NULL
        codes = zeros(self.n_queries, uint8)
        for q in range(self.n_queries):
            if self.positive[q] == 0 or self.labels[self.offsets[q]] < level:
                if view == NULL:
                    PyObject_GetBuffer(codes, &buffer, PyBUF_WRITABLE)
                    view = <unsigned char*>buffer.buf
                view[q] = NO_RELEVANT
        if view != NULL:
            PyBuffer_Release(&buffer)
        return codes

    cdef list ids(self, bint integers):
        """All ids as str or as int, parallel to labels; an id that is not the decimal text of an int stays a str."""
        cdef int64_t i
        cdef list ids
        with cython.critical_section(self):
            ids = self.integers if integers else self.strings
        if ids is not None:
            return ids
        if integers:
            ids = as_integers(self.ids(False))
        elif self.arena is None:
            ids = [str(doc_id) for doc_id in self.integers]
        else:
            ids = [self.texts[i].start[:self.texts[i].length].decode("utf-8", "surrogateescape")
                   for i in range(self.offsets[self.n_queries])]
        with cython.critical_section(self):
            if integers:
                self.integers = ids if self.integers is None else self.integers
                return self.integers
            self.strings = ids if self.strings is None else self.strings
            return self.strings

    cdef list queries(self, bint integers):
        """The query ids as str or as int, likewise."""
        cdef list query_ids
        cdef bint are_integers = self.n_queries > 0 and type(self.query_ids[0]) is int
        if integers == are_integers:
            return self.query_ids
        with cython.critical_section(self):
            query_ids = self.other_queries
        if query_ids is None:
            query_ids = as_integers(self.query_ids) if integers else list(map(str, self.query_ids))
        with cython.critical_section(self):
            self.other_queries = query_ids if self.other_queries is None else self.other_queries
            return self.other_queries

    cdef dict rows(self, bint integers):
        """{query id: row}, where a row is a position in query_ids; with ids as queries() has them."""
        cdef dict row_by_query
        with cython.critical_section(self):
            row_by_query = self.integer_rows if integers else self.text_rows
        if row_by_query is not None:
            return row_by_query
        row_by_query = {query_id: row for row, query_id in enumerate(self.queries(integers))}
        with cython.critical_section(self):
            if integers:
                self.integer_rows = row_by_query if self.integer_rows is None else self.integer_rows
                return self.integer_rows
            self.text_rows = row_by_query if self.text_rows is None else self.text_rows
            return self.text_rows

    def rows_by_query(self):
        """{query id as str: its position in query_ids}; made once, and not to be changed."""
        return self.rows(False)

    cdef const Text* id_texts(self) except NULL:
        """The document ids as text, parallel to labels; made at the first call."""
        if self.load_pointer(<void**>&self.texts) == NULL:
            free(self.store_pointer(<void**>&self.texts, borrow(self.ids(False), self.kept)))
        return self.texts

    cdef const Index* index(self, bint integers) except NULL:
        """The document ids as bytes; made at the first call."""
        if not (integers and self.are_integers):
            self.id_texts()
        if self.load_pointer(<void**>&self.indexes[integers]) == NULL:
            discard_index(<Index*>self.store_pointer(<void**>&self.indexes[integers], make_index(self, integers)))
        return self.indexes[integers]

    cdef const QueryIndex* query_index(self, bint integers) except NULL:
        """The query ids as bytes; made at the first call."""
        cdef void** place = <void**>&self.query_indexes[integers]
        if self.load_pointer(place) == NULL:
            discard_query_index(<QueryIndex*>self.store_pointer(place, make_query_index(self, integers)))
        return self.query_indexes[integers]

    cdef const Lookup* lookup(self, bint integers) except NULL:
        """The ids by Python's hash; made at the first call."""
        if self.load_pointer(<void**>&self.lookups[integers]) == NULL:
            discard_lookups(<Lookup*>self.store_pointer(<void**>&self.lookups[integers], make_lookups(self, integers)))
        return self.lookups[integers]

    cdef void* load_pointer(self, void** place) noexcept:
        """The pointer that a thread has stored there; NULL if none has."""
        with cython.critical_section(self):
            return place[0]

    cdef void* store_pointer(self, void** place, void* value) noexcept:
        """Store a pointer there; returns it again, to be freed, if another thread was faster, else NULL."""
        with cython.critical_section(self):
            if place[0] != NULL:
                return value
            place[0] = value
            return NULL


cdef bint has_integers(const Py_buffer* buffer, Py_ssize_t size) noexcept:
    """Whether a buffer is one array of signed integers of this size; a memoryview takes longer than to read a few."""
    return buffer.ndim == 1 and buffer.itemsize == size and buffer.format[0] in b"ilq" and buffer.format[1] == 0


cdef list as_integers(list strings):
    """Each string as the int that Python writes so, if there is one."""
    ids = []
    for text in strings:
        try:
            ids.append(int(text) if str(int(text)) == text else text)
        except ValueError:
            ids.append(text)
    return ids


cdef bint parse_integer(const Text* text, int64_t* out) noexcept nogil:
    """The int64 that a text is the decimal form of, if it is: no sign but -, no leading zeros."""
    cdef int64_t i = 0, n = text.length
    cdef uint64_t number = 0
    cdef bint negative = n > 0 and text.start[0] == c'-'
    i = negative
    if n - i < 1 or n - i > 19 or (text.start[i] == c'0' and n > 1):
        return False
    while i < n:
        if not c'0' <= text.start[i] <= c'9':
            return False
        number = number * 10 + <uint64_t>(text.start[i] - c'0')
        i += 1
    if number > (<uint64_t>1 << 63) - (not negative):
        return False
    out[0] = <int64_t>(0 - number if negative else number)
    return True


cdef void discard_index(Index* index) noexcept:
    if index != NULL:
        if index.integers != NULL:
            free(index.texts)
        free(index.integers); free(index.lookups); free(index.tables)
        free(index)


cdef void discard_query_index(QueryIndex* index) noexcept:
    if index != NULL:
        free(index.texts); free(index.integers); free(index.table)
        free(index)


cdef void discard_lookups(Lookup* lookups) noexcept:
    if lookups != NULL:
        free(lookups[0].table)      # where the tables of all queries begin
        free(lookups)


cdef void to_integers(Text* texts, int64_t n, int64_t* numbers) noexcept nogil:
    """Make each text the eight bytes of the number that it spells, or of length -1."""
    cdef int64_t i
    for i in range(n):
        texts[i].length = 8 if parse_integer(texts + i, numbers + i) else -1
        texts[i].start = <const char*>(numbers + i)


cdef int take_integers(list ids, Text* texts, int64_t* numbers) except -1:
    """Make each text the eight bytes of an integer, or of length -1 where it has more than 64 bits."""
    cdef Py_ssize_t i
    cdef int overflow
    for i in range(len(ids)):
        if not i & SIGNAL_IDS - 1:
            PyErr_CheckSignals()
        overflow = 0
        numbers[i] = PyLong_AsLongLongAndOverflow(PyList_GetItem(ids, i), &overflow)
        texts[i].start, texts[i].length = <const char*>(numbers + i), -1 if overflow else 8
    return 0


cdef Index* make_index(Judged judged, bint integers) except NULL:
    cdef int64_t n, q, total = 0, rows = judged.offsets[judged.n_queries]
    cdef Index* index = <Index*>calloc(1, sizeof(Index))
    if index == NULL:
        raise MemoryError
    for q in range(judged.n_queries):
        n = judged.offsets[q + 1] - judged.offsets[q]
        total += power_above(2 * n) + power_above(n // 2)
    index.texts = judged.texts
    index.tables = <uint64_t*>calloc(total + 1, sizeof(uint64_t))
    index.lookups = <Lookup*>calloc(judged.n_queries + 1, sizeof(Lookup))
    if integers:
        index.integers = <int64_t*>malloc((rows + 1) * sizeof(int64_t))
        index.texts = NULL if index.integers == NULL else <Text*>malloc((rows + 1) * sizeof(Text))
    if index.texts == NULL or index.tables == NULL or index.lookups == NULL or integers and index.integers == NULL:
        discard_index(index)
        raise MemoryError
    if integers and not judged.are_integers:
        memcpy(index.texts, judged.texts, rows * sizeof(Text))
        to_integers(index.texts, rows, index.integers)
    try:
        if integers and judged.are_integers:
            take_integers(judged.integers, index.texts, index.integers)
        fill_index(judged, index)
    except BaseException:
        discard_index(index)
        raise
    return index


cdef QueryIndex* make_query_index(Judged judged, bint integers) except NULL:
    cdef int64_t q, n = judged.n_queries, size = power_above(2 * n)
    cdef QueryIndex* index = <QueryIndex*>calloc(1, sizeof(QueryIndex))
    if index == NULL:
        raise MemoryError
    try:
        index.texts = borrow(judged.queries(False), judged.kept)
        index.mask = size - 1
        index.table = <uint64_t*>calloc(size, sizeof(uint64_t))
        if integers:
            index.integers = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        if index.table == NULL or integers and index.integers == NULL:
            raise MemoryError
        if integers:
            to_integers(index.texts, n, index.integers)
        for q in range(n):
            if not q & SIGNAL_IDS - 1:
                PyErr_CheckSignals()
            if index.texts[q].length >= 0:
                put(index.table, index.mask, text_hash(index.texts + q), q)
    except BaseException:
        discard_query_index(index)
        raise
    return index


cdef int fill_index(Judged judged, Index* index) except -1:
    """Give each query its part of the tables, and put its ids there."""
    cdef int64_t i, q, n, first, size, words, total = 0
    cdef uint64_t h
    cdef Lookup* lookup
    for q in range(judged.n_queries):
        first = judged.offsets[q]
        n = judged.offsets[q + 1] - first
        size = power_above(2 * n)
        words = power_above(n // 2)
        lookup = index.lookups + q
        lookup.table = index.tables + total
        lookup.filter = index.tables + total + size
        lookup.mask = size - 1
        lookup.filter_mask = words - 1
        total += size + words
        for i in range(n):
            if not (first + i) & SIGNAL_IDS - 1:
                PyErr_CheckSignals()
            if index.texts[first + i].length >= 0:
                h = text_hash(index.texts + first + i)
                lookup.filter[h >> 38 & lookup.filter_mask] |= <uint64_t>1 << (h >> 32 & 63)
                put(lookup.table, lookup.mask, h, i)
    return 0


cdef Lookup* make_lookups(Judged judged, bint integers) except NULL:
    """Give each query its part of the tables, and put its ids there by Python's hash."""
    cdef int64_t i, q, n, first, total = 0
    cdef uint64_t h
    cdef list ids = judged.ids(integers)
    cdef HashedId* hashed
    cdef PyObject* one
    cdef Lookup* lookups = <Lookup*>calloc(judged.n_queries + 1, sizeof(Lookup))
    for q in range(judged.n_queries):
        n = judged.offsets[q + 1] - judged.offsets[q]
        total += power_above(2 * n) + power_above(n // 2)
    if lookups != NULL:
        lookups[0].table = <uint64_t*>calloc(total + 2 * len(ids) + 1, sizeof(uint64_t))  # and behind it the hashed ids
    if lookups == NULL or lookups[0].table == NULL:
        free(lookups)
        raise MemoryError
    hashed = <HashedId*>(lookups[0].table + total)
    total = 0
    try:
        for q in range(judged.n_queries):
            first = judged.offsets[q]
            n = judged.offsets[q + 1] - first
            lookups[q].hashed = hashed + first
            lookups[q].mask = power_above(2 * n) - 1
            lookups[q].filter_mask = power_above(n // 2) - 1
            lookups[q].table = lookups[0].table + total
            lookups[q].filter = lookups[q].table + lookups[q].mask + 1
            total += lookups[q].mask + lookups[q].filter_mask + 2
            for i in range(n):
                if not (first + i) & SIGNAL_IDS - 1:
                    PyErr_CheckSignals()
                if first + i + AHEAD < len(ids):
                    prefetch(<const char*>PyList_GetItem(ids, first + i + AHEAD) + 24)     # a str keeps its hash there
                one = PyList_GetItem(ids, first + i)
                h = spread_hash(PyObject_Hash(<object>one))
                lookups[q].hashed[i].hash, lookups[q].hashed[i].id = h, one
                lookups[q].filter[h >> 38 & lookups[q].filter_mask] |= <uint64_t>1 << (h >> 32 & 63)
                put(lookups[q].table, lookups[q].mask, h, i)
    except BaseException:
        discard_lookups(lookups)
        raise
    return lookups


cdef int64_t power_above(int64_t n) noexcept nogil:
    """The smallest power of two above n."""
    cdef int64_t size = 1
    while size <= n:
        size *= 2
    return size


cdef object collision():
    """The error for ids that collide as often as they do only if they were chosen to."""
    return RuntimeError(f"{MOST_PROBES} ids collide in a table of hashes, which does not happen by chance; "
                        "FASTIR_HASH_SEED, if it is set, was foreseen by whoever made the ids")


cdef int put(uint64_t* table, uint64_t mask, uint64_t h, int64_t position) except -1:
    """Note a position under a hash; refuse ids that were chosen to collide, which would take a square of time."""
    cdef uint64_t slot = h & mask, last = slot + MOST_PROBES
    while table[slot & mask] != 0 and slot < last:
        slot += 1
    slot &= mask
    if table[slot] != 0:
        raise collision()
    table[slot] = (h >> 32 << 32) | <uint64_t>(position + 1)
    return 0


cdef Text* borrow(list strings, list kept) except NULL:
    """The bytes of strings; what must live as long as they are used goes into the second list."""
    cdef Py_ssize_t i, n = len(strings)
    cdef PyObject* ahead
    cdef Text* texts = <Text*>malloc((n + 1) * sizeof(Text))
    if texts == NULL:
        raise MemoryError
    try:
        kept.append(strings)
        for i in range(n):
            if not i & SIGNAL_IDS - 1:
                PyErr_CheckSignals()
            if i + AHEAD < n:
                ahead = PyList_GetItem(strings, i + AHEAD)
                prefetch(<const char*>ahead)
                prefetch(<const char*>ahead + 64)
            borrow_text(PyList_GetItem(strings, i), texts + i, kept)
    except BaseException:
        free(texts)
        raise
    return texts


cdef int64_t find_query(const QueryIndex* index, const Text* query) noexcept nogil:
    """The position of a query id, or -1."""
    cdef uint64_t h = text_hash(query), slot = h & index.mask, entry, low = 0xFFFFFFFF
    cdef int64_t position
    while True:
        entry = index.table[slot]
        if entry == 0:
            return -1
        position = <int64_t>(entry & low) - 1
        if entry >> 32 == h >> 32 and equal(index.texts + position, query):
            return position
        slot = (slot + 1) & index.mask


# ---- plans that collect ----------------------------------------------------------------------------------------------

# A Plan that measures nothing: the join hands it every query's hits, and it collects them. So whatever a run comes as,
# and whatever joins it, what is collected is just what metrics would have been computed from. The hits of a query lie
# from the position on where its labels begin in the qrels; there are never more of them. The kernel finds that position
# by a difference of two pointers to labels, which is one only if both point into the same qrels: so each join checks,
# when it is made, that its Judged is the one of the plan.
COLUMNS = 2     # of the values that such a plan fills: the number of hits, and of ranked documents


def collecting_plan(Judged judged, ranks, labels, int64_t whole, int reads=POOL):
    """A Plan that collects the hits of all queries in `ranks` and `labels`, which are as long as all judgments.

    Without a Judged they have any length but 0, and every row of values comes with the position of its query's hits as
    its first value. `whole` is the depth of a whole ranking.
    """
    cdef Plan plan = Plan([], [], min(reads, POOL), False, whole, False)
    cdef int64_t n = len(ranks) if judged is None else judged.offsets[judged.n_queries]
    cdef Py_buffer rank_buffer, label_buffer    # memoryviews take longer than all else here
    PyObject_GetBuffer(ranks, &rank_buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE)
    PyObject_GetBuffer(labels, &label_buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE)
    if n > 0:
        plan.collected.first = NULL if judged is None else judged.labels
        plan.collected.ranks, plan.collected.labels = <int64_t*>rank_buffer.buf, <int32_t*>label_buffer.buf
    whole_size = rank_buffer.shape[0] == n == label_buffer.shape[0]
    right = has_integers(&rank_buffer, sizeof(int64_t)) and has_integers(&label_buffer, sizeof(int32_t))
    PyBuffer_Release(&label_buffer)
    PyBuffer_Release(&rank_buffer)
    if not (whole_size and right):
        raise ValueError(f"expected arrays of {n} entries, int64 and int32")
    plan.deepest = whole
    plan.owners = judged, ranks, labels
    plan.n_slots = COLUMNS
    return plan


def with_ties(Plan plan, Judged judged, int64_t[::1] firsts, int64_t[::1] lasts, int32_t[::1] labels,
              int64_t[::1] num_ret, int64_t[::1] n_hits):
    """Make a new plan, that nothing else has, also put away the ties of all hits; returns the plan.

    Of a query with n hits the first n places of its judgments get the first and last rank of each hit's tie and its
    label, and the first place the number of ranked documents and n. All arrays are as long as all judgments.
    """
    cdef int64_t n = judged.offsets[judged.n_queries]
    if not firsts.shape[0] == lasts.shape[0] == labels.shape[0] == num_ret.shape[0] == n_hits.shape[0] == n:
        raise ValueError(f"expected arrays of {n} entries")
    if n > 0:
        plan.ties.judged = judged.labels
        plan.ties.firsts, plan.ties.lasts, plan.ties.labels = &firsts[0], &lasts[0], &labels[0]
        plan.ties.num_ret, plan.ties.n_hits = &num_ret[0], &n_hits[0]
    plan.owners = judged, firsts, lasts, labels, num_ret, n_hits
    return plan


def with_falls(Plan plan, Judged judged, unsigned char[::1] falls):
    """Make a new plan, that nothing else has, also say which rankings with hits have scores that fall; returns it.

    The entry of a query in `falls`, as long as all judgments, is that of its first judgment; 0 is unknown, too.
    """
    if falls.shape[0] != judged.offsets[judged.n_queries]:
        raise ValueError(f"expected an array of {judged.offsets[judged.n_queries]} entries")
    if falls.shape[0] > 0:
        plan.ties.judged, plan.ties.falls = judged.labels, &falls[0]
    plan.owners = judged, falls, plan.owners
    return plan


cdef int check_judged(Plan plan, Judged judged) except -1:
    """Refuse to join with other qrels than the plan's."""
    if plan.ties.judged != NULL and plan.ties.judged != judged.labels:
        raise RuntimeError("internal error: a plan that wants ties is joined with a Judged that is not its own")
    if plan.collected.ranks != NULL and plan.collected.first != judged.labels:
        raise RuntimeError("internal error: a plan that collects hits is joined with a Judged that is not its own")
    return 0


def judgments(Judged judged):
    """All judgments, best first for each query, as new int64 offsets and int32 labels; -1 for negative ones."""
    cdef int64_t i, n = judged.offsets[judged.n_queries]
    offsets, labels = np.empty(judged.n_queries + 1, np.int64), np.empty(n, np.int32)
    cdef int64_t[::1] all_offsets = offsets
    cdef int32_t[::1] all_labels = labels
    for i in range(judged.n_queries + 1):
        all_offsets[i] = judged.offsets[i]
    for i in range(n):
        all_labels[i] = max(judged.labels[i], -1)
    return offsets, labels
