"""The one call that writes a table, and the formats by name."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator

from fastir.checks import check_choice, flag
from fastir.rendering.cells import Cell, Table, align_points, extras
from fastir.rendering.names import without_common
from fastir.rendering.text import UNPRINTABLE, align_columns, printable, quote_cell

# ---- text, Markdown and CSV ------------------------------------------------------------------------------------------
SUPERSCRIPTS = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789-,", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
MARKDOWN = r"[\\|*_`<~$]|&(?=#?\w+;)|\](?=[\[(:])|://"  # what would be markup, a link or an entity
CSV_QUOTED = '[,"\r\n]'
FORMULA = r"[=+\-@\t\r](?s:.)"  # what a spreadsheet takes for a formula, if it is no number
NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]inf"  # no digit fits two parts of it
WIDTH = 100  # of notes in text
COLUMNS_OF_RUNS = ("run", "a", "b", "better in a", "worse in a")  # heads of columns with names of runs


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

    def markdown_cell(cell: Cell) -> str:
        text = in_markdown(cell.text)
        text = f"**{text}**" if cell.strong else text
        return " ".join(filter(None, [text + cell.beats.translate(SUPERSCRIPTS), cell.interval]))

    rows = [
        [in_markdown(name) for name in table.head],
        [":---" if place < table.first else "---:" for place in range(len(table.head))],
        *(list(map(markdown_cell, row)) for row in table.rows),
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

    def harmless_text(text: str) -> str:
        if formulas:
            return text
        text = "".join(part if part in "\t\r\n" else printable(part) for part in re.split("([\t\r\n])", text))
        return "'" + text if re.match(FORMULA, text) and not re.fullmatch(NUMBER, text) else text

    def csv_row(row: list[str]) -> str:
        fields = map(harmless_text, row)
        return ",".join(quote_cell(field) if re.search(CSV_QUOTED, field) else field for field in fields) + "\n"

    cells = ([cell.text if cell.exact is None else cell.exact for cell in row] for row in table.rows)
    return "".join(map(csv_row, (table.head, *cells)))


# ---- HTML: without script and style sheets, and with the colours of the page -----------------------------------------
HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
CELL = "padding: 0.15em 0.6em; white-space: nowrap; font-variant-numeric: tabular-nums"
BEFORE, BEHIND = "right; padding-right: 0", "left; padding-left: 0"  # a number, and the text right behind it
NOTES = "max-width: 60em; padding: 0.3em 0.6em; text-align: left; font-size: smaller"


def as_html(table: Table, label: str | None = None) -> str:
    """A table that scrolls if it is too wide, above its notes."""
    shown = extras(table)
    sides = ["left" if place < table.first else "right" for place in range(len(table.head))]
    spaces = [figure_spaces([row[place].text for row in table.rows]) for place in range(len(table.head))]
    head = (
        styled_cell("th", BEFORE if any(extra) else side, name.translate(HTML))
        + styled_cell("th", BEHIND, "") * sum(extra)
        for name, side, extra in zip(table.head, sides, shown, strict=True)
    )
    rows = ("".join(itertools.chain(*map(html_cell, row, sides, spaces, shown))) for row in table.rows)
    name = f' id="{label.translate(HTML)}"' if label else ""
    notes = " ".join(table.notes).translate(HTML)
    return "\n".join(
        [
            f'<figure{name} style="margin: 0; overflow-x: auto">',
            '<table style="margin: 0">',
            f"<thead><tr>{''.join(head)}</tr></thead>",
            "<tbody>",
            *(f"<tr>{row}</tr>" for row in rows),
            "</tbody>",
            "</table>",
            *([f'<figcaption style="{NOTES}">{notes}</figcaption>'] if notes else []),
            "</figure>",
            "",
        ]
    )


def html_cell(cell: Cell, side: str, spaces: dict[str, str], shown: tuple[bool, bool]) -> Iterator[str]:
    """A cell, and cells for its marks and its interval where the column has any."""
    text = cell.text.translate(HTML) + spaces[cell.text]
    yield styled_cell("td", BEFORE if any(shown) else side, f"<b>{text}</b>" if cell.strong else text)
    marks = f'<sup style="line-height: 0">{cell.beats.replace("-", "–")}</sup>' if cell.beats else ""
    interval = f"<small>{cell.interval}</small>" if cell.interval else ""
    yield from (styled_cell("td", BEHIND, content) for content in itertools.compress((marks, interval), shown))


def styled_cell(kind: str, side: str, content: str) -> str:
    return f'<{kind} style="{CELL}; text-align: {side}">{content}</{kind}>'


def figure_spaces(texts: list[str]) -> dict[str, str]:
    """Padding behind each number of a column: spaces as wide as a point and as digits."""
    spaces = {}
    for text, padded in zip(texts, align_points(texts), strict=True):
        width = 0 if text in ("", "-") else len(padded) - len(text)
        spaces[text] = "\u2007" * width if "." in text or not width else "\u2008" + "\u2007" * (width - 1)
    return spaces


# ---- the formats -----------------------------------------------------------------------------------------------------
def render(
    table: Table, format: str, caption: str | None = None, label: str | None = None, formulas: bool = False
) -> str:
    """A table in one of the FORMATS; `caption` replaces title and notes, LaTeX and HTML refer to it by `label`.

    With `formulas`, texts in CSV that a spreadsheet would take for formulas stay unchanged.
    """
    check_choice("format", format, tuple(FORMATS))
    if caption is not None:
        table = table._replace(title="", notes=[caption] if caption else [])
    elif table.title and format != "text":
        table = table._replace(title="", notes=[table.title, *table.notes])
    if flag("formulas", formulas) and format == "csv":
        return as_csv(table, label, formulas)
    if format == "csv":
        return as_csv(table, label)
    return FORMATS[format](for_people(short_names(table) if caption is None else table), label)


def short_names(table: Table) -> Table:
    """The table with names of runs that have no common beginning or end, which a note says."""
    columns = [place for place, name in enumerate(table.head[: table.first]) if name in COLUMNS_OF_RUNS]
    names = list(dict.fromkeys(row[place].text for row in table.rows for place in columns if row[place].text))
    texts, note = without_common(names)
    if not note:
        return table
    short = {"": "", **dict(zip(names, texts, strict=True))}
    rows = [
        [cell._replace(text=short[cell.text]) if place in columns else cell for place, cell in enumerate(row)]
        for row in table.rows
    ]
    return table._replace(rows=rows, notes=[note, *table.notes])


def for_people(table: Table) -> Table:
    """The table without characters that steer a terminal or break a row."""
    texts = (text for row in table.rows for cell in row for text in (cell.text, cell.interval))
    if not re.search(UNPRINTABLE, "".join([table.title, *table.notes, *table.head, *texts])):
        return table
    rows = [
        [cell._replace(text=printable(cell.text), interval=printable(cell.interval)) for cell in row]
        for row in table.rows
    ]
    notes, head = ([printable(text) for text in part] for part in (table.notes, table.head))
    return table._replace(title=printable(table.title), notes=notes, head=head, rows=rows)


def as_latex(table: Table, label: str | None) -> str:
    from fastir.rendering import latex  # imported by the first table of its kind

    return latex.as_latex(table, label)


FORMATS: dict[str, Callable[[Table, str | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "html": as_html,
    "latex": as_latex,
    "csv": as_csv,
}
BY_SUFFIX = {".txt": "text", ".md": "markdown", ".html": "html", ".tex": "latex", ".csv": "csv"}
