"""Two secret words of this process, with which text_hash() of _text.pxd hashes ids; and ids as str.

A caller who knows a hash function can make ids that all fall into one slot of a table, which then takes quadratic
time. So the words come from the operating system at import, and `text_hash` multiplies by one of them.

    FASTIR_HASH_SEED = 0 ... 2^64 - 1       the words are made from this number, to repeat a run of the program exactly

Values, the order of what is returned and error messages do not depend on them. Nothing that is made with them leaves
the process: pickles carry ids, and tables are made again.
"""

from libc.stdint cimport int64_t, uint64_t

import os

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)

NAME = "FASTIR_HASH_SEED"


cdef uint64_t spread(uint64_t x) noexcept:
    """The mixing step of splitmix64."""
    x = (x ^ x >> 30) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ x >> 27) * <uint64_t>0x94D049BB133111EB
    return x ^ x >> 31


def seed_from_text(text):
    """The seed of a text; one of the operating system for an empty text."""
    if not text:
        return int.from_bytes(os.urandom(8), "little")
    if not (text.isascii() and text.isdecimal() and int(text[:40]) < 2**64):
        raise ValueError(f"{NAME} must be an integer from 0 to 2^64 - 1, got {text[:80]!r}")
    return int(text)


cdef uint64_t seed = seed_from_text(os.environ.get(NAME, ""))
START = spread(seed + <uint64_t>0x9E3779B97F4A7C15)
FACTOR = spread(seed + 2 * <uint64_t>0x9E3779B97F4A7C15) | 1


def id_texts(const unsigned char[::1] text, const int64_t[::1] starts, const int64_t[::1] lengths):
    """The ids of an arena as a list of str."""
    cdef Py_ssize_t i, n = starts.shape[0], size = text.shape[0]
    cdef list ids = [None] * n
    for i in range(n):
        if starts[i] < 0 or lengths[i] < 0 or starts[i] > size - lengths[i]:
            raise ValueError(f"id {i} lies outside of the text")
        ids[i] = PyUnicode_DecodeUTF8(<const char*>&text[0] + starts[i], lengths[i], "surrogateescape")
    return ids
