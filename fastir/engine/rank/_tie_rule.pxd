# Which of documents with equal scores stands first: the one place that says so, for every rule of TIE_CODES (_codes).
#
# The higher score is first. Among equal scores the rule goes by id, by row (INPUT) or by label. An order is below 0 if
# x stands before y, as qsort takes it; a sign is 1 where the larger is first, -1 where the smaller is. AVERAGE resolves
# no tie: its hits are sorted as those of OPTIMISTIC, as expected values need some order of the labels that is fixed.
from libc.stdint cimport int32_t, int64_t, uint32_t

from fastir.engine.measure._codes cimport ASCENDING, INPUT, PESSIMISTIC


cdef inline int score_order(double x, double y) noexcept nogil:
    return (x < y) - (x > y)


cdef inline int row_order(int64_t x, int64_t y) noexcept nogil:
    return (x > y) - (x < y)


cdef inline int label_sign(int ties) noexcept nogil:
    return -1 if ties == PESSIMISTIC else 1


cdef inline int label_order(int32_t x, int32_t y, int ties) noexcept nogil:
    return label_sign(ties) * ((x < y) - (x > y))


cdef inline int id_sign(int ties) noexcept nogil:
    """For INPUT, which needs any order of ids to search in, as for TREC."""
    return -1 if ties == ASCENDING else 1


cdef inline uint32_t tie_key(int ties, int64_t row, int32_t label) noexcept nogil:
    """A number that is smaller for what stands first: of the row, or for rules that go by label of the label."""
    cdef uint32_t rising = <uint32_t>label ^ <uint32_t>1 << 31
    return <uint32_t>row if ties == INPUT else rising if ties == PESSIMISTIC else ~rising
