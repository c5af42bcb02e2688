"""The join for a run that is a dict of dicts: probe each ranking with the judged ids.

The ids of the qrels carry their hashes, so a probe costs a few nanoseconds; the run's own keys are never hashed, copied
or compared. From the second run on, if many documents were judged, the ranking's ids are looked up among them instead,
in a table by the hash that each id carries: less than that many probes, but the table must be made first.

One walk over a ranking collects its scores and checks on the way that every key is a str and every value a number that
_scalars reads. Anything else (Fraction, other mappings) is read from a snapshot in plain types (columns/_dicts), taken
once: a caller's __float__ that changes the dict meanwhile does not reach us. Under several sets of rules a ranking is
read once, and looked up once for all that need the same documents of the same judgments; then each ranks a copy of the
hits. The next rankings' objects are prefetched; the next pair of the run most often is the next query's.

Ids that are NumPy's scalars are always looked up, by the hash of what they hold.

Excluded documents are probed, too, and leave the rows that were read: the rows with one of their scores, of which a
bitmap knows, are looked up among them. A ranking with NaN, wide integers or NumPy ids loses them in a copy.

A ranking's keys are borrowed references until its query is measured. Until then no foreign code may run, so no
container is made: that could start the garbage collector. Without a GIL other threads may change the ranking, so the
run and each ranking are copied first. A critical section is not enough: looking up a key locks the dict, too, and
CPython 3.13 then suspends the section that holds the lock.

Judged documents that no metric reads matter only to the report. Where looking them up would be most of the work, a word
per document of the ranking is kept instead, and count_rest() counts when the report is read: the id itself if it is an
integer, else the 64-bit hash that the str carries. Neither the caller's dict nor its ids are held. Among a thousand
documents and a thousand judged ones, two different ids share a hash once in 10^13 queries.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from fastir.engine.columns._dicts cimport own_items
from fastir.engine.columns._entries cimport (DICTS_AHEAD, HAS_NAN, NOT_PLAIN, ROWS_READ, Reader, ask_ahead,
                                             begins_with_numpy, gather, integers_made_equal, key_hash, read_id,
                                             read_rows, read_score, strings_only, unchanged)
from fastir.engine.columns._fenv cimport fenv_t, fesetenv, ordinary
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.join._counts cimport Counts, count_excluded, count_low, count_order, count_ranking, count_rounded
from fastir.engine.join._judged cimport Judged, Lookup, check_judged, spread_hash
from fastir.engine.measure._codes cimport MISSING, RELEVANT
from fastir.engine.measure._measure cimport Judgments, Plan, label_code, measure, with_spare
from fastir.engine.rank._rank cimport Hit, compare_fn, discard, rank_and_measure, reserve

import numpy as np
from numpy import empty

from fastir.engine.columns._dicts import has_integer_documents, is_nested, plain_scores, refuse_nan

cdef extern from "Python.h":
    int Py_EQ
    int PyErr_CheckSignals() except -1
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    Py_ssize_t PyDict_Size(object) except -1
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    int PyDict_Check(PyObject*) noexcept
    dict PyDict_Copy(object)
    int PyByteArray_Resize(bytearray, Py_ssize_t) except -1
    char* PyByteArray_AsString(bytearray) noexcept
    Py_ssize_t PyByteArray_Size(bytearray) noexcept
    int PyUnicode_Compare(PyObject*, PyObject*) noexcept nogil
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL
    Py_ssize_t PyObject_Hash(PyObject*) except? -1

cdef enum:
    # With more judged documents than an eighth of a ranking, its ids are looked up among them; those of a short one
    # with more than it has.
    LOOKED_UP_RATIO = 8
    # In the first run so, where the table is made of what is looked up, with more than half as many as a ranking has:
    # a probe takes 80 ns, to make an id's slot in the table 25, to look one up in it 15.
    MADE_RATIO = 2
    # A run with under an eighth of the queries is joined by its own ones, else by the queries of the qrels: with a
    # quarter of 20 000, found in any order, the first way takes 1.3 times as long; with one of them, 1/100.
    FEW_RATIO = 8
    # Judged documents that no metric reads are counted at once in a ranking that is at least this many times as long.
    COUNTED_RATIO = 8
    # Rows and probes between two looks at whether the user interrupts.
    WORK_BETWEEN_SIGNALS = 100000
    # A bit of a row's number: when it changes, a walk that may do so lets another thread have the GIL.
    GIL_ROWS = 1 << 14
    # How many rows ahead an id is prefetched.
    AHEAD = 16
    # Pairs of the run that are gathered at once; rankings of more are long.
    BATCH = 64
    # Bits of a bitmap of the scores of excluded documents, as a power of two.
    BITMAP = 12
    # Rows and hits of the scratch that is kept for the next call; to make it takes a tenth of a call with one small
    # query.
    SPARE = 4096


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    return PyUnicode_Compare((<PyObject**>a)[0], (<PyObject**>b)[0])


cdef int compare_integers(const void* a, const void* b) noexcept with gil:
    """Compare integers by their decimal text, because they may be large."""
    cdef str x = decimal_text((<PyObject**>a)[0]), y = decimal_text((<PyObject**>b)[0])
    return (x > y) - (x < y)


cdef str decimal_text(PyObject* number):
    cdef Reader reader
    cdef int64_t small
    reader.type = NULL
    return str(small) if read_id(&reader, number, &small) else str(<object>number)


def count_rest(Judged judged, Plan plan, bytearray uncounted):
    """How many judged documents that no metric read are in the rankings with words from Walk.keep()."""
    cdef int64_t q, n, i = 0, n_judged = 0
    cdef bint integers
    words = np.frombuffer(uncounted, np.int64)
    while i < len(words):
        q, integers, n = words[i] >> 1, words[i] & 1, words[i + 1]
        rest = judged.ids(integers)[judged.offsets[q] + judged.n_read(plan.reads, q):judged.offsets[q + 1]]
        n_judged += len(set(words[i + 2:i + 2 + n].tolist()).intersection(rest if integers else map(hash, rest)))
        i += 2 + n
    return n_judged


cdef inline uint64_t bitmap_position(double score) noexcept:
    """The position of a score in a bitmap: the top bits of a product of all its bits."""
    cdef uint64_t word
    memcpy(&word, &score, sizeof(word))
    return word * <uint64_t>0x9E3779B97F4A7C15 >> 64 - BITMAP


cdef dict without(dict ranking, frozenset gone):
    """A copy of a ranking without some ids."""
    cdef dict left = ranking.copy()
    for form in gone:
        left.pop(form, None)
    return left


# ---- many judged documents: the ranking's ids are looked up among them -----------------------------------------------

# Everything here waits for memory: the object of an id, its bit of the filter, its slot in the table, the hash of the
# judged id there, that id. So STEP_ROWS take one step after the other. Each step prefetches the memory of the next one,
# and none has a branch that depends on memory still to come. Ids are prefetched a whole batch before they are read, and
# judged ones compared a batch later.
#
# Only ids that may become hits are compared. The others matter to the report alone, and there a text counts as judged
# if all 64 bits of the hash are equal, as the head of this file explains. No hit is lost by that: the best labels were
# put into the table first, so of all ids with one hash the first one found has the best label, and if that is not
# wanted, none is.

cdef struct Rows:           # of one ranking
    PyObject** keys         # the ids, exact str or exact int objects, or the same of NumPy
    const double* scores
    int64_t n


cdef extern from *:
    """
    #include <string.h>
    #ifdef Py_LIMITED_API
    #define fastir_equal_text(a, b) PyObject_RichCompareBool(a, b, Py_EQ)
    #else
    static inline int fastir_equal_text(PyObject *a, PyObject *b) {
        return PyUnicode_GET_LENGTH(a) == PyUnicode_GET_LENGTH(b) && PyUnicode_KIND(a) == PyUnicode_KIND(b)
            && memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), PyUnicode_GET_LENGTH(a) * PyUnicode_KIND(a)) == 0;
    }
    #endif
    """
    int equal_text "fastir_equal_text"(PyObject*, PyObject*) except -1

cdef enum:
    STEP_ROWS = 64  # rows that take a step together: their prefetched memory fits in the first-level cache
    MODULUS = 0x7FFFFFFF    # of the hashes of integers, or less: sys.hash_info has it
    LINE = 64       # bytes that arrive together; an id may reach into a second line


cdef struct Candidate:
    uint64_t hash
    int64_t row
    int64_t slot        # the slot of its hash in the table


cdef inline int64_t position_at(const Lookup* lookup, int64_t slot) noexcept nogil:
    return <int64_t>(lookup.table[slot] & <uint64_t>0xFFFFFFFF) - 1


cdef inline int64_t next_slot(const Lookup* lookup, uint64_t h, uint64_t slot) noexcept nogil:
    """The next slot from `slot` on with the same half of a hash as h, or -1."""
    while lookup.table[slot] != 0:
        if lookup.table[slot] >> 32 == h >> 32:
            return <int64_t>slot
        slot = (slot + 1) & lookup.mask
    return -1


cdef inline int64_t equal_slot(const Lookup* lookup, uint64_t h, int64_t slot) noexcept nogil:
    """The next slot from `slot` on with an id of the hash h, or -1."""
    while slot >= 0 and lookup.hashed[position_at(lookup, slot)].hash != h:
        slot = next_slot(lookup, h, <uint64_t>(slot + 1) & lookup.mask)
    return slot


cdef inline bint same(PyObject* a, PyObject* b, bint integers) except -1:
    cdef Reader reader
    cdef int64_t x, y
    cdef bint exact
    if a == b:
        return True
    if not integers:
        return equal_text(a, b)
    exact = PyLong_CheckExact(b)
    if exact and PyObject_RichCompareBool(a, b, Py_EQ):
        return True
    reader.type = NULL
    return not exact and PyLong_CheckExact(a) and read_id(&reader, b, &y) and read_id(&reader, a, &x) and x == y


cdef inline Py_ssize_t integer_hash(PyObject* key, Reader* reader) except? -1:
    """The hash of an int, or of a NumPy integer, which has the same."""
    cdef int64_t number
    if PyLong_CheckExact(key) or not read_id(reader, key, &number):
        return PyObject_Hash(key)
    if -MODULUS < number < MODULUS:
        return -2 if number == -1 else number
    return hash(number)


cdef int find_candidates(const Rows* rows, int64_t first, int n, bint integers, const Lookup* lookup, int64_t wanted,
                         Candidate* candidates, int64_t* judged) except -1:
    """Of n rows from `first` on those that are to be compared; how many. Others that are judged are counted."""
    cdef int i, m = 0, kept = 0
    cdef int64_t position
    cdef uint64_t h
    cdef Reader reader
    reader.type = NULL
    for i in range(<int>min(STEP_ROWS, rows.n - first - n)):
        prefetch(<const char*>rows.keys[first + n + i])
    for i in range(n):
        if integers:
            h = spread_hash(integer_hash(rows.keys[first + i], &reader))
        else:
            h = spread_hash(key_hash(rows.keys[first + i]))
        prefetch(<const char*>(lookup.filter + (h >> 38 & lookup.filter_mask)))
        prefetch(<const char*>(lookup.table + (h & lookup.mask)))
        candidates[i].hash = h
        candidates[i].row = first + i
    for i in range(n):
        candidates[m] = candidates[i]
        h = candidates[i].hash
        m += lookup.filter[h >> 38 & lookup.filter_mask] >> (h >> 32 & 63) & 1
    n, m = m, 0
    for i in range(n):
        candidates[m] = candidates[i]
        candidates[m].slot = next_slot(lookup, candidates[i].hash, candidates[i].hash & lookup.mask)
        if candidates[m].slot >= 0:
            prefetch(<const char*>(lookup.hashed + position_at(lookup, candidates[m].slot)))
            m += 1
    for i in range(m):
        candidates[kept] = candidates[i]
        candidates[kept].slot = equal_slot(lookup, candidates[i].hash, candidates[i].slot)
        if candidates[kept].slot < 0:
            continue
        position = position_at(lookup, candidates[kept].slot)
        if position >= wanted and not integers:
            judged[0] += 1
            continue
        prefetch(<const char*>lookup.hashed[position].id)
        prefetch(<const char*>lookup.hashed[position].id + LINE)
        prefetch(<const char*>rows.keys[candidates[i].row] + LINE)
        kept += 1
    return kept


cdef int64_t compare_candidates(const Rows* rows, bint integers, const Lookup* lookup, const int32_t* labels,
                                int64_t wanted, Candidate* candidates, int n, Hit* hits, int64_t* n_hits) except -1:
    """Of n candidates those that are judged; how many. Hits are appended."""
    cdef Candidate* c
    cdef Hit* hit
    cdef int64_t position, judged = 0
    cdef int i
    for i in range(n):
        c = &candidates[i]
        while c.slot >= 0 and not same(lookup.hashed[position_at(lookup, c.slot)].id, rows.keys[c.row], integers):
            c.slot = next_slot(lookup, c.hash, <uint64_t>(c.slot + 1) & lookup.mask)
            c.slot = equal_slot(lookup, c.hash, c.slot)
        if c.slot < 0:
            continue
        judged += 1
        position = position_at(lookup, c.slot)
        if position < wanted:
            hit = hits + n_hits[0]
            hit.row = c.row
            hit.score = rows.scores[c.row]
            hit.item = &rows.keys[c.row]
            hit.label = label_code(labels[position])
            n_hits[0] += 1
    return judged


cdef int64_t match(const Rows* rows, bint integers, const Lookup* lookup, const int32_t* labels, int64_t wanted,
                   bint releases_gil, Hit* hits, int64_t* n_hits) except -1:
    """Find the judged documents of a ranking: how many there are.

    `hits` has room for all rows; judged ids before position `wanted` become hits.
    """
    cdef Candidate candidates[2][STEP_ROWS]
    cdef int64_t start = 0, judged = 0
    cdef int n, before = 0, turn = 0
    n_hits[0] = 0
    while start < rows.n or before > 0:
        n = 0
        if start < rows.n:
            n = <int>min(STEP_ROWS, rows.n - start)
            n = find_candidates(rows, start, n, integers, lookup, wanted, candidates[turn], &judged)
        judged += compare_candidates(rows, integers, lookup, labels, wanted, candidates[1 - turn], before, hits, n_hits)
        start += STEP_ROWS
        turn = 1 - turn
        before = n
        if releases_gil:
            with nogil:
                pass
    return judged


# ---- one set of rules ------------------------------------------------------------------------------------------------
cdef class Walk:
    """One set of rules in one call: the rows of the current ranking, scratch, and counts."""

    cdef int begin(self, Judged judged, Plan plan, bint integers, int ties, bint single, bint releases_gil) except -1:
        self.judged, self.plan, self.integers, self.ids = judged, plan, integers, judged.ids(integers)
        self.ties, self.single, self.releases_gil, self.least = ties, single, releases_gil, -INFINITY
        self.again, self.is_whole = judged.used, False
        judged.used = True
        self.counts = Counts.__new__(Counts)
        check_judged(plan, judged)
        return 0

    def __dealloc__(self):
        discard(&self.ranking)
        free(self.scores)
        PyBuffer_Release(&self.value_buffer)    # nothing if it was not taken
        PyBuffer_Release(&self.status_buffer)

    cdef int write_to(self, values, status) except -1:
        """Set `out`, and whose status codes these are; and count unjudged documents."""
        PyObject_GetBuffer(values, &self.value_buffer, PyBUF_WRITABLE)
        self.out, self.status, self.counts_unjudged = <double*>self.value_buffer.buf, status, True
        return 0

    cdef int open_status(self) except -1:
        """Set `codes`."""
        PyObject_GetBuffer(self.status, &self.status_buffer, PyBUF_WRITABLE)
        self.codes = <unsigned char*>self.status_buffer.buf
        return 0

    cdef void let_go(self) noexcept:
        """Keep the scratch alone."""
        PyBuffer_Release(&self.value_buffer)
        PyBuffer_Release(&self.status_buffer)
        self.judged, self.plan, self.ids, self.status, self.uncounted = None, None, None, None, None
        self.reads, self.asks, self.exclusions, self.gone = None, None, None, None
        self.out, self.codes, self.lookups = NULL, NULL, NULL

    cdef int room(self, int64_t n, int64_t hits) except -1:
        cdef int64_t m
        if n + hits >= self.capacity:
            m = with_spare(n + hits)
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

    cdef bint keep(self, int64_t q) except -1:
        """Append query q's ranking as int64: 2 q, and 1 for integers; its length; its words. False if one is longer."""
        cdef bytearray kept
        cdef Py_ssize_t size
        cdef int64_t* words
        cdef int64_t i
        if self.uncounted is None:
            self.uncounted = bytearray()
        kept, size = self.uncounted, PyByteArray_Size(self.uncounted)
        PyByteArray_Resize(kept, size + (self.n + 2) * sizeof(int64_t))
        words = <int64_t*>(PyByteArray_AsString(kept) + size)
        words[0], words[1] = 2 * q + self.integers, self.n
        words += 2
        if not self.integers:
            for i in range(self.n):
                prefetch(<const char*>self.keys[min(i + AHEAD, self.n - 1)])
                words[i] = key_hash(self.keys[i])
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
            if self.releases_gil and not i & GIL_ROWS - 1:
                with nogil:
                    pass
            prefetch(<const char*>PyList_GetItem(self.ids, min(i + AHEAD, first + n - 1)))
            key = PyList_GetItem(self.ids, i)
            value = PyDict_GetItemWithError(ranking, key)
            if value != NULL and (self.gone is None or <object>key not in self.gone):
                read_score(&self.reader, value, &score)
                if score < self.least:
                    continue
                self.keys[self.n + n_hits] = key
                self.ranking.hits[n_hits].score = score
                self.ranking.hits[n_hits].item = &self.keys[self.n + n_hits]
                self.ranking.hits[n_hits].row = -1
                self.ranking.hits[n_hits].label = label_code(self.judged.labels[i])
                n_hits += 1
        return n_hits

    cdef int64_t count(self, dict ranking, int64_t start, int64_t stop) except -1:
        """How many of the judged ids from start to stop are in the ranking and stay there."""
        cdef int64_t i, n_found = 0
        cdef PyObject* value
        cdef double score
        for i in range(start, stop):
            value = PyDict_GetItemWithError(ranking, PyList_GetItem(self.ids, i))
            if value == NULL or self.gone is not None and <object>PyList_GetItem(self.ids, i) in self.gone:
                continue
            if self.least > -INFINITY:
                read_score(&self.reader, value, &score)
                n_found -= score < self.least
            n_found += 1
        return n_found

    cdef int follow(self, list walks) except -1:
        """Set which of the walks that come before this one reads and looks up the rankings for it, if any does."""
        cdef Walk other
        if walks and (<Walk>walks[0]).least == self.least:
            self.reads = walks[0]
        for other in walks:
            if (other.judged is self.judged and other.plan.reads == self.plan.reads
                    and other.counts_unjudged == self.counts_unjudged and other.least == self.least):
                self.asks = other
                break
        return 0

    cdef int prepare(self, dict ranking, int64_t place) except -1:
        """Make what find() needs."""
        cdef int64_t q = 0 if self.pooled else place
        cdef int64_t probes = self.judged.n_read(self.plan.reads, q)
        self.n, self.numpy_ids = PyDict_Size(ranking), begins_with_numpy(ranking, self.integers)
        self.n_gone = self.n_low = 0
        self.many = probes * (LOOKED_UP_RATIO if self.n > BATCH else 1) > self.n and (self.again or self.pooled)
        self.many |= self.is_whole and self.plan.reads != RELEVANT and self.n > BATCH and probes * MADE_RATIO > self.n
        self.many |= self.numpy_ids     # to compare them as keys of a dict would run NumPy's code
        if self.many and self.lookups == NULL and self.asks is None:
            self.lookups = self.judged.lookup(self.integers)
        return self.room(self.n, max(self.n if self.many else 0, self.judged.offsets[q + 1] - self.judged.offsets[q]))

    cdef int find(self, dict ranking, int64_t place) except -1:
        """Collect the rows and the hits of the query at this position; what read_rows() returns."""
        cdef Walk other = self.asks
        cdef int state
        if self.reads is None:
            state = read_rows(ranking, self.integers, self.numpy_ids, self.releases_gil, self.n, &self.reader,
                              self.keys, self.scores)
            if state != ROWS_READ:
                return state
            if self.gone is not None and not (self.numpy_ids or self.reader.wide):
                self.leave_out(ranking)
            if self.least > -INFINITY:
                self.leave_low()
        else:
            self.n, self.n_low = self.reads.n, self.reads.n_low
            memcpy(self.scores, self.reads.scores, self.n * sizeof(double))
            memcpy(self.keys, self.reads.keys, self.n * sizeof(PyObject*))
            self.reader = self.reads.reader
        if other is None:
            self.look_up(ranking, 0 if self.pooled else place)
        else:
            memcpy(self.ranking.hits, other.ranking.hits, other.n_hits * sizeof(Hit))
            self.n_hits, self.n_found, self.uncounted = other.n_hits, other.n_found, other.uncounted
        return ROWS_READ

    cdef int leave_out(self, dict ranking) except -1:
        """Take the rows of excluded documents out of those that were read."""
        cdef uint64_t[1 << BITMAP - 6] bits
        cdef PyObject* value
        cdef double score
        cdef uint64_t bit
        cdef int64_t i, n = 0, found = 0
        memset(bits, 0, sizeof(bits))
        for form in self.gone:
            value = PyDict_GetItemWithError(ranking, <PyObject*>form)
            if value != NULL:
                read_score(&self.reader, value, &score)
                bit = bitmap_position(score)
                bits[bit >> 6] |= <uint64_t>1 << (bit & 63)
                found += 1
        if found == 0:
            return 0
        for i in range(self.n):
            bit = bitmap_position(self.scores[i])
            if bits[bit >> 6] >> (bit & 63) & 1 and <object>self.keys[i] in self.gone:
                continue
            self.keys[n], self.scores[n] = self.keys[i], self.scores[i]
            n += 1
        self.n_gone, self.n = self.n - n, n
        return 0

    cdef void leave_low(self) noexcept:
        """Take the rows with low scores out of those that were read."""
        cdef int64_t i, n = 0
        while n < self.n and self.scores[n] >= self.least:
            n += 1
        for i in range(n, self.n):
            self.keys[n], self.scores[n] = self.keys[i], self.scores[i]
            n += self.scores[i] >= self.least
        self.n_low, self.n = self.n - n, n

    cdef int look_up(self, dict ranking, int64_t q) except -1:
        """Collect the hits, and count the documents that are judged."""
        cdef Judged judged = self.judged
        cdef int64_t first = judged.offsets[q], n = judged.offsets[q + 1] - first
        cdef int64_t probes = judged.n_read(self.plan.reads, q), rest = n - probes
        cdef Rows rows
        if self.many:
            rows.keys, rows.scores, rows.n = self.keys, self.scores, self.n
            self.n_found = match(&rows, self.integers, self.lookups + q, judged.labels + first, probes,
                                 self.releases_gil, self.ranking.hits, &self.n_hits)
            return 0
        self.n_hits = self.n_found = self.probe(ranking, first, probes)
        if rest > 0 and self.n > 0 and self.counts_unjudged:
            if rest * COUNTED_RATIO <= self.n or self.n_hits == 0 or not self.keep(q):
                self.n_found += self.count(ranking, first + probes, first + n)
        return 0

    cdef int rank(self, int64_t place, int64_t row) except -1:
        """Rank and measure the hits."""
        cdef compare_fn compare = compare_integers if self.integers else compare_keys
        cdef Judgments judgments = self.judged.judgments(0 if self.pooled else place)
        cdef double* out = self.out + row * self.plan.n_slots
        cdef const char* keys = <const char*>self.keys
        cdef int64_t i
        if self.single:
            for i in range(self.n):
                self.scores[i] = <double><float>self.scores[i]
            for i in range(self.n_hits):
                self.ranking.hits[i].score = <double><float>self.ranking.hits[i].score
        if self.releases_gil:
            with nogil:
                self.tied = rank_and_measure(self.plan, &self.ranking, self.scores, keys, sizeof(PyObject*), self.n,
                                             self.n_hits, compare, self.ties, judgments, out)
        else:
            self.tied = rank_and_measure(self.plan, &self.ranking, self.scores, keys, sizeof(PyObject*), self.n,
                                         self.n_hits, compare, self.ties, judgments, out)
        return 0

    cdef int note(self, dict ranking, int64_t place) except -1:
        """Count for the report."""
        if self.n_gone:
            count_excluded(self.counts, place, self.n_gone)
        count_low(self.counts, place, self.n_low)
        count_ranking(self.counts, place, self.n, self.n_found)
        if self.reader.wide:
            if self.n_low:
                ranking = {doc: score for doc, score in ranking.items() if not float(score) < self.least}
            self.note_rounded(place, integers_made_equal(ranking, self.scores, self.n))
        count_order(self.counts, place, self.scores, self.n, self.n_hits, self.tied)
        return 0

    cdef int note_rounded(self, int64_t place, tuple docs) except -1:
        """Count a ranking in which the integer scores of two documents became equal, unless `docs` is None."""
        if docs is None:
            return 0
        count_rounded(self.counts, place)
        if self.counts.rounded_queries_example == place:
            self.counts.rounded_docs = docs
        return 0

    cdef Counts take_counts(self):
        """The counts of all rankings."""
        self.counts.uncounted = self.uncounted
        return self.counts

    cdef int lack(self, int64_t place, int64_t row) except -1:
        """Measure an empty ranking for a query that is missing from the run."""
        cdef int64_t q = 0 if self.pooled else place
        cdef Judgments judgments = self.judged.judgments(q)
        if self.codes == NULL:
            self.status = self.status.copy()
            self.open_status()
        self.codes[row] = MISSING
        self.room(0, judgments.n_pool)
        measure(self.plan, &self.ranking.measured, 0, 0, &judgments, self.out + row * self.plan.n_slots)
        return 0


def longest_ranking(run):
    """The documents of the longest ranking that is a dict; -1 if not all keys of a dict are exact str, or exact int."""
    return longest_length(run) if type(run) is dict else -1


cdef int64_t longest_length(dict run) except -2:
    cdef PyObject* keys[BATCH]
    cdef PyObject* values[BATCH]
    cdef Py_ssize_t position = 0, longest = 0, i, n
    cdef bint plain, strings = True, integers = True
    with cython.critical_section(run):
        plain = strings_only(run)
        while True:
            n = gather(run, plain, &position, keys, values, BATCH)
            if n == 0:
                return longest if strings or integers else -1
            for i in range(n):
                if not plain:
                    strings &= PyUnicode_CheckExact(keys[i]) != 0
                    integers &= PyLong_CheckExact(keys[i]) != 0
                if PyDict_Check(values[i]):
                    longest = max(longest, PyDict_Size(<object>values[i]))


cpdef bint is_few(Judged judged, Py_ssize_t n_run, int64_t min_missing) noexcept:
    """Whether a run of so many queries is joined by its own; `min_missing` or more queries of the qrels are left."""
    return FEW_RATIO * n_run + min_missing < judged.n_queries


def rows_if_few(Judged judged, dict run, int64_t min_missing):
    """The positions in the qrels of a run's queries, rising, if it has few of them (see is_few); else None."""
    cdef PyObject* key
    cdef PyObject* value
    cdef PyObject* row
    cdef Py_ssize_t position = 0
    cdef list rows = []
    cdef dict row_by_query
    if not is_few(judged, PyDict_Size(run), min_missing):
        return None
    row_by_query = judged.rows(first_is_integer(run))
    with cython.critical_section(run):
        while PyDict_Next(run, &position, &key, &value):
            row = PyDict_GetItemWithError(row_by_query, key)
            if row != NULL:
                rows.append(<object>row)
    rows.sort()
    return rows


cdef bint first_is_integer(dict run) except -1:
    """Whether the first query id is an int."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    with cython.critical_section(run):
        return PyDict_Next(run, &position, &key, &value) != 0 and PyLong_CheckExact(key) != 0


def judge_dict(Judged judged, list jobs, dict run, bint releases_gil=False, list rows=None):
    """Evaluate {query_id: {doc_id: score}} under one or several sets of rules, each ranking under all while it is near.

    A job is (Judged, Plan, values, status, ties, single, least): the qrels, or others with one query, whose documents
    count as judged for each; a float64 array of shape (n_queries, n_slots) and a uint8 array of shape (n_queries,),
    which are filled; the tie rule; whether scores are compared as float32; the least that is retrieved. The queries are
    all of `judged`, or those at its positions `rows`. Keys are exact str, or exact int objects. `releases_gil`: only
    the caller can change the run. Returns the Counts of each job, and the types of the run's query ids and document
    ids, None if there are none.
    """
    cdef Walk walk
    cdef Judged job_judged
    cdef Plan plan
    cdef int ties
    cdef bint single
    cdef double least
    cdef list walks = []
    cdef tuple kinds = id_kinds(run)
    for job_judged, plan, values, status, ties, single, least in jobs:
        walk = Walk.__new__(Walk)
        walk.begin(job_judged, plan, kinds[1] is int, ties, single, releases_gil)
        walk.pooled, walk.least = job_judged is not judged, least
        walk.write_to(values, status)
        walk.open_status()
        walk.follow(walks)
        walks.append(walk)
    judge_walks(walks, judged, run, kinds, rows)
    return [walk.take_counts() for walk in walks], kinds


def judge_alone(Judged judged, Plan plan, tuple shape, status, int ties, bint single, double least, run, int64_t most,
                int64_t min_missing, list exclusions=None):
    """judge_dict() for one job, with the steps before and after it: together they take a microsecond or two.

    Of each query the documents in `exclusions`, frozensets of all forms of their ids, take no rank. The result is
    (values, `status` or a copy if a query is missing from the run, Counts, types of ids, None); for a run of few
    queries values and status of these alone, and their positions as the last. None unless `run` is a dict of dicts that
    judge_dict() takes, with rankings of up to `most` documents.
    """
    cdef Walk walk
    cdef tuple kinds
    cdef list rows
    if type(run) is not dict or not is_nested(run) or not 0 <= longest_length(run) <= most:
        return None
    kinds = id_kinds(run)
    rows = rows_if_few(judged, run, min_missing) if is_few(judged, PyDict_Size(run), min_missing) else None
    if rows is not None:
        shape, status = (len(rows), shape[1]), status[rows]
    values = empty(shape)
    with cython.critical_section(plan):
        walk, plan.spare = plan.spare, None
    if walk is None:
        walk = Walk.__new__(Walk)
    walk.begin(judged, plan, kinds[1] is int, ties, single, False)
    walk.write_to(values, status)
    walk.exclusions, walk.least = exclusions, least
    judge_walks([walk], judged, run, kinds, rows)
    result = values, walk.status, walk.take_counts(), kinds, rows
    if walk.capacity <= SPARE:
        walk.let_go()
        with cython.critical_section(plan):
            plan.spare = walk
    return result


cdef tuple id_kinds(dict run):
    """The types of the query ids and of the document ids, str or int, by the first ones; None if there are none."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    cdef object query_kind = None
    with cython.critical_section(run):
        if PyDict_Next(run, &position, &key, &value):
            query_kind = type(<object>key)
    integers = has_integer_documents(run)
    return query_kind, None if integers is None else int if integers else str


cdef int judge_walks(list walks, Judged judged, dict run, tuple kinds, list rows) except -1:
    """judge_all() with ordinary arithmetic."""
    cdef fenv_t callers
    ordinary(&callers)
    try:
        judge_all(walks, judged, run, kinds[0] is int, rows)
    finally:
        fesetenv(&callers)
    return 0


cdef PyObject* find_ranking(dict run, PyObject* query, Py_ssize_t* place) except? NULL:
    """What the run has for a query, or NULL; most often it is the next pair of the run, to which `place` moves."""
    cdef Py_ssize_t after = place[0]
    cdef PyObject* key
    cdef PyObject* value
    if PyDict_Next(run, &after, &key, &value):
        if key == query or PyUnicode_CheckExact(key) and PyObject_RichCompareBool(key, query, Py_EQ):
            place[0] = after
            return value
    return PyDict_GetItemWithError(run, query)


cdef int find_all(list walks, dict ranking, Py_ssize_t q) except -1:
    """Have a ranking read and looked up for every walk; what Walk.find returns."""
    cdef Walk walk
    cdef int state
    for walk in walks:
        walk.prepare(ranking, q)
    for walk in walks:
        state = walk.find(ranking, q)
        if state != ROWS_READ:
            return state
    return ROWS_READ


cdef int judge_all(list walks, Judged judged, dict run, bint integer_queries, list rows) except -1:
    """judge_dict() for all queries or those at the positions in `rows`, which then are the rows of values."""
    cdef Walk walk
    cdef Py_ssize_t q, row, n_rows = judged.n_queries if rows is None else len(rows)
    cdef int64_t work = 0
    cdef int state
    cdef bint integers = (<Walk>walks[0]).integers, releases_gil = (<Walk>walks[0]).releases_gil
    cdef PyObject* value
    cdef dict ranking
    cdef object raw
    cdef list rounded = []      # the answer of plain_scores()
    cdef Py_ssize_t place = 0, ahead = 0
    cdef list query_ids = judged.queries(integer_queries)
    cdef list exclusions = (<Walk>walks[0]).exclusions      # of a walk that is alone
    cdef int64_t n
    run = unchanged(run)
    for walk in walks:
        walk.is_whole = 2 * PyDict_Size(run) > judged.n_queries
    walk = walks[0]
    for row in range(n_rows):
        q = row if rows is None else rows[row]
        if row % DICTS_AHEAD == 0:
            ask_ahead(run, &ahead)
        value = find_ranking(run, PyList_GetItem(query_ids, q), &place)
        if value == NULL:
            for walk in walks:
                walk.lack(q, row)
            continue
        raw = <object>value
        ranking = own_items(raw)
        if ranking is None:
            ranking = plain_scores(judged.query_ids[q], raw, integers, rounded)
        elif releases_gil and type(raw) is not dict:
            ranking = PyDict_Copy(ranking)      # its own, as those that are exact dicts are by now
        else:
            ranking = unchanged(ranking)
        if exclusions is not None:
            walk = walks[0]
            walk.gone = exclusions[q] or None
        state = find_all(walks, ranking, q)
        if state == NOT_PLAIN:      # only now is Python code run for the scores, on a copy
            ranking = plain_scores(judged.query_ids[q], ranking, integers, rounded)
            state = find_all(walks, ranking, q)
        if exclusions is not None and walk.gone and (state == HAS_NAN or walk.numpy_ids or walk.reader.wide):
            n, ranking = PyDict_Size(ranking), without(ranking, walk.gone)
            walk.gone = None
            state = find_all(walks, ranking, q)
            walk.n_gone = n - PyDict_Size(ranking)
        if state == HAS_NAN:
            refuse_nan(judged.query_ids[q], ranking)
        for walk in walks:          # all before the first note(), which may run Python code and free borrowed keys
            walk.rank(q, row)
        for walk in walks:
            walk.note(ranking, q)
            if rounded:
                walk.note_rounded(q, rounded[0][1])
            work += walk.n + judged.n_read(walk.plan.reads, q)
        rounded.clear()
        if work > WORK_BETWEEN_SIGNALS:
            work = 0
            PyErr_CheckSignals()
    return 0
