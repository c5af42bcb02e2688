"""pyvespa's evaluator without an engine: worked by hand, and compared with pyvespa's own."""

import importlib
import math
import random
import sys
import types

import pytest

import fastir.compat

CUTOFFS = {
    "accuracy_at_k": [1, 3], "precision_recall_at_k": [1, 3], "mrr_at_k": [10], "ndcg_at_k": [10],
    "map_at_k": [2, 100],
}  # fmt: skip


@pytest.fixture
def ours(monkeypatch):
    """The stand-in, made over a class that only keeps what its metrics read."""

    class Evaluator:
        def __init__(self, relevant_docs):
            self.queries_ids, self.relevant_docs = list(relevant_docs), relevant_docs
            vars(self).update(CUTOFFS)

    name = "fastir.compat.pyvespa"
    monkeypatch.setattr(
        fastir.compat, "importing", lambda module, tool: types.SimpleNamespace(VespaEvaluator=Evaluator)
    )
    before = sys.modules.pop(name, None)
    yield importlib.import_module(name)
    sys.modules.pop(name)
    if before is not None:
        sys.modules[name] = before


def hits(ids):
    return [(doc_id, 1.0) for doc_id in ids]


def test_by_hand(ours):
    found = ours.VespaEvaluator({"q1": {"a", "b", "z"}, "q2": set()})._compute_metrics([hits("xab"), hits("a")])
    assert list(found) == [
        "accuracy@1", "accuracy@3", "precision@1", "recall@1", "precision@3", "recall@3", "mrr@10", "ndcg@10", "map@2",
        "map@100",
    ]  # fmt: skip
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert list(found.values()) == pytest.approx(
        [0, 1 / 2, 0, 0, 1 / 3, 1 / 3, 1 / 4, (1 / math.log2(3) + 1 / 2) / ideal / 2, 1 / 8, (1 / 2 + 2 / 3) / 3 / 2]
    )


def test_graded_judgments_have_ndcg_alone_and_may_be_fractions(ours):
    found = ours.VespaEvaluator({"q": {"a": 0.5, "b": 2}})._compute_metrics([hits("ab")])
    assert found == {"ndcg@10": pytest.approx((0.5 + 2 / math.log2(3)) / (2 + 0.5 / math.log2(3)))}


def test_a_repeated_document_counts_once(ours):
    found = ours.VespaEvaluator({"q": {"a"}})._compute_metrics([hits("aaa")])
    assert max(found.values()) == 1.0
    assert found["precision@3"] == pytest.approx(1 / 3)


def test_beside_pyvespa():
    theirs = pytest.importorskip("vespa.evaluation._base").VespaEvaluator
    from fastir.compat.pyvespa import VespaEvaluator

    rng = random.Random(5)
    ids = [f"d{i}" for i in range(30)]
    found = [hits(rng.sample(ids, rng.randint(0, 20))) for _ in range(100)]
    for graded in (False, True):
        judged = {}
        for q in range(100):
            docs = rng.sample(ids, rng.randint(1, 9))
            judged[str(q)] = {doc: rng.choice((0.25, 1, 3)) for doc in docs} if graded else set(docs)
        values = []
        for kind in (theirs, VespaEvaluator):
            made = object.__new__(kind)
            made.queries_ids, made.relevant_docs = list(judged), judged
            vars(made).update(CUTOFFS)
            values.append(made._compute_metrics(found))
        assert list(values[0]) == list(values[1])
        assert values[1] == pytest.approx(values[0], abs=1e-14)
