"""Lists of ids in rank order, without scores: against what callers have today, and against reading the lists.

Callers of pytrec_eval and ranx must invent scores and build dicts first, which is part of their time. The loops of RAG
frameworks are written out here as these have them: a pass over the list for each metric.
"""

import math
import statistics

import numpy as np
import pytest
from peers import assert_same, ranx_means, trec_evaluator
from timing import METRICS, Goal, clocked

import fastir

ROUNDS = 7
LISTS, ONCE, ONE_CALL = "fastir, lists", "fastir, lists, copies allowed", "fastir, lists, one call"
ARROW_CALL = "fastir, Arrow columns, one call"
LEAST = 1 / 2, 1 / 4  # of the speed of a C walk: over strings that it must hash, and over others


def collected(n_queries, depth=100):
    """{query_id: ids} and {query_id: the 3 relevant ones}, of a million documents; two are found in each list."""
    rng = np.random.default_rng(7)
    docs = [f"doc-{number:07d}" for number in range(1_000_000)]
    places = rng.integers(0, 10_000, n_queries)[:, None] + np.argsort(rng.random((n_queries, depth)), axis=1) * 9_900
    retrieved = {f"q{q}": [docs[place] for place in row] for q, row in enumerate(places.tolist())}
    relevant = {query: [ids[0 if number % 3 else 7], ids[number % depth or 1], "none"]
                for number, (query, ids) in enumerate(retrieved.items())}  # fmt: skip
    return retrieved, relevant


@pytest.fixture(scope="module")
def lists(quick):
    return collected(200 if quick else 100_000)


def as_scores(retrieved):
    """What callers of other tools build."""
    return {query: {doc: float(len(ids) - rank) for rank, doc in enumerate(ids)} for query, ids in retrieved.items()}


def as_labels(relevant):
    return {query: dict.fromkeys(ids, 1) for query, ids in relevant.items()}


def in_loops(retrieved, relevant):
    """The five metrics as RAG frameworks compute them, query by query: the means."""
    totals = [0.0] * 5
    for query, ids in retrieved.items():
        expected = set(relevant[query])
        gains = [1.0 if doc in expected else 0.0 for doc in ids[:10]]
        dcg = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
        ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(len(expected), 10) + 1))
        found = precisions = 0
        for rank, doc in enumerate(ids, 1):
            if doc in expected:
                found += 1
                precisions += found / rank
        first = next((rank for rank, doc in enumerate(ids, 1) if doc in expected), 0)
        row = (dcg / ideal, precisions / len(expected), 1 / first if first else 0.0,
               len(set(ids[:10]) & expected) / 10, len(set(ids[:100]) & expected) / len(expected))  # fmt: skip
        totals = [total + value for total, value in zip(totals, row, strict=True)]
    return [total / len(retrieved) for total in totals]


def test_peers(race, lists):
    pytest.importorskip("ranx")
    retrieved, relevant = lists
    few = dict(list(retrieved.items())[:500])
    judged = {query: relevant[query] for query in few}
    ours = fastir.evaluate(judged, few, METRICS)
    assert_same(ours, trec_evaluator(as_labels(judged)).evaluate(as_scores(few)))
    means = [ours[name] for name in METRICS]
    np.testing.assert_allclose(means, in_loops(few, judged), rtol=1e-12)
    np.testing.assert_allclose(means, list(ranx_means(as_labels(judged), as_scores(few)).values()), 1e-9)
    calls = {
        ONE_CALL: lambda: fastir.evaluate(relevant, retrieved, METRICS, n_threads=1),
        "pytrec_eval, dicts built": lambda: trec_evaluator(as_labels(relevant)).evaluate(as_scores(retrieved)),
        "ranx, dicts built": lambda: ranx_means(as_labels(relevant), as_scores(retrieved)),
        "a plain loop": lambda: in_loops(retrieved, relevant),
    }
    goals = [Goal(ONE_CALL, "pytrec_eval, dicts built", 15), Goal(ONE_CALL, "ranx, dicts built", 30),
             Goal(ONE_CALL, "a plain loop", 12)]  # fmt: skip
    race("lists, 100 000 x 100", calls, goals, 3, slow=list(calls)[1:])


def test_cutoffs_alone(race, quick):
    """One metric of the first ten, beside the expression that callers write."""
    retrieved, relevant = (list(side.values()) for side in collected(200 if quick else 20_000))
    expected = [set(ids) for ids in relevant]

    def by_sets():
        return [len(set(ids[:10]) & known) / len(known) for ids, known in zip(retrieved, expected, strict=True)]

    def by_lists(judged):
        return fastir.evaluate_lists(retrieved, judged, ["recall@10"], n_threads=1)

    assert list(by_lists(relevant).per_query("recall@10").values()) == by_sets()
    assert list(by_lists(expected).per_query("recall@10").values()) == by_sets()
    calls = {
        "fastir, relevant lists": lambda: by_lists(relevant),
        "fastir, relevant sets": lambda: by_lists(expected),
        "a set expression": by_sets,
    }
    race(
        "recall@10 of lists, 20 000 x 100", calls, [Goal(name, "a set expression", 2) for name in list(calls)[:2]],
        ROUNDS,
    )  # fmt: skip


def test_rows_of_integers(race, quick):
    """Rows of neighbours as arrays, as FAISS returns them, and as lists: beside the peer that takes rows of arrays."""
    peer = pytest.importorskip("ir_eval_numba.metrics")
    rng = np.random.default_rng(7)
    rows = [rng.choice(1_000_000, 100, replace=False) for _ in range(100 if quick else 2000)]
    relevant = [rng.choice(row[:30], 3, replace=False) for row in rows]
    lists, judged = [row.tolist() for row in rows], [row.tolist() for row in relevant]

    def by_lists(rows, judged):
        return fastir.evaluate_lists(rows, judged, "ndcg@10", n_threads=1).values[:, 0]

    def by_peer():
        return np.array([peer.ndcg(one, row, 10) for one, row in zip(relevant, rows, strict=True)])

    def converted():
        return by_lists([row.tolist() for row in rows], [row.tolist() for row in relevant])

    np.testing.assert_allclose(by_lists(rows, relevant), by_peer(), rtol=1e-12)
    assert (by_lists(lists, judged) == by_lists(rows, relevant)).all()
    calls = {
        "fastir, rows of arrays": lambda: by_lists(rows, relevant),
        "fastir, lists of int": lambda: by_lists(lists, judged),
        "ir_eval_numba, rows of arrays": by_peer,
        "rows of arrays, converted first": converted,
    }
    ours, ints, theirs, first = calls
    goals = [Goal(ours, theirs, 1.5), Goal(ints, theirs, 1.5), Goal(ours, first, 1)]
    race("ndcg@10 of integers, 2000 x 100", calls, goals, 15)


def test_walk_over_strings_that_were_hashed(race, lists, loops):
    """What evaluating takes beyond looking at every string once; with copies, and of another form of the same lists."""
    retrieved, relevant = lists
    repeated = {query: ids[:80] + ids[:20] for query, ids in retrieved.items()}
    plain, once = (fastir.Evaluator(relevant, METRICS, n_threads=1, duplicates=rule) for rule in (None, "once"))
    assert plain.evaluate(retrieved).values.tobytes() == once.evaluate(retrieved).values.tobytes()
    rows = list(retrieved.values())
    calls = {LISTS: lambda: plain.evaluate(retrieved), ONCE: lambda: once.evaluate(repeated),
             "C walk": lambda: loops.walk_lists(rows)}  # fmt: skip
    goals = [Goal(LISTS, "C walk", LEAST[1]), Goal(ONCE, LISTS, 1 / 1.5)]
    race("lists, 100 000 x 100", calls, goals, ROUNDS)


def test_walk_over_new_strings(race, lists, loops):
    """Strings that nobody has hashed, as a parser makes them: the walk must hash them. Beside it an Arrow column."""
    pyarrow = pytest.importorskip("pyarrow")
    retrieved, relevant = lists
    new = {query: [doc[:4] + doc[4:] for doc in ids] for query, ids in retrieved.items()}
    rows, judged = list(new.values()), list(relevant.values())
    ours = fastir.Evaluator(relevant, METRICS, n_threads=1)
    column, relevant_column = pyarrow.array(rows), pyarrow.array(judged)
    calls = {
        LISTS: lambda: ours.evaluate(new),
        "C walk": lambda: loops.walk_lists(rows),
        ONE_CALL: lambda: fastir.evaluate_lists(rows, judged, METRICS, n_threads=1),
        ARROW_CALL: lambda: fastir.evaluate_lists(column, relevant_column, METRICS, n_threads=1),
    }
    assert calls[LISTS]().values.tobytes() == calls[ARROW_CALL]().values.tobytes()
    costs = {name: [] for name in calls}

    def turn():
        for name, call in calls.items():
            loops.forget_hashes(rows)
            costs[name].append(clocked(call, 1)[1])
        return 0.0

    race.median("lists, 100 000 x 100", "new strings", turn, ROUNDS)
    seen = {name: statistics.median(each) for name, each in costs.items()}
    race.amount("lists of new strings", seen[LISTS] / seen["C walk"], "times a C walk", 1 / LEAST[0])
    race.amount("Arrow columns", seen[ARROW_CALL] / seen[ONE_CALL], "times lists of new strings, one call", 1)


def test_one_query(race):
    """Ten ids, with a prepared evaluator."""
    ours = fastir.Evaluator({"q": ["d3", "d7", "none"]}, METRICS, n_threads=1)
    run = {"q": [f"d{number}" for number in range(10)]}
    costs = race("lists, 1 x 10", {LISTS: lambda: ours.evaluate(run)}, rounds=15, repeat=2000)
    race.amount("a query of ten ids", costs[LISTS].cpu * 1e6, "microseconds", 3)
