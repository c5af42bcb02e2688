"""A request for bounds and its answer: block by block of queries, for each set of rules of its metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.analyses.bounds.candidates import label_levels
from fastir.analyses.bounds.differences import TwoRuns, difference_extremes
from fastir.analyses.bounds.extremes import Extremes, block_extremes
from fastir.analyses.bounds.result import Bounds
from fastir.analyses.bounds.unjudged_ranks import blocks, run_pairs, unjudged_places, unjudged_ranks
from fastir.data.rankings import JudgedRankings, evaluate_rankings, make_rankings, ranking_arrays
from fastir.data.results.results import Results, remake, select_rows
from fastir.engine.columns.rows import occurrences
from fastir.engine.measure import JUDGED
from fastir.engine.measure._grades import coded
from fastir.errors import quote
from fastir.inputs.label_arrays import LABEL_COLUMNS
from fastir.request.options import MAX_DEPTH
from fastir.request.plan import ORDER_RULES, compile_fixed, refuse_micro

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastir.analyses.bounds.unjudged_ranks import SharedDocuments
    from fastir.data.results.results import Results
    from fastir.engine.measure._grades import Grades
    from fastir.evaluation.evaluator import Evaluator
    from fastir.request.options import Options
    from fastir.request.plan import Settings

MAX_COUNTED_LABELS = 1000  # labels that are counted


class BoundsRequest:
    """A request for the bounds of a judged run: its metrics by their rules, the largest label, depth and unseen."""

    judged: JudgedRankings
    names: tuple[str, ...]
    max_label: float
    depth: int
    unseen: int
    options: Options
    weights: dict[Any, float] | None
    settings: Settings
    parts: list[tuple[list[int], Settings]]

    def __init__(
        self,
        evaluator: Evaluator,
        judged: JudgedRankings,
        names: tuple[str, ...],
        max_label: float,
        depth: int,
        unseen: int = 0,
    ) -> None:
        self.judged, self.names, self.max_label, self.depth, self.unseen = judged, names, max_label, depth, unseen
        self.options, self.weights = evaluator.rules.settings.options, evaluator.rules.weights
        rules = {name: getattr(judged, name) for name in ORDER_RULES}
        self.settings, self.parts = compile_fixed(names, self.options, rules)
        refuse_micro(self.settings, "its bounds are not known")
        for _, part in self.parts:
            check_limits(part, max_label)
        self.grades: Grades | None = None
        if judged.ideal_labels.dtype != np.int32 or max_label != int(max_label):
            self.grades, _ = coded(judged.labels, judged.ideal_labels, np.array([max_label]))
            self.parts = [(columns, part.for_grades(self.grades)) for columns, part in self.parts]

    def code_labels(self, judged: JudgedRankings) -> JudgedRankings:
        """Judged rankings with codes of their labels, if a label is a fraction."""
        if self.grades is None:
            return judged
        label_by_code, arrays = self.grades.labels, ranking_arrays(judged)
        for name in LABEL_COLUMNS:
            labels = arrays[name]
            arrays[name] = np.where(labels < 0, -1, np.searchsorted(label_by_code, labels)).astype(np.int32)
        rules = judged.ties, judged.score_dtype, judged.duplicates
        return make_rankings(JudgedRankings, judged.query_ids, arrays, *rules, judged.report)

    def extremes(self, measure_block: Callable[..., Extremes]) -> Extremes:
        """The extremes of all queries.

        ``measure_block(settings, block, max_depth, levels)`` returns a block's values, by one set of rules.
        """
        judged = self.judged
        shape = len(judged), len(self.settings.names)
        extremes = Extremes(*(np.empty(shape, dtype) for dtype in (float, float, bool, bool)))
        labels = distinct_labels(judged.ideal_labels).tolist()
        for columns, part in self.parts:
            levels = self.levels(labels, part)
            max_depth = MAX_DEPTH if part.options.max_depth is None else part.options.max_depth
            for start, stop in blocks(judged.num_ret):
                block = measure_block(part, (start, stop), max_depth, levels)
                for array, values in zip(extremes, block, strict=True):
                    array[start:stop, columns] = values
        return extremes

    def levels(self, labels: list[int], part: Settings) -> tuple[int, ...]:
        """The labels of unjudged documents to look at; all codes if the labels of the qrels are real-valued."""
        if self.grades is None:
            return label_levels(labels, part, int(self.max_label))
        return tuple(range(len(self.grades.labels)))

    def values(self, judged: JudgedRankings, **changed: Any) -> Results:
        """The metrics of judged rankings, under these options or others."""
        return evaluate_rankings(judged, self.names, self.options._replace(**changed), self.weights)

    def bounds(self, value: Results, extremes: Extremes, **rest: Any) -> Bounds:
        """The Bounds of a value."""
        depth = None if self.depth == MAX_DEPTH else self.depth
        lower, upper, outer = both_sides(value, extremes, self.judged)
        return Bounds(value, lower, upper, outer, self.judged, self.max_label, depth, unseen=self.unseen, **rest)


def run_bounds(request: BoundsRequest) -> Bounds:
    """The bounds of one run."""
    judged, codes = request.judged, request.code_labels(request.judged)

    def measure_block(part: Settings, block: tuple[int, int], max_depth: int, levels: tuple[int, ...]) -> Extremes:
        unjudged = unjudged_places(codes, block, request.depth, max_depth, request.unseen)
        return block_extremes(part, unjudged_ranks(codes, block, unjudged, max_depth, part.options.judged_only), levels)

    names = judged_names(request.settings)
    options = request.options._replace(judged_only=False, convention="fastir", choices=(), ties=None)
    shares = evaluate_rankings(judged, names, options, request.weights)
    return request.bounds(
        request.values(judged),
        request.extremes(measure_block),
        condensed=request.values(judged, judged_only=True),
        coverage={text: shares[name] for text, name in zip(request.settings.names, names, strict=True)},
    )


def difference_bounds(request: BoundsRequest, second: JudgedRankings, shared: SharedDocuments) -> Bounds:
    """The bounds of the difference of two runs."""
    both = request.judged, second
    codes = request.code_labels(both[0]), request.code_labels(second)

    def measure_block(part: Settings, block: tuple[int, int], max_depth: int, levels: tuple[int, ...]) -> Extremes:
        pairs = run_pairs(codes, shared, block, request.depth, max_depth)
        return difference_extremes(part, TwoRuns(codes, block, pairs, max_depth, part.options.judged_only), levels)

    value, condensed = (
        difference(request.values(both[0], **changed), request.values(both[1], **changed))
        for changed in ({}, {"judged_only": True})
    )
    return request.bounds(value, request.extremes(measure_block), condensed=condensed, against=second)


def difference(first: Results, second: Results) -> Results:
    """The differences of their values, for the queries that both have."""
    places = {query_id: row for row, query_id in enumerate(second.query_ids)}
    rows = [row for row, query_id in enumerate(first.query_ids) if query_id in places]
    kept = first if len(rows) == len(first.query_ids) else select_rows(first, rows)
    return remake(kept, kept.values - second.values[[places[query_id] for query_id in kept.query_ids]])


def judged_names(settings: Settings) -> tuple[str, ...]:
    """For each metric, the name of judged@k with its cutoff."""
    return tuple(f"{JUDGED}@{request.cutoff}" if request.cutoff else JUDGED for request in settings.requests)


def both_sides(
    value: Results, extremes: Extremes, judged: JudgedRankings
) -> tuple[Results, Results, dict[str, list[Any]]]:
    """The smallest and the largest values as Results, and for each metric the queries with outer bounds only."""
    kept = shared_rows(value, judged)
    aggregates = list(value.aggregates.values())
    lower, upper = (
        remake(value, without_undefined(side[kept], extremes.undefined[kept], sign, aggregates, value))
        for side, sign in ((extremes.lower, 1.0), (extremes.upper, -1.0))
    )
    ids = value.query_ids
    outer = {
        name: [ids[row] for row in np.flatnonzero(extremes.outer[kept, column]).tolist()]
        for column, name in enumerate(value.names)
    }
    return lower, upper, outer


def shared_rows(value: Results, judged: JudgedRankings) -> np.ndarray:
    """The queries of judged rankings that results have."""
    if len(value.query_ids) == len(judged):
        return np.arange(len(judged))
    kept = set(value.query_ids)
    return np.array([row for row, query_id in enumerate(judged.query_ids) if query_id in kept], np.int64)


def distinct_labels(labels: np.ndarray) -> np.ndarray:
    """The different ones among labels, rising; counted where they are whole and few apart, which is sooner done."""
    low, high = labels.min(initial=0), labels.max(initial=0)
    if labels.dtype != np.int32 or int(high) - int(low) > MAX_COUNTED_LABELS:
        return np.unique(labels)
    return np.flatnonzero(occurrences(labels - low)) + low


def check_limits(settings: Settings, max_label: float) -> None:
    """Refuse metrics that no document with the largest label can have."""
    for limit, text, why in settings.label_limits:
        if max_label > limit:
            raise OverflowError(f"metric {quote(text)}: max_label={max_label} is too large for {why}")


# ---- extreme means when queries can be undefined ---------------------------------------------------------------------


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
