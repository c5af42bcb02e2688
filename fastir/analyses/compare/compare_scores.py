"""compare_scores(): values per query of several runs in, a Comparison out.

options.py checks the options, scores.py aligns the values, run_pairs.py computes on all pairs at once with the
functions of `fastir.stats`; here p-values are corrected, and records made.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir._version import __version__
from fastir.analyses.compare import run_pairs
from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.options import CorrectionOfPairs, Family, IntervalMethod, Options, Seeds, Test
from fastir.analyses.compare.records import IN_SEGMENTS, TESTS, Mean, Method, Pair, System, Verdict
from fastir.analyses.compare.run_pairs import Intervals, MetricValues, Outcome
from fastir.analyses.compare.scores import Scores, read_scores
from fastir.analyses.compare.segments import SegmentsLike, segment_rows
from fastir.data.results._totals import column_totals
from fastir.data.results.results import MIN_ROWS_OF_JOINT_SUMS
from fastir.errors import quote, warn_caller
from fastir.evaluation import run_collections
from fastir.stats._checks import N_RESAMPLES
from fastir.stats.clusters import Clusters, clusters_of_queries, warn_of_repeats
from fastir.stats.corrections import adjust
from fastir.stats.effects import EFFECTS, Effect, detectable

if TYPE_CHECKING:
    from fastir.request.options import Queries


MANY_QUERIES = 1000  # queries from which on tests of ranks and signs find differences that do not matter


def compare_scores(
    runs: Mapping[Any, Any],
    metrics: str | Iterable[str] | None = None,
    *,
    baseline: Hashable | list[Hashable] = None,
    test: Test = "t",
    n_resamples: SupportsIndex = N_RESAMPLES,
    correction: CorrectionOfPairs | None = "auto",
    family: Family = "metric",
    confidence: float = 0.95,
    interval: IntervalMethod = "t",
    effect: Effect = "d_z",
    queries: Queries | None = None,
    seeds: Seeds | None = None,
    segments: SegmentsLike | None = None,
    clusters: SegmentsLike | None = None,
    random_state: SupportsIndex = 0,
    n_threads: SupportsIndex | None = None,
) -> Comparison:
    """Compare runs by their values per query: which is better, by how much, and how certain that is.

    Parameters
    ----------
    runs : mapping of name to values
        The values of each run: its `Results`, {query_id: value}, {metric: {query_id: value}}, a pandas Series or frame
        of these shapes, a file that `Results.save` wrote, or the content of its JSON. Or {query_id: {metric: value}},
        as `Results.to_dict` gives it; names of metrics tell it from the other shape. Instead of the mapping, a file
        with the results of several runs. Values are aligned by query id. NaN means undefined: the query is left out of
        that metric for all runs.
    metrics : str, iterable of str, or None
        The metrics to compare; None: all that the first run has. A run of bare values has one metric, which gets this
        name, or "score". Counts, such as num_ret, are also compared by their mean.
    baseline : name of a run, list of them, or None
        Compare every run with each of these; None: compare all pairs.
    test : str
        One of ``"t"``; ``"wilcoxon"``; ``"sign"``; ``"randomization"`` (Fisher's, exact for few queries);
        ``"bootstrap"`` (shift of the studentized mean); ``"tukey"`` (honest significant differences, over the residual
        of the two-way analysis of variance); ``"randomized_tukey"``. All are paired and two-sided. The two Tukey tests
        correct for the number of runs within each metric and have simultaneous intervals. ``fastir.stats`` has and
        documents each test for arrays.
    n_resamples : int
        The number of resamples, for tests and intervals that resample. If there are at most this many arrangements, all
        are enumerated and p-values are exact.
    correction : str or None
        The correction for multiple tests: ``"holm"``, ``"bonferroni"``, ``"bh"`` (false discovery rate) or another
        method of `fastir.stats.adjust`; ``"max_t"`` with the randomization test; None: no correction. ``"auto"``: no
        correction for the Tukey tests, Holm's for all others; it changes nothing for two runs and one metric. NaN
        p-values belong to no family.
    family : {"metric", "all"}
        Which p-values are corrected together: each metric's, or all.
    confidence : float
        The confidence of intervals. `Pair.detectable` and warnings are computed at the level 1 - confidence.
    interval : {"t", "percentile", "bca"}
        Intervals of differences: Student's t, or the bootstrap over queries. Tukey tests have their own. Intervals of
        means are always bootstrap intervals: "bca", or else "percentile", which lie within the values of the metric.
    effect : str
        A key of ``fastir.stats.EFFECTS``.
    queries : {None, "qrels", "intersection", "strict"} or iterable of query ids
        Which queries count; they are the same for all runs. "strict", also None: all runs must have the same queries.
        "intersection": the queries that every run has; a query with the status "missing" in a `Results` counts as
        absent. "qrels": the queries that any run has, with 0 for the runs without them. An iterable: exactly these
        queries.
    seeds : {"mean", "crossed", "folds"} or None
        What the members are if each run is a list of values. "mean": seeds, averaged per query; the inference is over
        queries, given these seeds. "crossed": seeds, which the bootstrap resamples along with the queries; only for
        ``test="bootstrap"`` and ``interval="percentile"``, and the test is then of the mean. "folds": parts of the
        queries, put together.
    segments : mapping of query_id to segment, path, or None
        The segment of each query. Each segment is also compared by itself, in `Comparison.segments`. Every compared
        query must have one; other queries are ignored. A path: a file with a query and its segment on each line,
        separated by a tab or blanks. A correction takes the p-values of all segments together; ``"max_t"`` cannot, and
        Tukey's tests correct within each segment. The comparison over all queries does not change.
    clusters : mapping of query_id to cluster, path, or None
        Queries of one cluster, such as repeats of one question, are not independent: t and its intervals take clustered
        standard errors (see `stats.t_test`), and whole clusters are drawn or flipped. Only for the tests "t",
        "randomization" and "bootstrap". Every compared query must have one. Effects and wins are by query.
    random_state : int
        The same state gives the same numbers, whatever the number of threads and the order of queries and runs.
    n_threads : int or None
        As in `fastir.evaluate`; None uses several threads if the work is worth it.

    Returns
    -------
    Comparison
        **Undefined**: p-values of t, bootstrap and Tukey tests are NaN for a single query, and where all differences
        are equal but not 0; they are 1 where all are 0. `Pair.note` has the reason. No p-value is 0.

    Raises
    ------
    NoOverlapError
        The runs' queries do not overlap as `queries` requires.
    ValueError, TypeError
        An option or a value is invalid; a metric is not a mean over the queries; or both the outer and the inner keys
        of a dict are names of metrics.
    FormatError, OSError
        A file does not hold saved results, or cannot be read.
    ImportError
        SciPy is not installed. The tests "t" and "randomization" need it only with the interval "bca" or the effect
        "anova".

    Warns
    -----
    FastirWarning
        n_resamples is too small for the family; or a test of ranks or signs has 1000 queries or more, where it tends to
        find differences too small to matter; or each cluster has one query; or there are no clusters, and query ids
        look like repeats of questions (q1_0, q1_1, q2_0, q2_1).

    Examples
    --------
    >>> import fastir
    >>> runs = {"a": {"q1": 0.7, "q2": 0.3, "q3": 0.2, "q4": 0.6}, "b": {"q1": 0.5, "q2": 0.1, "q3": 0.0, "q4": 0.2}}
    >>> pair, = fastir.compare_scores(runs, test="randomization").pairs
    >>> pair.p_value, pair.wins, pair.exact
    (0.125, 4, True)
    """
    options = Options(
        *(baseline, test, n_resamples, correction, family, confidence, interval, effect, queries, seeds, segments),
        *(random_state, n_threads, False, clusters),
    ).validate()
    options.check_scipy()
    comparison = compare_aligned(read_scores(runs, metrics, options.queries, options.seeds), options)
    comparison.inputs = tuple(run_collections.paths_in(runs))
    return comparison


def compare_aligned(scores: Scores, options: Options) -> Comparison:
    """The comparison of aligned values, by options that are checked."""
    a, b, baselines = list_pairs(scores.runs, options.baseline)
    rows = {} if options.segments is None else segment_rows(options.segments, scores.query_ids)
    if options.clusters is None:
        warn_of_repeats(scores.query_ids)
    whole = TestedRuns(scores, a, b, options, warn=True)
    n_queries = whole.columns[0].n
    if not TESTS[options.test].of_means and n_queries >= MANY_QUERIES:
        warn_caller(
            f"with {n_queries} queries the {options.test} test tends to find differences that do not matter; "
            "the t and randomization tests do so less"
        )
    policy = options.queries if isinstance(options.queries, str) else "strict" if options.queries is None else "chosen"

    def conclude_whole() -> tuple[list[np.ndarray], Method]:
        return correct_p_values([whole.outcomes], options)[0], whole.describe(baselines, policy)

    parts = [test_segment(segment, scores.part(places), a, b, options) for segment, places in rows.items()]
    p_values_by_part = correct_p_values([part.outcomes for part in parts], options) if parts else []

    def conclude_part(part: TestedRuns, p_values: list[np.ndarray]) -> tuple[list[np.ndarray], Method]:
        return p_values, part.describe(baselines, "chosen", [other.outcomes for other in parts])

    comparison = whole.comparison(
        conclude_whole,
        {
            segment: part.comparison(functools.partial(conclude_part, part, p_values))
            for segment, part, p_values in zip(rows, parts, p_values_by_part, strict=True)
        },
    )
    if options.test != "t":  # others may warn or take long, which belongs here
        _ = comparison.verdicts
    return comparison


def list_pairs(runs: list[Any], baseline: Any) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
    """Rows of the pairs, and the baselines."""
    if baseline is None:
        places = np.arange(len(runs))
        a, b = np.nonzero(np.less.outer(places, places))
        return a, b, ()
    baselines = tuple(baseline) if isinstance(baseline, list) else (baseline,)
    for name in baselines:
        if name not in runs:
            raise ValueError(f"baseline {quote(name)} is not a run; the runs are {', '.join(map(repr, runs[:10]))}")
    rows = [(a, runs.index(name)) for name in baselines for a in range(len(runs)) if runs[a] != name]
    a, b = np.array(rows, np.int64).reshape(-1, 2).T
    return a, b, baselines


# ---- p-values -----------------------------------------------------------------------------------------------------
def correct_p_values(outcomes: list[list[Outcome]], options: Options) -> list[list[np.ndarray]]:
    """The adjusted p-values of each metric, for each list of queries; all lists make a family together."""
    if options.correction is None or options.correction == "max_t":
        return [
            [outcome.p_values if outcome.adjusted is None else outcome.adjusted for outcome in outcomes_by_metric]
            for outcomes_by_metric in outcomes
        ]
    whole = list(itertools.chain.from_iterable(outcomes))
    n_metrics = len(outcomes[0])
    families = [whole[metric::n_metrics] for metric in range(n_metrics)] if options.family == "metric" else [whole]
    for family in families:
        p = np.concatenate([outcome.p_values for outcome in family])
        size = np.count_nonzero(~np.isnan(p))
        needed = math.ceil(size / (1 - options.confidence) - 1 - 1e-9)
        drawn = TESTS[options.test].resampled and not all(outcome.exact.all() for outcome in family)
        if drawn and options.n_resamples < needed:
            warn_caller(
                f"with n_resamples={options.n_resamples} no corrected p-value of a family of {size} can be below "
                f"{1 - options.confidence:.3g}; that takes {needed}"
            )
            break
    adjusted: list[np.ndarray] = [np.empty(0)] * len(whole)
    for place, family in enumerate(families):
        p = np.concatenate([outcome.p_values for outcome in family])
        adjusted_family = adjust(p, options.correction, alpha=1 - options.confidence)
        adjusted[place :: len(families)] = np.split(adjusted_family, len(family))
    return [adjusted[first : first + n_metrics] for first in range(0, len(whole), n_metrics)]


# ---- runs tested on one list of queries, and the records of the result -----------------------------------------------
class TestedRuns:
    """The outcomes of the tests of all pairs."""

    columns: list[MetricValues]  # for each metric

    def __init__(self, scores: Scores, a: np.ndarray, b: np.ndarray, options: Options, warn: bool = False) -> None:
        self.scores = scores
        self.options = options
        self.means: np.ndarray = scores.means()  # float64 of shape (n_metrics, n_runs, n_queries)
        clusters = None
        if options.clusters is not None:
            clusters = clusters_of_queries(options.clusters, scores.query_ids, warn)
        self.clusters: Clusters | None = clusters
        self.columns = [
            MetricValues(metric, values, columns, scores.owner, a, b, options.effect, clusters)
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
        return [run_pairs.bootstrap_means(column, options) for column in self.columns]

    @functools.cached_property
    def intervals(self) -> list[Intervals]:
        """The intervals of each metric, by the method that the options name."""
        names, options = list(map(str, self.scores.runs)), self.options
        if options.seeds == "crossed":
            return [run_pairs.by_crossed_bootstrap(column, options, names) for column in self.columns]
        return [
            (run_pairs.by_t if options.interval == "t" else run_pairs.by_bootstrap)(column, options)
            for column in self.columns
        ]

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
            *(scores.runs, scores.metrics, scores.query_ids, self.means.transpose(0, 2, 1), conclusion, pairs),
            *(systems, segments),
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
            *(n_pairs, exact, options.random_state, options.correction),
            options.family + (IN_SEGMENTS if together else ""),
            max(sizes) if options.family == "metric" else sum(sizes),
            options.confidence,
            "simultaneous" if TESTS[options.test].simultaneous else options.interval,
            *(EFFECTS[options.effect][0], policy, n_queries, scores.unshared),
            {column.metric: n_queries - column.n for column in columns if column.n < n_queries},
            *(options.seeds, baselines, scores.convention, __version__),
            0 if self.clusters is None else len(self.clusters.sizes),
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
    smallest = moments.deviation * detectable(moments.n, alpha=1 - options.confidence)
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
