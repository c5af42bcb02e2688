"""Precision against recall: the curve whose area is average precision.

Each point is a value of the metrics precision@k and recall@k, or of iprec@recall, so that every input and option of
`evaluate` has its curve.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.checks import refuse_options
from fastir.data.results.exportable import Exportable
from fastir.engine.measure import CARDS, IPREC, NUM_REL, NUM_RET, PRECISION, RECALL
from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator
from fastir.rendering.text import counted, json_types
from fastir.request.options import choice_params

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.results.results import Results
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import RecallCurveOptions

POINTS = tuple(level / 10 for level in range(11))


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
class PrecisionRecallCurve(Exportable):
    """Precision and recall of a run at every rank; made by `precision_recall_curve`.

    In every method, None as `query_id` stands for the average over the queries, as in `Results`: of the precision and
    the recall at each rank, or of the interpolated precision at each point.

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

    _printed_rows = 10

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

    def _columns(self) -> dict[str, Any]:
        curves = [changes(self._at_ranks(row)) for row in range(len(self.query_ids))]
        ids = [query_id for query_id, curve in zip(self.query_ids, curves, strict=True) for _ in curve.recall]
        data: dict[str, Any] = {"query_id": ids}
        for name in ("rank", "recall", "precision"):
            data[name] = np.concatenate([getattr(curve, name) for curve in curves] or [[]])
        return {**data, "rank": data["rank"].astype(int)}

    def _title(self) -> str:
        return f"area {self.area():.4f}, mean of {counted(len(self.query_ids), 'query', 'queries')}"

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {"area": self.area(), "points": list(self.points)}
        data["interpolated_precision"] = self.interpolated().precision
        if per_query:
            data["per_query"] = {
                query_id: {"area": self._area(row), **changes(self._at_ranks(row))._asdict()}
                for row, query_id in enumerate(self.query_ids)
            }
        return json_types(data)

    def _row(self, query_id: Any) -> int:
        if query_id not in self.query_ids:
            raise KeyError(f"query {quote(query_id)} was not evaluated")
        return self.query_ids.index(query_id)

    def _at_ranks(self, row: int) -> CurvePoints:
        n = int(self.num_ret[row])
        return CurvePoints(self.recall[row, :n], self.precision[row, :n], np.arange(1, n + 1))

    def _area(self, row: int) -> float:
        total = 0.0
        for precision in changes(self._at_ranks(row)).precision.tolist():
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
        As in `evaluate`; the run is read twice.
    points : iterable of float
        The recall points of the interpolated curve, from 0 to 1, in any order.
    **options
        Options of `evaluate`, except `doc_weights`. Parameters of metrics are those of precision, recall and iprec:
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
    **Undefined**: recall is 0 without relevant documents. A query that the run lacks is an empty ranking. The area
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
    first = Evaluator(qrels, [NUM_RET, NUM_REL, *interpolated], **options).evaluate(run)
    depth = int(first.values[:, 0].max(initial=0.0))
    names = [[f"{metric}@{rank}" for rank in range(1, max(depth, 1) + 1)] for metric in (PRECISION, RECALL)]
    # evaluate() would warn of missing queries once more
    second = Evaluator(qrels, names[0] + names[1], **options)._evaluate_one(run, options.get("n_threads"))[0]
    (precision, mean_precision), (recall, mean_recall) = (columns(second, part[:depth]) for part in names)
    at_points, mean_at_points = columns(first, interpolated)
    return PrecisionRecallCurve(
        list(first.query_ids),
        precision,
        recall,
        at_points,
        at,
        first.values[:, 0],
        first.values[:, 1],
        (
            CurvePoints(mean_recall, mean_precision, np.arange(1, depth + 1)),
            CurvePoints(np.array(at, float), mean_at_points),
        ),
    )


def check_options(function: str, options: Iterable[str], metrics: Collection[str]) -> None:
    """Refuse weights of documents and parameters of metrics that none of the curve's metrics reads."""
    params = {param.name for card in CARDS if card.name in metrics for param in card.params}
    others = {"doc_weights", *choice_params()} - params
    refuse_options(function, options, others, f"the curve is made of {', '.join(metrics)}, which do not read it")


def columns(results: Results, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The values of metrics, a column for each name, and their means."""
    places = {name: place for place, name in enumerate(results.names)}
    return results.values[:, [places[name] for name in names]], np.array([results[name] for name in names])
