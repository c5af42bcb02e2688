# Ordinary floating point around a kernel: if another library has set flush-to-zero, small scores must not be flushed.
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
