"""compare(): the values per query that lie on a cluster, in the comparison of one machine."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from fastir.analyses.compare.compare_scores import compare_scores
from fastir.analyses.compare.comparison import Comparison
from fastir.analyses.compare.keywords import ScoresOptions
from fastir.errors import quote
from fastir.request.names import refuse_mapping
from fastir.spark import frames
from fastir.spark.spark_results import GROUP, QUERY, SparkResults


def compare(
    runs: Mapping[Any, Any], metrics: str | Iterable[str] | None = None, **options: Unpack[ScoresOptions]
) -> Comparison:
    """Compare runs that were evaluated on Spark; the numbers equal `fastir.compare`.

    Parameters
    ----------
    runs : mapping of name to values
        The result of `evaluate`; or a DataFrame with a row per query, a column query_id and a column for each metric,
        such as `SparkResults.per_query`, saved or not, which is collected. All else as for `fastir.compare_scores`,
        such as the Results of `evaluate_many`.
    metrics : str, iterable of str, or None
        The metrics to compare; None: all that the first run has.
    **options
        As for `fastir.compare_scores`. A frame does not say which queries are missing from its run: for
        ``queries="intersection"`` it should come from an evaluation with this option.

    Returns
    -------
    Comparison
        For undefined cases see `fastir.compare_scores`.

    Raises
    ------
    TypeError, ValueError, NoOverlapError, ImportError
        As by `fastir.compare_scores`; or a frame has no column of queries, or has a query twice.

    Warns
    -----
    FastirWarning
        As by `fastir.compare_scores`.
    """
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must be a mapping of name to what evaluate returned, got {type(runs).__name__}")
    refuse_mapping(metrics)
    names = [metrics] if isinstance(metrics, str) else None if metrics is None else list(metrics)
    return compare_scores({name: comparable_values(name, run, names) for name, run in runs.items()}, names, **options)


def comparable_values(name: Any, run: Any, metrics: list[str] | None) -> Any:
    """The values of a run for `compare_scores`: {metric: {query_id: value}}, if it is a frame."""
    if isinstance(run, SparkResults):
        return run.results
    if not frames.is_frame(run):
        return run
    chosen = [column for column in run.columns if column not in (QUERY, GROUP)] if metrics is None else metrics
    for column in (QUERY, *chosen):
        if column not in run.columns:
            has = ", ".join(map(repr, run.columns[:20]))
            raise ValueError(f"run {quote(name)}: the frame has no column {column!r}; it has {has}")
    query_ids, *columns = (
        column.to_pylist() for column in frames.select_columns(run, (QUERY, *chosen)).toArrow().columns
    )
    if len(set(query_ids)) < len(query_ids):
        [(twice, _)] = collections.Counter(query_ids).most_common(1)
        raise ValueError(f"run {quote(name)}: the frame has two rows of query {quote(twice)}")
    return {metric: dict(zip(query_ids, column, strict=True)) for metric, column in zip(chosen, columns, strict=True)}
