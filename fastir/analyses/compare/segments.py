"""Segments of the queries: the queries of each, and means over segments, all with the same weight."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.analyses.compare.records import Pair, System
from fastir.declared import Record
from fastir.errors import quote
from fastir.inputs.mappings import SEGMENTS, misfit_error, read_mapping
from fastir.stats import student
from fastir.stats.paired_tests import Moments, moments

UNTESTED_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("p_value", "adjusted_p", "effect", "detectable"), math.nan),
    "exact": False,
    "note": "",
}
SegmentsLike = Mapping[Any, Hashable] | str | os.PathLike[str]


class Macro(Record):
    """Means over segments, each of which counts the same, however many queries it has.

    Attributes
    ----------
    systems : list of System
        The mean of each run over the segments' means, with its interval: Student's, with the degrees of freedom of
        Welch and Satterthwaite. NaN bounds if a segment has one query.
    pairs : list of Pair
        The differences of these means and their intervals; there is no test, so p-values and effects are NaN.
    """

    systems: list[System]
    pairs: list[Pair]


def read_segments(segments: SegmentsLike) -> Mapping[Any, Hashable]:
    """{query_id: segment}, before any run is read."""
    return read_mapping(SEGMENTS, segments)


def segment_rows(segments: Mapping[Any, Hashable], query_ids: list[Any]) -> dict[Any, list[int]]:
    """{segment: the positions of its queries}, in the order in which `segments` first names them.

    Ids that are integers equal their decimal text, as in all columns.
    """
    rows: dict[Any, list[int]] = {}
    for place, query_id in enumerate(query_ids):
        key = query_id if query_id in segments else str(query_id)
        if key not in segments or segments[key] != segments[key]:
            raise misfit_error("segments", segments, f"query {quote(query_id)} has no segment")
        try:
            rows.setdefault(segments[key], []).append(place)
        except TypeError:
            raise TypeError(f"segments: the segment of query {quote(query_id)} is not hashable") from None
    return {segment: rows[segment] for segment in dict.fromkeys(segments.values()) if segment in rows}


def macro_means(
    runs: list[Any], metrics: list[str], pairs: Sequence[Pair], segments: Sequence[np.ndarray], confidence: float
) -> Macro:
    """The means over segments, of the values of each: arrays of shape (n_metrics, n_queries, n_runs)."""
    macro = Macro([], [])
    if not segments:
        return macro
    for place, metric in enumerate(metrics):
        of_metric = [pair for pair in pairs if pair.metric == metric]
        a, b = (np.array([runs.index(getattr(pair, side)) for pair in of_metric], int) for side in ("a", "b"))
        alone, differences = [], []
        for table in (values[place] for values in segments):
            rows = np.ascontiguousarray(table[~np.isnan(table).any(axis=1)].T)
            largest = np.abs(rows).max(axis=1)
            alone.append(moments(rows, largest))
            differences.append(moments(rows[a] - rows[b], np.maximum(largest[a], largest[b])))
        n_queries = sum(segment.n for segment in alone)
        for run, bounds in zip(runs, intervals_over(alone, confidence), strict=True):
            macro.systems.append(System(run, metric, *bounds, n_queries))
        for pair, (mean, low, high) in zip(of_metric, intervals_over(differences, confidence), strict=True):
            macro.pairs.append(pair._replace(difference=mean, low=low, high=high, **UNTESTED_FIELDS))
    return macro


def intervals_over(segments: list[Moments], confidence: float) -> list[tuple[float, float, float]]:
    """The mean over the segments of each row, and its bounds."""
    means = [
        math.fsum(column) / len(segments)
        for column in zip(*(segment.mean.tolist() for segment in segments), strict=True)
    ]
    variances = np.stack([segment.deviation**2 / segment.n for segment in segments])
    freedoms = np.array([[max(segment.n - 1, 1)] for segment in segments])
    total = variances.sum(axis=0)
    with np.errstate(invalid="ignore"):
        freedom = total**2 / (variances**2 / freedoms).sum(axis=0)
    rows = zip(freedom.tolist(), total.tolist(), strict=True)
    quantiles = [student.quantile(df, (1 + confidence) / 2) if variance > 0 else variance for df, variance in rows]
    margins = (np.array(quantiles) * total**0.5 / len(segments)).tolist()
    return [(mean, mean - margin, mean + margin) for mean, margin in zip(means, margins, strict=True)]
