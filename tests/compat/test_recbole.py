"""RecBole's evaluator: worked by hand on what the Collector gathers, and compared with RecBole's own."""

import random
import sys
import types

import numpy as np
import pytest

import fastir.compat
from fastir.compat.recbole import RANKING_METRICS, Evaluator

CONFIG = {"metrics": ["NDCG", "Hit", "MRR", "MAP", "Recall", "Precision"], "topk": [1, 3], "metric_decimal_place": 4}


class Tensor(np.ndarray):
    """As much of a tensor as the evaluator needs."""

    def numpy(self):
        return np.asarray(self)


class Data(dict):
    def get(self, name):
        if name not in self:
            raise IndexError("Can not load the data without registration !")
        return self[name]


def gather(*rows):
    return Data({"rec.topk": np.array(rows, np.int32).view(Tensor)})


def test_by_hand():
    found = Evaluator(CONFIG).evaluate(gather([0, 1, 1, 4], [0, 0, 0, 1]))
    assert list(found) == [f"{name.lower()}@{k}" for name in CONFIG["metrics"] for k in (1, 3)]
    assert found == {
        "ndcg@1": 0.0, "ndcg@3": 0.2654, "hit@1": 0.0, "hit@3": 0.5, "mrr@1": 0.0, "mrr@3": 0.25,
        "map@1": 0.0, "map@3": round((1 / 2 + 2 / 3) / 3 / 2, 4), "recall@1": 0.0, "recall@3": 0.25,
        "precision@1": 0.0, "precision@3": 0.3333,
    }  # fmt: skip


def test_recall_without_relevant_items_is_nan():
    found = Evaluator(CONFIG).evaluate(gather([0, 1, 1, 4], [0, 0, 0, 0]))
    assert np.isnan(found["recall@3"])
    assert found["ndcg@3"] == 0.2654


def test_other_metrics_are_recboles_own(monkeypatch):
    register = types.ModuleType("recbole.evaluator.register")
    coverage = types.SimpleNamespace(calculate_metric=lambda data: {"itemcoverage@3": 0.5})
    register.metrics_dict = {"itemcoverage": lambda config: coverage}
    monkeypatch.setitem(sys.modules, "recbole", types.ModuleType("recbole"))
    monkeypatch.setitem(sys.modules, "recbole.evaluator", types.ModuleType("recbole.evaluator"))
    monkeypatch.setitem(sys.modules, "recbole.evaluator.register", register)
    config = {**CONFIG, "metrics": ["ItemCoverage", "Hit"]}
    assert Evaluator(config).evaluate(gather([1, 0, 0, 1])) == {"itemcoverage@3": 0.5, "hit@1": 1.0, "hit@3": 1.0}


def test_what_was_not_gathered_is_the_tools_error():
    with pytest.raises(IndexError, match="registration"):
        Evaluator(CONFIG).evaluate(Data())


def test_beside_recbole():
    pytest.importorskip("recbole")
    from recbole.evaluator import Evaluator as Theirs
    from recbole.evaluator.collector import DataStruct

    torch = pytest.importorskip("torch")
    rng = random.Random(4)
    rows = []
    for _ in range(200):
        hits = [int(rng.random() < 0.2) for _ in range(10)]
        rows.append([*hits, sum(hits) + rng.randint(0, 5) + (not any(hits))])
    data = DataStruct()
    data.update_tensor("rec.topk", torch.tensor(rows))
    config = {"metrics": list(RANKING_METRICS), "topk": [1, 5, 10], "metric_decimal_place": 12}
    wanted = Theirs(config).evaluate(data)
    assert Evaluator(config).evaluate(data) == pytest.approx(wanted, abs=2e-12)
    with fastir.compat.patched("recbole"):
        assert list(Theirs(config).evaluate(data)) == list(wanted)
