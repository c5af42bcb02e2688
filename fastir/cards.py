"""What a metric says of itself. Parser, documentation, suggestions, tests and benches all read these cards."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a metric.

    Attributes
    ----------
    name : str
    default : str, int or float
    meaning : str
    choices : tuple of str
        The words it accepts; their positions are what the kernel sees.
    low, high : float or None
        For numbers: the open interval that they lie in.
    integer : bool
        Whether the number must be whole.
    """

    name: str
    default: object
    meaning: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    integer: bool = False

    @property
    def is_convention(self) -> bool:
        """Whether evaluate() takes a keyword of this name for all metrics that have it."""
        return bool(self.choices)

    def accepted(self) -> str:
        """The values it takes, in words."""
        if self.low is None or self.high is None:
            numbers = []
        elif self.integer:
            numbers = [f"an integer from {self.low + 1} to {self.high - 1}"]
        else:
            numbers = [f"a number above {self.low:g} and below {self.high:g}"]
        return " or ".join([*self.choices, *numbers])


@dataclass(frozen=True, slots=True)
class Card:
    """One metric: what it is called, what its number means, and what it reads.

    Attributes
    ----------
    name : str
        The canonical name.
    summary, formula : str
        What it is, in a phrase, and how it is computed. In formulas i is a rank from 1, k the cutoff, n the number of
        documents retrieved, r how many of them are relevant, r_k how many of the first k, R how many in the qrels and N
        how many documents were judged not relevant.
    undefined : str
        What the value is where the formula has none.
    source : str
        The paper, and the program whose numbers it matches.
    aliases : tuple of str
        Other tools' spellings, read without regard to case like the name itself.
    differs : str
        Programs that give this name another number, and the parameter that gives theirs; may be empty.
    range : str
        The values it can have.
    params : tuple of Param
    cutoff : bool
        Whether ``@k`` is accepted.
    aggregate : {"mean", "sum", "count"}
        How the values of the queries become one number.
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
    aliases: tuple[str, ...] = ()
    differs: str = ""
    range: str = "0 to 1"
    params: tuple[Param, ...] = ()
    cutoff: bool = False
    aggregate: str = "mean"
    reads_nonrelevant: bool = False
    graded: bool = False
    gain: str = "linear"
    dot: str | None = None
