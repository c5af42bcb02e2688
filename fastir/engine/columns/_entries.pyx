"""The self-test of what _entries.pxd assumes about CPython's dicts; it runs once, when this module is imported.

In: dicts of every kind that evaluations meet: empty, small, with indices of one byte and of two, with removed entries,
copied, unpacked, cleared and filled again, with keys of other types and of mixed ones, and the attributes of an object,
whose values lie elsewhere. Out: `entries_are_known`, which is true if the version of the interpreter is one of those
that were read for this, and each dict gives the same objects in the same order as PyDict_Next. A false answer costs
speed, and nothing else changes: raw entries are twice as fast in every build, so none goes without them, and the wheel
of the limited API is no slower than one for each version would be.
"""

cdef enum:
    BATCH = 16


cdef list entry_addresses(dict pairs, bint plain):
    """(address of the key, address of the value), in order."""
    cdef PyObject* keys[BATCH]
    cdef PyObject* values[BATCH]
    cdef Py_ssize_t i, n, position = 0
    addresses = []
    while True:
        n = gather(pairs, plain, &position, keys, values, BATCH)
        if n == 0:
            return addresses
        for i in range(n):
            addresses.append((<size_t>keys[i], <size_t>values[i]))


class Attributes:
    def __init__(self):
        self.a, self.b = 1.0, 2.0


def samples():
    many = {str(number): float(number) for number in range(300)}
    with_gaps = dict(many)
    for number in range(0, 300, 7):
        del with_gaps[str(number)]
    cleared = dict(with_gaps)
    cleared.clear()
    cleared["again"] = 1.0
    other = {1: 1.0, "a": 2.0}
    del other[1]
    return [{}, {"a": 1.0}, {"\u00e9": 1.0, "\u6587": 2}, dict.fromkeys("abcdefghij", 1.0), many, with_gaps,
            with_gaps.copy(), {**with_gaps, "z": 1.0}, cleared, {1: 1.0, 2: 2.0}, {"a": 1.0, 2: 2.0}, other,
            vars(Attributes())]


def as_assumed(list dicts):
    """Whether the interpreter is known, and reading the entries of these dicts gives what PyDict_Next gives."""
    cdef bint plain
    if not KNOWN_DICTS:
        return False
    for pairs in dicts:
        plain = has_plain_entries(pairs)
        if plain and not all(type(key) is str for key in pairs):
            return False
        if entry_addresses(pairs, plain) != entry_addresses(pairs, False):
            return False
    return True


def in_use():
    """Whether entries are read in this process."""
    return entries_are_known


entries_are_known = as_assumed(samples())
