# How far down C/W/L metrics read.

cdef enum:
    CWL_DEPTH = 1000
