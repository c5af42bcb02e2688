"""Bounds: what `bounds` returns, three Results and a table of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastir.data.results.exportable import Exportable
from fastir.rendering import Cell, Table
from fastir.rendering.text import counted, round_text

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.results import Results

OUTER = "outer bound: no labels give a value beyond it, and perhaps none gives it"


class Bounds(Exportable):
    """The range of each metric of a run, whatever the labels of its unjudged documents; made by `bounds`.

    It prints as a table; `to_table` has other formats.

    Attributes
    ----------
    value : Results
        The metrics as `evaluate` gives them; most metrics take unjudged documents as not relevant. With ``against=``,
        here and in all other attributes, the first run's values minus the second run's. Its `bounds` attribute
        is this object.
    lower, upper : Results
        The smallest and largest value of each query, and their means. These are the smallest and largest mean, because
        the labels of one query do not depend on another's. Some labels can leave a query out of the mean
        (``empty="skip"``, or a metric that they leave undefined). Such a query is NaN here if the mean is more extreme
        without it, or if all labels leave it out.
    outer : dict of str to list of query ids
        For each metric, the queries for which no labels are known to give these values: theirs are outer bounds.
    judged : JudgedRankings
        The ranks of the run's judged documents.
    max_label : int or float
        The largest label that an unjudged document can have.
    pool_depth : int or None
        Documents below this rank stay unjudged; None: the bounds cover the whole ranking.
    unseen : int
        How many documents outside the ranking of each query may have labels, too.
    condensed : Results
        The metrics of the rankings without their unjudged documents (``judged_only``).
    coverage : dict of str to float or None
        For each metric, the mean of judged@k at its cutoff k; None for differences.
    against : JudgedRankings or None
        The ranks of the second run's judged documents.
    """

    def __init__(
        self,
        value: Results,
        lower: Results,
        upper: Results,
        outer: dict[str, list[Any]],
        judged: JudgedRankings,
        max_label: float,
        pool_depth: int | None,
        *,
        unseen: int = 0,
        condensed: Results,
        coverage: dict[str, float] | None = None,
        against: JudgedRankings | None = None,
    ) -> None:
        self.value = value
        self.lower = lower
        self.upper = upper
        self.outer = outer
        self.judged = judged
        self.max_label = max_label
        self.pool_depth = pool_depth
        self.unseen = unseen
        self.condensed = condensed
        self.coverage = coverage
        self.against = against
        value._bounds = self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.value._bounds = self

    @property
    def exact(self) -> dict[str, bool]:
        """For each metric, whether some labels give exactly these values for every query."""
        return {name: not query_ids for name, query_ids in self.outer.items()}

    @property
    def query_ids(self) -> list[Any]:
        """The evaluated queries, as a new list."""
        return self.value.query_ids

    def _columns(self) -> dict[str, Any]:
        rows = [{"metric": name, **row} for name, row in self._json()["metrics"].items()]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def _table(self, digits: int = 4) -> Table:
        columns = {"lower": self.lower, "value": self.value, "upper": self.upper, "condensed": self.condensed}
        rows = []
        for name, how in self.value.aggregates.items():
            numbers = [(results[name], how) for results in columns.values()]
            numbers += [] if self.coverage is None else [(self.coverage[name], "mean")]
            cells = [Cell(round_text(number, how, digits), exact=repr(number)) for number, how in numbers]
            rows.append([Cell(name if self.exact[name] else f"{name} (outer)"), *cells])
        head = ["metric", *columns, *["judged"] * (self.coverage is not None)]
        return Table(head, rows, 1, self._notes())

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        columns = {"lower": self.lower, "value": self.value, "upper": self.upper, "condensed": self.condensed}
        metrics: dict[str, dict[str, Any]] = {}
        for name in self.value:
            numbers = {column: results[name] for column, results in columns.items()}
            if self.coverage is not None:
                numbers["judged"] = self.coverage[name]
            metrics[name] = {column: value if math.isfinite(value) else None for column, value in numbers.items()}
            metrics[name]["exact"] = self.exact[name]
        return {"metrics": metrics, "max_label": self.max_label, "pool_depth": self.pool_depth, "unseen": self.unseen}

    def _notes(self) -> list[str]:
        queries = counted(len(self.value.query_ids), "query", "queries")
        where = "" if self.pool_depth is None else f" at ranks to {self.pool_depth}"
        others = f", and of {counted(self.unseen, 'document', 'documents')} outside the ranking," if self.unseen else ""
        notes = [f"{queries}; labels of retrieved unjudged documents{where}{others} from 0 to {self.max_label}"]
        return notes if all(self.exact.values()) else [*notes, OUTER]
