"""Lists of ids, a list for each query: columns of Arrow data, of tables and files, read without copies and objects.

A column stays in the batches that it comes in. Files are read by pyarrow, like other tables. A table may have the
ranking of a query in each row, perhaps with a list of its scores.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns import id_lists
from fastir.engine.columns._arrow import Batches
from fastir.engine.columns._ids import Ids, ids_from_arena, ids_from_integers, ids_from_strings
from fastir.engine.columns.ids import Arena, id_attribute, is_integer, join_ids, plain_ids
from fastir.engine.columns.rows import (
    LISTED_TWICE,
    equal_offsets,
    offsets_from_sizes,
    refused_pairs,
    repeat,
    without_duplicates,
)
from fastir.engine.join._contiguous import find_duplicates
from fastir.errors import quote
from fastir.inputs.column_readers import ArrayReader, ArrowReader, as_objects, ids_from_objects
from fastir.inputs.dicts import LABEL_RANGE, query_dict
from fastir.inputs.label_arrays import check_queries
from fastir.inputs.library_tables import ARROW_METHODS, is_arrow_text
from fastir.inputs.list_cells import CellError, flatten, lists_in_cells
from fastir.inputs.roles import LISTED, LISTS, PAIRED_QUERY, RANKINGS, RETRIEVED, ROLES, columns_by_role

if TYPE_CHECKING:
    from fastir.inputs.files import Repairs

NO_IDS = ("query_id", "score", "label")  # the roles of columns that hold no lists of ids


class ListColumns:
    """Lists of ids, a list for each query; all ids are of one kind."""

    def __init__(
        self,
        query_ids: list[Any],
        batches: list[tuple[np.ndarray, Ids]],
        numbers: np.ndarray | None = None,
        repairs: Repairs | None = None,
    ) -> None:
        self.query_ids = query_ids
        self.batches = batches  # where the lists of n queries begin among their ids
        self.numbers = numbers  # the scores or labels of the ids of all batches
        self.repairs: Repairs = repairs or {}

    @classmethod
    def of_cells(cls, cells: Sequence[Ids], name: str) -> ListColumns:
        """The lists in a column of text."""
        offsets, ids, repairs = lists_in_cells(cells, name)
        return cls([], [(offsets, ids)], None, repairs)

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
        docs = join_ids(pieces) if pieces else ids_from_arena(Arena.of([]))
        sizes = np.concatenate([[0], *(np.diff(offsets) for offsets, _ in self.batches)]).astype(np.int64)
        text, starts, lengths = docs.copy(0, len(docs))
        return np.cumsum(sizes), Arena(text, starts, lengths, docs.integers)

    def run_columns(self, duplicates: str | None) -> tuple[Any, ...]:
        """The lists as the columns of a Run: see `columns_with_scores`."""
        *columns, repairs = columns_with_scores(self.query_ids, *self.rows(), duplicates, self.numbers)
        return *columns, {**self.repairs, **repairs}

    def qrels_columns(self, duplicates: str | None = None) -> tuple[Any, ...]:
        """The lists as the columns of Qrels, and the repairs; without labels, each distinct id has label 1."""
        if self.numbers is not None:
            return columns_with_scores(self.query_ids, *self.rows(), duplicates, self.numbers, False)
        offsets, ids = self.rows()
        pairs = find_duplicates(ids_from_arena(ids), offsets)
        repairs = dict(self.repairs)
        if pairs:
            query = int(np.searchsorted(offsets, pairs[0][1], "right")) - 1
            repairs[LISTED_TWICE] = len(pairs), f"query {self.query_ids[query]}"
        offsets, kept, labels = without_duplicates(offsets, np.ones(len(ids), np.int32), pairs, "first", False)
        return self.query_ids, offsets, select_ids(ids, kept), labels, repairs


def columns_with_scores(
    query_ids: list[Any],
    offsets: np.ndarray,
    ids: Arena,
    duplicates: str | None,
    scores: np.ndarray | None = None,
    is_run: bool = True,
) -> tuple[Any, ...]:
    """Lists that begin at `offsets`, as the columns of a Run in rank order; without scores, scores are n to 1.

    Of lists with labels, as the columns of Qrels.
    """
    if scores is None:
        scores = repeat(offsets[1:], np.diff(offsets)) - np.arange(len(ids), dtype=float)
    pairs = find_duplicates(ids_from_arena(ids), offsets)
    if not pairs:
        return query_ids, offsets, ids, scores, {}
    first, later = (refused_pairs(pairs, scores, duplicates, is_run) or pairs)[0]
    query = int(np.searchsorted(offsets, later, "right")) - 1
    if refused_pairs(pairs, scores, duplicates, is_run):
        places = first - int(offsets[query]) + 1, later - int(offsets[query]) + 1
        raise id_lists.duplicate_error(query_ids[query], ids[later : later + 1][0], *places, is_run)
    repairs = {"duplicates": (len(pairs), f"query {query_ids[query]}")}
    offsets, kept, scores = without_duplicates(offsets, scores, pairs, duplicates, is_run)
    return query_ids, offsets, select_ids(ids, kept), scores, repairs


def columns_from_lists(data: Any, duplicates: str | None) -> tuple[Any, ...]:
    """{query_id: ids in rank order} as the columns of a Run; raises as `columns_with_scores`, and TypeError for ids."""
    lists = {query_id: id_lists.ranking(query_id, value) for query_id, value in query_dict(data, "run").items()}
    integers = next((is_integer(ids[0]) for ids in lists.values() if len(ids)), False)
    plain = [id_lists.plain_ranking(query_id, ids, integers) for query_id, ids in lists.items()]
    offsets = np.cumsum([0, *map(len, plain)], dtype=np.int64)
    return columns_with_scores(list(lists), offsets, Arena.of([doc_id for ids in plain for doc_id in ids]), duplicates)


def select_ids(ids: Arena, kept: np.ndarray) -> Arena:
    return ids.take(kept)


def columns_of_records(rows: Any, name: str) -> dict[Any, list[Any]]:
    """The columns of a list of records, each of which has the fields of the first."""
    names = list(rows[0])
    for number, row in enumerate(rows):
        missing = names if not isinstance(row, Mapping) else [field for field in names if field not in row]
        if missing:
            raise ValueError(f"{name}: record {number} has no {quote(missing[0])}, which the first one has")
    return {field: [row[field] for row in rows] for field in names}


def ids_of_documents(lists: Any, what: str) -> Any:
    """Lists by query id with the ids of documents in their place, if the first list holds documents of a library.

    A document has its id in an attribute: see `ID_ATTRIBUTES`. TypeError for a document whose id is None.
    """
    first = next((docs[0] for docs in lists.values() if type(docs) in (list, tuple) and docs), None)
    name = id_attribute(first)
    if name is None:
        return lists
    found = {}
    for query_id, docs in lists.items():
        found[query_id] = [getattr(doc, name, doc) for doc in docs] if type(docs) in (list, tuple) else docs
        if type(docs) in (list, tuple) and None in found[query_id]:
            place = found[query_id].index(None) + 1
            raise TypeError(
                f"{what}: query {quote(query_id)}: the {type(first).__name__} at place {place} has no {name}; set it "
                "when documents are indexed, or pass lists of ids"
            )
    return found


# ---- columns -----------------------------------------------------------------------------------------------------
def column(data: Any, what: str) -> ListColumns | None:
    """A caller's column of lists, or None if it is one that holds Python objects."""
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "iu" and data.dtype != np.uint64:
        n, depth = data.shape
        docs = ids_from_integers(np.ascontiguousarray(data, np.int64).ravel())
        return ListColumns([], [(equal_offsets(n, depth), docs)])
    if hasattr(data, "iloc"):
        if not is_arrow_text(data.dtype):
            return cells_of_objects(data, what) if data.dtype == object else None
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
    return columns_from_batches(batches, {what: (what, place)})[what]


def read_lists(
    batch: Any, place: int, what: str, row: int, numbers: bool = False, text: bool = False
) -> tuple[np.ndarray, Any]:
    """Where the lists in a column of a batch begin, and their values; the first list belongs to query number `row`.

    Of a column with text, nothing.
    """
    try:
        null = batch.null(place)
        read = batch.lists(place, numbers) if null < 0 and not text else None
    except ValueError as error:
        raise ValueError(f"{what}, queries from number {row} on: {error}") from None
    if null >= 0:
        raise CellError(
            f"{what}: the list of query number {row + null} is null; an empty list is an empty ranking", row + null
        )
    if text:
        return np.zeros(1, np.int64), None
    if read is None:
        kind, cast = ("numbers", "array<double>") if numbers else ("strings or of integers", "array<string>")
        raise TypeError(f"{what} must hold lists of {kind}, got {batch.type_text(place)}; cast it to {cast}")
    offsets, values, missing = read
    if missing >= 0:
        query = int(np.searchsorted(offsets, missing, "right")) - 1
        value = f"the {'score' if numbers else 'document id'} at rank {missing - int(offsets[query]) + 1}"
        raise CellError(f"{what}: {value} of query number {row + query} is null", row + query)
    return offsets, values


def append_lists(lists: ListColumns, offsets: np.ndarray, ids: Ids, what: str, row: int) -> None:
    """Append the lists of a batch, whose first belongs to query number `row`."""
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
    is_paired = "relevant" not in usual or "retrieved" not in usual
    for role in LISTED.values():
        if role in usual and (is_paired or role == "retrieved"):
            usual[role] = (*usual[role], *LISTS)
    if is_paired:
        usual["query_id"] = PAIRED_QUERY
    return columns_by_role(what, names, usual, columns, RETRIEVED, ("query_id",))


def table(data: Any, roles: Iterable[str], columns: Mapping[str, str] | None, what: str) -> dict[str, Any]:
    """{role: column} of a caller's table: ListColumns, a list of query ids, or what a frame or dict has."""
    if isinstance(data, Mapping) or hasattr(data, "iloc"):
        all_names = list(data if isinstance(data, Mapping) else data.columns)
        found = {role: data[name] for role, name in find_list_columns(all_names, roles, columns, what).items()}
        cells = {role: cells_of_objects(column, role) for role, column in found.items() if role != "query_id"}
        return found | {role: column for role, column in cells.items() if column is not None}
    batches = Batches(data)
    names = find_list_columns(batches.names, roles, columns, what)
    return columns_from_batches(batches, {role: (name, batches.names.index(name)) for role, name in names.items()})


def columns_from_batches(batches: Iterable[Any], named: dict[str, tuple[str, int]]) -> dict[str, Any]:
    """The columns of batches by their roles, of which `named` has the name and the place of each.

    A list of query ids, ListColumns, and of "score" or "label" a list of (offsets, float64 array). Cells with text are
    read when all of them are there, as one separator is that of the whole column.
    """
    by_role: dict[str, Any] = {role: [] if role in NO_IDS else ListColumns([], []) for role in named}
    cells: dict[str, list[Ids]] = {role: [] for role in named}
    row = 0
    for batch in batches:
        for role, (name, place) in named.items():
            if role == "query_id":
                ids = ArrowReader(batch, place).ids("lists", name, row)
                by_role[role] += [ids[i] for i in range(len(ids))]
            elif role in NO_IDS:
                by_role[role].append(read_lists(batch, place, name, row, True))
            elif (texts := batch.ids(place)) is not None and not texts.integers:
                read_lists(batch, place, name, row, text=True)
                cells[role].append(texts)
            else:
                append_lists(by_role[role], *read_lists(batch, place, name, row), name, row)
        row += batch.n
    for role, texts_of_role in cells.items():
        if texts_of_role:
            by_role[role] = ListColumns.of_cells(texts_of_role, named[role][0])
    return by_role


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

    `columns` is {role: name}, with the roles "query_id", "doc_id" and "score".
    """
    if not any(hasattr(data, name) for name in ARROW_METHODS):
        raise TypeError(f"run: rankings in rows are read from Arrow data and data frames, got {type(data).__name__}")
    batches = Batches(data)
    names = ranking_columns(batches.names, columns)
    named = {role: (name, batches.names.index(name)) for role, name in names.items()}
    return lists_by_query(columns_from_batches(batches, named), "run").run_columns(duplicates)


def lists_by_query(by_role: dict[str, Any], what: str) -> ListColumns:
    """The lists of a table, with its query ids and perhaps scores or labels."""
    docs, query_ids = by_role["doc_id"], by_role["query_id"]
    check_queries(query_ids)
    role = "score" if what == "run" else "label"
    numbers = None
    if role in by_role:
        numbers = np.concatenate([np.empty(0), *(numbers for _, numbers in by_role[role])])
        sizes = np.concatenate([[0], *(np.diff(begins) for begins, _ in by_role[role])]).astype(np.int64)
        check_numbers(query_ids, docs, np.cumsum(sizes), numbers, what, role)
    return ListColumns(query_ids, docs.batches, numbers, docs.repairs)


def lists_of_columns(table: Any, names: dict[str, Any], what: str) -> ListColumns:
    """The lists of a table whose columns hold Python objects; `names` of its columns by their roles."""
    columns = {role: list(id_lists.sequence(table[name]) or ()) for role, name in names.items()}
    ids = ArrayReader(as_objects(columns["query_id"])).ids(what, names["query_id"], 0)
    by_role: dict[str, Any] = {"query_id": [ids[i] for i in range(len(ids))]}
    for role, column in columns.items():
        if role in NO_IDS[1:]:
            numbers = ArrayReader(as_objects(list(itertools.chain(*column)))).numbers(what, names[role], 0)
            by_role[role] = [(offsets_from_sizes(list(map(len, column))), numbers)]
        elif role == "doc_id":
            by_role[role] = cells_of_objects(column, names[role]) or lists_of_objects(
                by_role["query_id"], column, names[role]
            )
    return lists_by_query(by_role, what)


def cells_of_objects(column: Any, name: str) -> ListColumns | None:
    """The lists in a column of Python's strings; None if the first value is none."""
    if not isinstance(id_lists.first_value(column), str):
        return None
    objects = as_objects(id_lists.sequence(column) or ())
    texts, odd = ids_from_strings(objects)
    if texts is None:
        raise TypeError(f"{name}: row {odd}: expected text with a list of ids, as before, got {quote(objects[odd])}")
    return ListColumns.of_cells([texts], name)


def lists_of_objects(query_ids: list[Any], lists: list[Any], name: str) -> ListColumns:
    """Lists of Python objects as columns."""
    if set(map(type, lists)) <= {list, tuple}:
        offsets, texts = flatten(lists)
        if texts is not None:
            return ListColumns([], [(offsets, texts)])
    plain = [id_lists.sequence(ids) for ids in lists]
    integers = next((is_integer(ids[0]) for ids in plain if ids), False)
    flat: list[Any] = []
    for place, (query_id, ids) in enumerate(zip(query_ids, plain, strict=True)):
        if ids is None:
            raise TypeError(f"{name}: query {quote(query_id)} must have a list of ids, got {quote(lists[place])}")
        what = f"of query {quote(query_id)}"
        flat += plain_ids(ids, integers, lambda rank, what=what: f"{name}: the id at rank {rank} {what}")  # type: ignore[misc]
    docs = ids_from_objects(flat)[0] if integers else ids_from_strings(as_objects(flat))[0]
    return ListColumns([], [(offsets_from_sizes([len(ids or ()) for ids in plain]), docs)])


def check_numbers(
    query_ids: list[Any], docs: ListColumns, offsets: np.ndarray, numbers: np.ndarray, what: str, role: str
) -> None:
    """Refuse scores or labels that are not aligned with the documents, NaN, or no labels."""
    begins, ids = docs.rows()
    sizes, n_numbers = np.diff(begins), np.diff(offsets)
    if (sizes != n_numbers).any():
        query = int((sizes != n_numbers).argmax())
        raise ValueError(
            f"{what}: the {'ranking' if what == 'run' else 'list'} of query {quote(query_ids[query])} has "
            f"{sizes[query]} documents and {n_numbers[query]} {role}s"
        )
    wrong = np.isnan(numbers) if what == "run" else ~((numbers >= LABEL_RANGE[0]) & (numbers <= LABEL_RANGE[1]))
    if wrong.any():
        place = int(wrong.argmax())
        query = query_ids[int(np.searchsorted(offsets, place, "right")) - 1]
        problem = "NaN, not a number" if np.isnan(numbers[place]) else f"{numbers[place]:g}, which is out of range"
        raise ValueError(f"{what}: the {role} is {problem} (query {query}, document {ids[place : place + 1][0]})")
