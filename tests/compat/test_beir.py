"""The stand-in for BEIR's EvaluateRetrieval: worked by hand, and against BEIR itself where it is installed."""

import contextlib
import copy
import logging
import random

import pytest
from common import ABSENT, SHARED
from ranx_data import odd_collection

import fastir.compat
from fastir.compat.beir import evaluate, evaluate_custom

K = [1, 3, 5, 10, 100, 1000]
CUSTOM = ("mrr", "R_cap@k", "hole", "top_k_acc")
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}, "q3": {"e": 1}}


def results():
    """q1 finds c behind its own name and an unknown document; q2 finds nothing; q3 is missing."""
    return {"q1": {"q1": 9.0, "z": 2.0, "c": 1.0}, "q2": {"a": 1.0}}


# ---- by hand -----------------------------------------------------------------------------------------------------
def test_evaluate():
    """Over the two queries that are in both; the document called like its query is out."""
    found = results()
    ndcg, average, recall, precision = evaluate(QRELS, found, [1, 2])
    assert ndcg == {"NDCG@1": 0.0, "NDCG@2": 0.23981}  # 2 / log2(3) / (2 + 1 / log2(3)) / 2
    assert average == {"MAP@1": 0.0, "MAP@2": 0.125}
    assert recall == {"Recall@1": 0.0, "Recall@2": 0.25}
    assert precision == {"P@1": 0.0, "P@2": 0.25}
    assert found == {"q1": {"z": 2.0, "c": 1.0}, "q2": {"a": 1.0}}
    assert all(type(value) is float for table in (ndcg, average, recall, precision) for value in table.values())


def test_identical_ids_stay_if_that_is_asked_for():
    found = results()
    assert evaluate(QRELS, found, [3], ignore_identical_ids=False)[3] == {"P@3": 0.16667}
    assert found == results()


def test_evaluate_custom():
    """Over all queries of the qrels, the missing one counting nothing."""
    run = results()
    assert evaluate_custom(QRELS, run, [1, 3], "MRR") == {"MRR@1": 0.0, "MRR@3": 0.11111}
    assert evaluate_custom(QRELS, run, [3], "recall_cap") == {"R_cap@3": 0.16667}
    assert evaluate_custom(QRELS, run, [2, 3], "hole") == {"Hole@2": 0.33333, "Hole@3": 0.22222}
    assert evaluate_custom(QRELS, run, [2, 3], "accuracy@k") == {"Accuracy@2": 0.0, "Accuracy@3": 0.33333}
    assert run == results()


def test_equal_scores():
    """`evaluate` compares float32 and takes the last id first, `evaluate_custom` float64 and what came first."""
    qrels = {"q": {"a": 1}}
    for apart, first, first_as_float64 in (
        (0.0, 0.0, 1.0), (1e-9, 0.0, 0.0), (1e-6, 0.0, 0.0), (-1e-9, 0.0, 1.0), (-1e-6, 1.0, 1.0),
    ):  # fmt: skip
        run = {"q": {"a": 1.0, "b": 1.0 + apart}}
        assert evaluate(qrels, run, [1])[3]["P@1"] == first
        assert evaluate_custom(qrels, run, [1], "mrr")["MRR@1"] == first_as_float64
    assert evaluate_custom(qrels, {"q": {"b": 1.0, "a": 1.0}}, [1], "mrr")["MRR@1"] == 0.0


def test_errors():
    with pytest.raises(ZeroDivisionError, match="no query is in both"):
        evaluate(QRELS, {"q9": {"a": 1.0}}, [1])
    with pytest.raises(KeyError, match="q9"):
        evaluate_custom(QRELS, {"q9": {"a": 1.0}}, [1], "mrr")
    assert evaluate_custom(QRELS, {"q9": {"a": 1.0, "z": 0.5}}, [2], "hole") == {"Hole@2": 0.16667}
    assert [evaluate_custom(QRELS, {}, [2], metric).popitem()[1] for metric in CUSTOM] == [0.0] * 4
    assert evaluate_custom({"q1": {}}, {"q1": {"a": 1.0}}, [1], "mrr") == {"MRR@1": 0.0}
    with pytest.raises(ZeroDivisionError, match=r"'q2'.*no relevant"):
        evaluate_custom({**QRELS, "q2": {"d": 0}}, results(), [1], "r_cap")
    for metric in CUSTOM:
        with pytest.raises(ZeroDivisionError):
            evaluate_custom({}, results(), [1], metric)
    with pytest.raises(ValueError, match=r"metric must be one of 'mrr'.*got 'ndcg'"):
        evaluate_custom(QRELS, results(), [1], "ndcg")
    with pytest.raises(ValueError, match="cutoff"):
        evaluate_custom(QRELS, results(), [0], "mrr")
    with pytest.raises(ValueError, match="NaN"):
        evaluate(QRELS, {"q1": {"a": float("nan")}}, [1])


def test_values_are_logged(caplog):
    with caplog.at_level(logging.INFO, logger="beir.retrieval.evaluation"):
        evaluate(QRELS, results(), [2])
        evaluate_custom(QRELS, results(), [3], "mrr")
    assert [line for line in caplog.messages if "@" in line] == [
        "NDCG@2: 0.2398", "MAP@2: 0.1250", "Recall@2: 0.2500", "P@2: 0.2500", "MRR@3: 0.1111",
    ]  # fmt: skip


# ---- BEIR itself -------------------------------------------------------------------------------------------------
def outcome(call, *arguments):
    """What a call returns, or that it fails."""
    try:
        return call(*arguments)
    except (KeyError, ZeroDivisionError):
        return "fails"


def both(evaluator, qrels, run, k_values):
    """Everything that BEIR's calls one after the other do, by BEIR and by fastir."""
    told = []
    for context in (contextlib.nullcontext(), fastir.compat.patched("beir")):
        found = copy.deepcopy(run)
        with context:
            told.append(
                repr([
                    outcome(evaluator.evaluate, qrels, found, k_values, False),
                    outcome(evaluator().evaluate, qrels, found, k_values),
                    *(outcome(evaluator.evaluate_custom, qrels, found, k_values, metric) for metric in CUSTOM),
                    found,
                ])
            )  # fmt: skip
    return told


@pytest.fixture(scope="module")
def evaluator():
    return pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval


def test_beir_says_the_same_on_random_collections(evaluator):
    for seed in range(150):
        made = odd_collection(seed, range(1, 9), unknown=["q8"] * (seed % 4 == 0))
        theirs, ours = both(evaluator, *made, random.Random(seed).choice([K, [1], [5, 3], (1, 2, 3)]))
        assert ours == theirs, f"seed {seed}"


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("run", [
    "robust03/input.NLPR03vb10.gz",         # nearly all of its scores are tied
    "cast21/org_manual_bm25.run.gz", "webtrack_cedr/valid.wt11.run.gz", "dbpedia_kewer/INEX_LD-0.run.gz",
])  # fmt: skip
def test_beir_says_the_same_on_real_collections(evaluator, run):
    path = SHARED / "data" / run
    qrels = fastir.Qrels.from_file(path.with_name("qrels.txt.gz")).to_dict()
    theirs, ours = both(evaluator, qrels, fastir.Run.from_file(path).to_dict(), K)
    assert ours == theirs
    assert "NDCG@1000" in ours
