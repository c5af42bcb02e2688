"""ties="optimistic" and "pessimistic" give the best and the worst value of all orders, unless a card denies it."""

import itertools
import random

import numpy as np
import pytest

import fastir
from fastir.request.directions import higher_is_better
from fastir.request.metric import NOT_EXTREME_TEXT

CARDS = [card for card in fastir.metrics() if not card.sampled]
pytestmark = pytest.mark.filterwarnings("ignore::fastir.FastirWarning")


def asked(card):
    return card.spelled("@3" if card.cutoff else "@0.5" if card.at else "")


def extremes(qrels, first, tied, names):
    """The values of all orders of `tied` below `first`, and those of the two rules; larger is better."""
    signs = np.array([-1.0 if higher_is_better(name) is False else 1.0 for name in names])

    def values(order, ties):
        run = {"q": {**{doc: 9.0 - place for place, doc in enumerate(first)}, **dict.fromkeys(order, 1.0)}}
        return signs * fastir.evaluate(qrels, run, names, ties=ties).values[0]

    orders = np.array([values(order, "input") for order in itertools.permutations(tied)])
    return orders, values(tied, "optimistic"), values(tied, "pessimistic")


def test_labels_in_order_give_the_extreme_values_of_all_metrics_that_do_not_say_otherwise():
    names = [asked(card) for card in CARDS if card.by_label]
    rng = random.Random(1)
    for labels in [(-1, 0, 1), (0, 1, 1), (-1, 0, 0, 1, 1, 2, 3), (0, 4, 1)] * 25:
        qrels = {"q": {f"d{place}": rng.choice(labels) for place in range(7)}}
        docs = rng.sample([*qrels["q"], "x", "y"], 6)
        orders, best, worst = extremes(qrels, docs[:2], docs[2:], names)
        np.testing.assert_allclose(best, orders.max(axis=0), rtol=0, atol=1e-12)
        np.testing.assert_allclose(worst, orders.min(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("metric", "qrels", "first", "tied"), [
    ("auc@3", {"a": 1, "b": 1}, ["a"], ["b", "x", "y"]),
    ("pair_accuracy@3", {"a": 2, "b": 3, "c": 0}, ["a"], ["c", "x", "b"]),
    ("bpm(T=1.5, max_rel=4)", {"a": 1, "b": 1, "c": 3, "d": 4}, [], ["c", "d", "a", "b"]),
    ("map(ap_norm=hits)@3", {"a": 4, "b": 0, "c": 4}, ["a"], ["b", "x", "c"]),
    ("ndcg(gain={0:2, 1:1})@3", {"a": 1, "b": 0, "c": 2, "d": 4}, [], ["b", "c", "d", "a"]),
    ("inf_ap", {"a": 3, "b": -1, "c": 4}, ["a"], ["b", "c", "x"]),
])  # fmt: skip
def test_where_they_need_not_metric_says_so(metric, qrels, first, tied):
    assert NOT_EXTREME_TEXT in str(fastir.metric(metric))
    orders, best, worst = extremes({"q": qrels}, first, tied, [metric])
    assert best[0] < orders.max() - 1e-9 or worst[0] > orders.min() + 1e-9


def test_metric_is_silent_where_they_do():
    for metric in ("ndcg@10", "map(ap_norm=hits)", "ndcg(gain={1:3, 2:9})", "mean_rank"):
        assert NOT_EXTREME_TEXT not in str(fastir.metric(metric))
    assert NOT_EXTREME_TEXT in str(fastir.metric("g"))


def test_judged_and_unjudged_say_why_they_do_not_add_up():
    qrels, run = {"q": {"a": -2, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    found = fastir.evaluate(qrels, run, ["judged@2", "unjudged@2"])
    assert dict(found.items()) == {"judged@2": 1.0, "unjudged@2": 0.5}
    for metric in ("judged@2", "unjudged@2"):
        assert "a negative label" in str(fastir.metric(metric)) and "need not add up to 1" in str(fastir.metric(metric))
    assert "share of documents not in the qrels" in repr(found.report)
