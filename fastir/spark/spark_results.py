"""SparkResults, the Results of a run on a cluster with the values of its queries as a DataFrame; and compare()."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.data.results.tables import ResultsBySegment
from fastir.errors import quote
from fastir.request.names import refuse_mapping
from fastir.spark import frames

if TYPE_CHECKING:
    from typing import Unpack

    from fastir.analyses.compare.comparison import Comparison
    from fastir.analyses.compare.keywords import ScoresOptions

QUERY, GROUP = "query_id", "group"  # columns of the values per query


class SparkResults:
    """The values of one run, read like a dict: {metric as the caller typed it: its mean over the queries}.

    Made by `evaluate`; immutable.

    Attributes
    ----------
    results : Results
        All values, on the driver: what `fastir.evaluate` returns for the same data. `fastir.compare` and all other
        functions of Results take it.
    report : Report
        How the queries of qrels and run overlap. Its example of a query that is only in the run is the first in byte
        order.
    """

    def __init__(self, session: Any, results: Results, groups: Mapping[Any, Any] | None) -> None:
        self.results = results
        self.report: Report = results.report
        self._session = session
        self._groups = groups
        self._by_segment = None if groups is None else results.by_segment(groups)

    def __getitem__(self, name: str) -> float:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __contains__(self, name: object) -> bool:
        return name in self.results

    def __repr__(self) -> str:
        return repr(self.results)

    def _repr_html_(self) -> str:
        return self.results.to_table("html")

    def keys(self) -> list[str]:
        """The names of the metrics."""
        return self.results.keys()

    def items(self) -> list[tuple[str, float]]:
        """(name, mean) of every metric."""
        return self.results.items()

    @cached_property
    def per_query(self) -> Any:
        """A DataFrame with a row per query: ``query_id`` and a column per metric (double).

        It also has ``group`` if there are groups. It is made when first read, from the values on the driver: no action
        on it evaluates the run again, and caching it is not needed.
        """
        import pyarrow

        table = pyarrow.table(self.results)
        if self._groups is not None:
            table = table.append_column(GROUP, pyarrow.array([self._groups[query] for query in self.results.query_ids]))
        return self._session.createDataFrame(table)

    @property
    def by_segment(self) -> ResultsBySegment[Results]:
        """The results of each group of `by`: {group: Results}.

        Raises
        ------
        ValueError
            The evaluation had no `by`.
        """
        if self._by_segment is None:
            raise ValueError("there are no groups: give by= to evaluate")
        return self._by_segment


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
    from fastir.analyses.compare.compare_scores import compare_scores

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
