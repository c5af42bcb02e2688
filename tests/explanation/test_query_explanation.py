"""The explanation of a query: contributions add up to the value, by the rules of every convention."""

import itertools
import math
import random

import gen
import pytest
from closed_forms import AVERAGED
from common import UNEVEN
from explained import agree, explanations

import fastir
from fastir.explanation.query_explanation import increments

pytestmark = UNEVEN

CARDS = [card for card in fastir.metrics() if not card.sampled]
NAMES = [
    *(card.name + ("@0.4" if card.at else "") for card in CARDS),
    *(f"{card.name}@{k}" for card in CARDS if card.cutoff for k in (1, 3, 20)),
]
# Sums of a term for every rank.
SUMS = [
    "ndcg",
    "ndcg@5",
    "ndcg_burges@5",
    "dcg@5",
    "map",
    "map@3",
    "precision@5",
    "recall@5",
    "rbp",
    "err@5",
    "cg@4",
    "hits@7",
]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "doc_id_asc"},
        {"ties": "input", "max_depth": 9},
        {"ties": "optimistic"},
        {"ties": "pessimistic", "judged_only": True},
        {"judged_only": True, "max_depth": 7},
        {"score_dtype": "float32", "rel_level": 2},
        {"empty": "skip"},
        {"empty": "one", "gain": "exp2"},
        {"ideal": "retrieved", "ap_norm": "hits"},
        {"gain": {-1: 0.5, -2: 0.25, 0: -1, 2: 7}, "ties": "optimistic"},
    ],
    ids=str,
)
def test_every_metric_is_the_sum_of_what_its_documents_contribute(options):
    names = [name for name in NAMES if "gain" not in options or not name.startswith(("err", "nerr"))]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 15), names, **options))


def test_expected_values_over_ties_add_up_as_well():
    names = [
        card.name + ("@5" if card.cutoff else "@0.4" if card.at else "") for card in CARDS if card.name in AVERAGED
    ]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 12), names, ties="average"))


@pytest.mark.parametrize("convention", ["trec_eval-9", "ranx", "sklearn", "lightgbm", "xgboost", "torchmetrics"])
def test_every_convention_is_explained_by_its_own_rules(convention):
    qrels, run = gen.collection(1, 5, 12)
    shared = {query: run.get(query, {}) for query in qrels}
    agree(
        *explanations(
            qrels,
            shared,
            ["ndcg@5", "map", "mrr", "precision@5", "recall@3"],
            convention=convention,
            **({"ties": "trec"} if convention in ("sklearn", "torchmetrics") else {}),
        )
    )


def test_groups_of_qrels():
    qrels, run = gen.grouped_collection(4, 6)
    agree(*explanations(qrels, run, ["alpha_ndcg@5", "alpha_dcg@5", "err_ia@5", "st_recall@5", "map_ia", "nrbp"]))
    agree(*explanations(qrels, run, ["p_ia", "alpha_ndcg@5"], max_depth=6))


def test_parts_of_sums_add_up_to_the_bit():
    rng = random.Random(5)
    for seed in range(40):
        qrels, run = {"q": gen.query(rng, 30)[0]}, {"q": gen.query(rng, 30)[1]}
        [(_, explanation)] = explanations(qrels, run, SUMS)[1].items()
        for metric, value in explanation.values.items():
            assert math.fsum(document.contribution[metric] for document in explanation.documents) == value, seed


def test_increments_carry_their_rounding():
    rng = random.Random(1)
    for _ in range(200):
        rising = list(itertools.accumulate(rng.random() ** 8 for _ in range(50)))
        assert math.fsum(increments(rising)) == rising[-1]
    assert increments([0.25, 1.0, 0.5]) == [0.25, 0.75, -0.5]
    assert increments([math.nan, 1.0, math.nan, 0.5]) == [0.0, 1.0, 0.0, -0.5]
