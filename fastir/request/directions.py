"""Which way a metric's values are better, by its name alone: as its card says it, in whoever's dialect the name is.

Values that come back from elsewhere (a saved file, a dict of a caller) have nothing but the name of their metric.
"""

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any

from fastir.errors import UnknownMetricError
from fastir.request.custom import CustomMetric
from fastir.request.names import DIALECTS, read

SIGNS = {"more": 1, "less": -1, "neither": 0}  # of a difference that is better


def metric_direction(metric: object) -> str:
    """The direction of the card or of a custom metric: "more", "less" or "neither"; "more" for an unknown name."""
    if isinstance(metric, CustomMetric):
        return "more" if metric.higher_is_better else "less"
    return named_direction(metric)


@functools.lru_cache(256)
def named_direction(metric: object) -> str:
    """The direction of the card of a name."""
    if isinstance(metric, str):
        for dialect in DIALECTS:
            try:
                return read(metric, dialect)[0].card.direction
            except UnknownMetricError:
                continue
    return "more"


def best_mean(means: Iterable[float], metric: object) -> float:
    """The largest or the smallest, as is better; NaN for none, and where neither is."""
    sign = SIGNS[metric_direction(metric)]
    return sign * max((sign * mean for mean in means if mean == mean), default=math.nan) if sign else math.nan


def best_first(means: Mapping[Any, float], metric: object) -> list[Any]:
    """The names of means, the best first and those without a value last; where neither is better, the largest first."""
    sign = SIGNS[metric_direction(metric)] or 1
    return sorted(means, key=lambda name: math.inf if means[name] != means[name] else -sign * means[name])
