"""What a metric says of itself. Parser, documentation, suggestions, tests and benches all read these cards."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a metric.

    Attributes
    ----------
    name : str
    default : object
    choices : tuple of str
        The words it accepts; their positions are what the kernel sees.
    low, high : float or None
        For numbers: the open interval that they lie in.
    integer : bool
        Whether the number must be whole and at least 1.
    meaning : str
    """

    name: str
    default: object
    meaning: str
    choices: tuple = ()
    low: float | None = None
    high: float | None = None
    integer: bool = False

    @property
    def is_convention(self):
        """Whether evaluate() takes a keyword of this name for all metrics that have it."""
        return bool(self.choices)


@dataclass(frozen=True, slots=True)
class Card:
    """One metric: names, meaning, and what it reads.

    Attributes
    ----------
    name : str
        The canonical name.
    aliases : tuple of str
        Other tools' spellings, read without regard to case like the name itself.
    cutoff : bool
        Whether ``@k`` is accepted.
    aggregate : {"mean", "sum", "count"}
    reads_nonrelevant : bool
        Whether judged documents that are not relevant matter; looking them up costs time.
    graded : bool
        Whether gains matter rather than relevance alone.
    gain : str
        The gain of a metric that has no parameter for it.
    dot : str or None
        The parameter that the short form ``name.95`` sets.
    """

    name: str
    summary: str
    formula: str
    undefined: str
    source: str
    aliases: tuple = ()
    differs: str = ""
    range: str = "0 to 1"
    params: tuple = ()
    cutoff: bool = False
    aggregate: str = "mean"
    reads_nonrelevant: bool = False
    graded: bool = False
    gain: str = "linear"
    dot: str | None = None
