"""Weights of numbered items: what evaluate_matrix() and evaluate_topk() measure, each part with labels of its own."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.columns.rows import repeat
from fastir.errors import quote
from fastir.evaluation.composites.weights import WeightedPart, check_query_weights, weighted_parts
from fastir.inputs import arrays
from fastir.inputs.csr import Items
from fastir.inputs.mappings import align, read_weight
from fastir.request.plan import Settings


class ItemPart(NamedTuple):
    """Metrics that are measured together: their columns, their Settings, and the judged items with their labels."""

    columns: list[int]
    settings: Settings
    wanted: Items
    weighted: WeightedPart | None = None
    best: np.ndarray | None = None

    def add_divided(self, done: tuple[Any, ...], n: int) -> tuple[Any, ...]:
        """(values, status, counts) of a block of n rows in all, with what is known of all rows."""
        if self.weighted is None or self.best is None:
            return done
        return self.weighted.divide(done[0], self.best, n), *done[1:]

    def best_values(self, n: int) -> list[tuple[int, np.ndarray]]:
        """(column, what the best ranking of each of n rows has) of metrics that divide means."""
        if self.weighted is None or self.best is None:
            return []
        best = np.zeros((n, self.best.shape[1]))
        best[self.wanted.rows] = self.best
        columns = [self.columns[place] for place in self.weighted.by_means]
        return list(zip(columns, best.T, strict=True))


def item_parts(
    doc_weights: Any, weights: Any, wanted: Items, whole: Settings, parts: list[tuple[list[int], Settings]]
) -> list[ItemPart]:
    """Return the parts of metrics, each with its labels; weighted items first."""
    weighted, plain = [], []
    if doc_weights is not None:
        item_weights = read_item_weights(doc_weights, wanted)
        if weights is not None:
            check_query_weights(whole.requests)
    for columns, part in parts:
        if part.requests[0].card.sampled != "weights":
            plain.append((columns, part))
            continue
        for weighted_part in reversed(weighted_parts(part)):
            labels = weighted_part.labels(labels_or_ones(wanted), item_weights)
            items = Items(wanted.rows, wanted.offsets, wanted.numbers, labels, wanted.shape, wanted.name)
            best = (
                weighted_part.best(wanted.offsets, labels)
                if weighted_part.by_means
                else np.empty((len(wanted.rows), 0))
            )
            settings = weighted_part.settings.for_grades(items.code_labels())
            weighted.append(
                ItemPart([columns[place] for place in weighted_part.columns], settings, items, weighted_part, best)
            )
    grades = wanted.code_labels()
    where = None if grades is None else functools.partial(wanted.first_fraction, grades)
    return weighted + [ItemPart(columns, part.for_grades(grades, where), wanted) for columns, part in plain]


def labels_or_ones(wanted: Items) -> np.ndarray:
    return np.ones(len(wanted.numbers)) if wanted.labels is None else wanted.labels


def read_item_weights(doc_weights: Any, wanted: Items) -> np.ndarray:
    """The weight of each judged item."""
    owners = repeat(wanted.rows, np.diff(wanted.offsets))
    labels = labels_or_ones(wanted)
    if hasattr(doc_weights, "items"):
        rows = zip(owners.tolist(), wanted.numbers.tolist(), labels.tolist(), strict=True)
        return align(doc_weights, rows, "row", "item")
    by_item = arrays.numbers(doc_weights, "doc_weights", 1)
    within = (wanted.numbers >= 0) & (wanted.numbers < len(by_item))
    item_weights = np.full(len(wanted.numbers), np.nan)
    item_weights[within] = by_item[wanted.numbers[within]]
    wrong = np.flatnonzero((labels > 0) & ~((item_weights > 0) & (item_weights < np.inf)))
    if len(wrong):
        row, item = int(owners[wrong[0]]), int(wanted.numbers[wrong[0]])
        if not within[wrong[0]]:
            raise ValueError(
                f"doc_weights: item {quote(item)} of row {quote(row)} has no weight; there are {len(by_item)} weights"
            )
        read_weight(float(item_weights[wrong[0]]), f"(row {row}, item {item})")
    return item_weights
