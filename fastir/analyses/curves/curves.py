"""Precision against recall; the area under the curve is average precision.

Each point is a value of the metrics precision@k and recall@k, or of iprec@recall, so that every input and option of
`evaluate` has its curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from fastir.checks import number, refuse_options
from fastir.data.rankings import evaluate_rankings
from fastir.data.results.exportable import Exportable
from fastir.data.results.results import Results, means_of
from fastir.engine.measure import AUC, CARDS, IPREC, NUM_REL, NUM_RET, PRECISION, RECALL
from fastir.errors import quote
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.rules import EvaluationRules
from fastir.rendering.text import counted, json_types
from fastir.request.options import OF_DOCUMENTS, choice_params

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunLike
    from fastir.evaluation.keywords import RecallCurveOptions, RocCurveOptions


# ---- tables of a curve -----------------------------------------------------------------------------------------------
POINTS = tuple(level / 10 for level in range(11))


class Curve:
    """The tables of a curve: points for every query of a run, and their average. A subclass makes a row's points."""

    __slots__ = ()
    _printed_rows: int | None = 10
    _averaged: ClassVar[str]  # the name of the average in JSON

    query_ids: list[Any]
    points: tuple[float, ...]
    area: Callable[..., float]
    interpolated: Callable[..., Any]
    _area: Callable[[int], float]
    _drawn: Callable[[int], Any]

    def _row(self, query_id: Any) -> int:
        if query_id not in self.query_ids:
            raise KeyError(f"query {quote(query_id)} was not evaluated")
        return self.query_ids.index(query_id)

    def _columns(self) -> dict[str, Any]:
        curves = list(map(self._drawn, range(len(self.query_ids))))
        ids = [query_id for query_id, curve in zip(self.query_ids, curves, strict=True) for _ in curve.rank]
        data: dict[str, Any] = {"query_id": ids}
        for name in ("rank", *self.interpolated()._fields[:2]):
            data[name] = np.concatenate([getattr(curve, name) for curve in curves] or [[]])
        return {**data, "rank": data["rank"].astype(int)}

    def _title(self) -> str:
        return f"area {self.area():.4f}, mean of {counted(len(self.query_ids), 'query', 'queries')}"

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        data: dict[str, Any] = {"area": self.area(), "points": list(self.points)}
        data[self._averaged] = self.interpolated()[1]
        if per_query:
            data["per_query"] = {
                query_id: {"area": self._area(row), **self._drawn(row)._asdict()}
                for row, query_id in enumerate(self.query_ids)
            }
        return json_types(data)


def check_options(function: str, options: Iterable[str], metrics: Collection[str]) -> None:
    """Refuse weights of documents and parameters of metrics that none of the curve's metrics reads."""
    params = {param.name for card in CARDS if card.name in metrics for param in card.params}
    never = {"average", "over_budget", "at_least_one"}  # a curve is a mean over queries, of whole rankings
    others = {*OF_DOCUMENTS, "ties_report", *choice_params()} - params | never
    refuse_options(function, options, others, f"the curve is made of {', '.join(metrics)}, which do not read it")


def evaluate_by_rank(
    qrels: QrelsLike, run: RunLike, metrics: list[str], by_rank: tuple[str, ...], options: dict[str, Any]
) -> tuple[Results, list[np.ndarray], Iterator[np.ndarray]]:
    """The Results of num_ret and other metrics, and the values and the means of further metrics at every rank.

    The run is read once. If there is one order of documents, all values follow from its judged rankings; else the run
    is held in memory and evaluated twice.
    """
    names = [NUM_RET, *metrics, *(f"{metric}@1" for metric in by_rank)]
    evaluator = Evaluator(qrels, names, **options)
    rules, n_threads = evaluator.rules, options.get("n_threads")
    rules.refuse_names(run)
    try:
        judge = rules.run_judge()
    except ValueError:  # there are several orders, or an average over all of them
        held = rules.hold_run(run)

        def evaluate(names: list[str]) -> Results:
            return EvaluationRules(rules.request(metrics=names)).evaluate_one(held, n_threads)[0]

        first, coverage = rules.evaluate_one(held, n_threads)
    else:
        rankings, coverage = judge.with_coverage(run, n_threads)

        def evaluate(names: list[str]) -> Results:
            return evaluate_rankings(rankings, tuple(names), rules.settings.options, rules.weights)

        first = evaluate(names)
    rules.warn_of_run(coverage, run)
    depth = int(first.values[:, 0].max(initial=0.0))
    ranks = range(1, max(depth, 1) + 1)
    # with the other metrics, so that each evaluation takes the parameters of all
    at_ranks = evaluate([*(f"{metric}@{rank}" for metric in by_rank for rank in ranks), *names])
    blocks = [slice(place * len(ranks), place * len(ranks) + depth) for place in range(len(by_rank))]
    means = (means_of(at_ranks, block) for block in blocks)
    return first, [at_ranks.values[:, block] for block in blocks], means


# ---- precision against recall ----------------------------------------------------------------------------------------
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
        Options of `evaluate`, except `doc_weights`, `forbidden`, `forbidden_level`, `unanswerable`, `doc_costs`,
        `doc_groups`, `target` and `ties_report`. Parameters of precision, recall and iprec are taken: empty,
        short_rankings, empty_ranking, recall_norm, rounding, unranked.

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


# ---- the receiver operating characteristic ---------------------------------------------------------------------------
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
