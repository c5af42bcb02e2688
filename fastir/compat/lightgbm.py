"""Metrics of a ranking for LightGBM: ``lightgbm.train(..., feval=fastir.compat.lightgbm.feval("ndcg@10"))``.

And ``LGBMRanker.fit(..., eval_metric=fastir.compat.lightgbm.eval_metric("ndcg@10"))``. LightGBM then records
``fastir_ndcg@10``. This file itself needs no LightGBM. Compared with LightGBM 4.7.0.

**Same**: with the convention "lightgbm", which is the default, ``ndcg@k`` and ``map@k`` equal LightGBM's: gains of
2^label - 1, the ideal ranking from the query's own documents, average precision divided by the smaller of k and the
number of relevant documents, equal scores in the order of the input, and 1 for a query without relevant documents. A
query's weight is the mean of the weights of its documents, which LightGBM takes in single precision.

**Different on purpose**: any metric of fastir under any convention. Labels can exceed the length of `label_gain`, and a
query can have more than 10 000 documents. LightGBM's own nDCG counts a query without relevant documents as 1 without
its weight, but divides by all weights, so that a mean can exceed 1; here the weight counts, as in its MAP. A NaN score
is a ValueError.

**Not offered**: the training parameter `label_gain`, which custom metrics do not get: pass `gain`, as for `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fastir.engine.columns.rows import occurrences, repeat
from fastir.evaluation.labels import evaluate_scores
from fastir.request.directions import higher_is_better as of_metric
from fastir.request.options import metric_tuple

__all__ = ("eval_metric", "feval")

Reported = tuple[str, float, bool]


def feval(
    metrics: str | Iterable[str],
    *,
    higher_is_better: bool | None = None,
    convention: Any = "lightgbm",
    prefix: str = "fastir_",
    **choices: Any,
) -> Callable[[Any, Any], Reported | list[Reported]]:
    """A function for the parameter `feval` of `lightgbm.train` and `lightgbm.cv`.

    Parameters
    ----------
    metrics : str or iterable of str
        Such as ``"ndcg@10"``. ``metric="None"`` among the parameters of training turns LightGBM's own metrics off.
    higher_is_better : bool or None
        Whether LightGBM treats higher values as better, for early stopping; None: as each metric's card says, False
        if lower is better.
    prefix : str
        The prefix of each name that LightGBM gets: its record keeps ``fastir_ndcg@10`` apart from its own ``ndcg@10``.
        Without one, ``""``, it records both under one name if it evaluates a metric of this name, too.
    convention, **choices
        As for `fastir.evaluate_scores`.

    Returns
    -------
    function of (preds, eval_data)
        It returns ``(name, value, higher_is_better)``; a list of these if `metrics` is not one name.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
        As by `fastir.evaluate_scores`; here for a metric or an option, in training for the data, also for a Dataset
        without groups.
    """
    measure = make_measure(metrics, higher_is_better, convention, choices, prefix)

    def evaluate(preds: Any, eval_data: Any) -> Reported | list[Reported]:
        return measure(eval_data.get_label(), preds, eval_data.get_weight(), eval_data.get_group())

    return evaluate


def eval_metric(
    metrics: str | Iterable[str],
    *,
    higher_is_better: bool | None = None,
    convention: Any = "lightgbm",
    prefix: str = "fastir_",
    **choices: Any,
) -> Callable[[Any, Any, Any, Any], Reported | list[Reported]]:
    """A function for the parameter `eval_metric` of `lightgbm.LGBMRanker.fit`; all else is as for `feval`.

    Returns
    -------
    function of (y_true, y_pred, weight, group)
    """
    return make_measure(metrics, higher_is_better, convention, choices, prefix)


def make_measure(
    metrics: str | Iterable[str], higher_is_better: bool | None, convention: Any, choices: dict[str, Any], prefix: str
) -> Callable[[Any, Any, Any, Any], Reported | list[Reported]]:
    names = metric_tuple(metrics)
    evaluate_scores([], [], names, convention=convention, **choices)  # what is misspelt is known before training
    higher = [of_metric(name) is not False if higher_is_better is None else higher_is_better for name in names]

    def measure(labels: Any, scores: Any, weight: Any, group: Any) -> Reported | list[Reported]:
        if group is None:
            raise ValueError("the Dataset has no groups; expected the number of documents of each query as group")
        weights = None
        if weight is not None:
            queries = repeat(np.arange(len(group)), group)
            weights = occurrences(queries, weight, len(group)) / np.maximum(group, 1)
        results = evaluate_scores(labels, scores, names, group=group, weights=weights, convention=convention, **choices)
        reported = [(prefix + name, results[name], is_higher) for name, is_higher in zip(names, higher, strict=True)]
        return reported[0] if isinstance(metrics, str) and len(reported) == 1 else reported

    return measure
