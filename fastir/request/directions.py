"""Which way a metric's values are better, by its name alone: as its card says it, in whoever's dialect the name is.

Values that come back from elsewhere (a saved file, a dict of a caller) have nothing but the name of their metric.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from fastir.engine.measure.cards import Card
from fastir.errors import UnknownMetricError
from fastir.request.custom import CustomMetric
from fastir.request.names import DIALECTS, read

SIGNS: dict[bool | None, int] = {True: 1, False: -1, None: 0}  # of a difference that is better
LESS_OF_CALLS = ("ee_d", "ee_l")  # metrics of calls of their own, without cards, that are better if smaller
UNBOUNDED_RANGE = -math.inf, math.inf
RANGE_PATTERN = r"(-?[\d.]+) (?:to (-?[\d.]+)|up)(?:; or any number (?:with gain=|from 0 ).*)?"  # not in a name


def higher_is_better(metric: object) -> bool | None:
    """The direction of a metric's card, of a custom metric or of LESS_OF_CALLS; True for an unknown name."""
    if isinstance(metric, CustomMetric):
        return metric.higher_is_better
    card = named_card(metric)
    return metric not in LESS_OF_CALLS if card is None else card.higher_is_better


def metric_range(metric: object) -> tuple[float, float]:
    """The least and the largest value of a metric, infinite where its card or the custom metric names none."""
    if isinstance(metric, CustomMetric):
        return metric.low, metric.high
    card = named_card(metric)
    found = None if card is None else re.fullmatch(RANGE_PATTERN, card.range)
    return UNBOUNDED_RANGE if found is None else (float(found[1]), float(found[2] or math.inf))


@functools.lru_cache(256)
def named_card(metric: object) -> Card | None:
    """The card of a name, in whoever's dialect it is; None for an unknown name."""
    if isinstance(metric, str):
        for dialect in DIALECTS:
            try:
                return read(metric, dialect)[0].card
            except UnknownMetricError:
                continue
    return None


def best_mean(means: Iterable[float], metric: object) -> float:
    """The largest or the smallest, as is better; NaN for none, and where neither is."""
    sign = SIGNS[higher_is_better(metric)]
    return sign * max((sign * mean for mean in means if mean == mean), default=math.nan) if sign else math.nan


def best_first(means: Mapping[Any, float], metric: object) -> list[Any]:
    """The names of means, the best first and those without a value last; where neither is better, the largest first."""
    sign = SIGNS[higher_is_better(metric)] or 1
    return sorted(means, key=lambda name: math.inf if means[name] != means[name] else -sign * means[name])
