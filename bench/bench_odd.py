"""Unusual and everyday inputs: what callers have who did not think of speed, beside the same in its usual form.

Dicts so far: scores that are no floats, four ways in which the objects of a run lie in memory, many relevant documents
with warm and with cold caches, very many short rankings, and metrics that do not share their rules.
"""

import numpy as np
import pytest
import workloads
from peers import assert_same, trec_evaluator
from timing import METRICS, Goal

import fastir

ROUNDS = 9
OURS, THEIRS, WALK = "fastir, prepared", "pytrec_eval, prepared", "C walk, gathered"
CACHES = np.zeros(1 << 23)  # 64 MB: more than a processor keeps


# ---- scores and labels that are no floats ----------------------------------------------------------------------------
SCORES = {  # what makes one of the float of a whole number, and how many times as long as with floats it may take
    "int": (int, 1.3), "int of 40 bits": (lambda score: int(score) << 30, 1.3),
    "np.float64": (np.float64, 1.1), "np.float32": (np.float32, 1.9), "np.float16": (np.float16, 1.9),
    "np.int64": (np.int64, 1.9), "np.int16": (np.int16, 1.9), "np.uint64": (np.uint64, 1.9),
}  # fmt: skip


@pytest.mark.parametrize("kind", SCORES)
def test_scores_of_other_types(race, collection, kind):
    """Whole numbers from 1000 down, which every type has and which do not tie; pytrec_eval gets floats if it must."""
    make, asked = SCORES[kind]
    qrels, run = collection("passages")
    odd = {query: {doc: make(1000.0 - rank) for rank, doc in enumerate(docs)} for query, docs in run.items()}
    same = floated(odd)
    ours, theirs = fastir.Evaluator(qrels, METRICS, n_threads=1), trec_evaluator(qrels)
    assert ours.evaluate(odd) == ours.evaluate(same)
    assert_same(ours.evaluate(odd), theirs.evaluate(same))
    taken = isinstance(make(1.0), (int, float))
    mine, usual = f"fastir, {kind}", "fastir, float"
    calls = {
        mine: lambda: ours.evaluate(odd),
        usual: lambda: ours.evaluate(same),
        THEIRS: lambda: theirs.evaluate(odd if taken else floated(odd)),
    }
    race(f"dicts of {kind}", calls, [Goal(mine, usual, 1 / asked), Goal(mine, THEIRS)], ROUNDS, slow=[THEIRS])


def floated(run):
    """What callers of pytrec_eval write, which refuses other scores."""
    return {query: {doc: float(score) for doc, score in docs.items()} for query, docs in run.items()}


@pytest.mark.parametrize("kind", ["np.int64", "np.int8"])
def test_labels_of_other_types(race, collection, kind):
    make = getattr(np, kind.removeprefix("np."))
    qrels, _ = collection("judged")
    odd = {query: {doc: make(label) for doc, label in docs.items()} for query, docs in qrels.items()}
    assert fastir.Qrels.from_dict(odd) == fastir.Qrels.from_dict(qrels)
    ours, usual = f"fastir, {kind}", "fastir, int"
    calls = {
        ours: lambda: fastir.Qrels.from_dict(odd).columns.judged(),
        usual: lambda: fastir.Qrels.from_dict(qrels).columns.judged(),
        "pytrec_eval, int": lambda: trec_evaluator(qrels),
    }
    race(f"qrels of {kind}", calls, [Goal(ours, usual, 1 / 1.9), Goal(ours, "pytrec_eval, int")], ROUNDS, 3)


# ---- where the objects of a run lie ----------------------------------------------------------------------------------
def in_order(queries):
    return workloads.passages(queries)


def scattered(queries):
    return workloads.scattered_passages(queries)


def built_third(queries):
    """After two others were made, of which parts are still in use: the heap is full of gaps."""
    others = [workloads.scattered_passages(queries)[1], workloads.passages(queries)[1]]
    kept = [docs for run in others for docs in list(run.values())[::3]]
    del others
    qrels, run = workloads.passages(queries)
    del kept
    return qrels, run


def shuffled(queries):
    qrels, run = workloads.passages(queries)
    return qrels, workloads.shuffled(run)


@pytest.mark.parametrize(("layout", "asked"), [(in_order, 20), (scattered, 20), (built_third, 20), (shuffled, 18)])
def test_layouts(race, quick, loops, layout, asked):
    qrels, run = layout(60 if quick else 6980)
    ours, theirs = fastir.Evaluator(qrels, METRICS, n_threads=1), trec_evaluator(qrels)
    assert_same(ours.evaluate(run), theirs.evaluate(run))
    total = sum(sum(docs.values()) for docs in run.values())
    assert abs(loops.walk_gathered(run) - total) <= 1e-9 * total
    calls = {
        OURS: lambda: ours.evaluate(run),
        WALK: lambda: loops.walk_gathered(run),
        THEIRS: lambda: theirs.evaluate(run),
    }
    goals = [Goal(OURS, THEIRS, asked), Goal(OURS, WALK, 1 / 1.3)]
    race(f"dicts, 6980 x 1000, {layout.__name__}", calls, goals, ROUNDS, slow=[THEIRS])


# ---- many relevant documents, with warm and with cold caches ---------------------------------------------------------
@pytest.mark.parametrize(("caches", "repeat", "asked"), [("warm", 10, 16), ("in turn", 1, 12), ("evicted", 1, 10)])
@pytest.mark.parametrize("relevant", [80, 200, 500])
def test_relevant_documents(race, relevant, caches, repeat, asked):
    qrels, run = workloads.relevant(relevant)
    ours, theirs = fastir.Evaluator(qrels, METRICS, n_threads=1), trec_evaluator(qrels)
    for _ in range(2):  # the second call may look up what the first one probed
        assert_same(ours.evaluate(run), theirs.evaluate(run))
    calls = {OURS: lambda: ours.evaluate(run), THEIRS: lambda: theirs.evaluate(run)}
    between = (lambda: CACHES.__iadd__(1)) if caches == "evicted" else None
    title = f"dicts, 50 x 1000, {relevant} relevant, caches {caches}"
    race(title, calls, [Goal(OURS, THEIRS, asked)], 25, repeat, between=between)


# ---- very many short rankings ----------------------------------------------------------------------------------------
def test_a_million_short_rankings(race, quick, slow):
    qrels, run = workloads.short_rankings(1_000_000 if slow else 100 if quick else 200_000)
    ours, theirs = fastir.Evaluator(qrels, METRICS, n_threads=1), trec_evaluator(qrels)
    assert_same(ours.evaluate(run), theirs.evaluate(run))
    calls = {OURS: lambda: ours.evaluate(run), THEIRS: lambda: theirs.evaluate(run)}
    race("dicts, very many x 10", calls, [Goal(OURS, THEIRS, 8)], ROUNDS, slow=[THEIRS])


# ---- metrics that do not share their rules ---------------------------------------------------------------------------
@pytest.mark.parametrize("convention", ["beir", "sklearn", "torchmetrics"])
def test_conventions_with_several_sets_of_rules(race, collection, convention):
    """The peer is fastir's own convention, with one set of rules; each set alone has the same values."""
    qrels, run = collection("judged")
    mixed = fastir.Evaluator(qrels, METRICS, convention=convention, n_threads=1)
    usual = fastir.Evaluator(qrels, METRICS, n_threads=1)
    for name in METRICS:
        alone = fastir.evaluate(qrels, run, name, convention=convention)
        assert mixed.evaluate(run).per_query(name) == alone.per_query(name)
    ours, peer = f"fastir, {convention}", "fastir, one set of rules"
    calls = {ours: lambda: mixed.evaluate(run), peer: lambda: usual.evaluate(run)}
    race("dicts, 50 x 1000, conventions", calls, [Goal(ours, peer, 1 / 1.5)], 25, 10)


def test_all_trec(race, collection):
    """Everything that trec_eval prints, beside five metrics."""
    qrels, run = collection("judged")
    requests = {"fastir, all_trec": ["all_trec"], "fastir, five metrics": METRICS}
    evaluators = {name: fastir.Evaluator(qrels, metrics, n_threads=1) for name, metrics in requests.items()}
    all_values, few = (evaluator.evaluate(run).to_dict() for evaluator in evaluators.values())
    assert all(all_values[query]["map"] == values["map"] for query, values in few.items())
    calls = {name: lambda evaluator=evaluator: evaluator.evaluate(run) for name, evaluator in evaluators.items()}
    race("all_trec", calls, [Goal(*calls, 1 / 2.5)], ROUNDS, repeat=3)


def test_hole(race, collection):
    """What was judged for any query, which the other metrics do not ask."""
    qrels, run = collection("judged")
    judged = {doc for docs in qrels.values() for doc in docs}
    hole, usual = (fastir.Evaluator(qrels, name, n_threads=1) for name in ("hole@10", "map"))
    for query, docs in run.items():
        first = sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)[:10]
        assert hole.evaluate(run).per_query("hole@10")[query] == sum(doc not in judged for doc in first) / 10
    calls = {"fastir, hole@10": lambda: hole.evaluate(run), "fastir, map": lambda: usual.evaluate(run)}
    race("dicts, 50 x 1000, hole@10", calls, [Goal("fastir, hole@10", "fastir, map", 1 / 2)], 25, 5)


def test_a_sample(race, collection):
    """xinfAP and infNDCG of a pool that is what was retrieved, a fifth of it judged; map needs the relevant ones alone.

    In one stratum xinfAP is the infAP of trec_eval, but for what both add to counts that may be 0.
    """
    judged, run = collection("judged")
    pool = {
        query: {doc: judged[query].get(doc, 0) if place % 5 == 0 else -1 for place, doc in enumerate(docs)}
        for query, docs in run.items()
    }
    sample = fastir.Qrels.from_dict(pool, strata={query: dict.fromkeys(docs, 1) for query, docs in pool.items()})
    estimated = fastir.Evaluator(sample, ["xinf_ap", "inf_ndcg"], n_threads=1)
    usual = fastir.Evaluator(pool, "map", n_threads=1)
    found = fastir.evaluate(pool, run, "inf_ap").per_query("inf_ap")
    for query, value in estimated.evaluate(run).per_query("xinf_ap").items():
        assert abs(value - found[query]) < 1e-3
    calls = {"fastir, xinf_ap": lambda: estimated.evaluate(run), "fastir, map": lambda: usual.evaluate(run)}
    race("dicts, 50 x 1000, a sample", calls, [Goal("fastir, xinf_ap", "fastir, map", 1 / 6)], 25, 5)


# ---- runs as objects, weights, ids that never match ------------------------------------------------------------------
def test_a_run_as_an_arrow_table(race, collection, tmp_path):
    """Beside copying the texts of the ids, which an Arrow table needs in one piece."""
    pytest.importorskip("pyarrow")
    fastir.Run.from_dict(collection("judged")[1]).save(str(tmp_path / "a.run"))
    held = fastir.Run.from_file(str(tmp_path / "a.run"))
    assert fastir.Run.from_table(held.to_arrow()) == held
    ours, peer = "fastir, to_arrow", "fastir, to_dict"
    race("a Run of 50 x 1000 as a table", {ours: held.to_arrow, peer: held.to_dict}, [Goal(ours, peer, 4)], ROUNDS)


def test_weights_of_judged_documents(race, collection):
    """Beside looking up each weight in a comprehension."""
    judgments, run = collection("judged")
    qrels = fastir.Qrels.from_dict(judgments)
    weights = {doc: 1.5 for docs in judgments.values() for doc in docs}
    with_weights = fastir.Evaluator(qrels, "weighted_precision@5", doc_weights=weights)
    plain = fastir.Evaluator(qrels, "P@5")
    assert with_weights.evaluate(run)["weighted_precision@5"] <= 1.5 * plain.evaluate(run)["P@5"] + 1e-12
    ours, peer = "fastir, doc_weights", "a comprehension"
    calls = {
        ours: lambda: fastir.Evaluator(qrels, "weighted_precision@5", doc_weights=weights),
        peer: lambda: np.array([weights[doc] for docs in judgments.values() for doc in docs]),
    }
    race("weights of all judged documents", calls, [Goal(ours, peer)], ROUNDS)


@pytest.mark.parametrize("n_queries", [50, 500])
def test_ids_that_never_match(race, n_queries):
    qrels = {f"q{place}": {f"A{doc}": 1 for doc in range(30)} for place in range(n_queries)}
    run = {query: {f"B{query}_{doc}": 1000.0 - doc for doc in range(1000)} for query in qrels}
    evaluator = fastir.Evaluator(qrels, METRICS, n_threads=1)
    assert evaluator.evaluate(run)["map"] == 0
    ours = "fastir"
    costs = race(f"dicts, {n_queries} x 1000, no id in common", {ours: lambda: evaluator.evaluate(run)}, [], ROUNDS)
    race.amount("processor time", 1e3 * costs[ours].cpu, "ms", 20)
