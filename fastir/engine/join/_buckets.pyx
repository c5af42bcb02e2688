"""Buckets of words, and whether the hashes of a bucket are distinct.

Rows in any order are sorted out by pushing the words of each into one of many buckets: writing goes on in a few
hundred places, however many queries there are, and what lies in one bucket later fits in the cache. A bucket is a chain
of segments, so nothing is counted before, and segments are cut from large blocks:

    last ─▶ [ previous | words ... next ] ─▶ [ previous | words ] ─▶ NULL

Hashes go to buckets by some of their bits, so the buckets are about equal, and equal hashes meet. They are looked up in
a set by other bits. Two rows with one hash of 64 bits are nearly always one id twice; the caller looks.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from fastir.engine.columns._memory cimport large_malloc, prefetch
from fastir.engine.join._judged cimport MOST_PROBES
from fastir.engine.measure._codes cimport COLLISION, NO_MEMORY

cdef enum:
    AHEAD_WORDS = 16        # words that are fetched into the cache before they are looked up
    BLOCK_HEAD_BYTES = 64   # bytes of a block before its segments
    MIN_BLOCK_BYTES = 1 << 16
    MAX_BLOCK_BYTES = 1 << 22


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


cdef int clear_set(HashSet* seen, int64_t n) noexcept nogil:
    """Make the set empty, with room for n hashes; 0, or -1 without memory."""
    cdef int64_t size = 64
    while size < 4 * n:
        size *= 2
    if size > seen.capacity:
        free(seen.table)
        seen.table = <uint32_t*>malloc(size * sizeof(uint32_t))
        seen.capacity = 0 if seen.table == NULL else size
        if seen.table == NULL:
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
