"""compare(): qrels and runs in, a Comparison out. It evaluates under one policy of queries, and hands the values on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from fastir import many
from fastir.api import Evaluator, as_qrels
from fastir.comparing import compare_scores
from fastir.errors import quote

if TYPE_CHECKING:
    from fastir.api import QrelsLike
    from fastir.comparison import Comparison

INTERSECTION = "intersection"


def compare(
    qrels: QrelsLike, runs: Mapping[Hashable, Any] | Iterable[tuple[Hashable, Any]], metrics: str | Iterable[str], *,
    baseline: Hashable = None, test: str = "t", n_resamples: int = 100_000, correction: str | None = None,
    family: str = "metric", confidence: float = 0.95, interval: str = "t", effect: str = "d_z",
    queries: str | Collection | None = None, seeds: Any = None, random_state: int = 0,
    n_threads: SupportsIndex | None = None, **options: Any,
) -> Comparison:
    """Evaluate runs and say which is better, by how much, and how sure that is.

    Parameters
    ----------
    qrels, metrics, n_threads, **options
        As for `evaluate`. The metrics must be means over queries; no `weights`.
    runs : mapping of name to run, or iterable of (name, run)
        As for `evaluate_many`; with `seeds`, each is a list of runs of one system.
    queries : {None, "qrels", "intersection", "strict"} or collection of query ids
        Which queries count, the same for all runs. "qrels": all of the qrels, where one that a run lacks is an empty
        ranking; None: the same, with a warning, or what the convention says; "intersection": those that the qrels and
        all runs have; "strict": all, and every run must have the same. Or the ids themselves, all of them in the qrels.
    baseline, test, n_resamples, correction, family, confidence, interval, effect, seeds, random_state
        As for `compare_scores`.

    Returns
    -------
    Comparison
        It prints as a table; `Comparison.pairs`, `.systems` and `.per_query` are what it shows, `.method` how it came
        about.

    Raises
    ------
    ValueError
        A metric is no mean over queries, such as num_ret or gm_map.
    UnknownMetricError, FormatError, NoOverlapError, TypeError, ValueError, OSError, ...
        As by `evaluate_many` and `compare_scores`.
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
    results, queries = evaluated(qrels, runs, metrics, queries, seeds, {**options, "n_threads": n_threads})
    return compare_scores(
        results, baseline=baseline, test=test, n_resamples=n_resamples, correction=correction, family=family,
        confidence=confidence, interval=interval, effect=effect, queries=queries, seeds=seeds,
        random_state=random_state, n_threads=n_threads)


def evaluated(
    qrels: Any, runs: Any, metrics: Any, queries: Any, seeds: Any, options: dict[str, Any],
    notice: Callable[[Hashable, int], object] | None = None,
) -> tuple[dict[Hashable, Any], Any]:
    """{name: Results, or a list of them with seeds}, and the `queries` that compare_scores is to apply to them."""
    if "weights" in options:
        raise TypeError("compare() takes no weights: its tests and intervals count every query alike")
    qrels = as_qrels(qrels, options.get("columns"), options.get("duplicates"))
    by_name = queries is None or isinstance(queries, str)
    evaluator = Evaluator(qrels, metrics, **{**options, "queries": queries if by_name else "qrels"})
    if by_name:
        queries = evaluator._settings.queries if evaluator._settings.queries == INTERSECTION else None
        if queries == INTERSECTION:     # of all runs together, which is known when they have been read
            evaluator = Evaluator(qrels, metrics, **{**options, "queries": "qrels"})
    for name, how in zip(evaluator._settings.names, evaluator._settings.aggregates, strict=True):
        if not how.startswith("mean"):
            raise ValueError(f"metric {quote(name)} has no mean over queries to compare, it is a {how}")
    if seeds is None:
        return dict(evaluator.evaluate_many(runs, notice=notice)), queries
    flat = {(name, number): run for name, of_name in many.pairs(runs) for number, run in enumerate(of_name)}
    results: dict[Hashable, Any] = {}
    for (name, _), of_run in evaluator.evaluate_many(flat, notice=notice).items():
        results.setdefault(name, []).append(of_run)
    return results, queries
