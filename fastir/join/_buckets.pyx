"""Piles of words, and whether the hashes of a pile are distinct.

Rows in any order are sorted out by pushing what is known of each upon one of many piles: writing goes on in a few
hundred places, however many queries there are, and what lies upon one pile later fits in the cache. A pile is a chain
of sheaves, so that nobody has to count before, and sheaves are cut from large blocks:

    top ─▶ [ below | words ... next ] ─▶ [ below | words ] ─▶ NULL

Hashes are piled up by their highest bits, so the piles are about equal, and equal hashes meet. They are looked up in a
set by their lowest bits. Two rows with one hash of 64 bits are nearly always one id twice; the caller looks.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from fastir.columns._large cimport large_malloc
from fastir.columns._prefetch cimport prefetch
from fastir.join._judged cimport MOST_PROBES
from fastir.measure._codes cimport COLLISION, NO_MEMORY

cdef enum:
    AHEAD = 16          # words that are fetched into the cache before they are looked up
    BLOCK_HEAD = 64     # bytes of a block before its sheaves
    LEAST_BLOCK = 1 << 16
    MOST_BLOCK = 1 << 22


cdef int add_sheaf(Pile* pile, Store* store) noexcept nogil:
    """Put an empty sheaf on top; 0, or -1 without memory."""
    cdef uint64_t* sheaf
    if store.next == store.end and add_block(store) < 0:
        return -1
    sheaf = <uint64_t*>store.next
    store.next += SHEAF * sizeof(uint64_t)
    (<uint64_t**>sheaf)[0] = pile.top
    sheaf[1] = height(pile)
    pile.top, pile.next, pile.end = sheaf, sheaf + HEAD, sheaf + SHEAF
    return 0


cdef int add_block(Store* store) noexcept nogil:
    """Make room for sheaves, for twice as many as the last time; 0, or -1 without memory."""
    cdef int64_t sheaf = SHEAF * sizeof(uint64_t), size = min(max(2 * store.size, LEAST_BLOCK), MOST_BLOCK)
    cdef char* block = <char*>large_malloc(size)
    if block == NULL:
        return -1
    (<char**>block)[0] = store.block
    store.block, store.size = block, size
    store.next = block + BLOCK_HEAD
    store.end = store.next + (size - BLOCK_HEAD) // sheaf * sheaf
    return 0


cdef void free_store(Store* store) noexcept nogil:
    """Free what lies upon all piles of a store."""
    cdef char* block
    while store.block != NULL:
        block = store.block
        store.block = (<char**>block)[0]
        free(block)
    memset(store, 0, sizeof(Store))


cdef int clear_set(HashSet* known, int64_t n) noexcept nogil:
    """Make the set empty, with room for n hashes; 0, or -1 without memory."""
    cdef int64_t size = 64
    while size < 4 * n:
        size *= 2
    if size > known.capacity:
        free(known.table)
        known.table = <uint32_t*>malloc(size * sizeof(uint32_t))
        known.capacity = 0 if known.table == NULL else size
        if known.table == NULL:
            return -1
    known.mask = size - 1
    memset(known.table, 0, size * sizeof(uint32_t))
    return 0


cdef int add_pile(HashSet* known, const Pile* pile, Pile* repeated, Store* store) noexcept nogil:
    """add_all() of the hashes of a pile."""
    cdef int failed = 0
    cdef const uint64_t* sheaf = pile.top
    while sheaf != NULL and not failed:
        failed = add_all(known, sheaf + HEAD, words_of(pile, sheaf), repeated, store)
        sheaf = below(sheaf)
    return failed


cdef int add_all(HashSet* known, const uint64_t* hashes, int64_t n, Pile* repeated, Store* store) noexcept nogil:
    """Add hashes, and push those that were there before upon `repeated`; 0, NO_MEMORY or COLLISION."""
    cdef int64_t i, probes
    cdef uint64_t slot, mask = known.mask
    cdef uint32_t half
    cdef uint32_t* table = known.table
    for i in range(n):
        prefetch(table + (hashes[i + AHEAD if i + AHEAD < n else i] & mask))
        half = half_of(hashes[i])
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


cdef int stand_twice(HashSet* known, const uint64_t* hashes, int64_t n) noexcept nogil:
    """1 if one of n hashes may stand twice, 0 if none does, -1 without memory. The set is scratch."""
    cdef int64_t i, n_piles = 1
    cdef int failed = 0
    cdef Pile repeated
    cdef Pile* piles
    cdef Store store
    while n_piles * PILE_ROWS < n and n_piles < MOST_PILES:
        n_piles *= 2
    memset(&repeated, 0, sizeof(Pile))
    memset(&store, 0, sizeof(Store))
    piles = <Pile*>calloc(n_piles, sizeof(Pile))
    if piles == NULL:
        return -1
    for i in range(n):
        if push(piles + pile_of(hashes[i], n_piles), &store, hashes[i]) < 0:
            failed = NO_MEMORY
            break
    for i in range(n_piles):
        if not failed:
            failed = clear_set(known, height(piles + i))
        if not failed:
            failed = add_pile(known, piles + i, &repeated, &store)
    if repeated.top != NULL or failed == COLLISION:
        failed = 1
    elif failed:
        failed = -1
    free_store(&store)
    free(piles)
    return failed


cdef bint has(const HashSet* known, uint64_t h) noexcept nogil:
    """Whether a hash is in the set; one of some billions of others seems to be, too."""
    cdef uint64_t slot = h & known.mask
    cdef uint32_t half = half_of(h)
    while known.table[slot] != 0 and known.table[slot] != half:
        slot = (slot + 1) & known.mask
    return known.table[slot] == half
