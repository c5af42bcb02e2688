"""Dicts of dicts in, five metrics out, against pytrec_eval: evaluators prepared, one-shot calls, one small query.

    python bench/bench_dicts.py [--rounds N] [--quick] [--record]
"""

import warnings

import pytrec_eval
import timing
import workloads

import fastir

# Whom each of our lines is compared with.
PEERS = {
    "fastir, prepared": "pytrec_eval, prepared",
    "fastir, prepared, and the means": "pytrec_eval, prepared",
    "fastir, prepared, and a dict per query": "pytrec_eval, prepared",
    "fastir, one call": "pytrec_eval, one call",
}


def contenders(qrels, run):
    """Everyone's calls on one collection, after a check that the answers are equal."""
    ours = fastir.Evaluator(qrels, timing.METRICS, n_threads=1)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, timing.TREC_MEASURES)
    timing.assert_same(ours.evaluate(run), theirs.evaluate(run))
    return {
        "fastir, prepared": lambda: ours.evaluate(run),
        "fastir, prepared, and the means": lambda: dict(ours.evaluate(run)),
        "fastir, prepared, and a dict per query": lambda: ours.evaluate(run).to_dict(),
        "pytrec_eval, prepared": lambda: theirs.evaluate(run),
        "fastir, one call": lambda: fastir.evaluate(qrels, run, timing.METRICS, n_threads=1),
        "pytrec_eval, one call": lambda: pytrec_eval.RelevanceEvaluator(qrels, timing.TREC_MEASURES).evaluate(run),
    }


def main():
    warnings.simplefilter("ignore", fastir.FastirWarning)
    options = timing.options(__doc__.splitlines()[0], rounds=15)
    size = 100 if options.quick else 6980
    judged, passages = workloads.judged(), workloads.passages(queries=size)
    tables = {}
    for title, (qrels, run), calls in (
        ("50 x 1000, about 1000 judged each", judged, 1),
        ("50 x 1000, shuffled", (judged[0], workloads.shuffled(judged[1])), 1),
        (f"{size} x 1000, about one judged each", passages, 1),
        (f"{size} x 1000, shuffled", (passages[0], workloads.shuffled(passages[1])), 1),
        ("1 x 10", workloads.single(), 10 if options.quick else 2000),
    ):
        tables[title] = timing.measure(contenders(qrels, run), options.rounds, calls)
        timing.show(title, tables[title], PEERS)
    if options.record:
        timing.record("dicts", tables)


if __name__ == "__main__":
    main()
