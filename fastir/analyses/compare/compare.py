"""compare(): evaluates runs under one policy of queries, and hands their values to compare_scores()."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from fastir.analyses.compare.compare_scores import compare_aligned
from fastir.analyses.compare.options import CorrectionOfPairs, Family, IntervalMethod, Options, Seeds, Test
from fastir.analyses.compare.records import SIGN_CAN_CHANGE
from fastir.analyses.compare.scores import read_scores
from fastir.analyses.compare.segments import SegmentsLike
from fastir.checks import check_choice, refuse_options
from fastir.data.qrels import as_qrels
from fastir.data.results.results import Results
from fastir.data.results.saved_files import is_saved
from fastir.engine.measure import DEFAULT_METRICS
from fastir.errors import quote, warn_caller
from fastir.evaluation import run_collections
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.rules import SIDE_OPTIONS, columns_by_side, columns_of_runs, without_qrels_options
from fastir.inputs import places
from fastir.inputs.parents import read_parents
from fastir.inputs.source import as_file
from fastir.request.conventions import resolved_convention
from fastir.request.options import QUERIES, query_rule
from fastir.request.provenance import differing_options
from fastir.stats._checks import N_RESAMPLES
from fastir.stats.effects import Effect

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.bounds.result import Bounds
    from fastir.analyses.compare.comparison import Comparison
    from fastir.analyses.compare.records import Pair
    from fastir.data.qrels import QrelsLike
    from fastir.data.run import RunsLike
    from fastir.evaluation.keywords import CompareOptions
    from fastir.evaluation.run_collections import RunNames
    from fastir.request.options import Queries


INTERSECTION = "intersection"


def compare(
    qrels: QrelsLike,
    runs: RunsLike,
    metrics: str | Iterable[str] = DEFAULT_METRICS,
    *,
    names: RunNames = "stem",
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
    bounds: bool = False,
    n_threads: SupportsIndex | None = None,
    progress: Callable[[Hashable, int], object] | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Evaluate runs and compare them: which is better, by how much, and how certain that is.

    Parameters
    ----------
    qrels, metrics, n_threads, **options
        As for `evaluate`, but without `weights`: every query counts the same.
    runs, names
        As for `evaluate_many`; with `seeds`, a mapping of name to a list of runs. Instead of a run, its `Results` or a
        file of saved `Results` may be given. They are not evaluated again, and must have the metrics under the same
        names.
    queries : {None, "qrels", "intersection", "strict"} or iterable of query ids
        Which queries count; they are the same for all runs. "qrels": all of the qrels; a query missing from a run is an
        empty ranking. None: the convention's choice, or else "qrels" with a warning. "intersection": the queries that
        the qrels and all runs have. "strict": all, and every run must have the same queries. An iterable: exactly these
        queries, which the qrels must have. With ``seeds="folds"`` each run counts for the queries it has; then
        None requires the same queries of all systems, "qrels" and "strict" require all queries of the qrels.
    baseline, test, n_resamples, correction, family, confidence, interval, effect
        As for `compare_scores`.
    seeds, segments, clusters, random_state
        As for `compare_scores`.
    bounds : bool
        Whether to compute the range of each difference, whatever the labels of the unjudged documents
        (`fastir.bounds`). If some labels would turn the sign of a difference, the `note` of the pair says the range.
        This is done for all queries and for each segment. Runs are then held in memory.
    progress : function of (name, position), or None
        Called repeatedly, in any thread, with the number of bytes read so far from a run's file.

    Returns
    -------
    Comparison
        Prints as a table. Its contents are in `Comparison.pairs`, `.systems` and `.per_query`; `.method` says how it
        was made.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate_many` and `compare_scores`, which also raises ImportError. The options of `compare_scores` are
        checked before any run is read.

    Warns
    -----
    FastirWarning
        As by `evaluate_many` and `compare_scores`.

    Examples
    --------
    >>> import fastir
    >>> qrels = {f"q{i}": {"a": 1} for i in range(6)}
    >>> runs = {"first": {f"q{i}": {"a": 1.0} for i in range(6)},
    ...         "often": {f"q{i}": {"a": 1.0, "b": float(i > 3) * 2} for i in range(6)}}
    >>> comparison = fastir.compare(qrels, runs, "mrr", test="sign")
    >>> [pair] = comparison.pairs
    >>> pair.a, pair.b, pair.wins, pair.ties, pair.losses, round(pair.difference, 4), pair.p_value
    ('first', 'often', 2, 4, 0, 0.1667, 0.5)
    """
    statistics = Options(
        *(baseline, test, n_resamples, correction, family, confidence, interval, effect, queries, seeds, segments),
        *(random_state, n_threads, bounds, clusters),
    )
    comparison = evaluate_and_compare(qrels, runs, metrics, names, statistics, options, progress)[1]
    comparison.inputs = tuple(run_collections.paths_in([qrels], runs))
    return comparison


def evaluate_and_compare(
    qrels: Any,
    runs: Any,
    metrics: Any,
    names: RunNames,
    statistics: Options,
    options: Mapping[str, Any],
    progress: Callable[[Hashable, int], object] | None,
) -> tuple[dict[Hashable, Any], Comparison]:
    """What `compare` evaluates, {name: Results, or a list of them with seeds}, and what it returns.

    `options` are the evaluation's options, without `queries` and `n_threads`, which the statistics have.
    """
    refuse_options("compare", options, ("weights",), "no test here compares weighted means")
    refuse_options("compare", options, ("ties_report",), "evaluate_many reports ties")
    statistics = statistics.validate()
    statistics.check_scipy()
    runs = run_collections.with_names(runs, names, [qrels])
    qrels = as_file(qrels)
    if isinstance(runs, Mapping):
        runs = {name: as_file(run) for name, run in runs.items()}
    named: Mapping[Any, Any] = runs if isinstance(runs, Mapping) else {}
    saved = {name: run for name, run in named.items() if are_results(run)}
    rest = {name: run for name, run in named.items() if name not in saved} if saved else runs
    if saved and not rest and options:
        raise TypeError(f"{next(iter(options))}: it has no effect on Results, which are already evaluated")
    if statistics.bounds:
        if saved or statistics.seeds is not None:
            raise ValueError("bounds: they need runs, neither Results nor several seeds")
        rest = named = dict(run_collections.pairs(runs))
    rules: dict[str, Any] = {**options, "n_threads": statistics.n_threads}
    results: dict[Hashable, Any] = {}
    if rest:
        results, queries = evaluate_runs(qrels, rest, metrics, statistics, rules, progress)
        statistics = statistics._replace(queries=queries)
    values = {name: saved.get(name, results.get(name)) for name in named} if saved else results
    if saved:
        warn_of_other_options(values)
    scores = read_scores(values, metrics if saved else None, statistics.queries, statistics.seeds)
    comparison = compare_aligned(scores, statistics)
    return results, with_sign_changes(comparison, qrels, named, rules) if statistics.bounds else comparison


ALIGNED_FIELDS = ("queries", "version")  # all runs have the same queries; all versions of fastir the same bits


def warn_of_other_options(values: Mapping[Any, Any]) -> None:
    """Warn if two of the Results that are compared were made under other options, and name these."""
    held = {name: run for name, run in values.items() if isinstance(run, Results)}
    if len(held) > 1:
        first, *others = held
        for name in others:
            records = held[first].provenance, held[name].provenance
            if records[0] is None or records[1] is None:
                continue
            unlike = [
                f"{option} ({one} and {other})"
                for option, (one, other) in differing_options(records[0], records[1]).items()
                if option not in ALIGNED_FIELDS
            ]
            if unlike:
                warn_caller(
                    f"{quote(first)} and {quote(name)} were evaluated under other options: {', '.join(unlike)}; their "
                    "difference is not one of the runs alone"
                )
                return


def are_results(run: Any) -> bool:
    """Whether these are values that were computed before: Results, a file of them, or a list of such."""
    if isinstance(run, (list, tuple)):
        return bool(run) and all(map(are_results, run))
    return isinstance(run, Results) or (isinstance(run, (str, os.PathLike)) and is_saved(run))


def evaluate_runs(
    qrels: Any,
    runs: Any,
    metrics: Any,
    statistics: Options,
    options: dict[str, Any],
    progress: Callable[[Hashable, int], object] | None,
) -> tuple[dict[Hashable, Any], Any]:
    """{name: Results, or a list of them with seeds}, and the rule `queries` by which their values are aligned."""
    sides = columns_by_side(*(options.get(name) for name in SIDE_OPTIONS))
    options = without_qrels_options(options, columns_of_runs(qrels, sides))
    qrels = as_qrels(qrels, sides[0], options.get("duplicates"))
    if options.get("parents") is not None:
        parents = read_parents(options["parents"], options.get("aggregate", "max"), options.get("duplicates"))
        options = {**options, "parents": parents}
    policy, queries = query_policy(statistics.queries, options.get("convention", "fastir")), statistics.queries
    evaluate_as = policy
    if policy is None or isinstance(policy, str):
        queries = INTERSECTION if policy == INTERSECTION else None
    else:
        evaluate_as = queries = query_rule(policy)[1]
    if statistics.seeds == "folds":  # each has some of the queries
        evaluate_as = INTERSECTION
        if policy in ("qrels", "strict"):
            queries = list(qrels)
    elif isinstance(policy, str) and policy == INTERSECTION:
        evaluate_as = "qrels"  # the queries that all runs have are known once the runs have been read
    evaluator = Evaluator(qrels, metrics, **{**options, "queries": evaluate_as})
    if statistics.seeds is None:
        return dict(evaluator.evaluate_many(runs, progress=progress)), queries
    flat: dict[Hashable, Any] = {}
    for name, repeats in run_collections.pairs(runs):
        if places.is_place(repeats):
            raise TypeError(f"seeds={statistics.seeds!r}: expected a list of runs under {quote(name)}, got a path")
        flat.update({(name, number): run for number, run in enumerate(repeats)})
    results: dict[Hashable, Any] = {}
    for (name, _), result in evaluator.evaluate_many(flat, progress=progress).items():
        results.setdefault(name, []).append(result)
    return results, queries


def query_policy(queries: Any, convention: Any) -> Any:
    """The caller's policy of queries, or the convention's if the caller has none; ids of queries unchanged."""
    if queries is not None and not isinstance(queries, str):
        return queries
    check_choice("queries", queries, QUERIES)
    if queries is None and convention != "fastir":
        return resolved_convention(convention, {}).queries
    return queries


# ---- whether labels of unjudged documents could change the sign of a difference --------------------------------------
def with_sign_changes(
    comparison: Comparison, qrels: Any, runs: Mapping[Hashable, Any], options: dict[str, Any]
) -> Comparison:
    """A comparison with notes of pairs: which differences could have the other sign, and their bounds."""
    from fastir.analyses.bounds.bounds import difference_bounds_by_pair  # imported for callers who ask for bounds

    names = dict.fromkeys((pair.a, pair.b) for pair in comparison.pairs)
    bounds = difference_bounds_by_pair(qrels, runs, names, comparison.metrics, **{**options, "queries": "qrels"})
    return with_notes(comparison, bounds)


def with_notes(comparison: Comparison, bounds: dict[Any, Bounds]) -> Comparison:
    """A comparison and its segments' comparisons, with the notes of their own queries."""
    pairs = [
        pair._replace(note=note_with_bounds(pair, bounds[pair.a, pair.b], comparison.query_ids))
        for pair in comparison.pairs
    ]
    return type(comparison)(
        *(comparison.runs, comparison.metrics, comparison.query_ids, comparison.values),
        lambda: (pairs, comparison.means, comparison.method),
        lambda: pairs,
        lambda: comparison.systems,
        {segment: with_notes(part, bounds) for segment, part in comparison.segments.items()},
    )


def note_with_bounds(pair: Pair, bounds: Bounds, query_ids: list[Any]) -> str:
    """The note of a pair, and between which values its difference lies if these have several signs."""
    places = {query_id: row for row, query_id in enumerate(bounds.value.query_ids)}
    rows = [places[query_id] for query_id in query_ids]
    column = bounds.value.names.index(pair.metric)
    low, high = (float(np.nanmean(side.values[rows, column])) for side in (bounds.lower, bounds.upper))
    if not low < 0.0 < high:
        return pair.note
    return "; ".join(filter(None, (pair.note, f"{SIGN_CAN_CHANGE}: {low:+.4f} to {high:+.4f}")))
