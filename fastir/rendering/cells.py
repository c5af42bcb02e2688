"""The cells of a table and what they mean, which every format reads."""

from __future__ import annotations

from collections.abc import Sequence

from fastir.declared import Record
from fastir.rendering.text import decimals


class Cell(Record):
    """A cell: its text, marks of the runs that it beats, its interval, whether it is emphasized, its exact value."""

    text: str
    beats: str = ""
    interval: str = ""
    strong: bool = False
    exact: str | None = None


class Table(Record):
    """Rows of cells below a head; the columns from `first` on are numbers.

    Title and notes make the caption; in text the title is above the table, and each note on lines of its own.
    """

    head: list[str]
    rows: list[list[Cell]]
    first: int
    notes: list[str]
    title: str = ""


def number_cell(value: float | None, digits: int) -> Cell:
    """A number with so many decimals, "-" where there is none; its exact value for programs."""
    return Cell(decimals(value, digits), exact="" if value is None else repr(value))


def swap_axes(table: Table) -> Table:
    """Columns as rows; the labels of the rows, side by side, then are the head."""
    labels = table.head[: table.first], *([cell.text for cell in row[: table.first]] for row in table.rows)
    head = [" ".join(filter(None, each)) for each in labels]
    places = range(table.first, len(table.head))
    rows = [[Cell(table.head[place]), *(row[place] for row in table.rows)] for place in places]
    return table._replace(head=head, rows=rows, first=1)


def align_points(texts: Sequence[str]) -> list[str]:
    """Texts padded on their right such that the decimal points of a right-aligned column are below each other."""
    if not any("." in text for text in texts) or any(mark in text for text in texts for mark in "/[e"):
        return list(texts)
    behind = [len(text.partition(".")[2]) + ("." in text) for text in texts]
    most = max(behind)
    return [text + " " * (most - length) for text, length in zip(texts, behind, strict=True)]


def extras(table: Table) -> list[tuple[bool, bool]]:
    """Whether each column has marks, and whether it has intervals: columns of their own, so that numbers align."""
    columns = ([row[place] for row in table.rows] for place in range(len(table.head)))
    return [(any(cell.beats for cell in column), any(cell.interval for cell in column)) for column in columns]
