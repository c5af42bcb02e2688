"""The one call that writes a table, and the formats by name."""

from __future__ import annotations

from collections.abc import Callable

from fastir.checks import one_of
from fastir.rendering.cells import Table
from fastir.rendering.latex import as_latex
from fastir.rendering.plain import as_csv, as_markdown, as_text
from fastir.rendering.web import as_html


def rendered(table: Table, format: str, caption: str | None = None, label: str | None = None) -> str:
    """A table in one of the FORMATS.

    Parameters
    ----------
    table : Table
    format : {"text", "markdown", "html", "latex", "csv"}
    caption : str or None
        Instead of title and notes.
    label : str or None
        To refer to: ``\\label`` in LaTeX, the id in HTML; other formats have none.

    Raises
    ------
    ValueError
        There is no such format.
    """
    one_of("format", format, tuple(FORMATS))
    if caption is not None:
        table = table._replace(title="", notes=[caption] if caption else [])
    elif table.title and format != "text":
        table = table._replace(title="", notes=[table.title, *table.notes])
    return FORMATS[format](table, label)


FORMATS: dict[str, Callable[[Table, str | None], str]] = {
    "text": as_text,
    "markdown": as_markdown,
    "html": as_html,
    "latex": as_latex,
    "csv": as_csv,
}
BY_SUFFIX = {".txt": "text", ".md": "markdown", ".html": "html", ".tex": "latex", ".csv": "csv"}
