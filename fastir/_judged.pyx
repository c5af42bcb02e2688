"""The qrels, prepared once for any number of runs.

One array of judged ids per query, best label first, is three things at once: the list to probe a dict with, the ideal
ranking, and by its counts num_rel:

    labels of q     3  1  1 | 0  0 | -1
                    positive  judged  in the pool, without a judgment

For runs that come as bytes each query also has a hash table of its ids, made when the first such run comes. The bytes
are borrowed from the str objects. In front of the table stands a filter of 32 bits or more per id: nearly all ranked
documents are unjudged and end at it, without a branch that depends on the table.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memset

import numpy as np

from fastir._text cimport Text, equal, hash_of

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL

cdef enum:
    SPAN = 1024     # labels less than this apart are sorted by counting


def encode(str text):
    """An id as the bytes of a file: UTF-8, with surrogates back to the bytes that they stand for."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text.encode("utf-8", "surrogatepass")


cdef int rising_order(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const int64_t*>a)[0], y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef class Judged:
    """The judged documents of every query; immutable but for the tables that prepare_bytes() adds.

    Parameters
    ----------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    doc_ids : list of str
    labels : int32 array beside doc_ids; any negative label means in the pool, not judged
    """

    def __cinit__(self, list query_ids, list doc_ids, const int64_t[::1] offsets, const int32_t[::1] labels):
        cdef Py_ssize_t q
        cdef int64_t i, n = len(doc_ids)
        cdef int64_t* order = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        cdef int64_t* spare = <int64_t*>malloc((n + 1) * sizeof(int64_t))
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
                    self.sort(q, &labels[offsets[q]], order, spare)
                for i in range(offsets[q], offsets[q + 1]):
                    self.positive[q] += self.labels[i] > 0
                    self.judged[q] += self.labels[i] >= 0
            self.ids = [doc_ids[order[i]] for i in range(n)]
        finally:
            free(order)
            free(spare)

    def __dealloc__(self):
        free(self.offsets); free(self.labels); free(self.positive); free(self.judged)
        free(self.texts); free(self.lookups); free(self.tables); free(self.queries); free(self.query_texts)

    cdef int64_t wanted(self, int reads, int64_t q) noexcept nogil:
        """How many of a query's documents, the first ones, a plan reads: its `reads` is 0 for labels above 0, 1 for labels."""
        if reads == 0:
            return self.positive[q]
        return self.judged[q] if reads == 1 else self.offsets[q + 1] - self.offsets[q]

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
        return [(self.labels[self.offsets[q]], q, self.ids[self.offsets[q]])
                for q in range(self.n_queries) if self.offsets[q + 1] > self.offsets[q]]

    def status(self, int32_t level):
        """uint8 array: 2 for every query without a label of at least `level` above 0, else 0."""
        cdef Py_ssize_t q
        codes = np.zeros(self.n_queries, np.uint8)
        cdef unsigned char[::1] view = codes
        for q in range(self.n_queries):
            if self.positive[q] == 0 or self.labels[self.offsets[q]] < level:
                view[q] = 2
        return codes

    def prepare_bytes(self):
        """Make the hash tables for runs that come as bytes, unless they are there."""
        cdef int64_t i, n, size, words, total = 0
        cdef uint64_t h
        cdef Py_ssize_t q
        if self.lookups != NULL:
            return
        encoded = []
        cdef Text* texts = borrow(self.ids, encoded)
        cdef Text* query_texts = borrow(self.query_ids, encoded)
        for q in range(self.n_queries):
            n = self.offsets[q + 1] - self.offsets[q]
            total += power_above(4 * n) + power_above(n // 2)
        cdef uint64_t* tables = <uint64_t*>calloc(total + 1, sizeof(uint64_t))
        cdef Lookup* lookups = <Lookup*>calloc(self.n_queries + 1, sizeof(Lookup))
        size = power_above(2 * self.n_queries)
        cdef uint64_t* queries = <uint64_t*>calloc(size, sizeof(uint64_t))
        if self.lookups != NULL or texts == NULL or query_texts == NULL or tables == NULL or lookups == NULL or queries == NULL:
            free(texts); free(query_texts); free(tables); free(lookups); free(queries)
            if self.lookups != NULL:        # another thread was faster
                return
            raise MemoryError
        total = 0
        for q in range(self.n_queries):
            n = self.offsets[q + 1] - self.offsets[q]
            size = power_above(4 * n)
            words = power_above(n // 2)
            lookups[q].table = tables + total
            lookups[q].filter = tables + total + size
            lookups[q].mask = size - 1
            lookups[q].filter_mask = words - 1
            total += size + words
            for i in range(n):
                h = hash_of(texts + self.offsets[q] + i)
                lookups[q].filter[h >> 38 & lookups[q].filter_mask] |= <uint64_t>1 << (h >> 32 & 63)
                put(lookups[q].table, lookups[q].mask, h, i)
            put(queries, power_above(2 * self.n_queries) - 1, hash_of(query_texts + q), q)
        self.encoded = encoded
        self.texts = texts
        self.query_texts = query_texts
        self.tables = tables
        self.queries = queries
        self.query_mask = power_above(2 * self.n_queries) - 1
        self.lookups = lookups


cdef int64_t power_above(int64_t n) noexcept nogil:
    """The smallest power of two above n."""
    cdef int64_t size = 1
    while size <= n:
        size *= 2
    return size


cdef void put(uint64_t* table, uint64_t mask, uint64_t h, int64_t position) noexcept nogil:
    cdef uint64_t slot = h & mask
    while table[slot] != 0:
        slot = (slot + 1) & mask
    table[slot] = (h >> 32 << 32) | <uint64_t>(position + 1)


cdef Text* borrow(list strings, list encoded):
    """The bytes of strings, which must outlive them; those that are not UTF-8 are encoded into the second list."""
    cdef Py_ssize_t i, length
    cdef bytes data
    cdef Text* texts = <Text*>malloc((len(strings) + 1) * sizeof(Text))
    if texts == NULL:
        return NULL
    for i in range(len(strings)):
        try:
            texts[i].start = PyUnicode_AsUTF8AndSize(strings[i], &length)
            texts[i].length = length
        except UnicodeEncodeError:
            data = encode(strings[i])
            encoded.append(data)
            texts[i].start = data
            texts[i].length = len(data)
    return texts


cdef int64_t find_query(Judged judged, const Text* query) noexcept nogil:
    """The position of a query id, or -1."""
    cdef uint64_t h = hash_of(query), slot = h & judged.query_mask, entry, low = 0xFFFFFFFF
    cdef int64_t position
    while True:
        entry = judged.queries[slot]
        if entry == 0:
            return -1
        position = <int64_t>(entry & low) - 1
        if entry >> 32 == h >> 32 and equal(judged.query_texts + position, query):
            return position
        slot = (slot + 1) & judged.query_mask
