"""Saved Results: everything but the values is in the head of the file, so that it reads back to an equal object.

The head has how each metric is averaged, the statuses, the report, the weights and the Provenance; saved_files.py has
the formats. A file is refused if its parts do not fit; the error says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.results._fields import status_codes
from fastir.data.results.report import Report
from fastir.data.results.saved_files import KEY, PER_QUERY, ColumnDict, ValuesByQuery, convert_errors, file_head, write
from fastir.engine.measure._codes import STATUS_CODES
from fastir.errors import FormatError, quote
from fastir.rendering.text import without_nan
from fastir.request.custom import restore_metric

if TYPE_CHECKING:
    from fastir.request.provenance import Provenance

AGGREGATES = ("mean", "micro", "geometric", "sum", "count", "mean_or_nan", "micro_or_nan", "geometric_or_nan")
LETTERS = np.frombuffer("".join(status[0] for status in STATUS_CODES).encode(), np.uint8)  # by code
QUERY_COLUMN = "query_id"  # the first column of a table; the others are the metrics
Fields = tuple[Any, ...]  # what Results are made from


def head_of_results(results: Any) -> dict[str, Any]:
    """All of Results but its values, in types that JSON has."""
    head: dict[str, Any] = {
        "aggregates": results.aggregates,
        "queries": len(results.values),
        "integers": any(type(query_id) is int for query_id in results.query_ids[:1]),
        "status": None,
        "report": {field: getattr(results.report, field) for field in Report.__slots__},
        "weights": results.weights and list(results.weights.items()),
    }
    if denominators := getattr(results, "_denominators", None):
        head["denominators"] = {name: each.tolist() for name, each in denominators.items()}
    if (ties := getattr(results, "_ties", None)) is not None:
        known: Any = np.where(np.isnan(ties.values), None, ties.values)
        head["ties"] = {"values": known.tolist(), "groups": ties.groups.tolist()}
    if results.provenance is not None:
        head["provenance"] = data_from_provenance(results.provenance)
    return {**lists_from_tuples(head), "status": letters_of_status(results)}


def letters_of_status(results: Any) -> str:
    """The status of each query as its first letter; nothing if all are "evaluated"."""
    codes = status_codes(results)
    return LETTERS[codes].tobytes().decode() if codes.any() else ""


def codes_from(letters: str, n_queries: int) -> np.ndarray:
    """The status codes of `letters_of_status`."""
    found = np.frombuffer(letters.encode(), np.uint8)
    codes = np.full(256, len(LETTERS), np.uint8)
    codes[LETTERS] = np.arange(len(LETTERS))
    status = codes[found] if letters else np.zeros(n_queries, np.uint8)
    if len(status) != n_queries or (status == len(LETTERS)).any():
        raise ValueError(f"expected the status of each of {n_queries} queries, got {quote(letters, 20)}")
    return status


def are_distinct(ids: list[Any]) -> bool:
    """Whether no id is twice. For many ids, sorted hashes take a fifth of the time of a set."""
    hashes = np.sort(np.fromiter(map(hash, ids), np.int64, len(ids)))
    return not (hashes[1:] == hashes[:-1]).any() or len(set(ids)) == len(ids)


def report_from(data: dict[str, Any]) -> Report:
    return Report(**{**data, "repairs": {kind: tuple(of) for kind, of in data["repairs"].items()}})


def data_from_provenance(provenance: Provenance) -> dict[str, Any]:
    """A record in types that JSON has, except tuples."""
    import dataclasses

    return {**provenance._asdict(), "convention": dataclasses.asdict(provenance.convention)}


def lists_from_tuples(value: Any) -> Any:
    """Tuples as lists, which is what JSON has."""
    if isinstance(value, dict):
        return {key: lists_from_tuples(inner) for key, inner in value.items()}
    return list(map(lists_from_tuples, value)) if isinstance(value, (tuple, list)) else value


def body_of_results(results: Any) -> dict[str, Any]:
    """The means of Results as JSON has them, with None for NaN."""
    body: dict[str, Any] = {"mean": {name: without_nan(mean) for name, mean in results.items()}}
    if results.convention_text():
        body["convention"] = results.convention_text()
    return body


def results_json(results: Any, per_query: Any) -> dict[str, Any]:
    """The JSON of Results: head, means, and the values of every query."""
    return {KEY: file_head("results", head_of_results(results)), **body_of_results(results), PER_QUERY: per_query}


def matrix_of_results(results: Any) -> ValuesByQuery:
    """The values of every query, for a file of JSON."""
    return ValuesByQuery(results.query_ids, results.names, results.values)


def table_of_results(results: Any) -> ColumnDict:
    return {QUERY_COLUMN: results.query_ids, **dict(zip(results.names, results.values.T, strict=True))}


def fields_from(
    path: str, head: Mapping[str, Any], query_ids: list[Any], columns: Mapping[str, Iterable[Any]]
) -> Fields:
    """The fields of Results, from a head and the values of every query."""
    with convert_errors(path, "results"):
        aggregates = head["aggregates"]
        unknown = [how for how in aggregates.values() if how not in AGGREGATES]
        if unknown:
            raise ValueError(f"there is no average {quote(unknown[0])}")
        if list(columns) != list(aggregates):
            raise ValueError(f"its metrics are {', '.join(columns)}, those of its head {', '.join(aggregates)}")
        if head["integers"]:
            query_ids = list(map(int, query_ids))
        values = np.empty((len(query_ids), len(aggregates)))
        for place, column in enumerate(columns.values()):
            values[:, place] = np.asarray(column, float)  # None is NaN
        if len(values) != head["queries"] or not are_distinct(query_ids):
            raise ValueError(f"{len(values)} rows of values, expected one for each of {head['queries']} queries")
        weights = None if head["weights"] is None else {query_id: float(of) for query_id, of in head["weights"]}
        if weights is not None and not all(query_id in weights for query_id in query_ids):
            raise ValueError("a query has no weight")
        status = codes_from(head["status"], len(values))
        meanings = (head.get("provenance") or {}).get("metrics", {})
        return (
            query_ids,
            [restore_metric(name, meanings.get(name, "")) for name in aggregates],
            values,
            status,
            list(aggregates.values()),
            report_from(head["report"]),
            weights,
            provenance_from(head.get("provenance")),
        )


def provenance_from(data: dict[str, Any] | None) -> Provenance | None:
    """The record of a file; None if it has none."""
    from fastir.request.conventions import Convention
    from fastir.request.provenance import Provenance

    if data is None:
        return None
    fields = {name: tuples_from_lists(value) for name, value in data["convention"].items()}
    return Provenance(**{**data, "convention": Convention(**fields)})


def tuples_from_lists(value: Any) -> Any:
    """Lists as the tuples that they were before they were written as JSON."""
    return tuple(map(tuples_from_lists, value)) if isinstance(value, list) else value


def results_fields(path: str, head: Mapping[str, Any], body: Mapping[str, Any] | None, table: ColumnDict) -> Fields:
    """The fields of Results, from a head and the body of a JSON file, or the table of another."""
    names = list(head.get("aggregates", ()))
    if body is None:
        table = dict(table)
        query_ids = table.pop(QUERY_COLUMN, None)
        if query_ids is None:
            raise FormatError(f"saved results that were cut or changed: no column {QUERY_COLUMN}", path)
        return fields_from(path, head, query_ids, table)
    rows = body.get(PER_QUERY)
    if isinstance(rows, ValuesByQuery):
        return fields_from(path, head, rows.query_ids, dict(zip(rows.names, rows.values.T, strict=True)))
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise FormatError('saved results that were cut or changed: no "per_query"', path)
    if any(list(row) != names for row in rows.values()):
        query_id = next(query_id for query_id, row in rows.items() if list(row) != names)
        raise FormatError(f"saved results that were changed: query {quote(query_id)} has other metrics", path)
    return fields_from(path, head, list(rows), {name: [row[name] for row in rows.values()] for name in names})


def saved_denominators(head: Mapping[str, Any], results: Any) -> dict[str, Any]:
    """What the micro averages of a file divide by."""
    saved = {name: np.array(each, float) for name, each in head.get("denominators", {}).items()}
    for name, how in results.aggregates.items():
        if how.startswith("micro") and (name not in saved or saved[name].shape != (len(results.values),)):
            raise ValueError(f"the average of {quote(name)} is micro, and it has not a denominator for each query")
    return saved


def saved_ties(saved: Mapping[str, Any], results: Any) -> tuple[np.ndarray, np.ndarray]:
    """What a file has of a TieReport: its values and groups."""
    return np.array(saved["values"], float).reshape(*results.values.shape, 3), np.array(saved["groups"], np.int64)


def check_means(path: str, results: Any, body: Mapping[str, Any] | None) -> None:
    """Refuse a JSON file if its means are not the means of its values."""
    means = {name: without_nan(mean) for name, mean in results.items()}
    if body is not None and body.get("mean") != means:
        raise FormatError("saved results that were changed: the means are not those of the values", path)


def write_results(path: Any, results: Any) -> None:
    """Write one Results; see `Results.save`."""
    head = head_of_results(results)

    def body() -> dict[str, Any]:
        return {**body_of_results(results), PER_QUERY: matrix_of_results(results)}

    write(path, "results", head, body, lambda: table_of_results(results))
