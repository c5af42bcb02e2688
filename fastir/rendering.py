"""Tables for people: made once, of cells that say what they mean, and written as text, Markdown, HTML, LaTeX or CSV.

A format only writes cells and puts rows together. Numbers are aligned on the decimal point in every format that has
columns; CSV has them exactly, for programs.
"""

from __future__ import annotations

import csv
import html
import io
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fastir.checks import one_of
from fastir.text import aligned

RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789-,", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\|*_`<"})
LATEX = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "≤": "$\\le$",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)
MINUS = re.compile(r"-(?=\d)")
WIDTH = 100  # of notes in text
BY_SUFFIX = {".txt": "text", ".md": "markdown", ".html": "html", ".tex": "latex", ".csv": "csv"}


class Cell(NamedTuple):
    """A cell: its text, marks of the runs that it beats, its interval, whether it is emphasized, its exact value."""

    text: str
    beats: str = ""
    interval: str = ""
    strong: bool = False
    exact: str | None = None


class Table(NamedTuple):
    """Rows of cells below a head; the columns from `first` on are numbers, and the notes make the caption."""

    head: list[str]
    rows: list[list[Cell]]
    first: int
    notes: list[str]


def rendered(table: Table, format: str, caption: str | None = None, label: str | None = None) -> str:
    """A table in one of the FORMATS.

    Parameters
    ----------
    table : Table
    format : {"text", "markdown", "html", "latex", "csv"}
    caption : str or None
        Instead of the notes.
    label : str or None
        To refer to: ``\\label`` in LaTeX, the id in HTML; other formats have none.

    Raises
    ------
    ValueError
        There is no such format.
    """
    one_of("format", format, tuple(FORMATS))
    if caption is not None:
        table = table._replace(notes=[caption])
    return FORMATS[format](table, label)


def transposed(table: Table) -> Table:
    """Columns as rows; the names of the rows, which then are the head, are those of their last label."""
    labels = table.first - 1
    head = [table.head[labels], *(row[labels].text for row in table.rows)]
    columns = list(zip(*(row[table.first :] for row in table.rows), strict=True))
    rows = [[Cell(name), *column] for name, column in zip(table.head[table.first :], columns, strict=True)]
    return Table(head, rows, 1, table.notes)


def pointed(texts: Sequence[str]) -> list[str]:
    """Texts padded on their right such that the decimal points of a column to the right stand below each other."""
    if not any("." in text for text in texts) or any(mark in text for text in texts for mark in "/[e"):
        return list(texts)
    behind = [len(text.partition(".")[2]) + ("." in text) for text in texts]
    return [text + " " * (max(behind) - length) for text, length in zip(texts, behind, strict=True)]


def as_text(table: Table, label: str | None = None) -> str:
    """Text, where a star before a number stands for bold."""
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
        texts = pointed([star + cell.text for star, cell in zip(stars, cells, strict=True)])
        raised = [cell.beats.translate(RAISED) for cell in cells]
        width = max(map(len, raised), default=0)
        columns.append(
            [name + " " * width, *(f"{text}{own:<{width}}" for text, own in zip(texts, raised, strict=True))]
        )
        if any(cell.interval for cell in cells):
            columns.append(["", *(cell.interval for cell in cells)])
    rows = [list(row) for row in zip(*columns, strict=True)]
    notes = [note.replace("in bold", "with a star") for note in table.notes]
    notes = [textwrap.fill(note, WIDTH, break_on_hyphens=False) for note in notes]
    return "\n".join([aligned(rows, left), *notes]) if notes else aligned(rows, left)


def as_markdown(table: Table, label: str | None = None) -> str:
    def written(cell: Cell) -> str:
        text = cell.text.translate(MARKDOWN)
        text = f"**{text}**" if cell.strong else text
        return " ".join(filter(None, [text + cell.beats.translate(RAISED), cell.interval]))

    rows = [
        [name.translate(MARKDOWN) for name in table.head],
        [":---" if place < table.first else "---:" for place in range(len(table.head))],
        *(list(map(written, row)) for row in table.rows),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    notes = ["", *(note.translate(MARKDOWN) for note in table.notes)] if table.notes else []
    return "\n".join([*lines, *notes]) + "\n"


def as_html(table: Table, label: str | None = None) -> str:
    """HTML; the caption stands below the table, numbers to the right, and colours are those of the page."""

    def written(cell: Cell) -> str:
        text = html.escape(cell.text)
        text = f"<b>{text}</b>" if cell.strong else text
        text += f"<sup>{cell.beats.replace('-', '–')}</sup>" if cell.beats else ""
        return f"{text} <small>{cell.interval}</small>" if cell.interval else text

    def styled(kind: str, place: int, content: str) -> str:
        side = "left" if place < table.first else "right; font-variant-numeric: tabular-nums"
        return f'<{kind} style="text-align: {side}">{content}</{kind}>'

    head = "".join(styled("th", place, html.escape(name)) for place, name in enumerate(table.head))
    rows = ("".join(styled("td", place, written(cell)) for place, cell in enumerate(row)) for row in table.rows)
    name = f' id="{html.escape(label)}"' if label else ""
    caption = '<caption style="caption-side: bottom; text-align: left">'
    return "\n".join(
        [
            f"<table{name}>",
            *([f"{caption}{html.escape(' '.join(table.notes))}</caption>"] if table.notes else []),
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *(f"<tr>{row}</tr>" for row in rows),
            "</tbody>",
            "</table>",
            "",
        ]
    )


def as_latex(table: Table, label: str | None = None) -> str:
    """LaTeX, which needs the package booktabs.

    What stands behind a number, marks and an interval, has a column of its own, so that the numbers are aligned.
    """

    def written(place: int, cell: Cell) -> str:
        text = cell.text.translate(LATEX)
        if place >= table.first:
            text = MINUS.sub("$-$", text)
        text = f"\\textbf{{{text}}}" if cell.strong else text
        behind = f"$^{{{cell.beats.replace('-', chr(92) + 'text{--}')}}}$" if cell.beats else ""
        behind += f" {{\\small {MINUS.sub('$-$', cell.interval)}}}" if cell.interval else ""
        return f"{text} & {behind}".rstrip() if wide[place] else text

    wide = [
        place >= table.first and any(row[place].beats or row[place].interval for row in table.rows)
        for place in range(len(table.head))
    ]
    kinds = ("l" if place < table.first else "r@{}l" if wide[place] else "r" for place in range(len(table.head)))
    head = (
        rf"\multicolumn{{2}}{{c}}{{{name.translate(LATEX)}}}" if own else name.translate(LATEX)
        for name, own in zip(table.head, wide, strict=True)
    )
    rows = (" & ".join(map(written, range(len(row)), row)) for row in table.rows)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            *([f"\\caption{{{' '.join(table.notes).translate(LATEX)}}}"] if table.notes else []),
            *([f"\\label{{{label}}}"] if label else []),
            f"\\begin{{tabular}}{{{''.join(kinds)}}}",
            "\\toprule",
            " & ".join(head) + r" \\",
            "\\midrule",
            *(row + r" \\" for row in rows),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def as_csv(table: Table, label: str | None = None) -> str:
    """CSV without notes; numbers read back exactly."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(table.head)
    lines.writerows([cell.text if cell.exact is None else cell.exact for cell in row] for row in table.rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[Table, str | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "html": as_html,
    "latex": as_latex,
    "csv": as_csv,
}
