"""Tables for people: made once, of cells that say what they mean, and written as text, Markdown, HTML, LaTeX or CSV.

A format only writes cells and puts rows together. Numbers are aligned on the decimal point in every format that has
columns; CSV has them exactly, for programs.

In        a Table: a title, a head, rows of Cells, the number of columns before the numbers, notes
Out       str, which ends with a line break in all formats that are files of their own
Validates the name of the format
Raises    ValueError for a format that does not exist

cells    Cell and Table, and what the formats share
formats  render: the one call, the names of the formats, by suffix in BY_SUFFIX; text, Markdown, CSV and HTML
latex    LaTeX
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastir.rendering.cells import Cell, Table, number_cell, swap_axes
    from fastir.rendering.formats import BY_SUFFIX, render

__all__ = ["BY_SUFFIX", "Cell", "Table", "number_cell", "render", "swap_axes"]


def __getattr__(name: str) -> object:
    """Make the names of this package at their first use: most calls import `text` alone."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fastir.rendering import cells, formats

    globals().update({name: getattr(cells, name, None) or getattr(formats, name) for name in __all__})
    return globals()[name]
