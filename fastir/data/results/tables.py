"""Several Results in one table of their means: of runs (ResultsByRun) or of segments of the queries (ResultsBySegment).

The tables ask no more of Results than `Means` says, so that Results can return them.
"""

from __future__ import annotations

import math
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from fastir.checks import suggest_choice
from fastir.data.results.exportable import Exportable
from fastir.errors import quote
from fastir.rendering import Cell, Table
from fastir.rendering.text import json_types, round_text


class Means(Protocol):
    """The attributes of Results that tables, intervals and statistics read: Results import their files."""

    @property
    def names(self) -> list[str]: ...

    @property
    def query_ids(self) -> list[Any]: ...

    @property
    def aggregates(self) -> dict[str, str]: ...

    @property
    def values(self) -> np.ndarray: ...

    @property
    def weights(self) -> dict[Any, float] | None: ...

    def keys(self) -> Iterable[str]: ...

    def per_query(self, name: str) -> dict[Any, float]: ...

    def _json(self, per_query: bool = True) -> dict[str, Any]: ...

    def __getitem__(self, name: str, /) -> float: ...


R = TypeVar("R", bound=Means)

if TYPE_CHECKING:
    Readable = Mapping[Any, R]
else:  # no Mapping when it runs: libraries would then read a dict of objects, and not see the Arrow interface
    Readable = Generic


class ResultsTable(Exportable, Readable[R]):
    """{name: Results}, read like a dict; prints as a table of means.

    Parameters
    ----------
    results
        Whatever `dict` takes.

    Attributes
    ----------
    query_ids : list
        The queries of all Results, in order of first appearance.
    """

    __slots__ = ("_results",)
    _index = "name"

    def __init__(self, *results: Any, **more: Any) -> None:
        self._results: dict[Any, R] = dict(*results, **more)

    # ---- the mapping -----------------------------------------------------------------------------------------------
    def __getitem__(self, name: Any) -> R:
        try:
            return self._results[name]
        except (KeyError, TypeError):
            raise KeyError(self._unknown(name)) from None

    def _unknown(self, name: Any) -> str:
        """The message about a name that is none of a row; it may be one of a column."""
        known = ", ".join(quote(each) for each in list(self)[:10]) + (", ..." if len(self) > 10 else "")
        message = f"there is no {self._index} {quote(name)}{suggest_choice(name, self)}; there is {known or 'none'}"
        for each in self:
            if isinstance(name, str) and name in self._results[each].names:
                return f"{message}; a value is results[{quote(each)}][{quote(name)}]"
        return message

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, name: object) -> bool:
        return name in self._results

    def keys(self) -> KeysView[Any]:
        """The names."""
        return self._results.keys()

    def values(self) -> ValuesView[R]:
        """The Results."""
        return self._results.values()

    def items(self) -> ItemsView[Any, R]:
        """(name, Results) of each."""
        return self._results.items()

    def get(self, name: Any, default: Any = None) -> Any:
        """The Results of a name, or a default."""
        return self._results.get(name, default)

    # ---- as a table ------------------------------------------------------------------------------------------------
    @property
    def query_ids(self) -> list[Any]:
        return list(dict.fromkeys(query_id for results in self.values() for query_id in results.query_ids))

    def _means(self) -> dict[Any, dict[str, float]]:
        """The rows below the head."""
        return {name: dict(results) for name, results in self.items()}

    def _best(self, metrics: list[str]) -> dict[str, float]:
        """The mean of each metric that is emphasized in tables; none where the rows do not compete."""
        return {}

    def _metrics(self) -> dict[str, str]:
        """How each metric is averaged."""
        return next(iter(self.values())).aggregates if self else {}

    def _columns(self) -> dict[str, Any]:
        means = self._means()
        columns = {metric: np.array([row[metric] for row in means.values()], float) for metric in self._metrics()}
        return {str(self._index): objects(list(means)), **columns}

    def _array(self) -> np.ndarray:
        rows = [[row[metric] for metric in self._metrics()] for row in self._means().values()]
        return np.array(rows, float).reshape(len(rows), len(self._metrics()))

    def _table(self, digits: int = 4) -> Table:
        aggregates = self._metrics()
        best = self._best(list(aggregates))
        rows = [
            [
                Cell(str(name)),
                *(
                    Cell(
                        round_text(row[metric], how, digits),
                        strong=row[metric] == best.get(metric),
                        exact=repr(row[metric]),
                    )
                    for metric, how in aggregates.items()
                ),
            ]
            for name, row in self._means().items()
        ]
        return Table([str(self._index), *aggregates], rows, 1, [])

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        return {f"{self._index}s": {str(name): results._json(per_query) for name, results in self.items()}}

    def _state(self) -> Any:
        return self._results

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping):
            return self._results == dict(other)
        return super().__eq__(other)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


class ResultsBySegment(ResultsTable[R]):
    """The result of `Results.by_segment`: {segment: Results}. The table ends with two means over all segments.

    Attributes
    ----------
    micro : dict of str to float
        {metric: its mean over all queries}.
    macro : dict of str to float
        {metric: the mean of the segments' means}. A segment with the mean NaN is left out, unless ``empty=nan``.
    """

    __slots__ = ("macro", "micro")
    _index = "segment"

    def __init__(self, whole: R, segments: dict[Any, R]) -> None:
        super().__init__(segments)
        self.micro: dict[str, float] = dict(whole)
        self.macro: dict[str, float] = {name: self._macro(name, how) for name, how in whole.aggregates.items()}

    def _macro(self, name: str, how: str) -> float:
        means = [results[name] for results in self.values()]
        if not how.endswith("_or_nan"):
            means = [mean for mean in means if mean == mean]
        return math.fsum(means) / len(means) if means else math.nan

    def _means(self) -> dict[Any, dict[str, float]]:
        return {**super()._means(), "micro": self.micro, "macro": self.macro}

    def _metrics(self) -> dict[str, str]:
        return super()._metrics() or dict.fromkeys(self.micro, "mean")

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        return {**super()._json(per_query), "micro": json_types(self.micro), "macro": json_types(self.macro)}


def objects(values: list[Any]) -> np.ndarray:
    """Values as an array of Python objects, also where they are tuples."""
    array = np.empty(len(values), object)
    array[:] = values
    return array
