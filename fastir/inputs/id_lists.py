"""Lists of ids, a list for each query: columns of Arrow data, of tables and files, read without copies and objects.

A column stays in the batches that it comes in. Files are read by pyarrow, like other tables. A table may have the
ranking of a query in each row, perhaps with a list of its scores.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.engine.columns import id_lists
from fastir.engine.columns._arrow import Batches
from fastir.engine.columns._ids import Ids, ids_from_arena, ids_from_integers, joined
from fastir.engine.columns.ids import Arena, is_integer
from fastir.engine.columns.rows import LISTED_TWICE, equal_offsets, repeat, without_duplicates
from fastir.engine.join._contiguous import find_duplicates
from fastir.errors import FormatError, quote
from fastir.inputs.column_readers import ArrowReader
from fastir.inputs.dicts import query_dict
from fastir.inputs.label_arrays import check_queries
from fastir.inputs.library_tables import ARROW_METHODS
from fastir.inputs.places import is_path
from fastir.inputs.roles import LISTS, PAIRED_QUERY, RANKINGS, RETRIEVED, ROLES, columns_by_role
from fastir.inputs.tables import is_arrow_text


class ListColumns:
    """Lists of ids, a list for each query.

    Parameters
    ----------
    query_ids : list of str or of int
    batches : list of (int64 array of shape (n + 1,), Ids)
        Where the lists of n queries begin among their ids. All ids are of one kind.
    """

    def __init__(self, query_ids: list[Any], batches: list[tuple[np.ndarray, Ids]]) -> None:
        self.query_ids = query_ids
        self.batches = batches

    def __len__(self) -> int:
        return sum(len(offsets) - 1 for offsets, _ in self.batches)

    @property
    def n_rows(self) -> int:
        return sum(len(ids) for _, ids in self.batches)

    @property
    def integers(self) -> bool | None:
        """Whether the ids are integers; None if there is none."""
        return next((ids.integers for _, ids in self.batches if len(ids)), None)

    def rows(self) -> tuple[np.ndarray, Arena]:
        """All ids as one column of our own, and where each list begins in it."""
        pieces = [(ids, 0, len(ids)) for _, ids in self.batches if len(ids)]
        docs = joined(pieces) if pieces else ids_from_arena(Arena.of([]))
        sizes = np.concatenate([[0], *(np.diff(offsets) for offsets, _ in self.batches)]).astype(np.int64)
        text, starts, lengths = docs.copy(0, len(docs))
        return np.cumsum(sizes), Arena(text, starts, lengths, docs.integers)

    def scored(self, duplicates: str | None) -> tuple[Any, ...]:
        """The lists as the columns of a Run: see `columns_with_scores`."""
        return columns_with_scores(self.query_ids, *self.rows(), duplicates)

    def judged(self) -> tuple[Any, ...]:
        """The lists as the columns of Qrels, with label 1 for each distinct id, and the repairs."""
        offsets, ids = self.rows()
        pairs = find_duplicates(ids_from_arena(ids), offsets)
        repairs = {}
        if pairs:
            query = int(np.searchsorted(offsets, pairs[0][1], "right")) - 1
            repairs = {LISTED_TWICE: (len(pairs), f"query {self.query_ids[query]}")}
        offsets, kept, labels = without_duplicates(offsets, np.ones(len(ids), np.int32), pairs, "first", False)
        return self.query_ids, offsets, select_ids(ids, kept), labels, repairs


def columns_with_scores(
    query_ids: list[Any], offsets: np.ndarray, ids: Arena, duplicates: str | None, scores: np.ndarray | None = None
) -> tuple[Any, ...]:
    """Lists that begin at `offsets`, as the columns of a Run in rank order; without scores, scores are n to 1."""
    if scores is None:
        scores = repeat(offsets[1:], np.diff(offsets)) - np.arange(len(ids), dtype=float)
    pairs = find_duplicates(ids_from_arena(ids), offsets)
    if not pairs:
        return query_ids, offsets, ids, scores, {}
    first, later = pairs[0]
    query = int(np.searchsorted(offsets, later, "right")) - 1
    if duplicates is None:
        places = first - int(offsets[query]) + 1, later - int(offsets[query]) + 1
        raise id_lists.repeated(query_ids[query], ids[later : later + 1][0], *places)
    repairs = {"duplicates": (len(pairs), f"query {query_ids[query]}")}
    offsets, kept, scores = without_duplicates(offsets, scores, pairs, duplicates, True)
    return query_ids, offsets, select_ids(ids, kept), scores, repairs


def columns_from_lists(data: Any, duplicates: str | None) -> tuple[Any, ...]:
    """{query_id: ids in rank order} as the columns of a Run; raises as `columns_with_scores`, and TypeError for ids."""
    lists = {query_id: id_lists.ranking(query_id, value) for query_id, value in query_dict(data, "run").items()}
    integers = next((is_integer(ids[0]) for ids in lists.values() if len(ids)), False)
    plain = [id_lists.plain_ranking(query_id, ids, integers) for query_id, ids in lists.items()]
    offsets = np.cumsum([0, *map(len, plain)], dtype=np.int64)
    return columns_with_scores(list(lists), offsets, Arena.of([doc_id for ids in plain for doc_id in ids]), duplicates)


def select_ids(ids: Arena, kept: np.ndarray) -> Arena:
    return Arena(ids.text, ids.starts[kept], ids.lengths[kept], ids.integers)


# ---- columns -----------------------------------------------------------------------------------------------------


def column(data: Any, what: str) -> ListColumns | None:
    """A caller's column of lists, or None if it is one that holds Python objects."""
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "iu" and data.dtype != np.uint64:
        n, depth = data.shape
        docs = ids_from_integers(np.ascontiguousarray(data, np.int64).ravel())
        return ListColumns([], [(equal_offsets(n, depth), docs)])
    if hasattr(data, "iloc"):
        if not is_arrow_text(data.dtype):
            return None
        data = data.array.__arrow_array__()
    if not any(hasattr(data, name) for name in ARROW_METHODS) or hasattr(data, "columns"):
        return None
    if hasattr(data, "to_frame"):  # a column of polars, which is no table
        table = data.to_frame()
    else:
        import pyarrow

        whole = data if isinstance(data, pyarrow.ChunkedArray) else pyarrow.chunked_array([pyarrow.array(data)])
        table = pyarrow.table({what: whole})
    return lists_from_batches(Batches(table), 0, what)


def lists_from_batches(batches: Iterable[Any], place: int, what: str) -> ListColumns:
    """The lists in one of the columns of Arrow data."""
    lists = ListColumns([], [])
    row = 0
    for batch in batches:
        append_batch(lists, batch, place, what, row)
        row += batch.n
    return lists


def read_lists(batch: Any, place: int, what: str, row: int, numbers: bool = False) -> tuple[np.ndarray, Any]:
    """Where the lists in a column of a batch begin, and their values; the first list belongs to query number `row`."""
    try:
        null = batch.null(place)
        read = batch.lists(place, numbers) if null < 0 else None
    except ValueError as error:
        raise ValueError(f"{what}, queries from number {row} on: {error}") from None
    if null >= 0:
        raise ValueError(f"{what}: the list of query number {row + null} is null; an empty list is an empty ranking")
    if read is None:
        kind, cast = ("numbers", "array<double>") if numbers else ("strings or of integers", "array<string>")
        raise TypeError(f"{what} must hold lists of {kind}, got {batch.type_text(place)}; cast it to {cast}")
    offsets, values, missing = read
    if missing >= 0:
        query = int(np.searchsorted(offsets, missing, "right")) - 1
        value = f"the {'score' if numbers else 'document id'} at rank {missing - int(offsets[query]) + 1}"
        raise ValueError(f"{what}: {value} of query number {row + query} is null")
    return offsets, values


def append_batch(lists: ListColumns, batch: Any, place: int, what: str, row: int) -> None:
    """Append the lists of ids in a column of a batch; the first list belongs to query number `row`."""
    offsets, ids = read_lists(batch, place, what, row)
    integers = lists.integers
    if integers is not None and len(ids) and ids.integers != integers:
        raise TypeError(f"{what}: queries from number {row} on: ids are of another type than those before")
    lists.batches.append((offsets, ids))


# ---- tables ------------------------------------------------------------------------------------------------------


def is_table_or_path(data: Any) -> bool:
    """Whether an object is a table or a path: of rows with a query each, if it is given for lists."""
    if isinstance(data, (str, bytes, os.PathLike, Mapping)):
        return True
    named = hasattr(data, "columns") or hasattr(data, "schema") or hasattr(data, "get_schema")
    return named and (hasattr(data, "iloc") or any(hasattr(data, name) for name in ARROW_METHODS))


def find_list_columns(
    names: list[Any], roles: Iterable[str], columns: Mapping[str, str] | None, what: str
) -> dict[str, Any]:
    """{role: the name of its column} for the roles of a table; it must have all except the query ids.

    A table beside another one is joined by its query ids, so more names of query ids are known.
    """
    usual: dict[str, Sequence[str]] = {role: RETRIEVED[role] for role in roles}
    if "relevant" not in usual or "retrieved" not in usual:
        usual["query_id"] = PAIRED_QUERY
    return columns_by_role(what, names, usual, columns, RETRIEVED, ("query_id",))


def table(data: Any, roles: Iterable[str], columns: Mapping[str, str] | None, what: str) -> dict[str, Any]:
    """{role: column} of a caller's table: ListColumns, a list of query ids, or what a frame or dict has."""
    if is_path(data):
        return columns_from_file(data, roles, columns, what)
    if isinstance(data, Mapping) or hasattr(data, "iloc"):
        names = list(data if isinstance(data, Mapping) else data.columns)
        return {role: data[name] for role, name in find_list_columns(names, roles, columns, what).items()}
    batches = Batches(data)
    return columns_from_batches(batches, batches.names, find_list_columns(batches.names, roles, columns, what))


def columns_from_batches(batches: Iterable[Any], order: list[str], names: dict[str, str]) -> dict[str, Any]:
    """The columns of batches, by their roles; `order` has their names."""
    by_role: dict[str, Any] = {role: [] if role == "query_id" else ListColumns([], []) for role in names}
    places = {role: order.index(name) for role, name in names.items()}
    row = 0
    for batch in batches:
        for role, place in places.items():
            if role == "query_id":
                ids = ArrowReader(batch, place).ids("lists", names[role], row)
                by_role[role] += [ids[i] for i in range(len(ids))]
            else:
                append_batch(by_role[role], batch, place, role, row)
        row += batch.n
    return by_role


def columns_from_file(path: Any, roles: Iterable[str], columns: Mapping[str, str] | None, what: str) -> dict[str, Any]:
    """The columns of a JSON Lines or Parquet file."""
    from fastir.inputs import formats, table_files

    name = os.fsdecode(path)
    form = formats.file_format(path)
    if form not in ("jsonl", "parquet"):
        raise FormatError(f"{what}: lists are read from .jsonl, .ndjson and .parquet files", name)
    with table_files.convert_errors(name), table_files.FILES[form](path) as file:
        file.look()
        names = find_list_columns(file.names, roles, columns, what)
        wanted = list(names.values())
        return columns_from_batches(
            (batch for rows in file.list_batches(wanted) for batch in Batches(rows)), wanted, names
        )


# ---- tables with the ranking of a query in each row ----------------------------------------------------------------


def schema_names(data: Any) -> list[Any]:
    """The names of the columns of a table, without reading it; empty if it does not say them."""
    names = getattr(getattr(data, "schema", None), "names", None)
    names = names() if callable(names) else names
    return list(getattr(data, "columns", ()) if names is None else names)


def is_of_lists(data: Any) -> bool:
    """Whether a table has rankings in its rows, by the names of its columns."""
    return not isinstance(data, Mapping) and any(name in LISTS for name in schema_names(data))


def ranking_columns(names: list[Any], columns: Mapping[Any, Any] | None) -> dict[str, Any]:
    """{role: the name of its column}: query_id, doc_id, and score if there is one."""
    return columns_by_role("run", names, RANKINGS, columns, ROLES, optional=("score",))


def read_rankings(data: Any, columns: Mapping[Any, Any] | None, duplicates: str | None) -> tuple[Any, ...]:
    """The rankings of a table of Arrow data or a data frame, as the columns of a Run.

    Parameters
    ----------
    columns : dict or None
        {role: name}; the roles are "query_id", "doc_id" and "score".
    """
    if not any(hasattr(data, name) for name in ARROW_METHODS):
        raise TypeError(f"run: rankings in rows are read from Arrow data and data frames, got {type(data).__name__}")
    batches = Batches(data)
    names = ranking_columns(batches.names, columns)
    docs = ListColumns([], [])
    scores: list[np.ndarray] = [np.empty(0)]
    for batch in batches:
        row, place = len(docs.query_ids), {role: batches.names.index(name) for role, name in names.items()}
        ids = ArrowReader(batch, place["query_id"]).ids("run", names["query_id"], row)
        docs.query_ids += [ids[i] for i in range(len(ids))]
        append_batch(docs, batch, place["doc_id"], names["doc_id"], row)
        if "score" in names:
            offsets, numbers = read_lists(batch, place["score"], names["score"], row, True)
            check_scores(docs.query_ids[row:], docs.batches[-1], offsets, numbers)
            scores.append(numbers)
    check_queries(docs.query_ids)
    return columns_with_scores(
        docs.query_ids, *docs.rows(), duplicates, np.concatenate(scores) if "score" in names else None
    )


def check_scores(query_ids: list[Any], docs: tuple[np.ndarray, Any], offsets: np.ndarray, numbers: np.ndarray) -> None:
    """Refuse scores that are not aligned with the documents, or NaN."""
    sizes, n_scores = np.diff(docs[0]), np.diff(offsets)
    if (sizes != n_scores).any():
        query = int((sizes != n_scores).argmax())
        raise ValueError(
            f"run: the ranking of query {quote(query_ids[query])} has {sizes[query]} documents and {n_scores[query]} "
            "scores"
        )
    missing = np.isnan(numbers)
    if missing.any():
        place = int(missing.argmax())
        query = query_ids[int(np.searchsorted(offsets, place, "right")) - 1]
        raise ValueError(f"run: the score is NaN, not a number (query {query}, document {docs[1][place]})")
