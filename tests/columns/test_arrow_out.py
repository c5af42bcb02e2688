"""Results as Arrow data: every library that reads such gets the values bit for bit, and all memory is given back."""

import ctypes
import sys

import numpy as np
import pytest
from common import UNEVEN
from processes import python

import fastir
from fastir.engine.columns import _arrow_out

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

QRELS = {"q1": {"d1": 1, "d2": 0}, "é文😀": {"d1": 1}, "": {"d3": 0}}
RUN = {"q1": {"d1": 2.0, "d2": 3.0}, "é文😀": {"d1": 1.0}, "": {"d3": 1.0}}
METRICS = ["ndcg@10", "map(empty=skip)", "num_ret"]

pytestmark = UNEVEN


@pytest.fixture
def results():
    return fastir.evaluate(QRELS, RUN, METRICS)


def duck(results):
    return duckdb.sql("select * from results").to_arrow_table()


READERS = {
    "pyarrow.table": pyarrow.table,
    "pyarrow.record_batch": lambda results: pyarrow.Table.from_batches([pyarrow.record_batch(results)]),
    "pyarrow stream": lambda results: pyarrow.RecordBatchReader.from_stream(results).read_all(),
    "polars": lambda results: polars.DataFrame(results).to_arrow(),
    "duckdb": duck,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_every_library_reads_the_values(read, results):
    table = read(results)
    assert table.column_names == ["query_id", *METRICS]
    assert table["query_id"].to_pylist() == results.query_ids
    matrix = np.array([table[name].to_numpy() for name in METRICS]).T
    assert matrix.tobytes() == results.values.tobytes()
    assert np.isnan(matrix[2, 1]) and not any(table[name].null_count for name in METRICS)
    assert all(table.schema.field(name).type == "double" for name in METRICS)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_integer_ids_stay_integers(read):
    results = fastir.evaluate({2**63 - 1: {1: 1}, -5: {1: 1}}, {-5: {1: 1.0}, 2**63 - 1: {2: 1.0}}, "mrr")
    assert read(results)["query_id"].to_pylist() == [2**63 - 1, -5]
    assert read(fastir.evaluate_ranked([1, 0, 1], [0, 2, 3], "mrr"))["query_id"].to_pylist() == [0, 1]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_no_queries_are_a_table_without_rows(read):
    table = read(fastir.evaluate_ranked([], [0], ["mrr", "map"]))
    assert table.num_rows == 0 and table.column_names == ["query_id", "mrr", "map"]


def test_integers_beyond_64_bits_are_their_text():
    results = fastir.evaluate({2**64: {1: 1}}, {2**64: {1: 1.0}}, "mrr")
    assert pyarrow.table(results)["query_id"].to_pylist() == [str(2**64)]


def test_an_id_that_is_no_text_is_refused():
    results = fastir.evaluate({"q\udcff": {"d": 1}}, {"q\udcff": {"d": 1.0}}, "mrr")
    for export in (results.__arrow_c_array__, results.__arrow_c_stream__):
        with pytest.raises(ValueError, match=r"'q\\udcff' is not UTF-8 text"):
            export()


def test_a_requested_schema_is_not_an_error(results):
    wanted = pyarrow.schema([("query_id", pyarrow.string())]).__arrow_c_schema__()
    assert results.__arrow_c_array__(requested_schema=wanted) and results.__arrow_c_stream__(requested_schema=wanted)


# ---- who owns what -----------------------------------------------------------------------------------------------
class Array(ctypes.Structure):
    """ArrowArray and ArrowSchema as far as their children; the first words differ, the children stand at `offset`."""

    _fields_ = [
        ("numbers", ctypes.c_int64 * 5),
        ("buffers", ctypes.c_void_p),
        ("children", ctypes.POINTER(ctypes.c_void_p)),
    ]


class Schema(ctypes.Structure):
    _fields_ = [
        ("texts", ctypes.c_void_p * 3),
        ("numbers", ctypes.c_int64 * 2),
        ("children", ctypes.POINTER(ctypes.c_void_p)),
    ]


def child(capsule, kind, name, place):
    """The address of a child of what a capsule holds."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return kind.from_address(get(capsule, name)).children[place]


def test_a_column_outlives_its_table(results):
    """Children are moved out in C, and the parent is released before they are read."""
    expected = [results.query_ids, *results.values.T.tolist()]
    for place in (0, 1, 3):
        schema, array = results.__arrow_c_array__()
        moved = pyarrow.Array._import_from_c(
            child(array, Array, b"arrow_array", place), child(schema, Schema, b"arrow_schema", place)
        )
        del schema, array
        assert moved.to_pylist() == expected[place]


def test_a_table_outlives_the_results():
    table = pyarrow.table(fastir.evaluate(QRELS, RUN, METRICS))
    other = [fastir.evaluate(QRELS, RUN, METRICS) for _ in range(10)]
    assert table["query_id"].to_pylist() == list(QRELS)
    assert table["num_ret"].to_pylist() == other[0].values[:, 2].tolist()


def test_a_stream_is_read_once_and_then_ends(results):
    reader = pyarrow.RecordBatchReader.from_stream(results)
    assert reader.read_next_batch().num_rows == 3
    for _ in range(2):
        with pytest.raises(StopIteration):
            reader.read_next_batch()
    assert pyarrow.RecordBatchReader.from_stream(results).read_all().num_rows == 3


def test_a_capsule_is_consumed_once(results):
    capsule = results.__arrow_c_stream__()
    assert pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all().num_rows == 3
    with pytest.raises(pyarrow.ArrowInvalid, match="released"):
        pyarrow.RecordBatchReader._import_from_c_capsule(capsule)


@pytest.mark.parametrize("columns, part", [
    ([(b"l", b"x", 3, [None, object()])], "batch"),  # no array
    ([(b"l", b"x", 3, [None, np.zeros(3)]), (b"l", b"y", 3, [None, 3])], "batch"),  # after a good one
    ([(b"l", "x", 3, [None])], "schema"),
])  # fmt: skip
def test_what_goes_wrong_in_a_stream_is_its_error_and_not_its_end(columns, part, monkeypatch):
    """column_from makes no such columns: this is how the stream would answer if memory ran out."""
    made = iter(columns)
    monkeypatch.setattr(_arrow_out, "column_from", lambda name, values: _arrow_out.Column(*next(made)))
    capsule = _arrow_out.export_stream({str(place): [1, 2, 3] for place in range(len(columns))})
    with pytest.raises((OSError, pyarrow.ArrowException), match=r"TypeError|AttributeError"):
        reader = pyarrow.RecordBatchReader._import_from_c_capsule(capsule)
        assert part == "batch"
        reader.read_next_batch()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("use", [
    "results.__arrow_c_array__(); results.__arrow_c_stream__()", "pyarrow.record_batch(results)",
    "pyarrow.table(results)", "pyarrow.RecordBatchReader.from_stream(results)",
    "next(iter(_arrow.Batches(results))).ids(0)", "bad()",
])  # fmt: skip
def test_memory_does_not_grow(use):
    out = python(
        """
        import pyarrow
        from fastir.engine.columns import _arrow
        use = compile(sys.argv[1], "use", "exec")
        results = fastir.evaluate_ranked([1] * 20, range(21), METRICS)
        unreadable = fastir.evaluate({"a" * 1000: {"d": 1}, "\\udcff": {"d": 1}}, {"\\udcff": {"d": 1.0}}, METRICS,
                                     queries="qrels")
        def bad():
            for export in (unreadable.__arrow_c_array__, unreadable.__arrow_c_stream__):
                try:
                    export()
                    raise SystemExit("it was exported")
                except ValueError:
                    pass
        def resident():
            gc.collect()
            return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
        for _ in range(3000):
            exec(use)
        before = resident()
        for _ in range(10000):
            exec(use)
        print(resident() - before)
    """,
        use,
    )
    assert int(out) < 1 << 20
