"""The columns of the option `parents`: ids and their documents, from mappings, sequences, tables and files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastir.checks import mapping
from fastir.engine.columns._arrow import Batches
from fastir.engine.columns._ids import Ids
from fastir.engine.columns.ids import Arena, join_ids
from fastir.errors import quote
from fastir.inputs import formats
from fastir.inputs.column_readers import ArrayReader, ArrowReader, as_objects, is_missing
from fastir.inputs.library_tables import ARROW_METHODS
from fastir.inputs.mappings import field_rows
from fastir.inputs.places import is_path


def id_columns(data: Any) -> tuple[Ids, Ids]:
    """The two columns of the option `parents`: chunks and their documents, in any form."""
    if hasattr(data, "iloc") and not hasattr(data, "columns"):
        data = mapping("parents", data, "map chunks to documents", labelled=True)
    if isinstance(data, Mapping):
        data = dict(data)  # the mapping of one moment, whatever other threads do
        keys, values = list(data), list(data.values())
        return id_column(keys, "a chunk"), id_column(values, "a document", keys)
    if is_path(data):
        format = formats.file_format(data)
        if format in formats.TABLE_FORMATS:
            from fastir.inputs import table_files

            return column_pair(table_files.read_columns(data, format))
        rows = [fields for _, fields in field_rows(data, {2: "a chunk and a document"})]
        data = [chunk for chunk, _ in rows], [document for _, document in rows]
    chunks, documents = column_pair(data)
    if len(chunks) != len(documents):
        raise ValueError(f"parents: the columns differ in length: {len(chunks)} chunks, {len(documents)} documents")
    return chunks, documents


def ids_arena(ids: Ids) -> Arena:
    """Ids as text that is ours."""
    text, starts, lengths = ids.copy(0, len(ids))
    return Arena(text, starts, lengths, ids.integers)


def id_column(values: Any, what: str, chunks: list[Any] | None = None) -> Ids:
    """Ids from a sequence or an array; `chunks`, aligned with them, are for messages."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__len__"):
        raise TypeError(f"parents: {what} must be an array of ids, got {type(values).__name__}")
    array = as_objects(values) if isinstance(values, (list, tuple)) else np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"parents: {what} must have one dimension, got shape {array.shape}")
    try:
        return ArrayReader(array).ids("parents", what, 0)
    except (TypeError, ValueError):
        if chunks is None:
            raise
    kind = str if isinstance(values[0], str) else int
    place = next(i for i, value in enumerate(values) if is_missing(value) or not isinstance(value, (kind, np.integer)))
    value = values[place]
    raise (ValueError if is_missing(value) else TypeError)(
        f"parents: the document of chunk {quote(chunks[place])} must be a str or an int like those before it, "
        f"got {type(value).__name__} {quote(value)}"
    )


def column_pair(table: Any) -> tuple[Ids, Ids]:
    """The two columns of a table, or of a tuple of columns."""
    if isinstance(table, (tuple, list)) and len(table) == 2:
        return id_column(table[0], "the column of chunks"), id_column(table[1], "the column of documents")
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        check_two(list(table.columns))
        return column_pair((table.iloc[:, 0], table.iloc[:, 1]))
    if any(hasattr(table, name) for name in ARROW_METHODS):
        batches = Batches(table)
        check_two(batches.names)
        pieces: tuple[list[Any], list[Any]] = ([], [])
        row = 0
        for batch in batches:
            for place, name in enumerate(batches.names):
                ids = ArrowReader(batch, place).ids("parents", name, row)
                pieces[place].append((ids, 0, len(ids)))
            row += batch.n
        return (join_ids(pieces[0]), join_ids(pieces[1])) if row else (id_column([], ""), id_column([], ""))
    raise TypeError(
        "parents must be a mapping of chunk to document, a table or tuple of two columns, a function of an array "
        f"of ids, or a path, got {type(table).__name__}"
    )


def check_two(names: list[Any]) -> None:
    if len(names) != 2:
        raise ValueError(
            f"parents: expected two columns, chunks and documents, got {len(names)}: "
            f"{', '.join(map(repr, names[:20])) or 'none'}"
        )
