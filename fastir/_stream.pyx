"""A TREC run file evaluated while it is read: parse, hash, look up and measure, one query after the other.

    block   | rest of q7 | q8 ... q19 | q20 ...        cut at changes of query, any number of threads at work
                carried     thread 0     carried on

A block holds whole queries. Whoever reads it keeps the rows of one query in its scratch and fills that query's row of
values; nothing else is kept, so memory does not grow with the run. Rows of values are disjoint, so threads need no
order: what is wrong in a block is handed back with the number of its line in the block. A query that comes back after
another cannot be evaluated this way: `ungrouped` tells the caller to read the file as columns.
"""

import functools

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from fastir._columns cimport Seen, Tally, add_tally, find_repeated, forget, hash_rows, judge_group, tally_tuple
from fastir._fenv cimport fenv_t, fesetenv, ordinary
from fastir._judged cimport Judged, find_query
from fastir._measure cimport Plan, measure
from fastir._rank cimport Ranking, discard, reserve
from fastir._text cimport Group, Text
from fastir._trec cimport MEMORY, Cursor, explain_line, lines_of, scan_group, set_layout

from fastir.errors import DuplicateError, FormatError, quote

cdef enum:
    REPEATED = 100


cdef struct Part:               # a block in one thread's hands, and its scratch
    Cursor cursor
    Group group
    Ranking ranking
    Seen seen
    Tally tally
    Text* queries               # of the groups it met
    int64_t* places             # beside queries: position in the qrels, or -1
    int64_t n, capacity
    int failed
    int64_t first, later        # rows of the group that hold the same document


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


cdef void read_part(Part* part, Judged judged, Plan plan, int ties, bint single, double* values) noexcept nogil:
    """Evaluate all queries of a part; part.failed says what stopped it."""
    cdef int64_t place
    cdef int twice
    cdef fenv_t callers
    ordinary(&callers)
    while part.cursor.p < part.cursor.stop and not part.failed:
        part.failed = scan_group(&part.cursor, &part.group)
        if part.failed or part.group.n == 0:
            continue
        twice = hash_rows(&part.seen, &part.group)
        if twice == 1:
            part.first = 0
            part.later = find_repeated(&part.seen, &part.group, &part.first)
            if part.later >= 0:
                part.failed = REPEATED
                continue
            if part.later == -2:
                twice = -1
        place = find_query(judged, &part.group.query)
        if twice < 0 or note_query(part, place) < 0:
            part.failed = MEMORY
        elif place >= 0 and judge_group(judged, plan, &part.ranking, &part.group, part.seen.hashes, place, ties, single,
                                        values, &part.tally) < 0:
            part.failed = MEMORY
    fesetenv(&callers)


cdef class Stream:
    """Evaluates a run file from its chunks.

    Parameters
    ----------
    path : str
        For messages.
    judged, plan : Judged, Plan
    values : float64 array of shape (n_queries, n_slots), filled
    status : uint8 array of shape (n_queries,), set to 1 where the run lacks the query
    ties, single : as for judge_dict
    n_threads : int
    """

    cdef readonly object path
    cdef readonly bint ungrouped
    cdef readonly dict foreign          # keys: query ids, as bytes, that the qrels do not have
    cdef Judged judged
    cdef Plan plan
    cdef double[:, ::1] values
    cdef unsigned char[::1] status
    cdef int ties, n_threads
    cdef bint single
    cdef Part* parts
    cdef unsigned char* met             # per query of the qrels

    def __init__(self, path, Judged judged, Plan plan, double[:, ::1] values, unsigned char[::1] status, int ties,
                 bint single, int n_threads):
        cdef int t
        judged.prepare_bytes()
        self.path = path
        self.judged, self.plan, self.values, self.status = judged, plan, values, status
        self.ties, self.single, self.n_threads = ties, single, n_threads
        self.foreign = {}
        self.parts = <Part*>calloc(n_threads, sizeof(Part))
        self.met = <unsigned char*>calloc(judged.n_queries + 1, 1)
        if self.parts == NULL or self.met == NULL:
            raise MemoryError
        for t in range(n_threads):
            set_layout(&self.parts[t].cursor, "trec", True)
            self.parts[t].tally.tied_example = -1
            self.parts[t].tally.nothing_example = -1

    def __dealloc__(self):
        cdef int t
        if self.parts != NULL:
            for t in range(self.n_threads):
                discard(&self.parts[t].ranking)
                forget(&self.parts[t].seen)
                free(self.parts[t].group.docs)
                free(self.parts[t].group.scores)
                free(self.parts[t].queries)
                free(self.parts[t].places)
        free(self.parts)
        free(self.met)

    @property
    def n_rows(self):
        cdef int t
        return sum([self.parts[t].cursor.rows for t in range(self.n_threads)])

    @property
    def is_run(self):
        return True

    @property
    def repairs(self):
        """What was skipped or taken for what it meant: {kind: (count, path)}."""
        cdef int t
        counts = {"blank lines": 0, "comment lines": 0, "CRLF line ends": 0}
        for t in range(self.n_threads):
            counts["blank lines"] += self.parts[t].cursor.blank_lines
            counts["comment lines"] += self.parts[t].cursor.comments
            counts["CRLF line ends"] += self.parts[t].cursor.crlf
        return {kind: (count, self.path) for kind, count in counts.items() if count}

    def read(self, int t, unsigned char[::1] block, int64_t size):
        """Evaluate the whole queries of block[:size] in the scratch of thread t; block[size] becomes LF.

        Returns
        -------
        tuple
            How many lines the block has; and None, or a function that makes the exception for what is wrong in it from
            the number of lines before the block.
        """
        cdef Part* part = self.parts + t
        cdef Judged judged = self.judged
        cdef Plan plan = self.plan
        cdef double* values = &self.values[0, 0]
        cdef int ties = self.ties
        cdef bint single = self.single
        cdef int64_t before = lines_of(&part.cursor)
        block[size] = 10
        part.cursor.p = &block[0]
        part.cursor.stop = &block[size]
        part.n = 0
        with nogil:
            read_part(part, judged, plan, ties, single, values)
        self.meet(part)
        return lines_of(&part.cursor) - before, self.problem(part, &block[0]) if part.failed else None

    cdef meet(self, Part* part):
        """Note the queries of a part; one that was met before makes the file ungrouped."""
        cdef int64_t i
        cdef bytes query
        for i in range(part.n):
            if part.places[i] >= 0:
                if self.met[part.places[i]]:
                    self.ungrouped = True
                self.met[part.places[i]] = 1
            else:
                query = part.queries[i].start[:part.queries[i].length]
                if query in self.foreign:
                    self.ungrouped = True
                self.foreign[query] = None

    cdef problem(self, Part* part, const unsigned char* text):
        cdef Group* g = &part.group
        cdef int64_t first, later
        if part.failed == MEMORY:
            return out_of_memory
        if part.failed == REPEATED:
            first = newlines(text, <const unsigned char*>g.docs[part.first].start) + 1
            later = newlines(text, <const unsigned char*>g.docs[part.later].start) + 1
            return functools.partial(repeated_in_block, g.docs[part.later].start[:g.docs[part.later].length],
                                     g.query.start[:g.query.length], first, later, self.path)
        message, column, shown = explain_line(&part.cursor, part.failed)
        line = newlines(text, part.cursor.line) + 1
        return functools.partial(wrong_in_block, message, self.path, line, column, shown)

    def finish(self):
        """Fill the rows of queries that the run lacks; returns what judge_columns returns."""
        cdef Tally total
        cdef int64_t q
        cdef int t
        if reserve(&self.parts[0].ranking, self.plan, 0, 0) < 0:
            raise MemoryError
        for q in range(self.judged.n_queries):
            if not self.met[q]:
                self.status[q] = 1
                measure(self.plan, &self.parts[0].ranking.measured, 0, 0, self.judged.labels + self.judged.offsets[q],
                        self.judged.positive[q], self.judged.judged[q], &self.values[q, 0])
        memset(&total, 0, sizeof(Tally))
        total.tied_example = -1
        total.nothing_example = -1
        for t in range(self.n_threads):
            add_tally(&total, &self.parts[t].tally)
        return tally_tuple(&total)


cdef int64_t newlines(const unsigned char* text, const unsigned char* stop) noexcept nogil:
    cdef int64_t n = 0
    while text < stop:
        n += text[0] == 10
        text += 1
    return n


def repeated(bytes doc_id, bytes query_id, first, later, path):
    """The error for a document that stands twice in a ranking or in a query's judgments; lines may be None."""
    doc, query = (quote(text.decode("utf-8", "surrogateescape")) for text in (doc_id, query_id))
    place = "" if first is None else f", first on line {first}"
    return DuplicateError(f"document {doc} stands twice for query {query}{place}; duplicates='first', 'last' or 'max' "
                          "would repair it", path, later)


def out_of_memory(before):
    return MemoryError()


def repeated_in_block(doc_id, query_id, first, later, path, before):
    return repeated(doc_id, query_id, before + first, before + later, path)


def wrong_in_block(message, path, line, column, shown, before):
    return FormatError(message, path, before + line, column, shown)
