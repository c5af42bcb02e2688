"""Five metrics of tables: against DuckDB and polars, and with --slow against ranx and ir_measures.

6 980 000 rows, in no order and grouped by query; ids are integers, or text in each of the ways in which tables hold it.
Then what is everyday, too: rows of unknown queries, a million short rankings, one long one, Python strings, ten rows.
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
ORDERS = ("in no order", "grouped by query")
ASKED = {  # how many times as fast as DuckDB, and as polars that counts; by order, ids and validation
    ("in no order", "integers", "judged"): (3.4, 2.2), ("in no order", "integers", "full"): (2.8, 1.5),
    ("in no order", "text", "judged"): (5, 2), ("in no order", "text", "full"): (5, 2),
    ("grouped by query", "integers", "full"): (4, 2), ("grouped by query", "text", "full"): (5, 2),
}  # fmt: skip
OBJECTS = "pandas object"

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
    return qrels, {"Arrow string": run, "polars": polars.from_arrow(run), OBJECTS: as_objects(run)}


def of_fastir(qrels, tables, counts=COUNTS):
    """Calls for every shape, validation and number of threads."""
    for shape, table in tables.items():
        for validate in ("judged", "full"):
            for threads in counts:
                evaluator = fastir.Evaluator(qrels, METRICS, n_threads=threads, validate=validate)
                yield line(shape, validate, threads), functools.partial(evaluator.evaluate, table)


def line(shape, validate, threads):
    return f"fastir, {shape}, {validate}, {plural(threads)}"


def goals(order, ids, tables, slow):
    """The comparisons; of Python strings nothing is asked here, as the peers get them as Arrow data."""
    for shape in tables:
        for validate in ("judged", "full"):
            asked = None if shape == OBJECTS else ASKED.get((order, ids, validate))
            one, more = (line(shape, validate, threads) for threads in COUNTS)
            yield Goal(one, DUCKDB[0], asked and asked[0])
            yield Goal(one, COUNTED, asked and asked[1])
            yield Goal(one, SORTED, asked and 30)
            for peer in FROM_FRAMES if slow else ():
                yield Goal(one, peer, 100 if asked and shape == "integers" else None)
            yield Goal(more, one, clock="wall")
            yield Goal(more, DUCKDB[1], clock="wall")


@pytest.mark.parametrize("ids", ["integers", "text"])
@pytest.mark.parametrize("order", ORDERS)
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


def race_counted(race, group, qrels, run, asked, rounds=ROUNDS):
    """Both validations on one thread against both peers that count; `asked` are the goals of each, as in ASKED."""
    judged = by_hand.Qrels(qrels)
    calls = dict(of_fastir(qrels, {"integers": run}, (1,)))
    calls[DUCKDB[0]] = functools.partial(by_hand.in_duckdb(judged, run), 1)
    calls[COUNTED] = by_hand.counted_in_polars(judged, run)
    named = [(line("integers", validate, 1), ratios) for validate, ratios in asked.items()]
    wanted = [
        Goal(ours, peer, ratio)
        for ours, ratios in named
        for peer, ratio in zip((DUCKDB[0], COUNTED), ratios, strict=True)
    ]
    race(group, calls, wanted, rounds, same=1e-12)


def test_unknown_queries(race, quick):
    """A table of 8 million rows, 13 % of them of queries that the qrels lack."""
    qrels, run = workloads.passage_columns(100 if quick else 6980)
    rows = pyarrow.table(workloads.with_unknown_queries(run))
    asked = {"judged": (None, None), "full": (2.2, None)}
    race_counted(race, "8 million rows in no order, 13 % of unknown queries", pyarrow.table(qrels), rows, asked)


def test_short_rankings(race, quick):
    qrels, run = map(pyarrow.table, workloads.short_columns(1000 if quick else 1_000_000))
    asked = {"judged": (1.2, 1.2), "full": (1.2, 1.2)}
    race_counted(race, "a million queries of 10 rows, in no order", qrels, run, asked, 3)


def test_python_strings(race, quick):
    """The peers read the same frame, and converting it is their work as it is ours."""
    qrels, shapes = tables("in no order", "text", quick)
    judged, frame = by_hand.Qrels(qrels), shapes[OBJECTS]
    calls = dict(of_fastir(qrels, {OBJECTS: frame}, (1,)))
    calls[DUCKDB[0]] = lambda: by_hand.in_duckdb(judged, frame)(1)
    calls[COUNTED] = lambda: by_hand.counted_in_polars(judged, pyarrow.Table.from_pandas(frame))()
    ours = line(OBJECTS, "full", 1)
    wanted = [Goal(ours, peer, 1.2) for peer in (DUCKDB[0], COUNTED)]
    race("7 million rows in no order, from a frame of Python strings", calls, wanted, 3, same=1e-12)


@pytest.mark.parametrize("ids", ["integers", "text"])
def test_one_long_query(race, quick, ids):
    """A query of a million rows, one in a hundred relevant: the table is asked to be no slower than the same dict."""
    n = 10_000 if quick else 1_000_000
    rng = np.random.default_rng(workloads.SEED)
    docs, scores = rng.permutation(10 * n)[:n], rng.random(n)
    names = docs.tolist() if ids == "integers" else [f"d{doc}" for doc in docs.tolist()]
    query = 1 if ids == "integers" else "1"
    evaluator = fastir.Evaluator({query: dict.fromkeys(names[: n // 100], 1)}, METRICS, n_threads=1)
    rows = pyarrow.table({"query_id": [query] * n, "doc_id": names, "score": scores})
    nested = {query: dict(zip(names, scores.tolist(), strict=True))}
    calls = {f"fastir, {what}": functools.partial(evaluator.evaluate, run) for what, run in
             {"table": rows, "dict": nested}.items()}  # fmt: skip
    group = f"one query of a million rows, ids are {ids}"
    race(group, calls, [Goal("fastir, table", "fastir, dict", 1)], same=0)


def test_qrels_of_integers(race, quick):
    """A million judgments: integers are asked to be read no slower than text."""
    n = 10_000 if quick else 1_000_000
    docs = np.random.default_rng(workloads.SEED).permutation(10 * n)[:n]
    table = pyarrow.table({"query_id": np.repeat(np.arange(n // 100), 100), "doc_id": docs, "label": np.ones(n, int)})
    calls = {
        f"Qrels.from_table, {ids}": functools.partial(fastir.Qrels.from_table, one)
        for ids, one in {"integers": table, "text": as_text(table)}.items()
    }
    race("a million judgments from a table", calls, [Goal(*calls, 0.95)])


def test_ten_rows(race):
    """One query, evaluated again and again: what finding out about a table costs, next to the same dict."""
    qrels, run = workloads.single()
    evaluator = fastir.Evaluator(qrels, METRICS)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    table = pyarrow.table(dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)))
    shapes = {"dict": run, "Arrow": table, "pandas": table.to_pandas(), OBJECTS: as_objects(table)}
    calls = {f"fastir, {shape}": functools.partial(evaluator.evaluate, one) for shape, one in shapes.items()}
    limits = {"Arrow": 1 / 7, "pandas": 1 / 24, OBJECTS: 1 / 24}
    wanted = [Goal(f"fastir, {shape}", "fastir, dict", limit) for shape, limit in limits.items()]
    race("one query of 10 rows, prepared", calls, wanted, rounds=20, repeat=200, same=0)


def from_frames(qrels, run):
    """ranx and ir_measures, from pandas frames with Python strings."""
    pytest.importorskip("ranx")
    import peers

    frames = as_objects(as_text(qrels)), as_objects(as_text(run))
    peers.assert_ranx_agrees(*workloads.passages(queries=100))
    means = fastir.evaluate(qrels, run, METRICS).values.mean(axis=0)
    np.testing.assert_allclose(peers.ir_measures_frames(*frames), means, rtol=0, atol=1e-9)
    return {"ranx": lambda: peers.ranx_frames(*frames), "ir_measures": lambda: peers.ir_measures_frames(*frames)}


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
