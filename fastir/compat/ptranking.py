"""PTRanking's metrics of sorted labels: import them from here instead of ``ptranking.metric.adhoc.adhoc_metric``.

Compared with the source of commit f1d366cd4355fb9f38fb97cb89b224b182d9ca87. PTRanking itself is not needed.

**Same**: names and parameters; float32 tensors of shape (batch_size, 1), or (batch_size, len(ks)) with 0 for cutoffs
beyond the lists; exponential gains, the ideal from the labels given, the batch's largest label as the top of nERR's
scale unless `max_label` is given; precision at k of a shorter list divides by its length. A list without relevant
documents is NaN to nDCG, nERR and AP, and 0 to precision.

**Different on purpose**: AP of labels above 1 divides by the relevant documents, at most k; PTRanking divides by
the sum of their labels, and does not give 1 to the best ranking. nDCG at a k beyond the lists is computed on the whole
lists; PTRanking's function of one k fails there. Values are computed on the CPU in double precision and rounded.

**Not offered**: labels that are permutations (`LABEL_TYPE.Permutation`), `torch_dcg_at_k` and its like, Kendall's tau,
the metrics of diversity, and `np_metric_at_ks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastir.engine.columns.rows import equal_offsets
from fastir.evaluation.labels import evaluate_ranked

__all__ = [f"torch_{metric}_at_{cutoffs}" for metric in ("precision", "ap", "nerr", "ndcg") for cutoffs in ("k", "ks")]


def at(predicted: Any, ideal: Any, metric: str, ks: Sequence[int], **options: Any) -> Any:
    """A tensor of shape (batch_size, len(ks)) on the device of the labels: 0 for cutoffs beyond the lists."""
    n, size = predicted.shape
    offsets = equal_offsets(n, size)
    inside = [k for k in ks if k <= size]
    values = np.zeros((n, len(ks)), np.float32)
    if inside:
        labels, best = (np.maximum(each.detach().cpu().numpy().ravel(), 0) for each in (predicted, ideal))
        names = [f"{metric}@{k}" for k in inside]
        results = evaluate_ranked(
            labels, offsets, dict.fromkeys(names), convention="ptranking", ideal="judged", ideal_labels=best,
            ideal_offsets=offsets, **options,
        )  # fmt: skip
        columns = dict(zip(results, results.values.T, strict=True))
        values[:, [place for place, k in enumerate(ks) if k <= size]] = np.transpose([columns[name] for name in names])
    return predicted.new_tensor(values)


def top(ideal: Any, max_label: Any) -> int:
    return max(1, int(ideal.max() if max_label is None else max_label))


def multi_level(label_type: Any) -> None:
    if getattr(label_type, "name", "MultiLabel") != "MultiLabel":
        raise NotImplementedError(f"label_type must be MultiLabel, got {label_type}")


def torch_precision_at_k(batch_predict_rankings: Any, k: Any = None, device: Any = "cpu") -> Any:
    """The fraction of the first k documents that are relevant."""
    return torch_precision_at_ks(batch_predict_rankings, [min(k, batch_predict_rankings.size(1))])


def torch_precision_at_ks(batch_predict_rankings: Any, ks: Any = None, device: Any = "cpu") -> Any:
    """Precision at several k."""
    return at(batch_predict_rankings, batch_predict_rankings, "precision", ks)


def torch_ap_at_k(batch_predict_rankings: Any, batch_ideal_rankings: Any, k: Any = None, device: Any = "cpu") -> Any:
    """Average precision over at most k relevant documents."""
    return torch_ap_at_ks(batch_predict_rankings, batch_ideal_rankings, [min(k, batch_predict_rankings.size(1))])


def torch_ap_at_ks(batch_predict_rankings: Any, batch_ideal_rankings: Any, ks: Any = None, device: Any = "cpu") -> Any:
    """Average precision at several k."""
    return at(batch_predict_rankings, batch_ideal_rankings, "map", ks)


def torch_nerr_at_k(
    batch_predict_rankings: Any,
    batch_ideal_rankings: Any,
    k: Any = None,
    device: Any = None,
    label_type: Any = None,
    max_label: Any = None,
) -> Any:
    """Normalised expected reciprocal rank."""
    ks = [min(k, batch_predict_rankings.size(1))]
    return torch_nerr_at_ks(batch_predict_rankings, batch_ideal_rankings, ks, device, label_type, max_label)


def torch_nerr_at_ks(
    batch_predict_rankings: Any,
    batch_ideal_rankings: Any,
    ks: Any = None,
    device: Any = "cpu",
    label_type: Any = None,
    max_label: Any = None,
) -> Any:
    """Normalised ERR at several k."""
    multi_level(label_type)
    grade = top(batch_ideal_rankings, max_label)
    return at(batch_predict_rankings, batch_ideal_rankings, "nerr", ks, max_grade=grade)


def torch_ndcg_at_k(
    batch_predict_rankings: Any, batch_ideal_rankings: Any, k: Any = None, device: Any = "cpu", label_type: Any = None
) -> Any:
    """nDCG with exponential gains."""
    ks = [min(k, batch_predict_rankings.size(1))]
    return torch_ndcg_at_ks(batch_predict_rankings, batch_ideal_rankings, ks, device, label_type)


def torch_ndcg_at_ks(
    batch_predict_rankings: Any, batch_ideal_rankings: Any, ks: Any = None, device: Any = "cpu", label_type: Any = None
) -> Any:
    """nDCG with exponential gains at several k."""
    multi_level(label_type)
    return at(batch_predict_rankings, batch_ideal_rankings, "ndcg", ks)
