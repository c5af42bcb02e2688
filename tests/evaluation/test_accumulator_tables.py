"""Accumulator over tables: labels and scores in columns, and runs with their qrels, in batches of whole queries."""

import pytest

import fastir

pyarrow = pytest.importorskip("pyarrow")
METRICS = ["ndcg@10", "mrr"]
TABLE = {"qid": ["b", "b", "a", "a", "a"], "label": [0, 1, 2, 0, 1], "score": [0.5, 0.25, 0.1, 0.9, 0.4]}


def total_of(*batches, **options):
    total = fastir.Accumulator(METRICS)
    for batch in batches:
        total.update(batch, **options)
    return total


def test_a_run_with_its_qrels():
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 2}, "q3": {"d1": 1}}
    run = pyarrow.table({"query_id": ["q1", "q1", "q2"], "doc_id": ["d2", "d1", "d1"], "score": [3.0, 2.0, 1.0]})
    total = fastir.Accumulator(METRICS)
    total.update(run=run.slice(0, 2), qrels=qrels)
    total.update(run=run.slice(2), qrels=fastir.Qrels.from_dict(qrels))
    assert total.n_queries == 2
    assert total.result() == dict(fastir.evaluate(qrels, run, METRICS, queries="intersection"))


def test_a_query_that_is_cut_counts_as_two():
    table = pyarrow.table(TABLE)
    assert total_of(table.slice(0, 3), table.slice(3)).n_queries == 3
