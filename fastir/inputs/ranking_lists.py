"""Tables with a row for each query, which holds its ranking: a list of ids, perhaps with a list of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastir.engine.columns._arrow import Batches
from fastir.errors import quote
from fastir.inputs.column_readers import ArrowReader
from fastir.inputs.judged_arrays import check_queries
from fastir.inputs.list_columns import ListColumns, add, read_lists, scored
from fastir.inputs.roles import LISTS, RANKINGS, ROLES, columns_by_role
from fastir.inputs.tables import ARROW


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


def read(data: Any, columns: Mapping[Any, Any] | None, duplicates: str | None) -> tuple[Any, ...]:
    """The rankings of a table of Arrow data or a data frame, as the columns of a Run.

    Parameters
    ----------
    columns : dict or None
        {role: name}; the roles are "query_id", "doc_id" and "score".

    Raises
    ------
    TypeError, ValueError, DuplicateError
        A column is missing or of another type, a value is missing, a query has two rows, a ranking has another number
        of scores than of documents, or a score is NaN.
    """
    if not any(hasattr(data, name) for name in ARROW):
        raise TypeError(f"run: rankings in rows are read from Arrow data and data frames, got {type(data).__name__}")
    batches = Batches(data)
    names = ranking_columns(batches.names, columns)
    docs = ListColumns([], [])
    scores: list[np.ndarray] = [np.empty(0)]
    for batch in batches:
        row, place = len(docs.query_ids), {role: batches.names.index(name) for role, name in names.items()}
        ids = ArrowReader(batch, place["query_id"]).ids("run", names["query_id"], row)
        docs.query_ids += [ids[i] for i in range(len(ids))]
        add(docs, batch, place["doc_id"], names["doc_id"], row)
        if "score" in names:
            offsets, numbers = read_lists(batch, place["score"], names["score"], row, True)
            check_scores(docs.query_ids[row:], docs.batches[-1], offsets, numbers)
            scores.append(numbers)
    check_queries(docs.query_ids)
    return scored(docs.query_ids, *docs.rows(), duplicates, np.concatenate(scores) if "score" in names else None)


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
