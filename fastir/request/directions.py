"""Which way a metric's values are better, by its name alone: as its card says it, in whoever's dialect the name is.

Values that come back from elsewhere (a saved file, a dict of a caller) have nothing but the name of their metric.
"""

import functools

from fastir.errors import UnknownMetricError
from fastir.request.names import DIALECTS, read


@functools.lru_cache(256)
def direction_of(metric: object) -> str:
    """What the card says, "more", "less" or "neither"; "more" for what is no metric of fastir's."""
    if isinstance(metric, str):
        for dialect in DIALECTS:
            try:
                return read(metric, dialect)[0].card.direction
            except UnknownMetricError:
                continue
    return "more"
