# The join for a dict of dicts, for callers who want only some of the queries.
from fastir.join._join cimport Counts
from fastir.join._judged cimport Judged
from fastir.measure._measure cimport Plan


cdef int judge_all(Judged judged, Plan plan, dict run, bint integer_queries, bint integers, double* out,
                   unsigned char* codes, int ties, bint single, list rows, Counts* tally, bytearray uncounted,
                   bint breathes=*) except -1
