"""Five metrics of dicts of dicts: against pytrec_eval, ranx, and a C loop that only looks at the scores."""

from typing import NamedTuple

import pytest
import workloads
from peers import assert_ranx_agrees, assert_same, ranx_means, trec_evaluator
from timing import METRICS, Goal

import fastir

ROUNDS = 15
WITH_BPREF = [*METRICS[:4], "bpref"]
PREPARED, ONE_CALL = "fastir, prepared", "fastir, one call"
MEANS, ROWS = "fastir, prepared, and the means", "fastir, prepared, and a dict per query"
TREC_PREPARED, TREC_ONE_CALL = "pytrec_eval, prepared", "pytrec_eval, one call"


class Table(NamedTuple):
    """A collection, how it is evaluated, and how many times as fast as pytrec_eval this is to be."""

    collection: str
    repeat: int = 1
    prepared: float | None = None
    one_call: float | None = None
    metrics: list[str] = METRICS
    shuffled: bool = False


# Without repetition the run is no longer in the caches when a contender's turn comes.
TABLES = {
    "50 x 1000": Table("judged", repeat=10, prepared=16),
    "50 x 1000, cold": Table("judged", prepared=10),
    "50 x 1000, with bpref": Table("judged", repeat=10, prepared=4, metrics=WITH_BPREF),
    "50 x 1000, shuffled": Table("judged", repeat=10, shuffled=True),
    "1 x 20 000, all scores equal": Table("tied", repeat=10, prepared=1),
    "1 x 10": Table("single", repeat=2000, prepared=1.3, one_call=10),
    "6980 x 1000": Table("passages", prepared=20),
    "6980 x 1000, shuffled": Table("passages", prepared=18, shuffled=True),
}


@pytest.mark.parametrize("table", TABLES)
def test_pytrec_eval(race, collection, table):
    name, repeat, prepared, one_call, metrics, shuffled = TABLES[table]
    qrels, run = collection(name)
    run = workloads.shuffled(run) if shuffled else run
    ours, theirs = fastir.Evaluator(qrels, metrics, n_threads=1), trec_evaluator(qrels, metrics)
    assert_same(ours.evaluate(run), theirs.evaluate(run), metrics)
    calls = {
        PREPARED: lambda: ours.evaluate(run), MEANS: lambda: dict(ours.evaluate(run)),
        ROWS: lambda: ours.evaluate(run).to_dict(), TREC_PREPARED: lambda: theirs.evaluate(run),
        ONE_CALL: lambda: fastir.evaluate(qrels, run, metrics, n_threads=1),
        TREC_ONE_CALL: lambda: trec_evaluator(qrels, metrics).evaluate(run),
    }  # fmt: skip
    goals = [
        Goal(PREPARED, TREC_PREPARED, prepared), Goal(MEANS, TREC_PREPARED), Goal(ROWS, TREC_PREPARED),
        Goal(ONE_CALL, TREC_ONE_CALL, one_call),
    ]  # fmt: skip
    race(f"dicts, {table}", calls, goals, ROUNDS, repeat)


@pytest.mark.parametrize(("table", "asked"), [("50 x 1000", None), ("50 x 1000, cold", None), ("6980 x 1000", 40)])
def test_ranx(race, collection, table, asked):
    pytest.importorskip("ranx")
    qrels, run = collection(TABLES[table].collection)
    assert_ranx_agrees(qrels, run)
    calls = {
        ONE_CALL: lambda: fastir.evaluate(qrels, run, METRICS, n_threads=1),
        "ranx, one call": lambda: ranx_means(qrels, run),
    }
    goals = [Goal(ONE_CALL, "ranx, one call", asked)]
    race(f"dicts, {table}", calls, goals, ROUNDS, TABLES[table].repeat, slow=["ranx, one call"])


@pytest.mark.parametrize(("table", "asked"), [("50 x 1000", None), ("50 x 1000, cold", None), ("6980 x 1000", 1 / 1.3)])
def test_walk(race, collection, loops, table, asked):
    """What evaluating takes beyond looking at every score once."""
    qrels, run = collection(TABLES[table].collection)
    total = sum(sum(docs.values()) for docs in run.values())
    assert abs(loops.walk(run) - total) <= 1e-9 * total
    ours = fastir.Evaluator(qrels, METRICS, n_threads=1)
    calls = {PREPARED: lambda: ours.evaluate(run), "C walk": lambda: loops.walk(run)}
    race(f"dicts, {table}", calls, [Goal(PREPARED, "C walk", asked)], ROUNDS, TABLES[table].repeat)
