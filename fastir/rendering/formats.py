"""The one call that writes a table, and the formats by name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from fastir.checks import check_choice, flag
from fastir.rendering.cells import Cell, Table, align_points
from fastir.rendering.text import UNPRINTABLE, align_columns, printable

# ---- text, Markdown and CSV ------------------------------------------------------------------------------------------

SUPERSCRIPTS = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789-,", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
MARKDOWN = r"[\\|*_`<~$]|&(?=#?\w+;)|\](?=[\[(:])|://"  # what would be markup, a link or an entity
FORMULA = r"[=+\-@\t\r](?s:.)"  # what a spreadsheet takes for a formula, if it is no number
CSV_QUOTED = '[,"\r\n]'
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]inf"  # no digit fits two parts of it
WIDTH = 100  # of notes in text


def as_text(table: Table, label: str | None = None) -> str:
    """Text: the title, the columns if there are rows, the notes; a star before a number means bold."""
    starred = any(cell.strong for row in table.rows for cell in row)
    columns: list[list[str]] = []
    left = 0
    for place, name in enumerate(table.head):
        cells = [row[place] for row in table.rows]
        if place < table.first:
            columns.append([name, *(cell.text for cell in cells)])
            left += 1
            continue
        stars = [("*" if cell.strong else " ") * starred for cell in cells]
        texts = align_points([star + cell.text for star, cell in zip(stars, cells, strict=True)])
        raised = [cell.beats.translate(SUPERSCRIPTS) for cell in cells]
        width = max(map(len, raised), default=0)
        columns.append(
            [
                name + " " * width,
                *(f"{text}{raised_text:<{width}}" for text, raised_text in zip(texts, raised, strict=True)),
            ]
        )
        if any(cell.interval for cell in cells):
            columns.append(["", *(cell.interval for cell in cells)])
    rows = [list(row) for row in zip(*columns, strict=True)]
    notes = [note.replace("in bold", "with a star") for note in table.notes]
    notes = [textwrap.fill(note, WIDTH, break_on_hyphens=False) for note in notes]
    title = f"{table.title}\n" if table.title else ""
    if notes and not table.rows:
        return title + "\n".join(notes)
    return title + ("\n".join([align_columns(rows, left), *notes]) if notes else align_columns(rows, left))


def as_markdown(table: Table, label: str | None = None) -> str:
    """Markdown: a pipe table above a paragraph for each note; marks are raised letters."""

    def written(cell: Cell) -> str:
        text = in_markdown(cell.text)
        text = f"**{text}**" if cell.strong else text
        return " ".join(filter(None, [text + cell.beats.translate(SUPERSCRIPTS), cell.interval]))

    rows = [
        [in_markdown(name) for name in table.head],
        [":---" if place < table.first else "---:" for place in range(len(table.head))],
        *(list(map(written, row)) for row in table.rows),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    notes = ["", *map(in_markdown, table.notes)] if table.notes else []
    return "\n".join([*lines, *notes]) + "\n"


def in_markdown(text: str) -> str:
    """Text without a meaning for Markdown: its marks mean nothing behind a backslash."""
    return re.sub(MARKDOWN, lambda mark: f":\\{mark[0][1:]}" if mark[0] == "://" else f"\\{mark[0]}", text)


def as_csv(table: Table, label: str | None = None, formulas: bool = False) -> str:
    """CSV without notes; numbers read back exactly.

    Unless `formulas` are wanted, a text that a spreadsheet would compute gets an apostrophe in front, and control
    characters are escaped as in Python; tabs and line breaks stay, in quotation marks.
    """

    def written(text: str) -> str:
        if formulas:
            return text
        text = "".join(part if part in "\t\r\n" else printable(part) for part in re.split("([\t\r\n])", text))
        return "'" + text if re.match(FORMULA, text) and not re.fullmatch(NUMBER, text) else text

    cells = ([cell.text if cell.exact is None else cell.exact for cell in row] for row in table.rows)
    return "".join(",".join(csv_field(written(cell)) for cell in row) + "\n" for row in (table.head, *cells))


def csv_field(text: str) -> str:
    """A cell, in quotation marks if a csv reader needs them; the csv module itself leaves a lone \\r unquoted."""
    return '"' + text.replace('"', '""') + '"' if re.search(CSV_QUOTED, text) else text


# ---- the formats -----------------------------------------------------------------------------------------------------


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
