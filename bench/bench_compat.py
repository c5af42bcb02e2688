"""Other tools as their users call them, with fastir in their place and without: whole calls, equal answers.

The tools are not in the bench extra, but for pytrec_eval and ir_measures: the tests of the others are skipped where
they are not installed. `TOOLS` is a table: a tool more is a line more.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import pytest
import workloads
from peers import IR_MEASURES, RANX, TREC, pytrec_eval
from timing import METRICS, Goal

import fastir.compat

K = [1, 3, 5, 10, 100, 1000]
MEASURES = {TREC[name] for name in METRICS}


def trec_prepared(qrels, run):
    return functools.partial(pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate, run)


def trec_one_call(qrels, run):
    kind = pytrec_eval.RelevanceEvaluator  # which `patched` replaces while this is run
    return lambda: kind(qrels, MEASURES).evaluate(run)


def trec_one_by_one(qrels, run):
    """A query at a time, with an evaluator of all of them."""
    evaluate = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate
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
    """The means of the five measures, and of more."""

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


class Tool(NamedTuple):
    """A way to call a tool."""

    tool: str  # as `fastir.compat.patched` knows it
    make: Callable  # from qrels and a run to the call; under `patched` it makes the call to fastir
    asked: float | None = None  # how many times as fast the call is to be
    within: bool = False  # whether the call itself must run under `patched`, because it looks for the tool only then


TOOLS = {
    "pytrec_eval, prepared": Tool("pytrec_eval", trec_prepared),
    "pytrec_eval, one call": Tool("pytrec_eval", trec_one_call),
    "pytrec_eval, prepared, 50 single queries": Tool("pytrec_eval", trec_one_by_one),
    "BEIR, evaluate": Tool("beir", beir, 8),
    **{f"BEIR, {metric}": Tool("beir", beir_custom(metric)) for metric in ("mrr", "recall_cap", "hole", "acc")},
    "BEIR, evaluate, with pytrec_eval replaced": Tool("pytrec_eval", beir, within=True),
    "ir_measures, frames": Tool("ir_measures", means(frames), 20, within=True),
    "ir_measures, frames, RR@10 too": Tool("ir_measures", means(frames, "RR@10"), 20, within=True),
    "ir_measures, frames of objects": Tool("ir_measures", means(objects), 20, within=True),
    "ir_measures, dicts": Tool("ir_measures", means(lambda *sides: sides), within=True),
    "PyTerrier, Experiment": Tool("ir_measures", experiment, 6, within=True),
    "MTEB, metric step": Tool("mteb", mteb, 8),
    "MTEB, metric step, with pytrec_eval replaced": Tool("pytrec_eval", mteb, within=True),
}

SHAPES = {
    "50 x 1000, about 1000 judged each": "judged",
    "300 x 100, about one judged each": "short_passages",
    "6980 x 1000, about one judged each": "passages",
}


def test_ranx_small(race):
    """One query with ten documents, in Qrels and Run that are there."""
    ranx = pytest.importorskip("ranx")
    import fastir.compat.ranx as ours

    qrels, run = workloads.single()
    calls = {}
    for name, module in (("fastir", ours), ("ranx", ranx)):
        sides = module.Qrels(qrels), module.Run(run)
        options = {} if name == "fastir" else {"threads": 1}
        calls[name] = functools.partial(module.evaluate, *sides, list(RANX.values()), **options)
    expected = calls["ranx"]()
    assert all(abs(value - expected[name]) <= 1e-9 for name, value in calls["fastir"]().items())
    cost = race("ranx: one query with ten documents", calls, [Goal("fastir", "ranx")], 15, 100)
    race.amount("fastir in ranx's place", cost["fastir"].cpu * 1e6, "µs", 8)


def within(tool, call):
    def patched():
        with fastir.compat.patched(tool):
            return call()

    return patched


@pytest.mark.parametrize("what", TOOLS)
@pytest.mark.parametrize("shape", SHAPES)
def test_tool(race, collection, shape, what):
    tool, make, asked, is_within = TOOLS[what]
    qrels, run = collection(SHAPES[shape])
    try:
        theirs = make(qrels, run)
        with fastir.compat.patched(tool):
            ours = make(qrels, run)
    except ImportError as error:
        pytest.skip(str(error))
    ours = within(tool, ours) if is_within else ours
    assert repr(ours()) == repr(theirs())
    calls = {f"{what}: fastir": ours, what: theirs}
    large = SHAPES[shape] == "passages"
    goals = [Goal(f"{what}: fastir", what, asked)]
    race(f"whole calls, {shape}", calls, goals, rounds=7, repeat=1 if large else 5, slow=[what] if large else ())
