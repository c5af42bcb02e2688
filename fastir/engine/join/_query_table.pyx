"""The tables that every row of an ungrouped run is looked up in, small enough for the second-level cache.

In: the qrels and their index of query ids, as the run has them (text or integers). Out:

    query id ─▶ code       its position among the qrels' queries; by the number where all are numbers, or decimal forms,
                           of a range that is not wide; else by its hash, and compared by its last word
    (query, document) ─▶ may it be judged?     two bits per pair of the qrels, in one filter for all queries

A filter for each query, as the join of grouped rows has it (_judged), would be another miss of the cache for every row,
because neighbouring rows belong to different queries. Query ids that the qrels do not have are copied into Names.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from fastir.engine.columns._ids cimport INTEGERS, TEXTS, Column, Text, equal, last_word, read, text_hash
from fastir.engine.columns._memory cimport prefetch
from fastir.engine.columns._number cimport LITTLE, NO_DECIMAL
from fastir.engine.join._join cimport query_bytes
from fastir.engine.join._judged cimport MOST_PROBES, Index, Judged, QueryIndex
from fastir.engine.measure._codes cimport COLLISION, NO_MEMORY


cdef int make_table(QueryTable* table, Judged judged, const QueryIndex* queries, const Index* docs,
                    int64_t most) noexcept nogil:
    """Make the tables of query ids and documents, each as its index has them; 0, or -1 without memory.

    Query ids that are numbers, or their decimal forms, from a range of up to `most` have a slot each.
    """
    cdef int64_t q, i, n = judged.n_queries, size = 64
    cdef uint64_t h
    table.texts, table.n_queries = queries.texts, n
    size = 64
    while size < judged.offsets[n]:
        size *= 2
    table.filter_mask = size - 1
    table.filter = <uint64_t*>calloc(size, sizeof(uint64_t))
    table.integers = queries.integers != NULL
    if table.filter == NULL or ((table.integers or LITTLE) and place_numbers(table, most) < 0):
        return -1
    if table.span == 0 and place_hashes(table) < 0:
        return -1
    for q in range(n):
        if table.texts[q].length < 0:
            continue
        for i in range(judged.offsets[q], judged.offsets[q + 1]):
            if docs.texts[i].length >= 0:
                h = text_hash(docs.texts + i) if docs.integers == NULL else last_word(docs.texts[i].start, 8)
                h = pair_hash(h, q)
                table.filter[h >> 12 & table.filter_mask] |= filter_bits(h)
    return 0


cdef int place_numbers(QueryTable* table, int64_t most) noexcept nogil:
    """Give each number a slot of its own, if that takes at most so many; 0, or -1 without memory.

    What is not written stays a page of zeros, so a wide range takes little memory.
    """
    cdef int64_t q, seen = 0
    cdef uint64_t number, least = 0, largest = 0
    cdef uint64_t zero = <uint64_t>1 << 63 if table.integers else 0     # which changes signed numbers to rising ones
    for q in range(table.n_queries):
        if table.texts[q].length >= 0:
            number = query_number(table, table.texts + q)
            if not table.integers and number == NO_DECIMAL:
                return 0
            least = number if seen == 0 else min(least ^ zero, number ^ zero) ^ zero
            largest = number if seen == 0 else max(largest ^ zero, number ^ zero) ^ zero
            seen += 1
    if seen == 0 or largest - least >= <uint64_t>most:
        return 0
    table.least, table.span = least, largest - least + 1
    table.codes = <int32_t*>calloc(table.span + 1, sizeof(int32_t))
    if table.codes == NULL:
        return -1
    for q in range(table.n_queries):
        if table.texts[q].length >= 0:
            table.codes[query_number(table, table.texts + q) - least] = <int32_t>(q - table.n_queries)
    return 0


cdef int place_hashes(QueryTable* table) noexcept nogil:
    """Put the query ids where their hashes say; 0, or -1 without memory."""
    cdef int64_t q, size = 64
    cdef uint64_t h
    cdef const Text* text
    while size < 8 * table.n_queries:
        size *= 2
    table.mask = size - 1
    table.queries = <QueryId*>malloc((table.n_queries + 1) * sizeof(QueryId))
    table.codes = <int32_t*>malloc(size * sizeof(int32_t))
    if table.queries == NULL or table.codes == NULL:
        return -1
    memset(table.codes, 255, size * sizeof(int32_t))
    for q in range(table.n_queries):
        text = table.texts + q
        if text.length < 0:
            continue
        table.queries[q].word, table.queries[q].length = last_word(text.start, text.length), text.length
        h = text_hash(text) & table.mask
        while table.codes[h] >= 0:
            h = (h + 1) & table.mask
        table.codes[h] = <int32_t>q
    return 0


cdef void free_table(QueryTable* table) noexcept nogil:
    free(table.queries)
    free(table.codes)
    free(table.filter)


cdef int note_name(Names* names, const Text* name, uint64_t h, int64_t row) noexcept nogil:
    """Add a name of hash h unless it is there; its first row is the least. 0, NO_MEMORY or COLLISION."""
    cdef uint64_t slot
    cdef uint64_t word = last_word(name.start, name.length)
    cdef int probes = 0
    cdef Name* one
    if 4 * names.n >= names.size and grow(names) < 0:
        return NO_MEMORY
    slot = h & <uint64_t>(names.size - 1)
    while names.table[slot].text.start != NULL:
        one = names.table + slot
        if one.word == word and one.text.length == name.length and (name.length <= 8 or equal(&one.text, name)):
            one.row = min(one.row, row)
            return 0
        slot = (slot + 1) & <uint64_t>(names.size - 1)
        probes += 1
        if probes > MOST_PROBES:
            return COLLISION
    one = names.table + slot
    one.text.start = <const char*>malloc(name.length + 1)
    if one.text.start == NULL:
        return NO_MEMORY
    memcpy(<char*>one.text.start, name.start, name.length)
    one.text.length, one.word = name.length, word
    one.row = row
    names.n += 1
    return 0


cdef int grow(Names* names) noexcept nogil:
    """Move the names into a larger table; 0, or -1 without memory."""
    cdef int64_t i, size = max(<int64_t>64, 2 * names.size)
    cdef uint64_t slot
    cdef Name* table = <Name*>calloc(size, sizeof(Name))
    if table == NULL:
        return -1
    for i in range(names.size):
        if names.table[i].text.start != NULL:
            slot = text_hash(&names.table[i].text) & <uint64_t>(size - 1)
            while table[slot].text.start != NULL:
                slot = (slot + 1) & <uint64_t>(size - 1)
            table[slot] = names.table[i]
    free(names.table)
    names.table, names.size = table, size
    return 0


cdef list list_names(const Names* names, bint integers):
    """Each name as bytes, and its first row."""
    cdef int64_t i
    return [(query_bytes(&names.table[i].text, integers), names.table[i].row) for i in range(names.size)
            if names.table[i].text.start != NULL]


cdef void free_names(Names* names) noexcept nogil:
    cdef int64_t i
    for i in range(names.size):
        free(<void*>names.table[i].text.start)
    free(names.table)


cdef const uint64_t* id_words(const Column* column, int64_t first, int64_t n, Text* texts,
                              uint64_t* words) noexcept nogil:
    """A word for each of some rows' ids: integers themselves, or the hashes of texts.

    They are written into `words`, and the ids into `texts`, unless the column has them already.
    """
    cdef int64_t i
    if column.kind == INTEGERS:
        return <const uint64_t*>column.places + first
    read(column, first, n, texts)
    if column.kind == TEXTS:
        for i in range(n):
            prefetch(texts[i].start)
    for i in range(n):
        words[i] = last_word(texts[i].start, 8) if column.integers else text_hash(texts + i)
    return words
