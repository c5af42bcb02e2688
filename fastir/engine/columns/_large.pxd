# Memory for large scratch, in huge pages where the system has them: a page that is touched first costs time.

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
