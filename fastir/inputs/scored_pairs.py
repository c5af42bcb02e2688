"""Pairs of a document and its score or label, listed by query: ``{query_id: [(doc_id, score), ...]}``.

Types say which of the two is the document: text beside a number, or a whole number beside a fraction. In a
tuple with two whole numbers the first is the document; such a list is no pair, as it may be a list of ids.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from fastir.engine.columns import id_lists
from fastir.engine.columns._objects import fields_from_rows
from fastir.engine.columns.rows import list_of_each, offsets_from_sizes
from fastir.errors import quote
from fastir.inputs.dicts import query_dict
from fastir.inputs.roles import DOC, NUMBER, QUERY

KINDS = ((str, "text"), (Integral, "whole"), (Real, "real"))
DOC_FIRST = ("text whole", "text real", "whole real")  # the kinds of a pair's members, in their order
DOC_LAST = ("whole text", "real text", "real whole")


def doc_place(pair: Any) -> int | None:
    """The place of the document in a pair, 0 or 1; None of what is none."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        return None
    kinds = " ".join(next((name for kind, name in KINDS if isinstance(one, kind)), "") for one in pair)
    if kinds in DOC_LAST:
        return 1
    return 0 if kinds in DOC_FIRST or (kinds == "whole whole" and isinstance(pair, tuple)) else None


def has_pairs(data: Any) -> bool:
    """Whether the first list that is not empty, in a mapping of lists, begins with a pair."""
    for listed in data.values() if isinstance(data, Mapping) else ():
        if not isinstance(listed, (list, tuple)):
            return False
        if listed:
            return doc_place(listed[0]) is not None
    return False


def plain_pairs(data: Mapping[Any, Any]) -> dict[Any, dict[Any, Any]] | None:
    """Lists of pairs as dicts of dicts, whose readers look at each id and number; None where one would be lost."""
    at = next(doc_place(listed[0]) for listed in data.values() if listed)
    made: dict[Any, dict[Any, Any]] = {}
    for query_id, listed in data.items():
        try:
            docs = dict(listed) if at == 0 else {doc_id: number for number, doc_id in listed}
        except (TypeError, ValueError):
            return None
        if not isinstance(listed, (list, tuple)) or len(docs) < len(listed):
            return None
        made[query_id] = docs
    return made


def read_pairs(data: Mapping[Any, Any], what: str, duplicates: str | None) -> tuple[Any, ...]:
    """The pairs of all queries, grouped by query, as Rows takes them; `what` is "run" or "qrels"."""
    from fastir.inputs.column_readers import as_objects
    from fastir.inputs.table_rows import group_rows
    from fastir.inputs.tables import Table, read_columns

    query_ids, offsets, rows = flatten_pairs(data, what)
    at = doc_place(rows[0]) or 0
    columns = fields_from_rows(rows, (0, 1), 2)
    if columns is None and all(isinstance(row, (tuple, list)) and len(row) == 2 for row in rows):
        columns = [as_objects(column) for column in zip(*rows, strict=True)]
    names = QUERY[0], DOC[0], NUMBER[what][0]
    codes = list_of_each(offsets), as_objects(query_ids)
    with naming_odd_pairs(data, what):
        docs, numbers = [] if columns is None else (columns[at], columns[1 - at])
        table = Table(what, names, None, lambda _: read_columns([codes, docs, numbers]), True)
        found, bounds, *rest = group_rows(table, duplicates)
    sizes = dict(zip(found, np.diff(bounds).tolist(), strict=True))
    return query_ids, offsets_from_sizes([sizes.get(query_id, 0) for query_id in query_ids]), *rest


def flatten_pairs(data: Mapping[Any, Any], what: str) -> tuple[list[Any], np.ndarray, tuple[Any, ...]]:
    """The query ids, where the pairs of each begin, and all pairs."""
    lists = {query_id: id_lists.sequence(listed) for query_id, listed in query_dict(data, what).items()}
    for query_id, listed in lists.items():
        if listed is None:
            raise TypeError(f"{what}: query {quote(query_id)} must have a list of pairs, got {quote(data[query_id])}")
    offsets = offsets_from_sizes([len(listed or ()) for listed in lists.values()])
    return list(lists), offsets, tuple(itertools.chain.from_iterable(filter(None, lists.values())))


@contextlib.contextmanager
def naming_odd_pairs(data: Mapping[Any, Any], what: str) -> Iterator[None]:
    """Within it, an error about a type names the first member of a list that is no pair, or another than the first."""
    try:
        yield
    except (TypeError, ValueError):
        query_ids, offsets, rows = flatten_pairs(data, what)
        at, text = doc_place(rows[0]), isinstance(rows[0][doc_place(rows[0]) or 0], str)
        for row, pair in enumerate(rows):
            if doc_place(pair) != at or isinstance(pair[at or 0], str) != text:
                query = int(np.searchsorted(offsets, row, "right")) - 1
                raise TypeError(
                    f"{what}: query {quote(query_ids[query])}, place {row - int(offsets[query]) + 1}: expected a pair "
                    f"like the first, {quote(rows[0])}, got {quote(pair)}"
                ) from None
        raise
