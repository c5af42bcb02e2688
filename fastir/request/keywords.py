"""The keywords of ``**options``, for type checkers and editors; `docs/site/keywords.py` writes this file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypedDict

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.request.conventions import Convention
    from fastir.request.options import TiesWithoutIds

# Beside str: an editor completes the names, and a type checker takes any text.
ConventionName: TypeAlias = Literal[
    "fastir",
    "trec_eval-10",
    "trec_eval-9",
    "ranx",
    "ir_measures",
    "sklearn",
    "lightgbm",
    "xgboost",
    "catboost",
    "torchmetrics",
    "sentence-transformers",
    "beir",
    "mteb",
    "mteb-2.17",
    "pyserini",
    "gdeval",
    "ndeval",
    "ptranking",
    "tf-ranking",
    "haystack",
    "haystack-2",
    "haystack-1",
    "llamaindex",
    "mlflow",
    "ragas",
    "trulens",
    "trulens-2.13",
    "deepeval",
    "longmemeval",
    "spark",
    "recbole",
    "cornac",
    "implicit",
    "rectools",
    "replay",
    "recommenders",
    "lenskit",
    "elasticsearch",
    "opensearch",
    "opensearch-workbench",
    "quepid",
]


class MetricOptions(TypedDict, total=False):
    """Parameters of metrics, for all metrics that have them; `fastir.metrics` says what they mean."""

    empty: Literal["zero", "one", "skip", "nan"]
    short_rankings: Literal["pad", "clip"]
    empty_ranking: Literal["zero", "skip"]
    average: Literal["macro", "micro"]
    over_budget: Literal["stop", "skip"]
    at_least_one: bool | Literal["false", "true"]
    recall_norm: Literal["R", "min_kR"]
    f_weight: Literal["x", "beta"]
    ap_norm: Literal["R", "min_kR", "hits", "min_nkR"]
    no_hit: Literal["skip", "zero"]
    one_class: Literal["skip", "zero"]
    rounding: Literal["v10", "v9"]
    unranked: Literal["zero", "nan"]
    bpref_norm: Literal["min", "R", "min_nan"]
    negatives: Literal["skip", "nonrel"]
    gain: str | Mapping[int, float]
    discount: Literal["log2", "jk2"]
    ideal: Literal["judged", "retrieved", "num_ret", "full", "uncut"]
    rank_one: Literal["normalised", "raw"]
    gains: str | Mapping[int, float]
    rbp_norm: Literal["infinite", "cwl"]
    tail: Literal["unjudged", "always"]
    max_grade: int | Literal["query"]
    depth: int | Literal["max"]
    normalize: bool | Literal["true", "false"]
    missing_documents: Literal["last", "zero"]
    wanted: Literal["up", "nearest"]
    n_docs: int | Literal["judged"]
    self_normalized: bool | Literal["true", "false"]
    set_ranks: Literal["documents", "sets"]


class LevelOptions(TypedDict, total=False):
    """Which labels are relevant, and which documents have a rank."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None


class ValueOptions(MetricOptions, LevelOptions, total=False):
    """What values of judged rankings depend on."""

    convention: ConventionName | str | Convention
    n_threads: SupportsIndex | None


class ArrayOptions(ValueOptions, total=False):
    """Options of `evaluate_scores` that are not arrays."""

    ties: TiesWithoutIds | None
    min_score: SupportsFloat | None
    score_dtype: DTypeLike | None


class BatchOptions(ArrayOptions, total=False):
    """Options of an Accumulator."""

    doc_weights: Any
