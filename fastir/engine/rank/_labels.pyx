"""Columns of labels of any dtype and stride, read group by group, and the checks of their numbers.

Labels are narrowed to bytes (int8 is read in place); POOL_LABEL replaces all labels below -1. A group
with a label above 127 is read as 32 bits, and everything else works on either. Real-valued labels become bytes,
too: their classes, which say what levels they reach; what a label is stays beside them, and a code of class and row
(ROW_BITS) leads to it:

    list_hits       labels in rank order: 64 bytes become a mask, and only its set bits are looked at (_simd)
    count_labels    the judgments made of a group's own labels: labels up to 7 are counted one by one, 16 rows at a time

find_labels() finds the labels of a matrix with one for each row and item. Most are 0: 64 bytes are looked at together.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from fastir.engine.measure._codes cimport BAD_LABEL, NO_MEMORY
from fastir.engine.measure._measure cimport (MAX_TINY_LABEL, POOL_LABEL, RUN_LABELS, Judgments, is_hit, label_code,
                                             sort_labels, with_spare, write_runs)

cdef extern from "_labels.h" nogil:
    int64_t fastir_narrow_f32(const float* p, int64_t n, int8_t* bytes, int* bad, int* large) noexcept
    int64_t fastir_narrow_f64(const double* p, int64_t n, int8_t* bytes, int* bad, int* large) noexcept
    int64_t fastir_narrow_i16(const int16_t* p, int64_t n, int8_t* bytes, int* bad, int* large) noexcept
    int64_t fastir_narrow_i32(const int32_t* p, int64_t n, int8_t* bytes, int* bad, int* large) noexcept
    int64_t fastir_narrow_i64(const int64_t* p, int64_t n, int8_t* bytes, int* bad, int* large) noexcept

    int64_t fastir_count(const int8_t* p, int64_t n, int8_t label) noexcept
    void fastir_classify(const double* p, int64_t n, const double* levels, int n_levels, double most, double* values,
                         int8_t* classes, int* bad, int64_t* fractions) noexcept

KINDS = frozenset("bhHiIlLqQfd")   # dtype.char of what a Column reads: native integers but uint8, and floats

cdef int64_t MAX_ROWS = <int64_t>1 << 62    # of all groups

ctypedef fused number:
    int8_t
    int16_t
    uint16_t
    int32_t
    int64_t
    float
    double


cdef int open_column(Column* column, Py_buffer* buffer, array) except -1:
    """Fill a Column; the caller releases the buffer. Of memory that is ctypes' the format begins with an order."""
    cdef const char* format
    PyObject_GetBuffer(array, buffer, PyBUF_STRIDES | PyBUF_FORMAT)
    column.data = <const char*>buffer.buf
    column.n = buffer.shape[0]
    column.step = buffer.strides[0] // buffer.itemsize
    format = buffer.format + (buffer.format[0] in b"<>=@")
    if format[0] == c"f" or format[0] == c"d":
        column.kind = FLOAT32 if buffer.itemsize == 4 else FLOAT64
    else:
        column.kind = INT8 + (buffer.itemsize > 1) + (buffer.itemsize > 2) + (buffer.itemsize > 4)
    column.is_unsigned = format[0] in b"HILQ"
    return 0


cdef void* enlarge_buffer(Buffer* buffer, int64_t size) noexcept nogil:
    """Enlarge the buffer for room_in()."""
    size = with_spare(size)
    free(buffer.start)
    buffer.start = malloc(size)
    buffer.size = 0 if buffer.start == NULL else size
    return buffer.start


cdef int read_as(const number* p, int64_t step, int64_t n, int8_t* bytes, Buffer* wide, Labels* labels) noexcept nogil:
    """Labels as bytes, or where one is above 127 as 32 bits; 0, BAD_LABEL or NO_MEMORY."""
    cdef int64_t i, start = 0
    cdef int large = 0, bad = 0
    cdef int32_t label
    cdef int32_t* all_bits
    if step == 1:
        if number is float:
            start = fastir_narrow_f32(p, n, bytes, &bad, &large)
        elif number is double:
            start = fastir_narrow_f64(p, n, bytes, &bad, &large)
        elif number is int16_t:
            start = fastir_narrow_i16(p, n, bytes, &bad, &large)
        elif number is int32_t:
            start = fastir_narrow_i32(p, n, bytes, &bad, &large)
        elif number is int64_t:
            start = fastir_narrow_i64(p, n, bytes, &bad, &large)
    for i in range(start, n):
        if number is float or number is double:
            label = <int32_t>p[i * step] if -2147483648.0 <= p[i * step] <= 2147483647.0 else 0
            bad |= label != p[i * step]
        elif number is int64_t:
            label = <int32_t>p[i * step]
            bad |= label != p[i * step]
        else:
            label = p[i * step]
        large |= label > 127
        bytes[i] = <int8_t>(label if label > POOL_LABEL else POOL_LABEL)
    labels[0] = Labels(bytes, NULL, n, True, NULL)
    if bad:
        return BAD_LABEL
    if large:
        all_bits = <int32_t*>room_in(wide, n * sizeof(int32_t))
        if all_bits == NULL:
            return NO_MEMORY
        for i in range(n):
            all_bits[i] = <int32_t>p[i * step]
        labels[0] = Labels(NULL, all_bits, n, True, NULL)
    return 0


cdef int copy_labels(const Column* column, int64_t first, int64_t n, int8_t* bytes, Buffer* wide,
                     Labels* labels) noexcept nogil:
    """read_labels for labels that are not read in place.

    Unsigned labels are read as signed ones of their size; what is then negative is read again, or out of range.
    """
    cdef int64_t step = column.step
    cdef const char* p = column.data
    cdef int outcome
    first *= step
    if column.kind == INT8:
        outcome = read_as(<const int8_t*>p + first, step, n, bytes, wide, labels)
    elif column.kind == INT16:
        outcome = read_as(<const int16_t*>p + first, step, n, bytes, wide, labels)
    elif column.kind == INT32:
        outcome = read_as(<const int32_t*>p + first, step, n, bytes, wide, labels)
    elif column.kind == INT64:
        outcome = read_as(<const int64_t*>p + first, step, n, bytes, wide, labels)
    elif column.kind == FLOAT32:
        outcome = read_as(<const float*>p + first, step, n, bytes, wide, labels)
    else:
        outcome = read_as(<const double*>p + first, step, n, bytes, wide, labels)
    if outcome or not column.is_unsigned or not has_negative(labels):
        return outcome
    return read_as(<const uint16_t*>p + first, step, n, bytes, wide, labels) if column.kind == INT16 else BAD_LABEL


cdef bint has_negative(const Labels* labels) noexcept nogil:
    cdef int64_t i
    cdef int32_t signs = 0
    cdef int8_t sign = 0
    if labels.bytes == NULL:
        for i in range(labels.n):
            signs |= labels.wide[i]
    else:
        for i in range(labels.n):
            sign |= labels.bytes[i]
    return signs < 0 or sign < 0


cdef void widen(const number* p, int64_t step, int64_t n, double* values) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        values[i] = <double>p[i * step]


cdef int classify_labels(const Column* column, int64_t first, int64_t n, const Levels* levels, int8_t* bytes,
                         Buffer* values, Labels* labels, int64_t* fractions) noexcept nogil:
    """Read labels that need not be whole as their classes, and how many are fractions; 0, BAD_LABEL or NO_MEMORY."""
    cdef int64_t step = column.step
    cdef int bad = 0
    cdef double* doubles = <double*>room_in(values, (n + TAIL_BYTES) * sizeof(double))
    cdef const double* p = doubles
    if doubles == NULL:
        return NO_MEMORY
    first *= step
    if column.kind == INT8:
        widen(<const int8_t*>column.data + first, step, n, doubles)
    elif column.kind == INT16 and column.is_unsigned:
        widen(<const uint16_t*>column.data + first, step, n, doubles)
    elif column.kind == INT16:
        widen(<const int16_t*>column.data + first, step, n, doubles)
    elif column.kind == INT32:
        widen(<const int32_t*>column.data + first, step, n, doubles)
    elif column.kind == INT64:
        widen(<const int64_t*>column.data + first, step, n, doubles)
    elif column.kind == FLOAT32:
        widen(<const float*>column.data + first, step, n, doubles)
    elif step != 1:
        widen(<const double*>column.data + first, step, n, doubles)
    else:
        p = <const double*>column.data + first
    fastir_classify(p, n, levels.levels, levels.n, levels.most, doubles, bytes, &bad, fractions)
    labels[0] = Labels(bytes, NULL, n, True, doubles)
    return BAD_LABEL if bad or (column.is_unsigned and has_negative(labels)) else 0


cdef int64_t list_all(const Labels* labels, int reads, int64_t* ranks, int32_t* hit_labels,
                      int64_t* negative) noexcept nogil:
    """list_hits for the hits that are not found in words."""
    cdef int64_t i, n_hits = 0
    cdef int32_t label
    for i in range(labels.n):
        label = label_at(labels, i)
        negative[0] += label < 0
        if is_hit(label, reads):
            ranks[n_hits] = i + 1
            hit_labels[n_hits] = label_code(label)
            n_hits += 1
    return n_hits


cdef int32_t* judged_room(Buffer* ideal, Judgments* judgments, int64_t n) noexcept nogil:
    """Room for n labels above 0."""
    cdef int32_t* judged = <int32_t*>room_in(ideal, (n + RUN_LABELS) * sizeof(int32_t))
    judgments.labels = judged
    judgments.n_positive = n
    return judged


cdef int count_labels(const Labels* labels, Buffer* ideal, Judgments* judgments) noexcept nogil:
    """The judgments made of a group's labels, in scratch; 0 or NO_MEMORY."""
    cdef int64_t i, n = labels.n, n_positive = 0
    cdef int64_t sizes[256]
    cdef int32_t label, top = MAX_TINY_LABEL
    cdef int8_t bits = 0
    cdef int32_t* judged
    judgments.n_judged = judgments.n_pool = n
    if labels.bytes == NULL:
        judgments.n_judged = judgments.n_pool = 0
        for i in range(n):
            judgments.n_judged += labels.wide[i] >= 0
            judgments.n_pool += labels.wide[i] != -1
            n_positive += labels.wide[i] > 0
        judged = judged_room(ideal, judgments, n_positive)
        if judged == NULL:
            return NO_MEMORY
        n_positive = 0
        for i in range(n):
            if labels.wide[i] > 0:
                judged[n_positive] = labels.wide[i]
                n_positive += 1
        sort_labels(judged, n_positive)
        return 0
    # All bits together are negative if one label is, and small if all are: then each label is counted by itself, which
    # takes vector instructions; else one pass counts them all.
    for i in range(n):
        bits |= labels.bytes[i]
    if 0 <= bits <= MAX_TINY_LABEL:
        top = bits
        for label in range(1, top + 1):
            sizes[label] = fastir_count(labels.bytes, n, <int8_t>label)
            n_positive += sizes[label]
    else:
        top = 127
        memset(sizes, 0, sizeof(sizes))
        for i in range(n):
            sizes[labels.bytes[i] & 255] += 1
        for label in range(128, 256):
            judgments.n_judged -= sizes[label]
        judgments.n_pool -= sizes[255]
        n_positive = judgments.n_judged - sizes[0]
    judged = judged_room(ideal, judgments, n_positive)
    if judged == NULL:
        return NO_MEMORY
    write_runs(sizes, top, judged)
    return 0


# ---- where the labels of a group begin -------------------------------------------------------------------------------
def add_up(sizes, int64_t n_rows):
    """Offsets from sizes of groups.

    NumPy takes longer for two entries than everything else for a group of ten.

    Parameters
    ----------
    sizes : int64 array of shape (n,)

    Returns
    -------
    offsets : int64 array of shape (n + 1,)
    wrong : int
        The place of the first size below 0, or that leads beyond 2^62; the number of sizes if they add up to something
        else than `n_rows`; else -1.
    """
    cdef Py_buffer given, made
    cdef Py_ssize_t i, n = len(sizes)
    cdef int64_t size, total = 0, wrong = -1
    offsets = np.empty(n + 1, np.int64)
    PyObject_GetBuffer(sizes, &given, PyBUF_STRIDES)
    PyObject_GetBuffer(offsets, &made, PyBUF_WRITABLE)
    (<int64_t*>made.buf)[0] = 0
    for i in range(n):
        size = (<const int64_t*>(<const char*>given.buf + i * given.strides[0]))[0]
        if size < 0 or size > MAX_ROWS - total:
            wrong = i
            break
        total += size
        (<int64_t*>made.buf)[i + 1] = total
    if wrong < 0 and total != n_rows:
        wrong = n
    PyBuffer_Release(&made)
    PyBuffer_Release(&given)
    return offsets, wrong


def find_fall(offsets, int64_t n):
    """The place of the first of some offsets, contiguous int64 of at least one entry, that falls; -1 if none does.

    0 if they do not begin at 0, and their number if they do not end at n.
    """
    cdef Py_buffer buffer
    cdef Py_ssize_t i = 1, size = len(offsets)
    cdef const int64_t* p
    PyObject_GetBuffer(offsets, &buffer, PyBUF_STRIDES)
    p = <const int64_t*>buffer.buf
    if p[0] != 0:
        i = 0
    else:
        while i < size and p[i] >= p[i - 1]:
            i += 1
        if i == size and p[size - 1] == n:
            i = -1
    PyBuffer_Release(&buffer)
    return i


# ---- labels of a matrix ----------------------------------------------------------------------------------------------

ctypedef fused bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef int64_t find_in_row(const bits* row, int64_t width, bits sign, int64_t* places) noexcept nogil:
    """The places of the numbers other than 0 in a row, of which `sign` is the bit that 0 may have; how many."""
    cdef int64_t i = 0, j, stop, n = 0, step = TAIL_BYTES // <int64_t>sizeof(bits)
    cdef uint64_t words[8]
    cdef bits number = <bits>~sign
    while i < width:
        stop = min(i + step, width)
        if stop == i + step:
            memcpy(words, row + i, TAIL_BYTES)
            if not (words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]):
                i = stop
                continue
        for j in range(i, stop):
            places[n] = j
            n += (row[j] & number) != 0
        i = stop
    return n


def find_labels(matrix):
    """Find the numbers other than 0 in a matrix.

    Parameters
    ----------
    matrix : C-contiguous array of shape (n, width), of bool, integers or floats

    Returns
    -------
    offsets : int64 array of shape (n + 1,)
    columns : int64 array
        Those of row i are columns[offsets[i]:offsets[i + 1]].
    """
    cdef int64_t q, n = 0, rows = len(matrix), width = matrix.shape[1], room = width + width // 2
    cdef int size = matrix.dtype.itemsize
    cdef bint real = matrix.dtype.kind == "f"
    cdef const unsigned char[::1] data = matrix.reshape(-1).view(np.uint8)
    cdef const unsigned char* row = &data[0] if rows * width > 0 else NULL
    offsets, found = np.zeros(rows + 1, np.int64), np.empty(room, np.int64)
    cdef int64_t[::1] ends = offsets, places = found
    for q in range(rows if row != NULL else 0):
        if room - n < width:
            room += room // 2 + width
            found = np.concatenate([found[:n], np.empty(room - n, np.int64)])
            places = found
        with nogil:
            if size == 1:
                n += find_in_row(<const uint8_t*>row, width, 0, &places[n])
            elif size == 2:
                n += find_in_row(<const uint16_t*>row, width, 0, &places[n])
            elif size == 4:
                n += find_in_row(<const uint32_t*>row, width, <uint32_t>real << 31, &places[n])
            else:
                n += find_in_row(<const uint64_t*>row, width, <uint64_t>real << 63, &places[n])
        row += width * size
        ends[q + 1] = n
    return offsets, found[:n].copy()
