"""The metrics for XGBoost: worked by hand with what XGBoost hands over, and with its own where installed."""

import math
import types

import numpy as np
import pytest

import fastir
from fastir.compat.xgboost import custom_metric

LABELS, SCORES, OFFSETS = [0, 2, 1, 0, 0, 3], [0.9, 0.8, 0.7, 0.2, 0.1, 0.5], [0, 3, 5, 6]


def matrix(labels=LABELS, weight=(), offsets=OFFSETS):
    """What XGBoost hands to a custom metric, as far as it is read."""
    return types.SimpleNamespace(
        get_label=lambda: np.array(labels, np.float32),
        get_weight=lambda: np.array(weight, np.float32),
        get_uint_info=lambda name: {"group_ptr": np.array(offsets, np.uint32)}[name],
    )


def test_values_by_hand():
    """Gains 3 and 1 at ranks 2 and 3 of the first query; 1 for the second, which has none; the single one."""
    scores = np.array(SCORES, np.float32)
    first = (3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3))
    assert custom_metric("ndcg@10")(scores, matrix()) == ("ndcg@10_fastir", pytest.approx((first + 2) / 3, abs=1e-15))
    assert custom_metric(["map@2", "precision@5"], empty="zero", suffix="")(scores, matrix()) == [
        ("map@2", pytest.approx((0.25 + 1) / 3)),
        ("precision@5", pytest.approx((2 / 3 + 1) / 3)),
    ]
    assert custom_metric("mrr")(scores, matrix(weight=[2, 0, 6]))[1] == (2 * 0.5 + 6 * 1) / 8


def test_scores_are_compared_as_float32():
    scores = np.array([1.0, 1.0 + 1e-9])
    assert custom_metric("mrr")(scores, matrix([1, 0], offsets=[0, 2]))[1] == 1.0
    assert custom_metric("mrr", score_dtype="float64")(scores, matrix([1, 0], offsets=[0, 2]))[1] == 0.5


def test_the_function_says_which_values_are_better():
    assert custom_metric("mrr").maximize and custom_metric(["mean_rank", "ndcg@3"]).maximize
    assert not custom_metric(["ndcg@3", "mean_rank"]).maximize  # early stopping takes the last one


def test_errors():
    with pytest.raises(fastir.UnknownMetricError, match="did you mean 'ndcg@10'"):
        custom_metric("ndgc@10")
    with pytest.raises(ValueError, match="the DMatrix has no groups"):
        custom_metric("ndcg@10")(np.array(SCORES), matrix(offsets=[]))


def test_real_labels_are_for_linear_gains_as_in_xgboost():
    """XGBoost refuses them elsewhere: "label must be 0 or positive integer", "can only be used with binary labels"."""
    labels, scores, offsets = np.array([0.25, 0.5, 0.0, 0.75]), [0.9, 0.8, 0.7, 0.1], [0, 3, 4]
    options = {"offsets": offsets, "convention": "xgboost"}
    first = (0.25 + 0.5 / math.log2(3)) / (0.5 + 0.25 / math.log2(3))
    for asked in ({"metrics": "ndcg(gain=linear)@2"}, {"metrics": "ndcg@2", "gain": "linear"}):
        found = fastir.evaluate_scores(labels, scores, **asked, **options)
        assert found.values[:, 0] == pytest.approx([first, 1.0], abs=1e-15)
    for metric in ("ndcg@2", "map@2", "precision@2"):
        with pytest.raises(ValueError, match=f"takes such labels in ndcg with gain='linear' alone, not in '{metric}'"):
            fastir.evaluate_scores(labels, scores, metric, **options)


def test_xgboost_says_the_same_of_real_labels():
    """Its nDCG takes them with linear gains alone; it prints six digits."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    labels, scores = rng.random(200).round(2), rng.normal(size=200).astype(np.float32)
    data = xgboost.DMatrix(np.zeros((200, 1)), label=labels, base_margin=scores, group=[20] * 10)
    asked = {"objective": "rank:ndcg", "base_score": 0, "eval_metric": "ndcg@5", "ndcg_exp_gain": False, "nthread": 1}
    said = float(xgboost.Booster(asked, cache=[data]).eval(data).split(":")[-1])
    assert custom_metric("ndcg(gain=linear)@5")(scores, data)[1] == pytest.approx(said, abs=1e-9)


def test_xgboost_says_the_same():
    """Of scores that are handed in, by its own metrics, told in full; without a cutoff they have one of 32."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    group = np.append(rng.integers(1, 40, 60), [1, 1])
    n, first = group.sum(), group.cumsum() - group
    for decimals in (1, 6):
        scores = rng.normal(size=n).round(decimals).astype(np.float32)
        graded = rng.integers(0, 5, n) * (rng.random(n) < 0.4)
        graded[first[3] : first[4]] = 0
        for labels, weight in ((graded, None), (graded > 0, None), (graded > 0, rng.random(len(group)))):
            data = xgboost.DMatrix(
                np.zeros((n, 1)), label=labels.astype(int), base_margin=scores, weight=weight, group=group
            )
            theirs = ["ndcg@3-", "ndcg-"] if weight is not None else ["ndcg@3", "ndcg@10", "ndcg", "ndcg@3-"]
            if labels is not graded:
                theirs += ["map@3", "map", "map@5-", "pre@3", "pre@10"]
            for name in theirs:
                asked = {"objective": "rank:ndcg", "base_score": 0, "eval_metric": name, "nthread": 1}
                booster = xgboost.Booster(asked, cache=[data])
                said = float(booster.eval(data).split(":")[-1])
                choices = {"empty": "zero"} if name.endswith("-") else {}
                ours = name.rstrip("-").replace("pre", "precision") + "@32" * ("@" not in name)
                told = custom_metric(ours, **choices)(scores, data)[1]
                assert told == pytest.approx(said, rel=0, abs=1e-12), name


def test_xgboost_in_training():
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), np.repeat([4, 7, 9], [20, 25, 15])
    data, recorded = xgboost.DMatrix(X, label=y, qid=qid), {}
    booster = xgboost.train(
        {"objective": "rank:ndcg", "nthread": 1, "max_depth": 2, "eval_metric": "ndcg@5"}, data, 3,
        evals=[(data, "v")], custom_metric=custom_metric(["mrr", "ndcg@5"]), evals_result=recorded,
        verbose_eval=False,
    )  # fmt: skip
    assert set(recorded["v"]) == {"ndcg@5", "mrr_fastir", "ndcg@5_fastir"}
    assert {len(values) for values in recorded["v"].values()} == {3}, "each metric has a history of its own"
    told = fastir.evaluate_scores(y, booster.predict(data), "ndcg@5", qid=qid, convention="xgboost")["ndcg@5"]
    assert recorded["v"]["ndcg@5_fastir"][-1] == pytest.approx(told, rel=0, abs=1e-6)


def test_early_stopping_of_xgboost_takes_the_best_round():
    """It guesses from the beginning of a name that higher is better, so a prefix would make it take the worst one."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), np.repeat([4, 7, 9], [20, 25, 15])
    data, recorded = xgboost.DMatrix(X, label=y, qid=qid), {}
    booster = xgboost.train(
        {"objective": "rank:ndcg", "nthread": 1, "max_depth": 2, "disable_default_eval_metric": True}, data, 12,
        evals=[(data, "v")], custom_metric=custom_metric("ndcg@5"), evals_result=recorded, verbose_eval=False,
        early_stopping_rounds=3,
    )  # fmt: skip
    values = recorded["v"]["ndcg@5_fastir"]
    assert booster.best_iteration == int(np.argmax(values)) > 0
