# Documents of one query put in order, by scores and by ids.
from libc.stdint cimport int64_t

from fastir.engine.columns._ids cimport Text
from fastir.engine.rank._sorted_rows cimport Entry

ctypedef bint (*before_fn)(const void* context, int64_t a, int64_t b) noexcept nogil

cdef void merge(Entry* entries, Entry* spare, int64_t n, before_fn before, const void* context) noexcept nogil
cdef void sort_by_id(Entry* entries, Entry* spare, int64_t n, const Text* docs, int sign) noexcept nogil
cdef void sort_by_score(const double* scores, int64_t n, const Text* docs, int sign, Entry* entries,
                        Entry* spare) noexcept nogil
