"""All pairs of runs on one metric at once: their moments, tests and intervals, as arrays over pairs."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from fastir.analyses.compare.options import Options
from fastir.declared import Record
from fastir.engine.columns.rows import repeat
from fastir.request.directions import higher_is_better
from fastir.stats._checks import proper
from fastir.stats._resample import REPEATS, stream
from fastir.stats.anova import Tukey, randomized_tukey_test, tukey_test, two_way_anova
from fastir.stats.bootstrap import (
    Centred,
    Resampled,
    centre_rows,
    crossed_means,
    draws,
    resample_sums,
    skewness_of_mean,
    studentized_rows,
    without_variance,
)
from fastir.stats.clusters import Clusters
from fastir.stats.effects import EFFECTS, Effect, Sides
from fastir.stats.grid import Grid, to_grid
from fastir.stats.paired_tests import Moments, moments, sign_rows, signed_ranks, t_rows
from fastir.stats.randomization import Pairs, exact_pairs, resampled_pairs
from fastir.stats.resampling import seed

BLOCK_CELLS = 1 << 22  # differences that are in memory at a time


class Outcome(Record):
    """The result of a test, as arrays over pairs; `margins` and `adjusted` if the test has its own."""

    p_values: np.ndarray
    exact: np.ndarray
    notes: np.ndarray | None = None
    margins: np.ndarray | None = None
    adjusted: np.ndarray | None = None


class MetricValues:
    """The runs' values of one metric, for the queries on which all have one, and the pairs that are compared."""

    def __init__(
        self,
        metric: str,
        means: np.ndarray,
        columns: np.ndarray,
        owner: np.ndarray,
        a: np.ndarray,
        b: np.ndarray,
        effect: Effect,
        clusters: Clusters | None = None,
    ) -> None:
        self.metric: str = metric
        self.owner: np.ndarray = owner  # the run that each of the columns belongs to
        self.a: np.ndarray = a  # with b the rows of `values` that make each pair
        self.b: np.ndarray = b
        self.taking_part: np.ndarray = ~np.isnan(means).any(axis=0)  # over all queries
        if not self.taking_part.any():
            raise ValueError(f"metric {metric!r}: every query has a NaN in one of the runs, so none can be compared")
        self.all_clusters: Clusters | None = clusters  # of all queries; `clusters` of those that take part
        if not self.taking_part.all():
            clusters = clusters and clusters.part(self.taking_part)
            means, columns = means[:, self.taking_part], columns[:, self.taking_part]
        self.values: np.ndarray = np.ascontiguousarray(means)  # of shape (n_runs, n_queries)
        self.columns: np.ndarray = np.ascontiguousarray(columns)  # the same, or a column per seed of a run
        self.clusters: Clusters | None = clusters
        self.n: int = self.values.shape[1]
        self.largest: np.ndarray = np.abs(self.values).max(axis=1)
        self.effect: Effect = effect
        parts = [self.differences(part)[1][1:4] for part in self.parts()]
        mean, deviation, constant = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        self.pair_moments: Moments = Moments(self.n_drawn, mean, deviation, constant, clusters is not None)

    @property
    def n_drawn(self) -> int:
        """How many queries, or clusters, a resample draws."""
        return self.n if self.clusters is None else len(self.clusters.sizes)

    @functools.cached_property
    def grid(self) -> Grid:
        """The values as whole numbers."""
        return to_grid(self.values)

    @functools.cached_property
    def counts_and_effects(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The wins and losses of each pair, int64 of shape (n_pairs,), and its effect, float64."""
        crossed = self.effect == "anova" and min(self.values.shape) > 1
        error = two_way_anova(self.values.T).error.mean_square if crossed else None
        wins, losses, effects = zip(*(self.describe(part, error) for part in self.parts()), strict=True)
        return np.concatenate(wins), np.concatenate(losses), np.concatenate(effects)

    def parts(self) -> Iterator[slice]:
        """The pairs, a few at a time."""
        size = max(1, BLOCK_CELLS // self.n)
        for first in range(0, max(len(self.a), 1), size):
            yield slice(first, first + size)

    def differences(self, part: slice) -> tuple[np.ndarray, Moments]:
        """The differences of some pairs, a row each, and their moments."""
        d = self.values[self.a[part]] - self.values[self.b[part]]
        return d, moments(d, self.magnitudes(part), self.clusters)

    def magnitudes(self, part: slice) -> np.ndarray:
        """The largest magnitude that went into the differences of some pairs."""
        return np.maximum(self.largest[self.a[part]], self.largest[self.b[part]])

    def center(self, part: slice) -> tuple[Centred, Moments]:
        """The differences of some pairs, ready for resampling, and their moments."""
        d, of = self.differences(part)
        whole, largest = self.grid_differences(part), self.magnitudes(part)
        return centre_rows(d, whole, self.grid.loose, largest, self.clusters), of

    def grid_differences(self, part: slice) -> np.ndarray:
        """The differences as whole numbers of the grid's unit; 0 where only rounding differs."""
        return self.grid.without_noise(self.grid.whole[self.a[part]] - self.grid.whole[self.b[part]])

    def describe(self, part: slice, error: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The wins, losses and effects of some pairs."""
        whole = self.grid_differences(part)
        _, mean, deviation, constant, clustered = self.pair_moments
        of_part = Moments(self.n, mean[part], deviation[part], constant[part])
        if clustered:  # effects are by query
            of_part = moments(self.values[self.a[part]] - self.values[self.b[part]], self.magnitudes(part))
        better = -whole if higher_is_better(self.metric) is False else whole
        sides = Sides(self.values[self.a[part]], self.values[self.b[part]], of_part, whole, self.grid.loose, error)
        return (better > 0).sum(axis=1), (better < 0).sum(axis=1), EFFECTS[self.effect][1](sides)


# ---- tests of one metric, by their names in `records.TESTS` ----------------------------------------------------------
def t(column: MetricValues, options: Options) -> Outcome:
    return Outcome(t_rows(column.pair_moments)[1], np.zeros(len(column.a), bool))


def sign(column: MetricValues, options: Options) -> Outcome:
    return Outcome(sign_rows(*column.counts_and_effects[:2]), np.ones(len(column.a), bool))


def wilcoxon(column: MetricValues, options: Options) -> Outcome:
    tests = [signed_ranks(d, column.grid.loose) for part in column.parts() for d in column.grid_differences(part)]
    return Outcome(np.array([test.p_value for test in tests]), np.array([test.exact for test in tests]))


def bootstrap(column: MetricValues, options: Options) -> Outcome:
    resamples = draws(column.n_drawn, max(1, len(column.a)), *options.resampling())
    tests = [studentized_rows(*column.center(part), resamples) for part in column.parts()]
    _, p, degenerate = (np.concatenate(values) for values in zip(*tests, strict=True))
    notes = np.array([without_variance(count) for count in degenerate])
    return Outcome(p, np.full(len(p), resamples.listed), notes)


def tukey(column: MetricValues, options: Options) -> Outcome:
    if column.n == 1:
        nothing = np.full(len(column.a), np.nan)
        return Outcome(nothing, nothing == 0, margins=nothing)
    return of_all_runs(column, tukey_test(column.values.T, confidence=options.confidence))


def randomized_tukey(column: MetricValues, options: Options) -> Outcome:
    n_resamples, random_state, n_threads = options.resampling()
    outcome = randomized_tukey_test(
        column.values.T,
        confidence=options.confidence,
        n_resamples=n_resamples,
        random_state=random_state,
        n_threads=n_threads,
    )
    return of_all_runs(column, outcome)


def of_all_runs(column: MetricValues, outcome: Tukey) -> Outcome:
    """The pairs' part of a test of all runs together."""
    size = len(column.a)
    return Outcome(
        outcome.p_values[column.a, column.b],
        np.full(size, outcome.exact),
        np.full(size, outcome.note),
        np.full(size, outcome.margin),
    )


# ---- the randomization test of all metrics: they share the signs ---------------------------------------------------
def randomization(columns: list[MetricValues], options: Options) -> list[Outcome]:
    runs, count = len(columns[0].values), len(columns[0].a)
    rows = np.zeros((len(columns) * runs, len(columns[0].taking_part)), np.int64)
    for place, column in enumerate(columns):
        rows[place * runs : (place + 1) * runs, column.taking_part] = column.grid.whole
    column_places = repeat(np.arange(len(columns)), count)
    clusters = columns[0].all_clusters
    rows, largest = (rows, 1) if clusters is None else (clusters.sums(rows), int(clusters.sizes.max()))
    pairs = Pairs(
        rows,
        np.concatenate([place * runs + column.a for place, column in enumerate(columns)]),
        np.concatenate([place * runs + column.b for place, column in enumerate(columns)]),
        np.array([column.grid.slack() for column in columns])[column_places],
        np.array([column.grid.loose * largest for column in columns])[column_places],
    )
    resamples = pairs.resamples(*options.resampling())
    adjusted = None
    if options.correction == "max_t":
        families = column_places if options.family == "metric" else 0 * column_places
        p, adjusted = resampled_pairs(pairs, resamples, families=families)
        exact = np.full(len(p), resamples.listed)
    else:
        p = exact_pairs(pairs, threads=resamples.threads)
        exact = ~np.isnan(p)
        if not exact.all():
            p[~exact], _ = resampled_pairs(pairs.some(~exact), resamples)
    return [
        Outcome(p[part], exact[part], adjusted=None if adjusted is None else adjusted[part])
        for part in (column_places == place for place in range(len(columns)))
    ]


# ---- intervals -----------------------------------------------------------------------------------------------------
class Intervals(Record):
    """The bounds of the pairs' differences and of the runs' means; `outcome` if the same draws also test the pairs."""

    pairs: np.ndarray  # of shape (2, n_pairs)
    runs: np.ndarray = np.empty((2, 0))  # of shape (2, n_runs); Student's are of differences alone
    outcome: Outcome | None = None


def by_t(column: MetricValues, options: Options) -> Intervals:
    """Student's intervals of the differences."""
    differences = column.pair_moments
    margins = differences.margins(options.confidence)
    return Intervals(np.array([differences.mean - margins, differences.mean + margins]))


def by_bootstrap(column: MetricValues, options: Options) -> Intervals:
    """Intervals over queries that are drawn with replacement."""
    drawn = draw_queries(column, options)
    parts = (column.differences(part) for part in column.parts())
    skewness = np.concatenate([skewness_of_mean(*part, column.clusters) for part in parts])
    pairs = drawn_bounds(drawn, column.a, column.b, column.pair_moments, skewness, options)
    return Intervals(pairs, bootstrap_means(column, options, drawn))


def bootstrap_means(column: MetricValues, options: Options, drawn: Resampled | None = None) -> np.ndarray:
    """The bounds of the runs' means: float64 array of shape (2, n_runs)."""
    alone, runs = moments(column.values, column.largest, column.clusters), np.arange(len(column.values))
    drawn = draw_queries(column, options) if drawn is None else drawn
    skewness = skewness_of_mean(column.values, alone, column.clusters)
    return drawn_bounds(drawn, runs, runs * 0 - 1, alone, skewness, options)


def draw_queries(column: MetricValues, options: Options) -> Resampled:
    resamples = draws(column.n_drawn, len(column.values), *options.resampling())
    return resample_sums(column.grid, resamples, column.clusters)


def drawn_bounds(
    drawn: Resampled, a: np.ndarray, b: np.ndarray, side: Moments, skewness: np.ndarray, options: Options
) -> np.ndarray:
    """The bounds of the means, where b is -1, or of the differences of rows."""
    if side.n == 1:
        return np.full((2, len(a)), np.nan)
    intervals = [
        (mean, mean) if constant else drawn.interval(i, j, skew, options.interval, options.confidence)
        for i, j, mean, constant, skew in zip(a, b, side.mean, side.constant, skewness, strict=True)
    ]
    return np.array(intervals).reshape(-1, 2).T


def by_crossed_bootstrap(column: MetricValues, options: Options, names: list[str]) -> Intervals:
    """Queries and, inside each run, seeds are drawn: percentile intervals, and the shift test of the mean."""
    columns = resample_sums(to_grid(column.columns), draws(column.n, len(column.columns), *options.resampling()))
    ranks = np.argsort(np.argsort(names, kind="stable"))  # a run's draws do not depend on its position
    streams = [stream(seed(options.random_state), REPEATS + int(rank)) for rank in ranks]
    means = crossed_means(columns, column.owner, streams)
    levels = [(1 - options.confidence) / 2, (1 + options.confidence) / 2]
    bounds, counts = np.empty((2, len(column.a))), np.empty(len(column.a), np.int64)
    for k, (i, j) in enumerate(zip(column.a, column.b, strict=True)):
        d = means[i] - means[j]
        seen = column.pair_moments.mean[k]
        bounds[:, k] = np.quantile(d, levels)
        noise = 1e-12 * max(column.largest[i], column.largest[j])
        counts[k] = np.count_nonzero(np.abs(d - seen) >= abs(seen) - noise)
    p = proper((1 + counts) / (1 + means.shape[1]))
    return Intervals(bounds, np.quantile(means, levels, axis=1), Outcome(p, np.zeros(len(p), bool)))
