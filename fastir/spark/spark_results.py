"""SparkResults: the Results of a run that lies in a cluster, with the values of the queries as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.data.results.tables import ResultsBySegment

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
