"""Arrow data in: what is legal gives pyarrow's values, what is malformed an error that says so, and nothing a crash."""
# Also of: arrow.

import ast
import ctypes
import re
import subprocess
import sys

import arrow_malformed
import arrow_random
import numpy as np
import pytest
from arrow_structs import (
    RELEASED,
    ArrowArray,
    ArrowArrayStream,
    ArrowSchema,
    Stream,
    Table,
    address,
    array,
    dictionary,
    named,
    packed,
    schema,
    strings,
    table,
    texts,
    view,
)
from processes import patient, python

import fastir

pyarrow = pytest.importorskip("pyarrow")
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}


def rows(data):
    """What a table holds: (query, document, score) of each row."""
    run = fastir.Run.from_table(data)
    return [(query, doc, score) for query, docs in run.to_dict().items() for doc, score in docs.items()]


LEGAL = [("q1", "a", 3.0), ("q1", "b", 2.0), ("q2", "c", 1.0)]


# ---- legal, and rare ---------------------------------------------------------------------------------------------
def shifted(shift):
    """Puts buffers where they are not aligned."""
    return lambda data: address(data, shift)


RARE = {
    "as it is": table,
    "a column without a name": lambda: with_extra(name=None),
    "a name that is no UTF-8": lambda: with_extra(name=b"\xff"),
    "a column of a type that no id has": lambda: with_extra(name=b"other", format=b"tdD"),
    "large offsets": lambda: table(named(b"U", *texts([b"a", b"b", b"c"], "q"))),
    "offsets that begin behind 0": lambda: table(named(b"u", None, packed("i", 2, 3, 4, 5), b"??abc")),
    "views": lambda: table(named(b"vu", None, view(b"a") + view(b"b") + view(b"c"), b"")),
    "offset": lambda: table(named(b"u", *texts([b"?", b"a", b"b", b"c"]), offset=1)),
    "nulls unknown, and none": lambda: table(named(b"u", b"\xff", *texts([b"a", b"b", b"c"])[1:], null_count=-1)),
    "nulls unknown, no bitmap": lambda: table(named(b"u", *texts([b"a", b"b", b"c"]), null_count=-1)),
    "a null behind the rows": lambda: table(
        named(b"u", b"\x07", *texts([b"a", b"b", b"c", b"?"])[1:], n=4, null_count=1)
    ),
    "a dictionary": lambda: table(dictionary([2, 0, 1], strings(b"b", b"c", b"a"))),
    "a dictionary of bytes": lambda: table(dictionary([2, 0, 1], strings(b"b", b"c", b"a"), "B", b"C")),
    "a dictionary of a dictionary": lambda: table(
        dictionary([0, 1, 2], dictionary([2, 1, 0], strings(b"c", b"b", b"a")))
    ),
    "a dictionary with an unused null": lambda: table(
        dictionary([0, 1, 2], named(b"u", b"\x07", *texts([b"a", b"b", b"c", b""])[1:], n=4, null_count=1))
    ),
    "unaligned": lambda: table(
        named(b"u", *texts([b"a", b"b", b"c"]), place=shifted(1)),
        named(b"U", *texts([b"q1", b"q1", b"q2"], "q"), name=b"query_id", place=shifted(3)),
        named(b"g", None, packed("d", 3, 2, 1), name=b"score", place=shifted(5)),
    ),
    "unaligned views and floats": lambda: table(
        named(b"vu", None, view(b"a") + view(b"b") + view(b"c"), b"", place=shifted(1)),
        numbers=named(b"f", None, packed("f", 3, 2, 1), name=b"score", place=shifted(1)),
    ),
    "unaligned positions": lambda: table(dictionary([2, 0, 1], strings(b"b", b"c", b"a"), place=shifted(1))),
    "a stream": lambda: once(table()),
}


def with_extra(name, format=b"g"):
    made = table()
    columns = [made.schema.children[place].contents for place in range(3)]
    arrays = [made.batch.children[place].contents for place in range(3)]
    return Table(
        schema(b"+s", b"", [schema(format, name), *columns]),
        array(3, [None], [array(3, [None, packed("d", 0, 0, 0)]), *arrays]),
    )


def once(made):
    """The table as a stream; its second batch is a released one, the end."""
    stream = Stream(made.schema, made.batch)
    batches = iter([made.batch, ArrowArray()])

    def get(_, out):
        ctypes.memmove(out, ctypes.addressof(next(batches)), ctypes.sizeof(ArrowArray))
        return 0

    stream.kept = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(get)
    stream.stream.get_next = ctypes.cast(stream.kept, ctypes.c_void_p)
    return stream


PYARROW_REFUSES = {"a column without a name", "a name that is no UTF-8"}


@pytest.mark.parametrize("case", RARE)
def test_what_is_legal_has_pyarrow_s_values(case):
    assert rows(RARE[case]()) == LEGAL
    assert fastir.evaluate(QRELS, RARE[case](), "ndcg@10")["ndcg@10"] == 1.0
    if case not in PYARROW_REFUSES:
        made = RARE[case]()
        theirs = pyarrow.array(made) if isinstance(made, Table) else pyarrow.table(made).to_struct_array()
        theirs.validate(full=True)
        assert [(row["query_id"], row["doc_id"], row["score"]) for row in theirs.to_pylist()] == LEGAL


def test_each_struct_is_released_once():
    RELEASED.clear()
    assert rows(table()) == LEGAL
    assert RELEASED.count(ArrowSchema) == RELEASED.count(ArrowArray) == 1
    RELEASED.clear()
    assert rows(once(table())) == LEGAL
    assert [RELEASED.count(kind) for kind in (ArrowSchema, ArrowArray, ArrowArrayStream)] == [1, 1, 1]


# ---- nulls -------------------------------------------------------------------------------------------------------
NULLS = {
    "null_count -1": lambda: table(named(b"u", b"\x05", *texts([b"a", b"b", b"c"])[1:], null_count=-1)),
    "null_count 0, wrongly": lambda: table(named(b"u", b"\x05", *texts([b"a", b"b", b"c"])[1:])),
    "null_count 1": lambda: table(named(b"u", b"\x05", *texts([b"a", b"b", b"c"])[1:], null_count=1)),
    "offset": lambda: table(named(b"u", b"\x0b", *texts([b"?", b"a", b"b", b"c"])[1:], offset=1, null_count=-1)),
    "of numbers": lambda: table(numbers=named(b"g", b"\x05", packed("d", 3, 2, 1), name=b"score", null_count=-1)),
    "of the struct": lambda: table(bitmap=b"\x05", null_count=-1),
    "in a dictionary": lambda: table(
        dictionary([0, 1, 2], named(b"u", b"\x05", *texts([b"a", b"b", b"c"])[1:], null_count=-1))
    ),
    "in a dictionary of a dictionary": lambda: table(
        dictionary(
            [0, 1, 2], dictionary([1, 0, 2], named(b"u", b"\x06", *texts([b"a", b"b", b"c"])[1:], null_count=-1))
        )
    ),
    "in both dictionaries, one of them unused": lambda: table(
        dictionary(
            [0, 1, 2],
            dictionary(
                [0, 1, 2, 0], named(b"u", b"\x05", *texts([b"a", b"b", b"c"])[1:], null_count=1), bitmap=b"\x07",
                null_count=1,
            ),
        )
    ),
    "positions": lambda: table(dictionary([0, -7, 2], strings(b"a", b"b", b"c"), null_count=1, bitmap=b"\x05")),
    "of type null": lambda: table((schema(b"n", b"doc_id"), array(3))),
}  # fmt: skip


@pytest.mark.parametrize("make", NULLS.values(), ids=NULLS)
def test_a_null_is_named(make):
    with pytest.raises(ValueError, match=r"run: row [01]: '(doc_id|score|query_id)' is null"):
        fastir.evaluate(QRELS, make(), "map")


@pytest.mark.parametrize("null", range(5))
def test_a_null_of_a_struct_counts_within_its_slice(null):
    columns = [["q1", "q1", "q1", "q2", "q2"], ["a", "b", "c", "c", "d"], [5.0, 4.0, 3.0, 2.0, 1.0]]
    mask = [row == null for row in range(5)]
    whole = pyarrow.StructArray.from_arrays(
        [pyarrow.array(column) for column in columns], ["query_id", "doc_id", "score"], mask=pyarrow.array(mask)
    )
    part = whole.slice(1, 3)
    if 1 <= null <= 3:
        with pytest.raises(ValueError, match=f"row {null - 1}: 'query_id' is null"):
            fastir.evaluate(QRELS, part, "map")
    else:
        assert rows(part) == [("q1", "b", 4.0), ("q1", "c", 3.0), ("q2", "c", 2.0)]


@pytest.mark.parametrize("column", [0, 1, 2])
@pytest.mark.parametrize("null", range(5))
def test_a_null_in_a_column_of_a_struct_counts_within_its_slice(column, null):
    columns = [["q1", "q1", "q1", "q2", "q2"], ["a", "b", "c", "c", "d"], [5.0, 4.0, 3.0, 2.0, 1.0]]
    name = ("query_id", "doc_id", "score")[column]
    columns[column][null] = None
    arrays = [pyarrow.array(column) for column in columns]
    part = pyarrow.StructArray.from_arrays(arrays, ["query_id", "doc_id", "score"]).slice(1, 3)
    if 1 <= null <= 3:
        with pytest.raises(ValueError, match=f"row {null - 1}: '{name}' is null"):
            fastir.evaluate(QRELS, part, "map")
    else:
        assert len(rows(part)) == 3


@pytest.mark.parametrize("first", [0, 1, 7, 8, 9, 15])
def test_boolean_labels_of_a_slice(first):
    flags = [place % 3 == 1 for place in range(24)]
    whole = pyarrow.table({"query_id": ["q"] * 24, "doc_id": [f"d{i}" for i in range(24)], "label": flags})
    part = whole.slice(first, 8)
    assert fastir.Qrels.from_table(part).to_dict() == {"q": {f"d{i}": int(flags[i]) for i in range(first, first + 8)}}


@pytest.mark.parametrize("null", [0, 1, 6, 7, 8, 9, 15, 16, 30, 31])
@pytest.mark.parametrize("first", [0, 1, 7, 8, 9])
def test_each_bit_of_a_bitmap_is_seen_and_none_beside_the_rows(first, null):
    flags = [True] * 48
    flags[first + null] = False
    for place in {*range(48)} - {*range(first, first + 32)}:
        flags[place] = False
    bitmap = np.packbits(flags, bitorder="little").tobytes()
    queries = named(b"u", *texts([b"q"] * 48), name=b"query_id", n=48)
    docs = named(b"l", None, packed("q", *range(48)), n=48)
    numbers = named(b"g", bitmap, packed("d", *range(48)), name=b"score", n=48, null_count=-1)
    made = table(docs, queries, numbers, offset=first)
    made.batch.length = 32
    with pytest.raises(ValueError, match=f"row {null}: 'score' is null"):
        fastir.evaluate({"q": {0: 1}}, made, "map")


# ---- malformed ---------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def outcomes():
    """What each malformed structure led to, in one process; a crash ends it, and what it did not reach is missing."""
    done = subprocess.run(
        [sys.executable, arrow_malformed.__file__], capture_output=True, text=True, timeout=patient(120)
    )
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return dict(lines) | {"exit": str(done.returncode)}


def test_malformed_structures_end_no_process(outcomes):
    assert outcomes["exit"] == "0"


@pytest.mark.parametrize("name", arrow_malformed.CASES)
def test_what_is_malformed_is_an_error(name, outcomes):
    assert re.search(arrow_malformed.CASES[name][1], outcomes.get(name) or "it crashed")


def many_views(n, change, bad=None):
    """n documents as views: short ones, and long ones in one of two buffers, the other from row `change` on."""
    parts, views = [b"", b""], b""
    names = [b"document %06d" % row if row % 3 else b"%d" % row for row in range(n)]
    for row, name in enumerate(names):
        part = row >= change
        views += view(name, part, len(parts[part])) if row != bad else view(b"?" * 13, part, 2**31 - 1)
        parts[part] += name if len(name) > 12 else b""
    docs = named(b"vu", None, views, *parts, packed("q", *map(len, parts)), n=n)
    queries = named(b"u", *texts([b"q"] * n), name=b"query_id", n=n)
    made = table(docs, queries, named(b"g", None, packed("d", *range(n)), name=b"score", n=n))
    made.batch.length = n
    return made, names


@pytest.mark.parametrize("change", [0, 1, 255, 256, 300, 1000])
@pytest.mark.parametrize("n", [255, 256, 257, 512, 513])
def test_views_are_checked_to_the_last_one_of_each_block(n, change):
    made, names = many_views(n, change)
    assert [doc for _, doc, _ in rows(made)] == [name.decode() for name in names]
    for bad in {0, 1, 254, 255, 256, 257, 511, n - 1} & {*range(n)}:
        with pytest.raises(ValueError, match=f"view {bad} of the batch is not within its buffer"):
            rows(many_views(n, change, bad)[0])


@pytest.mark.parametrize("code", [0, 5, 9_999_999, -1])
def test_positions_that_pyarrow_does_not_check(code):
    """DictionaryArray.from_arrays(safe=False) makes them."""
    out = python(
        """
        import pyarrow
        docs = pyarrow.DictionaryArray.from_arrays(
            pyarrow.array([0, 1, int(sys.argv[1])], pyarrow.int32()), pyarrow.array(["a", "b"]), safe=False
        )
        table = pyarrow.table({"query_id": ["q1", "q1", "q2"], "doc_id": docs, "score": [3.0, 2.0, 1.0]})
        for use in (lambda: fastir.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, table, "map")["map"],
                    lambda: fastir.Run.from_table(table).to_dict()["q2"]):
            try:
                print(use())
            except ValueError as error:
                print(error)
        """,
        code,
    )
    expected = ["1.0", "{'a': 1.0}"] if code == 0 else [f"position {code} is outside of the dictionary"] * 2
    assert all(text in line for text, line in zip(expected, out.splitlines(), strict=True))


@pytest.mark.parametrize("kind", ["array", "stream"])
def test_capsules_that_are_used_twice(kind):
    out = python(
        """
        import pyarrow
        table = pyarrow.table({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
        class Once:
            pass
        once, name = Once(), f"__arrow_c_{sys.argv[1]}__"
        capsules = getattr(table if sys.argv[1] == "stream" else table.to_batches()[0], name)()
        setattr(once, name, lambda requested_schema=None: capsules)
        for _ in range(2):
            try:
                print(fastir.evaluate({"q": {"d": 1}}, once, "map")["map"])
            except ValueError as error:
                print(error)
        """,
        kind,
    )
    first, second = out.splitlines()
    assert first == "1.0" and "released" in second


def test_a_dictionary_of_a_dictionary_from_pyarrow():
    inner = pyarrow.DictionaryArray.from_arrays(pyarrow.array([2, 1, 0]), pyarrow.array(["c", "b", "a"]))
    docs = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), inner)
    made = pyarrow.table({"query_id": ["q1", "q1", "q2"], "doc_id": docs, "score": [3.0, 2.0, 1.0]})
    assert fastir.evaluate(QRELS, made, "ndcg@10")["ndcg@10"] == 1.0 and rows(made) == LEGAL


@pytest.mark.parametrize("first", [0, 10_000])
def test_random_structures_are_read_as_pyarrow_reads_them_or_refused(first):
    command = [sys.executable, "-W", "ignore", arrow_random.__file__, str(first), "1500"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient(120))
    assert done.returncode == 0, f"exit {done.returncode}: {done.stdout[-200:]} {done.stderr[-2000:]}"
    assert min(ast.literal_eval(done.stdout.splitlines()[-1]).values()) > 100
