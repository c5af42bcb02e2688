# Python objects, read without running Python code: scores, labels and ids; the pairs of dicts; the items of lists.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from fastir.engine.columns._memory cimport prefetch


# ---- float, int and NumPy's scalars ----------------------------------------------------------------------------------
cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    int PyFloat_CheckExact(PyObject*) noexcept
    int PyLong_CheckExact(PyObject*) noexcept
    PyTypeObject* Py_TYPE(PyObject*) noexcept

cdef extern from *:
    """
    #ifdef Py_LIMITED_API
    #define fastir_float(value) PyFloat_AsDouble(value)
    #define fastir_is_digit(value) 0
    #define fastir_digit(value) 0
    #define fastir_is_pair(value) 0
    #define fastir_pair(value) 0
    #define fastir_hash_of_key(key) PyObject_Hash(key)
    #else
    #define fastir_hash_of_key(key) (((PyASCIIObject*)(key))->hash)  /* a str that is the key of a dict has it */
    #define fastir_float(value) PyFloat_AS_DOUBLE(value)
    #if PY_VERSION_HEX >= 0x030C0000
    #define fastir_is_digit(value) PyUnstable_Long_IsCompact((PyLongObject*)(value))
    #define fastir_digit(value) PyUnstable_Long_CompactValue((PyLongObject*)(value))
    #define fastir_digits(value) (((PyLongObject*)(value))->long_value.ob_digit)
    #define fastir_is_negative(value) ((((PyLongObject*)(value))->long_value.lv_tag & 3) == 2)
    #if PY_VERSION_HEX < 0x030F0000
    #define fastir_is_pair(value) (((PyLongObject*)(value))->long_value.lv_tag >> 3 == 2)
    #else
    #define fastir_is_pair(value) 0
    #endif
    #else
    #define fastir_is_digit(value) ((size_t)Py_SIZE(value) + 1 <= 2)
    #define fastir_digit(value) (Py_SIZE(value) * (Py_ssize_t)((PyLongObject*)(value))->ob_digit[0])
    #define fastir_digits(value) (((PyLongObject*)(value))->ob_digit)
    #define fastir_is_negative(value) (Py_SIZE(value) < 0)
    #define fastir_is_pair(value) (Py_SIZE(value) == 2 || Py_SIZE(value) == -2)
    #endif
    static inline int64_t fastir_pair(PyObject *value) {
        int64_t size = (int64_t)fastir_digits(value)[1] << PyLong_SHIFT | (int64_t)fastir_digits(value)[0];
        return fastir_is_negative(value) ? -size : size;
    }
    #endif
    """
    double float_value "fastir_float"(PyObject*) noexcept        # of a float or of an object of a subclass
    bint is_digit "fastir_is_digit"(PyObject*) noexcept          # whether an int has the least size, and what it is
    Py_ssize_t digit "fastir_digit"(PyObject*) noexcept
    bint is_pair "fastir_is_pair"(PyObject*) noexcept            # whether an int has the size after that: to 60 bits
    int64_t pair "fastir_pair"(PyObject*) noexcept
    Py_ssize_t key_hash "fastir_hash_of_key"(PyObject*) noexcept     # of a str, or of NumPy's


cdef enum:
    FLOAT64 = 100       # a Reader.kind; the others are known in _entries.pyx alone
    FLOAT64_BITS = 53   # every integer of this many bits is a float64


cdef struct Reader:             # of objects that most often are of one type
    PyTypeObject* type          # of the last one that was no float
    int kind                    # what it is
    bint wide                   # whether an integer was met that may not be a float64


cdef int read_other(Reader* reader, PyObject* value, double* out) noexcept
cdef bint read_integer(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint read_numpy_integer(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint read_id(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint is_numpy_id(Reader* reader, PyObject* value, bint integers) noexcept
cdef bint read_whole(Reader* reader, PyObject* value, int64_t* out) noexcept
cdef bint read_known(Reader* reader, PyObject* value, double* out) noexcept
cdef bint read_integers(array, int64_t start, int64_t n, int64_t* out) except -1
cdef tuple equal_integers(list ids, list scores)
cdef tuple integers_made_equal(dict ranking, const double* scores, int64_t n)


cdef inline bint beyond(int64_t number) noexcept:
    return number > <int64_t>1 << FLOAT64_BITS or number < -(<int64_t>1 << FLOAT64_BITS)


cdef inline double float64_value(PyObject* value) noexcept:
    """The value of an np.float64."""
    return (<const double*>(<const char*>value + sizeof(PyObject)))[0]


cdef inline bint read_score(Reader* reader, PyObject* value, double* out) noexcept:
    """Read a number as float64; False if its type may run Python code, or it is too large."""
    if PyFloat_CheckExact(value):
        out[0] = float_value(value)
        return True
    if PyLong_CheckExact(value) and is_digit(value):
        out[0] = <double>digit(value)
        return True
    if PyLong_CheckExact(value) and is_pair(value):
        out[0] = <double>pair(value)
        reader.wide |= beyond(pair(value))
        return True
    if Py_TYPE(value) == reader.type and reader.kind == FLOAT64:
        out[0] = float64_value(value)
        return True
    return read_other(reader, value, out)


# ---- the pairs of a dict ---------------------------------------------------------------------------------------------

# The pairs of a dict, in batches: keys and values are gathered, and the values prefetched, before one of them is read.
#
# PyDict_Next takes half of the time of a walk, and loads every key, a cache miss where keys are in no order.
# Where all keys are exact str, as CPython notes in each dict, the entries themselves are read: 1.6 times as fast as
# gathering with PyDict_Next in order, 2.5 to 4 times with objects in no order, and no key is touched. It assumes what
# CPython 3.11 to 3.14 with a GIL have in common: the structs below; that dk_kind 1 says that entries are pairs (key,
# value), without hashes, that begin behind 2^dk_log2_index_bytes bytes of indices; that a removed entry has no value.
# These versions alone are read so, and only after _entries.pyx has tried it in this process; anything else is
# PyDict_Next's. Nothing here needs more than the limited API: a wheel for it does the same.
cdef extern from *:
    """
    typedef struct {
        Py_ssize_t references;
        uint8_t log2_size, log2_index_bytes, kind;
        uint32_t version;
        Py_ssize_t usable, n_entries;
        char indices[];
    } fastir_dict_keys;
    typedef struct {
        PyObject_HEAD
        Py_ssize_t used;
        uint64_t tag;
        fastir_dict_keys *keys;
        void *split_values;
    } fastir_dict;
    typedef struct { PyObject *key, *value; } fastir_entry;
    #define FASTIR_ENTRIES(k) ((const fastir_entry *)((k)->indices + ((size_t)1 << (k)->log2_index_bytes)))
    #define FASTIR_DICTS_AHEAD 16
    #define FASTIR_PAIRS_AHEAD 64

    #ifdef Py_GIL_DISABLED
    #define FASTIR_KNOWN_DICTS 0
    #else
    #define FASTIR_KNOWN_DICTS (Py_Version >= 0x030B0000 && Py_Version < 0x030F0000)
    #endif

    static inline int fastir_has_plain_entries(PyObject *dict) {
        const fastir_dict *d = (const fastir_dict *)dict;
        return d->split_values == NULL && d->keys->kind == 1;
    }

    static inline Py_ssize_t fastir_gather(PyObject *dict, int plain, Py_ssize_t *position, PyObject **keys,
                                           PyObject **values, Py_ssize_t most) {
        Py_ssize_t n = 0;
        if (!plain) {
            while (n < most && PyDict_Next(dict, position, &keys[n], &values[n])) {
                FASTIR_PREFETCH(values[n]);
                n++;
            }
            return n;
        }
        const fastir_dict_keys *all = ((const fastir_dict *)dict)->keys;
        const fastir_entry *entries = FASTIR_ENTRIES(all);
        Py_ssize_t i = *position, end = all->n_entries;
        for (; n < most && i < end; i++) {
            if (entries[i].value == NULL) continue;
            FASTIR_PREFETCH(entries[i].value);
            keys[n] = entries[i].key;
            values[n++] = entries[i].value;
        }
        *position = i;
        return n;
    }

    /* Ask for the memory of look-ups in a dict with such entries: the place of each hash, the entry there, its objects.
       Where another hash has the place, a look-up goes on and waits. */
    static inline void fastir_ask_for_pairs(PyObject *dict, const Py_ssize_t *hashes, Py_ssize_t n) {
        const fastir_dict_keys *all = ((const fastir_dict *)dict)->keys;
        const fastir_entry *entries = FASTIR_ENTRIES(all);
        const int width = all->log2_index_bytes - all->log2_size;
        const size_t mask = ((size_t)1 << all->log2_size) - 1;
        const fastir_entry *found[FASTIR_PAIRS_AHEAD];
        for (Py_ssize_t i = 0; i < n; i++)
            FASTIR_PREFETCH(all->indices + (((size_t)hashes[i] & mask) << width));
        for (Py_ssize_t i = 0; i < n; i++) {
            const char *place = all->indices + (((size_t)hashes[i] & mask) << width);
            int64_t number = width == 0 ? *(const int8_t *)place : width == 1 ? *(const int16_t *)place
                : width == 2 ? *(const int32_t *)place : *(const int64_t *)place;
            found[i] = number < 0 ? NULL : entries + number;
            if (found[i] != NULL) FASTIR_PREFETCH(found[i]);
        }
        for (Py_ssize_t i = 0; i < n; i++) {
            if (found[i] == NULL) continue;
            FASTIR_PREFETCH(found[i]->key);
            if (found[i]->value != NULL) FASTIR_PREFETCH(found[i]->value);
        }
    }

    /* Ask for the first pairs of dicts: for where they lie, of all dicts, and then for the objects. */
    static inline void fastir_ask_for_dicts(PyObject **dicts, Py_ssize_t n) {
        const fastir_dict_keys *all[FASTIR_DICTS_AHEAD];
        for (Py_ssize_t q = 0; q < n; q++) {
            all[q] = PyDict_CheckExact(dicts[q]) ? ((const fastir_dict *)dicts[q])->keys : NULL;
            for (int line = 0; line < 4 && all[q] != NULL; line++)
                FASTIR_PREFETCH((const char *)all[q] + 64 * line);
        }
        for (Py_ssize_t q = 0; q < n; q++) {
            if (all[q] == NULL || all[q]->kind != 1 || ((const fastir_dict *)dicts[q])->split_values != NULL) continue;
            const fastir_entry *entries = FASTIR_ENTRIES(all[q]);
            for (Py_ssize_t i = 0; i < all[q]->n_entries && i < 10; i++) {
                FASTIR_PREFETCH(entries[i].key);
                FASTIR_PREFETCH(entries[i].value);
            }
        }
    }
    """
    enum: DICTS_AHEAD "FASTIR_DICTS_AHEAD"
    void ask_for_dicts "fastir_ask_for_dicts"(PyObject** dicts, Py_ssize_t n) noexcept
    enum: PAIRS_AHEAD "FASTIR_PAIRS_AHEAD"      # the most hashes
    void ask_for_pairs "fastir_ask_for_pairs"(dict, const Py_ssize_t* hashes, Py_ssize_t n) noexcept
    bint KNOWN_DICTS "FASTIR_KNOWN_DICTS"
    bint has_plain_entries "fastir_has_plain_entries"(dict) noexcept
    # Up to `most` pairs from `position` on, which is moved behind them; none are left where it returns 0.
    Py_ssize_t gather "fastir_gather"(dict, bint plain, Py_ssize_t* position, PyObject** keys, PyObject** values,
                                      Py_ssize_t most) noexcept


cdef bint entries_are_known     # whether they are as assumed


cdef inline void ask_ahead(dict dicts, Py_ssize_t* position) noexcept:
    """Ask for the first pairs of the next DICTS_AHEAD dicts that are values of a dict, and move behind them."""
    cdef PyObject* keys[DICTS_AHEAD]
    cdef PyObject* values[DICTS_AHEAD]
    cdef Py_ssize_t n
    if entries_are_known:
        n = gather(dicts, has_plain_entries(dicts), position, keys, values, DICTS_AHEAD)
        ask_for_dicts(values, n)


cdef inline bint strings_only(dict pairs) noexcept:
    """Whether all keys are exact str and the entries may be read: the `plain` of gather()."""
    return entries_are_known and has_plain_entries(pairs)


# The rows of one ranking that is a dict: its ids, borrowed, and its scores as float64.
#
# One walk collects the scores and checks on the way that every key is a str, or every key an int, and every value a
# number that read_score() reads. It runs no Python code, so that what is borrowed stays valid until its caller runs
# some, or lets go of the GIL. Where there is no GIL, the caller hands in a copy that no other thread knows.
cdef extern from "Python.h":
    int PyUnicode_CheckExact(PyObject*) noexcept
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**) noexcept

cdef enum:                  # results of read_rows
    ROWS_READ
    NOT_PLAIN               # an id is of another kind, or a score is no number that can be read without Python code
    HAS_NAN

cdef enum:
    ROWS_AHEAD = 64     # rows with scores that are prefetched before the first of them is read
    GIL_ROWS = 1 << 14  # a bit of a row's number: when it changes, another thread may have the GIL


cdef inline bint are_plain(PyObject** keys, Py_ssize_t n, bint integers) noexcept:
    """Whether n ids are exact objects of their kind."""
    cdef Py_ssize_t i
    cdef bint plain = True
    for i in range(n):
        plain &= (PyLong_CheckExact(keys[i]) if integers else PyUnicode_CheckExact(keys[i])) != 0
    return plain


cdef inline bint are_known(PyObject** keys, Py_ssize_t n, bint integers) noexcept:
    """Whether n ids are exact objects of their kind or, which takes longer to see, NumPy's."""
    cdef Py_ssize_t i
    cdef Reader reader
    reader.type = NULL
    for i in range(n):
        prefetch(<const char*>keys[i])
    for i in range(n):
        if not are_plain(keys + i, 1, integers) and not is_numpy_id(&reader, keys[i], integers):
            return False
    return True


cdef inline bint begins_with_numpy(dict ranking, bint integers) noexcept:
    """Whether the first id is a NumPy scalar."""
    cdef PyObject* key
    cdef PyObject* value
    cdef Py_ssize_t position = 0
    cdef Reader reader
    reader.type = NULL
    return (not strings_only(ranking) and PyDict_Next(ranking, &position, &key, &value)
            and is_numpy_id(&reader, key, integers))


cdef inline bint read_batch(Reader* reader, PyObject** values, Py_ssize_t n, double* scores, bint* nan) noexcept:
    """The scores of n rows, and whether one is NaN; False if one is not plain."""
    cdef Py_ssize_t i
    cdef bint is_nan = False
    for i in range(n):
        if not read_score(reader, values[i], scores + i):
            return False
        is_nan |= scores[i] != scores[i]
    nan[0] |= is_nan
    return True


cdef inline int read_rows(dict ranking, bint integers, bint may_be_numpy, bint releases_gil, int64_t n, Reader* reader,
                          PyObject** keys, double* scores) noexcept:
    """Read n rows, as many as the ranking has, into `keys` and `scores`: ROWS_READ, NOT_PLAIN or HAS_NAN.

    `may_be_numpy`: ids may be scalars of NumPy. `releases_gil`: the ranking is a copy that the caller alone has.
    """
    cdef PyObject* values[ROWS_AHEAD]
    cdef Py_ssize_t position = 0, m
    cdef bint strings = strings_only(ranking), nan = False
    cdef int64_t i = 0
    reader.type, reader.wide = NULL, False
    while i < n:
        m = gather(ranking, strings, &position, keys + i, values, min(ROWS_AHEAD, n - i))
        if m == 0:
            break
        if strings and integers or not (strings or (are_known if may_be_numpy else are_plain)(keys + i, m, integers)) \
                or not read_batch(reader, values, m, scores + i, &nan):
            return NOT_PLAIN
        i += m
        if releases_gil and not i & GIL_ROWS - 1:
            with nogil:
                pass
    return HAS_NAN if nan else ROWS_READ


# The items of lists and tuples, without a reference to each; and asking for the memory of many lists before they are
# read, which goes by pointers: from a list to its pointers, from these to its ids. A thread without the GIL could
# free them on the way, and the stable ABI does not show them: these builds do not ask.
cdef extern from *:
    """
    #ifdef Py_LIMITED_API
    #define FASTIR_LIST_ITEM PyList_GetItem
    #define FASTIR_TUPLE_ITEM PyTuple_GetItem
    #else
    #define FASTIR_LIST_ITEM PyList_GET_ITEM
    #define FASTIR_TUPLE_ITEM PyTuple_GET_ITEM
    #endif
    #if defined(Py_LIMITED_API) || defined(Py_GIL_DISABLED) || !defined(__GNUC__)
    #define fastir_fetch_items(ids) ((void)0)
    #define fastir_fetch_ids(ids, most) ((void)0)
    #else
    /* always inline: GCC takes a function that only prefetches for one without effect, and drops its calls */
    #define FASTIR_ALWAYS static inline __attribute__((always_inline))
    FASTIR_ALWAYS void fastir_fetch(const void *p, int lines) {
        for (int i = 0; i < lines; i++)
            __builtin_prefetch((const char *)p + 64 * i);
    }
    FASTIR_ALWAYS void fastir_fetch_items(PyObject *ids) {
        if (PyList_CheckExact(ids))
            fastir_fetch(((PyListObject *)ids)->ob_item, 2);
        else if (PyAnySet_CheckExact(ids))
            fastir_fetch(((PySetObject *)ids)->table, 3);
    }
    FASTIR_ALWAYS void fastir_fetch_ids(PyObject *ids, Py_ssize_t most) {
        if (PyList_CheckExact(ids) || PyTuple_CheckExact(ids))
            for (Py_ssize_t i = 0; i < most && i < PySequence_Fast_GET_SIZE(ids); i++)
                fastir_fetch(PySequence_Fast_GET_ITEM(ids, i), 2);
        else if (PyAnySet_CheckExact(ids))
            for (Py_ssize_t i = 0; i < 2 * most && i <= ((PySetObject *)ids)->mask; i++)
                if (((PySetObject *)ids)->table[i].key)
                    fastir_fetch(((PySetObject *)ids)->table[i].key, 2);
    }
    #endif
    """
    PyObject* list_item "FASTIR_LIST_ITEM"(object, Py_ssize_t) noexcept
    PyObject* tuple_item "FASTIR_TUPLE_ITEM"(object, Py_ssize_t) noexcept
    void fetch_items "fastir_fetch_items"(PyObject*) noexcept
    void fetch_ids "fastir_fetch_ids"(PyObject*, Py_ssize_t most) noexcept


cdef inline void fetch_next(list values, Py_ssize_t i, Py_ssize_t most) noexcept:
    """Ask for memory of the lists and sets of ids soon after item i: up to so many ids, the pointers to these, itself.

    A page table and then memory are waited for, while three ids take 50 ns: so far ahead.
    """
    if i + 4 < len(values):
        fetch_ids(list_item(values, i + 4), most)
    if i + 8 < len(values):
        fetch_items(list_item(values, i + 8))
    if i + 16 < len(values):
        prefetch(<const char*>list_item(values, i + 16))
        prefetch(<const char*>list_item(values, i + 16) + 64)


# What a caller has, for reading: without a GIL another thread may change it, and a copy made at one moment is read.
cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define fastir_unchanged(dict) PyDict_Copy(dict)
    #define fastir_unchanged_ids(ids) PySequence_Tuple(ids)
    #else
    #define fastir_unchanged(dict) Py_NewRef(dict)
    #define fastir_unchanged_ids(ids) Py_NewRef(ids)
    #endif
    """
    dict unchanged "fastir_unchanged"(dict)             # this dict, or a copy that no other thread knows
    object unchanged_ids "fastir_unchanged_ids"(object) # this list or tuple, or such a copy as a tuple
