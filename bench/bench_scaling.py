"""Time per row from 10^4 to 10^7 rows, with --slow to 10^8, of tables and of files, on one thread and on more.

The tables hold integers, in no order; the files are TREC runs. 10^8 rows take 10 GB of memory and 4 GB of disk.
"""

import functools

import polars
import pytest
import workloads
from timing import METRICS, THREADS, Goal, plural

import fastir
from fastir.engine.threads import PARALLEL_ROWS

DEPTH = 1000
BIG = 100e6  # bytes from which threads are asked to pay
ONE, MORE, DEFAULT = plural(1), plural(THREADS), "the default number of threads"


def write_run(path, run):
    """As workloads.write_run does, without a Python object per row."""
    frame = polars.DataFrame(run)
    rank = polars.int_range(1, DEPTH + 1).over("query_id").alias("rank")
    row = frame.select("query_id", polars.lit("Q0"), "doc_id", rank, "score", polars.lit("bm25-k1").alias("tag"))
    row.write_csv(path, include_header=False, separator=" ", float_precision=6)


def table(queries, _):
    """Qrels, a run that is columns in no order, and its bytes."""
    qrels, run = workloads.passage_columns(queries, DEPTH)
    return qrels, run, sum(column.nbytes for column in run.values())


def file(queries, path):
    """Qrels, the path of a run, and its bytes."""
    qrels, run = workloads.passage_columns(queries, DEPTH, shuffle=False)
    write_run(path, run)
    qrels.update({name: qrels[name].astype(str) for name in ("query_id", "doc_id")})
    return qrels, str(path), path.stat().st_size


SHAPES = {"table, judged": (table, "judged"), "table, full": (table, "full"), "file": (file, "full")}


@pytest.mark.parametrize("power", range(4, 9))
@pytest.mark.parametrize("shape", SHAPES)
def test_rows(race, quick, slow, tmp_path, shape, power):
    """Threads are asked to pay on much data; on little, the default is asked not to lose."""
    if power > (5 if quick else 8 if slow else 7):
        pytest.skip("more rows than --quick allows" if quick else "takes minutes and 10 GB: --slow")
    make, validate = SHAPES[shape]
    rows = 10**power
    qrels, run, size = make(rows // DEPTH, tmp_path / "run")
    calls = {}
    for name, threads in ((ONE, 1), (MORE, THREADS), (DEFAULT, None)):
        evaluator = fastir.Evaluator(qrels, METRICS, n_threads=threads, validate=validate)
        calls[name] = functools.partial(evaluator.evaluate, run)
    goals = [
        Goal(MORE, ONE, 2.5 if size >= BIG else None, "wall"),
        Goal(DEFAULT, ONE, 1 / 1.05 if rows < PARALLEL_ROWS else None, "wall"),
    ]
    costs = race(f"{shape}, 10^{power} rows", calls, goals, rounds=7, repeat=max(1, 10**6 // rows), same=0)
    race.amount("processor time per row, 1 thread", 1e9 * costs[ONE].cpu / rows, "ns")
    race.amount(f"time per row (wall), {MORE}", 1e9 * costs[MORE].wall / rows, "ns")
