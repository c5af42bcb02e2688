"""The keywords of ``**options``, for type checkers and editors; `docs/site/keywords.py` writes this file."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypedDict

from fastir.request.keywords import ConventionName, LevelOptions, MetricOptions, ValueOptions

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.evaluation.run_collections import RunNames
    from fastir.inputs.exclusions import ExcludeLike, ForbiddenLike, UnanswerableLike
    from fastir.inputs.mappings import DocGroupsLike, DocWeights, TargetLike
    from fastir.inputs.parents import ParentsLike
    from fastir.request.conventions import Convention
    from fastir.request.options import Aggregate, Duplicates, Queries, Ties, Validate


class ReadingOptions(TypedDict, total=False):
    """How qrels and runs are read, and how equal scores are ordered."""

    convention: ConventionName | str | Convention
    columns: Mapping[str, str] | None
    qrels_columns: Mapping[str, str] | None
    run_columns: Mapping[str, str] | None
    label: SupportsFloat | None
    duplicates: Duplicates | None
    validate: Validate
    parents: ParentsLike | None
    aggregate: Aggregate
    exclude: ExcludeLike | None
    ties: Ties | None
    min_score: SupportsFloat | None
    score_dtype: DTypeLike | None


class RankingOptions(ReadingOptions, total=False):
    """These, and which queries count."""

    n_threads: SupportsIndex | None
    queries: Queries | None


class CompareOptions(ReadingOptions, MetricOptions, LevelOptions, total=False):
    """Those that `compare` hands on."""

    forbidden: ForbiddenLike | None
    forbidden_level: SupportsFloat | None
    unanswerable: UnanswerableLike | None
    doc_groups: DocGroupsLike | None
    target: TargetLike | None
    doc_costs: DocWeights | str | os.PathLike[str] | None
    doc_weights: DocWeights | str | os.PathLike[str] | None


class WeightsOptions(RankingOptions, LevelOptions, total=False):
    """Options of means of one run."""

    weights: Mapping[Any, float] | None


class BoundsOptions(WeightsOptions, MetricOptions, total=False):
    """Options of `bounds`."""

    forbidden: ForbiddenLike | None
    forbidden_level: SupportsFloat | None
    doc_groups: DocGroupsLike | None
    target: TargetLike | None
    doc_costs: DocWeights | str | os.PathLike[str] | None


class CurveOptions(WeightsOptions, total=False):
    """Options of the curves: their metrics are fixed and read few parameters."""

    empty: Literal["zero", "one", "skip", "nan"]
    short_rankings: Literal["pad", "clip"]
    empty_ranking: Literal["zero", "skip"]


class RecallCurveOptions(CurveOptions, total=False):
    """Options of `precision_recall_curve`."""

    recall_norm: Literal["R", "min_kR"]
    rounding: Literal["v10", "v9"]
    unranked: Literal["zero", "nan"]


class RocCurveOptions(CurveOptions, total=False):
    """Options of `roc_curve`."""

    one_class: Literal["skip", "zero"]


class JudgeOptions(RankingOptions, MetricOptions, LevelOptions, total=False):
    """Options of metrics under a judge."""


class ExplainOptions(JudgeOptions, total=False):
    """Options of `explain`: one query has no mean, and labels do not show weights of documents."""

    forbidden: ForbiddenLike | None
    forbidden_level: SupportsFloat | None


class ToJudgeOptions(ValueOptions, total=False):
    """Options of `to_judge`, which reads runs in one way."""

    queries: Queries | None
    ties: Ties | None
    min_score: SupportsFloat | None
    score_dtype: DTypeLike | None


class EvaluateOptions(BoundsOptions, total=False):
    """All options of `evaluate`."""

    forbidden: ForbiddenLike | None
    forbidden_level: SupportsFloat | None
    unanswerable: UnanswerableLike | None
    doc_groups: DocGroupsLike | None
    target: TargetLike | None
    doc_costs: DocWeights | str | os.PathLike[str] | None
    doc_weights: DocWeights | str | os.PathLike[str] | None
    ties_report: bool


class CollectionOptions(EvaluateOptions, total=False):
    """All options of `evaluate_many`."""

    names: RunNames
    progress: Callable[[Hashable, int], object] | None
