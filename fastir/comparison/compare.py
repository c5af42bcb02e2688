"""compare(): evaluates runs under one policy of queries, and hands their values to compare_scores()."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from fastir.checks import flag
from fastir.comparison.compare_scores import checked_options, compare_scores
from fastir.comparison.groups import GroupsLike, checked_groups
from fastir.comparison.turning import turned
from fastir.evaluation import run_collections
from fastir.evaluation.evaluator import Evaluator, columns_by_side
from fastir.inputs.parents import parents_of
from fastir.qrels import as_qrels
from fastir.results.results import Results
from fastir.results.saved_files import is_saved

if TYPE_CHECKING:
    from fastir.comparison.comparison import Comparison
    from fastir.qrels import QrelsLike

INTERSECTION = "intersection"


def compare(
    qrels: QrelsLike,
    runs: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
    metrics: str | Iterable[str],
    *,
    baseline: Hashable | list[Hashable] = None,
    test: str = "t",
    n_resamples: int = 100_000,
    correction: str | None = None,
    family: Literal["metric", "all"] = "metric",
    confidence: float = 0.95,
    interval: Literal["t", "percentile", "bca"] = "t",
    effect: str = "d_z",
    queries: str | Collection[Any] | None = None,
    seeds: Literal["mean", "crossed", "folds"] | None = None,
    groups: GroupsLike | None = None,
    random_state: int = 0,
    bounds: bool = False,
    n_threads: SupportsIndex | None = None,
    notice: Callable[[Hashable, int], object] | None = None,
    **options: Any,
) -> Comparison:
    """Evaluate runs and say which is better, by how much, and how sure that is.

    Parameters
    ----------
    qrels, metrics, n_threads, **options
        As for `evaluate`, without `weights`: every query counts the same here.
    runs : mapping of name to run, or iterable of (name, run)
        As for `evaluate_many`; with `seeds`, lists of runs. The `Results` of a run, or a file in which they were saved,
        may stand in its place: they are not judged again, and must have the metrics by these names.
    queries : {None, "qrels", "intersection", "strict"} or iterable of query ids
        Which queries count, the same for all runs. "qrels": all of the qrels, where one that a run lacks is an empty
        ranking; None: the same, with a warning, or what the convention says; "intersection": the queries that the qrels
        and all runs have; "strict": all, and every run must have the same. An iterable: exactly these queries, which
        the qrels must have. With ``seeds="folds"`` each run counts for the queries that it has; None then demands the
        same queries of all systems, "qrels" and "strict" all queries of the qrels.
    baseline, test, n_resamples, correction, family, confidence, interval, effect, seeds, groups, random_state
        As for `compare_scores`.
    bounds : bool
        Whether the `note` of a pair says between which values its difference lies, whatever labels the unjudged
        documents have (`fastir.bounds`), where some of these have another sign; of all queries, and of each group.
        Runs are then held in memory.
    notice : function of (name, position), or None
        Called repeatedly, in any thread, with the number of bytes read of a run's file.

    Returns
    -------
    Comparison
        It prints as a table; `Comparison.pairs`, `.systems` and `.per_query` are its contents, `.method` says how it
        was made.

    Raises
    ------
    UnknownMetricError, FormatError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError, OSError
        As by `evaluate_many` and by `compare_scores`, whose options are checked before any run is read.
    ImportError
        SciPy is not installed.

    Warns
    -----
    FastirWarning
        As `evaluate_many` and `compare_scores` do.

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
    checked_options(test, n_resamples, correction, family, confidence, interval, effect, seeds, random_state, n_threads)
    if groups is not None:
        groups = checked_groups(groups, correction)
    named: Mapping[Any, Any] = runs if isinstance(runs, Mapping) else {}
    done = {name: run for name, run in named.items() if are_results(run)}
    rest = {name: run for name, run in named.items() if name not in done} if done else runs
    if done and not rest and options:
        raise TypeError(f"{next(iter(options))}: it is of no use for Results, which were judged before")
    if flag("bounds", bounds):
        if done or seeds is not None:
            raise ValueError("bounds: they are of runs, not of Results, and not of several seeds")
        rest = named = dict(run_collections.pairs(runs))
    results: dict[Hashable, Any] = {}
    if rest:
        results, queries = evaluated(qrels, rest, metrics, queries, seeds, {**options, "n_threads": n_threads}, notice)
    comparison = compare_scores(
        {name: done.get(name, results.get(name)) for name in named} if done else results,
        metrics if done else None,
        baseline=baseline,
        test=test,
        n_resamples=n_resamples,
        correction=correction,
        family=family,
        confidence=confidence,
        interval=interval,
        effect=effect,
        queries=queries,
        seeds=seeds,
        groups=groups,
        random_state=random_state,
        n_threads=n_threads,
    )
    return turned(comparison, qrels, named, {**options, "n_threads": n_threads}) if bounds else comparison


def are_results(run: Any) -> bool:
    """Whether it stands for values that were computed before: Results, a file of them, or a list of such."""
    if isinstance(run, (list, tuple)):
        return bool(run) and all(map(are_results, run))
    return isinstance(run, Results) or (isinstance(run, (str, os.PathLike)) and is_saved(run))


def evaluated(
    qrels: Any,
    runs: Any,
    metrics: Any,
    queries: Any,
    seeds: str | None,
    options: dict[str, Any],
    notice: Callable[[Hashable, int], object] | None,
) -> tuple[dict[Hashable, Any], Any]:
    """{name: Results, or a list of them with seeds}, and the rule `queries` that compare_scores applies to them."""
    sides = columns_by_side(*(options.get(name) for name in ("columns", "qrels_columns", "run_columns")))
    qrels = as_qrels(qrels, sides[0], options.get("duplicates"))
    if options.get("parents") is not None:
        given = options["parents"], options.get("aggregate", "max"), options.get("duplicates")
        options = {**options, "parents": parents_of(*given)}
    by_name = queries is None or isinstance(queries, str)
    evaluator = Evaluator(qrels, metrics, **{**options, "queries": queries if by_name else "qrels"})
    if by_name:
        policy = evaluator.prepared.settings.queries
        queries = INTERSECTION if policy == INTERSECTION else None
        if seeds == "folds" and policy in ("qrels", "strict"):
            queries = list(qrels)
    if seeds == "folds":  # each has some of the queries
        evaluator = Evaluator(qrels, metrics, **{**options, "queries": INTERSECTION})
    elif by_name and queries is not None:  # the queries that all runs have are known once the runs have been read
        evaluator = Evaluator(qrels, metrics, **{**options, "queries": "qrels"})
    if seeds is None:
        return dict(evaluator.evaluate_many(runs, notice=notice)), queries
    flat: dict[Hashable, Any] = {
        (name, number): run for name, repeats in run_collections.pairs(runs) for number, run in enumerate(repeats)
    }
    results: dict[Hashable, Any] = {}
    for (name, _), result in evaluator.evaluate_many(flat, notice=notice).items():
        results.setdefault(name, []).append(result)
    return results, queries
