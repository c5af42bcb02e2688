"""The options of `evaluate` as a TypedDict, for type checkers and editors, where a call takes them as ``**options``.

Nothing imports this file when a program runs. tests/request/test_options.py compares it with the signature of
`evaluate`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex, TypedDict

from fastir.request.keywords import MetricOptions, MetricOptionsButDepth

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


class OptionsButDepth(RankingOptions, MetricOptionsButDepth, total=False):
    """Options of `evaluate`, for calls that have a `depth` of their own."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None
    doc_weights: DocWeights | str | os.PathLike[str] | None
    weights: Mapping[Any, float] | None


class EvaluateOptions(OptionsButDepth, MetricOptions, total=False):
    """All options of `evaluate`."""


class CollectionOptions(EvaluateOptions, total=False):
    """All options of `evaluate_many`."""

    names: RunNames
