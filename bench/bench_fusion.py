"""Fusing two runs and tuning their weights: beside ranx, and beside reading the scores as often.

ranx takes part with a tenth of the queries, and with three weights of 101: its time is multiplied by that.
"""

from pathlib import Path

import numpy as np
import pytest
from timing import Goal

import fastir

QUERIES, DEPTH, POOL = 6980, 1000, 1500  # of which each run has 1000, so that two overlap by two thirds
TENTH = 10
ROUNDS = 5
STATUS, REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def random_run(seed, queries):
    """A run whose scores all differ, as a dict."""
    rng = np.random.default_rng(seed)
    run = {}
    for query in range(queries):
        docs = rng.permutation(POOL)[:DEPTH] + query * POOL
        scores = np.sort(rng.random(DEPTH))[::-1]
        run[str(query)] = dict(zip(map(str, docs.tolist()), scores.tolist(), strict=True))
    return run


@pytest.fixture(scope="module")
def collection_of_runs(quick):
    """Judgments of two documents a query, and runs, as dicts."""
    queries = 100 if quick else QUERIES
    rng = np.random.default_rng(9)
    qrels = {str(q): {str(doc + q * POOL): 1 for doc in rng.integers(0, POOL, 2).tolist()} for q in range(queries)}
    return qrels, [random_run(seed, queries) for seed in (1, 2, 3)]


def tenth(rankings):
    """A tenth of the queries."""
    return {query: rankings[query] for query in list(rankings)[::TENTH]}


@pytest.mark.parametrize("method", ["rrf", "wsum"])
def test_fuse(race, collection_of_runs, method):
    ranx = pytest.importorskip("ranx")
    _, dicts = collection_of_runs
    held = [fastir.Run.from_dict(run) for run in dicts[:2]]
    theirs = [ranx.Run(tenth(run)) for run in dicts[:2]]
    params = {"weights": [0.3, 0.7]} if method == "wsum" else {}
    norm = "min-max" if method == "wsum" else None

    def ours(runs=held):
        return fastir.fuse(runs, method, norm, params.get("weights"), n_threads=1)

    def peer():
        return ranx.fuse(theirs, norm=norm, method=method, params=params)

    expected, fused = peer().to_dict(), ours()
    for query, scores in list(expected.items())[:5]:
        assert fused[query] == pytest.approx(dict(scores), rel=1e-12, abs=1e-12)
    calls = {f"fastir, {method}": ours, f"ranx, {method}": peer}
    race(
        f"fusing two runs of 6980 x 1000, {method}", calls, [Goal(*calls, 20)], ROUNDS, parts={f"ranx, {method}": TENTH}
    )


def test_tune(race, collection_of_runs):
    ranx = pytest.importorskip("ranx")
    qrels, dicts = collection_of_runs
    judged, held = fastir.Qrels.from_dict(qrels), [fastir.Run.from_dict(run) for run in dicts[:2]]
    few = ranx.Qrels(tenth(qrels)), [ranx.Run(tenth(run)) for run in dicts[:2]]
    scores = np.concatenate([run.columns.numbers for run in held])

    def ours():
        return fastir.tune(judged, held, "ndcg@10", n_threads=1)

    def peer():
        options = {"method": "wsum", "metric": "ndcg@10", "step": 0.5, "show_progress": False}
        return ranx.optimize_fusion(*few, **options, return_optimization_report=True)

    def reading():
        return [scores.sum() for _ in range(101)]

    _, report = peer()
    part = fastir.tune(tenth(qrels), [tenth(run) for run in dicts[:2]], "ndcg@10", grid=0.5, folds=2)
    assert part.trials[1].value == pytest.approx(report.results[1], abs=1e-12)  # without weights of 0, which make ties
    calls = {"fastir, 101 weights": ours, "ranx, 3 weights of 101": peer}
    also = {"reading the scores 101 times": reading}
    goals = [Goal(*calls, 200), Goal("fastir, 101 weights", *also)]
    parts = {"ranx, 3 weights of 101": TENTH * 101 / 3}
    race("101 weights for two runs of 6980 x 1000, ndcg@10", calls, goals, ROUNDS, parts=parts, also=also)


def test_settings(race, collection_of_runs):
    """What a setting costs once the runs are laid out: the part of tune() that grows with the grid."""
    from fastir.analyses.fusion.cards import METHODS
    from fastir.analyses.fusion.fuse import read_run_set
    from fastir.analyses.fusion.layout import Layout
    from fastir.analyses.fusion.settings import trial_settings
    from fastir.analyses.fusion.tune import check_metric, compile_metric

    qrels, dicts = collection_of_runs
    run_set = read_run_set([fastir.Run.from_dict(run) for run in dicts[:2]], "stem", None, None, None)
    card = METHODS["wsum"]
    layout = Layout(fastir.Qrels.from_dict(qrels), run_set, card, "min-max", "trec", 1)
    settings, _ = trial_settings(card, run_set.names, {}, None, None, 0)
    compiled = compile_metric(layout, "ndcg@10", check_metric("ndcg@10", {}))
    scores = np.concatenate([run.columns.numbers for run in run_set.runs])
    calls = {"fastir, 101 weights, laid out": lambda: layout.table(compiled, settings)}
    also = {"reading the scores 101 times": lambda: [scores.sum() for _ in range(101)]}
    race("101 weights, laid out", calls, [Goal(*calls, *also, 1 / 3)], ROUNDS, also=also)


def test_three_runs(race, collection_of_runs):
    qrels, dicts = collection_of_runs
    judged, held = fastir.Qrels.from_dict(qrels), [fastir.Run.from_dict(run) for run in dicts]
    calls = {"fastir, 231 weights": lambda: fastir.tune(judged, held, "ndcg@10", n_threads=1)}
    race("231 weights for three runs of 6980 x 1000, ndcg@10", calls, [], ROUNDS)


@pytest.mark.parametrize("n_runs", [2, 3])
def test_memory(race, collection_of_runs, n_runs):
    """What tune() needs above its inputs, in scores of the runs."""
    if not STATUS.is_file():
        pytest.skip("the system does not say how much memory a process has")
    qrels, dicts = collection_of_runs
    judged, held = fastir.Qrels.from_dict(qrels), [fastir.Run.from_dict(run) for run in dicts[:n_runs]]
    scores = sum(run.columns.numbers.nbytes for run in held)

    def needed():
        REFS.write_text("5")  # the peak is the present amount
        before = resident("VmRSS")
        fastir.tune(judged, held, "ndcg@10", n_threads=1)
        return (resident("VmHWM") - before) / scores

    group = f"memory of tuning {n_runs} runs of 6980 x 1000, ndcg@10"
    race.amount("peak above the inputs", race.median(group, "fastir", needed), "times the scores", 3)


def resident(what):
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) << 10
