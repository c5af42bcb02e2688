"""The one call that writes a table, and the formats by name."""

from __future__ import annotations

import re
from collections.abc import Callable

from fastir.checks import check_choice, flag
from fastir.rendering.cells import Cell, Table
from fastir.rendering.plain import as_csv, as_markdown, as_text
from fastir.rendering.text import UNPRINTABLE, printable


def render(
    table: Table, format: str, caption: str | None = None, label: str | None = None, formulas: bool = False
) -> str:
    """A table in one of the FORMATS.

    Parameters
    ----------
    table : Table
    format : {"text", "markdown", "html", "latex", "csv"}
    caption : str or None
        Instead of title and notes.
    label : str or None
        To refer to: ``\\label`` in LaTeX, the id in HTML; other formats have none.
    formulas : bool
        Whether texts in CSV that a spreadsheet would take for formulas stay unchanged.
    """
    check_choice("format", format, tuple(FORMATS))
    if caption is not None:
        table = table._replace(title="", notes=[caption] if caption else [])
    elif table.title and format != "text":
        table = table._replace(title="", notes=[table.title, *table.notes])
    if flag("formulas", formulas) and format == "csv":
        return as_csv(table, label, formulas)
    return FORMATS[format](table if format == "csv" else for_people(table), label)


def for_people(table: Table) -> Table:
    """The table without characters that steer a terminal or break a row."""
    texts = (text for row in table.rows for cell in row for text in (cell.text, cell.interval))
    if not re.search(UNPRINTABLE, "".join([table.title, *table.notes, *table.head, *texts])):
        return table
    rows = [[for_reading(cell) for cell in row] for row in table.rows]
    notes, head = ([printable(text) for text in part] for part in (table.notes, table.head))
    return table._replace(title=printable(table.title), notes=notes, head=head, rows=rows)


def for_reading(cell: Cell) -> Cell:
    return cell._replace(text=printable(cell.text), interval=printable(cell.interval))


def as_latex(table: Table, label: str | None) -> str:
    from fastir.rendering import latex  # imported by the first table of its kind, as HTML

    return latex.as_latex(table, label)


def as_html(table: Table, label: str | None) -> str:
    from fastir.rendering import web

    return web.as_html(table, label)


FORMATS: dict[str, Callable[[Table, str | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "html": as_html,
    "latex": as_latex,
    "csv": as_csv,
}
BY_SUFFIX = {".txt": "text", ".md": "markdown", ".html": "html", ".tex": "latex", ".csv": "csv"}
