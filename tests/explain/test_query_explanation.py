"""The explanation of a query: contributions add up to the value, by the rules of every convention."""

import copy
import itertools
import math
import pickle
import random

import gen
import pytest
from closed_forms import AVERAGED
from common import UNEVEN
from every_convention import NAMES, explanation_that_differs
from explained import QRELS, RUN, agree, explanations, same

import fastir
from fastir.analyses.explain.query_explanation import increments

pytestmark = UNEVEN
CARDS = [card for card in fastir.metrics() if not card.sampled]


# Sums of a term for every rank.
SUMS = [
    "ndcg", "ndcg@5", "ndcg_burges@5", "dcg@5", "map", "map@3", "precision@5", "recall@5", "rbp", "err@5",
    "cg@4", "hits@7",
]  # fmt: skip


@pytest.mark.parametrize("options", [
    {}, {"ties": "doc_id_asc"}, {"ties": "input", "max_depth": 9}, {"ties": "optimistic"},
    {"ties": "pessimistic", "judged_only": True}, {"judged_only": True, "max_depth": 7},
    {"score_dtype": "float32", "rel_level": 2}, {"empty": "skip"}, {"empty": "one", "gain": "exp2"},
    {"ideal": "retrieved", "ap_norm": "hits"},
    {"gain": {-1: 0.5, -2: 0.25, 0: -1, 2: 7}, "ties": "optimistic"},
], ids=str)  # fmt: skip
def test_every_metric_is_the_sum_of_what_its_documents_contribute(options):
    names = [name for name in NAMES if "gain" not in options or not name.startswith(("err", "nerr"))]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 15), names, **options))


def test_expected_values_over_ties_add_up_as_well():
    names = [one.spelled("@5" if one.cutoff else "@0.4" if one.at else "") for one in CARDS if one.name in AVERAGED]
    for seed in range(3):
        agree(*explanations(*gen.collection(seed, 5, 12), names, ties="average"))


def test_values_under_every_convention_are_those_of_evaluate():
    rng, explained = random.Random(27), 0
    for _ in range(250):
        broken, was_explained = explanation_that_differs(rng)
        assert broken is None
        explained += was_explained
    assert explained > 100


@pytest.mark.parametrize(("convention", "metric"), [
    ("sklearn", "ndcg"), ("sklearn", "ndcg_burges"), ("sklearn", "dcg"), ("torchmetrics", "ndcg"),
    ("torchmetrics", "auc"), ("cornac", "auc"), ("catboost", "hole@2"), ("llamaindex", "precision@2"),
])  # fmt: skip
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


# ---- the documents of an explanation: those that are missing, and those judged elsewhere -----------------------------
def test_documents_that_nobody_asked_for_yet_are_there_in_copies_and_comparisons():
    evaluator = fastir.Evaluator(QRELS, ["ndcg", "map"])
    asked = evaluator.explain(RUN, "q")
    assert asked.documents is asked.documents and isinstance(asked.documents, list)
    assert evaluator.explain(RUN, "q") == asked
    assert pickle.loads(pickle.dumps(evaluator.explain(RUN, "q"))) == asked
    assert repr(copy.deepcopy(evaluator.explain(RUN, "q"))) == repr(asked)
    assert evaluator.explain(RUN, "q").missing == asked.missing
    with pytest.raises(AttributeError, match="no attribute 'docs'"):
        asked.docs  # noqa: B018


def test_a_term_is_the_gain_times_the_discount():
    metrics = ["ndcg", "dcg(gain=exp2)", "ndcg(discount=jk2)@3", "map", "rbp"]
    [explanation] = explanations(QRELS, RUN, metrics)[1].values()
    ideal = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    labels = [("b", 0), ("x", None), ("a", 3), ("y", None), ("c", 1), ("e", 2), ("d", -1)]
    assert [(document.doc_id, document.label) for document in explanation.documents] == labels
    assert [document.tied for document in explanation.documents] == [1, 2, 2, 1, 1, 2, 2]
    assert [document.rank for document in explanation.documents] == [1, 2, 3, 4, 5, 6, 7]
    assert [document.score for document in explanation.documents] == [6.0, 5.0, 5.0, 4.0, 3.0, 2.0, 2.0]
    for rank, (_, label), document in zip(range(1, 8), labels, explanation.documents, strict=True):
        gain = max(label or 0, 0)
        assert document.gain["ndcg"] == gain
        assert document.gain["dcg(gain=exp2)"] == 2**gain - 1
        assert math.isclose(document.contribution["ndcg"], gain / math.log2(rank + 1) / ideal, abs_tol=1e-15)
        if gain:
            assert math.isclose(document.discount["ndcg"], 1 / math.log2(rank + 1), rel_tol=1e-14)
            assert math.isclose(document.discount["ndcg(discount=jk2)@3"], 1 / math.log2(rank) if rank == 3 else 0)
            assert math.isclose(document.discount["rbp"], 0.8 ** (rank - 1), rel_tol=1e-14)
        else:
            assert document.discount["ndcg"] is None
    terms = [document.contribution["map"] for document in explanation.documents]
    assert terms == pytest.approx([0, 0, 1 / 3 / 4, 0, 2 / 5 / 4, 3 / 6 / 4, 0], abs=1e-16)


def test_gains_stay_those_of_the_labels_when_the_ideal_is_what_was_retrieved():
    [explanation] = explanations(QRELS, RUN, "ndcg", ideal="retrieved")[1].values()
    assert [document.gain["ndcg"] for document in explanation.documents] == [0, 0, 3, 0, 1, 2, 0]
    assert math.isclose(explanation.documents[2].discount["ndcg"], 0.5)


def test_missing_documents_are_the_relevant_ones_best_first():
    qrels = {"q": {"a": 1, "c": 1, "b": 3, "n": 0, "p": -1, "found": 2}}
    [explanation] = explanations(qrels, {"q": {"found": 1.0}}, ["ndcg", "recall"])[1].values()
    assert [(document.doc_id, document.label) for document in explanation.missing] == [("b", 3), ("a", 1), ("c", 1)]
    best = explanation.missing[0]
    assert best == (
        "b", None, None, 0, 3, {"ndcg": 3.0, "recall": 0.25}, {"ndcg": None, "recall": None},
        {"ndcg": 0.0, "recall": 0.0}, None, None,
    )  # fmt: skip


def test_what_cannot_contribute_is_part_of_the_base():
    metrics = ["num_ret", "num_rel", "ideal_dcg", "unjudged@4"]
    [explanation] = explanations(QRELS, RUN, metrics)[1].values()
    assert explanation.base == {
        "num_ret": 7.0, "num_rel": 4.0, "ideal_dcg": explanation.values["ideal_dcg"], "unjudged@4": 1.0,
    }  # fmt: skip
    assert [document.contribution["unjudged@4"] for document in explanation.documents] == [-0.25, 0, -0.25, 0, 0, 0, 0]


def test_documents_that_were_judged_for_other_queries():
    qrels = {"q": {"a": 1}, "r": {"x": 0, "y": 1}}
    evaluator = fastir.Evaluator(qrels, "hole@4", queries="qrels")
    explanation = evaluator.explain({"q": {"a": 4.0, "x": 3.0, "z": 2.0}}, "q")
    assert explanation.values == evaluator.evaluate({"q": {"a": 4.0, "x": 3.0, "z": 2.0}}).to_dict()["q"]
    assert (explanation.base, [document.contribution["hole@4"] for document in explanation.documents]) == (
        {"hole@4": 0.75},
        [-0.25, -0.25, 0.0],
    )
