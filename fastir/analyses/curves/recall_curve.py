"""Precision against recall; the area under the curve is average precision.

Each point is a value of the metrics precision@k and recall@k, or of iprec@recall, so that every input and option of
`evaluate` has its curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.analyses.curves.by_rank import POINTS, Curve, check_options, evaluate_by_rank
from fastir.data.results.exportable import Exportable
from fastir.engine.measure import IPREC, NUM_REL, PRECISION, RECALL

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import RecallCurveOptions


class CurvePoints(NamedTuple):
    """Points of a curve, from the first rank or the lowest recall.

    Attributes
    ----------
    recall, precision : float64 array of shape (n_points,)
    rank : int64 array of shape (n_points,), or None
        From 1; None for interpolated points, which have no rank.
    """

    recall: np.ndarray
    precision: np.ndarray
    rank: np.ndarray | None = None


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PrecisionRecallCurve(Curve, Exportable):
    """Precision and recall of a run at every rank; made by `precision_recall_curve`.

    In every method, None as `query_id` means the average over the queries, as in `Results`: the mean precision and
    recall at each rank, or the mean interpolated precision at each point.

    Attributes
    ----------
    query_ids : list
    precision, recall : float64 array of shape (n_queries, depth)
        The values after each rank, down to the end of the longest ranking. Entries beyond the end of a shorter ranking
        have no meaning.
    interpolated_precision : float64 array of shape (n_queries, n_points)
    points : tuple of float
        The recall points, as given.
    num_ret, num_rel : float64 array of shape (n_queries,)
    means : tuple of CurvePoints
        The averages at every rank and at the points.
    """

    _averaged = "interpolated_precision"

    query_ids: list[Any]
    precision: np.ndarray
    recall: np.ndarray
    interpolated_precision: np.ndarray
    points: tuple[float, ...]
    num_ret: np.ndarray
    num_rel: np.ndarray
    means: tuple[CurvePoints, CurvePoints]

    def at_ranks(self, query_id: Any = None) -> CurvePoints:
        """Precision and recall after every rank.

        Raises
        ------
        KeyError
            The query was not evaluated. All methods raise it.
        """
        return self.means[0] if query_id is None else self._at_ranks(self._row(query_id))

    def raw(self, query_id: Any = None) -> CurvePoints:
        """Precision and recall after each rank at which recall changes, that is, after each relevant document."""
        return changes(self.at_ranks(query_id))

    def interpolated(self, query_id: Any = None) -> CurvePoints:
        """The highest precision at or beyond each recall point, as in iprec."""
        if query_id is None:
            return self.means[1]
        return CurvePoints(np.array(self.points), self.interpolated_precision[self._row(query_id)])

    def area(self, query_id: Any = None) -> float:
        """The area under the raw curve: average precision, or MAP for all queries.

        It is the sum, over the changes of recall, of the precision there times the change, 1 / R. **Undefined**: 0 if
        no document is relevant.
        """
        if query_id is not None:
            return self._area(self._row(query_id))
        areas = [area for area in map(self._area, range(len(self.query_ids))) if area == area]
        return math.fsum(areas) / len(areas) if areas else math.nan

    def _drawn(self, row: int) -> CurvePoints:
        return changes(self._at_ranks(row))

    def _at_ranks(self, row: int) -> CurvePoints:
        n = int(self.num_ret[row])
        return CurvePoints(self.recall[row, :n], self.precision[row, :n], np.arange(1, n + 1))

    def _area(self, row: int) -> float:
        total = 0.0
        for precision in self._drawn(row).precision.tolist():
            total += precision  # in the order of the ranks, as average precision adds up
        return float(total / self.num_rel[row]) if self.num_rel[row] else 0.0


def changes(curve: CurvePoints) -> CurvePoints:
    """The points at which the recall changes."""
    kept = np.diff(curve.recall, prepend=0.0) != 0
    return CurvePoints(curve.recall[kept], curve.precision[kept], None if curve.rank is None else curve.rank[kept])


def precision_recall_curve(
    qrels: QrelsLike, run: RunLike, points: Iterable[float] = POINTS, **options: Unpack[RecallCurveOptions]
) -> PrecisionRecallCurve:
    """Compute precision against recall, raw and interpolated, for every query and on average.

    Parameters
    ----------
    qrels, run
        As in `evaluate`.
    points : iterable of float
        The recall points of the interpolated curve, from 0 to 1, in any order.
    **options
        Options of `evaluate`, except `doc_weights`. Parameters of precision, recall and iprec are taken:
        empty, short_rankings, empty_ranking, recall_norm, rounding, unranked.

    Returns
    -------
    PrecisionRecallCurve

    Raises
    ------
    UnknownMetricError
        A recall point is not a number from 0 to 1.
    FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate`.

    Notes
    -----
    **Undefined**: recall is 0 without relevant documents. A query missing from the run is an empty ranking. The area
    under the raw curve is average precision; the area under the interpolated curve is larger.

    Examples
    --------
    >>> import fastir
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> curve = fastir.precision_recall_curve(qrels, run)
    >>> curve.raw("q").recall.tolist(), curve.raw("q").rank.tolist()
    ([0.5, 1.0], [1, 3])
    >>> curve.area("q") == fastir.evaluate(qrels, run, "map")["map"]
    True
    """
    check_options("precision_recall_curve", options, (PRECISION, RECALL, IPREC))
    at = tuple(points)
    interpolated = [f"{IPREC}@{point!r}" if type(point) is float else f"{IPREC}@{point}" for point in at]
    first, values, means = evaluate_by_rank(qrels, run, [NUM_REL, *interpolated], (PRECISION, RECALL), {**options})
    (precision, recall), (mean_precision, mean_recall) = values, means
    places = [first.names.index(name) for name in interpolated]
    return PrecisionRecallCurve(
        list(first.query_ids),
        precision,
        recall,
        first.values[:, places],
        at,
        first.values[:, 0],
        first.values[:, 1],
        (
            CurvePoints(mean_recall, mean_precision, np.arange(1, len(mean_recall) + 1)),
            CurvePoints(np.array(at, float), np.array([first[name] for name in interpolated])),
        ),
    )
