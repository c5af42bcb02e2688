# The best labels of a group whose labels are not whole.
from libc.stdint cimport int64_t

from fastir.engine.measure._measure cimport Judgments, Plan
from fastir.engine.rank._labels cimport Buffer, Labels

cdef int put_best_first(Plan plan, const Labels* labels, const int64_t* ranks, int64_t n_hits, Buffer* ideal,
                        Buffer* positive, Buffer* spare, Judgments* judgments) noexcept nogil
