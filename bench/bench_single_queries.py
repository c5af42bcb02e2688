"""One query at a time, from an Evaluator that was made once: as a loop over queries or a service calls it.

A call must cost what its query costs, however many queries the qrels have. Where these count, their values are made
when they are read, and so are the arrays of judged_rankings, which no peer has.
"""

import random

import numpy as np
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


# ---- one query of ten documents, in every entry point, with its mean read -------------------------------------------
def ten_calls(qrels, query, ids):
    """Calls that read the mean of one query of ten documents, by the name of the entry point, and what others do."""
    run, metric = {query: {doc: float(-rank) for rank, doc in enumerate(ids)}}, "ndcg@10"
    alone, every = fastir.Evaluator({query: qrels[query]}, metric), fastir.Evaluator(qrels, metric, queries="qrels")
    labels, scores = np.array([qrels[query].get(doc, 0) for doc in ids]), -np.arange(10.0)
    relevant, peer = [doc for doc, label in qrels[query].items() if label], trec_evaluator({query: qrels[query]})
    lists, total = fastir.Evaluator({query: dict.fromkeys(relevant, 1)}, "recall@10"), fastir.Accumulator(metric)
    held, group, five = fastir.Run.from_dict(run), np.array([10]), {f"run {number}": run for number in range(5)}
    order, gains = np.argsort(-scores, kind="stable"), labels.astype(float)

    def by_hand():
        discounts = 1 / np.log2(np.arange(2, 12))
        return (gains[np.argsort(-scores, kind="stable")] * discounts).sum() / (np.sort(gains)[::-1] * discounts).sum()

    assert order.tolist() == list(range(10))
    assert abs(by_hand() - fastir.evaluate_scores(labels, scores, metric, group=group)[metric]) < 1e-12
    return {
        "a dict, alone": lambda: alone.evaluate(run)[metric],
        "a dict, all queries count": lambda: every.evaluate(run)[metric],
        "a Run": lambda: alone.evaluate(held)[metric],
        "five runs": lambda: alone.evaluate_many(five)["run 3"][metric],
        "judged_rankings": lambda: alone.judged_rankings(run),
        "Partial": lambda: every.partial(run),
        "Accumulator of dicts": lambda: total.update(run=run, qrels=qrels),
        "Accumulator of labels": lambda: total.update(labels, scores, group=group),
        "evaluate_scores, group": lambda: fastir.evaluate_scores(labels, scores, metric, group=group)[metric],
        "evaluate_scores": lambda: fastir.evaluate_scores(labels, scores, metric)[metric],
        "evaluate_ranked": lambda: fastir.evaluate_ranked(labels, metrics=metric)[metric],
        "lists, prepared": lambda: lists.evaluate({query: ids})["recall@10"],
        "evaluate_lists": lambda: fastir.evaluate_lists([ids], [relevant], "recall@10")["recall@10"],
        TREC: lambda: peer.evaluate(run),
        "NumPy in three lines": by_hand,
        "a set": lambda: len(set(relevant).intersection(ids)) / len(relevant),
    }


PEERS = {  # who else answers this, and what is asked against it; nobody else has the other calls
    "evaluate_scores, group": ("NumPy in three lines", 1),
    "evaluate_scores": ("NumPy in three lines", 1),
    "evaluate_ranked": ("NumPy in three lines", 1),
    "lists, prepared": ("a set", None),
    "evaluate_lists": ("a set", None),
    "a dict, alone": (TREC, 1.3),
    "a Run": (TREC, None),
}


def test_ten_documents(race, quick):
    calls = ten_calls(*collected(100 if quick else 20_000, 10))
    goals = [Goal(name, *asked) for name, asked in PEERS.items()]
    race("ten documents", calls, goals, ROUNDS, repeat=200)
