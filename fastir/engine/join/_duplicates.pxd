# Whether a document is in two rows of one query, of rows in any order.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.engine.columns._ids cimport Column
from fastir.engine.join._buckets cimport Bucket, HashSet, Store, bucket_number, push


cdef struct PairHashes:     # of one thread
    Bucket* buckets         # hashes of query and document
    int64_t n_buckets
    Store store             # which holds these, and `kept_store` what is left when they are freed
    Store kept_store
    Bucket repeated         # hashes that two rows have
    Bucket marked           # codes of rows with such a hash
    HashSet seen            # scratch


cdef class DuplicatePairs:
    cdef readonly int64_t n_buckets     # a power of two
    cdef int n_threads
    cdef PairHashes* threads
    cdef HashSet repeated
    cdef int compare_bucket(self, PairHashes* hashes, int64_t number) noexcept nogil
    cdef int mark(self, int t, const Column* queries, const Column* docs, const int32_t* codes, int64_t n_queries,
                  int64_t first, int64_t stop) noexcept nogil
    cdef void gather_marked(self, unsigned char* marked) noexcept nogil


cdef uint64_t unknown_pair(const Column* queries, int64_t i, uint64_t doc) noexcept nogil


cdef inline int add_pairs(PairHashes* hashes, const uint64_t* pairs, int64_t n) noexcept nogil:
    """Keep the hashes of n rows; 0, or -1 without memory."""
    cdef int64_t i, n_buckets = hashes.n_buckets
    for i in range(n):
        if push(hashes.buckets + bucket_number(pairs[i], n_buckets), &hashes.store, pairs[i]) < 0:
            return -1
    return 0
