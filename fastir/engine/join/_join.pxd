# Judging rows with ids that are bytes, one query at a time; buckets of words, rows that repeat a document, and parents.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastir.engine.columns._ids cimport Group, Text
from fastir.engine.join._judged cimport Index, Judged, QueryIndex
from fastir.engine.measure._measure cimport Plan
from fastir.engine.rank._rank cimport Ranking


# ---- words in buckets, and sets of hashes ----------------------------------------------------------------------------
cdef enum:
    HEAD_WORDS = 2          # words of a segment before the bucket's: the previous segment, the words up to there
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


# ---- rows of one query that hold the same document -------------------------------------------------------------------
cdef struct Repeats:        # scratch of one thread
    int64_t* table          # open addressing: row + 1; 0 is free
    int64_t* first          # of each row: the first row that holds its document; one allocation with what follows
    int64_t* best           # of a first row: the first row among the document's with the largest score
    int64_t* counts         # of a first row: how many rows hold the document
    double* totals          # of a first row: the sum of their scores
    int64_t capacity, table_capacity


cdef int64_t find_repeats(Repeats* r, const Group* g, const uint64_t* hashes) noexcept nogil
cdef void forget_repeats(Repeats* r) noexcept nogil


# ---- the documents of the ids of a run -------------------------------------------------------------------------------
cdef struct Document:       # a text with its hash
    Text text
    uint64_t hash
    uint64_t unused         # so that each lies in one line of the cache


cdef enum:
    HELD = 24               # bytes of an id in a Chunk, or of a Document


cdef struct Chunk:          # a slot of the table, half a line of the cache
    uint32_t document       # 1 + its position among the distinct documents; 0 if the slot is free
    uint32_t length         # of the id; LONG if it has more bytes than there is room for
    char[HELD] bytes        # of the id, or a Document if it is long


cdef class Parents:
    cdef readonly object chunks, documents, aggregate
    cdef list kept          # what owns the bytes
    cdef Document* distinct  # the distinct documents
    cdef Chunk* table       # by a chunk's hash
    cdef uint64_t mask
    cdef int rule
    cdef int64_t number(self, int64_t* table, uint64_t mask, int64_t n, const Text* text) noexcept nogil
    cdef Chunk* slot(self, const Text* chunk, uint64_t h) noexcept nogil
    cdef void replace(self, Group* g, uint64_t* hashes) noexcept nogil
    cdef int64_t merge(self, Group* g, uint64_t* hashes, Repeats* repeats) noexcept nogil


# ---- one query at a time ---------------------------------------------------------------------------------------------
cdef struct Seen:               # scratch for finding duplicate ids
    uint64_t* hashes            # of each row
    uint64_t* table
    int64_t* rows               # per judged document: the row that holds it, + 1
    HashSet hash_set            # for many rows, instead of table
    int64_t capacity, table_capacity, rows_capacity
    int64_t first, later        # rows of the group that hold the same document


cdef struct Part:               # the work of one thread, and its scratch
    Group group
    Ranking ranking
    Seen seen
    Repeats repeats
    PyObject* counts            # a Counts
    Text* queries               # of the groups it met
    int64_t* places             # parallel to queries: position in the qrels, or -1
    int64_t n, capacity
    int failed                  # what stopped it: 0, a code of PROBLEM_CODES, or a problem of columns/_trec.pxd
    int64_t row                 # where the group in work begins, for rows that are columns


cdef class Join:
    cdef readonly bint ungrouped
    cdef readonly dict unknown_queries
    cdef Judged judged
    cdef Plan plan
    cdef const Index* index
    cdef bint integers                  # whether document ids come as integers
    cdef Py_buffer value_buffer, status_buffer
    cdef double* values                 # a row per query of the qrels
    cdef unsigned char* status          # likewise
    cdef int ties, n_threads
    cdef bint single
    cdef readonly bint only_judged
    cdef bint once
    cdef bint removes
    cdef Parents parents
    cdef Judged excluded                # its documents leave the rankings of the queries of the qrels; or None
    cdef const Index* excluded_index
    cdef double least                   # rows with lower scores leave the rankings
    cdef Part* parts
    cdef unsigned char* met             # per query of the qrels
    cdef int count_again(self, Part* part, int64_t q) noexcept nogil
    cdef void leave_out(self, Part* part, int64_t q) noexcept nogil
    cdef void leave_low(self, Part* part, int64_t q) noexcept nogil
    cdef int judge(self, Part* part, int64_t q) noexcept nogil
    cdef int judge_list(self, Part* part, int64_t q) noexcept nogil
    cdef int take(self, Part* part, const QueryIndex* queries) noexcept nogil
    cdef meet(self, Part* part, int64_t number, bint integers)


cdef int hash_group(Seen* seen, const Group* g) noexcept nogil
cdef int may_repeat(Seen* seen, const uint64_t* hashes, int64_t n) noexcept nogil
cdef int find_repeated(Seen* seen, const Group* g, int64_t start) noexcept nogil
cdef int clear_rows(Seen* seen, int64_t n) noexcept nogil
cdef void forget(Seen* seen) noexcept nogil
cdef not_summed(const Group* g, query)
cdef bytes query_bytes(const Text* query, bint integers)
