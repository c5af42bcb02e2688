"""Answers: the settings that give reported values, as records and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, overload

from fastir.identification.settings import Setting
from fastir.identification.values import Target
from fastir.rendering import Cell, Table
from fastir.request.conventions import CONVENTIONS
from fastir.results.exportable import Exportable
from fastir.text import counted, json_types

TOLD = 4  # settings of an answer that its sentence names
SHOWN = 10  # answers that are printed

# What a choice says of rankings and queries, for the sentence about the difference from the default.
WORDS = {
    ("queries", "qrels"): "queries missing from the run count as 0",
    ("queries", "intersection"): "queries missing from the run are left out",
    ("ties", "input"): "equal scores keep the order of the run",
    ("ties", "doc_id_asc"): "equal scores stand by ascending ids",
    ("ties", "trec"): "equal scores stand by descending ids",
    ("ties", "average"): "equal scores count as the mean over their orders",
    ("ties", "optimistic"): "the best of equal scores stands first",
    ("ties", "pessimistic"): "the worst of equal scores stands first",
    ("gain", "exp2"): "a label gains 2^label - 1",
    ("gain", "binary"): "every relevant label gains 1",
    ("ideal", "retrieved"): "the ideal holds only retrieved documents",
    ("ideal", "num_ret"): "the ideal is as long as the ranking",
    ("ideal", "full"): "the ideal has a best document at each rank",
    ("empty", "skip"): "queries without relevant documents leave the mean",
    ("empty", "one"): "queries without relevant documents count as 1",
    ("score_dtype", "float32"): "scores are compared as float32",
    ("exclude", "query_id"): "a document called like its query does not count",
    ("duplicates", "once"): "a repeated document counts once",
    ("ap_norm", "hits"): "AP divides by the relevant documents retrieved",
    ("ap_norm", "min_kR"): "AP divides by the smaller of k and the relevant documents",
    ("short_rankings", "clip"): "precision divides by the length of a short ranking",
    ("discount", "jk2"): "the first two ranks have no discount",
}


class Answer:
    """Settings that give the values, and each other's values on these data.

    Attributes
    ----------
    convention : str
        Of the simplest setting.
    options : dict of str to object
        Keyword arguments of `evaluate` that go with it.
    equal : list of (str, dict)
        The convention and options of the settings that give the same here, the simplest first; without this one.
    name : str
        A paper's or repository's, if the definition is theirs; else the convention's.
    values : list of float
        The means, in the order of the values that were asked for, unrounded.
    """

    def __init__(self, settings: list[Setting], values: list[float]) -> None:
        first, *others = settings
        self._settings = settings
        self.values = values
        self.convention, self.options = first.convention, dict(first.options)
        self.name = first.label or first.convention
        self.equal = [(each.convention, dict(each.options)) for each in others]

    @property
    def sentence(self) -> str:
        """The simplest settings in words, and what is not fastir's default in the first of them."""
        told = [str(each) for each in self._settings[:TOLD]]
        more = len(self._settings) - len(told)
        text = "; or ".join(told) + (f"; or {counted(more, 'other', 'others')}" if more > 0 else "")
        differs = self._differences()
        return f"{text}. fastir's default differs: {'; '.join(differs)}" if differs else text

    def _differences(self) -> list[str]:
        """What the first setting chooses for all metrics that the default does not, in words."""
        usual, record = CONVENTIONS["fastir"], CONVENTIONS[self.convention]
        chosen = {name: getattr(record, name) for name in record.choices()} | self.options
        return [
            WORDS[name, value]
            for name, value in chosen.items()
            if isinstance(value, str) and (name, value) in WORDS and value != getattr(usual, name, None)
        ]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.sentence}>"

    def _fields(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "convention": self.convention,
            "options": self.options,
            "equal": [{"convention": convention, "options": options} for convention, options in self.equal],
            "values": self.values,
            "sentence": self.sentence,
        }


class Near(Answer):
    """Settings whose values are near to those that were asked for."""


class Identified(Exportable, Sequence[Answer]):
    """The answers to `identify`, the simplest first; a sequence that is empty if nothing fits. Prints as a table.

    Attributes
    ----------
    names : list of str
        The names of the values that were asked for.
    nearest : list of Answer
        If nothing fits: the settings whose values are nearest, first those that miss the fewest values.
    n_settings : int
        How many were searched.
    """

    def __init__(self, targets: list[Target], answers: list[Answer], nearest: list[Near], n_settings: int) -> None:
        self._targets, self._answers = targets, answers
        self.names = [target.name for target in targets]
        self.nearest: list[Answer] = list(nearest)
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
        return json_types({"values": asked, "answers": answers, "nearest": nearest, "n_settings": self.n_settings})

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
        rows.append([Cell("asked"), *(Cell(target.shown) for target in self._targets), Cell("")])
        listed = self._answers[:SHOWN] or self.nearest
        for number, each in enumerate(listed, 1):
            cells = [self._cell(value, target) for value, target in zip(each.values, self._targets, strict=True)]
            rows.append([Cell(str(number)), *cells, Cell(each.sentence)])
        hidden = len(self) - len(listed)
        notes = [f"{counted(hidden, 'more answer', 'more answers')}"] if hidden > 0 else []
        return Table(head, rows, len(head), notes, self._title())

    @staticmethod
    def _cell(value: float, target: Target) -> Cell:
        """A mean with two digits more than were asked for, and a star where it does not fit."""
        places = len(target.shown.partition(".")[2])
        return Cell(f"{value:.{places + 2}f}{'' if target.holds(value) else ' *'}")

    def __repr__(self) -> str:
        return self.to_table().rstrip("\n")
