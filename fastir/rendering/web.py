"""Tables as HTML for notebooks and pages: without script and style sheets, and with the colours of the page."""

from __future__ import annotations

import html
import itertools
from collections.abc import Iterator

from fastir.rendering.cells import Cell, Table, align_points, extras

CELL = "padding: 0.15em 0.6em; white-space: nowrap; font-variant-numeric: tabular-nums"
BEFORE, BEHIND = "right; padding-right: 0", "left; padding-left: 0"  # a number, and the text right behind it
NOTES = "max-width: 60em; padding: 0.3em 0.6em; text-align: left; font-size: smaller"


def as_html(table: Table, label: str | None = None) -> str:
    """A table that scrolls if it is too wide, above its notes."""
    shown = extras(table)
    sides = ["left" if place < table.first else "right" for place in range(len(table.head))]
    spaces = [figure_spaces([row[place].text for row in table.rows]) for place in range(len(table.head))]
    head = (
        styled_cell("th", BEFORE if any(extra) else side, html.escape(name))
        + styled_cell("th", BEHIND, "") * sum(extra)
        for name, side, extra in zip(table.head, sides, shown, strict=True)
    )
    rows = ("".join(itertools.chain(*map(html_cell, row, sides, spaces, shown))) for row in table.rows)
    name = f' id="{html.escape(label)}"' if label else ""
    notes = html.escape(" ".join(table.notes))
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
    text = html.escape(cell.text) + spaces[cell.text]
    yield styled_cell("td", BEFORE if any(shown) else side, f"<b>{text}</b>" if cell.strong else text)
    marks = f'<sup style="line-height: 0">{cell.beats.replace("-", "–")}</sup>' if cell.beats else ""
    interval = f"<small>{cell.interval}</small>" if cell.interval else ""
    yield from (styled_cell("td", BEHIND, content) for content in itertools.compress((marks, interval), shown))


def styled_cell(kind: str, side: str, content: str) -> str:
    return f'<{kind} style="{CELL}; text-align: {side}">{content}</{kind}>'


def figure_spaces(texts: list[str]) -> dict[str, str]:
    """Padding behind each number of a column: spaces as wide as a point and as digits."""
    lacking = {text: len(padded) - len(text) for text, padded in zip(texts, align_points(texts), strict=True)}
    return {
        text: ""
        if not lack or text in ("", "-")
        else "\u2007" * lack
        if "." in text
        else "\u2008" + "\u2007" * (lack - 1)
        for text, lack in lacking.items()
    }
