"""The requests that are compared with the textbook: every metric with some values of all its parameters."""

import itertools
import math

from oracle import Request

import fastir


class Points(tuple):
    """Recall points, in any order, as they are written in a name."""

    def __str__(self):
        return "{" + ",".join(map(str, self)) + "}"


CUTOFFS = (None, 1, 2, 3, 5, 10, 20, 100)
MAP = {1: 2.5, 3: 1}

# Values that are tried of parameters, the default first, where the card's words or its interval say too little.
TRIED = {
    "p": (0.5, 0.95), "gains": ("binary", "scaled", "raw", MAP, {1: -1, 2: 3}),
    "gain": ("linear", "exp2", "binary", MAP, {-2: 0.25, -1: 0.5, 2: 9}, {2: -1}),
    "max_grade": (4, 7, "query"), "alpha": (0.5, 0.2, 1.0), "recall": (0.0, 0.3, 0.5, 0.7, 1.0),
    "x": (1.0, 0.25, 2.0), "beta": (0.5, 0.9), "p1": (1.0, -2.5), "p2": (-1.0, 0.5), "p3": (0.0, -2.0),
    "p4": (0.0, 0.01), "n_docs": (100_000, 300_000), "max_rel": (1, 2, 4), "min_rel": (0,),
    "T": (1.0, 0.5, 2.5), "h": (224.0, 0.7, 10.0), "L": (1000.0, 7.5, 2000.0), "depth": ("max", 3, 40),
    "points": (Points(i / 10 for i in range(11)), Points((0.9, 0.25)), Points((0.0,)), Points((1, 0.001, 0.5, 0.5))),
}  # fmt: skip


# Parameters that compare scores or add costs, which the oracle does not see: their twins stand where their metrics are
# tested.
BY_SCORE = {"missing_documents"}
BY_COST = {"budget", "over_budget", "at_least_one"}


def tried(param):
    """The default, then other values: all words, and numbers from within the interval."""
    ends = {param.low, param.high} - {None, -math.inf, math.inf}
    inside = [sum(ends) / 2, *ends]
    numbers = [int(end) if param.integer else end for end in inside if param.holds(end)]
    return tuple(dict.fromkeys((param.default, *param.choices, *numbers)))


def parameters(card):
    return [param.name for param in card.params]


PARAMS = {
    param.name: TRIED.get(param.name) or tried(param)
    for card in fastir.metrics()
    if not card.sampled
    for param in card.params
    if param.name not in BY_SCORE | BY_COST
}


def requests_of(card):
    """Some combinations of a metric's parameters, each value alone, each cut-off, each level."""
    cutoffs = CUTOFFS if card.cutoff else (None,)
    names = [name for name in PARAMS if name in parameters(card)]
    needed = {param.name: param.example for param in card.params if param.required}
    combinations = list(itertools.product(*(PARAMS[name] for name in names)))
    for values in combinations[:: len(combinations) // 20 + 1]:
        yield Request(card.name, None, None, dict(zip(names, values, strict=True)))
    for k in cutoffs:
        yield from (Request(card.name, k, suffix, needed) for suffix in (None, 1, 2, 3))
    for k in cutoffs[:4]:
        yield from (Request(card.name, k, None, needed | {name: value}) for name in names for value in PARAMS[name])


REQUESTS = list(
    {
        str(request): request
        for card in fastir.metrics()
        if not (card.pooled or card.sampled)
        for request in requests_of(card)
    }.values()
)
