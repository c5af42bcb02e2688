"""What has a name is declared once, as a card in a table: metrics, measures, methods, norms, formats and tests.

A kind of card is a Record with `name`, `aliases` and perhaps `params`. The command's choices, look-up, suggestions
and the rows of the documentation come from the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from fastir.checks import letters, suggest_choice
from fastir.errors import quote

__all__ = ("Param", "Record", "Table", "spelling")

AnyCard = TypeVar("AnyCard", bound=Any)

# Record is typing.NamedTuple, as type checkers see it, whose class is made in a twentieth of the time: NamedTuple
# compiles a function and each annotation, a quarter of a millisecond for each of the classes that a first call loads.
# A Record needs `from __future__ import annotations`; one with defaults or names takes a microsecond longer to make.
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    from collections import _tuplegetter

    class Base:
        """What a Record has beside a tuple."""

        __slots__ = ()

        def __new__(cls, *values, **named):
            rest = cls._fields[len(values) :]
            if rest or named:
                others = {**cls._field_defaults, **named} if named else cls._field_defaults
                try:
                    values += tuple([others[name] for name in rest])
                except KeyError as error:
                    raise TypeError(f"{cls.__name__}() needs {error}") from None
                if not named.keys() <= set(rest):
                    raise TypeError(f"{cls.__name__}() has no use for {', '.join(named.keys() - set(rest))}")
            if len(values) != len(cls._fields):
                raise TypeError(f"{cls.__name__}() takes {len(cls._fields)} values, got {len(values)}")
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **named):
            changed = tuple.__new__(type(self), map(named.pop, self._fields, self))
            if named:
                raise TypeError(f"{type(self).__name__} has no field {', '.join(named)}")
            return changed

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

        def __getnewargs__(self):
            return tuple(self)

    class RecordType(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return type.__new__(cls, name, bases, body)
            fields = tuple(body["__annotations__"])
            defaults = {field: body[field] for field in fields if field in body}
            getters = {field: _tuplegetter(place, "") for place, field in enumerate(fields)}
            more = {"__slots__": (), "_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (Base, tuple), body | getters | more)

    class Record(metaclass=RecordType):
        pass


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
    also : tuple of str
        Fields with a name beside `name` and `aliases`.
    columns : tuple of str
        Fields of a row of the documentation, after the name.
    spell : function of str
        Reduces a name to what is compared.
    error : type of exception
        For a name that no card has.
    """

    how: tuple[tuple[str, ...], tuple[str, ...], Callable[[str], str], type[Exception]]

    def __init__(
        self,
        kind: str,
        cards: Iterable[AnyCard],
        also: tuple[str, ...] = (),
        columns: tuple[str, ...] = (),
        spell: Callable[[str], str] = spelling,
        error: type[Exception] = ValueError,
    ) -> None:
        self.kind: str = kind
        self.cards: dict[str, AnyCard] = {card.name: card for card in cards}
        self.how = also, columns, spell, error
        names = ((name, card) for card in self.cards.values() for name in self.names(card))
        self.spellings: dict[str, AnyCard] = {spell(name): card for name, card in names}

    def __getitem__(self, name: str) -> AnyCard:
        return self.cards[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cards)

    def __len__(self) -> int:
        return len(self.cards)

    def names(self, card: AnyCard) -> tuple[str, ...]:
        """All names of a card."""
        return (card.name, *card.aliases, *filter(None, (getattr(card, field) for field in self.how[0])))

    def only(self, keep: Callable[[AnyCard], bool]) -> Table[AnyCard]:
        """The table of some of the cards."""
        return Table(self.kind, filter(keep, self.cards.values()), *self.how)

    def find(self, word: Any) -> AnyCard:
        """The card that has a name, in any spelling."""
        _, _, spell, error = self.how
        card = self.spellings.get(spell(word)) if isinstance(word, str) else None
        if card is None:
            near = suggest_choice(word, [name for card in self.cards.values() for name in self.names(card)])
            raise error(f"unknown {self.kind} {quote(word)}{near or '; expected one of ' + ', '.join(self)}")
        return card

    def canonical(self, word: str) -> str:
        """The name of the card that has a name; an unknown word is returned unchanged."""
        card = self.spellings.get(self.how[2](word))
        return word if card is None else card.name

    def rows(self) -> list[str]:
        """The rows of the documentation, in Markdown."""
        rows = ([getattr(card, field) for field in self.how[1]] for card in self.cards.values())
        texts = ([cell if isinstance(cell, str) else ", ".join(cell) for cell in row] for row in rows)
        return [f"| {' | '.join([f'`{name}`', *row])} |" for name, row in zip(self, texts, strict=True)]


class Param(Record):
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

    def accepted_text(self) -> str:
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
