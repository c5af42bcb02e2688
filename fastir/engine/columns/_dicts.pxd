# Callers' dicts, for those who read them in C.


cdef dict own_items(mapping)
