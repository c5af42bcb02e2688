"""Weights of documents: the same values from every entry point, and what weights cannot mean."""

import pickle

import numpy as np
import pytest

import fastir

QRELS = {"q1": {"a": 1, "b": 2, "c": 0, "d": 1}, "q2": {"a": 1, "e": 1}, "q3": {"c": 0}}
RUN = {"q1": {"x": 9.0, "a": 8.0, "c": 7.0, "b": 6.0}, "q2": {"e": 5.0, "x": 4.0}, "q3": {"c": 1.0}}
WEIGHTS = {"a": 2.0, "b": 1.5, "d": 4.0, "e": 1.25}
METRICS = [
    *("psp@2", "psndcg@3", "weighted_recall@3", "weighted_precision@3", "weighted_ndcg@3", "weighted_rbp"),
    *("weighted_mrr", "ndcg@3", "weighted_recall(self_normalized=false)@3", "weighted_ndcg(gain=binary)@3"),
    *("weighted_recall@10-l2", "weighted_rbp(self_normalized=false)", "weighted_mrr(self_normalized=false)"),
]


def test_every_entry_point_has_the_same_values():
    expected = fastir.evaluate(QRELS, RUN, METRICS, doc_weights=WEIGHTS).values
    evaluator = fastir.Evaluator(QRELS, METRICS, doc_weights=WEIGHTS)
    nested = {query: {doc: WEIGHTS[doc] for doc in docs if doc != "c"} for query, docs in QRELS.items()}
    rows = [(query, doc, label, WEIGHTS.get(doc, 1.0)) for query, docs in QRELS.items() for doc, label in docs.items()]
    names = "query_id", "doc_id", "label", "ips"
    table = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    for results in (
        evaluator.evaluate(RUN),
        pickle.loads(pickle.dumps(evaluator)).evaluate(RUN),
        evaluator.evaluate(fastir.Run.from_dict(RUN)),
        fastir.evaluate(QRELS, RUN, METRICS, doc_weights=nested),
        fastir.evaluate(table, RUN, METRICS, doc_weights="ips"),
        fastir.evaluate_many(QRELS, {"x": RUN}, METRICS, doc_weights=WEIGHTS)["x"],
    ):
        assert np.array_equal(results.values, expected)


def test_runs_are_compared_by_weighted_metrics():
    other = {"q1": {"b": 1.0}, "q2": {"e": 1.0}, "q3": {"c": 1.0}}
    compared = fastir.compare(QRELS, {"x": RUN, "y": other}, "psp@2", doc_weights=WEIGHTS)
    assert "psp@2" in str(compared)


def test_what_weights_cannot_mean_is_an_error():
    with pytest.raises(fastir.UnknownMetricError, match="metric 'psp@2' needs weights of documents"):
        fastir.evaluate(QRELS, RUN, "psp@2")
    with pytest.raises(fastir.UnknownMetricError, match="metric 'psp@2' needs weights of documents"):
        fastir.evaluate_topk([[0, 1]], [[1]], "psp@2")
    with pytest.raises(ValueError, match="weights: metric 'psp@2' divides by a mean"):
        fastir.evaluate(QRELS, RUN, "psp@2", doc_weights=WEIGHTS, weights=dict.fromkeys(QRELS, 1))
    with pytest.raises(TypeError, match="not with groups"):
        fastir.evaluate({"q": {"g": {"a": 1}}}, {"q": {"a": 1.0}}, "alpha_ndcg", doc_weights={"a": 1})
    with pytest.raises(ValueError, match="explain: metric 'psp' reads weights"):
        fastir.Evaluator(QRELS, "psp", doc_weights=WEIGHTS).explain(RUN, "q1")
