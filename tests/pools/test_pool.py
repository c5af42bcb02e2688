"""pool(): the union of the first documents of all runs."""

import random

from pooled_runs import made
from three_teams import of_pool

import fastir


def top(ranking, depth):
    """The first documents under trec_eval's rule of ties."""
    return sorted(ranking, key=lambda doc_id: (ranking[doc_id], doc_id), reverse=True)[:depth]


def test_a_pool_is_the_union_of_the_first_documents():
    _, runs = made()
    pool = fastir.pool(runs, 5)
    for query_id, documents in of_pool(pool).items():
        tops = {name: top(run[query_id], 5) for name, run in runs.items()}
        assert list(documents) == sorted(set().union(*tops.values()))
        for doc_id, names in documents.items():
            assert list(names) == [name for name in runs if doc_id in tops[name]]
    assert len(pool) == len(list(pool)) == sum(map(len, of_pool(pool).values()))
    assert "5 queries from 6 runs to depth 5" in repr(pool)


RUNS = {"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}, "p": {"v": 1.0}}, "b": {}, "c": {"p": {"v": 2.0}}}


def test_a_run_without_rows_adds_nothing_to_a_pool():
    assert list(fastir.pool(RUNS, 2)) == [("q", "x", ("a",)), ("q", "y", ("a",)), ("p", "v", ("a", "c"))]
    assert list(fastir.pool({"b": {}}, 2)) == []


def test_a_label_0_is_a_judgment_and_a_negative_one_is_none():
    unjudged = fastir.pool(RUNS, 2).unjudged({"q": {"x": 0, "y": -1}})
    assert [(row.query_id, row.doc_id) for row in unjudged] == [("q", "y"), ("p", "v")]


def test_a_pool_of_many_runs_names_all_that_have_a_document():
    """More runs than small integers, which Python has once each."""
    rng = random.Random(5)
    runs = {f"r{i}": {"q": {f"d{rng.randrange(30)}": rng.random() for _ in range(8)}} for i in range(80)}
    expected = {}
    for name, run in runs.items():
        for doc_id in run["q"]:
            expected.setdefault(doc_id, []).append(name)
    assert [(row.doc_id, list(row.runs)) for row in fastir.pool(runs, None)] == sorted(expected.items())
