"""The join for rows with ids that are bytes, one query at a time, by any number of threads.

    rows of one query ─ hash ─┬─ duplicate?
                              └─ judged? ─▶ hits ─▶ _rank ─▶ _measure ─▶ the query's row of values

Every row's id is hashed once. The hash finds the judged documents (a filter first, then the query's table) and finds
duplicate ids: each row sets four bits in a word of a small bitmap, and only a ranking in which some row finds its
four bits already set is looked at again, with an exact table. A query's rows fit in the first-level cache; longer
rankings have a set of hashes instead (below), as such a bitmap would nearly always give an alarm.

A subclass puts the rows of one query into the Group of its Part and calls take(). Nothing else is kept, so memory does
not grow with the run; rows of values are disjoint, so threads need no order. A query that comes back after another
cannot be evaluated this way: `ungrouped` says so.
"""

cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memchr, memcpy, memset

from fastir.engine.columns._ids cimport Group, Ids, Text, compare, compare_decimal, equal, read, text_hash
from fastir.engine.columns._memory cimport large_malloc, prefetch
from fastir.engine.join._counts cimport Counts, count_excluded, count_low, count_order, count_ranking, count_repeats
from fastir.engine.join._judged cimport MOST_PROBES, Judged, QueryIndex, check_judged, find_judged, find_query
from fastir.engine.measure._codes cimport COLLISION, MISSING, NOT_SUMMED, NO_MEMORY, REPEATED
from fastir.engine.measure._measure cimport Judgments, Plan, label_code, measure
from fastir.engine.rank._rank cimport Hit, Ranking, discard, rank_and_measure, reserve

import numpy as np

from fastir.engine.columns._ids import ids_from_arena
from fastir.errors import quote


# ---- buckets of words, and whether the hashes of a bucket are distinct ----------------------------------------------

# Rows in any order are sorted out by pushing the words of each into one of many buckets: writing goes on in a few
# hundred places, however many queries there are, and what lies in one bucket later fits in the cache. A bucket is a
# chain of segments, so nothing is counted before, and segments are cut from large blocks:
#
#     last ─▶ [ previous | words ... next ] ─▶ [ previous | words ] ─▶ NULL
#
# Hashes go to buckets by some of their bits, so the buckets are about equal, and equal hashes meet. They are looked up
# in a set by other bits. Two rows with one hash of 64 bits are nearly always one id twice; the caller looks.

cdef enum:
    AHEAD_WORDS = 16        # words that are fetched into the cache before they are looked up
    BLOCK_HEAD_BYTES = 64   # bytes of a block before its segments
    MIN_BLOCK_BYTES = 1 << 16
    MAX_BLOCK_BYTES = 1 << 22


cdef inline uint32_t upper_half(uint64_t h) noexcept nogil:
    """What a set keeps of a hash, never 0."""
    return <uint32_t>(h >> 32) + (h >> 32 == 0)


cdef int add_segment(Bucket* bucket, Store* store) noexcept nogil:
    """Add an empty segment; 0, or -1 without memory."""
    cdef uint64_t* segment
    if store.next == store.end and add_block(store) < 0:
        return -1
    segment = <uint64_t*>store.next
    store.next += SEGMENT_WORDS * sizeof(uint64_t)
    (<uint64_t**>segment)[0] = bucket.last
    segment[1] = bucket_size(bucket)
    bucket.last, bucket.next, bucket.end = segment, segment + HEAD_WORDS, segment + SEGMENT_WORDS
    return 0


cdef int add_block(Store* store) noexcept nogil:
    """Make room for segments, for twice as many as the last time; 0, or -1 without memory."""
    cdef int64_t segment = SEGMENT_WORDS * sizeof(uint64_t)
    cdef int64_t size = min(max(2 * store.size, MIN_BLOCK_BYTES), MAX_BLOCK_BYTES)
    cdef char* block = <char*>large_malloc(size)
    if block == NULL:
        return -1
    (<char**>block)[0] = store.block
    store.block, store.size = block, size
    store.next = block + BLOCK_HEAD_BYTES
    store.end = store.next + (size - BLOCK_HEAD_BYTES) // segment * segment
    return 0


cdef void free_store(Store* store) noexcept nogil:
    """Free all buckets of a store."""
    cdef char* block
    while store.block != NULL:
        block = store.block
        store.block = (<char**>block)[0]
        free(block)
    memset(store, 0, sizeof(Store))


cdef inline int make_room(void** items, int64_t* capacity, int64_t needed, int64_t made, int64_t size) noexcept nogil:
    """Make room for `made` items if there is none for those needed; what was there is lost. 0, or -1 without memory."""
    if needed > capacity[0]:
        free(items[0])
        items[0] = malloc(made * size)
        capacity[0] = 0 if items[0] == NULL else made
    return 0 if needed <= capacity[0] else -1


cdef int clear_set(HashSet* seen, int64_t n) noexcept nogil:
    """Make the set empty, with room for n hashes; 0, or -1 without memory."""
    cdef int64_t size = 64
    while size < 4 * n:
        size *= 2
    if make_room(<void**>&seen.table, &seen.capacity, size, size, sizeof(uint32_t)) < 0:
        return -1
    seen.mask = size - 1
    memset(seen.table, 0, size * sizeof(uint32_t))
    return 0


cdef int add_bucket(HashSet* seen, const Bucket* bucket, Bucket* repeated, Store* store) noexcept nogil:
    """add_all() of the hashes of a bucket."""
    cdef int failed = 0
    cdef const uint64_t* segment = bucket.last
    while segment != NULL and not failed:
        failed = add_all(seen, segment + HEAD_WORDS, segment_size(bucket, segment), repeated, store)
        segment = previous(segment)
    return failed


cdef int add_all(HashSet* seen, const uint64_t* hashes, int64_t n, Bucket* repeated, Store* store) noexcept nogil:
    """Add hashes, and push those that were there before to `repeated`; 0, NO_MEMORY or COLLISION."""
    cdef int64_t i, probes
    cdef uint64_t slot, mask = seen.mask
    cdef uint32_t half
    cdef uint32_t* table = seen.table
    for i in range(n):
        prefetch(table + (hashes[i + AHEAD_WORDS if i + AHEAD_WORDS < n else i] & mask))
        half = upper_half(hashes[i])
        slot = hashes[i] & mask
        probes = 0
        while table[slot] != 0 and table[slot] != half:
            slot = (slot + 1) & mask
            probes += 1
            if probes > MOST_PROBES:
                return COLLISION
        if table[slot] == half and push(repeated, store, hashes[i]) < 0:
            return NO_MEMORY
        table[slot] = half
    return 0


cdef int may_have_duplicates(HashSet* seen, const uint64_t* hashes, int64_t n) noexcept nogil:
    """1 if there may be equal ones among n hashes, 0 if there are none, -1 without memory. The set is scratch."""
    cdef int64_t i, n_buckets = 1
    cdef int failed = 0
    cdef Bucket repeated
    cdef Bucket* buckets
    cdef Store store
    while n_buckets * BUCKET_HASHES < n and n_buckets < MAX_BUCKETS:
        n_buckets *= 2
    memset(&repeated, 0, sizeof(Bucket))
    memset(&store, 0, sizeof(Store))
    buckets = <Bucket*>calloc(n_buckets, sizeof(Bucket))
    if buckets == NULL:
        return -1
    for i in range(n):
        if push(buckets + bucket_number(hashes[i], n_buckets), &store, hashes[i]) < 0:
            failed = NO_MEMORY
            break
    for i in range(n_buckets):
        if not failed:
            failed = clear_set(seen, bucket_size(buckets + i))
        if not failed:
            failed = add_bucket(seen, buckets + i, &repeated, &store)
    if repeated.last != NULL or failed == COLLISION:
        failed = 1
    elif failed:
        failed = -1
    free_store(&store)
    free(buckets)
    return failed


cdef bint contains(const HashSet* seen, uint64_t h) noexcept nogil:
    """Whether a hash is in the set; one of some billions of others seems to be, too."""
    cdef uint64_t slot = h & seen.mask
    cdef uint32_t half = upper_half(h)
    while seen.table[slot] != 0 and seen.table[slot] != half:
        slot = (slot + 1) & seen.mask
    return seen.table[slot] == half


# ---- documents in several rows of one query -------------------------------------------------------------------------

# They are found by their hashes, and merged into one row each.
#
#     rows      0 a 9.0   1 b 8.0   2 a 7.0   3 a 6.0
#     first     0         1         0         0             the first row that holds the row's document
#     merged    a (9.0, or 22.0, or 7.33)   b 8.0
#
# A merged document has the position of its best row, so that with the largest score the order of documents is that of
# the ranking without its later copies, also where equal scores keep the order of the input. Scores are added up from
# the largest to the smallest: no order of the rows and no number of threads changes a bit.
#
# One exact table for each group that has repeats; a hash is compared first, then the address of the id, then its bytes.

cdef enum:                  # what becomes of a document's rows
    KEEP                    # all stay; the first in rank order is judged, the others are taken for unjudged
    MAX                     # one stays, with the largest score
    SUM                     # with the sum of the scores
    MEAN                    # with their mean


cdef struct Scored:
    double score
    int64_t first


cdef int falling_scores(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const Scored*>a).score, y = (<const Scored*>b).score
    return (x < y) - (x > y)


cdef inline bint same(const Text* x, const Text* y) noexcept nogil:
    return x.length == y.length and (x.start == y.start or equal(x, y))


cdef void forget_repeats(Repeats* r) noexcept nogil:
    free(r.table)
    free(r.first)


cdef int room(Repeats* r, int64_t n, int64_t size) noexcept nogil:
    """Make room for n rows and for a table of `size` slots, which is cleared; 0, or -1 without memory."""
    cdef int64_t m
    if make_room(<void**>&r.first, &r.capacity, n, n + n // 2 + 64, 3 * sizeof(int64_t) + sizeof(double)) < 0:
        return -1
    m = r.capacity
    r.best, r.counts, r.totals = r.first + m, r.first + 2 * m, <double*>(r.first + 3 * m)
    if make_room(<void**>&r.table, &r.table_capacity, size, size, sizeof(int64_t)) < 0:
        return -1
    memset(r.table, 0, size * sizeof(int64_t))
    return 0


cdef int64_t find_repeats(Repeats* r, const Group* g, const uint64_t* hashes) noexcept nogil:
    """Fill r.first; returns how many rows hold a document of an earlier row, or -1 without memory."""
    cdef int64_t i, j, size = 64, n_repeats = 0
    cdef uint64_t slot, mask
    while size < 2 * g.n:
        size *= 2
    if room(r, g.n, size) < 0:
        return -1
    mask = <uint64_t>(size - 1)
    for i in range(g.n):
        slot = hashes[i] & mask
        while r.table[slot] != 0:
            j = r.table[slot] - 1
            if hashes[j] == hashes[i] and same(g.docs + j, g.docs + i):
                break
            slot = (slot + 1) & mask
        if r.table[slot] == 0:
            r.table[slot] = i + 1
            r.first[i] = i
        else:
            r.first[i] = j
            n_repeats += 1
    return n_repeats


cdef int add_up(Repeats* r, const Group* g) noexcept nogil:
    """The sums of the scores of each document; 0, or -1 without memory."""
    cdef int64_t i
    cdef bint falling = True
    cdef Scored* order
    for i in range(g.n):
        r.totals[i] = 0
        r.counts[i] = 0
    for i in range(1, g.n):
        falling &= g.scores[i - 1] >= g.scores[i]
    if falling:
        for i in range(g.n):
            r.totals[r.first[i]] += g.scores[i]
            r.counts[r.first[i]] += 1
        return 0
    order = <Scored*>malloc((g.n + 1) * sizeof(Scored))
    if order == NULL:
        return -1
    for i in range(g.n):
        order[i].score, order[i].first = g.scores[i], r.first[i]
    qsort(order, g.n, sizeof(Scored), falling_scores)
    for i in range(g.n):
        r.totals[order[i].first] += order[i].score
        r.counts[order[i].first] += 1
    free(order)
    return 0


cdef int merge_repeats(Repeats* r, Group* g, uint64_t* hashes, int rule) noexcept nogil:
    """Leave one row of each document, after find_repeats() found some; 0, or its problem.

    NOT_SUMMED means that infinite scores have no sum; the first row of the document is then the only one left.
    """
    cdef int64_t i, first, n = 0
    cdef double score
    for i in range(g.n):
        first = r.first[i]
        if first == i or g.scores[i] > g.scores[r.best[first]]:
            r.best[first] = i
    if rule != MAX and add_up(r, g) < 0:
        return NO_MEMORY
    for i in range(g.n):
        first = r.first[i]
        if r.best[first] != i:
            continue
        score = g.scores[i]
        if rule != MAX:
            score = r.totals[first] / (r.counts[first] if rule == MEAN else 1)
        g.docs[n] = g.docs[i]
        g.scores[n] = score
        hashes[n] = hashes[i]
        n += 1
        if score != score:
            g.docs[0] = g.docs[i]
            return NOT_SUMMED
    g.n = n
    return 0


# ---- the documents of the ids of a run ------------------------------------------------------------------------------

# A table from the bytes of an id to the bytes of another.
#
#     chunk ids    d1#0  d1#1  d2#0       columns of one length, copied
#     documents    d1    d1    d2
#     d1#0 ─ hash ─▶ slot, with the bytes of the id ─▶ document and its hash
#
# The rows of a query are replaced before they are judged: the hash that a join has made of each id finds the document,
# whose own hash was made once. An id that is not in the table stays what it is. The rows of one document then become
# one (above), or all stay, and the first in rank order is judged (below).
#
# With many chunks a look-up waits for memory twice, for the slot and for the document; so the rows of a query are APART
# in these steps, and wait at the same time. A slot holds the bytes of ids of usual length: records beside the table
# were a third address to wait for, and 10^6 look-ups among 10^6 chunks took twice as long.

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
    """The documents of chunks, two Arenas of one length; ValueError if a chunk has two documents.

    `aggregate` says what becomes of the scores of a document's rows; None: all rows stay.
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


# ---- one query at a time ---------------------------------------------------------------------------------------------
cdef enum:
    BITMAP = 1 << 11        # rows up to which a bitmap nearly always tells whether two are equal; more have a set
    PROBES_PER_ROW = 32     # on average, in a table at most half full: by chance it is less than one


cdef int compare_texts(const void* a, const void* b) noexcept nogil:
    return compare(<const Text*>a, <const Text*>b)


cdef int compare_integers(const void* a, const void* b) noexcept nogil:
    return compare_decimal((<const int64_t*>(<const Text*>a).start)[0], (<const int64_t*>(<const Text*>b).start)[0])


# ---- duplicate ids -----------------------------------------------------------------------------------------------
cdef void forget(Seen* seen) noexcept nogil:
    free(seen.hashes)
    free(seen.table)
    free(seen.rows)
    free(seen.hash_set.table)


cdef int hash_group(Seen* seen, const Group* g) noexcept nogil:
    """Hash the ids of a group; 0, or -1 without memory."""
    cdef int64_t i, n = g.n
    if make_room(<void**>&seen.hashes, &seen.capacity, n + 1, n + n // 2 + 64, sizeof(uint64_t)) < 0:
        return -1
    for i in range(n):
        seen.hashes[i] = text_hash(g.docs + i)
    return 0


cdef int may_repeat(Seen* seen, const uint64_t* hashes, int64_t n) noexcept nogil:
    """1 if n ids may have duplicates by their hashes, 0 if they have none, -1 without memory."""
    cdef int64_t i, size = 64
    cdef uint64_t h, bits, twice = 0
    if n > BITMAP:
        return may_have_duplicates(&seen.hash_set, hashes, n)
    while size < n:
        size *= 2
    if make_room(<void**>&seen.table, &seen.table_capacity, size, size, sizeof(uint64_t)) < 0:
        return -1
    memset(seen.table, 0, size * sizeof(uint64_t))
    for i in range(n):
        h = hashes[i]
        bits = (<uint64_t>1 << (h >> 40 & 63) | <uint64_t>1 << (h >> 46 & 63) | <uint64_t>1 << (h >> 52 & 63)
                | <uint64_t>1 << (h >> 58))
        h &= <uint64_t>(size - 1)
        twice |= <uint64_t>(seen.table[h] & bits == bits)
        seen.table[h] |= bits
    return twice != 0


cdef int find_repeated(Seen* seen, const Group* g, int64_t start) noexcept nogil:
    """Look for a row, from `start` on, with the id of an earlier one.

    1 and seen.first, seen.later; 0 if there is none; -1 without memory. Where hashes collide more than they do by
    chance, the rows are sorted instead.
    """
    cdef int64_t i, j, size = 4, probes = 0
    cdef int is_repeated = 0
    cdef uint64_t slot
    cdef int64_t* table
    while size < 2 * g.n:
        size *= 2
    table = <int64_t*>calloc(size, sizeof(int64_t))
    if table == NULL:
        return -1
    for i in range(g.n):
        slot = seen.hashes[i] & <uint64_t>(size - 1)
        while table[slot] != 0:
            j = table[slot] - 1
            if seen.hashes[j] == seen.hashes[i] and equal(g.docs + j, g.docs + i):
                break
            slot = (slot + 1) & <uint64_t>(size - 1)
            probes += 1
        if table[slot] == 0:
            table[slot] = i + 1
        elif i >= start:
            seen.first = table[slot] - 1
            seen.later = i
            is_repeated = 1
            break
        if probes > PROBES_PER_ROW * (g.n + 64):
            free(table)
            return find_repeated_in_order(seen, g, start)
    free(table)
    return is_repeated


cdef struct Placed:             # an id and its row
    Text text
    int64_t hash, row


cdef int by_id_and_row(const void* a, const void* b) noexcept nogil:
    cdef const Placed* x = <const Placed*>a
    cdef const Placed* y = <const Placed*>b
    cdef int c = (x.hash > y.hash) - (x.hash < y.hash)
    c = c if c else compare(&x.text, &y.text)
    return c if c else (x.row > y.row) - (x.row < y.row)


cdef int find_repeated_in_order(Seen* seen, const Group* g, int64_t start) noexcept nogil:
    """find_repeated() by sorting."""
    cdef int64_t i, first = 0
    cdef int is_repeated = 0
    cdef Placed* rows = <Placed*>malloc((g.n + 1) * sizeof(Placed))
    if rows == NULL:
        return -1
    for i in range(g.n):
        rows[i] = Placed(g.docs[i], <int64_t>seen.hashes[i], i)
    qsort(rows, g.n, sizeof(Placed), by_id_and_row)
    for i in range(1, g.n):
        if rows[i].hash != rows[first].hash or not equal(&rows[i].text, &rows[first].text):
            first = i
        elif rows[i].row >= start and not (is_repeated and seen.later < rows[i].row):
            seen.first, seen.later = rows[first].row, rows[i].row
            is_repeated = 1
    free(rows)
    return is_repeated


cdef int clear_rows(Seen* seen, int64_t n) noexcept nogil:
    """Forget which rows hold the n judged documents; 0, or -1 without memory."""
    if make_room(<void**>&seen.rows, &seen.rows_capacity, n + 1, n + n // 2 + 64, sizeof(int64_t)) < 0:
        return -1
    memset(seen.rows, 0, n * sizeof(int64_t))
    return 0


# ---- queries -----------------------------------------------------------------------------------------------------
cdef int note_query(Part* part, int64_t place) noexcept nogil:
    cdef void* p
    if part.n == part.capacity:
        p = realloc(part.queries, (2 * part.n + 64) * sizeof(Text))
        if p == NULL:
            return -1
        part.queries = <Text*>p
        p = realloc(part.places, (2 * part.n + 64) * sizeof(int64_t))
        if p == NULL:
            return -1
        part.places = <int64_t*>p
        part.capacity = 2 * part.n + 64
    part.queries[part.n] = part.group.query
    part.places[part.n] = place
    part.n += 1
    return 0


cdef class JoinRules:
    """The rules by which runs are joined with qrels and measured.

    single          scores are compared as float32
    only_judged     duplicates are looked for only among judged documents
    once            duplicates are allowed: the first of the rows in rank order is judged, the others count as unjudged
    removes         of duplicates in a list without scores the first is left; else an error, except under `once`
    parents         Parents or None: the documents of the ids, which are then text
    excluded        Judged or None: documents of the queries of the qrels, in their order; their rows leave the rankings
    least           the least score that is retrieved, also where scores are float32; rows below it leave the rankings
    """

    cdef Judged judged, excluded
    cdef Plan plan
    cdef int ties
    cdef public Parents parents
    cdef public bint single, only_judged, once, removes
    cdef double least

    def __init__(self, Judged judged, Plan plan, int ties, bint single, bint only_judged, bint once, Parents parents,
                 Judged excluded, double least):
        check_judged(plan, judged)
        self.judged, self.plan, self.ties, self.single = judged, plan, ties, single
        self.only_judged, self.once, self.parents, self.excluded = only_judged, once, parents, excluded
        self.least = least


cdef class Join:
    """Evaluates groups of rows as they come: fills `values` of shape (n_queries, n_slots), and `status` with MISSING.

    `ungrouped` says that a query came back after another; `unknown_queries` is {query id as bytes: number of its
    block}.
    """

    def __init__(self, JoinRules rules, values, status, int n_threads, bint integers):
        cdef int t
        cdef Counts counts
        self.judged, self.plan, self.ties, self.single = rules.judged, rules.plan, rules.ties, rules.single
        self.only_judged, self.once, self.removes = rules.only_judged, rules.once, rules.removes
        self.parents, self.excluded, self.least = rules.parents, rules.excluded, rules.least
        self.n_threads, self.integers = n_threads, integers
        self.index = self.judged.index(integers)
        # memoryviews would take as long as a query of ten documents
        PyObject_GetBuffer(values, &self.value_buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)
        PyObject_GetBuffer(status, &self.status_buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)
        self.values = <double*>self.value_buffer.buf
        self.status = <unsigned char*>self.status_buffer.buf
        if self.excluded is not None:
            self.excluded_index = self.excluded.index(integers)
        self.unknown_queries = {}
        self.parts = <Part*>calloc(n_threads, sizeof(Part))
        self.met = <unsigned char*>calloc(self.judged.n_queries + 1, 1)
        if self.parts == NULL or self.met == NULL:
            raise MemoryError
        for t in range(n_threads):
            counts = Counts()
            Py_INCREF(counts)
            self.parts[t].counts = <PyObject*>counts

    def __dealloc__(self):
        cdef int t
        if self.parts != NULL:
            for t in range(self.n_threads):
                discard(&self.parts[t].ranking)
                forget(&self.parts[t].seen)
                forget_repeats(&self.parts[t].repeats)
                free(self.parts[t].group.docs)
                free(self.parts[t].group.scores)
                free(self.parts[t].queries)
                free(self.parts[t].places)
                Py_XDECREF(self.parts[t].counts)
        free(self.parts)
        free(self.met)
        PyBuffer_Release(&self.value_buffer)
        PyBuffer_Release(&self.status_buffer)

    cdef int take(self, Part* part, const QueryIndex* queries) noexcept nogil:
        """Judge the group and note its query, which is looked up in `queries`; returns the value for part.failed."""
        cdef Group* g = &part.group
        cdef int64_t q
        cdef int twice = 0
        if hash_group(&part.seen, g) < 0:
            return NO_MEMORY
        if not self.only_judged and not self.once:
            twice = may_repeat(&part.seen, part.seen.hashes, g.n)
            if twice > 0:
                twice = find_repeated(&part.seen, g, 0)
            if twice:
                return REPEATED if twice > 0 else NO_MEMORY
        q = find_query(queries, &g.query)
        if note_query(part, q) < 0:
            return NO_MEMORY
        if q < 0:
            return 0
        if self.once and self.parents is None and not self.only_judged and self.count_again(part, q) < 0:
            return NO_MEMORY
        return self.judge(part, q)

    cdef int count_again(self, Part* part, int64_t q) noexcept nogil:
        """Count the rows that repeat the document of an earlier one; 0, or -1 without memory."""
        cdef int64_t twice = may_repeat(&part.seen, part.seen.hashes, part.group.n)
        if twice > 0:
            twice = find_repeats(&part.repeats, &part.group, part.seen.hashes)
        if twice > 0:
            count_repeats(<Counts>part.counts, q, twice)
        return -1 if twice < 0 else 0

    cdef void leave_out(self, Part* part, int64_t q) noexcept nogil:
        """Take the rows of excluded documents out of the group, which is hashed."""
        cdef Group* g = &part.group
        cdef int64_t i, n = 0, first = self.excluded.offsets[q]
        if first == self.excluded.offsets[q + 1]:
            return
        for i in range(g.n):
            if find_judged(self.excluded_index, q, first, g.docs + i, part.seen.hashes[i]) < 0:
                g.docs[n], g.scores[n], part.seen.hashes[n] = g.docs[i], g.scores[i], part.seen.hashes[i]
                n += 1
        if n < g.n:
            count_excluded(<Counts>part.counts, q, g.n - n)
            g.n = n

    cdef void leave_low(self, Part* part, int64_t q) noexcept nogil:
        """Take the rows with low scores out of the group, which is hashed."""
        cdef Group* g = &part.group
        cdef int64_t i, n = 0
        while n < g.n and g.scores[n] >= self.least:
            n += 1
        for i in range(n, g.n):
            if g.scores[i] >= self.least:
                g.docs[n], g.scores[n], part.seen.hashes[n] = g.docs[i], g.scores[i], part.seen.hashes[i]
                n += 1
        count_low(<Counts>part.counts, q, g.n - n)
        g.n = n

    cdef int judge(self, Part* part, int64_t q) noexcept nogil:
        """Fill the values of query q from the group, which is hashed; returns the value for part.failed."""
        cdef Group* g = &part.group
        cdef Ranking* r = &part.ranking
        cdef Seen* seen = &part.seen
        cdef int64_t i, j, n_hits = 0, n_found = 0, repeated = 0, again = 0
        cdef Hit* hit
        cdef int64_t first = self.judged.offsets[q], n = self.judged.offsets[q + 1] - first
        cdef int64_t wanted = self.judged.n_read(self.plan.reads, q)
        cdef bint tied, noted = self.only_judged or self.once
        # Chunks become documents before documents are excluded, as exclusions have documents' ids. Rows are merged
        # last, so that an excluded row is not counted as a repeat.
        if self.parents is not None:
            self.parents.replace(g, seen.hashes)
        if self.excluded is not None:
            self.leave_out(part, q)
        if self.least > -INFINITY:
            self.leave_low(part, q)
        if self.parents is not None:
            repeated = self.parents.merge(g, seen.hashes, &part.repeats)
            if repeated < 0:
                return <int>-repeated
            if repeated > 0:
                count_repeats(<Counts>part.counts, q, repeated)
        if reserve(r, self.plan, g.n, n) < 0 or noted and clear_rows(seen, n) < 0:
            return NO_MEMORY
        if self.single:     # in place: the group is scratch
            for i in range(g.n):
                g.scores[i] = <double><float>g.scores[i]
        for i in range(g.n):
            j = find_judged(self.index, q, first, g.docs + i, seen.hashes[i])
            if j >= 0:
                if noted:       # seen.rows has the document's row + 1, under `once` its hit + 1
                    if seen.rows[j] and not self.once:
                        seen.first = seen.rows[j] - 1
                        seen.later = i
                        return REPEATED
                    if seen.rows[j]:
                        again += 1
                        hit = r.hits + seen.rows[j] - 1
                        # the first of the rows in rank order is the hit: a later one only with a larger score
                        if j < wanted and g.scores[i] > hit.score:
                            hit.score, hit.item, hit.row = g.scores[i], g.docs + i, i
                        continue
                    seen.rows[j] = (n_hits if self.once else i) + 1
                n_found += 1
                if j < wanted:
                    r.hits[n_hits].score = g.scores[i]
                    r.hits[n_hits].item = g.docs + i
                    r.hits[n_hits].row = i
                    r.hits[n_hits].label = label_code(self.judged.labels[first + j])
                    n_hits += 1
        count_ranking(<Counts>part.counts, q, g.n, n_found)
        if again > 0 and self.only_judged and self.parents is None:
            count_repeats(<Counts>part.counts, q, again)
        tied = rank_and_measure(self.plan, r, g.scores, <const char*>g.docs, sizeof(Text), g.n, n_hits,
                                compare_integers if self.integers else compare_texts, self.ties,
                                self.judged.judgments(q), self.values + q * self.plan.n_slots)
        count_order(<Counts>part.counts, q, g.scores, g.n, n_hits, tied)
        return 0

    cdef int judge_list(self, Part* part, int64_t q) noexcept nogil:
        """Judge the group, a list; its copies are removed, left or refused. Returns the value for part.failed."""
        cdef Group* g = &part.group
        cdef int64_t twice = 0
        if hash_group(&part.seen, g) < 0:
            return NO_MEMORY
        if self.parents is None or not self.removes and not self.once:
            twice = may_repeat(&part.seen, part.seen.hashes, g.n)
        if twice > 0 and not self.removes and not self.once:
            twice = find_repeated(&part.seen, g, 0)
            if twice > 0:
                return REPEATED
        elif twice > 0:
            twice = find_repeats(&part.repeats, g, part.seen.hashes)
            if twice > 0:
                count_repeats(<Counts>part.counts, q, twice)
                if self.removes:
                    merge_repeats(&part.repeats, g, part.seen.hashes, MAX)
        return NO_MEMORY if twice < 0 else self.judge(part, q)

    cdef meet(self, Part* part, int64_t number, bint integers):
        """Note the queries that a part took from block `number`; one that was met before makes the rows ungrouped."""
        cdef int64_t i
        with cython.critical_section(self):
            for i in range(part.n):
                if part.places[i] >= 0:
                    if self.met[part.places[i]]:
                        self.ungrouped = True
                    self.met[part.places[i]] = 1
                else:
                    query = query_bytes(part.queries + i, integers)
                    if query in self.unknown_queries:
                        self.ungrouped = True
                    self.unknown_queries[query] = number
        part.n = 0

    def rows_met(self):
        """The positions in the qrels of the queries that were met, rising."""
        cdef const unsigned char* stop = self.met + self.judged.n_queries
        cdef const unsigned char* place = <const unsigned char*>memchr(self.met, 1, stop - self.met)
        cdef list rows = []
        while place != NULL:
            rows.append(place - self.met)
            place += 1
            place = <const unsigned char*>memchr(place, 1, stop - place)
        return rows

    def finish(self, list rows=None):
        """Fill the rows of queries that are missing from the run, of all or at these positions; returns the Counts."""
        cdef Judged judged = self.judged
        cdef Judgments judgments
        cdef Counts total = Counts()
        cdef int64_t i, q
        cdef int t
        for i in range(judged.n_queries if rows is None else len(rows)):
            q = i if rows is None else rows[i]
            if not self.met[q]:
                if reserve(&self.parts[0].ranking, self.plan, 0, judged.offsets[q + 1] - judged.offsets[q]) < 0:
                    raise MemoryError
                self.status[q] = MISSING
                judgments = judged.judgments(q)
                measure(self.plan, &self.parts[0].ranking.measured, 0, 0, &judgments,
                        self.values + q * self.plan.n_slots)
        for t in range(self.n_threads):
            total.add(<Counts>self.parts[t].counts)
        return total


cdef not_summed(const Group* g, query):
    """The error for infinite scores that have no sum, after merge_repeats() met them."""
    doc = g.docs[0].start[:g.docs[0].length].decode("utf-8", "surrogateescape")
    return ValueError(f"run: aggregate: the scores of document {quote(doc)} are infinite and of both signs, "
                      f"they have no sum (query {query})")


cdef bytes query_bytes(const Text* query, bint integers):
    """A query id as in a file."""
    if integers:
        return b"%d" % (<const int64_t*>query.start)[0]
    return query.start[:query.length]
