"""Tables with a query, a label and a score or a rank in each row: the columns that `evaluate_scores` takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fastir.inputs import library_tables, roles, tables


def is_label_table(data: Any) -> bool:
    """Whether labels are a table, and not an array or a column."""
    if isinstance(data, Mapping) or library_tables.is_library_table(data):
        return True
    named = any(hasattr(data, name) for name in ("columns", "column_names", "schema"))
    return named and any(hasattr(data, name) for name in ("iloc", *tables.ARROW_METHODS))


def read(data: Any, columns: Mapping[str, str] | None) -> dict[str, Any]:
    """The columns of a table by the names of the arguments: qid, labels and scores."""
    columns = columns or {}
    number, usual = roles.number_of_run(columns)
    wanted = {"query_id": roles.QUERY, "label": roles.LABEL, number: usual}
    if not isinstance(data, Mapping) and not hasattr(data, "iloc"):
        data = arrow_table(data)
    names = list(getattr(data, "column_names", data if isinstance(data, Mapping) else getattr(data, "columns", ())))
    names_by_role = roles.columns_by_role("labels", names, wanted, columns, ("query_id", "label", "score", "rank"))
    qid, labels, scores = (data[name] for name in names_by_role.values())
    if roles.is_rank(names_by_role[number], columns):
        scores = 0.0 - np.asarray(scores, float)
    return {"qid": qid, "labels": labels, "scores": scores}


def arrow_table(data: Any) -> Any:
    """All rows of Arrow data, or of a dataset."""
    import pyarrow

    if library_tables.is_library_table(data):
        library = library_tables.library_table(data)
        batches = [pyarrow.table(batch) for batch, _ in library.batches(tuple(library.names))]
        return pyarrow.concat_tables(batches) if batches else pyarrow.table({name: [] for name in library.names})
    return pyarrow.table(data)
