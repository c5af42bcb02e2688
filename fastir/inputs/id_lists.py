"""Lists of ids: retrieved and relevant ones of the same queries, paired by position and named, or by query id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastir.columns import ranked_ids
from fastir.columns.ids import is_integer, plain_id
from fastir.errors import quote
from fastir.inputs import list_columns
from fastir.inputs.list_columns import ListColumns
from fastir.inputs.roles import RETRIEVED
from fastir.text import counted


def by_position(
    retrieved: Any, relevant: Any, query_ids: Any, columns: Mapping[str, str] | None
) -> tuple[list[Any], Any, Any]:
    """The query ids; the rankings and the relevant ids, each as a dict by query id or as ListColumns.

    Two mappings of which the first is no table have query ids as their keys.

    Raises
    ------
    TypeError
        One of the arguments is no sequence.
    ValueError
        They differ in length, query_ids has duplicates or stands beside mappings, or a table lacks a column.
    """
    if isinstance(retrieved, Mapping) and isinstance(relevant, Mapping) and not is_table(retrieved, columns):
        if query_ids is not None:
            raise ValueError("query_ids: retrieved and relevant are mappings, whose keys are the query ids")
        return list(relevant), dict(retrieved), dict(relevant)
    if list_columns.is_table_or_path(retrieved):
        roles = ("query_id", "retrieved", "relevant") if relevant is None else ("query_id", "retrieved")
        table = list_columns.table(retrieved, roles, columns, "retrieved")
        retrieved, relevant = table["retrieved"], table.get("relevant", relevant)
        query_ids = table.get("query_id") if query_ids is None else query_ids
    if list_columns.is_table_or_path(relevant) and not ranked_ids.is_mapping(relevant):
        relevant = list_columns.table(relevant, ("relevant",), columns, "relevant")["relevant"]
    run, judged = per_query(retrieved, "retrieved"), per_query(relevant, "relevant")
    if len(run) != len(judged):
        raise ValueError(
            f"retrieved has {counted(len(run), 'query', 'queries')} but relevant has {len(judged)}; "
            "expected a list for each query on both sides"
        )
    ids = list(range(len(run))) if query_ids is None else named(query_ids, len(run))
    return ids, with_ids(run, ids), with_ids(judged, ids)


def is_table(retrieved: Mapping[Any, Any], columns: Mapping[str, str] | None) -> bool:
    return columns is not None or any(name in retrieved for name in RETRIEVED["retrieved"])


def with_ids(lists: Any, ids: list[Any]) -> Any:
    """Lists by their query ids."""
    if isinstance(lists, ListColumns):
        return ListColumns(ids, lists.batches)
    return dict(zip(ids, lists, strict=True))


def per_query(data: Any, name: str) -> Any:
    """What a caller gave for each query, as a list or tuple or as ListColumns."""
    lists: Any = data if isinstance(data, ListColumns) else list_columns.column(data, name)
    if lists is None:
        lists = ranked_ids.sequence(data)
    if lists is None:
        why = ranked_ids.why_no_sequence(data, "; evaluate() takes lists by query id")
        raise TypeError(f"{name} must be a sequence with the ids of each query, {why}")
    return lists


def named(query_ids: Any, n: int) -> list[Any]:
    """The caller's query ids, as distinct str or int."""
    entries = ranked_ids.sequence(query_ids)
    if entries is None:
        raise TypeError(f"query_ids must be a sequence of str or int, got {type(query_ids).__name__}")
    if len(entries) != n:
        raise ValueError(
            f"query_ids has {counted(len(entries), 'entry', 'entries')}, retrieved {n}; lengths must match"
        )
    integers = bool(entries) and is_integer(entries[0])
    ids = [plain_id(query_id, integers, f"query_ids: entry {place}") for place, query_id in enumerate(entries, 1)]
    places: dict[Any, int] = {}
    for place, query_id in enumerate(ids, 1):
        if places.setdefault(query_id, place) < place:
            raise ValueError(f"query_ids: duplicate {quote(query_id)}, as entries {places[query_id]} and {place}")
    return ids
