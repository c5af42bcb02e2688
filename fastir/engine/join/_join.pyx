"""The join for rows with ids that are bytes, one query at a time, by any number of threads.

    rows of one query ─ hash ─┬─ duplicate?
                              └─ judged? ─▶ hits ─▶ _rank ─▶ _measure ─▶ the query's row of values

Every row's id is hashed once. The hash finds the judged documents (a filter first, then the query's table) and finds
duplicate ids: each row sets four bits in a word of a small bitmap, and only a ranking in which some row finds its
four bits already set is looked at again, with an exact table. A query's rows fit in the first-level cache; longer
rankings have a set of hashes instead (_buckets), as such a bitmap would nearly always give an alarm.

A subclass puts the rows of one query into the Group of its Part and calls take(). Nothing else is kept, so memory does
not grow with the run; rows of values are disjoint, so threads need no order. A query that comes back after another
cannot be evaluated this way: `ungrouped` says so.
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memchr, memset

from fastir.engine.join._collect cimport check_judged
from fastir.engine.join._counts cimport Counts, count_excluded, count_order, count_ranking, count_repeats
from fastir.engine.join._judged cimport Judged, QueryIndex, find_judged, find_query
from fastir.engine.join._parents cimport Parents
from fastir.engine.join._buckets cimport may_have_duplicates
from fastir.engine.join._repeats cimport MAX, find_repeats, forget_repeats, merge_repeats
from fastir.engine.measure._codes cimport MISSING, NO_MEMORY, REPEATED
from fastir.engine.measure._measure cimport Judgments, Plan, label_code, measure
from fastir.engine.rank._rank cimport Hit, Ranking, discard, rank_and_measure, reserve
from fastir.engine.columns._text cimport Group, Text, compare, compare_decimal, equal, text_hash

from fastir.errors import quote

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
    if n >= seen.capacity:
        free(seen.hashes)
        seen.capacity = n + n // 2 + 64
        seen.hashes = <uint64_t*>malloc(seen.capacity * sizeof(uint64_t))
        if seen.hashes == NULL:
            seen.capacity = 0
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
    if size > seen.table_capacity:
        free(seen.table)
        seen.table = <uint64_t*>malloc(size * sizeof(uint64_t))
        seen.table_capacity = size if seen.table != NULL else 0
        if seen.table == NULL:
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
    if n >= seen.rows_capacity:
        free(seen.rows)
        seen.rows_capacity = n + n // 2 + 64
        seen.rows = <int64_t*>malloc(seen.rows_capacity * sizeof(int64_t))
        if seen.rows == NULL:
            seen.rows_capacity = 0
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

    Parameters
    ----------
    judged, plan : Judged, Plan
    ties : int
        A code of TIE_CODES.
    single : bool
        Whether scores are compared as float32.
    only_judged : bool
        Whether duplicates are looked for only among judged documents.
    once : bool
        Whether duplicates are allowed; the first of the rows in rank order is then judged, the others are taken for
        unjudged documents.
    parents : Parents or None
        The documents of the ids, which are then text.
    excluded : Judged or None
        Documents of the queries of the qrels, in their order; their rows leave the rankings.

    Attributes
    ----------
    removes : bool
        Whether of duplicates in a list without scores the first is left; else they are an error,
        unless `once` says more.
    """

    def __init__(self, Judged judged, Plan plan, int ties, bint single, bint only_judged, bint once, Parents parents,
                 Judged excluded):
        check_judged(plan, judged)
        self.judged, self.plan, self.ties, self.single = judged, plan, ties, single
        self.only_judged, self.once, self.parents, self.excluded = only_judged, once, parents, excluded


cdef class Join:
    """Evaluates groups of rows as they come.

    Parameters
    ----------
    rules : JoinRules
    values : float64 array of shape (n_queries, n_slots), filled
    status : uint8 array of shape (n_queries,), set to MISSING where the run lacks the query
    n_threads : int
    integers : bool
        Whether document ids come as int64.

    Attributes
    ----------
    ungrouped : bool
        Whether a query came back after another.
    unknown_queries : dict
        {query id as bytes: number of its block}, for the queries that the qrels do not have.
    """

    def __init__(self, JoinRules rules, values, status, int n_threads, bint integers):
        cdef int t
        cdef Counts counts
        self.judged, self.plan, self.ties, self.single = rules.judged, rules.plan, rules.ties, rules.single
        self.only_judged, self.once, self.removes = rules.only_judged, rules.once, rules.removes
        self.parents, self.excluded = rules.parents, rules.excluded
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

    cdef int judge(self, Part* part, int64_t q) noexcept nogil:
        """Fill the values of query q from the group, which is hashed; returns the value for part.failed."""
        cdef Group* g = &part.group
        cdef Ranking* r = &part.ranking
        cdef Seen* seen = &part.seen
        cdef int64_t i, j, n_hits = 0, n_found = 0, repeated = 0, again = 0
        cdef Hit* hit
        cdef int64_t first = self.judged.offsets[q], n = self.judged.offsets[q + 1] - first
        cdef int64_t wanted = self.judged.wanted(self.plan.reads, q)
        cdef bint tied, noted = self.only_judged or self.once
        if self.parents is not None:
            self.parents.replace(g, seen.hashes)
        if self.excluded is not None:
            self.leave_out(part, q)
        if self.parents is not None:
            repeated = self.parents.merge(g, seen.hashes, &part.repeats)
            if repeated < 0:
                return <int>-repeated
            if repeated > 0:
                count_repeats(<Counts>part.counts, q, repeated)
        if reserve(r, self.plan, g.n, n) < 0 or noted and clear_rows(seen, n) < 0:
            return NO_MEMORY
        if self.single:
            for i in range(g.n):
                g.scores[i] = <double><float>g.scores[i]
        for i in range(g.n):
            j = find_judged(self.index, q, first, g.docs + i, seen.hashes[i])
            if j >= 0:
                if noted:
                    if seen.rows[j] and not self.once:
                        seen.first = seen.rows[j] - 1
                        seen.later = i
                        return REPEATED
                    if seen.rows[j]:
                        again += 1
                        hit = r.hits + seen.rows[j] - 1
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

    cdef int settle(self, Part* part, int64_t q) noexcept nogil:
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
