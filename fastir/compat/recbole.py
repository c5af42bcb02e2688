"""RecBole's Evaluator, which takes the output of its Collector: ``install("recbole")``, or import it from here.

Compared with RecBole 1.2.1.

**Same**: `evaluate` has the same keys in their order and the same numbers, rounded as the configuration says, for Hit,
MRR, MAP, Recall, NDCG and Precision at all of `topk`: a value is the mean over users, and recall is NaN if a user has
no relevant items. The other metrics are RecBole's own.

**Different on purpose**: MRR, MAP and NDCG work with NumPy 1.24 and later, where RecBole's fail because ``numpy.float``
is missing.

**Not offered**: GAUC, AUC and the metrics of values and of item coverage, novelty and popularity without RecBole.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastir import compat
from fastir.engine.columns.rows import equal_offsets, offsets_from_sizes
from fastir.evaluation.labels import evaluate_ranked

__all__ = ["Evaluator"]

# Its metrics of the first items; fastir's spellings, too.
RANKING_METRICS = ("hit", "mrr", "map", "recall", "ndcg", "precision")


def evaluate(self: Any, dataobject: Any) -> OrderedDict[str, Any]:
    """All metrics of the configuration, ``{"recall@10": mean, ...}``, in the order of the metrics and of `topk`.

    "rec.topk" of `dataobject`, a recbole.evaluator.collector.DataStruct, is a tensor of shape (n_users, max(topk) + 1):
    for each of a user's first items whether it is relevant, and how many relevant items there are. Other metrics read
    more of it. IndexError: it has no data that a metric needs.
    """
    cutoffs, decimals = self.config["topk"], self.config["metric_decimal_place"]
    metrics = [f"{metric}@{k}" for metric in self.metrics if metric in RANKING_METRICS for k in cutoffs]
    means = user_means(dataobject.get("rec.topk").numpy(), max(cutoffs), metrics) if metrics else {}
    results: OrderedDict[str, Any] = OrderedDict()
    for metric in self.metrics:
        if metric in RANKING_METRICS:
            results.update({f"{metric}@{k}": round(means[f"{metric}@{k}"], decimals) for k in cutoffs})
        else:
            results.update(self.metric_class[metric].calculate_metric(dataobject))
    return results


def user_means(gathered: np.ndarray, depth: int, metrics: list[str]) -> dict[str, np.float64]:
    """The means of metrics over the users."""
    relevant, n_relevant = gathered[:, :depth] != 0, gathered[:, depth]
    results = evaluate_ranked(
        relevant.reshape(-1),
        equal_offsets(len(relevant), depth),
        metrics,
        convention="recbole",
        ideal_labels=np.ones(int(n_relevant.sum()), bool),
        ideal_offsets=offsets_from_sizes(n_relevant.tolist()),
    )
    return dict(zip(results, results.values.mean(axis=0), strict=True))


class Evaluator:
    """RecBole's Evaluator, which can do without RecBole as far as its metrics are fastir's.

    `config` is RecBole's configuration: "metrics", "topk" and "metric_decimal_place". ImportError: a metric is
    RecBole's own, which is not installed.
    """

    metrics: list[Any]
    metric_class: dict[Any, Any]

    evaluate = evaluate

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.metrics = [metric.lower() for metric in config["metrics"]]
        others = [metric for metric in self.metrics if metric not in RANKING_METRICS]
        classes = compat.importing("recbole.evaluator.register", "recbole").metrics_dict if others else {}
        self.metric_class = {metric: classes[metric](config) for metric in others}
