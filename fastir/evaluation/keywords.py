"""The options of `evaluate` as a TypedDict, for type checkers and editors, where a call takes them as ``**options``.

Nothing imports this file when a program runs. tests/request/test_options.py compares it with the signature of
`evaluate`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypedDict

from fastir.request.keywords import MetricOptions, MetricOptionsButDepth, ValueOptions

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.evaluation.run_names import RunNames
    from fastir.inputs.doc_weights import DocWeights
    from fastir.inputs.exclusions import ExcludeLike
    from fastir.inputs.parents import ParentsLike
    from fastir.request.conventions import Convention
    from fastir.request.options import Aggregate, Duplicates, Queries, Ties, Validate


class ReadingOptions(TypedDict, total=False):
    """Options of `evaluate` that say how qrels and runs are read, and how the documents of a run are ordered."""

    ties: Ties | None
    score_dtype: DTypeLike | None
    duplicates: Duplicates | None
    parents: ParentsLike | None
    aggregate: Aggregate
    exclude: ExcludeLike | None
    validate: Validate
    columns: Mapping[str, str] | None
    qrels_columns: Mapping[str, str] | None
    run_columns: Mapping[str, str] | None
    convention: str | Convention


class RankingOptions(ReadingOptions, total=False):
    """These, and which queries count."""

    queries: Queries | None
    n_threads: SupportsIndex | None


class CompareOptionsButDepth(ReadingOptions, MetricOptionsButDepth, total=False):
    """Options of `evaluate` that `compare` has no parameters for, for calls that have a `depth` of their own."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None
    doc_weights: DocWeights | str | os.PathLike[str] | None


class CompareOptions(CompareOptionsButDepth, MetricOptions, total=False):
    """Options of `evaluate` that `compare` has no parameters for: there `queries` may also say how runs are aligned."""


class BoundsOptions(RankingOptions, MetricOptionsButDepth, total=False):
    """Options of `bounds`, which has a `depth` of its own, and no metric that reads weights of documents."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None
    weights: Mapping[Any, float] | None


class CurveOptions(RankingOptions, total=False):
    """Options of the curves, whose metrics are fixed: these read few parameters."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None
    weights: Mapping[Any, float] | None
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


class ExplainOptions(RankingOptions, MetricOptions, total=False):
    """Options of `explain`: one query has no mean, and labels do not show weights of documents."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None


class ToJudgeOptions(ValueOptions, total=False):
    """Options of `to_judge`, which reads runs in one way."""

    queries: Queries | None
    ties: Ties | None
    score_dtype: DTypeLike | None


class EvaluateOptions(BoundsOptions, MetricOptions, total=False):
    """All options of `evaluate`."""

    doc_weights: DocWeights | str | os.PathLike[str] | None


class CollectionOptions(EvaluateOptions, total=False):
    """All options of `evaluate_many`."""

    names: RunNames
