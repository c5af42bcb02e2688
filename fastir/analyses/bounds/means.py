"""The extreme means of metrics that a labeling can leave undefined for a query: such a query may leave the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastir.data.results.results import Results


def without_undefined(
    values: np.ndarray, undefined: np.ndarray, sign: float, aggregates: Sequence[str], results: Results
) -> np.ndarray:
    """The extreme values of queries, NaN where leaving a query out makes the mean more extreme.

    Parameters
    ----------
    values : float64 array of shape (n_queries, n_metrics)
    undefined : bool array of the same shape
        Whether a labeling leaves the query out.
    sign : float
        1 for the smallest mean, -1 for the largest.
    aggregates : sequence of str
    results : Results
        With the weights of the queries.
    """
    weights = results.weights
    if weights is None:
        weight = np.ones(len(values))
    else:
        weight = np.array([weights[query] for query in results.query_ids], float)
    values = values.copy()
    for column, how in enumerate(aggregates):
        optional = undefined[:, column] & ~np.isnan(values[:, column])
        if optional.any() and how in ("mean", "geometric"):
            added = np.log(values[:, column]) if how == "geometric" else values[:, column]
            values[rows_left_out(sign * added, weight, optional), column] = np.nan
    return values


def rows_left_out(values: np.ndarray, weights: np.ndarray, optional: np.ndarray) -> np.ndarray:
    """The optional rows without which the weighted mean of all others is smallest: those above a threshold."""
    fixed = ~optional & ~np.isnan(values)
    rows = np.flatnonzero(optional)
    rows = rows[np.argsort(values[rows], kind="stable")]
    sums = np.concatenate([[0.0], np.cumsum((values * weights)[rows])]) + (values * weights)[fixed].sum()
    sizes = np.concatenate([[0.0], np.cumsum(weights[rows])]) + weights[fixed].sum()
    means = np.divide(sums, sizes, out=np.full(len(sums), np.inf), where=sizes > 0.0)
    return rows[int(means.argmin()) :]
