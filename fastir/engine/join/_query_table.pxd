# The query ids of rows: known ones become codes, unknown ones are noted; and which documents may be judged.
from libc.stdint cimport int32_t, int64_t, uint64_t

from fastir.engine.columns._ids cimport FACTOR, START, Column, Text, equal, fold, last_word, text_hash, word_hash
from fastir.engine.columns._number cimport decimal_value
from fastir.engine.join._judged cimport Index, Judged, QueryIndex


cdef struct QueryId:        # a query id of the qrels
    uint64_t word           # its last bytes, which are the whole id if it has up to 8
    int64_t length


cdef struct QueryTable:     # the tables in which every row is looked up
    const Text* texts       # the query ids
    QueryId* queries        # parallel to texts
    int32_t* codes          # by hash: a position among them, or -1; NULL before make_table()
    uint64_t mask
    uint64_t least, span    # or by number, from the least: a position less n_queries, and 0 beyond `span`; else span 0
    bint integers           # whether the ids are numbers, not their decimal forms
    int64_t n_queries
    uint64_t* filter        # two bits for each pair of a query and a judged document
    uint64_t filter_mask


cdef struct Name:           # a copied query id, and the first row that has it
    Text text
    uint64_t word           # its last bytes, so that most need not be looked for
    int64_t row


cdef struct Names:          # distinct query ids
    Name* table             # open addressing; start NULL is free
    int64_t n, size


cdef int make_table(QueryTable* table, Judged judged, const QueryIndex* queries, const Index* docs,
                    int64_t most) noexcept nogil
cdef void free_table(QueryTable* table) noexcept nogil
cdef int note_name(Names* names, const Text* name, uint64_t h, int64_t row) noexcept nogil
cdef list list_names(const Names* names, bint integers)
cdef void free_names(Names* names) noexcept nogil
cdef const uint64_t* id_words(const Column* column, int64_t first, int64_t n, Text* texts,
                              uint64_t* words) noexcept nogil


cdef inline uint64_t query_number(const QueryTable* table, const Text* query) noexcept nogil:
    """The number of a query id, or NO_DECIMAL."""
    return last_word(query.start, 8) if table.integers else decimal_value(query.start, query.length)


cdef inline int32_t code_or_n(const QueryTable* table, uint64_t word) noexcept nogil:
    """The position of the query id with this number, or n_queries; the table has a span."""
    return table.codes[min(word - table.least, table.span)] + <int32_t>table.n_queries


cdef inline int64_t integer_code(const QueryTable* table, uint64_t word) noexcept nogil:
    """The position of a query id that is the eight bytes of this word, or -1; the table is of integers."""
    cdef uint64_t slot
    cdef int64_t code
    if table.span > 0:
        code = code_or_n(table, word)
        return code if code < table.n_queries else -1
    slot = word_hash(word) & table.mask
    code = table.codes[slot]
    while code >= 0 and table.queries[code].word != word:
        slot = (slot + 1) & table.mask
        code = table.codes[slot]
    return code


cdef inline bint is_query(const QueryTable* table, int64_t code, const Text* query) noexcept nogil:
    """Whether the query id of this position is that text."""
    return table.queries[code].length == query.length and table.queries[code].word == last_word(
        query.start, query.length) and (query.length <= 8 or equal(table.texts + code, query))


cdef inline int64_t query_code(const QueryTable* table, const Text* query) noexcept nogil:
    """The position of a query id, or -1."""
    cdef uint64_t slot
    cdef int64_t code
    if table.span > 0:
        return integer_code(table, query_number(table, query))
    slot = text_hash(query) & table.mask
    code = table.codes[slot]
    while code >= 0 and not is_query(table, code, query):
        slot = (slot + 1) & table.mask
        code = table.codes[slot]
    return code


cdef inline void hash_pairs(const uint64_t* docs, const int32_t* codes, int64_t n, uint64_t* pairs) noexcept nogil:
    """pair_hash() of each; the secret words stay in registers, which no store can change."""
    cdef uint64_t start = START, factor = FACTOR
    cdef int64_t i
    for i in range(n):
        pairs[i] = fold(docs[i] ^ start, <uint64_t>codes[i] ^ factor)


cdef inline uint64_t pair_hash(uint64_t doc, uint64_t query) noexcept nogil:
    """The hash of a document, as id_words() gives it, and a query, its position or its hash.

    One product is enough, because both factors have secret words.
    """
    return fold(doc ^ START, query ^ FACTOR)


cdef inline uint64_t filter_bits(uint64_t pair) noexcept nogil:
    """The two bits of a pair in its word of the filter."""
    return <uint64_t>1 << (pair & 63) | <uint64_t>1 << (pair >> 6 & 63)


cdef inline bint may_be_judged(const QueryTable* table, uint64_t pair) noexcept nogil:
    """Whether a document may be judged for a query, from their pair_hash(); a few unjudged ones pass, too."""
    cdef uint64_t bits = filter_bits(pair)
    return table.filter[pair >> 12 & table.filter_mask] & bits == bits
