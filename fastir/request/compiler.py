"""From resolved requests to a Plan: metrics that can share a scan of the ranking are put together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.declared import Param
from fastir.engine.measure._codes import GAIN_CODES, IDEAL_CODES, READ_CODES
from fastir.engine.measure._measure import Plan
from fastir.engine.measure.cards import Card
from fastir.engine.measure.views import Slot, View
from fastir.errors import UnknownMetricError, quote
from fastir.request import names
from fastir.request.options import MAX_DEPTH

if TYPE_CHECKING:
    from fastir.engine.measure._grades import Grades, Rows

EMPTY: dict[Any, float] = {"one": 1.0, "skip": np.nan, "nan": np.nan}
READS_OF_GAIN: dict[float, int] = {-2: READ_CODES["pool"], -1: READ_CODES["all"]}
Shared = tuple[int, int, int, tuple[tuple[int, float], ...], bool, int]  # the first fields of a View


def compile_plan(
    requests: list[names.Request],
    all_values: list[dict[str, Any]],
    level: float,
    judged_only: bool,
    depth: int,
    average: bool,
    grades: Grades | Rows | None = None,
) -> tuple[Plan, list[tuple[int, str, str]]]:
    """The Plan of some requests with their parameters, and the limits (largest label, metric, why) that they set.

    If labels are real-valued, kernels read codes instead, and `grades` decodes them.
    """
    walks: dict[Shared, tuple[set[int], int, bool]] = {}
    resolved, limits, reads = [], [], []
    if grades is not None:
        grades = grades.with_labels(label for values in all_values for label in listed_gains(values))
    for request, values in zip(requests, all_values, strict=True):
        card = request.card
        shared = shared_properties(request, values, level, grades)
        cutoff = request.cutoff or MAX_DEPTH
        cutoffs, gain_depth, lists_gains = walks.get(shared, (set(), 0, False))
        cutoffs.add(cutoff)
        gains_by_label = listed_gains(values)
        if reads_gains(card) or gains_by_label:
            gain_depth, lists_gains = max(gain_depth, cutoff), lists_gains or not card.cutoff or bool(gains_by_label)
        walks[shared] = (cutoffs, gain_depth, lists_gains)
        reads_at_least = READ_CODES["judged"] if shared[0] <= 0 else READ_CODES["relevant"]
        reads.append(max(READ_CODES["pool" if values.get("negatives") == "nonrel" else card.reads], reads_at_least))
        reads += [READS_OF_GAIN.get(label, READ_CODES["judged"]) for label in gains_by_label]
        limits += label_limits(request, values, values.get("gain", card.gain))
        resolved.append((card, shared, cutoff, values))
    views = [
        View(*shared, gain_depth, lists_gains, sorted(cutoffs))
        for shared, (cutoffs, gain_depth, lists_gains) in walks.items()
    ]
    snapshots = {
        shared: {cutoff: place for place, cutoff in enumerate(view.cutoffs)}
        for shared, view in zip(walks, views, strict=True)
    }
    places = {shared: place for place, shared in enumerate(walks)}
    slots = [
        Slot(
            card.name,
            places[shared],
            snapshots[shared][cutoff],
            numbers_for(card, values),
            values.get("empty_ranking") == "skip",
            EMPTY.get(values.get("empty")),
            reads_gains(card),
            READ_CODES[card.reads],
        )
        for card, shared, cutoff, values in resolved
    ]
    return Plan(views, slots, max(reads), judged_only, depth, average, grades), limits


def reads_gains(card: Card) -> bool:
    """Whether a metric reads gains: a graded one, or one of weights, which are the gains of relevant documents."""
    return card.graded or card.sampled == "weights"


def reads_labels(card: Card, values: dict[str, Any]) -> bool:
    """Whether a metric reads more of labels than how they compare with its level, and sums of their gains."""
    by_itself = (card.graded and not card.sums) or card.sampled == "weights" or "gains" in values
    return by_itself or bool(listed_gains(values))


def listed_gains(values: dict[str, Any]) -> dict[float, float]:
    """The gains of single labels among a metric's parameters."""
    return next((value for value in values.values() if isinstance(value, names.Gains)), {})


def code_from(level: float, grades: Grades | Rows | None) -> int:
    """The smallest label, or code of one, that is at least `level`."""
    return math.ceil(level) if grades is None else grades.code_from(level)


def shared_properties(
    request: names.Request, values: dict[str, Any], level: float, grades: Grades | Rows | None = None
) -> Shared:
    """The properties that metrics must have in common to share a scan of the ranking."""
    gain = values.get("gain", request.card.gain)
    gains_by_label = listed_gains(values)
    coded_gains = {
        int(label) if grades is None else grades.exact_code(label): each
        for label, each in gains_by_label.items()
        if grades is not None or label == int(label)
    }
    from_on = code_from(request.relevant_from(level), grades)
    return (
        from_on,
        from_on if request.level or gain == "binary" else 0 if gains_by_label else 1,
        GAIN_CODES.get(gain, 0) if isinstance(gain, str) else 0,
        tuple(sorted(coded_gains.items())),
        values.get("discount") == "jk2",
        IDEAL_CODES[values.get("ideal", "judged")],
    )


def label_limits(request: names.Request, values: dict[str, Any], gain: Any) -> list[tuple[int, str, str]]:
    """The limits that a metric's parameters set to labels: (largest label, metric, why)."""
    limits = []
    if gain == "exp2":
        limits.append((1000, request.text, "an exponential gain"))
    if values.get("ideal") == "full" and (request.cutoff or 0) > names.MAX_WEIGHTED:
        raise UnknownMetricError(
            f"metric {quote(request.text)}: with ideal=full the cutoff must be at most {names.MAX_WEIGHTED}"
        )
    if "max_grade" in values:
        top = values["max_grade"]
        limits.append((1000 if top == "query" else top, request.text, f"max_grade={top}"))
    if "min_rel" in values and not values["min_rel"] < values["max_rel"]:
        raise UnknownMetricError(
            f"metric {quote(request.text)}: min_rel must be below max_rel, got {values['min_rel']} and "
            f"{values['max_rel']}"
        )
    return limits


def numbers_for(card: Card, values: dict[str, Any]) -> list[float]:
    """The values of a metric's parameters as the kernels see them.

    They are in the order of the card's params. A parameter that is a set of numbers has only their count there; the
    numbers themselves follow after all parameters.
    """
    numbers = [number_for(param, values[param.name]) for param in card.params]
    return numbers + [number for param in card.params if param.many for number in values[param.name]]


def number_for(param: Param, value: Any) -> float:
    """A parameter's value as the kernels see it.

    A word is its position among the choices, gains of single labels are the number of choices, a set of numbers is
    their count. Where numbers are accepted as well as words, the words are -1, -2 and so on.
    """
    if param.many:
        return float(len(value))
    if isinstance(value, names.Gains):
        return float(len(param.choices))
    if value not in param.choices:
        return float(value)
    place = param.choices.index(value)
    return float(place if param.low is None else -1 - place)
