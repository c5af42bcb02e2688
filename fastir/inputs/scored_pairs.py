"""Pairs of a document and its score or label, listed by query: ``{query_id: [(doc_id, score), ...]}``.

Types say which of the two is the document: text beside a number, or a whole number beside a fraction. Of two whole
numbers in a tuple the first is the document; a list of two is none, as it may be a list of ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from fastir.engine.columns import id_lists
from fastir.engine.columns._objects import fields_from_rows
from fastir.engine.columns.rows import list_of_each, offsets_from_sizes
from fastir.errors import quote
from fastir.inputs.column_readers import as_objects
from fastir.inputs.dicts import query_dict
from fastir.inputs.roles import DOC, NUMBER, QUERY
from fastir.inputs.table_rows import group_rows
from fastir.inputs.tables import Table, read_columns

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


def read_pairs(data: Mapping[Any, Any], what: str, duplicates: str | None) -> tuple[Any, ...]:
    """The pairs of all queries, grouped by query, as Rows takes them; `what` is "run" or "qrels"."""
    lists = {query_id: id_lists.sequence(listed) for query_id, listed in query_dict(data, what).items()}
    for query_id, listed in lists.items():
        if listed is None:
            raise TypeError(f"{what}: query {quote(query_id)} must have a list of pairs, got {quote(data[query_id])}")
    query_ids, offsets = list(lists), offsets_from_sizes([len(listed or ()) for listed in lists.values()])
    rows: tuple[Any, ...] = tuple(itertools.chain.from_iterable(filter(None, lists.values())))
    at = doc_place(rows[0]) or 0
    columns = fields_from_rows(rows, (0, 1), 2)
    if columns is None and all(isinstance(row, (tuple, list)) and len(row) == 2 for row in rows):
        columns = [as_objects(column) for column in zip(*rows, strict=True)]
    names = QUERY[0], DOC[0], NUMBER[what][0]
    codes = list_of_each(offsets), as_objects(query_ids)
    try:
        docs, numbers = [] if columns is None else (columns[at], columns[1 - at])
        found, bounds, *rest = group_rows(
            Table(what, names, None, lambda _: read_columns([codes, docs, numbers]), True), duplicates
        )
    except (TypeError, ValueError):
        refuse_odd_pair(rows, at, what, query_ids, offsets)
        raise
    sizes = dict(zip(found, np.diff(bounds).tolist(), strict=True))
    return query_ids, offsets_from_sizes([sizes.get(query_id, 0) for query_id in query_ids]), *rest


def refuse_odd_pair(rows: tuple[Any, ...], at: int, what: str, query_ids: list[Any], offsets: np.ndarray) -> None:
    """Raise TypeError for the first row that is no pair, or another one than the first."""
    text = isinstance(rows[0][at], str)
    for row, pair in enumerate(rows):
        if doc_place(pair) != at or isinstance(pair[at], str) != text:
            query = int(np.searchsorted(offsets, row, "right")) - 1
            raise TypeError(
                f"{what}: query {quote(query_ids[query])}, place {row - int(offsets[query]) + 1}: expected a pair like "
                f"the first, {quote(rows[0])}, got {quote(pair)}"
            ) from None
