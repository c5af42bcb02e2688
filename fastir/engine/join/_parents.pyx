"""Parents: the documents of the ids of a run, as a table from the bytes of an id to the bytes of another.

    chunk ids    d1#0  d1#1  d2#0       columns of one length, copied
    documents    d1    d1    d2
    d1#0 ─ hash ─▶ slot, with the bytes of the id ─▶ document and its hash

The rows of a query are replaced before they are judged: the hash that a join has made of each id finds the document,
whose own hash was made once. An id that is not in the table stays what it is. The rows of one document then become one
(_repeats), or all stay, and the first in rank order is judged (_join).

With many chunks a look-up waits for memory twice, for the slot and for the document; so the rows of a query are APART
in these steps, and wait at the same time. A slot holds the bytes of ids of usual length: records beside the table were
a third address to wait for, and 10^6 look-ups among 10^6 chunks took twice as long.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from fastir.engine.columns._ids cimport Ids, read
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._text cimport Group, Text, equal, text_hash
from fastir.engine.join._repeats cimport KEEP, MAX, MEAN, SUM, Repeats, find_repeats, merge_repeats

from fastir.engine.columns._ids import ids_from_arena
from fastir.errors import quote

RULES = {None: KEEP, "max": MAX, "sum": SUM, "mean": MEAN}

cdef enum:
    APART = 32      # rows between two steps
    LONG = HELD + 1
    LINE = 64       # bytes of a line of the cache


cdef inline Chunk* slot_in_line(Chunk* line, const Text* chunk, uint64_t h) noexcept nogil:
    """The slot of an id with hash h, or the first free one, among the two of a line; NULL if others have both."""
    cdef Chunk* one = line
    cdef Document of_slot
    while one < line + 2:
        if one.document == 0:
            return one
        if one.length == LONG:          # which says nothing of the length: the slot holds a Document
            memcpy(&of_slot, one.bytes, HELD)
            if of_slot.hash == h and equal(&of_slot.text, chunk):
                return one
        elif one.length == chunk.length:
            of_slot.text.start, of_slot.text.length = one.bytes, one.length
            if equal(&of_slot.text, chunk):
                return one
        one += 1
    return NULL


cdef char* whole_lines(unsigned char[::1] room) noexcept:
    """Where the first line of the cache begins in an array."""
    return <char*>&room[-<int64_t><size_t>&room[0] & LINE - 1]


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
        cdef int64_t i, number, n = len(sources), size = 64, n_documents = 0
        cdef uint64_t h
        cdef Text chunk, document
        cdef Document long_id
        cdef Chunk* one
        self.chunks, self.documents, self.aggregate = chunks, documents, aggregate
        self.rule = RULES[aggregate]
        while size < 2 * n:
            size *= 2
        self.mask = <uint64_t>(size - 2)
        # arrays of NumPy, because it asks for large pages of memory
        table, numbers = np.zeros(size * sizeof(Chunk) + LINE, np.uint8), np.zeros(size, np.int64)
        distinct = np.empty((n + 1) * sizeof(Document) + LINE, np.uint8)
        cdef int64_t[::1] places = numbers
        self.kept = [sources, targets, table, distinct]
        self.table, self.distinct = <Chunk*>whole_lines(table), <Document*>whole_lines(distinct)
        for i in range(n):
            read(&sources.column, i, 1, &chunk)
            read(&targets.column, i, 1, &document)
            h = text_hash(&chunk)
            number = self.number(&places[0], self.mask | 1, n_documents, &document)
            n_documents += number == n_documents
            one = self.slot(&chunk, h)
            if one.document != 0:
                if one.document != number + 1:
                    first = self.distinct[one.document - 1].text
                    raise ValueError(f"parents: chunk {quote(chunks[i:i + 1][0])} has two documents, "
                                     f"{quote(first.start[:first.length].decode('utf-8', 'surrogateescape'))} and "
                                     f"{quote(documents[i:i + 1][0])}")
                continue
            one.document, one.length = <uint32_t>(number + 1), <uint32_t>min(chunk.length, <int64_t>LONG)
            if one.length < LONG:
                memcpy(one.bytes, chunk.start, chunk.length)
            else:
                long_id.text, long_id.hash = chunk, h
                memcpy(one.bytes, &long_id, HELD)

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

    cdef Chunk* slot(self, const Text* chunk, uint64_t h) noexcept nogil:
        """The slot of an id with hash h, or the free one where it belongs."""
        cdef uint64_t line = h & self.mask
        cdef Chunk* one = slot_in_line(self.table + line, chunk, h)
        while one == NULL:
            line = (line + 2) & self.mask
            one = slot_in_line(self.table + line, chunk, h)
        return one

    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil:
        """Give the rows of a group the ids of their documents, with their hashes."""
        cdef int64_t i, j
        cdef uint64_t line
        cdef Chunk* one
        cdef Chunk* slots[APART]                # of the rows between the second step and the third; NULL if the line
        cdef const Document* document           # of its hash has not told
        cdef const Document* documents[APART]   # of the rows between the last two steps; NULL for none
        for i in range(g.n + 3 * APART):
            j = i - 3 * APART
            if j >= 0 and documents[j % APART] != NULL:
                g.docs[j], hashes[j] = documents[j % APART].text, documents[j % APART].hash
            j += APART
            if 0 <= j < g.n:
                one = slots[j % APART]
                if one == NULL:
                    one = self.slot(g.docs + j, hashes[j])
                document = NULL
                if one.document != 0:           # never ask for an address without memory
                    document = self.distinct + one.document - 1
                    prefetch(<const char*>document)
                documents[j % APART] = document
            j += APART
            if 0 <= j < g.n:
                line = hashes[j] & self.mask
                slots[j % APART] = slot_in_line(self.table + line, g.docs + j, hashes[j])
                if slots[j % APART] == NULL:
                    prefetch(<const char*>(self.table + (line + 2 & self.mask)))
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
