"""Where two sets of values per query differ: the queries that gain and lose.

It takes plain {query_id: value}, so that Results and comparisons both use it; each passes its own function for means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastir.checks import positive_integer
from fastir.data.results.exportable import Exportable, columns_from_records
from fastir.errors import NoOverlapError, quote
from fastir.rendering import Cell, Table, number_cell
from fastir.rendering.look_alikes import quote_first
from fastir.rendering.text import decimals, signed_text

MAX_RELATIVE_NOISE = 1e-12  # relative differences up to this are rounding


class QueryChange(NamedTuple):
    """How the value of one query differs between two Results.

    Attributes
    ----------
    query_id : str or int
    value, other_value : float
        The value in these Results, and in the other ones.
    change : float
        ``value - other_value``.
    """

    query_id: str | int
    value: float
    other_value: float
    change: float


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ResultsDiff(Exportable):
    """Where two Results differ on a metric; made by `Results.diff`. Prints as a table.

    Attributes
    ----------
    metric : str
    mean, other_mean : float
        Over the queries that both have.
    gains, losses : list of QueryChange
        The queries with a better and with a worse value here, the largest changes first; at most `top` each. For a
        metric of which less is better, such as ``mean_rank``, the smaller value is better.
    n_gains, n_equal, n_losses : int
        The number of all queries with a better, an equal and a worse value.
    left_out : list
        Queries that only one of the two has, or with the value NaN.
    new, removed : list
        The queries that only these Results have, and those that only the other ones have.
    """

    metric: str
    mean: float
    other_mean: float
    gains: list[QueryChange]
    losses: list[QueryChange]
    n_gains: int
    n_equal: int
    n_losses: int
    left_out: list[Any]
    new: list[Any]
    removed: list[Any]

    def _columns(self) -> dict[str, list[Any]]:
        return columns_from_records(QueryChange._fields, [*self.gains, *self.losses])

    def _title(self) -> str:
        return self.summary()

    def _table(self, digits: int = 4) -> Table:
        rows = []
        for changes, n, word in ((self.gains, self.n_gains, "gained"), (self.losses, self.n_losses, "lost")):
            for query_id, *numbers, change in changes:
                cells = (number_cell(number, digits) for number in numbers)
                rows.append([Cell(str(query_id)), *cells, Cell(signed_text(change, digits), exact=repr(change))])
            if n > len(changes):
                rows.append([Cell(f"... {n - len(changes)} more {word}"), *[Cell("")] * 3])
        return Table(["query_id", "value", "old", "change"], rows, 1, [], self._title())

    @property
    def query_ids(self) -> list[Any]:
        """The listed queries: gains, then losses."""
        return [change.query_id for change in (*self.gains, *self.losses)]

    def summary(self) -> str:
        """One line with both means and how many queries gain and lose."""
        apart = {"new": self.new, "removed": self.removed}
        texts = [f", {len(ids)} {word} (such as {quote(ids[0])})" for word, ids in apart.items() if ids]
        n_undefined = len(self.left_out) - len(self.new) - len(self.removed)
        texts += [f", {n_undefined} without a value"] * bool(n_undefined)
        return (
            f"{self.metric}: {decimals(self.mean)} against {decimals(self.other_mean)}, "
            f"{signed_text(self.mean - self.other_mean) or 'no change'}; {self.n_gains} gained, {self.n_equal} equal, "
            f"{self.n_losses} lost{''.join(texts)}"
        )


def diff_values(
    metric: str,
    here: Mapping[Any, float],
    there: Mapping[Any, float],
    top: int,
    means: Callable[[set[Any]], tuple[float, float]],
    higher_is_better: bool | None,
) -> ResultsDiff:
    """The changes from `there` to `here`, {query_id: value}; means(query_ids) gives the two over these queries.

    `higher_is_better` is the direction of the metric's card.
    """
    top = positive_integer("top", "the number of queries", top, sys.maxsize)
    changes = [
        QueryChange(query_id, value, there[query_id], value - there[query_id])
        for query_id, value in here.items()
        if query_id in there
    ]
    if not changes:
        one, other = quote_first(here, there)
        raise NoOverlapError(f"diff: no query in common: these results have {one}, the others {other}")
    counted = [change for change in changes if change.change == change.change]
    kept = {change.query_id for change in counted}
    apart = [
        change
        for change in counted
        if abs(change.change) > MAX_RELATIVE_NOISE * max(abs(change.value), abs(change.other_value))
    ]
    apart.sort(key=lambda change: -abs(change.change))
    larger = [change for change in apart if change.change > 0]
    smaller = [change for change in apart if change.change < 0]
    gains, losses = (smaller, larger) if higher_is_better is False else (larger, smaller)
    return ResultsDiff(
        metric,
        *means(kept),
        gains[:top],
        losses[:top],
        len(gains),
        len(counted) - len(apart),
        len(losses),
        [query_id for query_id in {**here, **there} if query_id not in kept],
        [query_id for query_id in here if query_id not in there],
        [query_id for query_id in there if query_id not in here],
    )
