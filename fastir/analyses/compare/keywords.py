"""The keywords of ``**options``, for type checkers and editors; `docs/site/keywords.py` writes this file."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, SupportsIndex, TypedDict

from fastir.evaluation.keywords import CompareOptions

if TYPE_CHECKING:
    from fastir.analyses.compare.options import CorrectionOfPairs, Family, IntervalMethod, Seeds, Test
    from fastir.analyses.compare.segments import SegmentsLike
    from fastir.request.options import Queries
    from fastir.stats.effects import Effect


class StatisticsOptions(TypedDict, total=False):
    """How runs are compared."""

    n_threads: SupportsIndex | None
    queries: Queries | None
    baseline: Hashable | list[Hashable]
    test: Test
    n_resamples: SupportsIndex
    correction: CorrectionOfPairs | None
    family: Family
    confidence: float
    interval: IntervalMethod
    effect: Effect
    segments: SegmentsLike | None
    clusters: SegmentsLike | None
    random_state: SupportsIndex


class ScoresOptions(StatisticsOptions, total=False):
    """The keywords of `compare_scores`."""

    seeds: Seeds | None


class ReportOptions(CompareOptions, StatisticsOptions, total=False):
    """Options of `compare` in `write_report`."""
