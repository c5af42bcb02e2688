# Words in piles, and sets of hashes.
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    HEAD = 2            # words of a sheaf before those of the pile: where the sheaf below lies, the words up to there
    SHEAF = 1024        # words of a sheaf
    PILE_ROWS = 1 << 13 # hashes upon a pile, about, so that its set fits in the second-level cache
    MOST_PILES = 512    # writing to more places than this at a time is slow


cdef struct Store:      # the sheaves of some piles of one thread; they are freed together
    char* next          # where the next sheaf begins
    char* end           # of the block that it is taken from
    char* block         # begins with the place of the block before; NULL if there is none
    int64_t size        # of the block


cdef struct Pile:       # words that belong together, pushed one by one by one thread
    uint64_t* next      # where the next word goes
    uint64_t* end       # of the sheaf on top
    uint64_t* top       # NULL if there is none


cdef struct HashSet:    # the upper halves of hashes, by open addressing; 0 is free
    uint32_t* table
    uint64_t mask
    int64_t capacity    # of table


cdef int add_sheaf(Pile* pile, Store* store) noexcept nogil
cdef void free_store(Store* store) noexcept nogil
cdef int clear_set(HashSet* known, int64_t n) noexcept nogil
cdef int add_pile(HashSet* known, const Pile* pile, Pile* repeated, Store* store) noexcept nogil
cdef int stand_twice(HashSet* known, const uint64_t* hashes, int64_t n) noexcept nogil
cdef bint has(const HashSet* known, uint64_t h) noexcept nogil


cdef inline int push(Pile* pile, Store* store, uint64_t word) noexcept nogil:
    """Put a word upon a pile of this store; 0, or -1 without memory."""
    if pile.next == pile.end and add_sheaf(pile, store) < 0:
        return -1
    pile.next[0] = word
    pile.next += 1
    return 0


cdef inline uint64_t pile_of(uint64_t h, int64_t n_piles) noexcept nogil:
    """The pile of a hash among n, a power of two: by bits that neither half_of() nor a place in a set tells."""
    return h >> 20 & <uint64_t>(n_piles - 1)


cdef inline int64_t words_of(const Pile* pile, const uint64_t* sheaf) noexcept nogil:
    """How many words one of its sheaves holds, which begin at sheaf + HEAD."""
    return (pile.next - sheaf if sheaf == pile.top else SHEAF) - HEAD


cdef inline int64_t height(const Pile* pile) noexcept nogil:
    """How many words lie upon a pile."""
    return 0 if pile.top == NULL else <int64_t>pile.top[1] + words_of(pile, pile.top)


cdef inline const uint64_t* below(const uint64_t* sheaf) noexcept nogil:
    """The sheaf under another, or NULL."""
    return (<const uint64_t**>sheaf)[0]


cdef inline uint32_t half_of(uint64_t h) noexcept nogil:
    """What a set keeps of a hash, never 0."""
    return <uint32_t>(h >> 32) + (h >> 32 == 0)
