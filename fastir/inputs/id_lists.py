"""Lists of ids by position: retrieved and relevant ones of the same queries, paired and named."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any

from fastir.columns import id_lists
from fastir.columns.ids import is_integer, plain_id
from fastir.errors import quote
from fastir.text import counted


def by_position(retrieved: Any, relevant: Any, query_ids: Any) -> tuple[list[Any], dict[Any, Any], dict[Any, Any]]:
    """The query ids, {query_id: ranking} and {query_id: relevant ids}.

    Raises
    ------
    TypeError
        One of the arguments is no sequence.
    ValueError
        They differ in length, or a query id stands twice.
    """
    run, judged = per_query(retrieved, "retrieved"), per_query(relevant, "relevant")
    if len(run) != len(judged):
        raise ValueError(
            f"retrieved has {counted(len(run), 'query', 'queries')} but relevant has {len(judged)}; "
            "expected a list for each query on both sides"
        )
    ids = list(range(len(run))) if query_ids is None else named(query_ids, len(run))
    return ids, dict(zip(ids, run, strict=True)), dict(zip(ids, judged, strict=True))


def per_query(data: Any, name: str) -> list[Any] | tuple[Any, ...]:
    """What a caller gave for each query, as a list or tuple."""
    found = id_lists.sequence(data)
    if found is None:
        why = f"got {type(data).__name__} {quote(data)}"
        if isinstance(data, Set):
            why = f"got a {type(data).__name__}, which has no order"
        elif isinstance(data, Iterator):
            why = f"got a {type(data).__name__}, which can be read only once"
        elif id_lists.is_mapping(data):
            why = f"got a {type(data).__name__}; evaluate() takes lists by query id"
        raise TypeError(f"{name} must be a sequence with the ids of each query, {why}")
    return found


def named(query_ids: Any, n: int) -> list[Any]:
    """The caller's query ids, as distinct str or int."""
    found = per_query(query_ids, "query_ids")
    if len(found) != n:
        raise ValueError(f"query_ids has {len(found)} but there are {counted(n, 'query', 'queries')}")
    integers = bool(found) and is_integer(found[0])
    ids = [plain_id(query_id, integers, f"query_ids: entry {place}") for place, query_id in enumerate(found, 1)]
    places: dict[Any, int] = {}
    for place, query_id in enumerate(ids, 1):
        if places.setdefault(query_id, place) < place:
            raise ValueError(f"query_ids: {quote(query_id)} stands twice, as entries {places[query_id]} and {place}")
    return ids
