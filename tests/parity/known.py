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
    """A query that the run lacks, or has no documents for."""
    return not case.run.get(query)


def nothing_judged(case, query):
    """A ranking without judged documents: a negative label is no judgment."""
    return all(case.qrels[query].get(doc, -1) < 0 for doc in case.run[query])


def empty(case, query):
    return not case.run[query]


def none_relevant(level):
    """A collection in which a query has no document of this label or a higher one."""
    return lambda case, query: any(max(docs.values()) < level for docs in case.qrels.values())


KNOWN = (
    *(
        Known(
            "ranx", metric, none_relevant(level),
            "a query without relevant documents is a division by zero, which leaves 0 for the queries that follow",
        )
        for metric, level in (("bpref", 1), ("bpref-l2", 2))
    ),
    Known(
        "ir_measures.*", "NumQ|NumRel", lacking,
        "it counts neither a query that the run lacks nor its relevant documents",
    ),
    Known(
        "ir_measures, pytrec_eval", r"IPrec@.*", empty,
        "an empty ranking is NaN there where a query that the run lacks is 0; the convention takes both for 0",
    ),
    Known(
        "ir_measures, pytrec_eval", r"IPrec\(judged_only=True\)@.*", nothing_judged,
        "a ranking without judged documents is NaN there where a query that the run lacks is 0; here both are 0",
    ),
    Known(
        "ir_measures, pyndeval", "nNRBP.*", lacking,
        "a query that the run lacks is 0 there even where none of its documents is relevant, which is NaN else",
    ),
)  # fmt: skip


def reason_for(peer, metric, case, query):
    """Why a value may differ, None if it may not."""
    for known in KNOWN:
        if re.fullmatch(known.peer, peer) and re.fullmatch(known.metric, metric) and known.when(case, query):
            return known.reason
    return None
