"""One query at a time, from an Evaluator that was made once: as a loop over queries or a service calls it.

A call must cost what its query costs, however many queries the qrels have. Where these count, their values are made
when they are read, and so are the arrays of judged_rankings, which no peer has.
"""

import random

import pytest
from peers import assert_same, trec_evaluator
from timing import METRICS, Goal

import fastir

ROUNDS = 9
DICT, ALL, LIST, RUN, MANY, JUDGED = (
    "fastir, a dict", "fastir, a dict, all queries count", "fastir, a list", "fastir, a Run",
    "fastir, evaluate_many of lists", "fastir, judged_rankings",
)  # fmt: skip
TREC = "pytrec_eval, a dict"


def collected(n_queries, depth=100):
    """Qrels with 20 judgments for each query, and a ranking of one query, with 10 of its documents."""
    rng = random.Random(n_queries)
    qrels = {
        f"q{number}": {f"d{doc}": rng.choice([0, 1, 2]) for doc in rng.sample(range(10_000), 20)}
        for number in range(n_queries)
    }
    query = f"q{n_queries // 2}"
    ids = [*list(qrels[query])[:10], *(f"x{number}" for number in range(depth - 10))]
    rng.shuffle(ids)
    return qrels, query, ids


@pytest.mark.parametrize("n_queries", [1000, 20_000])
def test_one_query(race, quick, n_queries):
    qrels, query, ids = collected(100 if quick else n_queries)
    run, lists = {query: {doc: float(len(ids) - rank) for rank, doc in enumerate(ids)}}, {query: ids}
    held = fastir.Run.from_dict(run)
    ours = fastir.Evaluator(qrels, METRICS, queries="intersection", n_threads=1)
    every = fastir.Evaluator(qrels, METRICS, queries="qrels", n_threads=1)
    theirs = trec_evaluator(qrels)
    results = ours.evaluate(run)
    assert_same(results, theirs.evaluate(run))
    assert ours.evaluate(lists) == ours.evaluate(held) == ours.evaluate_many({"a": lists})["a"] == results
    assert ours.judged_rankings(run).evaluate(METRICS, queries="intersection") == results
    assert every.evaluate(run).to_dict()[query] == results.to_dict()[query]
    calls = {
        DICT: lambda: ours.evaluate(run), ALL: lambda: every.evaluate(run), LIST: lambda: ours.evaluate(lists),
        RUN: lambda: ours.evaluate(held), MANY: lambda: ours.evaluate_many({"a": lists}),
        JUDGED: lambda: ours.judged_rankings(run), TREC: lambda: theirs.evaluate(run),
    }  # fmt: skip
    asked = {DICT: 2, ALL: 2, LIST: 1, RUN: 1 / 2}
    goals = [Goal(name, TREC, asked.get(name)) for name in calls if name not in (TREC, JUDGED)]
    race(f"one query of {n_queries}", calls, goals, ROUNDS, repeat=200)
