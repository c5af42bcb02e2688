"""Runs tested on one list of queries, and the records that come of it: of all queries, or of those of a group."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from fastir._version import __version__
from fastir.comparison.comparison import Comparison
from fastir.comparison.pairwise import (
    SIMULTANEOUS,
    TESTS,
    Group,
    Intervals,
    Options,
    Outcome,
    by_bootstrap,
    by_crossed_bootstrap,
    by_t,
)
from fastir.comparison.records import IN_GROUPS, RESAMPLED, Mean, Method, Pair, System, Verdict
from fastir.comparison.scores import Scores
from fastir.errors import quote
from fastir.stats.effects import EFFECTS, detectable


class Tested:
    """The outcomes of the tests of all pairs.

    Attributes
    ----------
    scores : Scores
    options : Options
    means : float64 array of shape (n_metrics, n_runs, n_queries)
    columns : list of Group
        For each metric.
    outcomes : list of Outcome
        For each metric, not corrected.
    """

    def __init__(self, scores: Scores, a: np.ndarray, b: np.ndarray, options: Options) -> None:
        self.scores = scores
        self.options = options
        self.means = scores.means()
        self.columns = [
            Group(metric, values, columns, scores.owner, a, b, options.effect)
            for metric, values, columns in zip(scores.metrics, self.means, scores.repeats, strict=True)
        ]
        if not len(a):
            self.outcomes = [Outcome(np.empty(0), np.empty(0, bool)) for _ in self.columns]
        elif options.seeds == "crossed":
            self.outcomes = [found.outcome for found in self.intervals if found.outcome is not None]
        else:
            self.outcomes = TESTS[options.test](self.columns, options)

    @functools.cached_property
    def intervals(self) -> list[Intervals]:
        """Those of each metric that were asked for."""
        names = list(map(str, self.scores.runs))
        return [intervals_of(group, names, self.options) for group in self.columns]

    def comparison(
        self, adjusted: list[np.ndarray], method: Method, groups: dict[Any, Comparison] | None = None
    ) -> Comparison:
        """The Comparison, from the p-values of each metric, corrected."""
        scores = self.scores
        verdicts = [make_verdicts(scores.runs, group, p) for group, p in zip(self.columns, adjusted, strict=True)]
        of_runs = [make_means(scores.runs, group) for group in self.columns]

        def complete() -> tuple[list[Pair], list[System]]:
            options = itertools.repeat(self.options)
            pairs = map(make_pairs, verdicts, self.columns, self.outcomes, self.intervals, options)
            systems = map(make_systems, of_runs, self.columns, self.intervals)
            return list(itertools.chain.from_iterable(pairs)), list(itertools.chain.from_iterable(systems))

        return Comparison(
            scores.runs,
            scores.metrics,
            scores.query_ids,
            self.means.transpose(0, 2, 1),
            list(itertools.chain.from_iterable(verdicts)),
            list(itertools.chain.from_iterable(of_runs)),
            method,
            complete,
            groups,
        )

    def describe(self, against: tuple[Any, ...], policy: str, family: list[list[Outcome]] | None = None) -> Method:
        """The record of how the comparison was made; `family` has the outcomes of all groups."""
        scores, options, columns = self.scores, self.options, self.columns
        together = family if options.correction is not None else None
        sizes = [
            sum(int(np.count_nonzero(~np.isnan(outcome.p_values))) for outcome in of_metric)
            for of_metric in zip(*(together or [self.outcomes]), strict=True)
        ]
        exact = sum(int(outcome.exact.sum()) for outcome in self.outcomes)
        n_pairs, n_queries = len(columns) * len(columns[0].a), len(scores.query_ids)
        resampled = (options.test in RESAMPLED and exact < n_pairs) or options.interval != "t"
        return Method(
            options.test,
            options.n_resamples if resampled else 0,
            n_pairs,
            exact,
            options.random_state,
            options.correction,
            options.family + (IN_GROUPS if together else ""),
            max(sizes) if options.family == "metric" else sum(sizes),
            options.confidence,
            "simultaneous" if options.test in SIMULTANEOUS else options.interval,
            EFFECTS[options.effect][0],
            policy,
            n_queries,
            scores.unshared,
            {group.metric: n_queries - group.n for group in columns if group.n < n_queries},
            options.seeds,
            against,
            scores.convention,
            __version__,
        )


def tested_part(group: Hashable, scores: Scores, a: np.ndarray, b: np.ndarray, options: Options) -> Tested:
    """The same of the queries of a group, which errors name."""
    try:
        return Tested(scores, a, b, options)
    except ValueError as error:
        raise ValueError(f"group {quote(group)}: {error}") from None


# ---- records -------------------------------------------------------------------------------------------------------


def intervals_of(group: Group, names: list[str], options: Options) -> Intervals:
    """The intervals that were asked for."""
    if options.seeds == "crossed":
        return by_crossed_bootstrap(group, options, names)
    return by_t(group, options) if options.interval == "t" else by_bootstrap(group, options)


def make_verdicts(runs: list[Any], group: Group, adjusted: np.ndarray) -> list[Verdict]:
    """What is known of each pair of runs on the metric of the group without the intervals."""
    rows = zip(group.a.tolist(), group.b.tolist(), group.pair_moments.mean.tolist(), adjusted.tolist(), strict=True)
    return [Verdict(runs[a], runs[b], group.metric, difference, p) for a, b, difference, p in rows]


def make_means(runs: list[Any], group: Group) -> list[Mean]:
    """The mean of each run on the metric of the group."""
    rows = zip(runs, group.values.tolist(), strict=True)
    return [Mean(run, group.metric, math.fsum(row) / group.n) for run, row in rows]


def make_pairs(
    verdicts: list[Verdict], group: Group, outcome: Outcome, intervals: Intervals, options: Options
) -> list[Pair]:
    """A record for each pair of runs on the metric of the group."""
    moments = group.pair_moments
    low, high = intervals.pairs
    if outcome.margins is not None:
        low, high = moments.mean - outcome.margins, moments.mean + outcome.margins
    notes = moments.notes()
    if outcome.notes is not None:
        notes = np.where(notes == "", outcome.notes, notes)
    ties = group.n - group.wins - group.losses
    smallest = moments.deviation * detectable(group.n, alpha=1 - options.confidence)
    columns = (low, high, group.effects, group.wins, ties, group.losses)
    rows: Iterable[Any] = zip(
        verdicts,
        outcome.p_values.tolist(),
        zip(*(column.tolist() for column in columns), strict=True),
        outcome.exact.tolist(),
        smallest.tolist(),
        notes.tolist(),
        strict=True,
    )
    return [
        Pair._make((*verdict[:4], p, verdict.adjusted_p, *numbers, group.n, exact, found, note))
        for verdict, p, numbers, exact, found, note in rows
    ]


def make_systems(means: list[Mean], group: Group, intervals: Intervals) -> list[System]:
    """A record for each run on the metric of the group."""
    rows = zip(means, *intervals.runs.tolist(), strict=True)
    return [System._make((*mean, low, high, group.n)) for mean, low, high in rows]
