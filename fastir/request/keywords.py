"""The keywords of calls that take ``**options``, for type checkers and editors: a TypedDict for each kind of call.

Nothing imports this file when a program runs. tests/request/test_options.py compares it with the cards and with
`checked_options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypedDict

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.request.conventions import Convention
    from fastir.request.options import TiesWithoutIds

Gains = str | Mapping[int, float]  # a word, or the gain of each label


class MetricOptionsButDepth(TypedDict, total=False):
    """Parameters of metrics, for all metrics that have them; `fastir.metrics` says what they mean."""

    empty: Literal["zero", "one", "skip", "nan"]
    gain: Gains
    discount: Literal["log2", "jk2"]
    ideal: Literal["judged", "retrieved", "num_ret", "full", "uncut"]
    ap_norm: Literal["R", "min_kR", "hits", "min_nkR"]
    short_rankings: Literal["pad", "clip"]
    rounding: Literal["v10", "v9"]
    unranked: Literal["zero", "nan"]
    one_class: Literal["skip", "zero"]
    gains: Gains
    rbp_norm: Literal["infinite", "cwl"]
    bpref_norm: Literal["min", "R", "min_nan"]
    negatives: Literal["skip", "nonrel"]
    f_weight: Literal["x", "beta"]
    max_grade: int | Literal["query"]
    tail: Literal["unjudged", "always"]
    rank_one: Literal["normalised", "raw"]
    normalize: bool | Literal["true", "false"]
    missing_documents: Literal["last", "zero"]
    recall_norm: Literal["R", "min_kR"]
    no_hit: Literal["skip", "zero"]
    empty_ranking: Literal["zero", "skip"]
    wanted: Literal["up", "nearest"]
    n_docs: int | Literal["judged"]
    self_normalized: bool | Literal["true", "false"]


class MetricOptions(MetricOptionsButDepth, total=False):
    """All of them; the depth of compat is none where a call has a `depth` of its own."""

    depth: int | Literal["max"]


class ValueOptions(MetricOptions, total=False):
    """The options on which values of judged rankings depend."""

    rel_level: SupportsIndex | SupportsFloat
    judged_only: bool
    max_depth: SupportsIndex | None
    n_threads: SupportsIndex | None
    convention: str | Convention


class ArrayOptions(ValueOptions, total=False):
    """Options of `evaluate_scores` that are not arrays."""

    ties: TiesWithoutIds | None
    score_dtype: DTypeLike | None


class BatchOptions(ArrayOptions, total=False):
    """Those of an Accumulator."""

    doc_weights: Any
