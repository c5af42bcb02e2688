"""The records that a Plan is made of, which the compiler of requests hands to the kernel."""

from __future__ import annotations

from fastir.declared import Record


class View(Record):
    """Metrics that can share one walk over a query's hits."""

    level: int  # documents are relevant from this label up
    floor: int  # labels from 0 up that are below it have no gain
    curve: int  # a code of GAIN_CODES: the gain of a label without one of its own
    gains: tuple[tuple[int, float], ...]  # labels with a gain of their own, and these gains; by ascending labels
    jk2: bool  # whether the discount is Järvelin and Kekäläinen's of 2002
    ideal: int  # a code of IDEAL_CODES: what the ideal ranking holds
    gain_depth: int  # the last rank at which a metric reads gains; 0 if none does
    lists_gains: bool  # whether a metric reads gains document by document
    cutoffs: list[int]  # ascending; 2^63 - 1 is the whole ranking


class Slot(Record):
    """One requested value, which fills one column of the results."""

    metric: str  # the name on the metric's card
    view: int  # the position of its View among the plan's
    cutoff: int  # the position of its cutoff among the view's cutoffs
    params: list[float]  # in the order of the card's; behind them the numbers of a parameter that is a set of numbers
    skips_empty_ranking: bool  # whether an empty ranking is NaN
    empty: float | None  # of a query without relevant documents; None where the metric's formula says it
    graded: bool  # whether "without relevant documents" means without a gain
    reads: int  # a code of READ_CODES
