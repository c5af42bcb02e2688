"""Bounds: what `bounds` returns, three Results and a table of them."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from fastir.data.results.exportable import Exportable
from fastir.rendering import Cell, Table
from fastir.rendering.text import counted, round_text

if TYPE_CHECKING:
    from fastir.data.rankings import JudgedRankings
    from fastir.data.results.results import Results

OUTER = "outer bound: no labels give a value beyond it, and perhaps none gives it"


@dataclass(repr=False, eq=False)
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

    value: Results
    lower: Results
    upper: Results
    outer: dict[str, list[Any]]
    judged: JudgedRankings
    max_label: float
    pool_depth: int | None
    _: KW_ONLY
    unseen: int = 0
    condensed: Results
    coverage: dict[str, float] | None = None
    against: JudgedRankings | None = None

    def __post_init__(self) -> None:
        self.value._bounds = self

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

    def _numbers(self, name: str) -> dict[str, float]:
        """The columns of a metric."""
        numbers = {column: getattr(self, column)[name] for column in ("lower", "value", "upper", "condensed")}
        return numbers if self.coverage is None else {**numbers, "judged": self.coverage[name]}

    def _table(self, digits: int = 4) -> Table:
        rows, columns = [], list(self._numbers(self.value.names[0]))
        for name, aggregate in self.value.aggregates.items():
            cells = [
                Cell(round_text(number, "mean" if column == "judged" else aggregate, digits), exact=repr(number))
                for column, number in self._numbers(name).items()
            ]
            rows.append([Cell(name if self.exact[name] else f"{name} (outer)"), *cells])
        return Table(["metric", *columns], rows, 1, self._notes())

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        metrics = {
            name: {
                **{column: value if math.isfinite(value) else None for column, value in self._numbers(name).items()},
                "exact": self.exact[name],
            }
            for name in self.value
        }
        return {"metrics": metrics, "max_label": self.max_label, "pool_depth": self.pool_depth, "unseen": self.unseen}

    def _notes(self) -> list[str]:
        queries = counted(len(self.value.query_ids), "query", "queries")
        where = "" if self.pool_depth is None else f" at ranks to {self.pool_depth}"
        others = f", and of {counted(self.unseen, 'document', 'documents')} outside the ranking," if self.unseen else ""
        notes = [f"{queries}; labels of retrieved unjudged documents{where}{others} from 0 to {self.max_label}"]
        return notes if all(self.exact.values()) else [*notes, OUTER]
