"""Exportable: the ways out of everything that fastir returns as a table, written once.

A class says what it holds, and nothing about formats:

    _columns()        {name: list or array} of equal lengths     to_pandas, to_arrow, __arrow_c_stream__
    _table(digits)    cells, title and notes for people          to_table, repr, notebooks; by default those columns
    _json(per_query)  the same in types that JSON has            to_json; by default its fields
    _state()          what == compares; by default its fields
    _array()          the array that NumPy gets, if there is one

Methods of a class that takes more than these parameters, such as ``per_query`` or ``rows``, hand them on by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import fastir.rendering as rendering
from fastir.checks import positive_integer
from fastir.rendering.text import json_types

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from fastir.rendering import Cell, Table


MAX_DIGITS = 17  # decimals that a double can need


class Exportable:
    """What all results have in common: they print as a table, leave for other libraries, and compare by value.

    None of them can be a key of a dict: equal ones may hold different objects.
    """

    __slots__ = ()
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    _index: str | None = None  # the column that is the index of a frame
    _printed_rows: int | None = None  # that repr and notebooks show

    # ---- a class defines -------------------------------------------------------------------------------------------
    def _columns(self) -> Mapping[str, Any]:
        """{name: list or array}, a row for each record."""
        raise NotImplementedError

    def _title(self) -> str:
        """A line above the table, "" for none."""
        return ""

    def _table(self, digits: int = 4) -> Table:
        """The table for people."""
        from fastir.data.results.exportable import table_from_columns

        return table_from_columns(self._columns(), digits, self._title())

    def _state(self) -> Any:
        """What == compares."""
        import dataclasses

        if dataclasses.is_dataclass(self):
            return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return vars(self)

    def _json(self, per_query: bool = True) -> dict[str, Any]:
        """What `to_json` writes, in types that JSON has."""
        return json_types(self._state())

    def _array(self) -> np.ndarray:
        """The numbers as one array."""
        kind = type(self).__name__
        raise TypeError(f"{kind} is not a single array; its attributes and {kind}.to_pandas() have the numbers")

    # ---- as text ---------------------------------------------------------------------------------------------------
    def to_table(
        self,
        format: str = "text",
        *,
        digits: int = 4,
        transpose: bool = False,
        caption: str | None = None,
        label: str | None = None,
        formulas: bool = False,
    ) -> str:
        """A table to print.

        Parameters
        ----------
        format : {"text", "markdown", "html", "latex", "csv"}
            The first line of LaTeX names the packages it needs; CSV has exact numbers and no caption.
        digits : int
            Decimals, from 1 to 17.
        transpose : bool
            Whether to transpose the table.
        caption : str or None
            Replaces the title above the table and the notes below it; "" leaves both out.
        label : str or None
            The label by which LaTeX and HTML refer to the table.
        formulas : bool
            Whether CSV leaves text that begins with = + - or @ unchanged. Otherwise such text gets an apostrophe in
            front, so that spreadsheets take it as text; numbers never get one. Control characters, which would steer
            a terminal, are then escaped, except tabs and line breaks.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            An argument has an invalid value.
        """
        return self._rendered(self._table, format, digits, transpose, caption, label, formulas)

    def _rendered(
        self,
        table: Callable[..., Table],
        format: str,
        digits: int,
        transpose: bool,
        caption: str | None,
        label: str | None,
        formulas: bool,
        **view: Any,
    ) -> str:
        """The text of table(digits, **view), after the checks that all classes share."""
        cells = table(positive_integer("digits", "the number of decimals", digits, MAX_DIGITS), **view)
        return rendering.render(rendering.swap_axes(cells) if transpose else cells, format, caption, label, formulas)

    def _printed(self, format: str) -> str:
        """The table, its first rows where it may be long."""
        table = self._table()
        more = len(table.rows) - (self._printed_rows or len(table.rows))
        if more > 0:
            cells = [rendering.Cell(f"... {more} more"), *[rendering.Cell("")] * (len(table.head) - 1)]
            table = table._replace(rows=[*table.rows[: self._printed_rows], cells], first=max(table.first, 1))
        return rendering.render(table, format)

    def __repr__(self) -> str:
        return self._printed("text").rstrip("\n")

    def _repr_html_(self) -> str:
        return self._printed("html")

    # ---- for programs ----------------------------------------------------------------------------------------------
    def to_json(self, per_query: bool = True) -> str:
        """Everything as JSON, in ASCII, with null for NaN; numbers read back exactly.

        Parameters
        ----------
        per_query : bool
            Whether to add the values of every query, if there are any.

        Returns
        -------
        str
        """
        from fastir.data.results.saved_files import json_document

        return json_document(self._json(per_query))

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a new frame.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        return frame_from_columns(self._columns(), self._index)

    def to_arrow(self) -> pyarrow.Table:
        """The columns as an Arrow table.

        Raises
        ------
        ImportError
            pyarrow is not installed.
        ValueError
            An id is not UTF-8.
        """
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """The columns as Arrow data; see `__arrow_c_stream__`."""
        from fastir.engine.columns._arrow_out import export_array

        return export_array(self._columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns as an Arrow stream of one batch; `requested_schema` is ignored.

        Raises
        ------
        ValueError
            An id is not UTF-8.
        """
        from fastir.engine.columns._arrow_out import export_stream

        return export_stream(self._columns())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The numbers, for NumPy; a TypeError where they are no single array."""
        array = self._array()
        if copy is False and dtype is not None and array.dtype != dtype:
            raise ValueError(f"a copy is needed to convert {array.dtype} to {np.dtype(dtype)}")
        return np.array(array, dtype, copy=bool(copy)) if copy else np.asarray(array, dtype)

    # ---- equality --------------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same class and holds the same values; NaN equals NaN."""
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return equal_values(self._state(), other._state())


def result_table(result: Any, **view: Any) -> Table:
    """The table of a result, for the command and for pages."""
    return result._table(**view)


def result_json(result: Any, *view: Any) -> dict[str, Any]:
    """What `to_json` of a result writes, in types that JSON has."""
    return result._json(*view)


def result_title(result: Any) -> str:
    """The line above the table of a result."""
    return result._title()


def frame_from_columns(columns: Mapping[str, Any], index: str | None = None) -> pandas.DataFrame:
    """A new frame of these columns, one of which may be its index."""
    import pandas

    columns = dict(columns)
    rows = None if index is None else pandas.Index(columns.pop(index), name=index, tupleize_cols=False)
    return pandas.DataFrame(columns, rows)


def equal_values(a: Any, b: Any) -> bool:
    """Whether two values are equal: arrays and records by what they hold, NaN and NaN at the same position."""
    if a is b:
        return True
    if hasattr(a, "dtype") or hasattr(b, "dtype"):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype.hasobject or b.dtype.hasobject:
            return a.shape == b.shape and equal_values(a.tolist(), b.tolist())
        return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal_values(value, b[key]) for key, value in a.items())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal_values, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    return bool(a == b)


# ---- columns of records ----------------------------------------------------------------------------------------------
def columns_from_records(names: Sequence[str], records: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """{name: list} of tuples that all have a value for each name."""
    rows = list(records)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def table_from_columns(columns: Mapping[str, Any], digits: int, title: str = "") -> Table:
    """A row for each record; what is to the left of the first column of numbers is text."""
    lists = [column.tolist() if hasattr(column, "tolist") else column for column in columns.values()]
    rows = [[cell_from_value(value, digits) for value in row] for row in zip(*lists, strict=True)]
    texts = [not is_number(column) for column in columns.values()]
    return rendering.Table(list(columns), rows, texts.index(False) if False in texts else len(texts), [], title)


def is_number(column: Any) -> bool:
    """Whether a column has numbers, or nothing that says what it has."""
    return hasattr(column, "dtype") or all(value is None or isinstance(value, (int, float)) for value in column)


def cell_from_value(value: Any, digits: int) -> Cell:
    """A cell: numbers with decimals, ids unchanged, several ids with commas."""
    if value is None or isinstance(value, float):
        return rendering.number_cell(value, digits)
    return rendering.Cell(", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
