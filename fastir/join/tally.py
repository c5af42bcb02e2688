"""What a join counted on its way, whatever shape the run came in."""

from typing import NamedTuple


class Tally(NamedTuple):
    """The counts of one evaluation; without arguments those of an empty run.

    Attributes
    ----------
    found : int
        Queries of the qrels that the run has.
    tied : int
        Queries in which a hit shares its score with another document.
    tied_example : int
        The position of the first of them, -1 if there is none.
    nothing : int
        Rankings that are not empty and hold no judged document.
    nothing_example : int
        The position of the first of them, -1 if there is none.
    ranked : int
        Documents ranked for queries of the qrels.
    unjudged : int
        Those among them that are not in the qrels.
    """

    found: int = 0
    tied: int = 0
    tied_example: int = -1
    nothing: int = 0
    nothing_example: int = -1
    ranked: int = 0
    unjudged: int = 0
