"""Resampling kernels: random signs, random orders within queries, and queries drawn with replacement.

In come scores as whole numbers (`fastir.stats.grid` makes them), so that every sum is exact, whatever its order; out go
sums, or counts of sums that reach a limit. A resample is its number: what is random in it is a hash of the seed, that
number and a position, so that any thread may do any block of resamples. With `listed` the number itself is read as
signs, swaps or indices, and 0, 1, 2, ... are all there are.

    signs     a word of 64 bits is the signs of 64 queries, for all columns; each of its bytes picks one of the 256 sums
              that 8 values can have. A pair's signed sum is that of one run less that of the other, so that the work
              grows with runs, not with pairs. 0.05 ns a sign; with AVX-512, which wheels cannot count on, 0.03
    orders    Fisher-Yates within each query, from the sorted scores: the order of the runs has no say; 2 ns a score
    draws     half a word each, index = half * n >> 32; a row of the columns is added per draw; 0.9 ns, 0.4 of many

Exact p-values of one pair count the subsets of the absolute differences whose sum stays below a limit: by halves, whose
sorted subset sums meet in the middle (2^20 of 2^40), or by a table of all sums if these are few whole numbers.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef enum:
    BLOCK = 4096        # the most resamples that a call does

BLOCK_SIZE = BLOCK
TABLES = 8 * 256    # one for each byte of a word
SIGNS, ORDERS, DRAWS, REPEATS = 1, 2, 3, 4      # what a hash is for; from REPEATS on one for each run

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
    """What the words of a seed are hashed from, apart for each purpose."""
    return mix(mix(seed + STEP) + purpose * STEP)


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
    """To each of `chosen` add what the bytes of its word pick from eight tables of sums."""
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


def signed_sums(const double[:, ::1] x, uint64_t stream, int64_t first, bint listed, double[:, ::1] sums,
                double[::1] tables):
    """sums[c, i] = the sum over q of +-x[c, q], the signs being those of resample first + i.

    Parameters
    ----------
    x : float64 array of shape (n_columns, n_queries)
        Whole numbers; the sum of a column's magnitudes is below 2^52.
    listed : bool
        The bits of the resample's number are the signs, for at most 63 queries.
    sums : float64 array of shape (n_columns, n_resamples)
        At most BLOCK_SIZE resamples.
    tables : float64 array of shape (TABLES,)
        Scratch. Of an array of its own the compiler would know that it overlaps nothing, take several words at once,
        and be slower by a third.
    """
    cdef int64_t n = x.shape[1], size = sums.shape[1], q, c, p, g
    cdef double total
    cdef uint64_t keys[BLOCK]
    cdef uint64_t words[BLOCK]
    with nogil:
        for p in range(size):
            keys[p] = <uint64_t>(first + p) if listed else key_of(stream, first + p)
        for c in range(x.shape[0]):
            for p in range(size):
                sums[c, p] = 0.0
        for q in range(0, n, 64):
            for p in range(size):
                words[p] = keys[p] if listed else mix(keys[p] + <uint64_t>(q + 1) * STEP)
            for c in range(x.shape[0]):
                if is_zero(&x[c, 0] + q, min(64, n - q)):
                    continue
                for g in range(8):
                    fill_sums(&x[c, 0] + q + 8 * g, n - q - 8 * g, &tables[256 * g])
                add_chosen(words, size, &tables[0], &sums[c, 0])
        for c in range(x.shape[0]):
            total = 0.0
            for q in range(n):
                total += x[c, q]
            for p in range(size):
                sums[c, p] = 2.0 * sums[c, p] - total


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


def count_reached(const double[:, ::1] sums, const int64_t[::1] a, const int64_t[::1] b, const double[::1] limits,
                  bint two_sided, int64_t[::1] counts):
    """To counts[k] add how often sums[a[k]] - sums[b[k]], or its absolute value, reaches limits[k]."""
    cdef int64_t k, p, size = sums.shape[1]
    with nogil:
        for p in range(0, size, 512):      # which stay in the cache from pair to pair
            for k in range(a.shape[0]):
                counts[k] += count_pair(&sums[a[k], p], &sums[b[k], p], min(512, size - p), limits[k], two_sided)


cdef void raise_to(const double* left, const double* right, int64_t size, double scale, double* most) noexcept nogil:
    cdef int64_t p
    cdef double t
    for p in range(size):
        t = fabs(left[p] - right[p]) * scale
        most[p] = t if t > most[p] else most[p]


def greatest(const double[:, ::1] sums, const int64_t[::1] a, const int64_t[::1] b, const double[::1] scales,
             double[::1] most):
    """most[i] = the largest of |sums[a[k], i] - sums[b[k], i]| * scales[k] over k, or itself."""
    cdef int64_t k, p, size = sums.shape[1]
    with nogil:
        for p in range(0, size, 512):      # which stay in the cache from pair to pair
            for k in range(a.shape[0]):
                raise_to(&sums[a[k], p], &sums[b[k], p], min(512, size - p), scales[k], &most[p])


# ---- orders --------------------------------------------------------------------------------------------------------

def permuted_ranges(const int64_t[:, ::1] x, uint64_t stream, int64_t first, bint listed, int64_t[::1] ranges):
    """ranges[i] = the largest less the smallest column sum of x, each row in the random order of resample first + i.

    Parameters
    ----------
    x : int64 array of shape (n_queries, n_runs)
    listed : bool
        The digits of the resample's number are the swaps; the last row stays as it is.
    """
    cdef int64_t n = x.shape[0], m = x.shape[1], i, q, j, k, low, high, t
    cdef uint64_t key, word = 0, counter, left
    cdef int64_t* sums = <int64_t*>malloc(2 * m * sizeof(int64_t))
    cdef int64_t* row = sums + m
    if sums is NULL:
        raise MemoryError
    with nogil:
        for i in range(ranges.shape[0]):
            key = key_of(stream, first + i)
            left = <uint64_t>(first + i)
            counter = 0
            memset(sums, 0, m * sizeof(int64_t))
            for q in range(n):
                for j in range(m):
                    row[j] = x[q, j]
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
            ranges[i] = high - low
    free(sums)


# ---- draws ---------------------------------------------------------------------------------------------------------

cdef void draw(uint64_t stream, int64_t number, bint listed, int64_t n, int64_t draws, int32_t* chosen) noexcept nogil:
    """Indices below n with replacement: those of resample `number`, or the digits of that number."""
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
    """The sum of as many values as there are, each drawn as by `draw`: twice as fast for one column."""
    cdef int64_t k, total = 0
    cdef uint64_t word
    for k in range(0, n, 2):
        word = mix(key + <uint64_t>(k + 1) * STEP)
        total += x[low_index(word, <uint64_t>n)]
        if k + 1 < n:
            total += x[high_index(word, <uint64_t>n)]
    return total


def drawn_sums(const int64_t[:, ::1] x, uint64_t stream, int64_t first, bint listed, int64_t[:, ::1] sums):
    """sums[c, i] = the sum of x[q, c] over the queries q that resample first + i draws.

    Parameters
    ----------
    x : int64 array of shape (n_queries, n_columns)
        At most 2^31 - 1 queries.
    """
    cdef int64_t n = x.shape[0], m = x.shape[1], i, k, c
    cdef const int64_t* row
    cdef int64_t* totals = <int64_t*>malloc(m * sizeof(int64_t))
    cdef int32_t* chosen = <int32_t*>malloc(n * sizeof(int32_t))
    try:
        if totals is NULL or chosen is NULL:
            raise MemoryError
        with nogil:
            for i in range(sums.shape[1]):
                if m == 1 and not listed:
                    sums[0, i] = drawn_total(&x[0, 0], n, key_of(stream, first + i))
                    continue
                draw(stream, first + i, listed, n, n, chosen)
                memset(totals, 0, m * sizeof(int64_t))
                for k in range(n):
                    row = &x[chosen[k], 0]
                    for c in range(m):
                        totals[c] += row[c]
                for c in range(m):
                    sums[c, i] = totals[c]
    finally:
        free(totals)
        free(chosen)


def drawn_indices(uint64_t stream, int64_t first, int64_t n, int32_t[:, ::1] chosen):
    """chosen[i] = the indices below n that resample first + i draws."""
    cdef int64_t i
    with nogil:
        for i in range(chosen.shape[0]):
            draw(stream, first + i, False, n, chosen.shape[1], &chosen[i, 0])


def count_studentized(const double[:, ::1] centred, const double[::1] limits, bint two_sided, uint64_t stream,
                      int64_t first, int64_t last, bint listed, int64_t[::1] counts, int64_t[::1] constant):
    """To counts[c] add how many of the resamples first to last - 1 have a t that reaches limits[c].

    Parameters
    ----------
    centred : float64 array of shape (n_queries, n_columns)
        Differences less their mean.
    constant : int64 array of shape (n_columns,)
        Gains the resamples without variance, which count as not reaching.
    """
    cdef int64_t n = centred.shape[0], m = centred.shape[1], i, k, c
    cdef double s, ss, variance, t
    cdef const double* row
    cdef double* totals = <double*>malloc(2 * m * sizeof(double))
    cdef int32_t* chosen = <int32_t*>malloc(n * sizeof(int32_t))
    try:
        if totals is NULL or chosen is NULL:
            raise MemoryError
        with nogil:
            for i in range(first, last):
                draw(stream, i, listed, n, n, chosen)
                memset(totals, 0, 2 * m * sizeof(double))
                for k in range(n):
                    row = &centred[chosen[k], 0]
                    for c in range(m):
                        totals[2 * c] += row[c]
                        totals[2 * c + 1] += row[c] * row[c]
                for c in range(m):
                    s = totals[2 * c]
                    ss = totals[2 * c + 1]
                    variance = ss - s * s / n
                    if variance <= 1e-12 * ss:
                        constant[c] += 1
                        continue
                    t = s / sqrt(variance / (n - 1) * n)
                    counts[c] += (fabs(t) if two_sided else t) >= limits[c]
    finally:
        free(totals)
        free(chosen)


# ---- exact counts --------------------------------------------------------------------------------------------------

cdef void subset_sums(const int64_t* d, int64_t n, int64_t* sums, int64_t* spare) noexcept nogil:
    """All 2^n subset sums of non-negative values in ascending order: with each value, merged with themselves + it.

    Of the two the sums without the value end first, because ties are theirs and the last sum has it.
    """
    cdef int64_t size = 1, j, i, k, p, a, b
    cdef int64_t* swap
    cdef int64_t* begin = sums
    sums[0] = 0
    for j in range(n):
        i = 0
        k = 0
        for p in range(2 * size):
            a = sums[i] if i < size else 0
            b = sums[k] + d[j]
            if i < size and a <= b:
                spare[p] = a
                i += 1
            else:
                spare[p] = b
                k += 1
        swap = sums
        sums = spare
        spare = swap
        size *= 2
    if sums is not begin:
        for p in range(size):
            begin[p] = sums[p]


def subsets_below(const int64_t[::1] d, int64_t limit):
    """How many subsets of non-negative values, at most 62, have a sum of at most `limit`."""
    cdef int64_t n = d.shape[0], half = n // 2, i, k, most = <int64_t>1 << (n - half), few = <int64_t>1 << half
    cdef uint64_t count = 0
    cdef int64_t* sums = <int64_t*>malloc(3 * most * sizeof(int64_t))
    if sums is NULL:
        raise MemoryError
    with nogil:
        subset_sums(&d[0], half, sums, sums + most)
        subset_sums(&d[half], n - half, sums + most, sums + 2 * most)
        k = most
        for i in range(few):
            while k > 0 and sums[i] + sums[most + k - 1] > limit:
                k -= 1
            count += <uint64_t>k
    free(sums)
    return count


def share_below(const int64_t[::1] d, int64_t limit):
    """The share of the subsets of non-negative values whose sum is at most `limit`, by a table of limit + 1 sums."""
    cdef int64_t i, j, top = 0
    cdef double total = 0.0
    if limit < 0:
        return 0.0
    cdef double* shares = <double*>malloc((limit + 1) * sizeof(double))
    if shares is NULL:
        raise MemoryError
    with nogil:
        memset(shares, 0, (limit + 1) * sizeof(double))
        shares[0] = 1.0
        for j in range(d.shape[0]):
            top = min(limit, top + d[j])
            for i in range(top, d[j] - 1, -1):
                shares[i] = 0.5 * (shares[i] + shares[i - d[j]])
            for i in range(min(d[j], top + 1)):
                shares[i] *= 0.5
        for i in range(limit + 1):
            total += shares[i]
    free(shares)
    return total
