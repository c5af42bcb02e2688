"""Tables in, five metrics out: against DuckDB and polars, and with --slow against ranx and ir_measures.

    python bench/bench_columns.py [--rounds N] [--quick] [--record] [--slow]

6 980 000 rows, in no order and grouped by query; ids are integers, or text in each of the ways in which tables hold it.
"""

import functools
import os

os.environ["POLARS_MAX_THREADS"] = "1"  # read once, when it is imported

import tempfile
from pathlib import Path

import by_hand
import numpy as np
import polars
import pyarrow
import timing
import workloads
from peers import assert_ranx_agrees, ir_measures_frames, ranx_frames
from processes import peak_memory
from timing import METRICS, Goal

import fastir

THREADS = 4
DUCKDB, DUCKDB_THREADS = "DuckDB, join and count", f"DuckDB, join and count, {THREADS} threads"
SORTED, COUNTED = "polars, sort and number", "polars, join and count"
FROM_FRAMES = ("ranx", "ir_measures")

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
    frame = table.to_pandas()
    return frame.astype(dict.fromkeys(("query_id", "doc_id"), object))


def of_fastir(tables, qrels):
    """Its calls on each {shape: table}, with either validation, on one thread and on more."""
    calls = {}
    for shape, table in tables.items():
        for validate in ("judged", "full"):
            for threads in (1, THREADS):
                evaluator = fastir.Evaluator(qrels, METRICS, n_threads=threads, validate=validate)
                calls[line(shape, validate, threads)] = functools.partial(evaluator.evaluate, table)
    return calls


def line(shape, validate, threads):
    return f"fastir, {shape}, {validate}" + (f", {threads} threads" if threads > 1 else "")


def goals(shapes, asked_of, duckdb, slow):
    """The comparisons; those of the validation `asked_of` have something asked of them."""
    for shape in shapes:
        for validate in ("judged", "full"):
            asked = validate == asked_of
            yield Goal(line(shape, validate, 1), DUCKDB, duckdb if asked else None)
            yield Goal(line(shape, validate, 1), SORTED, 30 if asked else None)
            yield Goal(line(shape, validate, 1), COUNTED)
            for peer in FROM_FRAMES if slow else ():
                yield Goal(line(shape, validate, 1), peer, 100 if asked and shape == "integers" else None)
            yield Goal(line(shape, validate, THREADS), line(shape, validate, 1), clock="wall")
            yield Goal(line(shape, validate, THREADS), DUCKDB_THREADS, clock="wall")


def contenders(qrels, tables, options):
    """Everyone's calls on {shape: table}, the first of which is Arrow's, after a check that the answers are equal."""
    arrow = next(iter(tables.values()))
    judged = by_hand.Qrels(qrels)
    in_duckdb = by_hand.in_duckdb(judged, arrow)
    calls = {
        DUCKDB: lambda: in_duckdb(1),
        DUCKDB_THREADS: lambda: in_duckdb(THREADS),
        SORTED: by_hand.sorted_in_polars(judged, arrow),
        COUNTED: by_hand.counted_in_polars(judged, arrow),
    }
    ours = of_fastir(tables, qrels)
    expected = fastir.evaluate(qrels, arrow, METRICS).values
    for name, call in calls.items():
        assert np.abs(call() - expected).max() <= 1e-12, f"{name} differs by {np.abs(call() - expected).max()}"
    for name, call in ours.items():
        assert np.array_equal(call().values, expected), f"{name} differs"
    if options.slow:
        frames = as_objects(as_text(qrels)), as_objects(as_text(arrow))
        assert_ranx_agrees(*workloads.passages(queries=100))
        assert np.abs(ir_measures_frames(*frames) - expected.mean(axis=0)).max() <= 1e-9, "ir_measures differs"
        calls["ranx"] = lambda: ranx_frames(*frames)
        calls["ir_measures"] = lambda: ir_measures_frames(*frames)
    return {**ours, **calls}


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=5, slow="with ranx and ir_measures, which take minutes")
    report = timing.Report("columns", options)
    size = 100 if options.quick else 6980
    for order, asked_of in (("in no order", "judged"), ("grouped by query", "full")):
        qrels, run = map(pyarrow.table, workloads.passage_columns(size, shuffle=order == "in no order"))
        title = f"{len(run):,} rows {order}, ids are"
        shapes = {"integers": run}
        costs = timing.measure(contenders(qrels, shapes, options), options.rounds, slow=FROM_FRAMES)
        report.add(f"{title} integers", costs, [*goals(shapes, asked_of, 4, options.slow)])
        qrels, run = as_text(qrels), as_text(run)
        shapes = {"Arrow string": run, "polars": polars.from_arrow(run), "pandas object": as_objects(run)}
        costs = timing.measure(contenders(qrels, shapes, options), options.rounds, slow=FROM_FRAMES)
        report.add(f"{title} text", costs, [*goals(shapes, asked_of, 5, options.slow)])
    report.limit("peak memory above the imports, rows grouped by query, in batches", streamed(qrels, run), 100, "MB")
    report.close()


def streamed(qrels, run):
    """Megabytes that it takes to read the run batch by batch from a file."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"qrels": str(Path(folder, "qrels")), "run": str(Path(folder, "run"))}
        for path, table in ((paths["qrels"], qrels), (paths["run"], run)):
            with pyarrow.ipc.new_stream(path, table.schema) as file:
                file.write_table(table, max_chunksize=1 << 16)
        return peak_memory(PREPARE.format(**paths), f"fastir.evaluate(qrels, rows, {METRICS!r}, n_threads=1)")


if __name__ == "__main__":
    main()
