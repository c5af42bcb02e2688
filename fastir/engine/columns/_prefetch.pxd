# Asking for memory before it is read.

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FASTIR_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define FASTIR_PREFETCH(p) ((void)0)
    #endif
    """
    void prefetch "FASTIR_PREFETCH"(const void*) noexcept nogil
