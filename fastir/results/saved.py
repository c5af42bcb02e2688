"""Saved Results: everything but the values is in the head of the file, so that it reads back to an equal object.

The head has how each metric is averaged, the statuses, the report, the weights and the Provenance; saved_files.py has
the formats. A file whose parts do not fit is refused, with what does not fit.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fastir.errors import FormatError, quote
from fastir.measure._codes import STATUS_CODES
from fastir.results.report import Report
from fastir.results.saved_files import KEY, Table, head_of, read, write
from fastir.text import without_nan

if TYPE_CHECKING:
    from fastir.request.provenance import Provenance
    from fastir.results.by_run import ResultsByRun
    from fastir.results.results import Results

QUERY, RUN = "query_id", "run"  # columns of the tables, before the metrics


def head_of_results(results: Results) -> dict[str, Any]:
    """All of Results but its values, in types that JSON has."""
    status = results.status
    head: dict[str, Any] = {
        "aggregates": results.aggregates,
        "queries": len(status),
        "integers": any(type(query_id) is int for query_id in results.query_ids[:1]),
        "status": {code: [query for query, own in status.items() if own == code] for code in list(STATUS_CODES)[1:]},
        "report": {field: getattr(results.report, field) for field in Report.__slots__},
        "weights": results.weights and list(results.weights.items()),
    }
    provenance = results.provenance
    if provenance is not None:
        head["provenance"] = {**provenance._asdict(), "convention": dataclasses.asdict(provenance.convention)}
    return head


def body_of_results(results: Results) -> dict[str, Any]:
    """The means and values of Results as JSON has them, with None for NaN."""
    rows = ({name: without_nan(value) for name, value in row.items()} for row in results.to_dict().values())
    body: dict[str, Any] = {"mean": {name: without_nan(mean) for name, mean in results.items()}}
    if results.convention_text():
        body["convention"] = results.convention_text()
    return {**body, "per_query": dict(zip(map(str, results.query_ids), rows, strict=True))}


def described(results: Results, body: dict[str, Any]) -> dict[str, Any]:
    """The JSON of Results: head and body."""
    return {KEY: head_of("results", head_of_results(results)), **body}


def table_of_results(results: Results) -> Table:
    return {QUERY: results.query_ids, **dict(zip(results.names, results.values.T.tolist(), strict=True))}


def results_from(
    path: str, head: Mapping[str, Any], query_ids: list[Any], columns: Mapping[str, Iterable[Any]]
) -> Results:
    """The Results of a head and the values of every query."""
    import numpy as np

    from fastir.results.results import Results

    try:
        aggregates = head["aggregates"]
        if list(columns) != list(aggregates):
            raise ValueError(f"its metrics are {', '.join(columns)}, those of its head {', '.join(aggregates)}")
        if head["integers"]:
            query_ids = list(map(int, query_ids))
        values = np.empty((len(query_ids), len(aggregates)))
        for place, column in enumerate(columns.values()):
            values[:, place] = [math.nan if value is None else float(value) for value in column]
        codes = dict.fromkeys(query_ids, 0)
        for word, queries in head["status"].items():
            codes.update(dict.fromkeys(queries, STATUS_CODES[word]))
        if not len(codes) == len(values) == head["queries"]:
            raise ValueError(f"{len(values)} rows of values and {len(codes)} queries, expected {head['queries']}")
        report = {**head["report"], "repairs": {kind: tuple(of) for kind, of in head["report"]["repairs"].items()}}
        weights = None if head["weights"] is None else dict(map(tuple, head["weights"]))
        status = np.array(list(codes.values()), np.uint8)
        return Results(
            query_ids,
            list(aggregates),
            values,
            status,
            list(aggregates.values()),
            Report(**report),
            weights,
            provenance_from(head.get("provenance")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"saved results that were cut or changed: {error}", path) from None


def provenance_from(data: dict[str, Any] | None) -> Provenance | None:
    from fastir.request.conventions import Convention
    from fastir.request.provenance import Provenance

    if data is None:
        return None
    fields = {name: tuples(value) for name, value in data["convention"].items()}
    return Provenance(**{**data, "convention": Convention(**fields)})


def tuples(value: Any) -> Any:
    """Lists as the tuples that they were before they were written as JSON."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def results_of_json(path: str, head: Mapping[str, Any], body: Mapping[str, Any]) -> Results:
    """The Results of a head and a body; its means must be those of its values."""
    rows = body.get("per_query")
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise FormatError('saved results that were cut or changed: they lack "per_query"', path)
    names = list(head.get("aggregates", ()))
    if any(list(row) != names for row in rows.values()):
        query_id = next(query_id for query_id, row in rows.items() if list(row) != names)
        raise FormatError(f"saved results that were changed: query {quote(query_id)} has other metrics", path)
    columns = {name: [row[name] for row in rows.values()] for name in names}
    results = results_from(path, head, list(rows), columns)
    means = {name: without_nan(mean) for name, mean in results.items()}
    if body.get("mean") != means:
        name = next((name for name in means if body.get("mean", {}).get(name, "none") != means[name]), "?")
        raise FormatError(f"saved results that were changed: the mean of {name} is not that of the values", path)
    return results


# ---- several Results -------------------------------------------------------------------------------------------------


def write_results(path: Any, results: Results) -> None:
    write(
        path, "results", head_of_results(results), lambda: body_of_results(results), lambda: table_of_results(results)
    )


def write_runs(path: Any, runs: ResultsByRun) -> None:
    """Write {name: Results}: in JSON each as it would be alone, else one table with the column ``run`` before all."""
    for name in runs:
        if not isinstance(name, str):
            raise ValueError(f"cannot save results of the run {quote(name)}: the name must be a str")

    def body() -> dict[str, Any]:
        return {"runs": {name: described(results, body_of_results(results)) for name, results in runs.items()}}

    def table() -> Table:
        whole: Table = {}
        for name, results in runs.items():
            part = table_of_results(results)
            for column, cells in {RUN: [name] * len(part[QUERY]), **part}.items():
                whole.setdefault(column, []).extend(cells)
        return whole

    heads = {} if os.fsdecode(path).lower().endswith(".json") else {n: head_of_results(r) for n, r in runs.items()}
    write(path, "results by run", {"runs": heads}, body, table)


def load_results(path: str | os.PathLike[str]) -> Results | ResultsByRun:
    """Read what `Results.save`, or that of `evaluate_many`'s results, has written: an equal object.

    Parameters
    ----------
    path : str or path
        A ``.tsv``, ``.json`` or ``.parquet`` file.

    Returns
    -------
    Results or ResultsByRun

    Raises
    ------
    FormatError
        The file holds something else, or was cut or changed.
    FastirError
        Parquet needs pyarrow.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import fastir, os, tempfile
    >>> results = fastir.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "mrr")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results.save(os.path.join(folder, "results.json"))
    ...     fastir.load_results(os.path.join(folder, "results.json")) == results
    True
    """
    from fastir.results.by_run import ResultsByRun

    head, body, table = read(path)
    path = os.fsdecode(path)
    if head["kind"] == "results":
        return results_of_json(path, head, body) if body is not None else one_of_table(path, head, table)
    if head["kind"] != "results by run":
        raise FormatError(f"a saved {head['kind']}, expected saved results", path)
    try:
        if body is not None:
            return ResultsByRun((name, results_of_json(path, own[KEY], own)) for name, own in body["runs"].items())
        rows: dict[str, list[int]] = {name: [] for name in head["runs"]}
        for row, name in enumerate(table.pop(RUN)):
            rows[name].append(row)
        parts = {name: {key: [cells[row] for row in own] for key, cells in table.items()} for name, own in rows.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"saved results that were cut or changed: {error}", path) from None
    return ResultsByRun((name, one_of_table(path, head["runs"][name], part)) for name, part in parts.items())


def one_of_table(path: str, head: Mapping[str, Any], table: Table) -> Results:
    if QUERY not in table:
        raise FormatError(f"saved results that were cut or changed: no column {QUERY}", path)
    return results_from(path, head, table[QUERY], {name: cells for name, cells in table.items() if name != QUERY})
