"""The documents of an explanation: those that are missing, and those judged elsewhere."""

import copy
import math
import pickle

import pytest
from common import UNEVEN
from explained import QRELS, RUN, explanations

import fastir

pytestmark = UNEVEN


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
        "b",
        None,
        None,
        0,
        3,
        {"ndcg": 3.0, "recall": 0.25},
        {"ndcg": None, "recall": None},
        {"ndcg": 0.0, "recall": 0.0},
    )


def test_what_cannot_contribute_is_part_of_the_base():
    metrics = ["num_ret", "num_rel", "ideal_dcg", "unjudged@4"]
    [explanation] = explanations(QRELS, RUN, metrics)[1].values()
    assert explanation.base == {
        "num_ret": 7.0,
        "num_rel": 4.0,
        "ideal_dcg": explanation.values["ideal_dcg"],
        "unjudged@4": 1.0,
    }
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
