"""compare_scores(): values per query of several runs in, a Comparison out.

scores.py aligns the values, and pairwise.py computes on all pairs at once with the functions of `fastir.stats`; here
options are checked, p-values corrected, and records made.
"""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal, SupportsIndex

import numpy as np

from fastir._version import __version__
from fastir.checks import one_of, proportion, whole_number
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
from fastir.comparison.records import RESAMPLED, Mean, Method, Pair, System, Verdict
from fastir.comparison.scores import Scores, read_scores
from fastir.errors import FastirWarning, quote
from fastir.stats._scipy import check_scipy
from fastir.stats.corrections import METHODS, adjust
from fastir.stats.effects import EFFECTS, detectable
from fastir.threads import thread_count

FAMILIES = ("metric", "all")
INTERVALS = ("t", "percentile", "bca")
MANY_QUERIES = 1000  # queries from which on tests of ranks and signs find differences that do not matter


def compare_scores(
    runs: Mapping[Any, Any],
    metrics: str | Iterable[str] | None = None,
    *,
    baseline: Hashable | list[Hashable] = None,
    test: str = "t",
    n_resamples: SupportsIndex = 100_000,
    correction: str | None = None,
    family: Literal["metric", "all"] = "metric",
    confidence: float = 0.95,
    interval: Literal["t", "percentile", "bca"] = "t",
    effect: str = "d_z",
    queries: Literal["intersection", "zero"] | Iterable[Hashable] | None = None,
    seeds: Literal["mean", "crossed", "folds"] | None = None,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
) -> Comparison:
    """Compare runs by their values per query: which is better, by how much, and how sure that is.

    Parameters
    ----------
    runs : mapping of name to values
        Each run's `Results`, or {query_id: value}, or {metric: {query_id: value}}; a pandas Series or frame of these
        shapes; what `Results.to_dict` gives, which has the queries first and is known by the names of the metrics; a
        file that `Results.save` wrote, or what its JSON holds. Instead of the mapping, a file of the results of several
        runs. Values are aligned by query id. NaN is undefined: the query is left out for that metric, for all runs.
    metrics : str, iterable of str, or None
        The metrics to compare; None: all that the first run has. A run of bare values has one metric, which gets this
        name, or "score". Metrics that count, such as num_ret, are compared by their mean, too.
    baseline : name of a run, list of them, or None
        Compare every run with each of these; None compares all pairs.
    test : str
        All tests are paired and two-sided. ``"t"``; ``"wilcoxon"``; ``"sign"``; ``"randomization"`` (Fisher's, exact
        for few queries); ``"bootstrap"`` (shift of the studentized mean); ``"tukey"`` (honest differences over the
        residual of the two-way analysis of variance) and ``"randomized_tukey"``, which correct for the runs of a metric
        and have simultaneous intervals. ``fastir.stats`` has each for arrays, and documents it.
    n_resamples : int
        The number of resamples of tests and intervals that resample. If there are no more arrangements than this, all
        are enumerated, and p-values are exact.
    correction : str or None
        ``"holm"``, ``"bonferroni"``, ``"bh"`` (false discovery rate) or another of `fastir.stats.adjust`; ``"max_t"``
        with the randomization test. NaN p-values belong to no family.
    family : {"metric", "all"}
        Which p-values are corrected together: the p-values of each metric, or all of them.
    confidence : float
        The confidence of intervals; 1 less this is the level at which `Pair.detectable` and warnings are computed.
    interval : {"t", "percentile", "bca"}
        By Student's t, or by the bootstrap over queries. A Tukey test has its own intervals of the differences.
    effect : str
        A key of ``fastir.stats.EFFECTS``.
    queries : {"intersection", "zero"}, iterable of query ids, or None
        One rule for all runs. None: all must have the same queries. "intersection": the queries that every run has; a
        query whose status in a `Results` is missing counts as absent. "zero": the queries that any run has, with 0 for
        the runs that lack them. Or exactly these query ids.
    seeds : {"mean", "crossed", "folds"} or None
        What the members of the list are if each run is a list of values. "mean": seeds, averaged per query; the
        inference is over queries, given these seeds. "crossed": seeds, which the bootstrap draws as it draws queries;
        for ``test="bootstrap"`` and ``interval="percentile"``, and the test is then of the mean. "folds": parts of the
        queries, put together.
    random_state : int
        The same state gives the same numbers, for any number of threads and any order of queries and runs.
    n_threads : int or None
        As in `fastir.evaluate`: None uses several threads if the work is worth it.

    Returns
    -------
    Comparison
        **Undefined**, with the reason in `Pair.note`: p-values of t, bootstrap and Tukey tests are NaN for one query,
        and where differences are equal but not 0; they are 1 where all are 0. No p-value is 0.

    Raises
    ------
    NoOverlapError
        The runs' queries do not overlap as `queries` demands.
    ValueError, TypeError
        An option or a value is invalid, a metric is not a mean over the queries, or keys inside and outside of a dict
        are names of metrics.
    FormatError, OSError
        A file holds no saved results, or cannot be read.
    ImportError
        SciPy is not installed.

    Warns
    -----
    FastirWarning
        n_resamples is too small for the family; a test of ranks or signs has 1000 queries or more, where it tends to
        find differences that do not matter.

    Examples
    --------
    >>> import fastir
    >>> runs = {"a": {"q1": 0.7, "q2": 0.3, "q3": 0.2, "q4": 0.6}, "b": {"q1": 0.5, "q2": 0.1, "q3": 0.0, "q4": 0.2}}
    >>> pair, = fastir.compare_scores(runs, test="randomization").pairs
    >>> pair.p_value, pair.wins, pair.exact
    (0.125, 4, True)
    """
    options = checked_options(
        test, n_resamples, correction, family, confidence, interval, effect, seeds, random_state, n_threads
    )
    scores = read_scores(runs, metrics, queries, seeds)
    means = scores.means()
    a, b, against = chosen_pairs(scores.runs, baseline)
    groups = [
        Group(metric, values, columns, scores.owner, a, b, options.effect)
        for metric, values, columns in zip(scores.metrics, means, scores.repeats, strict=True)
    ]
    if test in ("wilcoxon", "sign") and groups[0].n >= MANY_QUERIES:
        warn(
            f"with {groups[0].n} queries the {test} test tends to find differences that do not matter; "
            "the t and randomization tests do less"
        )
    names = list(map(str, scores.runs))
    intervals = functools.cache(lambda: [intervals_of(group, names, options) for group in groups])
    if not len(a):
        outcomes = [Outcome(np.empty(0), np.empty(0, bool)) for _ in groups]
    elif options.seeds == "crossed":
        outcomes = [found.outcome for found in intervals() if found.outcome is not None]
    else:
        outcomes = TESTS[test](groups, options)
    adjusted = corrected(outcomes, options)
    verdicts = [make_verdicts(scores.runs, group, p_values) for group, p_values in zip(groups, adjusted, strict=True)]
    of_runs = [make_means(scores.runs, group) for group in groups]

    def complete() -> tuple[list[Pair], list[System]]:
        pairs = map(make_pairs, verdicts, groups, outcomes, intervals(), itertools.repeat(options))
        systems = map(make_systems, of_runs, groups, intervals())
        return list(itertools.chain.from_iterable(pairs)), list(itertools.chain.from_iterable(systems))

    return Comparison(
        scores.runs,
        scores.metrics,
        scores.query_ids,
        means.transpose(0, 2, 1),
        list(itertools.chain.from_iterable(verdicts)),
        list(itertools.chain.from_iterable(of_runs)),
        describe(scores, groups, outcomes, options, against, queries),
        complete,
    )


# ---- options -------------------------------------------------------------------------------------------------------


def checked_options(
    test: str,
    n_resamples: SupportsIndex,
    correction: str | None,
    family: str,
    confidence: float,
    interval: str,
    effect: str,
    seeds: str | None,
    random_state: SupportsIndex,
    n_threads: SupportsIndex | None,
) -> Options:
    """The options, each of them valid and all of them compatible; SciPy must be installed, before any run is read."""
    check_scipy()
    one_of("test", test, TESTS)
    one_of("correction", correction, (None, *METHODS, "max_t"))
    one_of("family", family, FAMILIES)
    one_of("interval", interval, INTERVALS)
    one_of("effect", effect, EFFECTS)
    if correction == "max_t" and test != "randomization":
        raise ValueError(f"correction='max_t' is for test='randomization', got test={test!r}")
    if correction is not None and test in SIMULTANEOUS:
        raise ValueError(f"test={test!r} corrects for the runs itself; correction must be None, got {correction!r}")
    if seeds == "crossed" and (test, interval) != ("bootstrap", "percentile"):
        raise ValueError(
            "seeds='crossed' is for test='bootstrap' with interval='percentile', "
            f"got test={test!r} and interval={interval!r}"
        )
    thread_count(n_threads, 0)
    return Options(
        test,
        whole_number("n_resamples", n_resamples, 1),
        correction,
        family,
        proportion("confidence", confidence),
        interval,
        effect,
        seeds,
        whole_number("random_state", random_state, 0),
        n_threads,
    )


def chosen_pairs(runs: list[Any], baseline: Any) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
    """Rows of the pairs, and the baselines."""
    if baseline is None:
        a, b = np.triu_indices(len(runs), 1)
        return a, b, ()
    against = tuple(baseline) if isinstance(baseline, list) else (baseline,)
    for name in against:
        if name not in runs:
            raise ValueError(f"baseline {quote(name)} is no run; the runs are {', '.join(map(repr, runs[:10]))}")
    rows = [(a, runs.index(name)) for name in against for a in range(len(runs)) if runs[a] != name]
    a, b = np.array(rows, np.int64).reshape(-1, 2).T
    return a, b, against


# ---- results -------------------------------------------------------------------------------------------------------


def intervals_of(group: Group, names: list[str], options: Options) -> Intervals:
    """The intervals that were asked for."""
    if options.seeds == "crossed":
        return by_crossed_bootstrap(group, options, names)
    return by_t(group, options) if options.interval == "t" else by_bootstrap(group, options)


def corrected(outcomes: list[Outcome], options: Options) -> list[np.ndarray]:
    """The adjusted p-values of each metric."""
    if options.correction is None or options.correction == "max_t":
        return [outcome.p_values if outcome.adjusted is None else outcome.adjusted for outcome in outcomes]
    families = [[outcome] for outcome in outcomes] if options.family == "metric" else [outcomes]
    for family in families:
        p = np.concatenate([outcome.p_values for outcome in family])
        size = np.count_nonzero(~np.isnan(p))
        needed = math.ceil(size / (1 - options.confidence) - 1 - 1e-9)
        drawn = options.test in RESAMPLED and not all(outcome.exact.all() for outcome in family)
        if drawn and options.n_resamples < needed:
            warn(
                f"with n_resamples={options.n_resamples} no corrected p-value of a family of {size} can be below "
                f"{1 - options.confidence:.3g}; that takes {needed}"
            )
            break
    adjusted = [
        adjust(
            np.concatenate([outcome.p_values for outcome in family]), options.correction, alpha=1 - options.confidence
        )
        for family in families
    ]
    return np.split(np.concatenate(adjusted), len(outcomes))


def warn(message: str) -> None:
    warnings.warn(message, FastirWarning, stacklevel=4)


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


def describe(
    scores: Scores,
    groups: list[Group],
    outcomes: list[Outcome],
    options: Options,
    against: tuple[Any, ...],
    queries: Any,
) -> Method:
    """The record of how the comparison was made."""
    sizes = [int(np.count_nonzero(~np.isnan(outcome.p_values))) for outcome in outcomes]
    policy = queries if isinstance(queries, str) else "same" if queries is None else "chosen"
    exact, n_pairs = sum(int(outcome.exact.sum()) for outcome in outcomes), len(groups) * len(groups[0].a)
    resampled = (options.test in RESAMPLED and exact < n_pairs) or options.interval != "t"
    left_out = {group.metric: len(scores.query_ids) - group.n for group in groups if group.n < len(scores.query_ids)}
    return Method(
        options.test,
        options.n_resamples if resampled else 0,
        n_pairs,
        exact,
        options.random_state,
        options.correction,
        options.family,
        max(sizes) if options.family == "metric" else sum(sizes),
        options.confidence,
        "simultaneous" if options.test in SIMULTANEOUS else options.interval,
        EFFECTS[options.effect][0],
        policy,
        len(scores.query_ids),
        scores.unshared,
        left_out,
        options.seeds,
        against,
        scores.convention,
        __version__,
    )
