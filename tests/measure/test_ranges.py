"""The range on a card is compared with values: of random rankings, with every value of every parameter."""

import random

import numpy as np
import pytest
from oracle_requests import PARAMS
from sampled import evidence

import fastir

CARDS = fastir.metrics()
TRIALS = 40


def spellings(card):
    """{spelling: the parameter and its value}, at all values of the parameters one by one, with and without cutoffs."""
    base = [f"@{point}" for point in (0, 0.5, 1)] if card.at else ["", *(f"@{k}" for k in (1, 3, 12) * card.cutoff)]
    needed = {f"{param.name}={param.example}" for param in card.params if param.required}
    found = {card.spelled(cut): "" for cut in base}
    for param in card.params:
        for value in () if param.name == card.at else PARAMS.get(param.name, param.choices):
            setting = f"{param.name}={value}".replace(" ", "")
            scale = ",max_rel=4" * (any(other.name == "max_rel" for other in card.params) and param.name != "max_rel")
            inside = ",".join([setting, *(other for other in needed if not other.startswith(f"{param.name}="))])
            for cut in base:
                found[f"{card.name}({inside}{scale}){cut}"] = "gain={...}" if isinstance(value, dict) else setting
    return found


def collection(card):
    rng = random.Random(card.name)
    docs = [f"d{i}" for i in range(10)]
    qrels, run = {}, {}
    for query in map(str, range(TRIALS)):
        labels = rng.choice([(0,), (0, 1), (0, 0, 0, 4), (-1, 0, 1, 2), (-1, 0, 1, 2, 3, 4), (3, 4), (-1,)])
        qrels[query] = {doc: rng.choice(labels) for doc in rng.sample(docs, rng.randint(1, 10))}
        retrieved = rng.sample([*docs, *"xyz"], rng.randint(0, 13))
        run[query] = {doc: float(rng.randint(0, 9)) for doc in retrieved}
    if card.groups:
        qrels = {query: {"one": judged, "two": judged | {"d0": 1}} for query, judged in qrels.items()}
    if card.sampled in ("strata", "probabilities"):
        chances = {query: {doc: rng.choice((0.1, 0.5, 1.0)) for doc in judged} for query, judged in qrels.items()}
        strata = {query: {doc: rng.randint(0, 2) for doc in judged} for query, judged in qrels.items()}
        qrels = fastir.Qrels.from_dict(qrels, strata=strata, probabilities=chances)
    if card.sampled in ("sets", "hops"):
        qrels = evidence(card, qrels, 1)
    return qrels, run


@pytest.mark.filterwarnings("ignore::fastir.FastirWarning")
@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_values_are_in_the_range_of_the_card_but_for_the_parameters_that_it_names(card):
    qrels, run = collection(card)
    forbidden = {query: ["x", "y"] for query in qrels}
    needs = {"weights": {"doc_weights": {f"d{i}": 1 + i / 4 for i in range(10)}}, "forbidden": {"forbidden": forbidden}}
    needs["groups"] = {
        "doc_groups": {f"d{i}": {"a": i / 9, "b": 1 - i / 9} for i in range(10)},
        "target": {"a": 0.3, "b": 0.7},
    }
    needs["costs"] = {"doc_costs": {doc: 1.5 for docs in run.values() for doc in docs}}
    beyond = set()
    for name, setting in spellings(card).items():
        for level in (1, 2) if card.sampled not in ("sets", "hops") else (1,):
            values = fastir.evaluate(
                qrels, run, name, rel_level=level, queries="qrels", **needs.get(card.sampled, {})
            ).values
            slack = 1e-12 * max(1.0, np.nanmax(np.abs(values), initial=0.0))
            outside = (values < card.low - slack) | (values > card.high + slack)
            assert not outside.any() or setting in card.beyond.split(), (name, values[outside])
            beyond |= {setting} if outside.any() else set()
    named = {word for word in card.beyond.split() if "=" in word}
    assert beyond == named, "parameters with which values leave the range"


def test_the_range_is_said_in_words():
    words = {card.range for card in CARDS}
    assert {"0 to 1", "0 up", "1 up", "1", "any number", "0.00001 to 1"} <= words
