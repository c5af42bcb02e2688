"""Families of labelings: for each query the few among which its smallest and largest values are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastir.analyses.bounds._labelings import Labelings
from fastir.analyses.bounds.unjudged_ranks import positions
from fastir.engine.columns.rows import occurrences, repeat
from fastir.engine.threads import run
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from fastir.analyses.bounds.unjudged_ranks import UnjudgedRanks
    from fastir.engine.measure._measure import Plan

MAX_LABELINGS = 10_000  # of a query of which all are tried
LABELINGS_AT_ONCE = 1 << 18  # that are in memory
NO_ROWS = np.zeros(0, np.int64)


class Family(NamedTuple):
    """Labelings of queries, by thresholds or document by document; what `_labelings.Labelings` takes."""

    # labels; an unjudged document inside has the label ``order[i]`` if i entries of `counts` exceed its position
    order: tuple[int, ...]
    rows: np.ndarray  # int64 of shape (n,)
    # uint8 of shape (n,): whether positions are counted from the first unjudged document, or from the last one inside
    from_top: np.ndarray
    counts: np.ndarray  # int64 of shape (n, len(order) - 1)
    inside: np.ndarray  # int64 of shape (n,)
    below: np.ndarray  # int32 of shape (n,): the label of all other unjudged documents
    # int64 of shape (n,), or empty: where the labels of the unjudged documents begin in `unjudged_labels`: by rank,
    # then the documents that are not in the ranking. All fields above except `rows` are then unused
    starts: np.ndarray = NO_ROWS
    unjudged_labels: np.ndarray = NO_ROWS.astype(np.int32)  # int32 array


def two_labels(inside: np.ndarray, others: np.ndarray, low: int, high: int) -> Family:
    """All unjudged documents inside have one of two labels, and so have the others."""
    rows = np.tile(np.arange(len(inside)), 4)
    counts = np.concatenate([0 * inside, inside, 0 * inside, inside])
    below = repeat([low, low, high, high], len(inside))
    needed = ((counts > 0) | (repeat([True, False, True, False], len(inside)))) & ((below == low) | (others[rows] > 0))
    return family((low, high), rows[needed], True, counts[needed, None], inside[rows[needed]], below[needed])


def chain(inside: np.ndarray, others: np.ndarray, low: int, high: int, sides: Sequence[bool]) -> list[Family]:
    """The first 0, 1, 2, ... unjudged documents inside have the label `high`, or the last; `sides` says which."""
    rows = repeat(np.arange(len(inside)), inside + 1)
    families = []
    for from_top, below in itertools.product(sides, (low, high)):
        needed = rows if below == low else rows[others[rows] > 0]
        counts = positions(occurrences(needed, minlength=len(inside)))
        families.append(family((low, high), needed, from_top, counts[:, None], inside[needed], below))
    return families


def singles(unjudged: np.ndarray, label: int, low: int, from_top: bool = False) -> Family:
    """The last of these unjudged documents has a label, or the first; all others `low`."""
    some = np.flatnonzero(unjudged > 0)
    return family((low, label), some, from_top, np.ones((len(some), 1), np.int64), unjudged[some], low)


def sorted_labelings(inside: np.ndarray, others: np.ndarray, labels: range) -> Iterator[Family]:
    """All labelings that fall, or rise, from unjudged document to unjudged document; of queries that have few."""
    for n in np.unique(inside).tolist():
        if not are_few(n, labels):
            continue
        steps = itertools.combinations_with_replacement(range(n, -1, -1), len(labels) - 1)
        falling = np.array(list(steps), np.int64).reshape(-1, len(labels) - 1)
        for from_top, below in itertools.product((True, False), (labels[0], labels[-1])):
            rows = np.flatnonzero((inside == n) & ((others > 0) | (below == labels[0])))
            for part in np.array_split(rows, len(rows) * len(falling) // LABELINGS_AT_ONCE + 1):
                repeated = repeat(part, len(falling))
                counts = np.tile(falling, (len(part), 1))
                yield family(tuple(labels), repeated, from_top, counts, inside[repeated], below)


def are_few(n: int, labels: range) -> bool:
    """Whether n unjudged documents have few sorted labelings."""
    return len(labels) <= MAX_LABELINGS and math.comb(n + len(labels) - 1, len(labels) - 1) <= MAX_LABELINGS


def have_few_labelings(n_unjudged: np.ndarray, n_labels: int) -> np.ndarray:
    """Whether so many unjudged documents have few labelings."""
    most = next(n for n in itertools.count() if n_labels ** (n + 1) > MAX_LABELINGS) if n_labels > 1 else MAX_DEPTH
    return n_unjudged <= most


def all_labelings(rows: np.ndarray, n_unjudged: np.ndarray, labels: Sequence[int]) -> Iterator[Family]:
    """All labelings of the unjudged documents of these queries."""
    for n in np.unique(n_unjudged[rows]).tolist():
        labelings = every_labeling(n, labels)
        alike = rows[n_unjudged[rows] == n]
        for part in np.array_split(alike, len(alike) * len(labelings) // LABELINGS_AT_ONCE + 1):
            starts = np.tile(np.arange(len(labelings)) * n, len(part))
            yield document_family(repeat(part, len(labelings)), starts, labelings)


def every_labeling(n: int, labels: Sequence[int]) -> np.ndarray:
    """All labelings of n unjudged documents, int32 of shape (n_labelings, n)."""
    return np.array(list(itertools.product(labels, repeat=n)), np.int32).reshape(len(labels) ** n, n)


def by_document(labelings: Sequence[tuple[int, np.ndarray]]) -> Family:
    """Labelings of queries, each with the labels of all of its unjudged documents."""
    sizes = np.array([len(labels) for _, labels in labelings])
    rows = np.array([q for q, _ in labelings])
    return document_family(rows, np.cumsum(sizes) - sizes, np.concatenate([labels for _, labels in labelings]))


def document_family(rows: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> Family:
    """A Family document by document."""
    empty = family((0,), NO_ROWS, True, NO_ROWS, NO_ROWS, NO_ROWS)
    unjudged_labels = labels.reshape(-1).astype(np.int32)
    return empty._replace(rows=rows.astype(np.int64), starts=starts.astype(np.int64), unjudged_labels=unjudged_labels)


def family(
    order: tuple[int, ...],
    rows: np.ndarray,
    from_top: bool,
    counts: np.ndarray,
    inside: np.ndarray,
    below: int | np.ndarray,
) -> Family:
    """A Family, with arrays of the dtypes that it needs."""
    n = len(rows)
    return Family(
        order,
        rows.astype(np.int64),
        np.full(n, from_top, np.uint8),
        np.ascontiguousarray(counts, np.int64).reshape(n, len(order) - 1),
        inside.astype(np.int64),
        np.broadcast_to(np.asarray(below, np.int32), n).copy(),
    )


class ValueRange:
    """The smallest and largest values among labelings, per query and metric of a plan."""

    plan: Plan
    rankings: UnjudgedRanks
    n_threads: int | None
    lower: np.ndarray  # float64 of shape (n_queries, n_metrics): of the values that are not NaN; NaN if all are

    def __init__(self, plan: Plan, rankings: UnjudgedRanks, n_threads: int | None) -> None:
        self.plan, self.rankings, self.n_threads = plan, rankings, n_threads
        shape = rankings.n_queries, plan.n_slots
        self.lower = np.full(shape, np.nan)
        self.upper: np.ndarray = np.full(shape, np.nan)
        self.undefined: np.ndarray = np.zeros(shape, bool)  # bool array of the same shape: whether one was NaN

    def add(self, families: Iterable[Family]) -> None:
        """Measure labelings."""
        for each in families:
            if len(each.rows) == 0:
                continue
            values = measure_labelings(self.plan, self.rankings, each, self.n_threads)
            by_row = np.argsort(each.rows, kind="stable")
            rows, values = each.rows[by_row], values[by_row]
            starts = np.flatnonzero(np.concatenate([[True], np.diff(rows) > 0]))
            queries = rows[starts]
            self.lower[queries] = np.fmin(self.lower[queries], np.fmin.reduceat(values, starts))
            self.upper[queries] = np.fmax(self.upper[queries], np.fmax.reduceat(values, starts))
            self.undefined[queries] |= np.logical_or.reduceat(np.isnan(values), starts)


def measure_labelings(plan: Plan, rankings: UnjudgedRanks, each: Family, n_threads: int | None) -> np.ndarray:
    """The values of labelings, float64 of shape (n_labelings, n_metrics)."""
    values = np.empty((len(each.rows), plan.n_slots))
    order = np.array(each.order, np.int32)
    thresholds = each.from_top, each.counts, each.inside, each.below, order
    kernel = Labelings(plan, *rankings, each.rows, *thresholds, each.starts, each.unjudged_labels, values)
    run(kernel, n_threads)
    kernel.check()
    return values
