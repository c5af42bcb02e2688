"""LlamaIndex's metrics of retrieval with another `compute`: hit rate, MRR, precision, recall, AP and nDCG.

Import them from here (METRIC_REGISTRY and `resolve_metrics` have them under LlamaIndex's names), or call
``fastir.compat.install("llama_index")`` to change LlamaIndex's own. Compared with llama-index-core 0.14.25.

**Same**: all but `compute` is LlamaIndex's own; parameters and results, the error for ids that are missing or empty;
precision and recall of the distinct ids, without copies; AP over all expected ids; nDCG of binary labels with all
expected ids in the ideal ranking.

**Different on purpose**: AP, nDCG and the granular hit rate count a retrieved id once, at its first copy, and an
expected id once, even if it is listed twice. LlamaIndex's values can exceed 1 in these cases.

**Not offered**: the granular MRR (its `compute` stays LlamaIndex's own); the metric that calls Cohere.
"""

from __future__ import annotations

from typing import Any

from fastir import compat
from fastir.compat._id_lists import value_of_one

metrics: Any = compat.importing("llama_index.core.evaluation.retrieval.metrics", "llama_index")

__all__ = ["METRIC_REGISTRY", "MRR", "NDCG", "AveragePrecision", "HitRate", "Precision", "Recall", "resolve_metrics"]

GRANULAR_MRR = metrics.MRR.compute


def make_compute(metric: str, distinct: bool = False, granular: str | None = None) -> Any:
    """The method `compute` of a class for a metric.

    `distinct` removes copies of retrieved ids, and their order; `granular` names the attribute that asks for another
    value.
    """

    def compute(
        self: Any,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: Any,
    ) -> Any:
        """The value for one query, of the relevant and the ranked ids; texts, `query` and `kwargs` are not read."""
        name = metric
        if granular is not None and getattr(self, granular):
            if metric == "mrr":
                return GRANULAR_MRR(self, query, expected_ids, retrieved_ids, expected_texts, retrieved_texts, **kwargs)
            name = "recall"
        if not retrieved_ids or not expected_ids:
            raise ValueError("Retrieved ids and expected ids must be provided")
        ranking = set(retrieved_ids) if distinct else retrieved_ids
        value = value_of_one(ranking, expected_ids, name, "llamaindex")
        return metrics.RetrievalMetricResult(score=value)

    return compute


class HitRate(metrics.HitRate):
    """Whether an expected id is retrieved; with `use_granular_hit_rate` the fraction that is retrieved."""

    compute: Any = make_compute("hit_rate", granular="use_granular_hit_rate")


class MRR(metrics.MRR):
    """1 / rank of the first expected id."""

    compute: Any = make_compute("mrr", granular="use_granular_mrr")


class Precision(metrics.Precision):
    """The fraction of retrieved ids that are expected."""

    compute: Any = make_compute("precision", distinct=True)


class Recall(metrics.Recall):
    """The fraction of expected ids that are retrieved."""

    compute: Any = make_compute("recall")


class AveragePrecision(metrics.AveragePrecision):
    """Average precision, over all expected ids."""

    compute: Any = make_compute("map")


class NDCG(metrics.NDCG):
    """nDCG of binary labels; its `mode` makes no difference for these."""

    compute: Any = make_compute("ndcg")


METRIC_REGISTRY = {
    **metrics.METRIC_REGISTRY,
    **{each.metric_name: each for each in (HitRate, MRR, Precision, Recall, AveragePrecision, NDCG)},
}


def resolve_metrics(metrics: list[str]) -> list[Any]:
    """Return the classes of these names; ValueError for a name that is missing from METRIC_REGISTRY."""
    for metric in metrics:
        if metric not in METRIC_REGISTRY:
            raise ValueError(f"Invalid metric name: {metric}")
    return [METRIC_REGISTRY[metric] for metric in metrics]
