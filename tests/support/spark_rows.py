"""Qrels and runs for the tests of this folder, as rows and as Arrow tables, and what results have in common."""

import random

import pyarrow as pa

import fastir

METRICS = ["ndcg@10", "map", "mrr", "P@5", "gm_map", "num_rel", "num_q", "judged@10"]


def data(seed=1, n=40):
    """Qrels, and the rows of a run that lacks some of their queries and has some others, shuffled, with ties."""
    rng = random.Random(seed)
    qrels = {f"q{i}": {f"d{rng.randrange(60)}": rng.randrange(3) for _ in range(8)} for i in range(n)}
    queries = [f"q{i}" for i in range(3, n + 4)]
    rows = [(query, f"d{doc}", float(rng.randrange(20))) for query in queries for doc in rng.sample(range(60), 25)]
    rng.shuffle(rows)
    return qrels, rows


def table(rows, names=("query_id", "doc_id", "score")):
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def lists(rows):
    """A row for each query, and one whose ranking is empty."""
    by_query = {"q0": []}
    for query, doc, score in rows:
        by_query.setdefault(query, []).append((doc, score))
    return pa.table({
        "query_id": list(by_query),
        "doc_ids": pa.array([[doc for doc, _ in docs] for docs in by_query.values()], pa.list_(pa.string())),
        "scores": pa.array([[score for _, score in docs] for docs in by_query.values()], pa.list_(pa.float64())),
    })  # fmt: skip


def same(got, expected):
    assert got.results == expected
    assert dict(got) == dict(expected)
    for field in fastir.data.results.report.Report.__slots__:
        if field == "only_in_run_example":  # one machine has the first in the order of the rows
            assert (got.report.only_in_run_example is None) == (expected.report.only_in_run == 0)
        else:
            assert getattr(got.report, field) == getattr(expected.report, field), field
