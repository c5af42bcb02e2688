"""MLflow's metrics of retrievers, and any fastir metric as an MLflow metric or scorer.

``fastir.compat.install("mlflow")`` makes ``mlflow.evaluate(model_type="retriever")`` use precision, recall and nDCG
from here. `make_metric` makes `extra_metrics` for `mlflow.evaluate`; `scorer` makes scorers for
`mlflow.genai.evaluate`. Compared with mlflow 3.17.2.

**Same**: `precision_at_k`, `recall_at_k` and `ndcg_at_k` have MLflow's parameter, names, aggregations and checks of
rows, and its values: precision divides by the smaller of k and the number of retrieved documents, and the ideal ranking
of nDCG is at most as long as the list. Recall and nDCG are 1 if nothing is retrieved and nothing is relevant.

**Different on purpose**: precision and nDCG count a document once, at its first copy; MLflow counts every copy as a
separate document. A k that is not a positive integer is an error. The metrics are not marked as deprecated.

**Not offered**: the judges, and scorers that look for retrieved documents in traces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastir import compat
from fastir.compat._id_lists import values

models: Any = compat.importing("mlflow.models", "mlflow")
definitions: Any = compat.importing("mlflow.metrics.metric_definitions", "mlflow")
metrics: Any = compat.importing("mlflow.metrics", "mlflow")

__all__ = ["make_metric", "ndcg_at_k", "precision_at_k", "recall_at_k", "scorer"]


def make_metric(metric: str, *, name: str | None = None, convention: str = "fastir", **options: Any) -> Any:
    """A metric of fastir for `mlflow.evaluate`, of a column of retrieved ids and one of relevant ids.

    Parameters
    ----------
    metric : str
        Such as ``"ndcg@10"``.
    name : str or None
        What MLflow calls it; None: the metric, with ``_at_`` for ``@``.
    convention, **options
        As for `fastir.evaluate_ranked`.

    Returns
    -------
    mlflow.models.EvaluationMetric
        If a row is no list of str or int, all values are None, with a warning of MLflow's.
    """

    def measure(retrieved: Any, relevant: Any) -> list[float]:
        return scores(retrieved, relevant, metric, convention, **options)

    return evaluation_metric(name or metric.replace("@", "_at_"), measure)


def scorer(metric: str, *, expected: str = "relevant_ids", convention: str = "fastir", **options: Any) -> Any:
    """A metric of fastir for `mlflow.genai.evaluate`, of outputs that are lists of ids in rank order.

    Parameters
    ----------
    metric, convention, **options
        As for `make_metric`.
    expected : str
        The key of the relevant ids in the expectations of a row.

    Returns
    -------
    mlflow.genai.scorers.Scorer
    """

    def score(outputs: Any, expectations: dict[str, Any]) -> float:
        return scores([outputs], [expectations[expected]], metric, convention, **options)[0]

    return compat.importing("mlflow.genai", "mlflow").scorer(name=metric.replace("@", "_at_"))(score)


def scores(retrieved: Any, relevant: Any, metric: str, convention: str, **options: Any) -> list[float]:
    judged = [dict.fromkeys(ids, 1) for ids in relevant]
    return values(list(retrieved), judged, [metric], convention, **options)[:, 0].tolist()


def evaluation_metric(name: str, measure: Callable[[Any, Any], list[float]]) -> Any:
    """Return an EvaluationMetric that checks its columns as MLflow does, and computes values with `measure`."""

    def eval_fn(predictions: Any, targets: Any) -> Any:
        for rows, side in ((predictions, "predictions"), (targets, "targets")):
            if not definitions._validate_array_like_id_data(rows, name, f"{side} column"):
                return None
        return metrics.MetricValue(scores=measure(predictions, targets))

    return models.make_metric(eval_fn=eval_fn, greater_is_better=True, name=name)


def at_k(metric: str, k: int, both_empty: float) -> Any:
    """One of MLflow's own metrics; `both_empty` is the value of a row with no ids on either side."""

    def measure(retrieved: Any, relevant: Any) -> list[float]:
        values = scores(retrieved, relevant, f"{metric}@{k}", "mlflow")
        rows = zip(retrieved, relevant, values, strict=True)
        return [value if len(ids) or len(judged) else both_empty for ids, judged, value in rows]

    return evaluation_metric(f"{metric}_at_{k}", measure)


def precision_at_k(k: int) -> Any:
    """The fraction of the first k documents that are relevant, or of all if fewer are retrieved."""
    return at_k("precision", k, 0.0)


def recall_at_k(k: int) -> Any:
    """The fraction of the relevant documents that are among the first k."""
    return at_k("recall", k, 1.0)


def ndcg_at_k(k: int) -> Any:
    """nDCG of the first k, against an ideal ranking that is no longer than the list."""
    return at_k("ndcg", k, 1.0)
