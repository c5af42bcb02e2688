"""What `JudgedRankings.by_convention` returns: Results by the name of the convention, and why others have none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastir.data.results.results import Results
from fastir.data.results.tables import ResultsTable
from fastir.rendering.text import json_types

if TYPE_CHECKING:
    from fastir.rendering import Table


class ResultsByConvention(ResultsTable[Results]):
    """{convention: Results} for each convention under which judged rankings have values. Prints as a table of means.

    Attributes
    ----------
    refused : dict of str to dict of str to str
        {convention: {metric: why these rankings do not give its value}}. A convention can be here with some metrics and
        among the Results with the others. Refused metrics are NaN in tables and arrays.
    """

    __slots__ = ("refused",)
    _index = "convention"

    def __init__(self, results: dict[str, Results], refused: dict[str, dict[str, str]]) -> None:
        super().__init__(results)
        self.refused: dict[str, dict[str, str]] = refused

    def _metrics(self) -> dict[str, str]:
        return {name: how for results in self.values() for name, how in results.aggregates.items()}

    def _means(self) -> dict[Any, dict[str, float]]:
        nothing = dict.fromkeys(self._metrics(), math.nan)
        return {name: nothing | means for name, means in super()._means().items()}

    def _table(self, digits: int = 4) -> Table:
        conventions: dict[str, dict[str, None]] = {}
        for convention, by_metric in self.refused.items():
            for why in by_metric.values():
                conventions.setdefault(why.removeprefix(f"convention {convention}: "), {})[convention] = None
        notes = [f"{', '.join(some)}: {why}" for why, some in conventions.items()]
        return super()._table(digits)._replace(notes=notes)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        return {**super()._json(per_query), "refused": json_types(self.refused)}

    def _state(self) -> Any:
        return self._results, self.refused
