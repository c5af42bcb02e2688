"""Tables with a row for each query, which holds its ranking: a list of ids, perhaps beside a list of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.errors import quote
from fastir.inputs import list_columns
from fastir.inputs.judged_arrays import check_queries
from fastir.inputs.list_columns import ListColumns
from fastir.inputs.tables import DOC, QUERY, column_of

if TYPE_CHECKING:
    import pyarrow

# The usual names of each column, as for rows.
DOCS = ("doc_ids", "ranking", *list_columns.NAMES["retrieved"], *DOC)
SCORES = ("scores", "score", "predictions", "prediction")


def names_of(names: list[str], columns: Mapping[Any, Any] | None) -> dict[str, str]:
    """{role: the name of its column}: query_id, doc_id, and score if there is one."""
    given = columns or {}
    usual: dict[str, tuple[str, ...]] = {"query_id": QUERY, "doc_id": DOCS, "score": SCORES}
    found = {}
    for role, wanted in usual.items():
        wanted = (given[role],) if role in given else wanted
        if role != "score" or role in given or any(name in names for name in wanted):
            found[role] = column_of("run", names, role, wanted)
    return found


def read(rows: pyarrow.Table, columns: Mapping[Any, Any] | None, duplicates: str | None) -> tuple[Any, ...]:
    """The rankings as the columns of a Run.

    Raises
    ------
    TypeError, ValueError, DuplicateError
        A column is missing or of another type, a value is missing, a query has two rows, a ranking has another number
        of scores than of documents, or a score is NaN.
    """
    names = names_of(rows.column_names, columns)
    roles = {"query_id": names["query_id"], "retrieved": names["doc_id"]}
    found = list_columns.table(rows, roles, roles, "run")
    query_ids, batches = found["query_id"], found["retrieved"].batches
    check_queries(query_ids)
    docs = ListColumns(query_ids, batches)
    if "score" not in names:
        return docs.scored(duplicates)
    offsets, ids = docs.rows()
    return list_columns.scored(query_ids, offsets, ids, duplicates, scores_of(rows[names["score"]], docs))


def scores_of(lists: pyarrow.ChunkedArray, docs: ListColumns) -> np.ndarray:
    """The scores of all rankings, which stand beside their documents."""
    import pyarrow
    import pyarrow.compute

    lists = lists.combine_chunks()
    query_ids, (offsets, ids) = docs.query_ids, docs.rows()
    if not pyarrow.types.is_list(lists.type) and not pyarrow.types.is_large_list(lists.type):
        raise TypeError(f"run: the scores of a ranking must be a list, got Arrow type {quote(str(lists.type))}")
    sizes = pyarrow.compute.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    odd = np.flatnonzero(sizes != np.diff(offsets))
    if len(odd):
        query = int(odd[0])
        raise ValueError(
            f"run: the ranking of query {quote(query_ids[query])} has {offsets[query + 1] - offsets[query]} documents "
            f"and {sizes[query]} scores"
        )
    scores = lists.flatten().to_numpy(zero_copy_only=False)
    if scores.dtype.kind not in "fiu":
        raise TypeError(f"run: scores must be numbers, got Arrow type {quote(str(lists.type))}")
    scores = scores.astype(np.float64)
    missing = np.flatnonzero(np.isnan(scores))
    if len(missing):
        place = int(missing[0])
        query_id = query_ids[int(np.searchsorted(offsets, place, "right")) - 1]
        doc_id = ids[place : place + 1][0]
        raise ValueError(f"run: the score is NaN or null, not a number (query {query_id}, document {doc_id})")
    return scores
