"""Bounds as a result: what is in its table, and what its value knows."""

import json
import pickle

import pytest

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_the_table_names_outer_bounds_and_they_know_their_queries():
    qrels = {"1": {"a": 2, "b": 0}, "2": {"a": 1, "b": 2}}
    run = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}, "2": {f"d{i}": -float(i) for i in range(9)}}
    found = fastir.bounds(qrels, run, ["ndcg@3", "g"])
    assert found.exact == {"ndcg@3": True, "g": False}
    assert found.outer == {"ndcg@3": [], "g": ["2"]}
    assert (found.lower.per_query("g")["2"], found.upper.per_query("g")["2"]) == (0.0, 1.0)
    assert repr(found).splitlines()[2:] == [
        "g (outer)  0.3155  0.3155  1.0000     0.5000  0.3333",
        "",
        "2 queries; labels of retrieved unjudged documents from 0 to 2",
        "outer bound: no labels give a value beyond it, and perhaps none gives it",
    ]
    assert found.to_table("csv", digits=2).startswith("metric,lower,value,upper,condensed,judged")


def test_bounds_are_those_that_their_value_knows_and_json_has_them():
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"x": 3.0, "a": 2.0}}
    found = fastir.bounds(qrels, run, ["mrr", "auc"])
    assert found.value.bounds is found and found.lower.bounds is None
    assert fastir.evaluate(qrels, run, "mrr").bounds is None
    again = pickle.loads(pickle.dumps(found))
    assert json.loads(again.to_json()) == json.loads(found.to_json()) and again.value.bounds is again
    mrr = {"lower": 0.5, "value": 0.5, "upper": 1.0, "condensed": 1.0, "judged": 0.5, "exact": True}
    auc = {"lower": 0.0, "value": 0.0, "upper": 0.0, "condensed": None, "judged": 0.5, "exact": True}
    assert json.loads(found.to_json()) == {
        "metrics": {"mrr": mrr, "auc": auc}, "max_label": 1, "pool_depth": None, "unseen": 0,
    }  # fmt: skip
