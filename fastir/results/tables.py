"""Several Results in one table of their means: of runs (ResultsTable) or of groups of queries (ResultsByGroup).

The tables ask no more of Results than `Means` says, so that Results can return them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from fastir.text import aligned, rounded

if TYPE_CHECKING:
    import pandas


class Means(Protocol):
    """What a table reads of the Results in it: the mean of each metric, and how it was made."""

    @property
    def names(self) -> list[str]: ...

    @property
    def aggregates(self) -> dict[str, str]: ...

    def keys(self) -> Iterable[str]: ...

    def __getitem__(self, name: str, /) -> float: ...


R = TypeVar("R", bound=Means)


class ResultsTable(dict[Any, R], Generic[R]):
    """{name: Results}, which prints as a table of the means; `label` is the head of the column of names."""

    __slots__ = ()
    label = "name"

    def _means(self) -> dict[Any, dict[str, float]]:
        """The rows below the head."""
        return {name: dict(results) for name, results in self.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """The means as a new frame: float64, a row for each line of the table, a column per metric.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        import pandas

        names = next(iter(self.values())).names if self else []
        means = self._means()
        rows = [[row[name] for name in names] for row in means.values()]
        return pandas.DataFrame(rows, pandas.Index(list(means), name=self.label, tupleize_cols=False), names, float)

    def __repr__(self) -> str:
        hows = next(iter(self.values())).aggregates if self else {}
        rows = (
            [str(name), *(rounded(row[metric], how) for metric, how in hows.items())]
            for name, row in self._means().items()
        )
        return aligned([[self.label, *hows], *rows], left=1).rstrip("\n")


class ResultsByGroup(ResultsTable[R]):
    """The result of `Results.by_group`: {group: Results}, and below them in the table two means over all groups.

    Attributes
    ----------
    micro : dict of str to float
        {metric: its mean over all queries}.
    macro : dict of str to float
        {metric: the mean of the groups' means}; a group whose mean is NaN is left out, unless ``empty=nan``.
    """

    __slots__ = ("macro", "micro")
    label = "group"

    def __init__(self, whole: R, groups: dict[Any, R]) -> None:
        super().__init__(groups)
        self.micro: dict[str, float] = dict(whole)
        self.macro: dict[str, float] = {name: self._macro(name, how) for name, how in whole.aggregates.items()}

    def _macro(self, name: str, how: str) -> float:
        means = [results[name] for results in self.values()]
        if not how.endswith("_or_nan"):
            means = [mean for mean in means if mean == mean]
        return math.fsum(means) / len(means) if means else math.nan

    def _means(self) -> dict[Any, dict[str, float]]:
        return {**super()._means(), "micro": self.micro, "macro": self.macro}
