"""Columns of records, and the table that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastir.rendering import Cell, Table, number_cell


def columns_from_records(names: Sequence[str], records: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """{name: list} of tuples that all have a value for each name."""
    rows = list(records)
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def table_from_columns(columns: Mapping[str, Any], digits: int, title: str = "") -> Table:
    """A row for each record; what is to the left of the first column of numbers is text."""
    lists = [column.tolist() if hasattr(column, "tolist") else column for column in columns.values()]
    rows = [[cell_from_value(value, digits) for value in row] for row in zip(*lists, strict=True)]
    texts = [not is_number(column) for column in columns.values()]
    return Table(list(columns), rows, texts.index(False) if False in texts else len(texts), [], title)


def is_number(column: Any) -> bool:
    """Whether a column has numbers, or nothing that says what it has."""
    return hasattr(column, "dtype") or all(value is None or isinstance(value, (int, float)) for value in column)


def cell_from_value(value: Any, digits: int) -> Cell:
    """A cell: numbers with decimals, ids unchanged, several ids with commas."""
    if value is None or isinstance(value, float):
        return number_cell(value, digits)
    return Cell(", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
