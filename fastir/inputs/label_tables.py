"""Tables with a query, a label and a score or a rank in each row: the columns that `evaluate_scores` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastir.errors import quote
from fastir.inputs import foreign_tables, tables

LABEL = ("label", "relevance", "rating")


def is_table(data: Any) -> bool:
    """Whether labels are a table, and not an array or a column."""
    if isinstance(data, Mapping) or foreign_tables.is_foreign(data):
        return True
    named = any(hasattr(data, name) for name in ("columns", "column_names", "schema"))
    return named and any(hasattr(data, name) for name in ("iloc", *tables.ARROW))


def read(data: Any, columns: Mapping[str, str] | None) -> dict[str, Any]:
    """The columns of a table by the names of the arguments: qid, labels and scores.

    Raises
    ------
    ValueError
        It lacks one of them.
    """
    columns = columns or {}
    number, usual = tables.number_of_run(columns)
    wanted = {"query_id": tables.QUERY, "label": LABEL, number: usual}
    for role in columns:
        if role not in ("query_id", "label", "score", "rank"):
            raise ValueError(f"columns: unknown role {quote(role)}; expected query_id, label, score, rank")
    if not isinstance(data, Mapping) and not hasattr(data, "iloc"):
        data = arrow_table(data)
    names = list(getattr(data, "column_names", data if isinstance(data, Mapping) else getattr(data, "columns", ())))
    found = [
        tables.column_of("labels", names, role, [columns[role]] if role in columns else usual)
        for role, usual in wanted.items()
    ]
    qid, labels, scores = (data[name] for name in found)
    if tables.is_rank(found[2], columns):
        scores = 0.0 - np.asarray(scores, float)
    return {"qid": qid, "labels": labels, "scores": scores}


def arrow_table(data: Any) -> Any:
    """All rows of Arrow data, or of a dataset."""
    import pyarrow

    if foreign_tables.is_foreign(data):
        foreign = foreign_tables.found(data)
        batches = [pyarrow.table(batch) for batch, _ in foreign.batches(tuple(foreign.names))]
        return pyarrow.concat_tables(batches) if batches else pyarrow.table({name: [] for name in foreign.names})
    return pyarrow.table(data)
