"""Time per row from 10^4 to 10^7 rows, with --full to 10^8, of tables and of files, on one thread and on four.

    python bench/bench_scaling.py [--rounds N] [--quick] [--record] [--full]

The tables hold integers, in no order; the files are TREC runs. Both use Python threads without the GIL.
10^8 rows take 10 GB of memory and 4 GB of disk for a while.
"""

import os
import tempfile

import numpy as np
import polars
import timing
import workloads
from timing import METRICS, Goal

import fastir
from fastir.threads import WORTH

DEPTH = 1000
THREADS = 4
ONE, MORE, DEFAULT = "1 thread", f"{THREADS} threads", "threads as it likes"
BIG = 100e6  # bytes from which threads are asked to pay


def write_run(path, run):
    """As workloads.write_run does, without a Python object per row."""
    frame = polars.DataFrame(run)
    rank = polars.int_range(1, DEPTH + 1).over("query_id").alias("rank")
    row = frame.select("query_id", polars.lit("Q0"), "doc_id", rank, "score", polars.lit("bm25-k1").alias("tag"))
    row.write_csv(path, include_header=False, separator=" ", float_precision=6)


def table(folder, queries):
    """Qrels, a run that is columns in no order, and its bytes."""
    qrels, run = workloads.passage_columns(queries, DEPTH)
    return qrels, run, sum(column.nbytes for column in run.values())


def file(folder, queries):
    """Qrels, the path of a run, and its bytes."""
    qrels, run = workloads.passage_columns(queries, DEPTH, shuffle=False)
    path = os.path.join(folder, "run")
    write_run(path, run)
    return {**qrels, **{name: qrels[name].astype(str) for name in ("query_id", "doc_id")}}, path, os.path.getsize(path)


def contenders(qrels, run, validate):
    """Calls with different numbers of threads, after a check that they give the same."""
    evaluators = {
        name: fastir.Evaluator(qrels, METRICS, n_threads=n, validate=validate)
        for name, n in ((ONE, 1), (MORE, THREADS), (DEFAULT, None))
    }
    values = [evaluator.evaluate(run).values for evaluator in evaluators.values()]
    assert all(np.array_equal(values[0], others) for others in values[1:]), "values depend on the number of threads"
    return {name: lambda evaluator=evaluator: evaluator.evaluate(run) for name, evaluator in evaluators.items()}


def goals(rows, size):
    """Many threads are asked to pay on much data; on little, the default is not to lose."""
    yield Goal(MORE, ONE, 2.5 if size >= BIG else None, "wall")
    yield Goal(DEFAULT, ONE, 1 / 1.05 if rows < WORTH else None, "wall")


def per_row(seconds):
    """A table of nanoseconds per row from {line: {rows: seconds}}."""
    print("\nnanoseconds per row: of processor time on one thread, on the wall on more")
    for name, times in seconds.items():
        print(f"  {name:<26}", *(f"{rows:>9.0e}: {1e9 * time / rows:5.1f}" for rows, time in times.items()))


def plot(seconds, path):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, times in seconds.items():
        axes.plot(list(times), [1e9 * time / rows for rows, time in times.items()], "o-", label=name)
    axes.set(xscale="log", xlabel="rows", ylabel="ns per row", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=80)


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=7, full="up to 10^8 rows")
    report = timing.Report("scaling", options)
    powers = range(4, 6 if options.quick else 9 if options.full else 8)
    seconds = {}
    shapes = ("table, judged", table, "judged"), ("table, full", table, "full"), ("file", file, "full")
    for shape, make, validate in shapes:
        for rows in (10**power for power in powers):
            with tempfile.TemporaryDirectory() as folder:
                qrels, run, size = make(folder, rows // DEPTH)
                costs = timing.measure(contenders(qrels, run, validate), options.rounds, calls=max(1, 10**6 // rows))
                report.add(f"{shape}, {rows:,} rows, {size / 1e6:.0f} MB", costs, [*goals(rows, size)])
                del run
            for name, clock in ((ONE, "cpu"), (MORE, "wall")):
                seconds.setdefault(f"{shape}, {name}", {})[rows] = getattr(costs[name], clock)
    per_row(seconds)
    report.close()
    if options.record:
        plot(seconds, timing.records() / "scaling.png")


if __name__ == "__main__":
    main()
