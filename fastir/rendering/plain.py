"""Tables as text, Markdown and CSV."""

from __future__ import annotations

import csv
import io
import textwrap

from fastir.rendering.cells import Cell, Table, pointed
from fastir.text import aligned

RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789-,", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
MARKDOWN = str.maketrans({mark: f"\\{mark}" for mark in "\\|*_`<"})
WIDTH = 100  # of notes in text


def as_text(table: Table, label: str | None = None) -> str:
    """Text: the title, the columns, the notes; a star before a number stands for bold."""
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
    title = f"{table.title}\n" if table.title else ""
    return title + ("\n".join([aligned(rows, left), *notes]) if notes else aligned(rows, left))


def as_markdown(table: Table, label: str | None = None) -> str:
    """Markdown: a pipe table above a paragraph for each note; marks are raised letters."""

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


def as_csv(table: Table, label: str | None = None) -> str:
    """CSV without notes; numbers read back exactly."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(table.head)
    lines.writerows([cell.text if cell.exact is None else cell.exact for cell in row] for row in table.rows)
    return text.getvalue()
