# Ordinary floating point around a kernel: a neighbour that set flush-to-zero must not flush small scores.
cdef extern from "<fenv.h>" nogil:
    ctypedef struct fenv_t:
        pass
    const fenv_t* FE_DFL_ENV
    int fegetenv(fenv_t*) noexcept
    int fesetenv(const fenv_t*) noexcept


cdef inline void ordinary(fenv_t* callers) noexcept nogil:
    """Switch to the default environment; fesetenv(callers) switches back."""
    fegetenv(callers)
    fesetenv(FE_DFL_ENV)
