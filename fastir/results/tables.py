"""Several Results in one table of their means: of runs (ResultsTable) or of segments of the queries (ResultsBySegment).

The tables ask no more of Results than `Means` says, so that Results can return them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from fastir.checks import positive
from fastir.text import rounded

if TYPE_CHECKING:
    import pandas

    from fastir.rendering import Table


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

    def to_table(
        self,
        format: str = "text",
        *,
        digits: int = 4,
        transpose: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """The means as a table to print; of several runs, the best of each metric is bold.

        Parameters
        ----------
        format : {"text", "markdown", "html", "latex", "csv"}
            The first line of LaTeX names the packages that it needs; CSV has the exact numbers.
        digits : int
            Decimals, from 1 to 17.
        transpose : bool
            Whether metrics are the rows.
        caption, label : str or None
            What stands below the table, and what LaTeX and HTML refer to it by.

        Raises
        ------
        ValueError
            An argument has another value.
        """
        from fastir.rendering import rendered, transposed

        table = self.table(positive("digits", "the number of decimals", digits, 17))
        return rendered(transposed(table) if transpose else table, format, caption, label)

    def _best(self, metrics: list[str]) -> dict[str, float]:
        """The mean of each metric that is emphasized in tables; none where the rows do not compete."""
        return {}

    def table(self, digits: int = 4) -> Table:
        """The table of the means as cells, which `to_table` writes."""
        from fastir.rendering import Cell, Table

        hows = next(iter(self.values())).aggregates if self else {}
        best = self._best(list(hows))
        rows = [
            [
                Cell(str(name)),
                *(
                    Cell(
                        rounded(row[metric], how, digits),
                        strong=row[metric] == best.get(metric),
                        exact=repr(row[metric]),
                    )
                    for metric, how in hows.items()
                ),
            ]
            for name, row in self._means().items()
        ]
        return Table([self.label, *hows], rows, 1, [])

    def __repr__(self) -> str:
        return self.to_table().rstrip("\n")

    def _repr_html_(self) -> str:
        return self.to_table("html")


class ResultsBySegment(ResultsTable[R]):
    """The result of `Results.by_segment`: {segment: Results}, and below them in the table two means over all segments.

    Attributes
    ----------
    micro : dict of str to float
        {metric: its mean over all queries}.
    macro : dict of str to float
        {metric: the mean of the segments' means}; a segment whose mean is NaN is left out, unless ``empty=nan``.
    """

    __slots__ = ("macro", "micro")
    label = "segment"

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
