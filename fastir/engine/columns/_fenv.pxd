# Ordinary floating point around a kernel: if another library has set flush-to-zero, small scores must not be flushed.
#
# On x86-64 all of our arithmetic goes by one register. It is read, and written only if it is unusual: the functions of
# <fenv.h>, which take 190 ns, also save and load the old unit's state. Afterwards it is as before, with its flags.
cdef extern from *:
    """
    #if defined(__x86_64__) || defined(_M_X64)
    #include <xmmintrin.h>
    #define FASTIR_ORDINARY_CSR 0x1F80u     /* round to nearest, nothing flushed, no traps */
    typedef unsigned int fastir_env;
    static inline void fastir_ordinary(fastir_env* callers) {
        *callers = _mm_getcsr();
        if ((*callers & ~0x3Fu) != FASTIR_ORDINARY_CSR) _mm_setcsr(FASTIR_ORDINARY_CSR);
    }
    static inline void fastir_restore(const fastir_env* callers) { _mm_setcsr(*callers); }
    #else
    #include <fenv.h>
    typedef fenv_t fastir_env;
    static inline void fastir_ordinary(fastir_env* callers) { fegetenv(callers); fesetenv(FE_DFL_ENV); }
    static inline void fastir_restore(const fastir_env* callers) { fesetenv(callers); }
    #endif
    """
    ctypedef struct fenv_t "fastir_env":
        pass
    void ordinary "fastir_ordinary"(fenv_t* callers) noexcept nogil         # switch to the default environment
    void fesetenv "fastir_restore"(const fenv_t* callers) noexcept nogil    # and back
