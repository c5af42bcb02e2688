# Prefetching, and memory for large scratch.

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FASTIR_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define FASTIR_PREFETCH(p) ((void)0)
    #endif
    """
    void prefetch "FASTIR_PREFETCH"(const void*) noexcept nogil

# Large scratch lies in huge pages where the system has them: the first touch of each page costs time.
cdef extern from *:
    """
    #include <stdlib.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif

    /* To be freed with free(); NULL without memory. Less than `fastir_huge` bytes are not worth a huge page. */
    static const size_t fastir_huge = (size_t)1 << 21;
    static inline void *fastir_large(size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        void *place;
        if (size >= fastir_huge) {
            if (posix_memalign(&place, fastir_huge, size)) return NULL;
            madvise(place, size, MADV_HUGEPAGE);
            return place;
        }
    #endif
        return malloc(size);
    }
    """
    void* large_malloc "fastir_large"(size_t) noexcept nogil
