"""Unjudged documents: what is unjudged, and what is not."""

import numpy as np
import pytest
from every_option import METRICS

import fastir

pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def test_negative_labels_are_unjudged_documents_and_what_is_below_the_depth_stays_unjudged():
    qrels, run = {"q": {"a": 1, "b": -1, "c": 1}}, {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    whole = fastir.bounds(qrels, run, ["P@2", "judged@2"])
    assert (whole.lower["P@2"], whole.upper["P@2"]) == (0.0, 1.0)
    first = fastir.bounds(qrels, run, ["P@2", "num_rel", "unjudged@2"], depth=1)
    assert (first.lower["P@2"], first.upper["P@2"], first.upper["num_rel"]) == (0.0, 0.5, 3.0)
    assert first.lower["unjudged@2"] == first.upper["unjudged@2"] == 0.5
    assert fastir.bounds(qrels, run, "P@2", depth=9, max_depth=1).upper["P@2"] == 0.5


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
