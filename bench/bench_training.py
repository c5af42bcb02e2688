"""Metrics of training code as its users call them, the tool's own and fastir's: whole calls, equal answers.

The tools are not in the bench extra: those that are not installed are skipped. One thread each. For LightGBM and
XGBoost whole trainings are timed: without a metric, with the tool's own and with fastir's.
"""

import functools
import random

import numpy as np
import pytest
from timing import Goal

ROUNDS = 5
SLOWER = 1 / 1.05  # at most, of a training with fastir's metric against one without any
ITERATIONS = 10


@pytest.fixture(scope="module")
def rows(quick):
    """Labels, scores, and features that depend a little on the labels; matrices with a query in each row."""
    n_queries, n_documents = (50, 20) if quick else (2000, 100)
    rng = np.random.default_rng(0)
    labels = rng.choice(5, (n_queries, n_documents), p=[0.6, 0.2, 0.1, 0.07, 0.03])
    features = rng.normal(size=(n_queries * n_documents, 50)).astype(np.float32)
    features[:, 0] += labels.ravel()
    return labels, rng.random((n_queries, n_documents)), features


def pairs_of_torchmetrics(labels, scores):
    """`compute` of each metric: its name, the tool's call and fastir's."""
    import torch
    import torchmetrics.retrieval as theirs

    import fastir.compat.torchmetrics as ours

    torch.set_num_threads(1)
    preds = torch.from_numpy(scores.ravel()).float()
    indexes = torch.arange(len(labels)).repeat_interleave(labels.shape[1])
    for name in ours.__all__:
        graded = name == "RetrievalNormalizedDCG"
        target = torch.from_numpy(labels.ravel() if graded else (labels.ravel() > 2).astype(int))
        options = {} if name == "RetrievalRPrecision" else {"top_k": 10}
        pair = [getattr(module, name)(**options) for module in (theirs, ours)]
        for metric in pair:
            metric.update(preds, target, indexes)
        yield name, *(functools.partial(again, metric) for metric in pair)


def again(metric):
    """The value, which torchmetrics keeps, computed anew."""
    metric._computed = None
    return metric.compute().item()


def pairs_of_sklearn(labels, scores):
    import sklearn.metrics as theirs

    import fastir.compat.sklearn as ours

    targets = {
        "ndcg_score": labels, "dcg_score": labels, "label_ranking_average_precision_score": (labels > 2).astype(int),
    }  # fmt: skip
    for name, target in targets.items():
        for ties, values in (("", scores), (", ties", scores.round(2))):
            pair = (functools.partial(getattr(module, name), target, values) for module in (theirs, ours))
            yield name + ties, *pair


def pairs_of_sentence_transformers(labels, scores):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator as Theirs

    from fastir.compat.sentence_transformers import InformationRetrievalEvaluator as Ours

    rng = random.Random(0)
    docs = [f"doc{number}" for number in range(5000)]
    relevant = {f"q{query}": set(rng.sample(docs, rng.randint(1, 8))) for query in range(len(labels))}
    found = []
    for row in scores.tolist():
        ranked = zip(rng.sample(docs, len(row)), sorted(row, reverse=True), strict=True)
        found.append([{"corpus_id": doc, "score": score} for doc, score in ranked])

    def call(evaluator):
        return [value for values in evaluator.compute_metrics(found).values() for value in values.values()]

    evaluators = (kind(dict.fromkeys(relevant, ""), dict.fromkeys(docs, ""), relevant) for kind in (Theirs, Ours))
    yield "compute_metrics", *(functools.partial(call, evaluator) for evaluator in evaluators)


METRICS = {
    "torchmetrics": (pairs_of_torchmetrics, 20),
    "sklearn": (pairs_of_sklearn, None),
    "sentence_transformers": (pairs_of_sentence_transformers, None),
}


@pytest.mark.parametrize("tool", METRICS)
def test_metrics(race, rows, tool):
    pytest.importorskip(tool)
    pairs, asked = METRICS[tool]
    calls, goals = {}, []
    for name, theirs, ours in pairs(*rows[:2]):
        np.testing.assert_allclose(ours(), theirs(), rtol=0, atol=1e-6, err_msg=name)
        names = f"{name}: fastir", f"{name}: {tool}"
        calls |= zip(names, (ours, theirs), strict=True)
        goals.append(Goal(*names, asked))
    race(f"{tool}, 2000 queries of 100 documents", calls, goals, ROUNDS)


NDCG = ("RetrievalNormalizedDCG", "ndcg_score")
SMALL = {  # queries, documents, and the most microseconds for a call
    "torchmetrics": (32, 100, 60),
    "sklearn": (32, 100, 40),
}


@pytest.mark.parametrize("tool", SMALL)
def test_small(race, tool):
    """nDCG of one batch, as a training step has it; one document in twenty is relevant."""
    pytest.importorskip(tool)
    n, width, most = SMALL[tool]
    rng = np.random.default_rng(0)
    labels, scores = (rng.random((n, width)) < 0.05) * rng.integers(1, 5, (n, width)), rng.random((n, width))
    name, theirs, ours = next(pair for pair in METRICS[tool][0](labels, scores) if pair[0] in NDCG)
    np.testing.assert_allclose(ours(), theirs(), rtol=0, atol=1e-6)
    names = f"{name}: fastir", f"{name}: {tool}"
    cost = race(
        f"{n} queries of {width} documents", dict(zip(names, (ours, theirs), strict=True)), [Goal(*names)], 15, 50
    )
    race.amount(names[0], cost[names[0]].cpu * 1e6, "µs", most)


def lightgbm_trainings(labels, features):
    """Trainings without a metric, with its own and with fastir's, that return the last nDCG, if there is one."""
    import lightgbm

    from fastir.compat.lightgbm import feval

    def train(metric, feval=None):
        data = lightgbm.Dataset(features, labels.ravel(), group=np.full(len(labels), labels.shape[1]))
        recorded = {}
        lightgbm.train(
            {"objective": "lambdarank", "metric": metric, "eval_at": [10], "num_threads": 1, "verbose": -1}, data,
            ITERATIONS, valid_sets=[data], feval=feval, callbacks=[lightgbm.record_evaluation(recorded)],
        )  # fmt: skip
        return recorded["training"]["ndcg@10"][-1] if recorded else None

    return {
        "LightGBM": lambda: train("None"),
        "LightGBM, ndcg": lambda: train("ndcg"),
        "LightGBM, fastir": lambda: train("None", feval("ndcg@10")),
    }


def xgboost_trainings(labels, features):
    import xgboost

    from fastir.compat.xgboost import custom_metric

    def train(metric=None, own=None):
        data = xgboost.DMatrix(features, label=labels.ravel(), group=np.full(len(labels), labels.shape[1]), nthread=1)
        options = {"eval_metric": metric} if metric else {"disable_default_eval_metric": True}
        recorded = {}
        xgboost.train(
            {"objective": "rank:ndcg", "nthread": 1, **options}, data, ITERATIONS, evals=[(data, "v")],
            custom_metric=own, evals_result=recorded, verbose_eval=False,
        )  # fmt: skip
        return recorded["v"]["ndcg@10"][-1] if recorded else None

    return {
        "XGBoost": train,
        "XGBoost, ndcg": lambda: train("ndcg@10"),
        "XGBoost, fastir": lambda: train(own=custom_metric("ndcg@10")),
    }


TRAININGS = {"LightGBM": lightgbm_trainings, "XGBoost": xgboost_trainings}


@pytest.mark.parametrize("tool", TRAININGS)
def test_trainings(race, rows, tool):
    pytest.importorskip(tool.lower())
    calls = TRAININGS[tool](rows[0], rows[2])
    none, own, ours = calls
    np.testing.assert_allclose(calls[ours](), calls[own](), rtol=0, atol=1e-6)
    goals = [Goal(ours, none, SLOWER), Goal(ours, own)]
    race(f"{ITERATIONS} iterations of {tool}, 200 000 rows of 50 features", calls, goals, ROUNDS)
