"""Dicts of dicts in, five metrics out: against pytrec_eval, ranx, and a C loop that only looks at the scores.

python bench/bench_dicts.py [--rounds N] [--quick] [--record]
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import timing
import workloads
from peers import assert_ranx_agrees, assert_same, ranx_means, trec_evaluator
from timing import METRICS, Goal

import fastir

WITH_BPREF = [*METRICS[:4], "bpref"]
PREPARED, ONE_CALL, MEANS, ROWS = (
    "fastir, prepared",
    "fastir, one call",
    "fastir, prepared, and the means",
    "fastir, prepared, and a dict per query",
)
TREC_PREPARED, TREC_ONE_CALL, RANX, WALK = "pytrec_eval, prepared", "pytrec_eval, one call", "ranx, one call", "C walk"


def goals(prepared=None, one_call=None):
    """The comparisons of every table, and what is asked of two of them."""
    return [
        Goal(PREPARED, TREC_PREPARED, prepared),
        Goal(MEANS, TREC_PREPARED),
        Goal(ROWS, TREC_PREPARED),
        Goal(ONE_CALL, TREC_ONE_CALL, one_call),
    ]


def compiled_walk():
    """The function in walk.pyx, which a C compiler has made."""
    with tempfile.TemporaryDirectory() as folder:
        source = shutil.copy(Path(__file__).with_name("walk.pyx"), folder)
        command = [sys.executable, "-m", "Cython.Build.Cythonize", "-i", "-3", source]
        subprocess.run(command, check=True, capture_output=True)
        [path] = Path(folder).glob("walk.*.so")
        spec = importlib.util.spec_from_file_location("walk", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module.walk


def contenders(qrels, run, metrics=METRICS):
    """The calls of fastir and pytrec_eval on one collection, after a check that the answers are equal."""
    ours = fastir.Evaluator(qrels, metrics, n_threads=1)
    theirs = trec_evaluator(qrels, metrics)
    assert_same(ours.evaluate(run), theirs.evaluate(run), metrics)
    return {
        PREPARED: lambda: ours.evaluate(run),
        MEANS: lambda: dict(ours.evaluate(run)),
        ROWS: lambda: ours.evaluate(run).to_dict(),
        TREC_PREPARED: lambda: theirs.evaluate(run),
        ONE_CALL: lambda: fastir.evaluate(qrels, run, metrics, n_threads=1),
        TREC_ONE_CALL: lambda: trec_evaluator(qrels, metrics).evaluate(run),
    }


def others(qrels, run):
    """The calls of ranx and of the walk."""
    walk = compiled_walk()
    assert_ranx_agrees(qrels, run)
    return {RANX: lambda: ranx_means(qrels, run), WALK: lambda: walk(run)}


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=15)
    report = timing.Report("dicts", options)

    def table(title, calls, asked, repeat=1):
        report.add(title, timing.measure(calls, options.rounds, 1 if options.quick else repeat, slow=(RANX,)), asked)

    qrels, run = workloads.judged()
    calls = {**contenders(qrels, run), **others(qrels, run)}
    more = [Goal(ONE_CALL, RANX), Goal(PREPARED, WALK)]
    table("50 x 1000, about 1000 judged each", calls, [*goals(prepared=8), *more], repeat=10)
    table("the same, called once after everyone else", calls, [*goals(), *more])
    table("the same, with bpref among the five", contenders(qrels, run, WITH_BPREF), goals(prepared=4), repeat=10)
    table("the same, shuffled", contenders(qrels, workloads.shuffled(run)), goals(), repeat=10)
    table("1 x 20 000, all scores equal, 2000 judged", contenders(*workloads.tied()), goals(prepared=1), repeat=10)
    table("1 x 10", contenders(*workloads.single()), goals(prepared=1, one_call=10), repeat=2000)
    qrels, run = workloads.passages(queries=100 if options.quick else 6980)
    table(
        f"{len(run)} x 1000, about one judged each",
        {**contenders(qrels, run), **others(qrels, run)},
        [*goals(prepared=20), Goal(ONE_CALL, RANX, 40), Goal(PREPARED, WALK, 1 / 1.6)],
    )
    table("the same, shuffled", contenders(qrels, workloads.shuffled(run)), goals())
    report.close()


if __name__ == "__main__":
    main()
