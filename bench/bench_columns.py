"""Tables in, five metrics out: against DuckDB and polars, and with --slow against ranx and ir_measures.

6 980 000 rows, in no order and grouped by query; ids are integers, or text in each of the ways in which tables hold it.
"""

import functools

import by_hand
import numpy as np
import polars
import pyarrow
import pytest
import workloads
from timing import METRICS, THREADS, Goal, plural
from whole_process import peak_memory

import fastir

ROUNDS = 5
GROUP = "7 million rows {}, ids are {}"
COUNTS = (1, THREADS)
DUCKDB = [f"DuckDB, join and count, {plural(threads)}" for threads in COUNTS]
SORTED, COUNTED = "polars, sort and number", "polars, join and count"
FROM_FRAMES = ("ranx", "ir_measures")
CHECKED = {"in no order": "judged", "grouped by query": "full"}  # the validation for which something is asked
FASTER_THAN_DUCKDB = {"integers": 4, "text": 5}

PREPARE = """
import pyarrow, fastir
qrels = pyarrow.ipc.open_stream({qrels!r}).read_all()
rows = pyarrow.ipc.open_stream(pyarrow.OSFile({run!r}))
"""


def as_text(table):
    """The same table with ids as Arrow strings."""
    ids = {name: table[name].cast(pyarrow.string()) for name in ("query_id", "doc_id")}
    return pyarrow.table({name: ids.get(name, table[name]) for name in table.column_names})


def as_objects(table):
    """The same table as a pandas frame with Python strings, one for each distinct id, as Arrow makes them."""
    return table.to_pandas().astype(dict.fromkeys(("query_id", "doc_id"), object))


@functools.lru_cache(maxsize=1)
def tables(order, ids, quick):
    """The qrels, and the run in every shape."""
    queries = 100 if quick else 6980
    qrels, run = map(pyarrow.table, workloads.passage_columns(queries, shuffle=order == "in no order"))
    if ids == "integers":
        return qrels, {"integers": run}
    qrels, run = as_text(qrels), as_text(run)
    return qrels, {"Arrow string": run, "polars": polars.from_arrow(run), "pandas object": as_objects(run)}


def of_fastir(qrels, tables):
    """Calls for every shape, validation and number of threads."""
    for shape, table in tables.items():
        for validate in ("judged", "full"):
            for threads in COUNTS:
                evaluator = fastir.Evaluator(qrels, METRICS, n_threads=threads, validate=validate)
                yield line(shape, validate, threads), functools.partial(evaluator.evaluate, table)


def line(shape, validate, threads):
    return f"fastir, {shape}, {validate}, {plural(threads)}"


def goals(order, ids, tables, slow):
    """The comparisons; only with the validation that suits the order something is asked."""
    for shape in tables:
        for validate in ("judged", "full"):
            asked = validate == CHECKED[order]
            one, more = (line(shape, validate, threads) for threads in COUNTS)
            yield Goal(one, DUCKDB[0], FASTER_THAN_DUCKDB[ids] if asked else None)
            yield Goal(one, SORTED, 30 if asked else None)
            yield Goal(one, COUNTED)
            for peer in FROM_FRAMES if slow else ():
                yield Goal(one, peer, 100 if asked and shape == "integers" else None)
            yield Goal(more, one, clock="wall")
            yield Goal(more, DUCKDB[1], clock="wall")


@pytest.mark.parametrize("ids", FASTER_THAN_DUCKDB)
@pytest.mark.parametrize("order", CHECKED)
def test_tables(race, quick, slow, order, ids):
    qrels, shapes = tables(order, ids, quick)
    arrow = next(iter(shapes.values()))
    judged = by_hand.Qrels(qrels)
    in_duckdb = by_hand.in_duckdb(judged, arrow)
    ours = dict(of_fastir(qrels, shapes))
    peers = {name: functools.partial(in_duckdb, threads) for name, threads in zip(DUCKDB, COUNTS, strict=True)}
    peers[SORTED] = by_hand.sorted_in_polars(judged, arrow)
    peers[COUNTED] = by_hand.counted_in_polars(judged, arrow)
    frames = from_frames(qrels, arrow) if slow else {}
    asked = goals(order, ids, shapes, slow)
    race(GROUP.format(order, ids), ours | peers, asked, ROUNDS, slow=frames, same=1e-12, also=frames)


def from_frames(qrels, run):
    """ranx and ir_measures, from pandas frames with Python strings."""
    pytest.importorskip("ranx")
    import peers

    frames = as_objects(as_text(qrels)), as_objects(as_text(run))
    peers.assert_ranx_agrees(*workloads.passages(queries=100))
    means = fastir.evaluate(qrels, run, METRICS).values.mean(axis=0)
    np.testing.assert_allclose(peers.ir_measures_frames(*frames), means, rtol=0, atol=1e-9)
    return {
        "ranx": lambda: peers.ranx_frames(*frames),
        "ir_measures": lambda: peers.ir_measures_frames(*frames),
    }


def test_memory_of_batches(race, quick, tmp_path):
    """The run is read batch by batch from a file."""
    qrels, shapes = tables("grouped by query", "text", quick)
    paths = {"qrels": str(tmp_path / "qrels"), "run": str(tmp_path / "run")}
    for path, table in ((paths["qrels"], qrels), (paths["run"], shapes["Arrow string"])):
        with pyarrow.ipc.new_stream(path, table.schema) as file:
            file.write_table(table, max_chunksize=1 << 16)
    call = f"fastir.evaluate(qrels, rows, {METRICS!r}, n_threads=1)"
    what = "peak memory above the imports, in batches"
    seen = race.median(
        GROUP.format("grouped by query", "text"), what, lambda: peak_memory(PREPARE.format(**paths), call)
    )
    race.amount(what, seen, "MB", 100)
