"""Parents: the documents that the ids of a run stand for, as a table from the bytes of an id to those of another.

    chunk ids    d1#0  d1#1  d2#0       columns of one length, copied
    documents    d1    d1    d2
    d1#0 ─ hash ─▶ table ─▶ record ─▶ document and its hash

The rows of a query are replaced before they are judged: the hash that a join has made of each id finds the document,
whose own hash was made once. An id that is not in the table stays what it is. The rows of one document then become one
(_repeats), or all stay, and the first in rank order is judged (_join).

With many chunks a look-up waits for memory three times, for the slot, for the record, which holds the bytes of the
chunk, and for the document; so the rows of a query are APART in each of these steps, and wait at the same time.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from fastir.columns._ids cimport Ids, read
from fastir.columns._prefetch cimport prefetch
from fastir.columns._text cimport Group, Text, equal, text_hash
from fastir.join._repeats cimport KEEP, MAX, MEAN, SUM, Repeats, find_repeats, merge_repeats

from fastir.columns._ids import ids_from_arena
from fastir.errors import quote

RULES = {None: KEEP, "max": MAX, "sum": SUM, "mean": MEAN}

cdef enum:
    APART = 32      # rows between two steps


cdef class Parents:
    """The documents of chunks.

    Parameters
    ----------
    chunks, documents : Arena
        Of one length.
    aggregate : None, "max", "sum" or "mean"
        What becomes of the scores of a document's rows; None: all rows stay.

    Attributes
    ----------
    is_table : bool
        True: it does not depend on a run.

    Raises
    ------
    ValueError
        A chunk has two documents.
    """

    def __init__(self, chunks, documents, aggregate):
        cdef Ids sources = ids_from_arena(chunks), targets = ids_from_arena(documents)
        cdef int64_t i, n = len(sources), size = 64, used = 0, n_documents = 0
        cdef uint64_t h, slot, low = 0xFFFFFFFF
        cdef Text chunk, document
        cdef const Chunk* earlier
        cdef Chunk* one
        self.chunks, self.documents, self.aggregate = chunks, documents, aggregate
        self.rule = RULES[aggregate]
        while size < 2 * n:
            size *= 2
        self.mask = <uint64_t>(size - 1)
        # arrays of NumPy, because it asks for large pages of memory
        table, numbers = np.zeros(size, np.uint64), np.zeros(size, np.int64)
        records = np.empty(n * (sizeof(Chunk) // 8 + 1) + int(chunks.lengths.sum()) // 8 + 1, np.int64)
        cdef uint64_t[::1] slots = table
        cdef int64_t[::1] words = records, places = numbers
        cdef int64_t[::1] distinct = np.empty((n + 1) * (sizeof(Document) // 8), np.int64)
        self.kept = [targets, table, records, distinct.base]
        self.table, self.records = &slots[0], <const char*>&words[0]
        self.distinct = <Document*>&distinct[0]
        for i in range(n):
            read(&sources.column, i, 1, &chunk)
            read(&targets.column, i, 1, &document)
            h = text_hash(&chunk)
            earlier = self.find(&chunk, h)
            number = self.number(&places[0], self.mask, n_documents, &document)
            n_documents += number == n_documents
            if earlier != NULL:
                if earlier.document != number:
                    first = self.distinct[earlier.document].text
                    raise ValueError(f"parents: chunk {quote(chunks[i:i + 1][0])} has two documents, "
                                     f"{quote(first.start[:first.length].decode('utf-8', 'surrogateescape'))} and "
                                     f"{quote(documents[i:i + 1][0])}")
                continue
            one = <Chunk*>&words[used]
            one.document, one.length = number, chunk.length
            memcpy(<char*>(one + 1), chunk.start, chunk.length)
            slot = h & self.mask
            while slots[slot] != 0:
                slot = (slot + 1) & self.mask
            slots[slot] = h & ~low | <uint64_t>(used + 1)
            used += sizeof(Chunk) // 8 + (chunk.length + 7) // 8

    def __reduce__(self):
        return Parents, (self.chunks, self.documents, self.aggregate)

    is_table = True  # it does not depend on a run

    def of(self, run):
        """The documents of the ids of a run: itself."""
        return self

    def __len__(self):
        return len(self.chunks)

    cdef int64_t number(self, int64_t* table, uint64_t mask, int64_t n, const Text* text) noexcept nogil:
        """The position of a document among n distinct ones; it becomes the last of them if it is new."""
        cdef uint64_t h = text_hash(text), slot = h & mask
        while table[slot] != 0:
            if self.distinct[table[slot] - 1].hash == h and equal(&self.distinct[table[slot] - 1].text, text):
                return table[slot] - 1
            slot = (slot + 1) & mask
        table[slot] = n + 1
        self.distinct[n].text, self.distinct[n].hash = text[0], h
        return n

    cdef const Chunk* find(self, const Text* chunk, uint64_t h) noexcept nogil:
        """The record of an id with hash h, or NULL."""
        cdef uint64_t slot = h & self.mask, low = 0xFFFFFFFF
        cdef const Chunk* one
        cdef Text text
        while self.table[slot] != 0:
            if self.table[slot] >> 32 == h >> 32:
                one = <const Chunk*>(self.records + 8 * (<int64_t>(self.table[slot] & low) - 1))
                text.start, text.length = <const char*>(one + 1), one.length
                if equal(&text, chunk):
                    return one
            slot = (slot + 1) & self.mask
        return NULL

    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil:
        """Give the rows of a group the ids of their documents, with their hashes."""
        cdef int64_t i, j
        cdef uint64_t entry, low = 0xFFFFFFFF
        cdef const Chunk* one
        cdef const Document* documents[APART]   # of the rows between the last two steps; NULL for none
        for i in range(g.n + 3 * APART):
            j = i - 3 * APART
            if j >= 0 and documents[j % APART] != NULL:
                g.docs[j], hashes[j] = documents[j % APART].text, documents[j % APART].hash
            j += APART
            if 0 <= j < g.n:
                one = self.find(g.docs + j, hashes[j])
                documents[j % APART] = NULL
                if one != NULL:     # never an address without memory
                    documents[j % APART] = self.distinct + one.document
                    prefetch(<const char*>(self.distinct + one.document))
                    prefetch(<const char*>(self.distinct + one.document + 1) - 1)
            j += APART
            if 0 <= j < g.n:
                entry = self.table[hashes[j] & self.mask]
                if entry != 0:
                    prefetch(self.records + 8 * (<int64_t>(entry & low) - 1))
            if i < g.n:
                prefetch(<const char*>(self.table + (hashes[i] & self.mask)))

    cdef int64_t merge(self, Group* g, uint64_t* hashes, Repeats* repeats) noexcept nogil:
        """Merge the rows of a group that hold one document, after replace(), unless all stay.

        How many rows hold a document of an earlier one; or less than 0: a problem, with the sign changed.
        """
        cdef int64_t n_repeats
        cdef int failed
        n_repeats = find_repeats(repeats, g, hashes)
        if n_repeats > 0 and self.rule != KEEP:
            failed = merge_repeats(repeats, g, hashes, self.rule)
            if failed:
                return -failed
        return n_repeats
