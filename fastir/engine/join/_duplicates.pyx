"""Whether a document is in two rows of one query, of rows in any order: the hashes of all pairs meet in buckets.

    add_pairs      the hash of each row's query and document goes to a bucket (_buckets), by any thread
    compare        bucket by bucket, by any thread: which hashes do two rows have?
    gather         put together what the threads found; nearly always nothing, and then all is done
    mark           else row by row, by any thread: which queries have a row with such a hash?
    gather_marked  put these together

Two rows of one hash are nearly always one pair; the caller compares the ids of a marked query's rows. So a row costs 8
bytes and no look at its ids, and ids are compared for few queries. The hash of a row whose query the qrels do not
have is made of the text of the query, as all such rows share one code.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

from fastir.engine.columns._ids cimport Column, read
from fastir.engine.columns._text cimport Text, text_hash
from fastir.engine.join._buckets cimport (BUCKET_HASHES, HEAD_WORDS, MAX_BUCKETS, Bucket, add_bucket, bucket_size,
                                          clear_set, contains, free_store, previous, push, segment_size)
from fastir.engine.join._judged cimport collision
from fastir.engine.join._query_table cimport id_words, pair_hash
from fastir.engine.measure._codes cimport COLLISION, NO_MEMORY

cdef enum:
    CHUNK_ROWS = 256    # whose ids are read together


cdef uint64_t unknown_pair(const Column* queries, int64_t i, uint64_t doc) noexcept nogil:
    """The hash of both ids of a row of an unknown query."""
    cdef Text query
    read(queries, i, 1, &query)
    return pair_hash(doc, text_hash(&query))


cdef class DuplicatePairs:
    """Finds the queries that may have a document twice, for about so many rows.

    Attributes
    ----------
    n_buckets : int
    """

    def __init__(self, int64_t rows, int n_threads):
        cdef int t
        self.n_buckets, self.n_threads = 1, n_threads
        while self.n_buckets < MAX_BUCKETS and self.n_buckets * BUCKET_HASHES < rows:
            self.n_buckets *= 2
        self.threads = <PairHashes*>calloc(n_threads, sizeof(PairHashes))
        if self.threads == NULL:
            raise MemoryError
        for t in range(n_threads):
            self.threads[t].n_buckets = self.n_buckets
            self.threads[t].buckets = <Bucket*>calloc(self.n_buckets, sizeof(Bucket))
            if self.threads[t].buckets == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int t
        if self.threads != NULL:
            for t in range(self.n_threads):
                free_store(&self.threads[t].store)
                free_store(&self.threads[t].kept_store)
                free(self.threads[t].buckets)
                free(self.threads[t].seen.table)
        free(self.threads)
        free(self.repeated.table)

    def compare(self, int t, int64_t first, int64_t stop):
        """Look for equal hashes in buckets first to stop."""
        cdef int64_t number
        cdef int failed = 0
        with nogil:
            for number in range(first, stop):
                failed = self.compare_bucket(self.threads + t, number)
                if failed:
                    break
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError

    cdef int compare_bucket(self, PairHashes* hashes, int64_t number) noexcept nogil:
        cdef int64_t n = 0
        cdef int t, failed = 0
        for t in range(self.n_threads):
            n += bucket_size(self.threads[t].buckets + number)
        if clear_set(&hashes.seen, n) < 0:
            return NO_MEMORY
        for t in range(self.n_threads):
            if not failed:
                failed = add_bucket(&hashes.seen, self.threads[t].buckets + number, &hashes.repeated,
                                    &hashes.kept_store)
        return failed

    def gather(self):
        """Put together the hashes that two rows have; returns whether there are any."""
        cdef int64_t n = 0
        cdef int t, failed = 0
        cdef Bucket twice       # those that several threads have
        twice.next = twice.end = twice.last = NULL
        for t in range(self.n_threads):
            free_store(&self.threads[t].store)
            n += bucket_size(&self.threads[t].repeated)
        if n == 0:
            return False
        failed = clear_set(&self.repeated, n)
        for t in range(self.n_threads):
            if not failed:
                failed = add_bucket(&self.repeated, &self.threads[t].repeated, &twice, &self.threads[0].kept_store)
        if failed == COLLISION:
            raise collision()
        if failed:
            raise MemoryError
        return True

    cdef int mark(self, int t, const Column* queries, const Column* docs, const int32_t* codes, int64_t n_queries,
                  int64_t first, int64_t stop) noexcept nogil:
        """Note the codes of rows first to stop that share a hash with another row; 0, or NO_MEMORY."""
        cdef Text[CHUNK_ROWS] texts
        cdef uint64_t[CHUNK_ROWS] hashes
        cdef PairHashes* mine = self.threads + t
        cdef int64_t i, n
        cdef int32_t code
        cdef uint64_t h
        cdef const uint64_t* words
        while first < stop:
            n = CHUNK_ROWS if stop - first > CHUNK_ROWS else stop - first
            words = id_words(docs, first, n, texts, hashes)
            for i in range(n):
                code = codes[first + i]
                h = pair_hash(words[i], code) if code < n_queries else unknown_pair(queries, first + i, words[i])
                if contains(&self.repeated, h) and push(&mine.marked, &mine.kept_store, code) < 0:
                    return NO_MEMORY
            first += n
        return 0

    cdef void gather_marked(self, unsigned char* marked) noexcept nogil:
        """Mark the codes that a thread noted."""
        cdef const uint64_t* segment
        cdef int64_t i
        cdef int t
        for t in range(self.n_threads):
            segment = self.threads[t].marked.last
            while segment != NULL:
                for i in range(segment_size(&self.threads[t].marked, segment)):
                    marked[segment[HEAD_WORDS + i]] = True
                segment = previous(segment)
