"""Unjudged documents: what is unjudged, and what is not."""

import numpy as np
import pytest
from every_labeling import case_of_two
from every_option import METRICS

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_negative_labels_are_unjudged_documents_and_what_is_below_the_depth_stays_unjudged():
    qrels, run = {"q": {"a": 1, "b": -1, "c": 1}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    whole = fastir.bounds(qrels, run, ["P@2", "judged@2"])
    assert (whole.lower["P@2"], whole.upper["P@2"]) == (0.0, 1.0)
    first = fastir.bounds(qrels, run, ["P@2", "num_rel", "unjudged@2"], pool_depth=1)
    assert (first.lower["P@2"], first.upper["P@2"], first.upper["num_rel"]) == (0.0, 0.5, 3.0)
    assert first.lower["unjudged@2"] == first.upper["unjudged@2"] == 0.5
    assert fastir.bounds(qrels, run, "P@2", pool_depth=9, max_depth=1).upper["P@2"] == 0.5


def test_without_unjudged_documents_bounds_are_the_value():
    qrels, run = {"q": {"a": 1, "b": 0}, "r": {"c": 2}}, {"q": {"b": 2.0, "a": 1.0}}
    with pytest.warns(fastir.FastirWarning):
        found = fastir.bounds(qrels, run, METRICS[:60])
    assert found.lower == found.upper == found.value
    assert all(found.exact.values())


def test_judgments_without_relevant_documents_have_bounds():
    qrels, run = {"q": {"a": 0}}, {"q": {"x": 2.0, "a": 1.0}}
    for name in METRICS[:60]:
        found = fastir.bounds(qrels, run, name)
        assert found.max_label == 0 and np.array_equal(found.lower.values, found.upper.values, equal_nan=True), name
    assert fastir.bounds(qrels, run, "mrr", max_label=1).upper["mrr"] == 1.0


# ---- unjudged documents of two runs: a document of both is one unjudged document -------------------------------------
def test_a_run_against_itself_differs_by_nothing():
    labels, ranking, _ = case_of_two(3, 1)
    found = fastir.bounds({"q": labels}, {"q": ranking}, ["ndcg@3", "P@2", "mrr", "rbp"], against={"q": ranking})
    assert (found.lower.values == 0).all() and (found.upper.values == 0).all()


def test_ids_that_are_integers_and_parts_of_documents_are_one():
    qrels, first, second = {1: {7: 1}}, {1: {7: 1.0, 8: 2.0}}, {1: {8: 2.0, 7: 1.0, 9: 3.0}}
    as_text = [{"1": {str(doc): value for doc, value in each[1].items()}} for each in (qrels, first, second)]
    names = ["ndcg", "map", "mrr"]
    assert fastir.bounds(qrels, first, names, against=second).lower.values.tolist() == (
        fastir.bounds(as_text[0], as_text[1], names, against=as_text[2]).lower.values.tolist()
    )
    parts = [
        {"1": {f"{doc}#{i}": score - i for doc, score in each["1"].items() for i in (0, 1)}} for each in as_text[1:]
    ]
    found = fastir.bounds(
        as_text[0], parts[0], names, against=parts[1], parents=lambda ids: [i.split("#")[0] for i in ids]
    )
    assert np.isclose(found.value["mrr"], 0.5 - 1 / 3)
