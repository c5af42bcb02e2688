"""The option `parents`: which document each id of a run stands for, in any of the forms that a caller may have.

A mapping, two columns and a file become a table at once, and later changes in them have no effect. A function is asked
for the ids of each run when the run is known. Ids that are integers equal their decimal text, as in all columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from fastir.checks import one_of
from fastir.columns._arrow import Batches
from fastir.columns._ids import joined
from fastir.columns.ids import Arena
from fastir.errors import FormatError, quote
from fastir.inputs import files, formats
from fastir.inputs.tables import ARROW, ArrayReader, ArrowReader, as_objects, is_missing
from fastir.join._parents import Parents
from fastir.request.options import AGGREGATES

if TYPE_CHECKING:
    from fastir.columns._ids import Ids
    from fastir.inputs.shapes import ArrowArray, ArrowStream, Frame
    from fastir.request.options import Aggregate, Duplicates

    ParentsLike: TypeAlias = (
        Mapping[Any, Any]
        | Callable[[np.ndarray], Any]
        | tuple[Any, Any]
        | ArrowStream
        | ArrowArray
        | Frame
        | files.Path
    )


class Columns(Protocol):
    """What has document ids as its first column, as a Run has."""

    def columns(self) -> tuple[Arena, Any, Any]: ...


class ParentFunction:
    """The documents that a caller's function finds for the ids of a run; beside Parents."""

    ready = False

    def __init__(self, function: Callable[[np.ndarray], Any], aggregate: str | None) -> None:
        self.function: Callable[[np.ndarray], Any] = function
        self.aggregate: str | None = aggregate

    def of(self, run: Columns) -> Parents:
        """The documents of the ids of a run.

        Raises
        ------
        TypeError, ValueError
            The function does not return an id for each id.
        """
        ids = run.columns()[0]
        distinct = list(dict.fromkeys(ids[:]))
        found = self.function(np.array(distinct) if ids.integers else as_objects(distinct))
        documents = column_of(found, "what the function returned")
        if len(documents) != len(distinct):
            raise ValueError(f"parents: the function returned {len(documents)} documents for {len(distinct)} ids")
        return Parents(Arena.of(distinct), arena_of(documents), self.aggregate)


AnyParents = Parents | ParentFunction


def parents_of(
    given: ParentsLike | AnyParents | None, aggregate: Aggregate, duplicates: Duplicates | None
) -> AnyParents | None:
    """The documents of chunks, from the options of a call, checked.

    Raises
    ------
    TypeError, ValueError
        A document is missing or not an id, a chunk has two of them, or the options exclude each other.
    FormatError, OSError
        A file cannot be read.
    """
    check_aggregate(given, aggregate, duplicates)
    rule = None if duplicates == "once" else aggregate
    if given is None or isinstance(given, (Parents, ParentFunction)):
        return given
    if callable(given):
        return ParentFunction(given, rule)
    if isinstance(given, Mapping):
        given = dict(given)  # the mapping of one moment, whatever other threads do
        keys, values = list(given), list(given.values())
        pair = column_of(keys, "a chunk"), column_of(values, "a document", keys)
    elif isinstance(given, (str, bytes, os.PathLike)):
        pair = read_file(given)
    else:
        pair = column_pair(given)
    chunks, documents = map(arena_of, pair)
    if len(chunks) != len(documents):
        raise ValueError(f"parents: the columns differ in length: {len(chunks)} chunks, {len(documents)} documents")
    return Parents(chunks, documents, rule)


def check_aggregate(given: object, aggregate: str, duplicates: str | None) -> None:
    """Refuse scores that are to be put together where none are."""
    one_of("aggregate", aggregate, AGGREGATES)
    if aggregate != "max" and given is None:
        raise ValueError(f"aggregate={aggregate!r} needs parents, the documents whose scores it makes")
    if aggregate != "max" and duplicates == "once":
        raise ValueError(
            f"aggregate={aggregate!r} makes one row of a document, but duplicates='once' keeps all of them"
        )


def arena_of(ids: Ids) -> Arena:
    """Ids as text that is ours."""
    return Arena(*ids.copy(0, len(ids)), ids.integers)


def column_of(values: Any, what: str, chunks: list[Any] | None = None) -> Ids:
    """Ids from a sequence or an array; `chunks` beside them are for messages."""
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


def column_pair(given: Any) -> tuple[Ids, Ids]:
    """The two columns of a table, or of a tuple of columns."""
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return column_of(given[0], "the column of chunks"), column_of(given[1], "the column of documents")
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        check_two(list(given.columns))
        return column_pair((given.iloc[:, 0], given.iloc[:, 1]))
    if any(hasattr(given, name) for name in ARROW):
        batches = Batches(given)
        check_two(batches.names)
        pieces: tuple[list[Any], list[Any]] = ([], [])
        row = 0
        for batch in batches:
            for place, name in enumerate(batches.names):
                ids = ArrowReader(batch, place).ids("parents", name, row)
                pieces[place].append((ids, 0, len(ids)))
            row += batch.n
        if row == 0:
            return column_of([], ""), column_of([], "")
        return joined(pieces[0]), joined(pieces[1])
    raise TypeError(
        "parents must be a mapping of chunk to document, a table or tuple of two columns, a function of an array "
        f"of ids, or a path, got {type(given).__name__}"
    )


def check_two(names: list[Any]) -> None:
    if len(names) != 2:
        raise ValueError(
            f"parents: expected two columns, chunks and documents, got {len(names)}: "
            f"{', '.join(map(repr, names[:20])) or 'none'}"
        )


def read_file(path: files.Path) -> tuple[Ids, Ids]:
    """A file with a chunk and a document, separated by a tab or blanks, on each line; or a table of two columns."""
    format = formats.format_of(path)
    if format in formats.TABLES:
        from fastir.inputs import table_files

        return column_pair(table_files.read_columns(path, format))
    rows = [(chunk, document) for _, chunk, document in lines_of_two(path, "a chunk", "a document")]
    return column_of([chunk for chunk, _ in rows], "a chunk"), column_of([doc for _, doc in rows], "a document")


def lines_of_two(path: files.Path, first: str, second: str) -> Iterator[tuple[int, str, str]]:
    """(number, a field, a field) of each line of a file, whose fields a tab or blanks separate."""
    with files.Source(path) as source:
        lines = source.read_all().decode("utf-8", "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        fields = line.rstrip("\r").split("\t") if "\t" in line else line.split()
        if not any(fields):
            continue
        if len(fields) != 2 or not all(fields):
            raise FormatError(
                f"expected {first} and {second}, got {len(fields)} fields: {quote(line)}", source.path, number
            )
        yield number, fields[0], fields[1]
