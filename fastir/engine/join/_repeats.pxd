# Rows of one query that hold the same document.
from libc.stdint cimport int64_t, uint64_t

from fastir.engine.columns._text cimport Group

cdef enum:                  # what becomes of a document's rows
    KEEP                    # all stay; the first in rank order is judged, the others are taken for unjudged
    MAX                     # one stays, with the largest score
    SUM                     # with the sum of the scores
    MEAN                    # with their mean


cdef struct Repeats:        # scratch of one thread
    int64_t* table          # open addressing: row + 1; 0 is free
    int64_t* first          # of each row: the first row that holds its document; one allocation with what follows
    int64_t* best           # of a first row: the first row among the document's with the largest score
    int64_t* counts         # of a first row: how many rows hold the document
    double* totals          # of a first row: the sum of their scores
    int64_t capacity, table_capacity


cdef int64_t find_repeats(Repeats* r, const Group* g, const uint64_t* hashes) noexcept nogil
cdef int merge_repeats(Repeats* r, Group* g, uint64_t* hashes, int rule) noexcept nogil
cdef void forget_repeats(Repeats* r) noexcept nogil
