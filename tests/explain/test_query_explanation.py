"""The explanation of a query: contributions add up to the value, by the rules of every convention."""

import itertools
import math
import random

import gen
import pytest
from closed_forms import AVERAGED
from common import UNEVEN
from every_convention import explanation_that_differs
from explained import agree, explanations, same

import fastir
from fastir.analyses.explain.query_explanation import increments

pytestmark = UNEVEN

CARDS = [card for card in fastir.metrics() if not card.sampled]
NAMES = [
    *(card.spelled("@0.4" if card.at else "") for card in CARDS),
    *(card.spelled(f"@{k}") for card in CARDS if card.cutoff for k in (1, 3, 20)),
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
        card.spelled("@5" if card.cutoff else "@0.4" if card.at else "") for card in CARDS if card.name in AVERAGED
    ]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 12), names, ties="average"))


def test_values_under_every_convention_are_those_of_evaluate():
    rng, explained = random.Random(27), 0
    for _ in range(250):
        broken, was_explained = explanation_that_differs(rng)
        assert broken is None
        explained += was_explained
    assert explained > 100


@pytest.mark.parametrize(
    ("convention", "metric"),
    [
        ("sklearn", "ndcg"),
        ("sklearn", "ndcg_burges"),
        ("sklearn", "dcg"),
        ("torchmetrics", "ndcg"),
        ("torchmetrics", "auc"),
        ("cornac", "auc"),
        ("catboost", "hole@2"),
        ("llamaindex", "precision@2"),
    ],
)
def test_a_metric_that_brings_its_own_rules_is_explained_by_them(convention, metric):
    qrels = {"q": {"a": 1, "c": 0, "d": 2, "e": -1}, "other": {"b": 1}}
    run = {"q": {"b": 1.0, "a": 1.0, "c": 1.0, "d": 0.5, "e": 1.0}, "other": {}}
    if convention == "llamaindex":
        run = {"q": ["a", "a", "b", "a"], "other": []}
    agree(*explanations(qrels, run, metric, convention=convention))


def test_tied_scores_under_two_rules_are_refused():
    run = {"q": {"b": 1.0, "a": 1.0}}
    evaluator = fastir.Evaluator({"q": {"a": 1}}, ["ndcg", "map"], convention="sklearn")
    with pytest.raises(ValueError, match="this ranking is not the same for all"):
        evaluator.explain(run, "q")
    untied = {"q": {"b": 2.0, "a": 1.0}}
    agree(evaluator.evaluate(untied), {"q": evaluator.explain(untied, "q")})


def test_shares_of_expected_values_are_expected_discounts():
    told = fastir.explain({"q": {"a": 1}}, {"q": {"b": 1.0, "a": 1.0}}, "q", "ndcg", convention="torchmetrics")
    [discount] = [document.discount["ndcg"] for document in told.documents if document.doc_id == "a"]
    assert discount == pytest.approx((1 + 1 / math.log2(3)) / 2, rel=1e-15)


@pytest.mark.parametrize("convention", ["trec_eval-9", "trec_eval-10", "pyserini"])
def test_an_empty_ranking_has_no_value_where_trec_eval_leaves_it_out(convention):
    names = ["iprec@0", "iprec_avg", "11pt_avg", "map"]
    told = fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", names, convention=convention)
    row = fastir.evaluate({"q": {"a": 1}}, {"q": {}}, names, convention=convention).to_dict()["q"]
    assert same(told.values, row) and math.isnan(told.values["11pt_avg"])
    with_c = fastir.explain({"q": {"a": 1}}, {"q": {}}, "q", names, convention=convention, queries="qrels")
    assert set(with_c.values.values()) == {0.0}


def test_groups_of_qrels():
    qrels, run = gen.grouped_collection(4, 6)
    agree(*explanations(qrels, run, ["alpha_ndcg@5", "alpha_dcg@5", "err_ia@5", "st_recall@5", "map_ia", "nrbp"]))
    agree(*explanations(qrels, run, ["p_ia", "alpha_ndcg@5"], max_depth=6))


def test_parts_of_sums_add_up_to_the_bit():
    rng = random.Random(5)
    for seed in range(40):
        qrels, run = {"q": gen.query(rng, 30)[0]}, {"q": gen.query(rng, 30)[1]}
        if not qrels["q"].keys() & run["q"].keys():  # an error, where ids differ in case alone
            continue
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
