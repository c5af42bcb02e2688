# The secret words of the hash.
from libc.stdint cimport uint64_t

cdef uint64_t START     # where a hash begins
cdef uint64_t FACTOR    # what it is multiplied by; odd
