"""Malformed Arrow structures whose pointers are valid: what each is, how it is made, and what the error says."""

import ctypes
import sys

from arrow_structs import Stream, dictionary, named, packed, strings, table, texts, view

ABC = texts([b"a", b"b", b"c"])
LONG = b"a text that is too long for a view"
MOST = 2**63 - 1
VIEWS = view(b"a") + view(b"b")
NULL = None
CASES = {}  # name: (make, what the message matches)


def case(name, message="malformed Arrow data"):
    """Add the decorated function, which makes the object, or changes the parts of a legal one."""

    def add(make):
        CASES[name] = make, message
        return make

    return add


def changed(name, message="malformed Arrow data", part="batch", **values):
    """A legal table, of which one struct has other values."""

    def make():
        made = table()
        parts = {
            "batch": made.batch, "schema": made.schema, "column": made.batch.children[1].contents,
            "column schema": made.schema.children[1].contents,
        }  # fmt: skip
        for field, value in values.items():
            setattr(parts[part], field, value)
        return made

    CASES[name] = make, message


def columns(name, make, message=r"run: column 'doc_id', rows from 0 on: malformed Arrow data"):
    """A table with this column of documents."""
    CASES[name] = lambda: table(make()), message


# ---- structure ---------------------------------------------------------------------------------------------------
for part in ("batch", "schema"):
    changed(f"{part} released", "released", part, release=NULL)
    changed(f"{part} without children", part=part, children=type(getattr(table(), part).children)())
    changed(f"{part} with too few children", "malformed|no column 'score'", part=part, n_children=2)
    changed(f"{part} with negative n_children", part=part, n_children=-1)
changed("schema without a format", part="schema", format=NULL)
changed("schema of no table", "named columns", part="schema", format=b"u")
changed("column schema without a format", part="column schema", format=NULL)
changed("column schema released", part="column schema", release=NULL)
changed("column released", "released", part="column", release=NULL)
for part in ("batch", "column"):
    for number in (-1, -(2**63)):
        changed(f"{part} of length {number}", part=part, length=number)
        changed(f"{part} at offset {number}", part=part, offset=number)
    for number in (2**62, MOST):
        changed(f"{part} at offset {number}", part=part, offset=number)
    changed(f"{part} with negative n_buffers", part=part, n_buffers=-1)
    changed(f"{part} without buffers", part=part, n_buffers=0)
    changed(f"{part} whose buffers are NULL", part=part, buffers=type(table().batch.buffers)())
    changed(f"{part} that counts nulls without a bitmap", part=part, null_count=1)
changed("batch longer than its columns", part="batch", length=4)
changed("batch that begins behind its columns' rows", part="batch", offset=1)
changed("batch with two buffers", part="batch", n_buffers=2)
changed("column too short", part="column", length=2)
changed("column with too few buffers", part="column", n_buffers=2)
changed("column with too many buffers", part="column", n_buffers=4)
changed("column with children", part="column", n_children=1)
changed("column of another type", part="column schema", format=b"g")
changed("column of an empty type", "must hold strings or integers", part="column schema", format=b"")
changed("column of bytes that are no UTF-8", "must hold strings or integers", part="column schema", format=b"\xff")


@case("child that is NULL")
def _():
    made = table()
    made.batch.children[1] = type(made.batch.children[1])()
    return made


@case("child schema that is NULL")
def _():
    made = table()
    made.schema.children[1] = type(made.schema.children[1])()
    return made


@case("batch with a dictionary")
def _():
    made = table()
    made.batch.dictionary = made.batch.children[1]
    return made


@case("schema with a dictionary")
def _():
    made = table()
    made.schema.dictionary = made.schema.children[1]
    return made


columns("values that are NULL", lambda: named(b"l", NULL, NULL))
columns("offsets that are NULL", lambda: named(b"u", NULL, NULL, b"abc"))
columns("texts that are NULL", lambda: named(b"u", NULL, ABC[1], NULL))
columns("views that are NULL", lambda: named(b"vu", NULL, NULL, b""))
columns("two buffers of views", lambda: named(b"vu", NULL, VIEWS + view(b"c")))

# ---- contents ----------------------------------------------------------------------------------------------------
for name, offsets in {
    "negative": (-1, 1, 2, 3), "negative later": (0, 1, -2, 3), "falling": (0, 2, 1, 3),
    "falling at the end": (0, 1, 2, 1), "least": (0, 1, 2, -(2**31)), "far down": (5, -(2**31), 6, 7),
}.items():  # fmt: skip
    for format, code in ((b"u", "i"), (b"U", "q"), (b"z", "i"), (b"Z", "q")):
        columns(
            f"offsets {name}, {format.decode()}",
            lambda format=format, code=code, offsets=offsets: named(
                format, NULL, packed(code, *offsets), b"abcdefghij"
            ),
        )
columns("offsets of 64 bits, least", lambda: named(b"U", NULL, packed("q", 7, -(2**63), 8, 9), b"abcdefghij"))

for name, bad in {
    "negative length": packed("i", -1) + b"????" + packed("i", 0, 0),
    "least length": packed("i", -(2**31)) + b"????" + packed("i", 0, 0), "buffer out of range": view(LONG, buffer=1),
    "buffer far out of range": view(LONG, buffer=2**31 - 1), "negative buffer": view(LONG, buffer=-1),
    "negative offset": view(LONG, offset=-1), "offset behind the buffer": view(LONG, offset=100),
    "end behind the buffer": view(LONG, offset=1),
    "most of all": packed("i", 2**31 - 1) + b"????" + packed("i", 0, 2**31 - 1),
}.items():  # fmt: skip
    for place in range(3):
        views = [view(b"a"), view(LONG), view(b"c")]
        views[place] = bad
        columns(
            f"view, {name}, row {place}",
            lambda views=views: named(b"vu", NULL, b"".join(views), LONG, packed("q", len(LONG))),
        )
columns("view into a buffer that is NULL", lambda: named(b"vu", NULL, VIEWS + view(LONG), NULL, packed("q", 99)))
columns("view into a buffer of negative size", lambda: named(b"vu", NULL, VIEWS + view(LONG), LONG, packed("q", -1)))
columns("sizes of the buffers of views that are NULL", lambda: named(b"vu", NULL, VIEWS + view(LONG), LONG, NULL))

for code, format, numbers in (
    ("i", b"i", (3, -1, 9_999_999, -(2**31), 2**31 - 1)),
    ("b", b"c", (3, -1, -128)),
    ("Q", b"L", (3, 2**64 - 1, 2**63)),
    ("q", b"l", (3, -1, -(2**63), MOST)),
):
    for number in numbers:
        for place in range(3):
            codes = [0, 1, 2]
            codes[place] = number
            columns(
                f"position {number} of type {format.decode()}, row {place}",
                lambda codes=codes, code=code, format=format: dictionary(
                    codes, strings(b"a", b"b", b"c"), code, format
                ),
                r"run: column 'doc_id', rows from 0 on: position .* is outside of the dictionary, which has 3 values",
            )
columns("positions in an empty dictionary", lambda: dictionary([0, 0, 0], strings()), "outside of the dictionary")
columns(
    "positions in a dictionary of a dictionary",
    lambda: dictionary([0, 1, 2], dictionary([0, 1, 5], strings(b"a", b"b", b"c"))),
    "outside of the dictionary",
)
columns("positions that are no integers", lambda: dictionary([0, 1, 2], strings(b"a", b"b", b"c"), "f", b"f"))
columns(
    "a dictionary of floats",
    lambda: dictionary([0, 0, 0], named(b"g", NULL, packed("d", 1.0), n=1)),
    "dictionary of float64",
)


def without(part):
    def make():
        made_schema, made_array = dictionary([0, 1, 2], strings(b"a", b"b", b"c"))
        struct = {"schema": made_schema, "array": made_array}[part]
        struct.dictionary = type(struct.dictionary)()
        return made_schema, made_array

    return make


columns("a dictionary only in the schema", without("array"))
columns("a dictionary only in the array", without("schema"))


def inside(part, **values):
    def make():
        made = dictionary([0, 1, 2], strings(b"a", b"b", b"c"))
        for field, value in values.items():
            setattr(made[part].dictionary.contents, field, value)
        return made

    return make


columns("a dictionary with a released schema", inside(0, release=NULL))
columns("a dictionary without a format", inside(0, format=NULL))
columns("a released dictionary", inside(1, release=NULL), "released")
columns("a dictionary of negative length", inside(1, length=-1))
columns("a dictionary at a negative offset", inside(1, offset=-1))
columns("a dictionary without buffers", inside(1, n_buffers=0))
columns(
    "a dictionary with falling offsets",
    lambda: dictionary([0, 1, 2], named(b"u", NULL, packed("i", 0, 2, 1, 3), b"abc")),
)


@case("a dictionary of itself")
def _():
    made_schema, made_array = dictionary([0, 1, 2], strings(b"a", b"b", b"c"))
    made_schema.dictionary, made_array.dictionary = ctypes.pointer(made_schema), ctypes.pointer(made_array)
    return table((made_schema, made_array))


# ---- capsules and streams ----------------------------------------------------------------------------------------
def stream(table_schema=None, batch=None, **callbacks):
    made = table()
    struct = Stream(table_schema or made.schema, batch or made.batch)
    for field, value in callbacks.items():
        setattr(struct.stream, field, value)
    return struct


CASES |= {
    "a stream that was released": (lambda: stream(release=NULL), "released"),
    "a stream without get_schema": (lambda: stream(get_schema=NULL), "malformed"),
    "a stream without get_next": (lambda: stream(get_next=NULL), "malformed"),
    "a stream that fails and has no get_last_error": (lambda: stream(batch=5), "stream failed: no message"),
    "a stream whose schema fails": (lambda: stream(table_schema=5), "stream failed: no message"),
    "a stream with a released schema": (lambda: stream(table_schema=type(table().schema)()), "released"),
}


class Other:
    """An object whose method returns whatever it was given."""

    def __init__(self, name, value):
        setattr(self, name, lambda requested_schema=None: value)


CASES |= {
    "no capsule": (lambda: Other("__arrow_c_stream__", None), "PyCapsule"),
    "no pair of capsules": (lambda: Other("__arrow_c_array__", None), "TypeError"),
    "a pair of no capsules": (lambda: Other("__arrow_c_array__", (None, None)), "PyCapsule"),
    "a capsule of another kind": (lambda: Other("__arrow_c_stream__", table().__arrow_c_array__()[0]), "PyCapsule"),
    "capsules in the wrong order": (lambda: Other("__arrow_c_array__", table().__arrow_c_array__()[::-1]), "PyCapsule"),
}


def main():
    """Write the outcome of each case: its name, a tab, and its error or what came instead of one."""
    import fastir

    for name, (make, _) in CASES.items():
        print(name, end="\t", flush=True)
        try:
            print(f"no error: {fastir.Run.from_table(make()).to_dict()}")
        except Exception as error:
            print(f"{type(error).__name__}: {error}".replace("\n", " "))
    for _ in range(2):  # memory that was damaged shows later
        fastir.evaluate({"q1": {"a": 1}}, table(), "map")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
