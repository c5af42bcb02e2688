"""Clusters of queries, such as the repeats of one question: whole clusters are counted, drawn and flipped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.checks import mapping
from fastir.engine.columns.rows import occurrences
from fastir.errors import FormatError, quote, warn_caller

REPEAT = re.compile(r"(.+)[_\-.:#/ ]([0-9]+)", re.DOTALL)  # an id that ends in the number of a repeat


class Clusters(NamedTuple):
    """The cluster of each query, as a number from 0 in the order in which clusters come first."""

    codes: np.ndarray  # int64 of shape (n_queries,)
    sizes: np.ndarray  # int64 of shape (n_clusters,)

    @property
    def equal(self) -> bool:
        """Whether all clusters have as many queries."""
        return bool((self.sizes == self.sizes[0]).all())

    def sums(self, rows: np.ndarray) -> np.ndarray:
        """The sum over each cluster, the last axis for the queries before and for the clusters after."""
        order = np.argsort(self.codes, kind="stable")
        starts = np.concatenate(([0], np.cumsum(self.sizes)[:-1]))
        return np.ascontiguousarray(np.add.reduceat(rows[..., order], starts, axis=-1))

    def part(self, chosen: np.ndarray) -> Clusters:
        """The clusters of some of the queries."""
        return number_clusters(self.codes[chosen].tolist())


def number_clusters(labels: Iterable[Any]) -> Clusters:
    """The Clusters of a label for each query."""
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)
    return Clusters(codes, occurrences(codes, minlength=len(numbers)))


def clusters_of_values(clusters: Any, n: int, option: str = "clusters") -> Clusters | None:
    """The clusters of values without ids: a label for each of them."""
    if clusters is None:
        return None
    if isinstance(clusters, (Mapping, str, bytes)) or not isinstance(clusters, Iterable):
        raise TypeError(
            f"{option} must have a cluster for each value, as the values have no ids, got {type(clusters).__name__}"
        )
    labels = clusters.tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    if len(labels) != n:
        raise ValueError(f"{option} has {len(labels)} entries for {n} values; expected a cluster for each value")
    return check_labels(option, clusters, range(n), labels, "value")


def clusters_of_queries(clusters: Any, query_ids: Iterable[Any], warn: bool = True) -> Clusters:
    """The clusters of queries, from a mapping; ids that are integers equal their decimal text."""
    pairs = mapping("clusters", clusters, "map query ids to clusters")
    ids = list(query_ids)
    labels = []
    for query_id in ids:
        key = query_id if query_id in pairs else str(query_id)
        if key not in pairs:
            raise label_error("clusters", pairs, f"query {quote(query_id)} has no cluster")
        labels.append(pairs[key])
    return check_labels("clusters", pairs, ids, labels, "query", warn)


def check_labels(
    option: str, given: object, keys: Iterable[Any], labels: list[Any], what: str, warn: bool = True
) -> Clusters:
    for key, label in zip(keys, labels, strict=True):
        if label is None or label != label:
            raise label_error(option, given, f"{what} {quote(key)} has no cluster, but {quote(label)}")
    try:
        found = number_clusters(labels)
    except TypeError:
        raise TypeError(f"{option}: a cluster is not hashable") from None
    if warn and len(found.sizes) == len(labels) > 1:
        warn_caller(f"{option}: each of the {len(labels)} clusters has one {what}: nothing is clustered")
    return found


def label_error(option: str, given: object, message: str) -> ValueError:
    """The error about a missing label; with the path of the file that the labels were read from."""
    text, path = f"{option}: {message}", getattr(given, "path", None)
    return FormatError(text, path) if isinstance(path, str) else ValueError(text)


def warn_of_repeats(query_ids: list[Any]) -> None:
    """Warn where ids look like repeats of questions, such as q1_0, q1_1, q2_0, q2_1: their values are not independent.

    They do if all end in a number, and each question has the same numbers, at least two.
    """
    if len(query_ids) < 4 or not isinstance(query_ids[0], str) or not REPEAT.fullmatch(query_ids[0]):
        return
    numbers: dict[str, set[str]] = {}
    for query_id in query_ids:
        match = REPEAT.fullmatch(query_id) if isinstance(query_id, str) else None
        if match is None:
            return
        numbers.setdefault(match[1], set()).add(match[2])
    first, *others = numbers.values()
    if len(first) > 1 and others and all(other == first for other in others):
        question = next(iter(numbers))
        warn_caller(
            f"query ids such as {quote(query_ids[0])} look like {len(first)} repeats of each of {len(numbers)} "
            f"questions; clusters={{{quote(query_ids[0])}: {quote(question)}, ...}} counts whole questions"
        )
