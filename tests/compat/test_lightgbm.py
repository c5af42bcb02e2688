"""The metrics for LightGBM: worked by hand with what LightGBM hands over, and with its own where installed."""

import json
import math
import types

import numpy as np
import pytest
from common import ABSENT, SHARED

import fastir
from fastir.compat.lightgbm import eval_metric, feval

K = (1, 3, 5, 10)
LABELS, SCORES, GROUP = [0, 2, 1, 0, 0, 3], [0.9, 0.8, 0.7, 0.2, 0.1, 0.5], [3, 2, 1]


def dataset(labels=LABELS, weight=None, group=GROUP):
    """What LightGBM hands to a feval, as far as it is read."""
    made = types.SimpleNamespace(label=np.array(labels, np.float32), weight=weight, group=group)
    made.get_label, made.get_weight, made.get_group = (lambda: made.label), (lambda: made.weight), (lambda: made.group)
    return made


# ---- by hand -----------------------------------------------------------------------------------------------------
def test_values_by_hand():
    """Gains 3 and 1 at ranks 2 and 3 of the first query; 1 for the second, which has none; the single one."""
    first = (3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3))
    assert feval("ndcg@10")(np.array(SCORES), dataset()) == (
        "fastir_ndcg@10", pytest.approx((first + 2) / 3, abs=1e-15), True,
    )  # fmt: skip
    told = feval(["map@2", "mrr"], higher_is_better=False, prefix="")(np.array(SCORES), dataset())
    assert told == [("map@2", pytest.approx((0.25 + 2) / 3), False), ("mrr", pytest.approx((0.5 + 2) / 3), False)]


def test_lightgbm_is_told_which_values_are_better():
    told = feval(["mrr", "mean_rank", "num_ret"])(np.array(SCORES), dataset())
    assert [higher for _, _, higher in told] == [True, False, True]
    assert feval("mean_rank", higher_is_better=True)(np.array(SCORES), dataset())[2] is True


def test_a_query_weighs_what_its_documents_weigh_on_average():
    weight = np.array([1, 2, 3, 0, 0, 6], np.float32)  # 2, 0 and 6
    assert feval("mrr")(np.array(SCORES), dataset(weight=weight))[1] == (2 * 0.5 + 6 * 1) / 8


def test_ties_stay_as_they_came():
    assert feval("mrr")(np.zeros(3), dataset([0, 1, 0], group=[3]))[1] == 0.5


def test_eval_metric_is_the_same_by_other_parameters():
    told = eval_metric("ndcg@3")(np.array(LABELS), np.array(SCORES), None, np.array(GROUP))
    assert told == feval("ndcg@3")(np.array(SCORES), dataset())


def test_other_conventions_and_options():
    told = feval("ndcg@10", gain="linear", empty="zero")(np.array(SCORES), dataset())[1]
    assert told == pytest.approx(((2 / math.log2(3) + 1 / 2) / (2 + 1 / math.log2(3)) + 1) / 3, abs=1e-15)
    assert feval("precision@5", convention="xgboost")(np.array(SCORES), dataset())[1] == pytest.approx((2 / 3 + 1) / 3)


def test_a_prefix_keeps_the_names_apart_from_lightgbm_s_own():
    told = eval_metric("ndcg@2,mrr")([1, 0], [0.1, 0.2], None, [2])
    assert [name for name, _, _ in told] == ["fastir_ndcg@2", "fastir_mrr"]
    assert eval_metric("mrr", prefix="")([1, 0], [0.1, 0.2], None, [2])[0] == "mrr"
    assert eval_metric("mrr", prefix="our ")([1, 0], [0.1, 0.2], None, [2])[0] == "our mrr"


def test_errors():
    for make in (feval, eval_metric):
        with pytest.raises(fastir.UnknownMetricError, match="did you mean 'ndcg@10'"):
            make("ndgc@10")
        with pytest.raises(TypeError):
            make("ndcg@10", gian="linear")
    with pytest.raises(ValueError, match="the Dataset has no groups"):
        feval("ndcg@10")(np.array(SCORES), dataset(group=None))
    with pytest.raises(ValueError, match="NaN in row 1"):
        feval("ndcg@10")(np.array([1, np.nan, 1, 1, 1, 1]), dataset())


# ---- LightGBM itself ---------------------------------------------------------------------------------------------
def trained(lightgbm, X, y, group, weight, **options):
    """What LightGBM records of a short training."""
    recorded = {}
    data = lightgbm.Dataset(X, y, group=group, weight=weight)
    lightgbm.train(
        {
            "objective": "lambdarank", "verbose": -1, "num_threads": 1, "num_leaves": 4, "eval_at": K,
            "metric": options.pop("metric"),
        },
        data, 4, valid_sets=[data], valid_names=["v"], callbacks=[lightgbm.record_evaluation(recorded)], **options,
    )  # fmt: skip
    return recorded["v"]


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_says_the_same_in_training(weighted):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    group = np.append(rng.integers(1, 40, 80), [1, 1])
    X = rng.normal(size=(group.sum(), 4)).round(1)
    y = np.clip((X[:, 0] + rng.normal(size=len(X))).round(), 0, 4).astype(int)
    first = group.cumsum() - group
    y[first] = 1  # with weights, its nDCG of no relevant documents differs
    if not weighted:
        y[first[3] : first[4]] = 0
    weight = rng.random(len(X)) if weighted else None
    names = [f"{metric}@{k}" for metric in ("ndcg", "map") for k in K]
    theirs = trained(lightgbm, X, y, group, weight, metric=["ndcg", "map"])
    ours = trained(lightgbm, X, y, group, weight, metric="None", feval=feval(names, prefix=""))
    assert list(ours) == names and set(theirs) == set(names)
    for name in names:
        assert ours[name] == pytest.approx(theirs[name], rel=0, abs=1e-7 if weighted else 1e-12), name
    assert len({tuple(values) for values in ours.values()}) > 4


def test_lightgbm_ranker():
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(1)
    X, y, group = rng.normal(size=(60, 3)), rng.integers(0, 3, 60), [20, 25, 15]
    ranker = lightgbm.LGBMRanker(n_estimators=3, num_leaves=4, verbose=-1, n_jobs=1, min_child_samples=5)
    ranker.fit(
        X, y, group=group, eval_set=[(X, y)], eval_group=[group], eval_at=[10],
        eval_metric=eval_metric(["ndcg@10", "mrr"]),
    )  # fmt: skip
    recorded = next(iter(ranker.evals_result_.values()))
    assert set(recorded) == {"fastir_ndcg@10", "fastir_mrr", "ndcg@10"}
    assert {len(values) for values in recorded.values()} == {3}, "each metric has a record of its own"
    assert recorded["fastir_mrr"][-1] == fastir.evaluate_scores(y, ranker.predict(X), "mrr", group=group)["mrr"]


@pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)
@pytest.mark.parametrize("scores", ["full", "tied"])
def test_what_lightgbm_said_of_its_example(scores):
    folder = SHARED / "data/lightgbm_rank"
    rows = np.genfromtxt(folder / "labels_scores.tsv", names=True, dtype=None, encoding=None)
    said = json.loads((folder / "expected/lightgbm_ndcg.json").read_text())[scores]
    group = np.unique(rows["qid"], return_counts=True)[1]
    for k in K:
        told = feval(f"ndcg@{k}")(rows[f"score_{scores}"], dataset(rows["label"], group=group))[1]
        assert told == pytest.approx(said[f"ndcg@{k}"], rel=0, abs=1e-12)
