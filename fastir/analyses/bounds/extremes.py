"""The smallest and largest values of each query: from the candidates of a metric to families of labelings."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fastir.analyses.bounds.candidates import Candidates, candidates, lowest_relevant
from fastir.analyses.bounds.families import (
    Family,
    ValueRange,
    all_labelings,
    are_few,
    by_document,
    chain,
    have_few_labelings,
    singles,
    sorted_labelings,
    two_labels,
)
from fastir.analyses.bounds.fractions import (
    Ratio,
    average_precision,
    precision_families,
    precision_odds,
    ratio_families,
)
from fastir.analyses.bounds.reader_models import Cascades, Readers
from fastir.analyses.bounds.unjudged_ranks import UnjudgedRanks
from fastir.engine.measure.cards import AVERAGE, CASCADE, CHAIN, ODDS, OUTER, RATIO, READER, SORTED, TOPS
from fastir.request.options import MAX_DEPTH
from fastir.request.plan import Settings, compile_settings

# Responses with labelings that depend on more of the metric.
SINGLE_METRIC_RESPONSES = (RATIO, CASCADE, READER, AVERAGE, ODDS)


class Extremes(NamedTuple):
    """The extreme values of one block of queries: float64 and bool arrays of shape (n_queries, n_metrics)."""

    lower: np.ndarray  # float64 arrays: of the labelings under which a metric is defined; NaN if there is none
    upper: np.ndarray
    undefined: np.ndarray  # bool array: whether a labeling leaves the metric undefined
    outer: np.ndarray  # bool array: whether no labeling was shown to give these values


def empty_extremes(n_queries: int, n_metrics: int) -> Extremes:
    """Extremes to be filled in."""
    shape = n_queries, n_metrics
    return Extremes(np.empty(shape), np.empty(shape), np.zeros(shape, bool), np.zeros(shape, bool))


def block_extremes(settings: Settings, rankings: UnjudgedRanks, levels: tuple[int, ...]) -> Extremes:
    """The extremes of all metrics of Settings with one set of rules, for a block of queries."""
    extremes = empty_extremes(rankings.n_queries, len(settings.requests))
    for shared, columns in group_columns(settings, levels):
        group = select_columns(settings, columns)
        seen = rankings if shared.lists_all else rankings.cut(shared.cutoff)
        inside = seen.count_unjudged(shared.cutoff)
        others = seen.count_unjudged(MAX_DEPTH) - inside + seen.unseen
        values = ValueRange(group.plan, seen, group.n_threads)
        values.add(families(group, shared, seen, inside, others, levels))
        outer = outer_rows(shared, inside, others, levels[-1])
        labels = shared.alphabet(levels[-1])
        few = have_few_labelings(inside + others, len(labels))
        values.add(all_labelings(np.flatnonzero(outer & few), inside + others, labels))
        outer &= ~few
        defined = outer[:, None] & ~np.isnan(values.upper)
        extremes.lower[:, columns] = np.where(defined, shared.limits[0], values.lower)
        extremes.upper[:, columns] = np.where(defined, shared.limits[1], values.upper)
        extremes.undefined[:, columns] = values.undefined
        extremes.outer[:, columns] = defined
    return extremes


def group_columns(settings: Settings, levels: tuple[int, ...]) -> list[tuple[Candidates, list[int]]]:
    """The columns of the metrics that need the same labelings."""
    groups: dict[Any, tuple[Candidates, list[int]]] = {}
    for column, (request, values) in enumerate(zip(settings.requests, settings.values, strict=True)):
        shared = candidates(request, values, settings, levels)
        key = shared, request.text if shared.response in SINGLE_METRIC_RESPONSES else ""
        groups.setdefault(key, (shared, []))[1].append(column)
    return list(groups.values())


def select_columns(settings: Settings, columns: list[int]) -> Settings:
    """The Settings of some of the metrics, for the same labels."""
    return compile_settings(tuple(settings.names[column] for column in columns), settings.options).for_grades(
        settings.grades
    )


def families(
    settings: Settings,
    shared: Candidates,
    rankings: UnjudgedRanks,
    inside: np.ndarray,
    others: np.ndarray,
    levels: tuple[int, ...],
) -> Iterator[Family]:
    """The labelings among which the extremes of metrics with the same candidates are."""
    low, high = shared.low, shared.high
    yield two_labels(inside, others, low, high)
    if low != 0:  # then no unjudged document is relevant where all have the label 0
        yield two_labels(inside, others, 0, 0)
    for label, rest in itertools.product(shared.singles, (low, high)):
        yield singles(rankings.count_unjudged(MAX_DEPTH), label, rest)
        yield singles(inside, label, rest)
        yield singles(inside, label, rest, from_top=True)
        yield from single_others(inside, others, label, rest)
    if shared.response == TOPS:
        for label in shared.tops:
            yield two_labels(inside, others, low, label)
            yield singles(inside, label, low)
    elif shared.response == SORTED:
        yield from sorted_labelings(inside, others, range(levels[-1] + 1))
    elif shared.response == CHAIN:
        yield from chain(inside, others, low, high, (True, False))
    if shared.response not in SINGLE_METRIC_RESPONSES:
        return
    request, values, cutoff = settings.requests[0], settings.values[0], shared.cutoff
    ideal, floor = values.get("ideal", "judged"), lowest_relevant(request, settings)
    if shared.response == RATIO:
        ratio = Ratio(levels, shared.gains, cutoff, values.get("discount") == "jk2", ideal)
        yield from ratio_families(ratio, rankings, inside)
    elif shared.response == CASCADE:
        for label in shared.tops or (shared.high,):
            yield from chain(inside, others, low, label, (False,))
        grade = 0 if values["max_grade"] == "query" else values["max_grade"]
        cascades = Cascades(floor if request.level else 1, grade, levels[-1], cutoff, ideal)
        yield from cascades.families(rankings, inside)
    elif shared.response == READER:
        top, bottom = int(values["max_rel"]), int(values["min_rel"])
        readers = Readers(floor if request.level else 1, top, bottom, values["T"], levels[-1], cutoff)
        yield from readers.families(rankings)
    else:
        average = average_precision(values.get("ap_norm", "R"), cutoff)
        value = precision_odds if shared.response == ODDS else average
        yield from precision_families(rankings, inside, cutoff, floor, high, value)


def single_others(inside: np.ndarray, others: np.ndarray, label: int, rest: int) -> Iterator[Family]:
    """One unjudged document that is not inside has a label; all others another."""
    labelings = []
    for q in np.flatnonzero(others > 0).tolist():
        labels = np.full(inside[q] + others[q], rest, np.int32)
        labels[-1] = label
        labelings.append((q, labels))
    if labelings:
        yield by_document(labelings)


def outer_rows(shared: Candidates, inside: np.ndarray, others: np.ndarray, max_label: int) -> np.ndarray:
    """The queries with no better extremes than the metric's range."""
    outer = (others > 0) & (not shared.steady)
    if max_label == 0:
        return np.zeros(len(inside), bool)
    if shared.response == OUTER:
        outer |= True
    elif shared.response == SORTED:
        few = {n: are_few(n, range(max_label + 1)) for n in np.unique(inside).tolist()}
        outer |= np.array([not few[n] for n in inside.tolist()], bool)
    return outer & (inside + others > 0)
