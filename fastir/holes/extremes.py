"""The smallest and largest values of each query: the families of labelings that each metric's response asks for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fastir.holes.families import (
    Extremes,
    Family,
    all_labelings,
    are_few,
    by_hole,
    chain,
    ends,
    few_in_all,
    singles,
    sorted_labelings,
)
from fastir.holes.fractions import Ratio, average_precision, precision_families, ratio_families, yaap
from fastir.holes.holed import Holed
from fastir.holes.responses import CASCADE, CHAIN, OUTER, RATIO, READER, SORTED, TOPS, Response, response_of
from fastir.holes.steps import Cascades, Readers
from fastir.request.options import WHOLE
from fastir.request.plan import Settings, compile_settings

PRECISIONS = ("map", "map_avgjg", "map_ia", "gm_map", "yaap")  # whose chains need not be tried one by one


class Ends(NamedTuple):
    """The values of one block of queries: float64 and bool arrays of shape (n_queries, n_metrics).

    Attributes
    ----------
    lower, upper : float64 arrays
        Of the labelings under which a metric is defined; NaN if there is none.
    undefined : bool array
        Whether a labeling leaves the metric undefined.
    outer : bool array
        Whether the ends were not shown to be reached.
    """

    lower: np.ndarray
    upper: np.ndarray
    undefined: np.ndarray
    outer: np.ndarray


def ends_of(settings: Settings, holed: Holed, levels: tuple[int, ...]) -> Ends:
    """The ends of all metrics of Settings with one set of rules, for a block of queries."""
    shape = holed.n_queries, len(settings.requests)
    made = Ends(np.empty(shape), np.empty(shape), np.zeros(shape, bool), np.zeros(shape, bool))
    for response, columns in alike(settings, levels):
        own = compile_settings(tuple(settings.names[column] for column in columns), settings.options)
        seen = holed if response.lists_all else holed.cut(response.cutoff)
        inside = seen.holes_to(response.cutoff)
        others = seen.holes_to(WHOLE) - inside + seen.unseen
        found = Extremes(own.plan, seen, own.n_threads)
        found.take(families(own, response, seen, inside, others, levels))
        outer = outer_rows(response, inside, others, levels[-1])
        labels = response.alphabet(levels[-1])
        few = few_in_all(inside + others, len(labels))
        found.take(all_labelings(np.flatnonzero(outer & few), inside + others, labels))
        outer &= ~few
        defined = outer[:, None] & ~np.isnan(found.upper)
        made.lower[:, columns] = np.where(defined, 0.0, found.lower)
        made.upper[:, columns] = np.where(defined, 1.0, found.upper)
        made.undefined[:, columns] = found.undefined
        made.outer[:, columns] = defined
    return made


def alike(settings: Settings, levels: tuple[int, ...]) -> list[tuple[Response, list[int]]]:
    """The columns of the metrics that need the same labelings."""
    found: dict[Any, tuple[Response, list[int]]] = {}
    for column, (request, values) in enumerate(zip(settings.requests, settings.values, strict=True)):
        response = response_of(request, values, settings.level, levels)
        alone = response.kind in (RATIO, CASCADE, READER) or request.card.name in PRECISIONS
        found.setdefault((response, request.text if alone else ""), (response, []))[1].append(column)
    return list(found.values())


def families(
    settings: Settings,
    response: Response,
    holed: Holed,
    inside: np.ndarray,
    others: np.ndarray,
    levels: tuple[int, ...],
) -> Iterator[Family]:
    """The labelings among which the ends of metrics with one response are."""
    low, high = response.low, response.high
    yield ends(inside, others, low, high)
    if low != 0:  # then no hole is relevant where all have the label 0
        yield ends(inside, others, 0, 0)
    for label, rest in itertools.product(response.singles, (low, high)):
        yield singles(holed.holes_to(WHOLE), label, rest)
        yield singles(inside, label, rest)
        yield singles(inside, label, rest, from_top=True)
        yield from single_others(inside, others, label, rest)
    if response.kind == TOPS:
        for label in response.tops:
            yield ends(inside, others, low, label)
            yield singles(inside, label, low)
    elif response.kind == SORTED:
        yield from sorted_labelings(inside, others, range(levels[-1] + 1))
    else:
        yield from special(settings, response, holed, inside, others, levels)


def special(
    settings: Settings,
    response: Response,
    holed: Holed,
    inside: np.ndarray,
    others: np.ndarray,
    levels: tuple[int, ...],
) -> Iterator[Family]:
    """The labelings of kinds whose metrics come one by one."""
    kind, low, high = response.kind, response.low, response.high
    request, values = settings.requests[0], settings.values[0]
    level, name = request.level or settings.level, request.card.name
    if kind == RATIO:
        ratio = Ratio(levels, response.gains, response.cutoff, values["discount"] == "jk2", values["ideal"])
        yield from ratio_families(ratio, holed, inside)
    elif kind == CASCADE:
        for label in response.tops or (high,):
            yield from chain(inside, others, low, label, (False,))
        grade = 0 if values["max_grade"] == "query" else values["max_grade"]
        cascades = Cascades(request.level or 1, grade, levels[-1], response.cutoff, values["ideal"])
        yield from cascades.families(holed, inside)
    elif kind == READER:
        top, bottom = int(values["max_rel"]), int(values["min_rel"])
        readers = Readers(request.level or 1, top, bottom, values["T"], levels[-1], response.cutoff)
        yield from readers.families(holed)
    elif kind == CHAIN and name in PRECISIONS:
        value_of = yaap if name == "yaap" else average_precision(values.get("ap_norm", "R"), response.cutoff)
        yield from precision_families(holed, inside, response.cutoff, level, high, value_of)
    elif kind == CHAIN:
        yield from chain(inside, others, low, high, (True, False))


def single_others(inside: np.ndarray, others: np.ndarray, label: int, rest: int) -> Iterator[Family]:
    """One hole that is not inside has a label; all others another."""
    found = []
    for q in np.flatnonzero(others > 0).tolist():
        labels = np.full(inside[q] + others[q], rest, np.int32)
        labels[-1] = label
        found.append((q, labels))
    if found:
        yield by_hole(found)


def outer_rows(response: Response, inside: np.ndarray, others: np.ndarray, max_label: int) -> np.ndarray:
    """The queries whose ends are only those of the metric's range."""
    outer = (others > 0) & (not response.steady)
    if max_label == 0:
        return np.zeros(len(inside), bool)
    if response.kind == OUTER:
        outer |= True
    elif response.kind == SORTED:
        few = {n: are_few(n, range(max_label + 1)) for n in np.unique(inside).tolist()}
        outer |= np.array([not few[n] for n in inside.tolist()], bool)
    return outer & (inside + others > 0)
