"""TREC files in, five metrics out, against pytrec_eval: what a user waits for, from two paths to the values.

    python bench/bench_files.py [--rounds N] [--quick] [--record]

The files are written to a temporary folder first and read from the page cache by everyone. The big run has 6980 x 1000
lines, about 284 MB.
"""

import os
import tempfile
import warnings

import pytrec_eval
import timing
import workloads

import fastir

PEERS = dict.fromkeys(("fastir", "fastir, as many threads as it likes"), "pytrec_eval")


def theirs(qrels_path, run_path):
    with open(qrels_path) as qrels, open(run_path) as run:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), timing.TREC_MEASURES)
        return evaluator.evaluate(pytrec_eval.parse_run(run))


def contenders(qrels_path, run_path):
    """Everyone's calls on two files, after a check that the answers are equal."""
    timing.assert_same(fastir.evaluate(qrels_path, run_path, timing.METRICS), theirs(qrels_path, run_path))
    return {
        "fastir": lambda: dict(fastir.evaluate(qrels_path, run_path, timing.METRICS, n_threads=1)),
        "fastir, as many threads as it likes": lambda: dict(fastir.evaluate(qrels_path, run_path, timing.METRICS)),
        "pytrec_eval": lambda: theirs(qrels_path, run_path),
    }


def main():
    warnings.simplefilter("ignore", fastir.FastirWarning)
    options = timing.options(__doc__.splitlines()[0], rounds=5)
    size = 100 if options.quick else 6980
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("judged", workloads.judged), ("passages", lambda: workloads.passages(queries=size))):
            qrels_path, run_path = (os.path.join(folder, f"{name}.{side}") for side in ("qrels", "run"))
            qrels, run = make()
            workloads.write_qrels(qrels_path, qrels)
            workloads.write_run(run_path, run)
            title = f"{len(run)} x 1000 lines, {os.path.getsize(run_path) / 1e6:.0f} MB"
            del qrels, run
            tables[title] = timing.measure(contenders(qrels_path, run_path), options.rounds)
            timing.show(title, tables[title], PEERS)
    if options.record:
        timing.record("files", tables)


if __name__ == "__main__":
    main()
