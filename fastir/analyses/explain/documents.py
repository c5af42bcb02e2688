"""The documents of an Explanation, from what was evaluated for it.

A thousand of them, with three dicts each, take longer to make than all the values, and most callers look at the values
or at the first ranks. So they are made when they are first read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

from fastir.analyses.explain.records import Document


class LaterCopy:
    """A later copy of a document, which counts as a document without a judgment."""

    __slots__ = ("doc_id",)

    doc_id: str | int

    def __init__(self, doc_id: str | int) -> None:
        self.doc_id = doc_id

    def __str__(self) -> str:
        return str(self.doc_id)


class Row(NamedTuple):
    """A document at its rank; `level` numbers the distinct scores from the top."""

    doc_id: str | int | LaterCopy
    score: float | None
    level: int
    tied: int


def id_text(row: Row) -> str | None:
    """The id by which a document's judgment is found; None for a later copy."""
    return None if isinstance(row.doc_id, LaterCopy) else str(row.doc_id)


class Terms(NamedTuple):
    """The contributions of a ranking's documents to the metrics."""

    names: list[str]  # of the metrics
    codes: dict[str, int]  # the labels of the query
    elsewhere: set[str]  # documents that are judged for another query, if a metric reads those
    by_label: bool  # whether documents with one label have one gain
    first: Callable[[str | None], list[float]]  # what gains are the terms of, with this document alone, at rank 1
    gained: dict[int | None, tuple[float, ...]]  # these terms, by position from 0; None: the empty ranking's terms
    contributions: dict[int | None, tuple[float, ...]]  # likewise


def make_documents(terms: Terms, rows: list[Row], absent: list[str | int]) -> tuple[list[Document], list[Document]]:
    """The documents of a ranking, and the missing ones."""
    gains: dict[Hashable, list[float]] = {}

    def document(row: Row, place: int | None, text: str | None) -> Document:
        label = None if text is None else terms.codes.get(text)
        kind = (label, text in terms.elsewhere) if terms.by_label else text
        if kind not in gains:
            gains[kind] = [value - base for value, base in zip(terms.first(text), terms.gained[None], strict=True)]
        gain = dict(zip(terms.names, gains[kind], strict=True))
        gained = None if place is None else terms.gained.get(place)
        if place is None or gained is None:
            discount: dict[str, float | None] = dict.fromkeys(gain)
            contribution = dict.fromkeys(gain, 0.0)
        else:
            shares = zip(gain, gained, gain.values(), strict=True)
            discount = {name: term / most if most else None for name, term, most in shares}
            contribution = dict(zip(gain, terms.contributions[place], strict=True))
        rank = None if place is None else place + 1
        shown = row.doc_id.doc_id if isinstance(row.doc_id, LaterCopy) else row.doc_id
        return Document(shown, rank, row.score, row.tied, label, gain, discount, contribution)

    present = [document(row, place, id_text(row)) for place, row in enumerate(rows)]
    return present, [document(Row(doc_id, None, 0, 0), None, str(doc_id)) for doc_id in absent]
