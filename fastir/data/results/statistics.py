"""What a single run's numbers are worth: intervals of its means, and other statistics than the mean.

The queries are treated as a sample of all possible queries. An interval is for the mean that Results
have: over the same queries, with the same weights, geometric where it is. Where there is no mean, there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol, SupportsIndex, get_args

import numpy as np

from fastir.checks import check_choice, proportion, whole_number
from fastir.data.results.means import geometric_mean
from fastir.data.results.tables import Means
from fastir.engine.threads import thread_count
from fastir.errors import quote
from fastir.rendering import Cell, Table
from fastir.rendering.text import json_types
from fastir.stats._checks import LARGEST_VALUE, N_RESAMPLES
from fastir.stats.bootstrap import bootstrap_interval, weighted_bounds
from fastir.stats.clusters import Clusters, clusters_of_queries, warn_of_repeats
from fastir.stats.paired_tests import t_interval

Method = Literal["percentile", "bca", "t"]
METHODS = get_args(Method)
Statistic = Literal["median", "share_zero", "geometric"]
STATISTICS = get_args(Statistic)
AVERAGES = (
    "mean",
    "micro",
    "geometric",
    "mean_or_nan",
    "micro_or_nan",
    "geometric_or_nan",
)  # aggregates that are a mean


class Columns(Means, Protocol):
    """What this file reads of Results."""

    @property
    def _denominators(self) -> dict[str, np.ndarray]: ...

    def _column(self, name: str) -> int: ...


class MeanInterval(NamedTuple):
    """The bounds of an interval of a mean; NaN where it cannot be computed."""

    low: float
    high: float


UNKNOWN_INTERVAL = MeanInterval(math.nan, math.nan)


class IntervalOptions(NamedTuple):
    """How intervals are made, as `Results.interval` says."""

    method: Method = "percentile"
    confidence: float = 0.95
    n_resamples: Any = N_RESAMPLES  # an int once it is checked, as random_state
    random_state: Any = 0
    n_threads: SupportsIndex | None = None
    clusters: Any = None  # a mapping, or None

    def check(self) -> IntervalOptions:
        thread_count(self.n_threads, 0)
        return self._replace(
            method=check_choice("method", self.method, METHODS),
            confidence=proportion("confidence", self.confidence),
            n_resamples=whole_number("n_resamples", self.n_resamples, 1),
            random_state=whole_number("random_state", self.random_state, 0),
        )

    def __str__(self) -> str:
        """In words, for the note of a table."""
        how = "Student's t" if self.method == "t" else f"bootstrap over the queries, {self.method}"
        return f"{100 * self.confidence:g} % intervals of the means ({how})."


def interval_options(method: Any, confidence: Any) -> IntervalOptions | None:
    """The options of a table's intervals; None for a table without."""
    return None if method is None else IntervalOptions(method, confidence).check()


# ---- intervals -----------------------------------------------------------------------------------------------------
def mean_interval(results: Columns, metric: str, options: IntervalOptions) -> MeanInterval:
    """The interval of one mean; a ValueError where the metric has none. The options are checked."""
    how = results.aggregates[results.names[results._column(metric)]]
    if how not in AVERAGES:
        raise ValueError(f"metric {quote(metric)} is a sum over the queries; only a mean has an interval")
    values, weights = defined_values(results, metric, how)
    column = results.values[:, results._column(metric)]
    clusters = None
    if options.clusters is None:
        warn_of_repeats(list(results.query_ids))
    elif len(values):
        clusters = clusters_of_queries(options.clusters, results.query_ids).part(column == column)
    if how.startswith("micro"):  # a mean that its denominators weigh
        weights = results._denominators[metric][column == column] if len(values) else None
    if weights is not None:
        clusters = clusters and clusters.part(weights > 0)
        values, weights = values[weights > 0], weights[weights > 0]
    if len(values) < 2:
        return UNKNOWN_INTERVAL
    large = ~(np.abs(values) <= LARGEST_VALUE)
    if large.any():
        value = float(values[large][0])
        query_id = next(each for each, of in results.per_query(metric).items() if of == value)
        raise ValueError(f"metric {quote(metric)}: query {quote(query_id)} has the value {value:g}; it has no interval")
    geometric = how.startswith("geometric")
    values = np.log(values) if geometric else values
    if clusters is not None:
        values, weights = cluster_means(values, weights, clusters)
        if len(values) < 2:
            return UNKNOWN_INTERVAL
    low, high = bounds_of_mean(values, weights, options)
    return MeanInterval(math.exp(low), math.exp(high)) if geometric else MeanInterval(low, high)


def cluster_means(
    values: np.ndarray, weights: np.ndarray | None, clusters: Clusters
) -> tuple[np.ndarray, np.ndarray | None]:
    """The mean of each cluster, and the weights of these means, None if all are equal."""
    if weights is None and clusters.equal:
        return clusters.sums(values) / clusters.sizes, None
    totals = clusters.sums(np.ones(len(values)) if weights is None else weights)
    return clusters.sums(values if weights is None else weights * values) / totals, totals


def bounds_of_mean(values: np.ndarray, weights: np.ndarray | None, options: IntervalOptions) -> tuple[float, float]:
    """The interval of the mean of at least two finite values."""
    method, confidence, *resampling = options[:5]
    if weights is not None and (values != values[0]).any():
        return weighted_bounds(values, weights, method, confidence, *resampling)
    if method == "t":
        return t_interval(values, confidence=confidence)[1:3]
    n_resamples, random_state, n_threads = resampling
    return bootstrap_interval(
        values,
        method="bca" if method == "bca" else "percentile",
        confidence=confidence,
        n_resamples=n_resamples,
        random_state=random_state,
        n_threads=n_threads,
    )[1:3]


def defined_values(results: Columns, metric: str, how: str) -> tuple[np.ndarray, np.ndarray | None]:
    """The values that the mean of a metric is made from, and their weights: none where one is NaN and decides it."""
    values = results.values[:, results._column(metric)]
    kept = values == values
    if how.endswith("_or_nan") and not kept.all():
        kept[:] = False
    weights = results.weights
    if weights is None:
        return values[kept], None
    return values[kept], np.array([weights[query_id] for query_id in results.query_ids], float)[kept]


def mean_intervals(results: Columns, options: IntervalOptions) -> dict[str, MeanInterval | None]:
    """The interval of each mean; None for metrics that add up."""
    by_name = results.aggregates.items()
    return {name: mean_interval(results, name, options) if how in AVERAGES else None for name, how in by_name}


def intervals_as_json(results: Columns, options: IntervalOptions) -> dict[str, Any]:
    """The intervals in types that JSON has: null for NaN, and for metrics that add up."""
    bounds = {name: interval and interval._asdict() for name, interval in mean_intervals(results, options).items()}
    return json_types({"method": options.method, "confidence": options.confidence, "means": bounds})


# ---- in tables -----------------------------------------------------------------------------------------------------

Found = Sequence[MeanInterval | None]


def add_intervals(
    table: Table, row_intervals: Sequence[Found], options: IntervalOptions, digits: int, columns: bool = False
) -> Table:
    """A table of means with their intervals, which are given row by row, behind the means.

    By Student's t they are ± half their width, which a geometric mean does not have; others are in brackets. With
    `columns` they have columns of their own, low and high, for programs.
    """
    head, first = table.head, table.first
    notes = [*table.notes, str(options)]
    if not columns:
        rows = [
            [
                *row[:first],
                *(
                    cell._replace(interval=interval_text(cell, bounds, options, digits))
                    for cell, bounds in zip(row[first:], intervals, strict=True)
                ),
            ]
            for row, intervals in zip(table.rows, row_intervals, strict=True)
        ]
        return table._replace(rows=rows, notes=notes)
    with_bounds = [place for place in range(len(head) - first) if any(intervals[place] for intervals in row_intervals)]
    names = ["" if name == "mean" else f"{name} " for name in head]

    def widen(cells: Sequence[Any], more: Callable[[int], list[Any]]) -> list[Any]:
        parts = ([cell, *more(place)] if place in with_bounds else [cell] for place, cell in enumerate(cells[first:]))
        return [*cells[:first], *(cell for part in parts for cell in part)]

    def bounds_of_row(intervals: Found) -> Callable[[int], list[Cell]]:
        return lambda place: bound_cells(intervals[place], digits)

    return table._replace(
        head=widen(head, lambda place: [f"{names[first + place]}{end}" for end in MeanInterval._fields]),
        rows=[widen(row, bounds_of_row(each)) for row, each in zip(table.rows, row_intervals, strict=True)],
        notes=notes,
    )


def interval_text(cell: Cell, bounds: MeanInterval | None, options: IntervalOptions, digits: int) -> str:
    """The interval of the mean in a cell."""
    if bounds is None or bounds.low != bounds.low:
        return ""
    low, high = bounds
    middle = abs(low + high - 2 * float(cell.exact or cell.text)) <= 1e-9 * (high - low)
    if options.method == "t" and middle:
        return f"± {(high - low) / 2:.{digits}f}"
    return f"[{low:.{digits}f}, {high:.{digits}f}]"


def bound_cells(bounds: MeanInterval | None, digits: int = 4) -> list[Cell]:
    """low and high; nothing of what adds up."""
    if bounds is None:
        return [Cell(""), Cell("")]
    return [Cell(f"{bound:.{digits}f}", exact=repr(bound)) for bound in bounds]


def interval_rows(intervals: Found, digits: int = 4) -> dict[str, list[Cell]]:
    """Cells for two rows, low and high, below the row of the means."""
    ends = zip(*(bound_cells(bounds, digits) for bounds in intervals), strict=True)
    return {name: list(cells) for name, cells in zip(MeanInterval._fields, ends, strict=True)}


# ---- other statistics ----------------------------------------------------------------------------------------------
def compute_statistic(results: Columns, metric: str, statistic: Any) -> float:
    """The value of `Results.statistic`."""
    how = results.aggregates[results.names[results._column(metric)]]
    level = quantile_level(statistic)
    values, weights = defined_values(results, metric, how)
    if weights is not None and callable(statistic):
        raise ValueError("statistic: a function would not see the weights of these results")
    if weights is not None:
        values, weights = values[weights > 0], weights[weights > 0]
    if not len(values):
        return math.nan
    if callable(statistic):
        return number_from(statistic, values, metric)
    if level is not None:
        return float(np.quantile(values, level)) if weights is None else weighted_quantile(values, weights, level)
    if statistic == "share_zero":
        ones = np.ones(len(values)) if weights is None else weights
        return math.fsum(ones[values == 0]) / math.fsum(ones)
    if (values < 0).any():
        query_id = next(each for each, value in results.per_query(metric).items() if value < 0)
        raise ValueError(f"metric {quote(metric)}: query {quote(query_id)} is negative; there is no geometric mean")
    if not values.all() or np.isinf(values).any():
        return 0.0 if not values.all() else math.inf
    return geometric_mean(values.tolist(), None if weights is None else weights.tolist())


def quantile_level(statistic: Any) -> float | None:
    """The level of a quantile, None for what is no quantile; the argument is refused if it is no statistic."""
    if isinstance(statistic, Real) and not isinstance(statistic, bool):
        level = float(statistic)
        if not 0 <= level <= 1:
            raise ValueError(f"statistic: a quantile is a number from 0 to 1, got {level:g}")
        return level
    if callable(statistic):
        return None
    if not isinstance(statistic, str):
        expected = f"{', '.join(map(repr, STATISTICS))}, a number from 0 to 1, or a function"
        raise TypeError(f"statistic: expected {expected}, got {type(statistic).__name__}")
    return 0.5 if check_choice("statistic", statistic, STATISTICS) == "median" else None


def number_from(function: Callable[[np.ndarray], Any], values: np.ndarray, metric: str) -> float:
    """The value of a caller's function for a copy of the values."""
    value = function(values.copy())
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"statistic of metric {quote(metric)}: the function returned {kind}, not a number") from None


def weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The smallest value down to which lies at least this fraction of the weight, with exact sums."""
    order = np.argsort(values, kind="stable")
    from fractions import Fraction

    reached = list(accumulate(map(Fraction, weights[order].tolist())))
    least = Fraction(level) * reached[-1]
    return float(values[order[next(place for place, weight in enumerate(reached) if weight >= least)]])
