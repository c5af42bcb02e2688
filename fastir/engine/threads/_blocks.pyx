"""The loop of every kernel over arrays: work in blocks, which threads take in order.

In: a subclass of Blocks, with a work() that does one block in the scratch of one thread. Out: the blocks are done, or
one has failed. The subclass keeps the results.

    n_blocks = 9    thread 0    block 0    2  3       6     8
                    thread 1    block 1         4  5     7

A block is some 10 to 50 microseconds of work, measured in bytes of input, as queries differ in length: it is
small enough for two threads to share 0.2 ms evenly, and large enough to hide the cost of taking it, about 0.1
microseconds. As blocks are taken in order and each one that was taken is done, the first one that fails is the same for
any number of threads. (Blocks of random signs are larger, as each begins by filling tables.)

A round lasts as long as its caller says; between two rounds the caller, who holds the GIL, can look for Ctrl-C. A
round of several threads is one prange, a team of OpenMP. The following never enter one, but do the same blocks in a
plain loop:

    one thread          a region can cost milliseconds on a busy machine
    a forked process    libgomp would wait for ever for the parent's team; pthread_atfork notices every fork
    a second caller     while a team is at work, another one would only compete with it for the same cores

Measured on two idle cores: a team gains 1.6 times at 0.02 ms of work, and Python threads, which take 0.1 ms to start,
lose below 0.5 ms.

Call is a call in a thread of its own, which always reports its end. In: a function without arguments, and a lock that
is held. Out: `ended`, then `result`, or `error` if the function raised; the lock is released.

Compiled, because a new thread needs memory before the first line of a Python function: where there is none,
threading.Thread.start() waits for ever in CPython 3.11. This one allocates nothing until it calls the function, inside
the try.
"""

cimport cython
from cython.parallel cimport prange, threadid
from libc.stdint cimport int64_t

cdef extern from "_blocks.h" nogil:
    int FASTIR_OPENMP
    int64_t fastir_forked
    int64_t fastir_load(int64_t* p) noexcept
    void fastir_store(int64_t* p, int64_t value) noexcept
    int64_t fastir_exchange(int64_t* p, int64_t value) noexcept
    int64_t fastir_take(int64_t* p) noexcept
    double fastir_clock() noexcept
    double fastir_thread_time() noexcept
    int fastir_watch_forks() noexcept

cdef enum:
    MAX_ROUND_BLOCKS = 4096      # in a round, which skips the rest of them when its time is over

cdef int64_t team_at_work = 0

OPENMP = FASTIR_OPENMP != 0
THREAD_LIMIT = MAX_THREADS

if fastir_watch_forks() != 0:
    raise MemoryError("pthread_atfork failed")


def is_forked():
    """Whether this process is the child of a fork that happened after fastir was imported."""
    return fastir_load(&fastir_forked) != 0


cdef bint take_one(Blocks blocks, int thread, double until) noexcept nogil:
    """Do the next block; False if there is none, one has failed, or the time is over."""
    cdef int64_t block
    if fastir_load(&blocks.failed) or fastir_load(&blocks.taken) >= blocks.n_blocks or fastir_clock() >= until:
        return False
    block = fastir_take(&blocks.taken)
    if block >= blocks.n_blocks:
        return False
    if blocks.work(thread, block):
        fastir_store(&blocks.failed, 1)
    return True


cdef void take_in_team(Blocks blocks, int n_threads, double until) noexcept nogil:
    cdef int64_t _i, n = min(blocks.n_blocks - blocks.taken, <int64_t>MAX_ROUND_BLOCKS)
    for _i in prange(n, num_threads=n_threads, schedule="dynamic", chunksize=1):
        take_one(blocks, threadid(), until)


cdef double rest(Blocks blocks, int64_t first, double took) noexcept nogil:
    """About how many seconds the remaining blocks will take, if the blocks from `first` on took `seconds`."""
    cdef int64_t taken = fastir_load(&blocks.taken)
    if taken >= blocks.n_blocks or fastir_load(&blocks.failed):
        return 0.0
    return max(1e-9, took * (blocks.n_blocks - taken) / max(<int64_t>1, taken - first))


cdef class Blocks:
    """Work in blocks; a subclass sets n_blocks and does a block in work()."""

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        """Do a block in the scratch of this thread; not 0 if it failed, which ends the call."""
        return 0

    def run_alone(self, int thread, double seconds):
        """Do blocks in the calling thread for about `seconds`; returns seconds of processor time for the rest."""
        cdef double begin, until
        cdef int64_t first
        cdef bint is_last
        with cython.critical_section(self):
            self.n_threads = max(self.n_threads, thread + 1)
        with nogil:
            first = fastir_load(&self.taken)
            is_last = self.n_blocks <= first + 1    # nothing follows it, so its time is not needed
            begin = 0.0 if is_last else fastir_thread_time()
            until = fastir_clock() + seconds
            while take_one(self, thread, until):
                pass
            if fastir_load(&self.taken) < self.n_blocks:
                seconds = rest(self, first, 0.0 if is_last else fastir_thread_time() - begin)
            else:
                seconds = 0.0
        return seconds

    def run_in_team(self, int n_threads, double seconds):
        """Do blocks in a team, of which the caller is thread 0, or alone where a team is not allowed.

        About how many seconds the rest will take: on the clock for a team, of processor time alone.
        """
        cdef double begin
        cdef int64_t first
        n_threads = <int>max(<int64_t>1, min(<int64_t>n_threads, self.n_blocks - fastir_load(&self.taken)))
        if n_threads == 1 or fastir_load(&fastir_forked) or fastir_exchange(&team_at_work, 1):
            return self.run_alone(0, seconds)
        self.n_threads = max(self.n_threads, n_threads)
        with nogil:
            first = fastir_load(&self.taken)
            begin = fastir_clock()
            take_in_team(self, n_threads, begin + seconds)
            fastir_store(&team_at_work, 0)
            seconds = rest(self, first, fastir_clock() - begin)
        return seconds


# ---- call ------------------------------------------------------------------------------------------------------------
cdef class Call:
    cdef readonly object result, error
    cdef readonly bint ended
    cdef object work, lock

    def __init__(self, work, lock):
        self.work = work
        self.lock = lock

    def __call__(self):
        try:
            self.result = self.work()
        except BaseException as error:
            self.error = error
        finally:
            self.ended = True
            self.lock.release()
