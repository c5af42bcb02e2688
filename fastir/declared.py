"""What has a name is declared once, as a card in a table: metrics, measures, methods, norms, formats and tests.

A kind of card is a NamedTuple with a `name`, `names()` (all that callers may write), perhaps `params`, and `cells()`,
its row in the documentation. Choices of the command, look-up, suggestions and rows come from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from fastir.checks import letters, meant
from fastir.errors import quote


class Declared(Protocol):
    """A card: one thing that has a name."""

    @property
    def name(self) -> str: ...

    def names(self) -> Iterable[str]:
        """Its name, and its other names."""
        ...


AnyCard = TypeVar("AnyCard", bound=Declared)


def spelling(name: str) -> str:
    """A name without what people spell in different ways: case, hyphens, underscores and blanks."""
    return letters(name).replace(" ", "")


class Table(Mapping[str, AnyCard]):
    """The cards of one kind by name, in the order of their declaration.

    Parameters
    ----------
    kind : str
        What messages call a card.
    cards : iterable of cards
    spell : function of str
        Reduces a name to what is compared.
    error : type of exception
        For a name that no card has.

    Attributes
    ----------
    spellings : dict of str to card
        Every name, after `spell`.
    """

    def __init__(
        self,
        kind: str,
        cards: Iterable[AnyCard],
        spell: Callable[[str], str] = spelling,
        error: type[Exception] = ValueError,
    ) -> None:
        self.kind, self.spell, self.error = kind, spell, error
        self.cards: dict[str, AnyCard] = {card.name: card for card in cards}
        self.spellings: dict[str, AnyCard] = {
            spell(name): card for card in self.cards.values() for name in card.names() if name
        }

    def __getitem__(self, name: str) -> AnyCard:
        return self.cards[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cards)

    def __len__(self) -> int:
        return len(self.cards)

    def only(self, keep: Callable[[AnyCard], bool]) -> Table[AnyCard]:
        """The table of some of the cards."""
        return Table(self.kind, filter(keep, self.cards.values()), self.spell, self.error)

    def find(self, word: Any) -> AnyCard:
        """The card that has a name, in any spelling."""
        card = self.spellings.get(self.spell(word)) if isinstance(word, str) else None
        if card is None:
            near = meant(word, [name for card in self.cards.values() for name in card.names()])
            raise self.error(f"unknown {self.kind} {quote(word)}{near or '; expected one of ' + ', '.join(self)}")
        return card

    def canonical(self, word: str) -> str:
        """The name of the card that has a name; a word that none has, as it is."""
        card = self.spellings.get(self.spell(word))
        return word if card is None else card.name

    def rows(self) -> list[str]:
        """The rows of the table in the documentation, in Markdown."""
        return ["| " + " | ".join(card.cells()) + " |" for card in self.cards.values()]  # type: ignore[attr-defined]


class Param(NamedTuple):
    """A parameter of what a card declares.

    Attributes
    ----------
    name : str
    default : str, int, float or None
        None for one that must be given.
    meaning : str
    choices : tuple of str
        The words it accepts; their positions are what the kernel sees.
    low, high : float or None
        For numbers: the bounds of the interval that they must lie in.
    integer : bool
        Whether the number must be whole.
    closed : bool
        Whether low and high belong to the interval.
    mapping : bool
        Whether it accepts gains of single labels, ``{1:3, 2:9}``.
    many : int
        Of a set of numbers, ``{0.25, 0.5}``: how many there may be.
    aliases : tuple of str
        Other spellings of its name, for metrics that have no parameter of that name.
    synonyms : tuple of (str, str)
        Other tools' words for its choices.
    example : int or float
        Of a parameter that must be given: the value that examples have.
    """

    name: str
    default: object
    meaning: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    integer: bool = False
    closed: bool = False
    mapping: bool = False
    many: int = 0
    aliases: tuple[Any, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    example: float = 0

    @property
    def required(self) -> bool:
        """Whether the metric has no default for it."""
        return self.default is None

    @property
    def is_convention(self) -> bool:
        """Whether evaluate() takes a keyword of this name for all metrics that have it."""
        return bool(self.choices)

    def holds(self, number: float) -> bool:
        """Whether the parameter accepts a number."""
        if self.low is None or self.high is None or (self.integer and number != number // 1):
            return False
        return self.low <= number <= self.high if self.closed else self.low < number < self.high

    def accepted(self) -> str:
        """The values that it accepts, in words."""
        if self.many:
            return f"{{number, ...}} with up to {self.many} numbers from {self.low:g} to {self.high:g}"
        return " or ".join([*self.choices, *self._numbers(), *["{label:gain, ...}"] * self.mapping])

    def _numbers(self) -> list[str]:
        if self.low is None or self.high is None:
            return []
        inside = 1 if self.integer and not self.closed else 0
        if self.integer:
            return [f"an integer from {self.low + inside} to {self.high - inside}"]
        if self.closed:
            return [f"a number from {self.low:g} to {self.high:g}"]
        above = [f"above {self.low:g}"] if self.low > -float("inf") else []
        below = [f"below {self.high:g}"] if self.high < float("inf") else []
        return [f"a number {' and '.join(above + below)}".strip()]
