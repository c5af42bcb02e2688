# The ranks of the documents that count, from all scores of a ranking.
from libc.stdint cimport int32_t, int64_t, uint32_t

from fastir.engine.measure._codes cimport ASCENDING, INPUT, PESSIMISTIC, REVERSED
from fastir.engine.measure._measure cimport Judgments, Plan, Scratch


cdef enum:              # Ranking.sorted, of the first of the ranks that tied rows share
    UNSORTED            # the rows are in input order
    SORTED              # in id order
    NOT_LISTED          # they have not been written there yet

ctypedef int (*compare_fn)(const void* a, const void* b) noexcept nogil


cdef struct Hit:                # a judged document that was retrieved
    double score
    const void* item            # its id, as compare_fn takes it
    int64_t row                 # its position in the input, -1 if unknown
    int32_t label


cdef struct Ranking:            # scratch of one thread
    Scratch measured
    int64_t capacity, hit_capacity
    Hit* hits                   # one allocation with what follows, and measured.lasts except for expected values
    double* levels              # the distinct scores of the hits, highest first
    int64_t* above              # aligned with levels: how many scores are higher
    int64_t* alike              # and how many are equal
    int64_t* rows               # row at each rank, filled where scores are tied; one allocation with what follows
    int64_t* places             # rank, from 0, of each row in input order; filled likewise
    int64_t* spare
    unsigned char* sorted       # per rank, for the tied rows that begin there: UNSORTED, SORTED or NOT_LISTED


cdef inline double comparable(double score, bint single) noexcept nogil:
    """A score as it is compared: in single precision, or unchanged."""
    return <double><float>score if single else score


cdef int reserve(Ranking* r, Plan plan, int64_t n, int64_t hits) noexcept nogil
cdef void discard(Ranking* r) noexcept nogil
cdef void order_hits(Ranking* r, int64_t n, int64_t n_hits) noexcept nogil
cdef int best_first(const void* a, const void* b) noexcept nogil
cdef int worst_first(const void* a, const void* b) noexcept nogil
cdef void settle_by_label(Ranking* r, int64_t n_hits, int ties) noexcept nogil
cdef bint rank_and_measure(Plan plan, Ranking* r, const double* scores, const char* items, int64_t stride, int64_t n,
                           int64_t n_hits, compare_fn compare, int ties, Judgments judgments,
                           double* out) noexcept nogil


# Which of documents with equal scores comes first, for every rule of TIE_CODES (_codes): only this file says so.
#
# The higher score is first. Among equal scores the rule goes by id, by row (INPUT, REVERSED) or by label. An order is
# below 0 if x comes before y, as qsort takes it; a sign is 1 where the larger is first, -1 where the smaller is.
# AVERAGE resolves no tie: its hits are sorted as for OPTIMISTIC, as expected values need some fixed order of labels.
cdef inline int score_order(double x, double y) noexcept nogil:
    return (x < y) - (x > y)


cdef inline int row_order(int64_t x, int64_t y) noexcept nogil:
    """For INPUT; with x and y exchanged for REVERSED."""
    return (x > y) - (x < y)


cdef inline int label_sign(int ties) noexcept nogil:
    return -1 if ties == PESSIMISTIC else 1


cdef inline int label_order(int32_t x, int32_t y, int ties) noexcept nogil:
    return label_sign(ties) * ((x < y) - (x > y))


cdef inline int id_sign(int ties) noexcept nogil:
    """For INPUT and REVERSED, which need any order of ids to search in, as for TREC."""
    return -1 if ties == ASCENDING else 1


cdef inline uint32_t tie_key(int ties, int64_t row, int32_t label) noexcept nogil:
    """A number that is smaller for what comes first: the row or, for rules that go by label, the label."""
    cdef uint32_t rising = <uint32_t>label ^ <uint32_t>1 << 31
    if ties <= REVERSED:
        return <uint32_t>row if ties == INPUT else ~<uint32_t>row
    return rising if ties == PESSIMISTIC else ~rising
