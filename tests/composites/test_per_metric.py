"""Metrics whose rules differ, in one call: each is that of a call of its own."""
# Also of: from_plain.

import math
import pickle

import pytest

import fastir

MISSING = {"q1": {"a": 1}, "q2": {"a": 1}}


def test_metrics_keep_their_order_and_their_rules(tmp_path):
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 1.0, "b": 1.0}}
    names = ["mrr@9", "mrr", "map", "mrr@8"]
    evaluator = pickle.loads(pickle.dumps(fastir.Evaluator(qrels, names, convention="ir_measures")))
    results = evaluator.evaluate(run)
    assert results.names == names
    assert results.values.tolist() == [[1, 0.5, 0.5, 1], [0.5, 1, 1, 0.5], [0, 0, 0, 0]]
    assert results.status == {"q1": "evaluated", "q2": "evaluated", "q3": "missing"}
    path = tmp_path / "run"
    path.write_text("".join(f"{q} Q0 {d} 0 {score} t\n" for q, docs in run.items() for d, score in docs.items()))
    assert evaluator.evaluate(path).values.tolist() == results.values.tolist()
    assert evaluator.evaluate_many({"run": path})["run"] == results


def test_metrics_with_queries_of_their_own():
    options = {"convention": "beir", "weights": {"q1": 1, "q2": 3}}
    results = fastir.evaluate(MISSING, {"q1": {"a": 1.0}}, ["ndcg", "mrr"], **options)
    assert results.to_dict() == {
        "q1": {"ndcg": 1.0, "mrr": 1.0},
        "q2": {"ndcg": pytest.approx(math.nan, nan_ok=True), "mrr": 0.0},
    }
    assert dict(results) == {"ndcg": 1.0, "mrr": 0.25}
