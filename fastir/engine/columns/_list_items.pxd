# The items of lists and tuples, without a reference to each; and asking for the memory of many lists before they are
# read, which goes by pointers: from a list to its pointers, from these to its ids. A stranger that lacks the GIL could
# free them on the way, and the stable ABI does not show them: these builds do not ask.
from cpython.object cimport PyObject

from fastir.engine.columns._prefetch cimport prefetch

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
