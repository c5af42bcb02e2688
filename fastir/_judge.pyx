"""The join: which judged documents did a run retrieve, and at which ranks.

In: Judged (the qrels, each query's documents sorted best label first) and a query's ranking, as a dict or as columns of
bytes. Out: hits in rank order, handed to _measure.measure one query at a time from reused scratch.

Only judged documents are looked up. A dict is probed with the judged ids (their hashes are cached); its own keys are
never hashed, only their type is checked while the scores are walked. For columns the judged ids sit in a hash table
and each ranked id probes it. Ranks follow from the scores: where these already descend, a binary search; otherwise one
stable sort. Ids are compared only among equal scores, and a group of equal scores is sorted once, at the first hit in it.
"""

from cython.parallel cimport prange
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from fastir._measure cimport Plan, Scratch, grow, measure, release

from fastir.errors import quote

cdef extern from "Python.h":
    ctypedef struct PyObject
    int PyErr_CheckSignals() except -1
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept
    PyObject* PyDict_GetItemWithError(object, PyObject*) except? NULL
    Py_ssize_t PyDict_Size(object) except -1
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyFloat_Check(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) noexcept
    int PyUnicode_Compare(PyObject*, PyObject*) noexcept nogil
    PyObject* PyList_GetItem(object, Py_ssize_t) except NULL

cdef enum:
    TREC = 0
    ASCENDING = 1
    INPUT = 2

ctypedef int (*compare_fn)(const void* a, const void* b) noexcept nogil


cdef struct Text:
    const char* start
    int64_t length


cdef int compare_strings(const void* a, const void* b) noexcept nogil:
    return PyUnicode_Compare(<PyObject*>a, <PyObject*>b)


cdef int compare_texts(const void* a, const void* b) noexcept nogil:
    cdef const Text* x = <const Text*>a
    cdef const Text* y = <const Text*>b
    cdef int64_t n = x.length if x.length < y.length else y.length
    cdef int c = memcmp(x.start, y.start, n)
    if c:
        return c
    return (x.length > y.length) - (x.length < y.length)


# ---- ranks ---------------------------------------------------------------------------------------------------------

cdef int64_t key_of(double score) noexcept nogil:
    """An integer that orders as the score does, -0.0 beside 0.0, also where a neighbour's flags flush denormals."""
    cdef int64_t bits
    memcpy(&bits, &score, 8)
    if bits < 0:
        return -(bits & INT64_MAX)
    return bits


cdef struct Ranking:
    Scratch measured
    int64_t* scores         # of one query, as keys (see key_of); descending once ranked
    int64_t* spare
    int64_t* rows           # rows[i]: the row at sorted position i
    int64_t* merge
    const void** items      # id of each row
    unsigned char* sorted   # whether the group of equal scores that starts here is in id order
    int32_t* marks
    const void** hit_items
    int64_t* hit_scores
    int32_t* hit_labels
    Text* texts
    int64_t capacity, hit_capacity


cdef int reserve(Ranking* r, Plan plan, int64_t n, int64_t hits) noexcept nogil:
    cdef int64_t m
    if n > r.capacity or r.scores == NULL:
        m = n + n // 2 + 256
        free(r.scores); free(r.spare); free(r.rows); free(r.merge); free(r.items); free(r.sorted); free(r.marks)
        free(r.texts)
        r.scores = <int64_t*>malloc(m * sizeof(int64_t))
        r.spare = <int64_t*>malloc(m * sizeof(int64_t))
        r.rows = <int64_t*>malloc(m * sizeof(int64_t))
        r.merge = <int64_t*>malloc(m * sizeof(int64_t))
        r.items = <const void**>malloc(m * sizeof(void*))
        r.sorted = <unsigned char*>malloc(m)
        r.marks = <int32_t*>malloc(m * sizeof(int32_t))
        r.texts = <Text*>malloc(m * sizeof(Text))
        r.capacity = m
        if (r.scores == NULL or r.spare == NULL or r.rows == NULL or r.merge == NULL or r.items == NULL
                or r.sorted == NULL or r.marks == NULL or r.texts == NULL):
            r.capacity = 0
            return -1
    if hits > r.hit_capacity or r.hit_items == NULL:
        m = hits + hits // 2 + 64
        free(r.hit_items); free(r.hit_scores); free(r.hit_labels)
        r.hit_items = <const void**>malloc(m * sizeof(void*))
        r.hit_scores = <int64_t*>malloc(m * sizeof(int64_t))
        r.hit_labels = <int32_t*>malloc(m * sizeof(int32_t))
        r.hit_capacity = m
        if r.hit_items == NULL or r.hit_scores == NULL or r.hit_labels == NULL:
            r.hit_capacity = 0
            return -1
    return grow(&r.measured, plan, hits)


cdef void discard(Ranking* r) noexcept nogil:
    release(&r.measured)
    free(r.scores); free(r.spare); free(r.rows); free(r.merge); free(r.items); free(r.sorted); free(r.marks)
    free(r.texts);
    free(r.hit_items); free(r.hit_scores); free(r.hit_labels)


cdef void sort_by_score(Ranking* r, int64_t n) noexcept nogil:
    """Stable merge sort of rows, scores descending; r.scores follow."""
    cdef int64_t width = 1, low, middle, high, i, j, k
    cdef int64_t* a = r.rows
    cdef int64_t* b = r.merge
    cdef int64_t* t
    cdef const int64_t* s = r.scores
    for i in range(n):
        a[i] = i
    while width < n:
        low = 0
        while low < n:
            middle = low + width if low + width < n else n
            high = middle + width if middle + width < n else n
            i = low
            j = middle
            for k in range(low, high):
                if i < middle and (j >= high or s[a[i]] >= s[a[j]]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
            low = high
        t = a
        a = b
        b = t
        width *= 2
    r.rows = a
    r.merge = b
    for i in range(n):
        r.spare[i] = s[a[i]]
    memcpy(r.scores, r.spare, n * sizeof(int64_t))


cdef void sort_by_id(Ranking* r, int64_t low, int64_t high, compare_fn compare, int sign) noexcept nogil:
    """Merge sort of rows[low:high] by id; sign 1 puts the larger first."""
    cdef int64_t width = 1, n = high - low, start, middle, stop, i, j, k
    cdef int64_t* a = r.rows + low
    cdef int64_t* b = r.merge
    cdef int64_t* t
    while width < n:
        start = 0
        while start < n:
            middle = start + width if start + width < n else n
            stop = middle + width if middle + width < n else n
            i = start
            j = middle
            for k in range(start, stop):
                if i < middle and (j >= stop or sign * compare(r.items[a[i]], r.items[a[j]]) >= 0):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
            start = stop
        t = a
        a = b
        b = t
        width *= 2
    if a != r.rows + low:
        memcpy(r.rows + low, a, n * sizeof(int64_t))


cdef int64_t rank_of(Ranking* r, int64_t n, int64_t score, const void* item, compare_fn compare, int ties) noexcept nogil:
    """The rank, from 1, of a document that is in the ranking."""
    cdef int64_t low = 0, high = n, middle, end
    cdef int c, sign = 1 if ties == TREC else -1
    while low < high:
        middle = (low + high) // 2
        if r.scores[middle] > score:
            low = middle + 1
        else:
            high = middle
    if low + 1 >= n or r.scores[low + 1] != score:
        return low + 1
    end = low + 1
    high = n
    while end < high:
        middle = (end + high) // 2
        if r.scores[middle] >= score:
            end = middle + 1
        else:
            high = middle
    if ties == INPUT:
        for middle in range(low, end):
            if r.items[r.rows[middle]] == item or compare(r.items[r.rows[middle]], item) == 0:
                return middle + 1
    if not r.sorted[low]:
        sort_by_id(r, low, end, compare, sign)
        r.sorted[low] = 1
    high = end
    while low < high:
        middle = (low + high) // 2
        c = sign * compare(r.items[r.rows[middle]], item)
        if c > 0:
            low = middle + 1
        else:
            high = middle
    return low + 1


cdef void order_hits(Ranking* r, int64_t n, int64_t n_hits) noexcept nogil:
    """Put (rank, label) of the hits into rank order."""
    cdef int64_t* ranks = r.measured.ranks
    cdef int32_t* labels = r.measured.labels
    cdef int64_t i, j, rank
    cdef int32_t label
    if n_hits <= 24:
        for i in range(1, n_hits):
            rank = ranks[i]
            label = labels[i]
            j = i
            while j > 0 and ranks[j - 1] > rank:
                ranks[j] = ranks[j - 1]
                labels[j] = labels[j - 1]
                j -= 1
            ranks[j] = rank
            labels[j] = label
        return
    memset(r.marks, 255, n * sizeof(int32_t))
    for i in range(n_hits):
        r.marks[ranks[i] - 1] = labels[i]
    j = 0
    for i in range(n):
        if r.marks[i] >= 0:
            ranks[j] = i + 1
            labels[j] = r.marks[i]
            j += 1


cdef bint finish(Plan plan, Ranking* r, int64_t n, int64_t n_hits, compare_fn compare, int ties, const int32_t* labels,
                 int64_t n_ideal, int64_t n_judged, double* out) noexcept nogil:
    """Rank the hits and measure; returns whether scores were tied."""
    cdef int64_t i
    cdef bint descending = True, tied = False
    for i in range(1, n):
        descending &= r.scores[i - 1] >= r.scores[i]
        tied |= r.scores[i - 1] == r.scores[i]
    if not descending:
        sort_by_score(r, n)
        tied = False
        for i in range(1, n):
            tied |= r.scores[i - 1] == r.scores[i]
    elif tied:
        for i in range(n):
            r.rows[i] = i
    if tied:
        memset(r.sorted, 0, n)
    for i in range(n_hits):
        r.measured.ranks[i] = rank_of(r, n, r.hit_scores[i], r.hit_items[i], compare, ties)
        r.measured.labels[i] = r.hit_labels[i]
    order_hits(r, n, n_hits)
    measure(plan, &r.measured, n_hits, n, labels, n_ideal, n_judged, out)
    return tied


# ---- the qrels, prepared -------------------------------------------------------------------------------------------

cdef uint64_t MULTIPLIER = <uint64_t>0xD6E8FEB8 << 32 | <uint64_t>0x6659FD93


cdef uint64_t hash_of(const char* p, int64_t n) noexcept nogil:
    cdef uint64_t h = MULTIPLIER ^ <uint64_t>n, w
    while n >= 8:
        memcpy(&w, p, 8)
        h = (h ^ w) * MULTIPLIER
        h ^= h >> 32
        p += 8
        n -= 8
    if n > 0:
        w = 0
        memcpy(&w, p, n)
        h = (h ^ w) * MULTIPLIER
        h ^= h >> 32
    h *= MULTIPLIER
    return h ^ (h >> 29)


def encode(str text):
    """An id as the bytes of a file: UTF-8, with surrogates back to the bytes that they stand for."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text.encode("utf-8", "surrogatepass")


cdef class Judged:
    """The judged documents of every query, best label first; immutable but for a table of bytes made once, on demand.

    Parameters
    ----------
    query_ids : list of str
    offsets : int64 array of shape (n_queries + 1,)
    doc_ids : list of str
    labels : int32 array beside doc_ids; any negative label means in the pool, not judged
    """

    cdef readonly list query_ids
    cdef list ids
    cdef int64_t[::1] offsets
    cdef int32_t[::1] labels
    cdef readonly Py_ssize_t n_queries
    cdef int64_t* positive
    cdef int64_t* judged
    cdef list texts             # the ids as bytes
    cdef Text* views
    cdef uint64_t* table
    cdef int64_t* table_offsets

    def __cinit__(self, list query_ids, list doc_ids, int64_t[::1] order, int64_t[::1] row_offsets,
                  int32_t[::1] row_labels):
        cdef Py_ssize_t q
        cdef int64_t i
        self.query_ids = query_ids
        self.n_queries = len(query_ids)
        self.offsets = row_offsets
        self.labels = row_labels
        self.ids = [doc_ids[i] for i in order]
        self.positive = <int64_t*>calloc(self.n_queries + 1, sizeof(int64_t))
        self.judged = <int64_t*>calloc(self.n_queries + 1, sizeof(int64_t))
        if self.positive == NULL or self.judged == NULL:
            raise MemoryError
        for q in range(self.n_queries):
            for i in range(row_offsets[q], row_offsets[q + 1]):
                self.positive[q] += row_labels[i] > 0
                self.judged[q] += row_labels[i] >= 0

    def __dealloc__(self):
        free(self.positive)
        free(self.judged)
        free(self.views)
        free(self.table)
        free(self.table_offsets)

    def top_labels(self):
        """The largest label of each query that has documents, with the document: (label, query position, doc_id)."""
        return [(self.labels[self.offsets[q]], q, self.ids[self.offsets[q]])
                for q in range(self.n_queries) if self.offsets[q + 1] > self.offsets[q]]

    def relevant_status(self, int32_t level, unsigned char[::1] status):
        cdef Py_ssize_t q
        for q in range(self.n_queries):
            if self.positive[q] == 0 or self.labels[self.offsets[q]] < level:
                status[q] = 2

    def prepare_bytes(self):
        """Make the hash tables for runs that come as bytes."""
        cdef int64_t i, n = len(self.ids), size, total = 0, slot
        cdef uint64_t h
        cdef Py_ssize_t q
        cdef bytes text
        if self.texts is not None:
            return
        texts = [encode(i_d) for i_d in self.ids]
        views = <Text*>malloc((n + 1) * sizeof(Text))
        offsets = <int64_t*>malloc((self.n_queries + 1) * sizeof(int64_t))
        if views == NULL or offsets == NULL:
            free(views)
            free(offsets)
            raise MemoryError
        offsets[0] = 0
        for q in range(self.n_queries):
            size = 4
            while size < 4 * (self.offsets[q + 1] - self.offsets[q]):
                size *= 2
            offsets[q + 1] = offsets[q] + size
        table = <uint64_t*>calloc(offsets[self.n_queries] + 1, sizeof(uint64_t))
        if table == NULL:
            free(views)
            free(offsets)
            raise MemoryError
        for q in range(self.n_queries):
            size = offsets[q + 1] - offsets[q]
            for i in range(self.offsets[q], self.offsets[q + 1]):
                text = texts[i]
                views[i].start = text
                views[i].length = len(text)
                h = hash_of(views[i].start, views[i].length)
                slot = h & <uint64_t>(size - 1)
                while table[offsets[q] + slot] != 0:
                    slot = (slot + 1) & (size - 1)
                table[offsets[q] + slot] = (h >> 32 << 32) | <uint64_t>(i - self.offsets[q] + 1)
        free(self.views)
        free(self.table)
        free(self.table_offsets)
        self.views = views
        self.table = table
        self.table_offsets = offsets
        self.texts = texts


# ---- a run as a dict -----------------------------------------------------------------------------------------------

def plain_scores(query_id, ranking):
    """A ranking as an exact dict of str to float, or the error that names the document."""
    cdef dict plain = {}
    try:
        items = list(ranking.items())
    except AttributeError:
        raise TypeError(f"run: query {quote(query_id)} must map to a dict {{doc_id: score}}, "
                        f"got {type(ranking).__name__}") from None
    for doc_id, score in items:
        if not isinstance(doc_id, str):
            raise TypeError(f"run: a document id of query {quote(query_id)} must be a str, got {type(doc_id).__name__} "
                            f"{quote(doc_id)}")
        if isinstance(score, (str, bytes, bytearray, dict, complex)) or score is None:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__} {quote(score)} "
                            f"(query {query_id}, document {doc_id})")
        try:
            number = float(score)
        except OverflowError:
            raise OverflowError(f"run: the score is too large for a float (query {query_id}, document {doc_id})") from None
        except Exception as error:
            raise TypeError(f"run: the score must be a number, got {type(score).__name__}: {error} "
                            f"(query {query_id}, document {doc_id})") from error
        plain[str.__str__(doc_id)] = number
    if len(ranking) != len(items):
        raise RuntimeError(f"run: the ranking of query {quote(query_id)} changed size while it was read")
    return plain


def judge_dict(Judged judged, Plan plan, dict run, double[:, ::1] values, unsigned char[::1] status, int ties,
               bint single):
    """Evaluate {query_id: {doc_id: score}}: fills values and status (1 where the run lacks the query).

    Returns (found, tied, tied_example, ranked, unjudged, nothing_judged, nothing_example).
    """
    cdef Ranking r
    cdef Py_ssize_t q, position, n, i
    cdef int64_t first, n_hits, n_judged_found, probes, work = 0
    cdef int64_t found = 0, tied = 0, ranked = 0, unjudged = 0, nothing = 0
    cdef int tied_example = -1, nothing_example = -1
    cdef PyObject* key
    cdef PyObject* value
    cdef object ranking, query_id
    cdef bint plain, nan
    cdef double score
    memset(&r, 0, sizeof(Ranking))
    try:
        for q in range(judged.n_queries):
            query_id = judged.query_ids[q]
            value = PyDict_GetItemWithError(run, <PyObject*>query_id)
            if value == NULL:
                status[q] = 1
                first = judged.offsets[q]
                if reserve(&r, plan, 0, 0) < 0:
                    raise MemoryError
                measure(plan, &r.measured, 0, 0, &judged.labels[0] + first, judged.positive[q], judged.judged[q], &values[q, 0])
                continue
            ranking = <object>value
            found += 1
            if type(ranking) is not dict:
                ranking = plain_scores(query_id, ranking)
            while True:
                n = PyDict_Size(ranking)
                first = judged.offsets[q]
                probes = judged.offsets[q + 1] - first
                if reserve(&r, plan, n, probes) < 0:
                    raise MemoryError
                position = 0
                i = 0
                plain = True
                nan = False
                while i < n and PyDict_Next(ranking, &position, &key, &value):
                    if not (PyUnicode_CheckExact(key) and PyFloat_Check(value)):
                        plain = False
                        break
                    score = PyFloat_AsDouble(value)
                    if single:
                        score = <double><float>score
                    nan |= score != score
                    r.items[i] = key
                    r.scores[i] = key_of(score)
                    i += 1
                if plain:
                    break
                ranking = plain_scores(query_id, ranking)
            if nan:
                for doc_id, number in ranking.items():
                    if number != number:
                        raise ValueError(f"run: the score is NaN, not a number (query {query_id}, document {doc_id})")
            n_hits = 0
            n_judged_found = 0
            for i in range(probes):
                key = PyList_GetItem(judged.ids, first + i)
                value = PyDict_GetItemWithError(ranking, key)
                if value == NULL:
                    continue
                n_judged_found += 1
                if i < judged.positive[q] or (plan.reads_nonrelevant and i < judged.judged[q]):
                    score = PyFloat_AsDouble(value)
                    r.hit_scores[n_hits] = key_of(<double><float>score if single else score)
                    r.hit_items[n_hits] = key
                    r.hit_labels[n_hits] = judged.labels[first + i]
                    n_hits += 1
            ranked += n
            unjudged += n - n_judged_found
            if n > 0 and n_judged_found == 0:
                nothing += 1
                if nothing_example < 0:
                    nothing_example = q
            if finish(plan, &r, n, n_hits, compare_strings, ties, &judged.labels[0] + first, judged.positive[q],
                      judged.judged[q], &values[q, 0]):
                tied += 1
                if tied_example < 0:
                    tied_example = q
            work += n + probes
            if work > 500000:
                work = 0
                PyErr_CheckSignals()
    finally:
        discard(&r)
    return found, tied, tied_example, ranked, unjudged, nothing, nothing_example


# ---- a run as columns of bytes -------------------------------------------------------------------------------------

cdef struct Tally:
    int64_t tied, tied_example, ranked, unjudged, nothing, nothing_example
    int failed


cdef void judge_rows(Judged judged, Plan plan, const char* arena, const int64_t* starts, const int64_t* lengths,
                     const double* scores, const int64_t* row_offsets, const int64_t* places, int64_t begin, int64_t end,
                     int ties, bint single, double* values, unsigned char* status, Tally* tally) noexcept nogil:
    """Queries begin to end; places[q] is the run's query for the qrels' query q, or -1."""
    cdef Ranking r
    cdef int64_t q, g, n, i, row, first, n_hits, n_found, size, slot, j
    cdef uint64_t h, entry
    memset(&r, 0, sizeof(Ranking))
    tally.tied_example = -1
    tally.nothing_example = -1
    for q in range(begin, end):
        g = places[q]
        row = row_offsets[g] if g >= 0 else 0
        n = row_offsets[g + 1] - row if g >= 0 else 0
        first = judged.offsets[q]
        if reserve(&r, plan, n, judged.offsets[q + 1] - first) < 0:
            tally.failed = 1
            break
        if g < 0:
            status[q] = 1
            measure(plan, &r.measured, 0, 0, &judged.labels[0] + first, judged.positive[q], judged.judged[q],
                    values + q * plan.n_slots)
            continue
        n_hits = 0
        n_found = 0
        size = judged.table_offsets[q + 1] - judged.table_offsets[q]
        for i in range(n):
            r.texts[i].start = arena + starts[row + i]
            r.texts[i].length = lengths[row + i]
            r.items[i] = &r.texts[i]
            r.scores[i] = key_of(<double><float>scores[row + i] if single else scores[row + i])
            h = hash_of(r.texts[i].start, r.texts[i].length)
            slot = h & <uint64_t>(size - 1)
            while True:
                entry = judged.table[judged.table_offsets[q] + slot]
                if entry == 0:
                    break
                if entry >> 32 == h >> 32:
                    j = <int64_t>(entry & <uint64_t>0xFFFFFFFF) - 1
                    if compare_texts(&judged.views[first + j], &r.texts[i]) == 0:
                        n_found += 1
                        if j < judged.positive[q] or (plan.reads_nonrelevant and j < judged.judged[q]):
                            r.hit_scores[n_hits] = r.scores[i]
                            r.hit_items[n_hits] = r.items[i]
                            r.hit_labels[n_hits] = judged.labels[first + j]
                            n_hits += 1
                        break
                slot = (slot + 1) & (size - 1)
        tally.ranked += n
        tally.unjudged += n - n_found
        if n > 0 and n_found == 0:
            tally.nothing += 1
            if tally.nothing_example < 0:
                tally.nothing_example = q
        if finish(plan, &r, n, n_hits, compare_texts, ties, &judged.labels[0] + first, judged.positive[q],
                  judged.judged[q], values + q * plan.n_slots):
            tally.tied += 1
            if tally.tied_example < 0:
                tally.tied_example = q
    discard(&r)


def judge_columns(Judged judged, Plan plan, const unsigned char[::1] arena, const int64_t[::1] starts,
                  const int64_t[::1] lengths, const double[::1] scores, const int64_t[::1] row_offsets,
                  const int64_t[::1] places, double[:, ::1] values, unsigned char[::1] status, int ties, bint single,
                  int n_threads):
    """Evaluate a run given as rows grouped by query; returns what judge_dict returns."""
    cdef int64_t n = judged.n_queries, start = 0, stop, work
    cdef int t
    cdef Tally* tallies = <Tally*>calloc(n_threads, sizeof(Tally))
    cdef int64_t* bounds = <int64_t*>malloc((n_threads + 1) * sizeof(int64_t))
    cdef const char* text = <const char*>&arena[0]
    cdef int64_t tied = 0, tied_example = -1, ranked = 0, unjudged = 0, nothing = 0, nothing_example = -1
    if tallies == NULL or bounds == NULL:
        free(tallies)
        free(bounds)
        raise MemoryError
    judged.prepare_bytes()
    try:
        while start < n:
            stop = start
            work = 0
            while stop < n and work < 1000000:
                if places[stop] >= 0:
                    work += row_offsets[places[stop] + 1] - row_offsets[places[stop]]
                work += 10
                stop += 1
            memset(tallies, 0, n_threads * sizeof(Tally))
            if n_threads == 1:
                with nogil:
                    judge_rows(judged, plan, text, &starts[0], &lengths[0], &scores[0], &row_offsets[0], &places[0], start,
                               stop, ties, single, &values[0, 0], &status[0], tallies)
            else:
                for t in range(n_threads + 1):
                    bounds[t] = start + (stop - start) * t // n_threads
                for t in prange(n_threads, nogil=True, num_threads=n_threads, schedule="static", chunksize=1):
                    judge_rows(judged, plan, text, &starts[0], &lengths[0], &scores[0], &row_offsets[0], &places[0],
                               bounds[t], bounds[t + 1], ties, single, &values[0, 0], &status[0], tallies + t)
            for t in range(n_threads):
                if tallies[t].failed:
                    raise MemoryError
                tied += tallies[t].tied
                ranked += tallies[t].ranked
                unjudged += tallies[t].unjudged
                nothing += tallies[t].nothing
                if tied_example < 0:
                    tied_example = tallies[t].tied_example
                if nothing_example < 0:
                    nothing_example = tallies[t].nothing_example
            PyErr_CheckSignals()
            start = stop
    finally:
        free(tallies)
        free(bounds)
    return None, tied, tied_example, ranked, unjudged, nothing, nothing_example


def find_duplicates(const unsigned char[::1] arena, const int64_t[::1] starts, const int64_t[::1] lengths,
                    const int64_t[::1] row_offsets):
    """All (earlier row, later row) pairs of one id standing twice in one group; the earlier is the first of its kind."""
    cdef int64_t g, i, n, row, size, slot, j, capacity = 0
    cdef uint64_t h
    cdef int64_t* table = NULL
    cdef const char* text = <const char*>&arena[0]
    cdef Text a, b
    pairs = []
    try:
        for g in range(row_offsets.shape[0] - 1):
            row = row_offsets[g]
            n = row_offsets[g + 1] - row
            size = 4
            while size < 2 * n:
                size *= 2
            if size > capacity:
                free(table)
                table = <int64_t*>malloc(size * sizeof(int64_t))
                capacity = size
                if table == NULL:
                    raise MemoryError
            memset(table, 0, size * sizeof(int64_t))
            for i in range(row, row + n):
                a.start = text + starts[i]
                a.length = lengths[i]
                slot = hash_of(a.start, a.length) & <uint64_t>(size - 1)
                while table[slot] != 0:
                    j = table[slot] - 1
                    b.start = text + starts[j]
                    b.length = lengths[j]
                    if compare_texts(&a, &b) == 0:
                        pairs.append((j, i))
                        break
                    slot = (slot + 1) & (size - 1)
                else:
                    table[slot] = i + 1
            if g % 256 == 0:
                PyErr_CheckSignals()
    finally:
        free(table)
    return pairs
