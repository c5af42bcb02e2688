"""Weights of numbered items: the values of documents with ids, and errors that name row and item."""

import numpy as np
import pytest

import fastir

METRICS = [
    *("psp@2", "psndcg@3", "weighted_recall@3", "weighted_precision@3", "weighted_ndcg@3", "weighted_rbp"),
    *("weighted_mrr", "ndcg@3", "weighted_recall(self_normalized=false)@3", "weighted_ndcg(gain=binary)@3"),
    *("weighted_recall@10-l2", "weighted_rbp(self_normalized=false)", "weighted_mrr(self_normalized=false)"),
]


def test_a_matrix_has_the_values_of_dicts_and_blocks_do_not_matter():
    rng = np.random.default_rng(3)
    scores, labels = rng.random((9, 12)), rng.integers(0, 3, (9, 12))
    weights = rng.uniform(1, 5, 12)
    run = {str(i): {str(j): scores[i, j] for j in range(12)} for i in range(9)}
    qrels = {str(i): {str(j): int(labels[i, j]) for j in range(12)} for i in range(9)}
    relevant = [{j: int(labels[i, j]) for j in range(12)} for i in range(9)]
    by_id = {str(j): weight for j, weight in enumerate(weights)}
    expected = fastir.evaluate(qrels, run, METRICS, doc_weights=by_id).values
    for given in (scores, iter([scores[:4], scores[4:]])):
        results = fastir.evaluate_matrix(given, relevant, METRICS, doc_weights=weights)
        assert np.array_equal(results.values, expected)
    results = fastir.evaluate_matrix(scores, relevant, METRICS, doc_weights=dict(enumerate(weights)))
    assert np.array_equal(results.values, expected)


@pytest.mark.parametrize(
    ("doc_weights", "message"),
    [([1.0, 0.0], r"got 0.0 \(row 0, item 1\)"), ([1.0], "item 1 of row 0 has no weight; there are 1 weights")],
)
def test_a_wrong_weight_is_named_with_its_row_and_item(doc_weights, message):
    with pytest.raises(ValueError, match=message):
        fastir.evaluate_topk([[0, 1]], [[1]], "psp@2", doc_weights=np.array(doc_weights))
