"""From resolved requests to a Plan: metrics that can share a walk are put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastir.errors import quote
from fastir.measure._measure import Plan
from fastir.measure.cards import READS, Param
from fastir.request import names
from fastir.request.options import WHOLE

EMPTY = {"one": 1.0, "skip": np.nan, "nan": np.nan}
READS_OF_GAIN = {-2: READS.index("pool"), -1: READS.index("all")}


def compile_plan(
    asked: list[names.Request],
    all_values: list[dict[str, Any]],
    level: int,
    judged_only: bool,
    depth: int,
    average: bool,
) -> tuple[Plan, list[tuple[int, str, str]]]:
    """The Plan of some requests with their parameters, and the limits (largest label, metric, why) that they set."""
    views: dict[tuple, tuple[set[int], int, bool]] = {}
    resolved, limits, reads = [], [], []
    for request, values in zip(asked, all_values, strict=True):
        card = request.card
        gain = values.get("gain", card.gain)
        own = next((value for value in values.values() if isinstance(value, names.Gains)), {})
        view = (
            request.level or level,
            request.level or (0 if own else 1),
            gain == "exp2",
            tuple(sorted(own.items())),
            values.get("discount") == "jk2",
            values.get("ideal") == "retrieved",
        )
        cutoff = request.cutoff or WHOLE
        cutoffs, gain_depth, lists_gains = views.get(view, (set(), 0, False))
        cutoffs.add(cutoff)
        if card.graded or own:
            gain_depth, lists_gains = max(gain_depth, cutoff), lists_gains or not card.cutoff or bool(own)
        views[view] = (cutoffs, gain_depth, lists_gains)
        reads.append(READS.index("pool" if values.get("negatives") == "nonrel" else card.reads))
        reads += [READS_OF_GAIN.get(label, READS.index("judged")) for label in own]
        if gain == "exp2":
            limits.append((1000, request.text, "an exponential gain"))
        if "max_grade" in values:
            top = values["max_grade"]
            limits.append((1000 if top == "query" else top, request.text, f"max_grade={top}"))
        if "min_rel" in values and not values["min_rel"] < values["max_rel"]:
            raise names.UnknownMetricError(
                f"metric {quote(request.text)}: min_rel must be below max_rel, got "
                f"{values['min_rel']} and {values['max_rel']}"
            )
        numbers = [number_for(param, values[param.name]) for param in card.params]
        numbers += [number for param in card.params if param.many for number in values[param.name]]
        resolved.append((card, view, cutoff, numbers, EMPTY.get(values.get("empty"))))
    places = {view: (i, sorted(cutoffs)) for i, (view, (cutoffs, _, _)) in enumerate(views.items())}
    plan = Plan(
        [
            (*view[:3], dict(view[3]), *view[4:], gain_depth, lists_gains, sorted(cutoffs))
            for view, (cutoffs, gain_depth, lists_gains) in views.items()
        ],
        [
            (
                card.name,
                places[view][0],
                places[view][1].index(cutoff),
                numbers,
                empty,
                card.graded,
                READS.index(card.reads),
            )
            for card, view, cutoff, numbers, empty in resolved
        ],
        max(reads),
        judged_only,
        depth,
        average,
    )
    return plan, limits


def number_for(param: Param, value: Any) -> float:
    """A parameter's value as the kernels see it.

    A word is its position, gains of labels the one after the last; several numbers are how many they are, and stand
    behind all other parameters.
    """
    if param.many:
        return float(len(value))
    if value == "query":
        return -1.0
    if isinstance(value, names.Gains):
        return float(len(param.choices))
    return float(param.choices.index(value) if value in param.choices else value)
