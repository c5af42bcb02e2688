"""The records that a Plan is made of, which the compiler of requests hands to the kernel."""

from typing import NamedTuple


class View(NamedTuple):
    """Metrics that can share one walk over a query's hits.

    Attributes
    ----------
    level : int
        Documents are relevant from this label up.
    floor : int
        Labels from 0 up that are below it have no gain.
    curve : int
        A code of GAIN_CODES: the gain of a label without one of its own.
    gains : tuple of (int, float)
        Labels with a gain of their own, and these gains; by ascending labels.
    jk2 : bool
        Whether the discount is Järvelin and Kekäläinen's of 2002.
    ideal : int
        A code of IDEAL_CODES: what the ideal ranking holds.
    gain_depth : int
        The last rank at which a metric reads gains; 0 if none does.
    lists_gains : bool
        Whether a metric reads gains document by document.
    cutoffs : list of int
        Ascending; 2^63 - 1 is the whole ranking.
    """

    level: int
    floor: int
    curve: int
    gains: tuple[tuple[int, float], ...]
    jk2: bool
    ideal: int
    gain_depth: int
    lists_gains: bool
    cutoffs: list[int]


class Slot(NamedTuple):
    """One requested value, which fills one column of the results.

    Attributes
    ----------
    metric : str
        The name on the metric's card.
    view : int
        The position of its View among the plan's.
    cutoff : int
        The position of its cutoff among the view's cutoffs.
    params : list of float
        In the order of the card's params; after them the numbers of a parameter that is a set of numbers.
    skips_empty_ranking : bool
        Whether an empty ranking is NaN.
    empty : float or None
        The value of a query without relevant documents, None where the metric's formula says it.
    graded : bool
        Whether "without relevant documents" means without a gain.
    reads : int
        A code of READ_CODES.
    """

    metric: str
    view: int
    cutoff: int
    params: list[float]
    skips_empty_ranking: bool
    empty: float | None
    graded: bool
    reads: int
