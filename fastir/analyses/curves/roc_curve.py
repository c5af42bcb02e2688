"""The receiver operating characteristic: relevant documents that are found against others, rank by rank.

As for precision against recall, each point comes from a value of a metric, here precision@k, and the area is `auc`.
So every input and option of `evaluate` has its curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.curves.recall_curve import POINTS, Curve, check_options, evaluate_by_rank
from fastir.checks import number
from fastir.data.results.exportable import Exportable
from fastir.engine.measure import AUC, PRECISION

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import RocCurveOptions

WHOLE = 1e-9  # how near a count is to its whole number, unless ties are averaged


class RocPoints(NamedTuple):
    """Points of a curve, from (0, 0) to (1, 1).

    Attributes
    ----------
    false_positive_rate, true_positive_rate : float64 array of shape (n_points,)
        The fraction of the retrieved documents without relevance, and with relevance, that have been seen.
    rank : int64 array of shape (n_points,), or None
        From 0, above the first document; None for points between ranks.
    """

    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    rank: np.ndarray | None = None


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RocCurve(Curve, Exportable):
    """The ROC curve of every query of a run; made by `roc_curve`.

    A query has no curve if all or none of its retrieved documents are relevant: its rates are NaN.

    Attributes
    ----------
    query_ids : list
    hits : float64 array of shape (n_queries, depth)
        How many relevant documents are retrieved down to each rank; the expected number with ``ties="average"``.
    num_ret : float64 array of shape (n_queries,)
    areas : float64 array of shape (n_queries,)
        The values of auc.
    mean_area : float
        The mean of auc.
    points : tuple of float
        The false positive rates at which the curves are averaged.
    mean : RocPoints
        The mean true positive rate at the points, over the queries that have a curve.
    """

    _averaged = "true_positive_rate"

    query_ids: list[Any]
    hits: np.ndarray
    num_ret: np.ndarray
    areas: np.ndarray
    mean_area: float
    points: tuple[float, ...]
    mean: RocPoints

    def at_ranks(self, query_id: Any) -> RocPoints:
        """Both rates above the first rank and after every rank.

        Raises
        ------
        KeyError
            The query was not evaluated. All methods raise it.
        """
        return self._drawn(self._row(query_id))

    def interpolated(self, query_id: Any = None) -> RocPoints:
        """The highest true positive rate at each point; None: the mean over the queries."""
        if query_id is None:
            return self.mean
        points = np.array(self.points, float)
        return RocPoints(points, at_points(self.at_ranks(query_id), points))

    def area(self, query_id: Any = None) -> float:
        """The area under the straight lines through the points of `at_ranks`: auc, or its mean.

        **Undefined** as auc: NaN, or 0 with ``one_class="zero"``, if all or none of the retrieved documents are
        relevant. With more points, the area under `mean` tends to the mean area.
        """
        return self.mean_area if query_id is None else self._area(self._row(query_id))

    def _drawn(self, row: int) -> RocPoints:
        return rates(self.hits, self.num_ret, row)

    def _area(self, row: int) -> float:
        return float(self.areas[row])


def rates(hits: np.ndarray, num_ret: np.ndarray, row: int) -> RocPoints:
    """The curve of a row, from rank 0."""
    n = int(num_ret[row])
    rank = np.arange(n + 1)
    n_hits = np.concatenate([[0.0], hits[row, :n]])
    if not 0 < n_hits[-1] < n:
        return RocPoints(np.full(n + 1, np.nan), np.full(n + 1, np.nan), rank)
    return RocPoints((rank - n_hits) / (n - n_hits[-1]), n_hits / n_hits[-1], rank)


def at_points(curve: RocPoints, points: np.ndarray) -> np.ndarray:
    """The highest true positive rate at false positive rates, on straight lines between the ranks."""
    false, true, _ = curve
    last = np.searchsorted(false, points, side="right") - 1
    following = np.minimum(last + 1, len(false) - 1)
    width = np.where(following > last, false[following] - false[last], 1.0)
    return np.asarray(true[last] + (true[following] - true[last]) * (points - false[last]) / width)


def roc_curve(
    qrels: QrelsLike, run: RunLike, points: Iterable[float] = POINTS, **options: Unpack[RocCurveOptions]
) -> RocCurve:
    """Compute the receiver operating characteristic (ROC) of every query, and the average.

    Both rates are over the documents that a query retrieved, as scikit-learn's are over the documents it is given.
    Unjudged documents count as not relevant.

    Parameters
    ----------
    qrels, run
        As in `evaluate`.
    points : iterable of float
        The false positive rates at which the curves are averaged, from 0 to 1, in any order.
    **options
        Options of `evaluate`, as for `precision_recall_curve`, with the parameters of precision and auc: empty,
        short_rankings, empty_ranking, one_class. With ``ties="average"`` a group of equal scores becomes one straight
        line, as in scikit-learn.

    Returns
    -------
    RocCurve

    Raises
    ------
    ValueError
        A point is not a number from 0 to 1.
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, OverflowError, OSError
        As by `evaluate`.

    Notes
    -----
    **Undefined** if all or none of the retrieved documents are relevant: such a query has no curve, and the mean leaves
    it out. The area of a query is its auc; the mean area is the mean of auc.

    Examples
    --------
    >>> import fastir
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    >>> curve = fastir.roc_curve(qrels, run)
    >>> curve.at_ranks("q").false_positive_rate.tolist(), curve.at_ranks("q").true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    >>> curve.area("q") == fastir.evaluate(qrels, run, "auc")["auc"] == 0.75
    True
    """
    check_options("roc_curve", options, (PRECISION, AUC))
    at = tuple(number("points", point, 0.0) for point in points)
    above = [point for point in at if point > 1]
    if above:
        raise ValueError(f"points: a rate is a number from 0 to 1, got {above[0]:g}")
    first, (precision,), _ = evaluate_by_rank(qrels, run, [AUC], (PRECISION,), {**options})
    num_ret, areas = first.values[:, :2].T
    hits = precision * np.arange(1, precision.shape[1] + 1)
    whole = np.rint(hits)
    hits = np.where(np.abs(hits - whole) <= WHOLE, whole, hits)
    counts = first.weights or dict.fromkeys(first.query_ids, 1.0)
    mean = mean_curve(hits, num_ret, np.array(at, float), [counts[query_id] for query_id in first.query_ids])
    return RocCurve(list(first.query_ids), hits, num_ret, areas, first[AUC], at, mean)


def mean_curve(hits: np.ndarray, num_ret: np.ndarray, points: np.ndarray, weights: list[float]) -> RocPoints:
    """The weighted mean of the curves that are defined, at the points; NaN if none is."""
    weighted = [
        (weight, at_points(curve, points).tolist())
        for row, weight in enumerate(weights)
        if (curve := rates(hits, num_ret, row)).true_positive_rate[-1] == 1
    ]
    total = math.fsum(weight for weight, _ in weighted)
    means = [
        math.fsum(weight * curve[place] for weight, curve in weighted) / total if total else math.nan
        for place in range(len(points))
    ]
    return RocPoints(points, np.array(means))
