"""TREC files in, five metrics out, against pytrec_eval and ranx: what a user waits for, from two paths to the values.

    python bench/bench_files.py [--rounds N] [--quick] [--record]

The files are written to a temporary folder first and read from the page cache by everyone. The big run has 6980 x 1000
lines, about 284 MB; seven runs of a sixth of that are evaluated at once.
"""

import itertools
import os
import shutil
import tempfile

import pytrec_eval
import timing
import workloads
from peers import TREC, assert_ranx_agrees, assert_same, ranx_files
from processes import peak_memory, python
from timing import METRICS, Goal

import fastir

THREADS = 4
RUNS = 7
LINE, LINE_THREADS = "fastir", f"fastir, {THREADS} threads"
COMMAND, START = "fastir eval, whole process", "python, numpy, whole process"
START_UP = 45  # ms that the command line may take beyond Python's and NumPy's start


def pytrec_eval_files(qrels_path, run_path):
    with open(qrels_path) as qrels, open(run_path) as run:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {TREC[name] for name in METRICS})
        return evaluator.evaluate(pytrec_eval.parse_run(run))


def contenders(qrels_path, run_path):
    """Everyone's calls on two files, after a check that the answers are equal."""
    assert_same(fastir.evaluate(qrels_path, run_path, METRICS), pytrec_eval_files(qrels_path, run_path))
    return {
        LINE: lambda: dict(fastir.evaluate(qrels_path, run_path, METRICS, n_threads=1)),
        LINE_THREADS: lambda: dict(fastir.evaluate(qrels_path, run_path, METRICS, n_threads=THREADS)),
        "pytrec_eval": lambda: pytrec_eval_files(qrels_path, run_path),
        "ranx": lambda: ranx_files(qrels_path, run_path),
    }


def command_line(qrels_path, run_path):
    """The whole process, and how its start looks without fastir."""
    chosen = itertools.chain.from_iterable(("-m", name) for name in METRICS)
    arguments = ["-m", "fastir", "eval", qrels_path, run_path, *chosen, "--threads", "1"]
    python(*arguments)
    return {COMMAND: lambda: python(*arguments), START: lambda: python("-c", "import numpy")}


def written(folder, name, qrels, run):
    """Paths of the qrels and of the run."""
    qrels_path, run_path = (os.path.join(folder, f"{name}.{side}") for side in ("qrels", "run"))
    workloads.write_qrels(qrels_path, qrels)
    workloads.write_run(run_path, run)
    return qrels_path, run_path


def title_of(run, path):
    return f"{len(run)} x 1000 lines, {os.path.getsize(path) / 1e6:.0f} MB"


def small(folder, options, report):
    """In the process and from the command line."""
    qrels, run = workloads.judged()
    paths = written(folder, "judged", qrels, run)
    assert_ranx_agrees(qrels, run)
    costs = timing.measure({**contenders(*paths), **command_line(*paths)}, 3 * options.rounds)
    report.add(title_of(run, paths[1]), costs, [Goal(LINE, "pytrec_eval"), Goal(LINE, "ranx")])
    beyond = {clock: 1e3 * (getattr(costs[COMMAND], clock) - getattr(costs[START], clock)) for clock in ("wall", "cpu")}
    report.limit("fastir eval beyond Python's and NumPy's start", beyond["wall"], START_UP, "ms")
    report.limit("the same, processor time", beyond["cpu"], START_UP, "ms")
    report.limit("the same, against pytrec_eval in the process", beyond["cpu"], 1e3 * costs["pytrec_eval"].cpu, "ms")


def large(folder, options, report):
    qrels, run = workloads.passages(100 if options.quick else 6980)
    paths = written(folder, "passages", qrels, run)
    title = title_of(run, paths[1])
    del qrels, run
    costs = timing.measure(contenders(*paths), options.rounds, slow=("pytrec_eval", "ranx"))
    report.add(title, costs, [
        Goal(LINE, "pytrec_eval", 25), Goal(LINE, "ranx", 25), Goal(LINE_THREADS, "pytrec_eval", 60, "wall"),
        Goal(LINE_THREADS, LINE, 2.5, "wall"),
    ])  # fmt: skip
    for threads in (1, THREADS):
        call = f"fastir.evaluate({paths[0]!r}, {paths[1]!r}, {METRICS!r}, n_threads={threads})"
        report.limit(f"peak memory above the imports, threads: {threads}", peak_memory("import fastir", call), 60, "MB")


def many(folder, options, report):
    """Several runs, copies of one so that their making takes no time."""
    qrels, run = workloads.passages(100 if options.quick else 1200)
    qrels_path, run_path = written(folder, "many", qrels, run)
    runs = {str(number): shutil.copy(run_path, f"{run_path}{number}") for number in range(RUNS)}
    expected = fastir.evaluate(qrels_path, run_path, METRICS)
    for threads in (1, THREADS):
        for results in fastir.evaluate_many(qrels_path, runs, METRICS, n_threads=threads).values():
            assert results.to_dict() == expected.to_dict(), "evaluate_many differs from evaluate"
    costs = timing.measure({
        LINE: lambda: fastir.evaluate_many(qrels_path, runs, METRICS, n_threads=1),
        LINE_THREADS: lambda: fastir.evaluate_many(qrels_path, runs, METRICS, n_threads=THREADS),
    }, 3 * options.rounds)  # fmt: skip
    report.add(f"evaluate_many, {RUNS} times {title_of(run, run_path)}", costs, [Goal(LINE_THREADS, LINE, 2.5, "wall")])


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=5)
    report = timing.Report("files", options)
    with tempfile.TemporaryDirectory() as folder:
        for part in (small, large, many):
            part(folder, options, report)
    report.close()


if __name__ == "__main__":
    main()
