"""Which documents of a ranking are judged, where many are: the ranking's ids are looked up among the judged ones.

In: the ids of a ranking as Python objects, and the Lookup of its query, a table by the hash that each id carries. Out:
hits, for the judged documents that a metric reads, and how many of the ranking are judged at all.

Everything here waits for memory: the object of an id, its bit of the filter, its slot in the table, the hash of the
judged id there, that id. So a batch of rows takes one step after the other. Each step prefetches the memory of the next
one, and none has a branch that depends on memory still to come. Ids are prefetched a whole batch before they are read,
and judged ones compared a batch later.

Only ids that may become hits are compared. The others matter to the report alone, and there a text counts as judged if
all 64 bits of the hash are equal, as _dicts explains. No hit is lost by that: the best labels were put into the table
first, so of all ids with one hash the first one found has the best label, and if that is not wanted, none is.
"""

from libc.stdint cimport uint64_t

from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._scalars cimport Reader, key_hash, read_id
from fastir.engine.join._judged cimport spread_hash
from fastir.engine.measure._measure cimport label_code

cdef extern from "Python.h":
    int Py_EQ
    Py_ssize_t PyObject_Hash(PyObject*) except? -1
    int PyLong_CheckExact(PyObject*) noexcept
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1

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
    BATCH = 64      # rows that take a step together: their prefetched memory fits in the first-level cache
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
    for i in range(<int>min(BATCH, rows.n - first - n)):
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
    """Find the judged documents of a ranking.

    Parameters
    ----------
    integers : whether ids are int, not str
    lookup, labels : the query's, by the positions of its judged ids
    wanted : judged ids before this position become hits
    releases_gil : whether another thread may have the GIL between two batches
    hits, n_hits : filled; there is room for all rows

    Returns
    -------
    How many documents are judged.
    """
    cdef Candidate candidates[2][BATCH]
    cdef int64_t start = 0, judged = 0
    cdef int n, before = 0, turn = 0
    n_hits[0] = 0
    while start < rows.n or before > 0:
        n = 0
        if start < rows.n:
            n = <int>min(BATCH, rows.n - start)
            n = find_candidates(rows, start, n, integers, lookup, wanted, candidates[turn], &judged)
        judged += compare_candidates(rows, integers, lookup, labels, wanted, candidates[1 - turn], before, hits, n_hits)
        start += BATCH
        turn = 1 - turn
        before = n
        if releases_gil:
            with nogil:
                pass
    return judged
