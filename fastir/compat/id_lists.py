"""What the stand-ins for tools that take lists of ids share: lists of ids as labels in rank order, and their values.

Ids are whatever the tool compares: of any type that has a hash. Of a document's copies the first counts; the others
keep their ranks and count for nothing, or are removed (`dict.fromkeys`) where the tool does that.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.columns.rows import offsets_from_sizes
from fastir.evaluation.labels import evaluate_ranked


def values(
    retrieved: Iterable[Sequence[Any]],
    relevant: Sequence[Mapping[Any, float]],
    metrics: Sequence[str],
    convention: str,
    **options: Any,
) -> np.ndarray:
    """Values of shape (n_queries, n_metrics), float64.

    Parameters
    ----------
    retrieved : iterable of sequence
        For each query the ids in rank order.
    relevant : sequence of mapping of id to label
        For each query; labels are from 0 up, and may be fractions for metrics that read gains alone.
    metrics, convention, **options
        As for `evaluate_ranked`.
    """
    labels: list[float] = []
    sizes = []
    for ids, judged in zip(retrieved, relevant, strict=True):
        left = dict(judged)
        labels += [left.pop(each, 0) for each in ids]
        sizes.append(len(ids))
    ideal = [label for judged in relevant for label in judged.values()]
    return evaluate_ranked(
        np.array(labels, float),
        offsets(sizes),
        metrics,
        convention=convention,
        ideal_labels=np.array(ideal, float),
        ideal_offsets=offsets(map(len, relevant)),
        **options,
    ).values


def offsets(sizes: Iterable[int]) -> np.ndarray:
    return offsets_from_sizes([*sizes])
