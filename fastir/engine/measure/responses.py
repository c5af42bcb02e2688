"""How a metric responds to the labels of unjudged documents: the words for it on cards.

`bounds()` tries the labelings of these documents that can give the smallest or the largest value; a word says which
they are, and `fastir/analyses/bounds/candidates.py` why. Below, unjudged documents are those of the ranking, and
inside are those at the ranks to the cutoff.

    ENDS      the value rises, or falls, with every label inside
    SUM       so it does, being a sum over ranks whose weights fall, divided by a number that no ranking changes
    FIRST     so it does, and the first relevant document decides
    CHAIN     relevance alone matters: of m relevant unjudged documents the topmost m are best, or the bottommost
    AVERAGE   so they are, and the value rises with the sum of the precisions at the relevant ranks, over their number
    ODDS      likewise, with the odds of that average
    SORTED    as CHAIN, with several gains: the larger one belongs higher up
    RATIO     a discounted sum of gains over that of the ideal ranking
    TOPS      labels are scaled by the query's largest, or count by it; below that the value rises with every label
    CASCADE   expected reciprocal rank over that of the ideal ranking
    READER    a reader stops after enough gain
    OUTER     nothing is known, as of a card that says nothing: all labelings where they are few, else the card's range

Where the word depends on parameters, the cutoff or the gains of the labels, a card has a function of the three.
"""

from collections.abc import Callable
from typing import Any

ENDS, SUM, FIRST, CHAIN, AVERAGE, ODDS, SORTED, RATIO, TOPS, CASCADE, READER, OUTER = RESPONSES = (
    *("ends", "sum", "first", "chain", "average", "odds", "sorted", "ratio", "tops", "cascade", "reader", "outer"),
)

Response = str | Callable[[dict[str, Any], int | None, tuple[float, ...]], str]


def sum_at_cutoff(values: dict[str, Any], cutoff: int | None, gains: tuple[float, ...]) -> str:
    """The response of a set metric that divides by the cutoff; without one it divides by the length of the ranking."""
    return ENDS if cutoff is None else SUM


def chain_of_two_gains(values: dict[str, Any], cutoff: int | None, gains: tuple[float, ...]) -> str:
    """The response of a metric that needs larger gains higher up: relevance alone matters if labels have two gains."""
    return CHAIN if len(set(gains)) <= 2 else SORTED


def several_sums(values: dict[str, Any], cutoff: int | None, gains: tuple[float, ...]) -> str:
    """The response of a metric in which a label moves several sums, for better or worse: nothing is known."""
    return OUTER
