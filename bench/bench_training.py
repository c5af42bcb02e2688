"""Metrics of training code as its users call them, the tool's own and fastir's: whole calls, equal answers.

    python bench/bench_training.py [--rounds N] [--quick] [--record]

The tools are not in the bench extra: those that are not installed are left out. One thread each. For LightGBM and
XGBoost whole trainings are timed: without a metric, with the tool's own and with fastir's.
"""

import random

import numpy as np
import timing
from timing import Goal

SLOWER = 1 / 1.05  # at most, of a training with fastir's metric against one without any
ITERATIONS = 10


def rows(n_queries, n_documents):
    """Labels, scores, and features that tell something of the labels; matrices with a query in each row."""
    rng = np.random.default_rng(0)
    labels = rng.choice(5, (n_queries, n_documents), p=[0.6, 0.2, 0.1, 0.07, 0.03])
    features = rng.normal(size=(n_queries * n_documents, 50)).astype(np.float32)
    features[:, 0] += labels.ravel()
    return labels, rng.random((n_queries, n_documents)), features


def torchmetrics_calls(labels, scores):
    """`compute` of each metric: (what, the tool's, fastir's), and how many times as fast it is to be."""
    import torch
    import torchmetrics.retrieval as theirs

    import fastir.compat.torchmetrics as ours

    torch.set_num_threads(1)
    preds = torch.from_numpy(scores.ravel()).float()
    indexes = torch.arange(len(labels)).repeat_interleave(labels.shape[1])
    for name in ours.__all__:
        graded = name == "RetrievalNormalizedDCG"
        target = torch.from_numpy(labels.ravel() if graded else (labels.ravel() > 2).astype(int))
        pair = [
            getattr(module, name)(**({} if name == "RetrievalRPrecision" else {"top_k": 10}))
            for module in (theirs, ours)
        ]
        for metric in pair:
            metric.update(preds, target, indexes)
        yield (f"torchmetrics {name}", *(lambda metric=metric: again(metric) for metric in pair), 20)


def again(metric):
    """The value, which torchmetrics keeps, computed anew."""
    metric._computed = None
    return metric.compute().item()


def sklearn_calls(labels, scores):
    import sklearn.metrics as theirs

    import fastir.compat.sklearn as ours

    tied = scores.round(2)
    for name, data in (
        ("ndcg_score", labels),
        ("dcg_score", labels),
        ("label_ranking_average_precision_score", (labels > 2).astype(int)),
    ):
        for what, values in (("", scores), (", ties", tied)):
            yield (
                f"sklearn {name}{what}",
                *(
                    lambda call=getattr(module, name), data=data, values=values: call(data, values)
                    for module in (theirs, ours)
                ),
                None,
            )


def sentence_transformers_calls(labels, scores):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    import fastir.compat.sentence_transformers as ours

    rng = random.Random(0)
    docs = [f"doc{number}" for number in range(5000)]
    relevant = {f"q{query}": set(rng.sample(docs, rng.randint(1, 8))) for query in range(len(labels))}
    found = [
        [
            {"corpus_id": doc, "score": score}
            for doc, score in zip(rng.sample(docs, labels.shape[1]), sorted(row, reverse=True), strict=True)
        ]
        for row in scores.tolist()
    ]
    yield (
        "sentence-transformers compute_metrics",
        *(
            lambda made=kind(dict.fromkeys(relevant, ""), dict.fromkeys(docs, ""), relevant): [
                value for values in made.compute_metrics(found).values() for value in values.values()
            ]
            for kind in (InformationRetrievalEvaluator, ours.InformationRetrievalEvaluator)
        ),
        None,
    )


def lightgbm_trainings(labels, features):
    """What, and a training that returns the last nDCG, if it has one."""
    import lightgbm

    from fastir.compat.lightgbm import feval

    def train(metric, feval=None):
        data = lightgbm.Dataset(features, labels.ravel(), group=np.full(len(labels), labels.shape[1]))
        recorded = {}
        lightgbm.train(
            {"objective": "lambdarank", "metric": metric, "eval_at": [10], "num_threads": 1, "verbose": -1},
            data,
            ITERATIONS,
            valid_sets=[data],
            feval=feval,
            callbacks=[lightgbm.record_evaluation(recorded)],
        )
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
            {"objective": "rank:ndcg", "nthread": 1, **options},
            data,
            ITERATIONS,
            evals=[(data, "v")],
            custom_metric=own,
            evals_result=recorded,
            verbose_eval=False,
        )
        return recorded["v"]["ndcg@10"][-1] if recorded else None

    return {
        "XGBoost": train,
        "XGBoost, ndcg": lambda: train("ndcg@10"),
        "XGBoost, fastir": lambda: train(own=custom_metric("ndcg@10")),
    }


def main():
    options = timing.options(__doc__.splitlines()[0], rounds=5)
    report = timing.Report("training", options)
    labels, scores, features = rows(*((50, 20) if options.quick else (2000, 100)))
    calls, goals = {}, []
    for make in (torchmetrics_calls, sklearn_calls, sentence_transformers_calls):
        try:
            for what, theirs, ours, asked in make(labels, scores):
                np.testing.assert_allclose(ours(), theirs(), rtol=0, atol=1e-6, err_msg=what)
                calls[what], calls[f"{what}: fastir"] = theirs, ours
                goals.append(Goal(f"{what}: fastir", what, asked))
        except ImportError as error:
            print(f"left out: {make.__name__} ({error})")
    report.add(f"{len(labels)} queries of {labels.shape[1]} documents", timing.measure(calls, options.rounds), goals)
    for make in (lightgbm_trainings, xgboost_trainings):
        try:
            trainings = make(labels, features)
        except ImportError as error:
            print(f"left out: {make.__name__} ({error})")
            continue
        none, own, ours = trainings
        np.testing.assert_allclose(trainings[ours](), trainings[own](), rtol=0, atol=1e-6)
        report.add(
            f"{ITERATIONS} iterations, {features.shape[0]} rows of {features.shape[1]} features",
            timing.measure(trainings, options.rounds),
            [Goal(ours, none, SLOWER), Goal(ours, own)],
        )
    report.close()


if __name__ == "__main__":
    main()
