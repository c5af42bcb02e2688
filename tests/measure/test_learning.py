"""Metrics of learning to rank and of multilabel classification, by hand: labels 0, 2, 1 at ranks 1, 2, 3."""

import math

import pytest

import fastir

QRELS, RUN = {"q": {"a": 2, "b": 0, "c": 1}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}


@pytest.mark.parametrize(("metric", "by_hand"), [
    ("arp", (2 * 2 + 1 * 3) / 3),
    ("label_ranking_loss", 2 / 2),
    ("pfound", 0.85 * 2 / 4 + 0.85 * (1 - 2 / 4) * 0.85 * 1 / 4),
    ("q_measure", ((1 + 2) / (2 + 3) + (2 + 3) / (3 + 3)) / 2),
])  # fmt: skip
def test_by_hand(metric, by_hand):
    assert math.isclose(fastir.evaluate(QRELS, RUN, metric)[metric], by_hand, rel_tol=1e-15)


def test_labels_that_are_not_whole():
    halves = {"q": {doc: label / 2 for doc, label in QRELS["q"].items()}}
    for metric, by_hand in (("arp", 7 / 3), ("pfound", 0.85 / 4 + 0.85 * (1 - 1 / 4) * 0.85 * 0.5 / 4)):
        assert math.isclose(fastir.evaluate(halves, RUN, metric)[metric], by_hand, rel_tol=1e-15)
