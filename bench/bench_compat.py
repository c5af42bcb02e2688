"""Other tools as their users call them, with fastir in their place and without: whole calls, equal answers.

    python bench/bench_compat.py [--rounds N] [--quick] [--record]

The tools are not in the bench extra, but for pytrec_eval: those that are not installed are left out. `TOOLS` is a
table: a layer more is a line more.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import timing
import workloads
from peers import IR_MEASURES, TREC
from timing import METRICS, Goal

import fastir.compat

K = [1, 3, 5, 10, 100, 1000]


class Tool(NamedTuple):
    """A way to call a tool."""

    what: str
    tool: str  # as `fastir.compat.patched` knows it
    make: Callable  # make(qrels, run): the call; it is made within that
    asked: float | None  # how many times as fast it is to be
    within: bool = False  # whether it is run within that, too, because it looks at the tool only then


def trec_evaluator(qrels):
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, {TREC[name] for name in METRICS})


def trec_prepared(qrels, run):
    return functools.partial(trec_evaluator(qrels).evaluate, run)


def trec_one_call(qrels, run):
    import pytrec_eval

    measures = {TREC[name] for name in METRICS}
    kind = pytrec_eval.RelevanceEvaluator
    return lambda: kind(qrels, measures).evaluate(run)


def trec_one_by_one(qrels, run):
    """A query at a time, of all those in the qrels."""
    evaluate = trec_evaluator(qrels).evaluate
    runs = [{query: run[query]} for query in list(run)[:50]]
    return lambda: [evaluate(one) for one in runs]


def beir(qrels, run):
    from beir.retrieval.evaluation import EvaluateRetrieval

    return functools.partial(EvaluateRetrieval.evaluate, qrels, run, K)


def beir_custom(metric):
    def make(qrels, run):
        from beir.retrieval.evaluation import EvaluateRetrieval

        return functools.partial(EvaluateRetrieval.evaluate_custom, qrels, run, K, metric)

    return make


def mteb(qrels, run):
    from mteb._evaluators import retrieval_metrics

    return functools.partial(retrieval_metrics.calculate_retrieval_scores, run, qrels, [*K, 20])


def frames(qrels, run, ids=str):
    """pandas frames, the ids as its own strings or as Python's."""
    import pandas

    for what, side in (("relevance", qrels), ("score", run)):
        rows = ((query, doc, number) for query, docs in side.items() for doc, number in docs.items())
        frame = pandas.DataFrame(rows, columns=["query_id", "doc_id", what])
        yield frame.astype({"query_id": ids, "doc_id": ids})


def objects(qrels, run):
    return frames(qrels, run, object)


def means(shape, *more):
    """ir_measures, of the usual measures and some more."""

    def make(qrels, run):
        import ir_measures

        measures = list(map(ir_measures.parse_measure, (*IR_MEASURES, *more)))
        sides = tuple(shape(qrels, run))

        def call():
            found = ir_measures.calc_aggregate(measures, *sides)
            return [found[measure] for measure in measures]

        return call

    return make


def experiment(qrels, run):
    """PyTerrier, a table of one run."""
    import pandas
    import pyterrier
    from ir_measures import parse_measure

    qrels, run = map(pyterrier.model.from_ir_measures, frames(qrels, run))
    topics = pandas.DataFrame({"qid": run["qid"].unique(), "query": ""})
    return lambda: pyterrier.Experiment([run], topics, qrels, list(map(parse_measure, IR_MEASURES))).to_dict()


TOOLS = [
    Tool("pytrec_eval, prepared", "pytrec_eval", trec_prepared, None),
    Tool("pytrec_eval, one call", "pytrec_eval", trec_one_call, None),
    Tool("pytrec_eval, prepared, 50 single queries", "pytrec_eval", trec_one_by_one, None),
    Tool("BEIR, evaluate", "beir", beir, 8),
    *(Tool(f"BEIR, {metric}", "beir", beir_custom(metric), None) for metric in ("mrr", "recall_cap", "hole", "acc")),
    Tool("BEIR, evaluate, with pytrec_eval replaced", "pytrec_eval", beir, None, within=True),
    Tool("ir_measures, frames", "ir_measures", means(frames), 20, within=True),
    Tool("ir_measures, frames, RR@10 too", "ir_measures", means(frames, "RR@10"), 20, within=True),
    Tool("ir_measures, frames of objects", "ir_measures", means(objects), 20, within=True),
    Tool("ir_measures, dicts", "ir_measures", means(lambda *sides: sides), None, within=True),
    Tool("PyTerrier, Experiment", "ir_measures", experiment, 6, within=True),
    Tool("MTEB, metric step", "mteb", mteb, 8),
    Tool("MTEB, metric step, with pytrec_eval replaced", "pytrec_eval", mteb, None, within=True),
]


def within(tool, call):
    def patched():
        with fastir.compat.patched(tool):
            return call()

    return patched


def contenders(qrels, run):
    """The calls by name, and how they compare."""
    calls, goals = {}, []
    for what, tool, make, asked, is_within in TOOLS:
        try:
            theirs = make(qrels, run)
            with fastir.compat.patched(tool):
                ours = make(qrels, run)
            ours = within(tool, ours) if is_within else ours
        except ImportError as error:
            print(f"left out: {what} ({error})")
            continue
        assert repr(ours()) == repr(theirs()), f"{what}: the answers differ"
        calls[what], calls[f"{what}: fastir"] = theirs, ours
        goals.append(Goal(f"{what}: fastir", what, asked))
    return calls, goals


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=7)
    report = timing.Report("compat", options)
    shapes = {
        "50 x 1000, about 1000 judged each": workloads.judged(),
        "300 x 100, about one judged each": workloads.passages(300, 100),
        "6980 x 1000, about one judged each": workloads.passages(100 if options.quick else 6980),
    }
    for title, (qrels, run) in shapes.items():
        calls, goals = contenders(qrels, run)
        slow = [name for name in calls if ": fastir" not in name] if len(run) > 1000 else []
        repeat = 1 if len(run) > 1000 or options.quick else 5
        report.add(title, timing.measure(calls, options.rounds, repeat, slow), goals)
    report.close()


if __name__ == "__main__":
    main()
