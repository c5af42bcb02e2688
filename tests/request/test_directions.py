"""Which values of a metric are better: what its card says is what its formula does, and everything follows the card."""

import random

import numpy as np
import pytest

import fastir
from fastir.engine.measure.cards import BETTER
from fastir.request.directions import higher_is_better
from fastir.request.names import DIALECT_NAMES

SILENCE = ("surfaced", "false_surface", "false_abstention")  # they see no order
CARDS = [card for card in fastir.metrics() if not card.sampled and card.name not in SILENCE]
# these do not know of a relevant document that was not retrieved, or take what is known for the collection
OF_FOUND = {card.name for card in CARDS if card.name.endswith(("_rank", "_rel")) and card.higher_is_better is False} | {
    *("amr", "amri", "arp", "label_ranking_loss")
}
LESS = {"a": {f"q{i}": 3.0 + i % 3 for i in range(12)}, "b": {f"q{i}": 200.0 + i % 5 for i in range(12)}}


def ask(card):
    return card.spelled("@4" if card.cutoff else "@0.5" if card.at else "")


def run_of(ranking):
    return {"q": {doc_id: float(-rank) for rank, doc_id in enumerate(ranking)}}


def values_of(qrels, ranking):
    found = fastir.evaluate(qrels, run_of(ranking), [ask(card) for card in CARDS], empty="zero")
    return {card.name: found[ask(card)] for card in CARDS}


def collections():
    """Qrels, a perfect ranking, and others as long: of any documents, or of the same ones in another order."""
    rng = random.Random(4)
    for labels in ([3, 2, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [2, 2, 1, 1, 1, 0, 0, 0], [4, 3, 2, 1, 1, 1, 0]):
        judged = {f"d{place}": label for place, label in enumerate(labels)}
        relevant = [doc_id for doc_id, label in judged.items() if label]
        pool = [*judged, *(f"unjudged{place}" for place in range(4))]
        yield {"q": judged}, relevant, [rng.sample(pool, len(relevant)) for _ in range(60)]
        yield {"q": judged}, list(judged), [rng.sample(list(judged), len(judged)) for _ in range(60)]


def test_the_direction_of_every_card_is_one_of_three():
    assert {card.higher_is_better for card in CARDS} == set(BETTER)


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")  # rankings without a judged document
def test_perfect_rankings_are_best_and_a_metric_without_direction_does_not_see_the_order():
    better = dict.fromkeys((card.name for card in CARDS), 0)
    for qrels, perfect, others in collections():
        best = values_of(qrels, perfect)
        for other in others:
            values = values_of(qrels, other)
            for card in CARDS:
                ahead, value = best[card.name], values[card.name]
                of_found = card.name in OF_FOUND or (card.groups == "pairs" and card.name.endswith("_ret"))
                if np.isnan([value, ahead]).any() or (of_found and set(other) != set(perfect)):
                    continue  # some know nothing of what was not retrieved
                if card.higher_is_better is None:
                    assert ahead == value, (card.name, other)
                else:
                    difference = (value - ahead) if card.higher_is_better is False else (ahead - value)
                    assert difference >= -1e-12, (card.name, ahead, value, qrels, other)
                    better[card.name] += difference > 1e-12
    for card in CARDS:
        assert bool(better[card.name]) == (card.higher_is_better is not None), card.name


def test_a_name_has_its_direction_in_any_dialect():
    for card in CARDS:
        for name in (card.name, *card.aliases):
            assert higher_is_better(ask(card._replace(name=name))) == card.higher_is_better
    assert not any(map(higher_is_better, ("unj_10", "MR", "unjudged(empty=skip)@5-l2")))
    assert higher_is_better("my own") and higher_is_better(7)
    for (_, name), card in DIALECT_NAMES.items():
        meanings = {other.higher_is_better for (_, also), other in DIALECT_NAMES.items() if also == name}
        assert meanings == {card.higher_is_better}
        assert higher_is_better(name) == card.higher_is_better


@pytest.mark.parametrize("metric", ["mean_rank", "unjudged@10"])
def test_a_comparison_marks_the_smaller_value_as_better(metric):
    found = fastir.compare_scores(LESS, metric)
    assert found.higher_is_better == {metric: False}
    [pair] = found.pairs
    assert pair.difference < 0 and (pair.wins, pair.losses) == (12, 0)
    first, second = found.to_table().splitlines()[1:3]
    assert "*4.0000ᵇ" in first and "*" not in second and "ᵃ" not in second
    changes = found.diff("a", "b", metric)
    assert (changes.n_gains, changes.n_losses) == (12, 0) and changes.gains[0].change < 0


def test_nothing_is_best_where_neither_is_better():
    found = fastir.compare_scores(LESS, "num_ret")
    assert found.higher_is_better == {"num_ret": None}
    table = found.to_table()
    assert "*" not in table and "ᵃ" not in table and "ᵇ" not in table


def test_results_gain_where_the_value_falls():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    new = {"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 2.0, "a": 1.0}}
    old = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}}
    runs = fastir.evaluate_many(qrels, {"new": new, "old": old}, ["mrr", "mean_rank"])
    for metric in ("mrr", "mean_rank"):
        changes = runs["new"].diff(runs["old"], metric)
        assert [change.query_id for change in changes.gains] == ["q2"]
        assert [change.query_id for change in changes.losses] == ["q3"]
    compared = fastir.compare(qrels, {"new": new, "old": old}, ["mrr", "mean_rank"])
    assert [(pair.wins, pair.ties, pair.losses) for pair in compared.pairs] == [(1, 1, 1), (1, 1, 1)]


def test_metric_says_which_values_are_better():
    assert "  better          smaller values" in str(fastir.metric("mean_rank"))
    assert "  better          larger values" in str(fastir.metric("ndcg@10"))
    assert "  better          neither" in str(fastir.metric("num_ret"))
