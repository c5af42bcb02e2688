# The check of a plan that collects hits, for every join.
from fastir.engine.join._judged cimport Judged
from fastir.engine.measure._measure cimport Plan


cdef int check_judged(Plan plan, Judged judged) except -1
