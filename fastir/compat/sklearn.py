"""scikit-learn's metrics of rankings: import them from here, or ``fastir.compat.install("sklearn")``; and scorers.

The functions themselves need no scikit-learn. Compared with scikit-learn 1.9.1.

**Same**: parameters, values and the type float: gains are the labels, fractions too, or in `dcg_score` anything from 0
up; equal scores are averaged unless ``ignore_ties=True``; a query without relevant documents counts as 0, in
`label_ranking_average_precision_score` as 1; `log_base` and `sample_weight`. ValueError for labels below 0, a single
document where there is a discount, arrays that are not of two dimensions or differ in shape, NaN, and a k below 1.

**Different on purpose**: with ``ignore_ties=True`` equal scores keep their order, which is arbitrary in scikit-learn.
`dcg_score` takes no labels below 0; `label_ranking_average_precision_score` only 0 and 1. Scores may be infinite.
Errors are fastir's ValueErrors instead of `InvalidParameterError`, which is also a ValueError.

**Not offered**: the other metrics of rankings (`coverage_error`, `label_ranking_loss`, `top_k_accuracy_score`,
`average_precision_score`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastir.engine.columns.rows import equal_offsets
from fastir.evaluation.labels import evaluate_scores
from fastir.inputs import arrays
from fastir.request.directions import higher_is_better

__all__ = ("dcg_score", "label_ranking_average_precision_score", "ndcg_score", "scorer")

BLOCK_ENTRIES = 1 << 20  # entries that are sorted at once if scores are equal


def ndcg_score(
    y_true: Any, y_score: Any, *, k: int | None = None, sample_weight: Any = None, ignore_ties: bool = False
) -> float:
    """nDCG with the labels as gains, averaged over queries.

    Parameters
    ----------
    y_true : array of shape (n_queries, n_documents), of numbers from 0 up
        Two documents at least.
    y_score : array of the same shape
    k : int or None
        The number of ranks that count, from 1 up; None: all.
    sample_weight : array of shape (n_queries,), or None
    ignore_ties : bool
        Leave equal scores as they came instead of averaging over their orders, which takes longer.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        The arrays are something else.
    ZeroDivisionError
        The weights add up to 0.

    Examples
    --------
    >>> from fastir.compat.sklearn import ndcg_score
    >>> ndcg_score([[1, 0], [0, 0]], [[0.5, 0.2], [0.1, 0.3]])
    0.5
    """
    labels, scores = matrices(y_true, y_score)
    return weighted_mean(values(labels, scores, "ndcg", k, ignore_ties), sample_weight)


def dcg_score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: Any = None,
    ignore_ties: bool = False,
) -> float:
    """DCG with the labels as gains, averaged over queries.

    Parameters, errors and the returned value are as for `ndcg_score`; log_base, above 0, is the base of the discount's
    logarithm.
    """
    if not log_base > 0:
        raise ValueError(f"log_base must be above 0, got {log_base}")
    labels, scores = matrices(y_true, y_score)
    return weighted_mean(values(labels, scores, "dcg", k, ignore_ties) * math.log2(log_base), sample_weight)


def label_ranking_average_precision_score(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Average precision, where documents with equal scores share the last of their ranks, averaged over queries.

    `y_true` is an array or sparse matrix of 0 and 1, of shape (n_queries, n_documents); all else is as for
    `ndcg_score`. A query without relevant documents counts as 1.
    """
    labels, scores = matrices(y_true.toarray() if hasattr(y_true, "toarray") else y_true, y_score, columns=1)
    if ((labels != 0) & (labels != 1)).any():
        raise ValueError("y_true must hold only 0 and 1")
    results = evaluate_scores(labels.ravel(), scores.ravel(), "map", offsets=offsets(labels), empty="one")
    values = results.values[:, 0]
    if results.report.queries_with_ties:
        step = max(1, BLOCK_ENTRIES // labels.shape[1])
        values = np.concatenate(
            [
                precision_at_scores(labels[row : row + step] == 1, scores[row : row + step])
                for row in range(0, len(labels), step)
            ]
        )
    return weighted_mean(values, sample_weight)


def scorer(metric: str, *, response_method: Any = "predict", convention: Any = "sklearn", **choices: Any) -> Any:
    """A scorer for `cross_validate`, `GridSearchCV` and so on, of any metric of fastir.

    Parameters
    ----------
    metric : str
        Such as ``"ndcg@10"``. If less is better, as of ``"mean_rank"``, the scorer turns the sign of the value, as
        scikit-learn's own do.
    response_method : str or sequence of str
        The method of an estimator that gives the scores, as for `sklearn.metrics.make_scorer`.
    convention, **choices
        As for `fastir.evaluate_scores`.

    Returns
    -------
    scorer
        Called with (estimator, X, y). If y has two dimensions, each row is a query. If it has one, each entry is a
        document, and the scorer takes ``qid=``, the query of each, while scikit-learn's metadata routing is enabled: by
        ``set_score_request(qid=True)`` that is passed on. Without it, all documents are of one query. Also
        ``sample_weight=``, of shape (n_queries,).

    Raises
    ------
    ImportError
        scikit-learn is not installed.
    UnknownMetricError, TypeError, ValueError
        As by `fastir.evaluate_scores`; when it is called, for the data.
    """
    from fastir import compat

    evaluate_scores([], [], metric, convention=convention, **choices)  # so that a misspelt name is an error here
    return compat.importing("sklearn.metrics", "sklearn").make_scorer(
        score,
        response_method=response_method,
        greater_is_better=higher_is_better(metric) is not False,
        metric=metric,
        convention=convention,
        **choices,
    )


def score(
    y_true: Any, y_score: Any, *, metric: str, qid: Any = None, sample_weight: Any = None, **choices: Any
) -> float:
    """The function of a `scorer`: the mean of a metric over the rows of two matrices, or over the queries of `qid`."""
    rows = None
    if np.ndim(y_true) == 2:
        y_true, y_score = matrices(y_true, y_score)
        rows = offsets(y_true)
        y_true, y_score = y_true.ravel(), y_score.ravel()
    return evaluate_scores(y_true, y_score, metric, qid=qid, offsets=rows, weights=sample_weight, **choices)[metric]


def matrices(y_true: Any, y_score: Any, columns: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores, checked, except for infinite labels, which the core refuses."""
    labels, scores = arrays.numbers(y_true, "y_true", 2), arrays.scores(y_score, "y_score", 2)
    if labels.shape != scores.shape:
        raise ValueError(f"y_true has the shape {labels.shape} but y_score {scores.shape}; shapes must match")
    if not len(labels) or labels.shape[1] < columns:
        raise ValueError(f"y_true must have a row and {columns} columns at least, got the shape {labels.shape}")
    arrays.refuse_nan(labels, "y_true")
    arrays.refuse_nan(scores, "y_score")
    if labels.min() < 0:
        row, column = np.unravel_index(labels.argmin(), labels.shape)
        raise ValueError(f"y_true holds {labels[row, column]} in row {row}, column {column}; expected 0 or above")
    return labels, scores


def offsets(labels: np.ndarray) -> np.ndarray:
    return equal_offsets(len(labels), labels.shape[1])


def values(labels: np.ndarray, scores: np.ndarray, metric: str, k: int | None, ignore_ties: bool) -> np.ndarray:
    """The value of each query, float64 of shape (n_queries,)."""
    return evaluate_scores(
        labels.ravel(),
        scores.ravel(),
        metric if k is None else f"{metric}@{k}",
        offsets=offsets(labels),
        ties="input" if ignore_ties else None,
        convention="sklearn",
    ).values[:, 0]


def precision_at_scores(relevant: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The mean, over the relevant documents of each row, of the precision among documents with at least their score."""
    order = np.argsort(-scores, axis=1)
    relevant, scores = np.take_along_axis(relevant, order, 1), np.take_along_axis(scores, order, 1)
    last = np.where(np.diff(scores, axis=1, append=np.nan) != 0, np.arange(scores.shape[1]), scores.shape[1])
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    hits = relevant.cumsum(axis=1)
    total = (np.take_along_axis(hits, last, 1) / (last + 1) * relevant).sum(axis=1)
    return np.where(hits[:, -1] > 0, total / np.maximum(hits[:, -1], 1), 1.0)


def weighted_mean(values: np.ndarray, sample_weight: Any) -> float:
    """The mean over queries."""
    if sample_weight is None:
        return float(np.add.reduce(values) / len(values))  # np.average, without what it looks at before
    weights = arrays.numbers(sample_weight, "sample_weight")
    if len(weights) != len(values):
        raise ValueError(f"sample_weight has {len(weights)} entries but y_true {len(values)} rows; lengths must match")
    return float(np.average(values, weights=weights))
