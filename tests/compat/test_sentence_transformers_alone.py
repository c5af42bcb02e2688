"""compute_metrics of the stand-in for sentence-transformers, by hand and without that package.

What the stand-in takes from sentence-transformers is a class to derive from; here it is one of our own.
"""

import importlib
import sys
import types

import pytest

import fastir.compat


@pytest.fixture
def ours(monkeypatch):
    """The stand-in, made over a class that only keeps its arguments."""

    class Evaluator:
        mrr_at_k = ndcg_at_k = [10]
        accuracy_at_k = precision_recall_at_k = [1, 3]
        map_at_k = [100]

        def __init__(self, queries, corpus, relevant_docs, **cutoffs):
            self.queries_ids = [query for query in queries if relevant_docs.get(query)]
            self.queries = [queries[query] for query in self.queries_ids]
            self.relevant_docs = relevant_docs
            vars(self).update(cutoffs)

    name = "fastir.compat.sentence_transformers"
    monkeypatch.setattr(fastir.compat, "importing", lambda module, tool: types.SimpleNamespace(
        InformationRetrievalEvaluator=Evaluator
    ))  # fmt: skip
    before = sys.modules.pop(name, None)
    yield importlib.import_module(name)
    sys.modules.pop(name)
    if before is not None:
        sys.modules[name] = before


def hits(**scores):
    return [{"corpus_id": doc_id, "score": score} for doc_id, score in scores.items()]


@pytest.mark.parametrize(("found", "order"), [
    (hits(c=1.0, a=1.0, b=2.0), "bac"),
    (hits(b=2.0, c=1.0, a=1.0), "bac"),  # they fall, but two are equal
    (hits(c=1.0, a=1.0), "ac"), (hits(a=1.0, c=1.0), "ac"), (hits(b=2.0, a=1.0), "ba"),
    (hits(a=1.0, b=2.0), "ba"), (hits(a=float("inf"), b=-float("inf")), "ab"), ([], ""),
])  # fmt: skip
def test_by_descending_score_then_ascending_id(ours, found, order):
    assert [hit["corpus_id"] for hit in ours.sort_hits(found)] == list(order)


def test_values_by_hand(ours):
    """Three queries, the last without relevant documents; of q1's three one is found behind a document that ties."""
    evaluator = ours.InformationRetrievalEvaluator(
        dict.fromkeys(("q1", "q2", "q3"), ""), {}, {"q1": {"b", "c", "x"}, "q2": {"a"}, "q3": set()},
        mrr_at_k=[1, 10], map_at_k=[2, 5], precision_recall_at_k=[2], accuracy_at_k=[1, 2],
    )  # fmt: skip
    values = evaluator.compute_metrics([hits(d=0.5, b=1.0, a=1.0), hits(a=2.0)])
    ndcg = values.pop("ndcg@k")
    assert values == {
        "accuracy@k": {1: 1 / 2, 2: 1.0},
        "precision@k": {2: pytest.approx((0.5 + 0.5) / 2)},
        "recall@k": {2: pytest.approx((1 / 3 + 1) / 2)},
        "mrr@k": {1: 1 / 2, 10: 0.75},
        "map@k": {2: pytest.approx((0.5 / 2 + 1) / 2), 5: pytest.approx((0.5 / 3 + 1) / 2)},
    }
    assert ndcg == {10: pytest.approx((0.6309297535714575 / 2.1309297535714575 + 1) / 2)}


def test_a_score_that_is_nan(ours):
    with pytest.raises(ValueError, match="NaN"):
        ours.sort_hits(hits(a=1.0, b=float("nan")))
