"""Random Arrow structures, legal and damaged, read here and by pyarrow: python arrow_random.py FIRST_SEED ROUNDS

Each buffer ends where a page begins that may not be touched, so that reading one byte too many is a crash. What is
damaged keeps valid pointers, and no length, offset or size grows: how long a buffer is, the interface does not say.
Legal structures must be read as they were made, or refused for a null; damaged ones refused, or read as pyarrow does.
"""

import ctypes
import mmap
import random
import sys

from arrow_structs import KEPT, Table, array, packed, schema, texts, view

import fastir
from fastir.engine.columns._arrow import Batches

PAGE = mmap.PAGESIZE
TEXTS = {"u": "i", "z": "i", "U": "q", "Z": "q"}
INTEGERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}
FLOATS = {"e": "e", "f": "f", "g": "d"}
EXTREMES = [-(2**31), -1, 0, 1, 2, 3, 5, 100, 2**31 - 1]


class Guarded:
    """Memory of which each piece ends where a page begins that may not be touched."""

    def __init__(self, pieces=64):
        self.memory = mmap.mmap(-1, 2 * PAGE * pieces)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.pieces = pieces
        self.used = 0
        protect = getattr(ctypes.CDLL(None), "mprotect", None) if sys.platform == "linux" else None
        for piece in range(pieces if protect else 0):
            place = ctypes.c_void_p(self.start + (2 * piece + 1) * PAGE)
            if protect(place, ctypes.c_size_t(PAGE), 0):
                raise OSError("mprotect failed")

    def place(self, data, shift=0):
        """Where a copy of the bytes lies, `shift` bytes before the page's end."""
        if data is None:
            return None
        start = self.start + (2 * self.used + 1) * PAGE - len(data) - shift
        self.used += 1
        ctypes.memmove(start, data, len(data))
        return start


class Maker:
    """Random columns; `arrays` and `damages` collect what damage() may change."""

    def __init__(self, seed, memory):
        self.random = random.Random(seed)
        self.memory = memory
        memory.used = 0
        KEPT.clear()
        self.arrays = []
        self.fields = []  # (address, struct code, values it may have)

    def some(self, kind):
        return self.random.choice(list(kind))

    def array(self, length, buffers, values, fields=(), dictionary=None):
        """An array with random nulls and offset: (array, values, None where one is null)."""
        offset = self.random.choice([0, 0, 1, 2, 9]) if length > 9 else 0
        nulls = self.random.choice([0, 0, 0.02, 0.3])
        valid = [self.random.random() >= nulls for _ in range(length)]
        bitmap = None
        if not all(valid) or self.random.random() < 0.3:
            bitmap = bytes(sum(bit << i for i, bit in enumerate(valid[at : at + 8])) for at in range(0, length, 8))
        count = self.random.choice([-1, length - sum(valid)])
        shift = self.random.choice([0, 0, 1, 3, 8])
        made = array(
            length - offset,
            [bitmap, *buffers],
            (),
            dictionary,
            offset,
            valid[offset:].count(False),
            lambda data: self.memory.place(data, shift),
        )
        made.null_count = -1 if count == -1 else made.null_count
        self.arrays.append(made)
        for buffer, code, allowed in fields:
            size = ctypes.sizeof(CTYPES[code])
            self.fields += [
                (made.buffers[buffer] + at, code, allowed) for at in range(0, len([bitmap, *buffers][buffer]), size)
            ]
        shown = [value if bit else None for value, bit in zip(values, valid, strict=True)]
        return made, shown[offset:]

    def ids(self, n, depth=0):
        """(schema, array, values) of a column of distinct ids."""
        kind = self.some(["text", "view", "integer", "dictionary"] if depth < 3 else ["text"])
        if kind == "dictionary":
            size = n + self.random.randrange(4)
            inner_schema, inner, entries = self.ids(size, depth + 1)
            entries = entries[: inner.length]
            format = self.some(name for name in INTEGERS if name != "c" or size < 100)
            codes = [self.random.randrange(len(entries)) if entries else 0 for _ in range(n)]
            values = [entries[code] if entries else None for code in codes]
            made, shown = self.array(
                n, [packed(INTEGERS[format], *codes)], values, [(1, INTEGERS[format], None)], inner
            )
            return schema(format.encode(), b"", dictionary=inner_schema), made, shown
        if kind == "integer":
            format = self.some(INTEGERS)
            values = self.random.sample(range(120), n)
            made, shown = self.array(n, [packed(INTEGERS[format], *values)], values)
            return schema(format.encode()), made, shown
        words = [b"%d" % value * self.random.choice([1, 1, 9]) for value in self.random.sample(range(10, 9999), n)]
        if kind == "text":
            format = self.some(TEXTS)
            _, offsets, text = texts(words, TEXTS[format])
            allowed = [-(2**31), -1, *range(len(text) + 1)]
            made, shown = self.array(
                n, [offsets, text], [word.decode() for word in words], [(1, TEXTS[format], allowed)]
            )
            return schema(format.encode()), made, shown
        format = self.some(["vu", "vz"])
        parts = [b"", b""]
        views = b""
        for word in words:
            part = self.random.randrange(2)
            views += view(word, part, len(parts[part]))
            parts[part] += word if len(word) > 12 else b""
        sizes = packed("q", *map(len, parts))
        made, shown = self.array(
            n,
            [views, *parts, sizes],
            [word.decode() for word in words],
            [(1, "i", EXTREMES), (4, "q", [-(2**63), -1, 0])],
        )
        return schema(format.encode()), made, shown

    def numbers(self, n):
        format = self.some([*INTEGERS, *FLOATS, "b"])
        if format == "b":
            values = [self.random.randrange(2) for _ in range(n)]
            data = bytes(sum(bit << i for i, bit in enumerate(values[at : at + 8])) for at in range(0, n, 8))
        else:
            values = [self.random.randrange(100) for _ in range(n)]
            data = packed((INTEGERS | FLOATS)[format], *values)
        made, shown = self.array(n, [data], values)
        return schema(format.encode()), made, [None if value is None else float(value) for value in shown]

    def table(self):
        """(Table, rows): None for a row of the struct that is null."""
        n = self.random.choice([1, 2, 9, 17, 40])
        columns = [self.ids(n + 12), self.ids(n + 12), self.numbers(n + 12)]
        for (one, _, _), name in zip(columns, (b"query_id", b"doc_id", b"score"), strict=True):
            one.name = name
        made, shown = self.array(n, [], list(range(n)))
        offset = made.offset
        made.n_children = 3
        made.children = array(0, [], [column[1] for column in columns]).children
        rows = [[None if row is None else column[2][offset + at] for column in columns] for at, row in enumerate(shown)]
        self.schema = schema(b"+s", b"", [column[0] for column in columns])
        return Table(self.schema, made), rows

    def damage(self):
        """Change one thing."""
        if self.fields and self.random.random() < 0.6:
            address, code, allowed = self.some(self.fields)
            kind = CTYPES[code]
            value = self.some(allowed or EXTREMES)
            kind.from_address(address).value = value
            return
        made = self.some(self.arrays)
        field = self.some(["length", "offset", "null_count", "n_buffers", "n_children", "buffer", "dictionary"])
        if field == "buffer":
            made.buffers[self.random.randrange(made.n_buffers)] = None
        elif field == "dictionary":
            made.dictionary = type(made.dictionary)()
        elif field == "null_count":
            made.null_count = self.some([-(2**63), -1, 0, 1, 5, 2**63 - 1])
        elif field == "n_buffers":
            made.n_buffers = self.some(range(-1, min(made.n_buffers, 3)))
        else:
            limit = max(getattr(made, field), 0)
            setattr(made, field, self.some([-(2**63), -1, 0, limit // 2, max(limit - 1, 0), 2**62, 2**63 - 1]))
            if field == "n_children" and made.n_children > 3:
                made.n_children = 2


CTYPES = {
    "b": ctypes.c_int8, "B": ctypes.c_uint8, "h": ctypes.c_int16, "H": ctypes.c_uint16, "i": ctypes.c_int32,
    "I": ctypes.c_uint32, "q": ctypes.c_int64, "Q": ctypes.c_uint64,
}  # fmt: skip


def read(data):
    """The rows of a table as lists, or the error."""
    columns = [[], [], []]
    try:
        batches = Batches(data)
        for batch in batches:
            places = [batches.names.index(name) for name in ("query_id", "doc_id", "score")]
            if any(batch.null(place) >= 0 for place in places):
                return "null"
            ids = [batch.ids(place) for place in places[:2]]
            for place, one in enumerate(ids):
                columns[place] += [one[row] for row in range(batch.n)]
            columns[2] += batch.numbers(places[2]).tolist()
    except (ValueError, TypeError) as error:
        return str(error) or "error"
    return [list(row) for row in zip(*columns, strict=True)]


def plain(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return float(value) if isinstance(value, bool) else value


def as_bytes(one):
    """Make texts bytes in a schema: pyarrow does not show a text that is no UTF-8."""
    one.format = {b"u": b"z", b"U": b"Z", b"vu": b"vz"}.get(one.format, one.format)
    for place in range(one.n_children):
        as_bytes(one.children[place].contents)
    if one.dictionary:
        as_bytes(one.dictionary.contents)


def theirs(data):
    """The rows as pyarrow reads them."""
    import pyarrow

    as_bytes(data.schema)
    return [[plain(value) for value in row.values()] for row in pyarrow.array(data).to_pylist()]


def main(seed, rounds):
    memory = Guarded()
    counts = dict.fromkeys(["read", "null", "refused", "damaged and read"], 0)
    for number in range(seed, seed + rounds):
        maker = Maker(number, memory)
        data, rows = maker.table()
        print(number, end=" ", flush=True)  # the last one is that of a crash
        damaged = maker.random.random() < 0.6
        if damaged:
            maker.damage()
        got = read(data)
        if not damaged:
            missing = any(value is None for row in rows for value in row)
            expected = "null" if missing else rows
            if got != expected:
                raise AssertionError(f"{number}: {got} is not {expected}")
            counts["null" if missing else "read"] += 1
        elif isinstance(got, str):
            counts["refused"] += 1
        else:
            # the first reading released the structs
            again = Maker(number, memory)
            data, _ = again.table()
            again.random.random()
            again.damage()
            expected = theirs(data)
            if got != expected:
                raise AssertionError(f"{number}: damaged: {got} is not pyarrow's {expected}")
            counts["damaged and read"] += 1
        try:
            again = Maker(number, memory)
            data, _ = again.table()
            if again.random.random() < 0.6:
                again.damage()
            fastir.evaluate({"10": {"11": 1}}, data, "map")
        except (ValueError, TypeError):
            pass
    print()
    print(counts)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
