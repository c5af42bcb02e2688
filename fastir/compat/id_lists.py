"""What the stand-ins for tools that take lists of ids share: lists of ids as labels in rank order, and their values.

Ids are whatever the tool compares: of any type that has a hash. Of a document's copies the first counts; the others
keep their ranks and count for nothing, or are removed (`dict.fromkeys`) where the tool does that.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.compat import _lists
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.engine.measure._measure import Plan
from fastir.evaluation.labels import evaluate_ranked
from fastir.request.options import RANKED, checked_options
from fastir.request.plan import compile_settings


def values(
    retrieved: Iterable[Sequence[Any]],
    relevant: Iterable[Mapping[Any, float]],
    metrics: Sequence[str],
    convention: str,
    **options: Any,
) -> np.ndarray:
    """Values of shape (n_queries, n_metrics), float64.

    Parameters
    ----------
    retrieved : iterable of sequence
        For each query the ids in rank order.
    relevant : iterable of dict of id to label
        For each query; labels are from 0 up, and may be fractions for metrics that read gains alone.
    metrics, convention, **options
        As for `evaluate_ranked`.
    """
    labels, places, ideal, ideal_places = _lists.labels_in_order(retrieved, relevant)
    return evaluate_ranked(
        labels,
        places,
        metrics,
        convention=convention,
        ideal_labels=ideal,
        ideal_offsets=ideal_places,
        **options,
    ).values


def value_of_one(retrieved: Iterable[Any], relevant: Iterable[Any], metric: str, convention: str) -> float:
    """The value of one query, as `values` with labels of 1, for tools that ask query by query."""
    return _lists.value_of_one(plan(metric, convention), retrieved, relevant)


@functools.cache
def plan(metric: str, convention: str) -> Plan:
    """The plan of a metric of rankings without ids."""
    return compile_settings((metric,), checked_options(ties=RANKED, convention=convention, choices={})).plan


def offsets(sizes: Iterable[int]) -> np.ndarray:
    return offsets_from_sizes([*sizes])
