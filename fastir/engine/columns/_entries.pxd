# The pairs of a dict, in batches: keys and values are gathered, and the values asked for, before one of them is read.
#
# PyDict_Next takes half of the time of a walk, and loads every key, a cache miss where keys are in no order.
# Where all keys are exact str, as CPython notes in each dict, the entries themselves are read: 1.6 times as fast as
# gathering with PyDict_Next in order, 2.5 to 4 times with objects in no order, and no key is touched. It assumes what
# CPython 3.11 to 3.14 with a GIL have in common: the structs below; that dk_kind 1 says that entries are pairs (key,
# value), without hashes, that begin behind 2^dk_log2_index_bytes bytes of indices; that a removed entry has no value.
# These versions alone are read so, and only after _entries.pyx has tried it in this process; anything else is
# PyDict_Next's. Nothing here needs more than the limited API: a wheel for it does the same.
from cpython.object cimport PyObject

from fastir.engine.columns._prefetch cimport prefetch   # the macro, for the C below

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
    """Whether all keys are exact str and the entries may be read: what `plain` says to gather()."""
    return entries_are_known and has_plain_entries(pairs)
