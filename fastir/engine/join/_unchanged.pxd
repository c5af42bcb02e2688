# What a caller has, for reading: without a GIL another thread may change it, and a copy made at one moment is read.

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define fastir_unchanged(dict) PyDict_Copy(dict)
    #define fastir_unchanged_ids(ids) PySequence_Tuple(ids)
    #else
    #define fastir_unchanged(dict) Py_NewRef(dict)
    #define fastir_unchanged_ids(ids) Py_NewRef(ids)
    #endif
    """
    dict unchanged "fastir_unchanged"(dict)             # this dict, or a copy that no other thread knows
    object unchanged_ids "fastir_unchanged_ids"(object) # this list or tuple, or such a copy as a tuple
