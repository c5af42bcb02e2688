"""Answers: the settings that give reported values, as records and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

from fastir.analyses.identify.settings import Setting
from fastir.analyses.identify.trials import Explanation
from fastir.analyses.identify.values import Target
from fastir.data.results.exportable import Exportable
from fastir.rendering import Cell, Table
from fastir.rendering.text import counted, json_types
from fastir.request.conventions import CONVENTIONS

TOLD = 4  # settings of an answer that its sentence names
PRINTED_ANSWERS = 10  # answers that are printed
MIN_PRINTED_CHANCE = 0.01  # settings that fit by chance, below which no number is printed

# What the default does, for the sentence about what differs; an option without words is named with its value.
DEFAULTS = {
    "queries": "queries missing from the run count as 0",
    "ties": "equal scores stand by descending ids",
    "gain": "a label gains itself",
    "ideal": "the ideal holds all judged documents",
    "empty": "queries without relevant documents count as 0",
    "score_dtype": "scores are compared as float64",
    "exclude": "a document called like its query counts",
    "duplicates": "a document that repeats is an error",
    "ap_norm": "AP divides by all relevant documents",
    "short_rankings": "precision divides by k, however short the ranking",
    "recall_norm": "recall divides by all relevant documents",
    "discount": "the first rank alone has no discount",
    "rel_level": "labels from 1 up are relevant",
    "max_depth": "rankings are read to their end",
    "judged_only": "unjudged documents take ranks",
}


class OptionChange(NamedTuple):
    """What the values of a setting move to when one option changes.

    Attributes
    ----------
    option : str
    value : object
        That the option changes to.
    values : list of float
        The means with this value, in the order of the reported values.
    """

    option: str
    value: Any
    values: list[float]

    def __str__(self) -> str:
        return f"{self.option}={self.value}"


class Answer:
    """A group of settings that give the reported values, and equal values on these data.

    Attributes
    ----------
    convention : str
        The convention of the simplest setting.
    options : dict of str to object
        The keyword arguments of `evaluate` to use with this convention.
    equal : list of (str, dict)
        The convention and options of each other setting that gives the same values here, the simplest first.
    name : str
        The name of the paper or repository that the definition comes from; otherwise the convention's name.
    values : list of float
        The unrounded means, in the order of the reported values.
    metrics : list of str
        The metric behind each value: a reported name may mean several.
    """

    convention: str
    options: dict[str, Any]
    name: str
    equal: list[tuple[str, dict[str, Any]]]

    def __init__(self, settings: list[Setting], values: list[float], metrics: list[str], differs: list[str]) -> None:
        first, *others = settings
        self.metrics = metrics
        self._settings, self._differs = settings, differs
        self.values = values
        self.convention, self.options = first.convention, dict(first.options)
        self.name = first.label or first.convention
        self.equal = [(each.convention, dict(each.options)) for each in others]

    @property
    def sentence(self) -> str:
        """The simplest settings, and where fastir's default differs from the first in a way that matters here."""
        told = [str(each) for each in self._settings[:TOLD]]
        more = len(self._settings) - len(told)
        text = "; or ".join(told) + (f"; or {counted(more, 'other', 'others')}" if more > 0 else "")
        words = [DEFAULTS.get(name, f"{name}={getattr(CONVENTIONS['fastir'], name, None)}") for name in self._differs]
        return f"{text}; unlike fastir's default: {', '.join(words)}" if words else text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"

    def _fields(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "convention": self.convention,
            "options": self.options,
            "equal": [{"convention": convention, "options": options} for convention, options in self.equal],
            "values": self.values,
            "metrics": self.metrics,
            "sentence": self.sentence,
        }


class NearestSettings(Answer):
    """Settings with values near the reported ones.

    Attributes
    ----------
    moves : sequence of OptionChange
        For the nearest settings: what single options move the values to, the nearest to the reported values first.
    """

    moves: Sequence[OptionChange] = ()

    def _fields(self) -> dict[str, Any]:
        return {**super()._fields(), "moves": [each._asdict() for each in self.moves]}


if TYPE_CHECKING:
    Listed = Sequence[Answer]
else:  # no Sequence when it runs: libraries would then read a list of objects, and not see the Arrow interface
    Listed = object


class Identified(Exportable, Listed):
    """The answers of `identify`, the simplest first: a sequence, empty if nothing fits. Prints as a table.

    Attributes
    ----------
    names : list of str
        The names of the reported values.
    nearest : list of Near
        If nothing fits: the settings with the nearest values, first those that miss the fewest. Each is an `Answer`;
        the `moves` of the first say where changing one option moves its values.
    n_settings : int
        The number of settings searched.
    by_chance : float
        How many of them would fit values of so few digits by chance.
    explanations : list of Explanation
        If no convention fits by itself: what gives the values and is no setting, such as a mean over another number of
        queries.
    not_understood : dict of str to str
        Numbers in the file of values whose names mean no metric.
    notes : list of str
        What else is to be known, in sentences.
    """

    def __init__(
        self,
        targets: list[Target],
        answers: list[Answer],
        nearest: list[NearestSettings],
        n_settings: int,
        by_chance: float,
        notes: list[str],
    ) -> None:
        self._targets, self._answers = targets, answers
        self.by_chance = by_chance
        self.explanations: list[Explanation] = []
        self.not_understood: dict[str, str] = {}
        self.notes = notes
        self.names: list[str] = [target.name for target in targets]
        self.nearest: list[NearestSettings] = nearest
        self.n_settings = n_settings

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Answer]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Answer | Sequence[Answer]:
        return self._answers[place]

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def _state(self) -> Any:
        return [each._fields() for each in (*self._answers, *self.nearest)]

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        asked = {target.name: target.shown for target in self._targets}
        answers, nearest = ([each._fields() for each in some] for some in (self._answers, self.nearest))
        return json_types(
            {
                "values": asked,
                "not_understood": self.not_understood,
                "answers": answers,
                "explanations": [each._asdict() for each in self.explanations],
                "nearest": nearest,
                "n_settings": self.n_settings,
                "by_chance": self.by_chance,
                "notes": self.notes,
            }
        )

    def _columns(self) -> dict[str, list[Any]]:
        listed = self._answers or self.nearest
        columns = {name: [each.values[place] for each in listed] for place, name in enumerate(self.names)}
        return {"setting": [each.sentence for each in listed], **columns}

    def _title(self) -> str:
        number = counted(self.n_settings, "setting", "settings")
        if self._answers:
            return f"{counted(len(self), 'answer', 'answers')} among {number}"
        return f"none of {number}; the nearest:" if self.nearest else f"none of {number}"

    def _table(self, digits: int = 4) -> Table:
        head, rows = ["", *self.names, ""], []
        rows.append([Cell("reported"), *(Cell(target.shown) for target in self._targets), Cell("")])
        listed = self._answers[:PRINTED_ANSWERS] or self.nearest
        for number, each in enumerate(listed, 1):
            cells = [self._cell(value, target) for value, target in zip(each.values, self._targets, strict=True)]
            meant = [
                f"; {target.name} is {metric}"
                for target, metric in zip(self._targets, each.metrics, strict=True)
                if metric != target.meanings[0]
            ]
            rows.append([Cell(str(number)), *cells, Cell(each.sentence + "".join(meant))])
        hidden = len(self) - len(listed)
        notes = [each.sentence for each in self.explanations]
        notes += [f"{counted(hidden, 'more answer', 'more answers')}"] if hidden > 0 else []
        if not self._answers and self.nearest:
            notes += [self._move_text(each) for each in self.nearest[0].moves[:PRINTED_ANSWERS]]
        if any(cell.text.endswith(" *") for row in rows for cell in row[1:-1]):
            notes.append("* does not round to the reported value")
        notes += self.notes
        fitting = counted(self.n_settings, "setting", "settings")
        expected = (
            f"about {self.by_chance:.3g}"
            if self.by_chance >= MIN_PRINTED_CHANCE
            else f"fewer than {MIN_PRINTED_CHANCE}"
        )
        notes.append(f"values of so few digits would fit {expected} of {fitting} by chance")
        if self.not_understood:
            left_out = ", ".join(f"{name} {value}" for name, value in self.not_understood.items())
            notes.append(f"left out, since the name means no metric: {left_out}")
        return Table(head, rows, len(head), notes, self._title())

    def _move_text(self, move: OptionChange) -> str:
        """What a change of the nearest setting moves its values to, in words."""
        moved = [
            f"{target.name} {self._cell(value, target).text}"
            for value, was, target in zip(move.values, self.nearest[0].values, self._targets, strict=True)
            if value != was
        ]
        return f"{move} would change row 1: {', '.join(moved)}"

    @staticmethod
    def _cell(value: float, target: Target) -> Cell:
        """A mean with two digits more than were reported, and a star where it does not fit."""
        return Cell(f"{value:.{target.places + 2}f}{'' if target.holds(value) else ' *'}")

    def __repr__(self) -> str:
        return self.to_table().rstrip("\n")
