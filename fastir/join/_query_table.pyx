"""The tables that every row of an ungrouped run is looked up in, small enough for the second-level cache.

In: the qrels and their index of query ids, as the run has them (text or integers). Out:

    query id ─▶ code       its position among the qrels' queries, or -1; by hash, and compared by its last word
    (query, document) ─▶ may it be judged?     two bits per pair of the qrels, in one filter for all queries

A filter for each query, as the join of grouped rows has it (_judged), would be another miss of the cache for every row,
because neighbouring rows belong to different queries. Query ids that the qrels do not have are copied into Names.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from fastir.columns._text cimport Text, equal, hash_of, last_word, mixed
from fastir.join._judged cimport MOST_PROBES, Index, Judged
from fastir.measure._codes cimport COLLISION, NO_MEMORY


cdef int make_table(QueryTable* table, Judged judged, const Index* queries, const Index* docs) noexcept nogil:
    """Make the tables of query ids and documents, each as its index has them; 0, or -1 without memory."""
    cdef int64_t q, i, n = judged.n_queries, size = 64
    cdef uint64_t h
    cdef const Text* text
    while size < 8 * n:
        size *= 2
    table.mask = size - 1
    table.texts = queries.queries
    table.queries = <Known*>malloc((n + 1) * sizeof(Known))
    table.codes = <int32_t*>malloc(size * sizeof(int32_t))
    if table.codes != NULL:
        memset(table.codes, 255, size * sizeof(int32_t))
    size = 64
    while size < judged.offsets[n] // 2:
        size *= 2
    table.filter_mask = size - 1
    table.filter = <uint64_t*>calloc(size, sizeof(uint64_t))
    if table.queries == NULL or table.codes == NULL or table.filter == NULL:
        return -1
    for q in range(n):
        text = queries.queries + q
        if text.length < 0:
            continue
        table.queries[q].word, table.queries[q].length = last_word(text.start, text.length), text.length
        h = hash_of(text) & table.mask
        while table.codes[h] >= 0:
            h = (h + 1) & table.mask
        table.codes[h] = <int32_t>q
        for i in range(judged.offsets[q], judged.offsets[q + 1]):
            if docs.texts[i].length >= 0:
                h = mixed(hash_of(docs.texts + i), q)
                table.filter[h >> 12 & table.filter_mask] |= bits_of(h)
    return 0


cdef void free_table(QueryTable* table) noexcept nogil:
    free(table.queries)
    free(table.codes)
    free(table.filter)


cdef int note_name(Names* names, const Text* name, uint64_t h, int64_t row) noexcept nogil:
    """Add a name of hash h unless it is there; its first row is the least. 0, NO_MEMORY or COLLISION."""
    cdef uint64_t slot
    cdef int probes = 0
    cdef Name* one
    if 2 * names.n >= names.size and grow(names) < 0:
        return NO_MEMORY
    slot = h & <uint64_t>(names.size - 1)
    while names.table[slot].text.start != NULL:
        one = names.table + slot
        if equal(&one.text, name):
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
    one.text.length = name.length
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
            slot = hash_of(&names.table[i].text) & <uint64_t>(size - 1)
            while table[slot].text.start != NULL:
                slot = (slot + 1) & <uint64_t>(size - 1)
            table[slot] = names.table[i]
    free(names.table)
    names.table, names.size = table, size
    return 0


cdef void free_names(Names* names) noexcept nogil:
    cdef int64_t i
    for i in range(names.size):
        free(<void*>names.table[i].text.start)
    free(names.table)
