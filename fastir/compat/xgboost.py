"""Metrics of a ranking for XGBoost.

``xgboost.train(..., custom_metric=fastir.compat.xgboost.custom_metric("ndcg@10"))``. This file itself needs no XGBoost.
Compared with XGBoost 3.4.1.

**Same**: with the convention "xgboost", which is the default, ``ndcg@k``, ``map@k`` and ``precision@k`` (its ``pre@k``)
equal XGBoost's: gains of 2^label - 1 (``gain="linear"`` is its ``ndcg_exp_gain=False``, which takes real-valued
labels), the ideal ranking from the query's own documents, average precision divided by the smaller of k and the number
of relevant documents, precision divided by the smaller of k and the number of documents, equal scores in the order of
the input, and, except for precision, 1 for a query without relevant documents (``empty="zero"`` is XGBoost's suffix
``-``). Scores are float32; each query has one weight.

**Different on purpose**: any metric of fastir under any convention. Average precision takes labels above 1, which are
relevant; nDCG takes labels above 31. XGBoost's own nDCG counts a query without relevant documents as 1 without its
weight, but divides by all weights, so that a mean can exceed 1; here the weight counts, as in its MAP. XGBoost rounds
the result of a custom metric to six decimals. Without a cutoff, its own metrics read 32 documents, fastir's read all. A
NaN score is a ValueError.

**Not offered**: `XGBRanker`, which takes only XGBoost's own metrics; the names ``pre@k`` and ``ndcg@k-``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastir.evaluation.labels import evaluate_scores
from fastir.request.directions import higher_is_better
from fastir.request.options import metric_tuple

__all__ = ("custom_metric",)

Reported = tuple[str, float]


def custom_metric(
    metrics: str | Iterable[str], *, convention: Any = "xgboost", suffix: str = "_fastir", **choices: Any
) -> Callable[[Any, Any], Reported | list[Reported]]:
    """A function for the parameter `custom_metric` of `xgboost.train` and `xgboost.cv`.

    Parameters
    ----------
    metrics : str or iterable of str
        Such as ``"ndcg@10"``. ``disable_default_eval_metric=True`` among the parameters of training turns off
        XGBoost's own. Early stopping takes the last one, and guesses from its name which values are better; the
        function's attribute `maximize` says it: ``xgboost.train(..., custom_metric=f, maximize=f.maximize)``.
    suffix : str
        The end of each name that XGBoost gets: its history keeps ``ndcg@10_fastir`` apart from its own ``ndcg@10``.
        No prefix, because early stopping maximizes only what begins with ndcg, map, pre or auc, if it is not told.
        Without a suffix, ``""``, XGBoost records both under one name if it evaluates a metric of this name, too.
    convention, **choices
        As for `fastir.evaluate_scores`.

    Returns
    -------
    function of (predt, dtrain)
        It returns ``(name, value)``; a list of these if `metrics` is no str. Its attribute `maximize` is False where
        less is better, by the card of the last metric.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
        As by `fastir.evaluate_scores`; here for a metric or an option, in training for the data, also for a DMatrix
        without groups.
    """
    names = metric_tuple(metrics)
    evaluate_scores([], [], names, convention=convention, **choices)  # refuses misspelt names before training

    def evaluate(predt: Any, dtrain: Any) -> Reported | list[Reported]:
        offsets = dtrain.get_uint_info("group_ptr")
        if not len(offsets):
            raise ValueError("the DMatrix has no groups; expected qid or group")
        weights = dtrain.get_weight()
        results = evaluate_scores(
            dtrain.get_label(),
            predt,
            names,
            offsets=offsets,
            weights=weights if len(weights) else None,
            convention=convention,
            **choices,
        )
        reported = [(name + suffix, value) for name, value in results.items()]
        return reported[0] if isinstance(metrics, str) and len(reported) == 1 else reported

    evaluate.maximize = higher_is_better(names[-1]) is not False  # type: ignore[attr-defined]
    return evaluate
