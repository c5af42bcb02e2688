"""Where two Results differ: the queries that gain and lose."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fastir.errors import NoOverlapError, quote
from fastir.explanation.records import decimals, signed
from fastir.request.options import positive
from fastir.results.results import aligned

if TYPE_CHECKING:
    from fastir.comparison.records import Comparison
    from fastir.results.results import Results

NOISE = 1e-12  # relative differences up to this are rounding


class QueryChange(NamedTuple):
    """A query's value here, in the other Results, and the first less the second."""

    query_id: str | int
    value: float
    other_value: float
    change: float


@dataclass(frozen=True, repr=False, slots=True)
class ResultsDiff:
    """Where two Results differ on a metric; made by `Results.diff`, prints as a table.

    Attributes
    ----------
    metric : str
    mean, other_mean : float
        Over the queries that both have.
    gains, losses : list of QueryChange
        The queries with the larger value here, and with the smaller, the largest changes first; at most `top` each.
    n_gains, n_equal, n_losses : int
        How many there are in all.
    left_out : list
        Queries that only one of them has, or whose value is NaN.
    """

    metric: str
    mean: float
    other_mean: float
    gains: list[QueryChange]
    losses: list[QueryChange]
    n_gains: int
    n_equal: int
    n_losses: int
    left_out: list

    def __repr__(self) -> str:
        head = (
            f"{self.metric}: {decimals(self.mean)} against {decimals(self.other_mean)}, "
            f"{signed(self.mean - self.other_mean)}; {self.n_gains} gain, {self.n_equal} equal, "
            f"{self.n_losses} lose" + (f", {len(self.left_out)} left out" if self.left_out else "")
        )
        rows = [["query_id", "value", "was", "change"]]
        for changes, n, word in ((self.gains, self.n_gains, "gain"), (self.losses, self.n_losses, "lose")):
            rows += [
                [str(query), decimals(value), decimals(was), signed(change)] for query, value, was, change in changes
            ]
            if n > len(changes):
                rows.append([f"... {n - len(changes)} more {word}", "", "", ""])
        return f"{head}\n{aligned(rows, 1)}".rstrip("\n")


def differences(results: Results, other: Results, metric: str, top: int) -> ResultsDiff:
    """As Results.diff."""
    if not hasattr(other, "per_query"):
        raise TypeError(f"diff: the other must be Results, got {type(other).__name__}")
    here, there = results.per_query(metric), other.per_query(metric)

    def mean(whole: Results, kept: set) -> float:
        return whole._rows([row for row, query_id in enumerate(whole.query_ids) if query_id in kept])[metric]

    return changes_of(metric, here, there, top, lambda kept: (mean(results, kept), mean(other, kept)))


def changes_between(comparison: Comparison, a: Hashable, b: Hashable, metric: str, top: int) -> ResultsDiff:
    """As Comparison.diff."""
    for name, known in ((a, comparison.runs), (b, comparison.runs), (metric, comparison.metrics)):
        if name not in known:
            raise KeyError(f"{name!r} was not compared; there are {', '.join(map(repr, known))}")
    values = comparison.values[comparison.metrics.index(metric)]
    here, there = (
        dict(zip(comparison.query_ids, values[:, comparison.runs.index(run)].tolist(), strict=True)) for run in (a, b)
    )

    def mean(values: dict[Any, float], kept: set) -> float:
        return math.fsum(values[query_id] for query_id in kept) / len(kept) if kept else math.nan

    return changes_of(metric, here, there, top, lambda kept: (mean(here, kept), mean(there, kept)))


def changes_of(
    metric: str,
    here: Mapping[Any, float],
    there: Mapping[Any, float],
    top: int,
    means: Callable[[set], tuple[float, float]],
) -> ResultsDiff:
    """The changes from `there` to `here`, {query_id: value}; means(query_ids) gives the two over these queries."""
    top = positive("top", "the number of queries", top, sys.maxsize)
    changes = [
        QueryChange(query_id, value, there[query_id], value - there[query_id])
        for query_id, value in here.items()
        if query_id in there
    ]
    if not changes:
        raise NoOverlapError(
            f"diff: no query in common: these results have {quote(next(iter(here), None))}, "
            f"the others {quote(next(iter(there), None))}"
        )
    counted = [change for change in changes if change.change == change.change]
    kept = {change.query_id for change in counted}
    apart = [
        change for change in counted if abs(change.change) > NOISE * max(abs(change.value), abs(change.other_value))
    ]
    gains = sorted((change for change in apart if change.change > 0), key=lambda change: -change.change)
    losses = sorted((change for change in apart if change.change < 0), key=lambda change: change.change)
    return ResultsDiff(
        metric,
        *means(kept),
        gains[:top],
        losses[:top],
        len(gains),
        len(counted) - len(apart),
        len(losses),
        [query_id for query_id in {**here, **there} if query_id not in kept],
    )
