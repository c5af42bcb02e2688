# For a few columns of a row, how many scores are above theirs, while the blocks of the row pass.
from libc.stdint cimport int32_t, int64_t


cdef enum:                      # the ways to count; see the .pyx
    SELECT
    COUNT
    PLACE


cdef struct Row:
    int mode
    bint single                 # whether scores are float32, otherwise float64
    int64_t n_hits, capacity    # the columns that matter, which are not among the excluded ones
    int64_t* columns            # rising; one allocation with what follows
    int64_t* above              # aligned with columns: how many scores are higher
    int64_t* reach              # how many are not lower
    int64_t* before             # how many equal ones are in columns before
    double* scores
    int32_t* labels             # for the caller
    double* levels              # PLACE: the distinct scores, highest first
    int64_t* higher             # aligned with levels: how many scores are higher, but not than the level before
    int64_t* alike              # and how many are equal
    int64_t n_levels
    int64_t passed              # columns that have passed
    const int64_t* excluded     # columns that do not take part, rising
    int64_t* sorted             # where they are sorted if they do not come so
    int64_t n_excluded, sorted_capacity
    int64_t next_excluded       # PLACE: the first that has not passed
    int64_t wanted              # SELECT: how many scores must reach the bound
    double bound                # counts for scores below it are incomplete; -inf in other modes
    double least                # a score that reaches it is kept: the bound, or the lowest of `scores`
    double low                  # columns with lower scores do not take part; COUNT: a level behind those of the hits
    int64_t n_retrieved         # how many others there are, the excluded ones and NaN too; unless `low` is -inf
    char* kept                  # the scores that did, not counted yet; one allocation with what follows
    int64_t* kept_columns
    int64_t n_kept


cdef struct RowScratch:               # scratch of a thread, for one row after the other
    double* lanes
    int32_t* places
    char* gathered              # the scores of excluded columns
    int64_t gathered_capacity


cdef inline double score_at(const char* p, bint single) noexcept nogil:
    return <double>(<const float*>p)[0] if single else (<const double*>p)[0]


cdef inline bint is_nan(double score) noexcept nogil:
    return score != score


cdef int open_scratch(RowScratch* scratch) noexcept nogil
cdef void close_scratch(RowScratch* scratch) noexcept nogil
cdef int reserve_row(Row* row, int64_t hits, int64_t excluded) noexcept nogil
cdef void discard_row(Row* row) noexcept nogil
cdef void exclude(Row* row, const int64_t* columns, int64_t n) noexcept nogil
cdef bint is_excluded(const Row* row, int64_t column) noexcept nogil
cdef int begin(Row* row, int64_t n_columns, int64_t depth) noexcept nogil
cdef bint feed(Row* row, RowScratch* scratch, const char* scores, int64_t n, int64_t first) noexcept nogil
cdef int finish(Row* row, RowScratch* scratch, const char* start, int64_t stride) noexcept nogil
