"""Values that differ and may: whose, of which metric, on which queries, and why."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Known(NamedTuple):
    """peer and metric are patterns; when(case, query) says of which values it is known, where query may be None."""

    peer: str
    metric: str
    when: Callable[[Any, Any], bool]
    reason: str


def lacking(case, query):
    """A query that the run lacks."""
    return query not in case.run


KNOWN = (
    Known(
        "ir_measures.*",
        "NumQ|NumRel",
        lacking,
        "it counts neither a query that the run lacks nor its relevant documents",
    ),
    Known(
        "ir_measures, pyndeval",
        "nNRBP.*",
        lacking,
        "a query that the run lacks is 0 there even where none of its documents is relevant, which is NaN else",
    ),
)


def reason_for(peer, metric, case, query):
    """Why a value may differ, None if it may not."""
    for known in KNOWN:
        if re.fullmatch(known.peer, peer) and re.fullmatch(known.metric, metric) and known.when(case, query):
            return known.reason
    return None
