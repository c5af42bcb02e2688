"""Comparisons in files that read back to an equal object; results/saved_files.py has the formats.

JSON is what `Comparison.to_json` gives, with the values of every query; a table has the pairs, and its head the rest.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from fastir.analyses.compare.records import Method, Pair, System
from fastir.data.results.exportable import result_json
from fastir.data.results.saved_files import convert_errors, read, write
from fastir.request.custom import restore_metric

KIND = "comparison"
READERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda value: math.nan if value is None else float(value),
    "int": int,
    "bool": lambda value: value if isinstance(value, bool) else {"True": True, "False": False}[value],
}


def write_comparison(path: str | os.PathLike[str], comparison: Any) -> None:
    """Write all of a comparison; see `Comparison.save`."""
    whole = result_json(comparison)
    head = {KIND: {name: value for name, value in whole.items() if name != "pairs"}}

    def table() -> dict[str, list[Any]]:
        columns = {field: [getattr(pair, field) for pair in comparison.pairs] for field in Pair._fields}
        return {**columns, "a": list(map(str, columns["a"])), "b": list(map(str, columns["b"]))}

    write(path, KIND, {} if os.fsdecode(path).lower().endswith(".json") else head, lambda: whole, table)


def load_fields(path: str | os.PathLike[str]) -> tuple[Any, ...]:
    """Read what a Comparison is made from; see `Comparison.load`."""
    path, head, body, table = read(path, "a comparison", KIND)
    with convert_errors(path, KIND):
        data = body if body is not None else head[KIND]
        rows = (
            data["pairs"]
            if body is not None
            else [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        )
        return comparison_fields(data, rows)


def comparison_fields(data: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    """The fields of a Comparison, from the pairs and the rest of `Comparison.to_json`."""
    import numpy as np

    custom = {name: restore_metric(name, meaning) for name, meaning in data.get("own_metrics", {}).items()}
    runs, values = data["runs"], data["per_query"]
    metrics = [custom.get(metric, metric) for metric in data["metrics"]]
    query_ids = data["query_ids"]
    matrix = [
        [[READERS["float"](values[run][metric][str(query_id)]) for run in runs] for query_id in query_ids]
        for metric in metrics
    ]
    method = record(Method, {**data["method"], "baseline": tuple(data["method"]["baseline"])})
    pairs, systems = (
        [record(kind, {**row, "metric": custom.get(row["metric"], row["metric"])}) for row in records]
        for kind, records in ((Pair, rows), (System, data["systems"]))
    )
    return (
        runs,
        metrics,
        query_ids,
        np.array(matrix, np.float64).reshape(len(metrics), len(query_ids), len(runs)),
        lambda: (pairs, systems, method),
        lambda: pairs,
        lambda: systems,
        {part["segment"]: comparison_fields(part, part["pairs"]) for part in data.get("segments", [])},
    )


def record(kind: Any, row: dict[str, Any]) -> Any:
    """A Pair, System or Method of the values of its fields."""
    if set(row) != set(kind._fields):
        raise ValueError(f"a {kind.__name__} has the fields {', '.join(kind._fields)}")
    return kind(**{name: READERS.get(kind.__annotations__[name].__forward_arg__, identity)(row[name]) for name in row})


def identity(value: Any) -> Any:
    return value
