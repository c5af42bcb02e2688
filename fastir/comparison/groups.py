"""Groups of queries in a comparison: which query is in which, and means over groups, each of which counts the same."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.checks import mapping
from fastir.comparison.records import Pair, System
from fastir.errors import quote
from fastir.stats._scipy import special
from fastir.stats.paired import Moments, moments

UNTESTED: dict[str, Any] = {
    **dict.fromkeys(("p_value", "adjusted_p", "effect", "detectable"), math.nan),
    "exact": False,
    "note": "",
}
GroupsLike = Mapping[Any, Hashable] | str | os.PathLike[str]


class Macro(NamedTuple):
    """Means over groups of which each counts the same, however many queries it has.

    Attributes
    ----------
    systems : list of System
        The mean of each run over the groups' means, with its interval: Student's, with the degrees of freedom of Welch
        and Satterthwaite. NaN bounds if a group has one query.
    pairs : list of Pair
        The differences of these means and their intervals; there is no test, so p-values and effects are NaN.
    """

    systems: list[System]
    pairs: list[Pair]


def checked_groups(groups: GroupsLike, correction: str | None) -> Mapping[Any, Hashable]:
    """{query_id: group}, before any run is read."""
    if correction == "max_t":
        raise ValueError("correction='max_t' is for one group of queries; with several there is correction='holm'")
    if isinstance(groups, (str, os.PathLike)):
        from fastir.inputs.pair_lines import by_lines

        return by_lines(groups, "query", "a group", "groups")
    return mapping("groups", groups, "map query ids to groups, or be a path")


def rows_of(groups: Mapping[Any, Hashable], query_ids: list[Any]) -> dict[Any, list[int]]:
    """{group: the places of its queries}, in the order in which `groups` first names them.

    Ids that are integers equal their decimal text, as in all columns.
    """
    rows: dict[Any, list[int]] = {}
    for place, query_id in enumerate(query_ids):
        key = query_id if query_id in groups else str(query_id)
        if key not in groups or groups[key] != groups[key]:
            raise ValueError(f"groups: query {quote(query_id)} has none")
        try:
            rows.setdefault(groups[key], []).append(place)
        except TypeError:
            raise TypeError(f"groups: that of query {quote(query_id)} cannot be a key of a dict") from None
    return {group: rows[group] for group in dict.fromkeys(groups.values()) if group in rows}


def macro_of(
    runs: list[Any], metrics: list[str], pairs: Sequence[Pair], groups: Sequence[np.ndarray], confidence: float
) -> Macro:
    """The means over groups, of the values of each: arrays of shape (n_metrics, n_queries, n_runs)."""
    if not groups:
        return Macro([], [])
    macro = Macro([], [])
    for place, metric in enumerate(metrics):
        own = [pair for pair in pairs if pair.metric == metric]
        a, b = (np.array([runs.index(getattr(pair, side)) for pair in own], int) for side in ("a", "b"))
        alone, differences = [], []
        for table in (values[place] for values in groups):
            rows = np.ascontiguousarray(table[~np.isnan(table).any(axis=1)].T)
            largest = np.abs(rows).max(axis=1)
            alone.append(moments(rows, largest))
            differences.append(moments(rows[a] - rows[b], np.maximum(largest[a], largest[b])))
        n_queries = sum(group.n for group in alone)
        for run, bounds in zip(runs, intervals_over(alone, confidence), strict=True):
            macro.systems.append(System(run, metric, *bounds, n_queries))
        for pair, (mean, low, high) in zip(own, intervals_over(differences, confidence), strict=True):
            macro.pairs.append(pair._replace(difference=mean, low=low, high=high, **UNTESTED))
    return macro


def intervals_over(groups: list[Moments], confidence: float) -> list[tuple[float, float, float]]:
    """The mean over the groups of each row, and its bounds."""
    means = [math.fsum(column) / len(groups) for column in zip(*(group.mean.tolist() for group in groups), strict=True)]
    variances = np.stack([group.deviation**2 / group.n for group in groups])
    freedoms = np.array([[max(group.n - 1, 1)] for group in groups])
    total = variances.sum(axis=0)
    with np.errstate(invalid="ignore"):
        freedom = total**2 / (variances**2 / freedoms).sum(axis=0)
        quantile = np.where(total == 0, 0.0, special().stdtrit(freedom, (1 + confidence) / 2))
    margins = (quantile * total**0.5 / len(groups)).tolist()
    return [(mean, mean - margin, mean + margin) for mean, margin in zip(means, margins, strict=True)]
