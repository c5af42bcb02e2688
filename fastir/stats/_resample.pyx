"""Resampling kernels: random signs, random orders within queries, and queries drawn with replacement.

In come scores as whole numbers (`fastir.stats.grid` makes them), so that every sum is exact in any order; out go sums,
or counts of sums that reach a limit. A resample is identified by its number: its random bits are a hash of the seed,
that number and a position, so that any thread may do any block of resamples (`engine.threads`). With `listed` the
number itself is read as signs, swaps or indices, and the numbers 0, 1, 2, ... enumerate all arrangements.

    signs     a word of 64 bits is the signs of 64 queries, for all columns; each of its bytes picks one of the 256 sums
              that 8 values can have. A pair's signed sum is the signed sum of one run less the other's, so that the
              work grows with runs, not with pairs. 0.05 ns a sign; with AVX-512, which wheels cannot count on, 0.03
    orders    Fisher-Yates within each query, from sorted scores: the order of the runs is irrelevant; 2 ns a score
    draws     half a word each, index = half * n >> 32; a row of the columns is added per draw; 0.9 ns, 0.4 of many
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from fastir.engine.threads._blocks cimport MAX_THREADS, Blocks, block_count

cdef enum:
    BLOCK = 4096        # the most resamples of a block
    TABLES = 8 * 256    # sums, one table for each byte of a word

BLOCK_SIZE = BLOCK
SIGNS, ORDERS, DRAWS, REPEATS = 1, 2, 3, 4      # the purpose of a hash; from REPEATS on one for each run

cdef uint64_t STEP = 0x9E3779B97F4A7C15


cdef inline uint64_t mix(uint64_t z) noexcept nogil:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t key_of(uint64_t stream, int64_t number) noexcept nogil:
    return mix(stream + <uint64_t>(number + 1) * STEP)


cdef inline uint64_t low_index(uint64_t word, uint64_t n) noexcept nogil:
    return <uint64_t><uint32_t>word * n >> 32


cdef inline uint64_t high_index(uint64_t word, uint64_t n) noexcept nogil:
    return (word >> 32) * n >> 32


def stream(uint64_t seed, uint64_t purpose):
    """The start of the hashes of a seed, a different one for each purpose."""
    return mix(mix(seed + STEP) + purpose * STEP)


# ---- blocks --------------------------------------------------------------------------------------------------------
cdef class Kernel(Blocks):
    """Resamples in blocks; a subclass does the resamples of a block in do(), and has counts for each thread.

    The scratch of a thread is one allocation: first its counts, then what the subclass needs.
    """

    cdef uint64_t stream
    cdef bint listed
    cdef int64_t total, size, n_counts, scratch_bytes
    cdef int64_t* scratch[MAX_THREADS]

    cdef begin(self, resamples, int64_t n_counts, int64_t scratch_bytes):
        """Take the common fields of a Resamples, and how many counts and bytes of scratch a thread needs."""
        self.stream, self.listed, self.total, self.size = (resamples.stream, resamples.listed, resamples.total,
                                                           resamples.block)
        self.n_counts, self.scratch_bytes = n_counts, n_counts * sizeof(int64_t) + scratch_bytes
        self.n_blocks = block_count(self.total, self.size)

    def __dealloc__(self):
        cdef int t
        for t in range(self.n_threads):
            free(self.scratch[t])

    cdef void do(self, int64_t* counts, void* scratch, int64_t first, int64_t last) noexcept nogil:
        """Do the resamples first to last - 1."""

    cdef int work(self, int thread, int64_t block) noexcept nogil:
        cdef int64_t* counts = self.scratch[thread]
        cdef int64_t first = block * self.size
        if counts == NULL:
            counts = self.scratch[thread] = <int64_t*>calloc(self.scratch_bytes + 1, 1)
            if counts == NULL:
                return 1
        self.do(counts, counts + self.n_counts, first, min(first + self.size, self.total))
        return 0

    def counts(self):
        """The sums of the threads' counts, an int64 array of shape (n_counts,)."""
        cdef int t
        cdef int64_t i
        cdef int64_t[::1] sums
        total = np.zeros(self.n_counts, np.int64)
        sums = total
        if self.failed:
            raise MemoryError
        for t in range(self.n_threads):
            if self.scratch[t] != NULL:
                for i in range(self.n_counts):
                    sums[i] += self.scratch[t][i]
        return total


# ---- signs ---------------------------------------------------------------------------------------------------------
cdef void fill_sums(const double* x, int64_t n, double* sums) noexcept nogil:
    """The sums of all subsets of the first 8 of n values: bit j of the index says whether x[j] is in."""
    cdef int64_t i, j, size = 1
    cdef double value
    sums[0] = 0.0
    for j in range(8):
        value = x[j] if j < n else 0.0
        for i in range(size):
            sums[size + i] = sums[i] + value
        size *= 2


cdef void add_chosen(const uint64_t* words, int64_t size, const double* sums, double* chosen) noexcept nogil:
    """To each of `chosen` add the sums that the bytes of its word pick from eight tables."""
    cdef int64_t p
    cdef uint64_t word
    for p in range(size):
        word = words[p]
        chosen[p] += (
            ((sums[word & 255] + sums[256 + (word >> 8 & 255)])
             + (sums[512 + (word >> 16 & 255)] + sums[768 + (word >> 24 & 255)]))
            + ((sums[1024 + (word >> 32 & 255)] + sums[1280 + (word >> 40 & 255)])
               + (sums[1536 + (word >> 48 & 255)] + sums[1792 + (word >> 56)]))
        )


cdef bint is_zero(const double* x, int64_t n) noexcept nogil:
    cdef int64_t j
    for j in range(n):
        if x[j] != 0.0:
            return False
    return True


cdef void signed_sums(const double[:, ::1] x, uint64_t stream, int64_t first, int64_t size, bint listed, double* sums,
                      double* tables) noexcept nogil:
    """sums[c * size + i] = the sum over q of +-x[c, q], with resample first + i's signs.

    The tables are the caller's scratch. With an array of its own, the compiler would know that it overlaps nothing,
    take several words at once, and be slower by a third.
    """
    cdef int64_t n = x.shape[1], q, c, p, g
    cdef double total
    cdef uint64_t keys[BLOCK]
    cdef uint64_t words[BLOCK]
    for p in range(size):
        keys[p] = <uint64_t>(first + p) if listed else key_of(stream, first + p)
    for p in range(x.shape[0] * size):
        sums[p] = 0.0
    for q in range(0, n, 64):
        for p in range(size):
            words[p] = keys[p] if listed else mix(keys[p] + <uint64_t>(q + 1) * STEP)
        for c in range(x.shape[0]):
            if is_zero(&x[c, 0] + q, min(64, n - q)):
                continue
            for g in range(8):
                fill_sums(&x[c, 0] + q + 8 * g, n - q - 8 * g, tables + 256 * g)
            add_chosen(words, size, tables, sums + c * size)
    for c in range(x.shape[0]):
        total = 0.0
        for q in range(n):
            total += x[c, q]
        for p in range(size):
            sums[c * size + p] = 2.0 * sums[c * size + p] - total


cdef int64_t count_pair(const double* left, const double* right, int64_t size, double limit,
                        bint two_sided) noexcept nogil:
    cdef int64_t p, count = 0
    if two_sided:
        for p in range(size):
            count += fabs(left[p] - right[p]) >= limit
    else:
        for p in range(size):
            count += left[p] - right[p] >= limit
    return count


cdef void raise_to(const double* left, const double* right, int64_t size, double scale, double* most) noexcept nogil:
    cdef int64_t p
    cdef double t
    for p in range(size):
        t = fabs(left[p] - right[p]) * scale
        most[p] = t if t > most[p] else most[p]


cdef class Signs(Kernel):
    """Counts how often sums of values with random signs reach limits.

    Parameters
    ----------
    resamples : Resamples
    x : float64 array of shape (n_columns, n_queries)
        Whole numbers; the sum of a column's magnitudes is below 2^52. Where the signs are listed, at most 63 queries.
    a, b : int64 arrays of shape (n_pairs,)
        Columns. counts()[k] is how often the sum of a[k] less that of b[k], or its absolute value, reaches limits[k].
    limits : float64 array of shape (n_pairs,)
    two_sided : bool
    members, ends : int64 arrays of shape (n_members,) and (n_families,)
        The pairs of each family stand together, up to its end.
    scales : float64 array of shape (n_pairs,)
    most : float64 array of shape (n_families, n_resamples), of zeros, filled
        The largest absolute value of a pair in the family, times its scale, in each resample.
    """

    cdef const double[:, ::1] x
    cdef const int64_t[::1] a, b, members, ends
    cdef const double[::1] limits, scales
    cdef bint two_sided
    cdef double[:, ::1] most

    def __init__(self, resamples, x, a, b, limits, bint two_sided, members, ends, scales, most):
        self.x, self.a, self.b, self.limits, self.two_sided = x, a, b, limits, two_sided
        self.members, self.ends, self.scales, self.most = members, ends, scales, most
        self.begin(resamples, len(limits), (len(x) * resamples.block + TABLES) * sizeof(double))

    cdef void do(self, int64_t* counts, void* scratch, int64_t first, int64_t last) noexcept nogil:
        cdef double* tables = <double*>scratch
        cdef double* sums = tables + TABLES
        cdef int64_t p, k, f, i, few, begin, size = last - first
        signed_sums(self.x, self.stream, first, size, self.listed, sums, tables)
        for p in range(0, size, 512):      # which stay in the cache from pair to pair
            few = min(512, size - p)
            for k in range(self.a.shape[0]):
                counts[k] += count_pair(sums + self.a[k] * size + p, sums + self.b[k] * size + p, few, self.limits[k],
                                        self.two_sided)
            begin = 0
            for f in range(self.ends.shape[0]):
                for i in range(begin, self.ends[f]):
                    k = self.members[i]
                    raise_to(sums + self.a[k] * size + p, sums + self.b[k] * size + p, few, self.scales[k],
                             &self.most[f, first + p])
                begin = self.ends[f]


# ---- orders --------------------------------------------------------------------------------------------------------
cdef int64_t permuted_range(const int64_t* x, int64_t n, int64_t m, uint64_t stream, int64_t number, bint listed,
                            int64_t* sums) noexcept nogil:
    """The largest less the smallest column sum of n rows of m, each in the random order of a resample."""
    cdef int64_t q, j, k, low, high, t
    cdef uint64_t key = key_of(stream, number), word = 0, counter = 0, left = <uint64_t>number
    cdef int64_t* row = sums + m
    memset(sums, 0, m * sizeof(int64_t))
    for q in range(n):
        for j in range(m):
            row[j] = x[j]
        x += m
        for j in range(m - 1, 0, -1):
            if listed:
                k = <int64_t>(left % <uint64_t>(j + 1)) if q < n - 1 else j
                left = left // <uint64_t>(j + 1) if q < n - 1 else left
            else:
                if counter & 1 == 0:
                    word = mix(key + (counter // 2 + 1) * STEP)
                k = <int64_t>low_index(word, <uint64_t>(j + 1))
                word >>= 32
                counter += 1
            t = row[k]
            row[k] = row[j]
            sums[j] += t
        sums[0] += row[0]
    low = high = sums[0]
    for j in range(1, m):
        low = min(low, sums[j])
        high = max(high, sums[j])
    return high - low


cdef class Orders(Kernel):
    """ranges[i] = the largest less the smallest column sum of x, each row in the random order of resample i.

    Parameters
    ----------
    resamples : Resamples
        Where they are listed, the digits of a resample's number are the swaps; the last row stays as it is.
    x : int64 array of shape (n_queries, n_runs)
    ranges : int64 array of shape (n_resamples,), filled
    """

    cdef const int64_t[:, ::1] x
    cdef int64_t[::1] ranges

    def __init__(self, resamples, x, ranges):
        self.x, self.ranges = x, ranges
        self.begin(resamples, 0, 2 * self.x.shape[1] * sizeof(int64_t))

    cdef void do(self, int64_t* counts, void* scratch, int64_t first, int64_t last) noexcept nogil:
        cdef int64_t i
        for i in range(first, last):
            self.ranges[i] = permuted_range(&self.x[0, 0], self.x.shape[0], self.x.shape[1], self.stream, i,
                                            self.listed, <int64_t*>scratch)


# ---- draws ---------------------------------------------------------------------------------------------------------
cdef void draw(uint64_t stream, int64_t number, bint listed, int64_t n, int64_t draws, int32_t* chosen) noexcept nogil:
    """Indices below n with replacement: drawn by resample `number`, or the digits of that number."""
    cdef int64_t k
    cdef uint64_t key = key_of(stream, number), word, left = <uint64_t>number, count = <uint64_t>n
    if listed:
        for k in range(draws):
            chosen[k] = <int32_t>(left % count)
            left //= count
        return
    for k in range(0, draws, 2):
        word = mix(key + <uint64_t>(k + 1) * STEP)
        chosen[k] = <int32_t>low_index(word, count)
        if k + 1 < draws:
            chosen[k + 1] = <int32_t>high_index(word, count)


cdef int64_t drawn_total(const int64_t* x, int64_t n, uint64_t key) noexcept nogil:
    """The sum of n values drawn from n as by `draw`; twice as fast for one column."""
    cdef int64_t k, total = 0
    cdef uint64_t word
    for k in range(0, n, 2):
        word = mix(key + <uint64_t>(k + 1) * STEP)
        total += x[low_index(word, <uint64_t>n)]
        if k + 1 < n:
            total += x[high_index(word, <uint64_t>n)]
    return total


cdef class Draws(Kernel):
    """sums[c, i] = the sum of x[q, c] over the queries q that resample start + i draws.

    Parameters
    ----------
    resamples : Resamples
    x : int64 array of shape (n_queries, n_columns)
        At most 2^31 - 1 queries.
    sums : int64 array of shape (n_columns, n), filled
        For n of the resamples, from `start` on.
    """

    cdef const int64_t[:, ::1] x
    cdef int64_t[:, ::1] sums
    cdef int64_t start

    def __init__(self, resamples, x, sums, int64_t start=0):
        self.x, self.sums, self.start = x, sums, start
        self.begin(resamples, 0, self.x.shape[1] * sizeof(int64_t) + self.x.shape[0] * sizeof(int32_t))
        self.total = self.sums.shape[1]
        self.n_blocks = block_count(self.total, self.size)

    cdef void do(self, int64_t* counts, void* scratch, int64_t first, int64_t last) noexcept nogil:
        cdef int64_t n = self.x.shape[0], m = self.x.shape[1], i, k, c
        cdef const int64_t* x = &self.x[0, 0]
        cdef const int64_t* row
        cdef int64_t* totals = <int64_t*>scratch
        cdef int32_t* chosen = <int32_t*>(totals + m)
        for i in range(first, last):
            if m == 1 and not self.listed:
                self.sums[0, i] = drawn_total(x, n, key_of(self.stream, self.start + i))
                continue
            draw(self.stream, self.start + i, self.listed, n, n, chosen)
            memset(totals, 0, m * sizeof(int64_t))
            for k in range(n):
                row = x + chosen[k] * m
                for c in range(m):
                    totals[c] += row[c]
            for c in range(m):
                self.sums[c, i] = totals[c]


def drawn_indices(uint64_t stream, int64_t first, int64_t n, int32_t[:, ::1] chosen):
    """chosen[i] = the indices below n that resample first + i draws."""
    cdef int64_t i
    with nogil:
        for i in range(chosen.shape[0]):
            draw(stream, first + i, False, n, chosen.shape[1], &chosen[i, 0])


cdef void add_moments(const double* x, int64_t m, const int32_t* chosen, int64_t n, double* totals) noexcept nogil:
    """The sum and the sum of squares of each column of the chosen rows; one column stays in registers."""
    cdef int64_t k, c
    cdef const double* row
    cdef double s = 0.0, ss = 0.0
    if m == 1:
        for k in range(n):
            s += x[chosen[k]]
            ss += x[chosen[k]] * x[chosen[k]]
        totals[0], totals[1] = s, ss
        return
    memset(totals, 0, 2 * m * sizeof(double))
    for k in range(n):
        row = x + chosen[k] * m
        for c in range(m):
            totals[2 * c] += row[c]
            totals[2 * c + 1] += row[c] * row[c]


cdef class Studentized(Kernel):
    """Counts the resamples whose t reaches the limit of a column, and the resamples without variance, which do not.

    Parameters
    ----------
    resamples : Resamples
    shifted : float64 array of shape (n_queries, n_columns)
        Differences less a number near their mean.
    offsets, noise : float64 arrays of shape (n_columns,)
        The sum of each column, and by how much a sum may miss what it is on paper.
    limits : float64 array of shape (n_columns,)
        counts() has for each column the resamples that reach it, then for each column the resamples without variance.
    two_sided : bool
    """

    cdef const double[:, ::1] shifted
    cdef const double[::1] offsets, noise, limits
    cdef bint two_sided

    def __init__(self, resamples, shifted, offsets, noise, limits, bint two_sided):
        self.shifted, self.offsets, self.noise = shifted, offsets, noise
        self.limits, self.two_sided = limits, two_sided
        self.begin(resamples, 2 * len(limits),
                   2 * len(limits) * sizeof(double) + self.shifted.shape[0] * sizeof(int32_t))

    cdef void do(self, int64_t* counts, void* scratch, int64_t first, int64_t last) noexcept nogil:
        cdef int64_t n = self.shifted.shape[0], m = self.shifted.shape[1], i, c
        cdef double s, ss, variance, off
        cdef double* totals = <double*>scratch
        cdef int32_t* chosen = <int32_t*>(totals + 2 * m)
        for i in range(first, last):
            draw(self.stream, i, self.listed, n, n, chosen)
            add_moments(&self.shifted[0, 0], m, chosen, n, totals)
            for c in range(m):
                s = totals[2 * c]
                ss = totals[2 * c + 1]
                variance = ss - s * s / n
                if variance <= 1e-12 * ss:
                    counts[m + c] += 1
                    continue
                off = s - self.offsets[c]
                off = (fabs(off) if self.two_sided else off) + self.noise[c]
                counts[c] += off / sqrt(variance / (n - 1) * n) >= self.limits[c]
