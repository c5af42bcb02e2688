"""Parents: the documents that the ids of a run stand for, as a table from the bytes of an id to those of another.

    chunk ids    d1#0  d1#1  d2#0       columns of one length, copied
    documents    d1    d1    d2
    d1#0 ─ hash ─▶ table ─▶ entry: chunk, document, hash of the document

The rows of a query are replaced before they are judged: the hash that a join has made of each id finds the document,
whose own hash was made once. An id that is not in the table stays what it is. The rows of one document then become one
(_repeats), or all stay, and the first in rank order is judged (_join).

With many chunks each look-up waits for memory three times, for the slot, the entry and the bytes; the rows of a query
are looked up together, each step for all of them, so that they wait at the same time.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from fastir.columns._ids cimport Ids, read
from fastir.columns._prefetch cimport prefetch
from fastir.columns._text cimport Group, Text, equal, hash_of
from fastir.join._repeats cimport KEEP, MAX, MEAN, SUM, Repeats, find_repeats, merge_repeats

from fastir.columns._ids import of_arena
from fastir.errors import quote

RULES = {None: KEEP, "max": MAX, "sum": SUM, "mean": MEAN}


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
    ready : bool
        True: it is known without having seen a run.

    Raises
    ------
    ValueError
        A chunk has two documents.
    """

    def __init__(self, chunks, documents, aggregate):
        cdef Ids given = of_arena(chunks), targets = of_arena(documents)
        cdef int64_t i, j, n = len(given), size = 64
        cdef uint64_t h
        cdef Chunk* one
        self.chunks, self.documents, self.aggregate = chunks, documents, aggregate
        self.rule = RULES[aggregate]
        while size < 2 * n:
            size *= 2
        self.mask = <uint64_t>(size - 1)
        self.entries = <Chunk*>malloc((n + 1) * sizeof(Chunk))
        self.table = <uint64_t*>calloc(size, sizeof(uint64_t))
        if self.entries == NULL or self.table == NULL:
            raise MemoryError
        for i in range(n):
            read(&targets.column, i, 1, &self.entries[i].document)
            self.entries[i].hash = hash_of(&self.entries[i].document)
        self.share_bytes(n, size)
        for i in range(n):
            one = self.entries + i
            read(&given.column, i, 1, &one.chunk)
            h = hash_of(&one.chunk)
            j = self.find(&one.chunk, h)
            if j < 0:
                self.insert(h, i)
            elif self.entries[j].document.start != one.document.start:
                raise ValueError(f"parents: chunk {quote(chunks[i:i + 1][0])} has two documents, "
                                 f"{quote(documents[j:j + 1][0])} and {quote(documents[i:i + 1][0])}")

    def __dealloc__(self):
        free(self.entries)
        free(self.table)

    def __reduce__(self):
        return Parents, (self.chunks, self.documents, self.aggregate)

    ready = True    # without having seen a run

    def of(self, run):
        """The documents of the ids of a run: itself."""
        return self

    def __len__(self):
        return len(self.chunks)

    cdef share_bytes(self, int64_t n, int64_t size):
        """Let equal documents have their bytes in one place, so that they are known by it."""
        cdef int64_t i
        cdef uint64_t slot
        cdef int64_t* table = <int64_t*>calloc(size, sizeof(int64_t))
        if table == NULL:
            raise MemoryError
        for i in range(n):
            slot = self.entries[i].hash & self.mask
            while table[slot] != 0 and not (self.entries[table[slot] - 1].hash == self.entries[i].hash and equal(
                    &self.entries[table[slot] - 1].document, &self.entries[i].document)):
                slot = (slot + 1) & self.mask
            if table[slot] == 0:
                table[slot] = i + 1
            self.entries[i].document = self.entries[table[slot] - 1].document
        free(table)

    cdef void insert(self, uint64_t h, int64_t i) noexcept nogil:
        cdef uint64_t slot = h & self.mask, low = 0xFFFFFFFF
        while self.table[slot] != 0:
            slot = (slot + 1) & self.mask
        self.table[slot] = h & ~low | <uint64_t>(i + 1)

    cdef int64_t find(self, const Text* chunk, uint64_t h) noexcept nogil:
        """The entry of an id with hash h, or -1."""
        cdef uint64_t slot = h & self.mask, low = 0xFFFFFFFF
        cdef int64_t i
        while self.table[slot] != 0:
            if self.table[slot] >> 32 == h >> 32:
                i = <int64_t>(self.table[slot] & low) - 1
                if equal(&self.entries[i].chunk, chunk):
                    return i
            slot = (slot + 1) & self.mask
        return -1

    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil:
        """Give the rows of a group the ids of their documents, with their hashes."""
        cdef int64_t i, j
        cdef uint64_t entry, low = 0xFFFFFFFF
        for i in range(g.n):
            prefetch(<const char*>(self.table + (hashes[i] & self.mask)))
        for i in range(g.n):
            entry = self.table[hashes[i] & self.mask]
            if entry != 0:
                prefetch(<const char*>(self.entries + <int64_t>(entry & low) - 1))
        for i in range(g.n):
            entry = self.table[hashes[i] & self.mask]
            if entry != 0:
                prefetch(self.entries[<int64_t>(entry & low) - 1].chunk.start)
        for i in range(g.n):
            j = self.find(g.docs + i, hashes[i])
            if j >= 0:
                g.docs[i] = self.entries[j].document
                hashes[i] = self.entries[j].hash

    cdef int64_t merge(self, Group* g, uint64_t* hashes, Repeats* repeats) noexcept nogil:
        """Replace the rows of a group, and merge those of one document unless all stay.

        How many rows hold a document of an earlier one; or less than 0: a problem, with the sign changed.
        """
        cdef int64_t found
        cdef int failed
        self.replace(g, hashes)
        found = find_repeats(repeats, g, hashes)
        if found > 0 and self.rule != KEEP:
            failed = merge_repeats(repeats, g, hashes, self.rule)
            if failed:
                return -failed
        return found
