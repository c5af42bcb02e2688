"""All pairs of runs on one metric at once: their moments, tests and intervals, as arrays over pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastir.stats._checks import proper
from fastir.stats._resample import REPEATS, stream
from fastir.stats.anova import randomized_tukey_test, tukey_test, two_way_anova
from fastir.stats.bootstrap import (
    crossed_means,
    draws,
    resampled,
    skewness_of_mean,
    studentized_rows,
    without_variance,
)
from fastir.stats.effects import EFFECTS, Sides
from fastir.stats.grid import Grid, to_grid
from fastir.stats.paired import Moments, moments, sign_rows, signed_ranks, t_rows
from fastir.stats.randomization import Pairs, exact_pairs, resampled_pairs
from fastir.stats.resampling import seed

CELLS = 1 << 22  # differences that are held at once


class Options(NamedTuple):
    """Those of `compare_scores`, checked."""

    test: str
    n_resamples: int
    correction: str | None
    family: str
    confidence: float
    interval: str
    effect: str
    seeds: str | None
    random_state: int
    n_threads: Any

    def resampling(self) -> tuple[Any, ...]:
        return self.n_resamples, self.random_state, self.n_threads


class Outcome(NamedTuple):
    """Of a test, arrays over pairs; `margins` and `adjusted` where it has its own."""

    p: np.ndarray
    exact: np.ndarray
    notes: np.ndarray | None = None
    margins: np.ndarray | None = None
    adjusted: np.ndarray | None = None


class Group:
    """The runs' values of one metric, for the queries on which all have one.

    Attributes
    ----------
    x : float64 array of shape (n_runs, n_queries)
    taking_part : bool array over all queries
    columns : float64 array of shape (n_columns, n_queries)
        x, unless runs have several seeds that are kept apart; `owner` then says whose each is.
    a, b : int64 arrays of shape (n_pairs,)
        Rows of x.
    of : Moments
        Of the pairs' differences.
    wins, losses : int64 arrays of shape (n_pairs,)
    effects : float64 array of shape (n_pairs,)
    """

    def __init__(
        self,
        metric: str,
        means: np.ndarray,
        columns: np.ndarray,
        owner: np.ndarray,
        a: np.ndarray,
        b: np.ndarray,
        effect: str,
    ) -> None:
        self.metric: str = metric
        self.owner: np.ndarray = owner
        self.a: np.ndarray = a
        self.b: np.ndarray = b
        self.taking_part: np.ndarray = ~np.isnan(means).any(axis=0)
        if not self.taking_part.any():
            raise ValueError(f"metric {metric!r}: every query has a NaN in one of the runs, so none can be compared")
        self.x: np.ndarray = np.ascontiguousarray(means[:, self.taking_part])
        self.columns: np.ndarray = np.ascontiguousarray(columns[:, self.taking_part])
        self.n: int = self.x.shape[1]
        self.grid: Grid = to_grid(self.x)
        self.largest: np.ndarray = np.abs(self.x).max(axis=1)
        self.wins: np.ndarray = np.zeros(len(a), np.int64)
        self.losses: np.ndarray = np.zeros(len(a), np.int64)
        self.effects: np.ndarray = np.empty(len(a))
        error = two_way_anova(self.x.T).error.mean_square if effect == "anova" and min(self.x.shape) > 1 else None
        parts = [self.describe(part, effect, error) for part in self.parts()]
        self.of: Moments = Moments(self.n, *(np.concatenate(values) for values in zip(*parts, strict=True)))

    def parts(self) -> Iterator[slice]:
        """The pairs, a few at a time."""
        size = max(1, CELLS // self.n)
        for first in range(0, max(len(self.a), 1), size):
            yield slice(first, first + size)

    def differences(self, part: slice) -> tuple[np.ndarray, Moments]:
        d = self.x[self.a[part]] - self.x[self.b[part]]
        return d, moments(d, np.maximum(self.largest[self.a[part]], self.largest[self.b[part]]))

    def whole(self, part: slice) -> np.ndarray:
        return self.grid.without_noise(self.grid.whole[self.a[part]] - self.grid.whole[self.b[part]])

    def describe(self, part: slice, effect: str, error: float | None) -> tuple[Any, ...]:
        """The moments of some pairs, their wins, losses and effects being set."""
        of, whole = self.differences(part)[1], self.whole(part)
        self.wins[part], self.losses[part] = (whole > 0).sum(axis=1), (whole < 0).sum(axis=1)
        sides = Sides(self.x[self.a[part]], self.x[self.b[part]], of, whole, self.grid.loose, error)
        self.effects[part] = EFFECTS[effect][1](sides)
        return of[1:]


# ---- tests of one metric -------------------------------------------------------------------------------------------


def exactly(p: np.ndarray) -> Outcome:
    return Outcome(p, np.ones(len(p), bool))


def t(group: Group, options: Options) -> Outcome:
    return exactly(t_rows(group.of)[1])


def sign(group: Group, options: Options) -> Outcome:
    return exactly(sign_rows(group.wins, group.losses))


def wilcoxon(group: Group, options: Options) -> Outcome:
    found = [signed_ranks(d, group.grid.loose) for part in group.parts() for d in group.whole(part)]
    return Outcome(np.array([test.p_value for test in found]), np.array([test.exact for test in found]))


def bootstrap(group: Group, options: Options) -> Outcome:
    resamples = draws(group.n, max(1, len(group.a)), *options.resampling())
    found = [studentized_rows(*group.differences(part), resamples) for part in group.parts()]
    _, p, degenerate = (np.concatenate(values) for values in zip(*found, strict=True))
    notes = np.array([without_variance(count) for count in degenerate])
    return Outcome(p, np.full(len(p), resamples.listed), notes)


def tukey(group: Group, options: Options) -> Outcome:
    if group.n == 1 and options.test == "tukey":
        nothing = np.full(len(group.a), np.nan)
        return Outcome(nothing, nothing == 0, margins=nothing)
    if options.test == "tukey":
        found = tukey_test(group.x.T, confidence=options.confidence)
    else:
        n_resamples, random_state, n_threads = options.resampling()
        found = randomized_tukey_test(
            group.x.T,
            confidence=options.confidence,
            n_resamples=n_resamples,
            random_state=random_state,
            n_threads=n_threads,
        )
    size = len(group.a)
    return Outcome(
        found.p_values[group.a, group.b],
        np.full(size, found.exact),
        np.full(size, found.note),
        np.full(size, found.margin),
    )


# ---- the randomization test of all metrics: they share the signs ---------------------------------------------------


def randomization(groups: list[Group], options: Options) -> list[Outcome]:
    runs, count = len(groups[0].x), len(groups[0].a)
    rows = np.zeros((len(groups) * runs, len(groups[0].taking_part)), np.int64)
    for g, group in enumerate(groups):
        rows[g * runs : (g + 1) * runs, group.taking_part] = group.grid.whole
    of_group = np.repeat(np.arange(len(groups)), count)
    pairs = Pairs(
        rows,
        np.concatenate([g * runs + group.a for g, group in enumerate(groups)]),
        np.concatenate([g * runs + group.b for g, group in enumerate(groups)]),
        np.array([group.grid.slack() for group in groups])[of_group],
        np.array([group.grid.loose for group in groups])[of_group],
    )
    resamples = pairs.resamples(*options.resampling())
    adjusted = None
    if options.correction == "max_t":
        families = of_group if options.family == "metric" else 0 * of_group
        p, adjusted = resampled_pairs(pairs, resamples, families=families)
        exact = np.full(len(p), resamples.listed)
    else:
        p = exact_pairs(pairs, threads=resamples.threads)
        exact = ~np.isnan(p)
        if not exact.all():
            p[~exact], _ = resampled_pairs(pairs.some(~exact), resamples)
    return [
        Outcome(p[of], exact[of], adjusted=None if adjusted is None else adjusted[of])
        for of in (of_group == g for g in range(len(groups)))
    ]


def each(test: Callable[[Group, Options], Outcome]) -> Callable[[list[Group], Options], list[Outcome]]:
    return lambda groups, options: [test(group, options) for group in groups]


TESTS: dict[str, Callable[[list[Group], Options], list[Outcome]]] = {
    "t": each(t),
    "wilcoxon": each(wilcoxon),
    "sign": each(sign),
    "randomization": randomization,
    "bootstrap": each(bootstrap),
    "tukey": each(tukey),
    "randomized_tukey": each(tukey),
}
RESAMPLED = ("randomization", "bootstrap", "randomized_tukey")
SIMULTANEOUS = ("tukey", "randomized_tukey")


# ---- intervals -----------------------------------------------------------------------------------------------------


class Intervals(NamedTuple):
    """Bounds of the runs' means and of the pairs' differences; p-values of the latter if they come along."""

    runs: np.ndarray  # of shape (2, n_runs)
    pairs: np.ndarray  # of shape (2, n_pairs)
    outcome: Outcome | None = None


def by_t(group: Group, options: Options) -> Intervals:
    runs = moments(group.x, group.largest)
    of_runs, of_pairs = (
        np.array([of.mean - of.margins(options.confidence), of.mean + of.margins(options.confidence)])
        for of in (runs, group.of)
    )
    return Intervals(of_runs, of_pairs)


def by_bootstrap(group: Group, options: Options) -> Intervals:
    drawn = resampled(group.grid, draws(group.n, len(group.x), *options.resampling()))

    def bounds(a, b, of, skewness):
        if of.n == 1:
            return np.full((2, len(a)), np.nan)
        found = [
            (mean, mean) if constant else drawn.interval(i, j, skew, options.interval, options.confidence)
            for i, j, mean, constant, skew in zip(a, b, of.mean, of.constant, skewness, strict=True)
        ]
        return np.array(found).reshape(-1, 2).T

    alone = moments(group.x, group.largest)
    runs = np.arange(len(group.x))
    skewness = np.concatenate([skewness_of_mean(*group.differences(part)) for part in group.parts()])
    return Intervals(
        bounds(runs, runs * 0 - 1, alone, skewness_of_mean(group.x, alone)),
        bounds(group.a, group.b, group.of, skewness),
    )


def by_crossed_bootstrap(group: Group, options: Options, names: list[str]) -> Intervals:
    """Queries and, inside each run, seeds are drawn: percentile intervals, and the shift test of the mean."""
    columns = resampled(to_grid(group.columns), draws(group.n, len(group.columns), *options.resampling()))
    ranks = np.argsort(np.argsort(names, kind="stable"))  # a run's draws do not depend on where it stands
    streams = [stream(seed(options.random_state), REPEATS + int(rank)) for rank in ranks]
    means = crossed_means(columns, group.owner, streams)
    levels = [(1 - options.confidence) / 2, (1 + options.confidence) / 2]
    bounds, counts = np.empty((2, len(group.a))), np.empty(len(group.a), np.int64)
    for k, (i, j) in enumerate(zip(group.a, group.b, strict=True)):
        d = means[i] - means[j]
        seen = group.of.mean[k]
        bounds[:, k] = np.quantile(d, levels)
        noise = 1e-12 * max(group.largest[i], group.largest[j])
        counts[k] = np.count_nonzero(np.abs(d - seen) >= abs(seen) - noise)
    p = proper((1 + counts) / (1 + means.shape[1]))
    return Intervals(np.quantile(means, levels, axis=1), bounds, Outcome(p, np.zeros(len(p), bool)))
