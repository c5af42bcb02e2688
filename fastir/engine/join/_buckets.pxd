# Words in buckets, and sets of hashes.
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    HEAD_WORDS = 2          # words of a segment before those of the bucket: the previous segment, the words up to there
    SEGMENT_WORDS = 1024    # words of a segment
    BUCKET_HASHES = 1 << 13 # hashes of a bucket, about, so that its set fits in the second-level cache
    MAX_BUCKETS = 512       # writing to more addresses than this at a time is slow


cdef struct Store:      # the segments of some buckets of one thread; they are freed together
    char* next          # where the next segment begins
    char* end           # of the block that it is taken from
    char* block         # begins with the address of the block before; NULL if there is none
    int64_t size        # of the block


cdef struct Bucket:     # words that belong together, pushed one by one by one thread
    uint64_t* next      # where the next word goes
    uint64_t* end       # of the last segment
    uint64_t* last      # segment; NULL if there is none


cdef struct HashSet:    # the upper halves of hashes, by open addressing; 0 is free
    uint32_t* table
    uint64_t mask
    int64_t capacity    # of table


cdef int add_segment(Bucket* bucket, Store* store) noexcept nogil
cdef void free_store(Store* store) noexcept nogil
cdef int clear_set(HashSet* seen, int64_t n) noexcept nogil
cdef int add_bucket(HashSet* seen, const Bucket* bucket, Bucket* repeated, Store* store) noexcept nogil
cdef int may_have_duplicates(HashSet* seen, const uint64_t* hashes, int64_t n) noexcept nogil
cdef bint contains(const HashSet* seen, uint64_t h) noexcept nogil


cdef inline int push(Bucket* bucket, Store* store, uint64_t word) noexcept nogil:
    """Put a word into a bucket of this store; 0, or -1 without memory."""
    if bucket.next == bucket.end and add_segment(bucket, store) < 0:
        return -1
    bucket.next[0] = word
    bucket.next += 1
    return 0


cdef inline uint64_t bucket_number(uint64_t h, int64_t n_buckets) noexcept nogil:
    """The bucket of a hash among n, a power of two: by bits that neither upper_half() nor a position in a set uses."""
    return h >> 20 & <uint64_t>(n_buckets - 1)


cdef inline int64_t segment_size(const Bucket* bucket, const uint64_t* segment) noexcept nogil:
    """How many words one of its segments holds, which begin at segment + HEAD_WORDS."""
    return (bucket.next - segment if segment == bucket.last else SEGMENT_WORDS) - HEAD_WORDS


cdef inline int64_t bucket_size(const Bucket* bucket) noexcept nogil:
    """How many words a bucket holds."""
    return 0 if bucket.last == NULL else <int64_t>bucket.last[1] + segment_size(bucket, bucket.last)


cdef inline const uint64_t* previous(const uint64_t* segment) noexcept nogil:
    """The segment before another, or NULL."""
    return (<const uint64_t**>segment)[0]


cdef inline uint32_t upper_half(uint64_t h) noexcept nogil:
    """What a set keeps of a hash, never 0."""
    return <uint32_t>(h >> 32) + (h >> 32 == 0)
