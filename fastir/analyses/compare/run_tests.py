"""Runs tested on one list of queries (all queries or a segment's), and the records of the result."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from fastir._version import __version__
from fastir.analyses.compare import run_pairs
from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.options import Options
from fastir.analyses.compare.records import IN_SEGMENTS, TESTS, Mean, Method, Pair, System, Verdict
from fastir.analyses.compare.run_pairs import (
    Intervals,
    MetricValues,
    Outcome,
    bootstrap_means,
    by_bootstrap,
    by_crossed_bootstrap,
    by_t,
)
from fastir.analyses.compare.scores import Scores
from fastir.data.results._totals import column_totals
from fastir.data.results.results import MIN_ROWS_OF_JOINT_SUMS
from fastir.errors import quote
from fastir.stats.effects import EFFECTS, detectable


class TestedRuns:
    """The outcomes of the tests of all pairs."""

    columns: list[MetricValues]  # for each metric

    def __init__(self, scores: Scores, a: np.ndarray, b: np.ndarray, options: Options) -> None:
        self.scores = scores
        self.options = options
        self.means: np.ndarray = scores.means()  # float64 of shape (n_metrics, n_runs, n_queries)
        self.columns = [
            MetricValues(metric, values, columns, scores.owner, a, b, options.effect)
            for metric, values, columns in zip(scores.metrics, self.means, scores.repeats, strict=True)
        ]

    @functools.cached_property
    def outcomes(self) -> list[Outcome]:
        """The outcome of the test of each metric, not corrected."""
        if not len(self.columns[0].a):
            return [Outcome(np.empty(0), np.empty(0, bool)) for _ in self.columns]
        if self.options.seeds == "crossed":
            return [bounds.outcome for bounds in self.intervals if bounds.outcome is not None]
        compute = getattr(run_pairs, self.options.test)
        if TESTS[self.options.test].joint:
            return compute(self.columns, self.options)
        return [compute(column, self.options) for column in self.columns]

    @functools.cached_property
    def mean_bounds(self) -> list[np.ndarray]:
        """The bounds of the means of each metric, by the bootstrap: float64 arrays of shape (2, n_runs)."""
        if self.options.interval != "t":
            return [bounds.runs for bounds in self.intervals]
        options = self.options._replace(interval="percentile")
        return [bootstrap_means(column, options) for column in self.columns]

    @functools.cached_property
    def intervals(self) -> list[Intervals]:
        """The intervals of each metric, by the method that the options name."""
        names = list(map(str, self.scores.runs))
        return [run_intervals(column, names, self.options) for column in self.columns]

    def comparison(
        self, corrected: Callable[[], tuple[list[np.ndarray], Method]], segments: dict[Any, Comparison] | None = None
    ) -> Comparison:
        """The Comparison; `corrected` returns the p-values of each metric, corrected, and the method."""
        scores = self.scores

        @functools.cache
        def conclude() -> tuple[list[list[Verdict]], list[list[Mean]], Method]:
            adjusted, method = corrected()
            verdicts = [make_verdicts(scores.runs, column, p) for column, p in zip(self.columns, adjusted, strict=True)]
            return verdicts, [make_means(scores.runs, column) for column in self.columns], method

        def conclusion() -> tuple[list[Verdict], list[Mean], Method]:
            verdicts, means, method = conclude()
            return list(itertools.chain.from_iterable(verdicts)), list(itertools.chain.from_iterable(means)), method

        def pairs() -> list[Pair]:
            options = itertools.repeat(self.options)
            made = map(make_pairs, conclude()[0], self.columns, self.outcomes, self.intervals, options)
            return list(itertools.chain.from_iterable(made))

        def systems() -> list[System]:
            return list(itertools.chain.from_iterable(map(make_systems, conclude()[1], self.columns, self.mean_bounds)))

        return Comparison(
            scores.runs,
            scores.metrics,
            scores.query_ids,
            self.means.transpose(0, 2, 1),
            conclusion,
            pairs,
            systems,
            segments,
        )

    def describe(self, baselines: tuple[Any, ...], policy: str, family: list[list[Outcome]] | None = None) -> Method:
        """The record of how the comparison was made; `family` has the outcomes of all segments."""
        scores, options, columns = self.scores, self.options, self.columns
        together = family if options.correction is not None else None
        sizes = [
            sum(int(np.count_nonzero(~np.isnan(outcome.p_values))) for outcome in of_metric)
            for of_metric in zip(*(together or [self.outcomes]), strict=True)
        ]
        exact = sum(int(outcome.exact.sum()) for outcome in self.outcomes)
        n_pairs, n_queries = len(columns) * len(columns[0].a), len(scores.query_ids)
        resampled = (TESTS[options.test].resampled and exact < n_pairs) or options.interval != "t"
        return Method(
            options.test,
            options.n_resamples if resampled else 0,
            n_pairs,
            exact,
            options.random_state,
            options.correction,
            options.family + (IN_SEGMENTS if together else ""),
            max(sizes) if options.family == "metric" else sum(sizes),
            options.confidence,
            "simultaneous" if TESTS[options.test].simultaneous else options.interval,
            EFFECTS[options.effect][0],
            policy,
            n_queries,
            scores.unshared,
            {column.metric: n_queries - column.n for column in columns if column.n < n_queries},
            options.seeds,
            baselines,
            scores.convention,
            __version__,
        )


def test_segment(segment: Hashable, scores: Scores, a: np.ndarray, b: np.ndarray, options: Options) -> TestedRuns:
    """The outcome for the queries of a segment, which errors name."""
    try:
        tested = TestedRuns(scores, a, b, options)
        _ = tested.outcomes
        return tested
    except ValueError as error:
        raise ValueError(f"segment {quote(segment)}: {error}") from None


# ---- records -------------------------------------------------------------------------------------------------------


def run_intervals(column: MetricValues, names: list[str], options: Options) -> Intervals:
    """The intervals that the options name."""
    if options.seeds == "crossed":
        return by_crossed_bootstrap(column, options, names)
    return by_t(column, options) if options.interval == "t" else by_bootstrap(column, options)


def make_verdicts(runs: list[Any], column: MetricValues, adjusted: np.ndarray) -> list[Verdict]:
    """The verdict on each pair of runs for the metric of a column, without intervals."""
    rows = zip(column.a.tolist(), column.b.tolist(), column.pair_moments.mean.tolist(), adjusted.tolist(), strict=True)
    return [Verdict(runs[a], runs[b], column.metric, difference, p) for a, b, difference, p in rows]


def make_means(runs: list[Any], column: MetricValues) -> list[Mean]:
    """The mean of each run on the metric of a column."""
    totals = column_totals(column.values.T) if column.n >= MIN_ROWS_OF_JOINT_SUMS else [None] * len(runs)
    rows = zip(column.values, totals, strict=True)
    sums = [math.fsum(values.tolist()) if total is None else total[0] for values, total in rows]
    return [Mean(run, column.metric, total / column.n) for run, total in zip(runs, sums, strict=True)]


def make_pairs(
    verdicts: list[Verdict], column: MetricValues, outcome: Outcome, intervals: Intervals, options: Options
) -> list[Pair]:
    """A record for each pair of runs on the metric of a column."""
    moments = column.pair_moments
    low, high = intervals.pairs
    if outcome.margins is not None:
        low, high = moments.mean - outcome.margins, moments.mean + outcome.margins
    notes = moments.notes()
    if outcome.notes is not None:
        notes = np.where(notes == "", outcome.notes, notes)
    wins, losses, effects = column.counts_and_effects
    smallest = moments.deviation * detectable(column.n, alpha=1 - options.confidence)
    columns = (low, high, effects, wins, column.n - wins - losses, losses)
    rows: Iterable[Any] = zip(
        verdicts,
        outcome.p_values.tolist(),
        zip(*(values.tolist() for values in columns), strict=True),
        outcome.exact.tolist(),
        smallest.tolist(),
        notes.tolist(),
        strict=True,
    )
    return [
        Pair._make((*verdict[:4], p, verdict.adjusted_p, *numbers, column.n, exact, smallest_difference, note))
        for verdict, p, numbers, exact, smallest_difference, note in rows
    ]


def make_systems(means: list[Mean], column: MetricValues, bounds: np.ndarray) -> list[System]:
    """A record for each run on the metric of a column."""
    rows = zip(means, *bounds.tolist(), strict=True)
    return [System._make((*mean, low, high, column.n)) for mean, low, high in rows]
