"""Rows with a verdict each: columns of texts from any table or file, as numbers of their distinct texts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.data.results.report import Report
from fastir.data.results.results import Results
from fastir.declared import Table, spelling
from fastir.engine.measure._codes import STATUS_CODES
from fastir.errors import FormatError, UnknownMetricError, quote
from fastir.inputs import files
from fastir.inputs.places import is_path
from fastir.request.options import metric_tuple

# The names that a column may have; the first is what messages call it.
COLUMNS = {
    "query_id": ("query_id", "qid", "query", "topic", "topic_id", "question_id"),
    "run": ("run", "run_id", "system", "model", "runid"),
    "nugget": ("nugget", "nugget_id", "nugget_text", "text"),
    "importance": ("importance",),
    "assignment": ("assignment", "label", "verdict"),
    "sentence": ("sentence", "sentence_id", "sentence_number"),
    "citation": ("citation", "doc_id", "docid", "document", "citation_id"),
    "support": ("support", "support_label", "label", "verdict"),
}
ONLY_RUN = "run"  # the name of the only one, where rows have no column of runs
DENSE = (
    8  # numbers that are at most so many times as large as there are rows are places of an array, larger ones sorted
)
NO_TEXT = -1  # the number of a cell that is empty
SUPPORT = {  # spellings of a verdict, and twice its worth
    "support": 2, "fullsupport": 2, "full": 2, "fs": 2, "s": 2, "yes": 2, "1": 2, "1.0": 2, "true": 2,
    "partialsupport": 1, "partial": 1, "ps": 1, "p": 1, "0.5": 1,
    "notsupport": 0, "nosupport": 0, "notsupported": 0, "not": 0, "ns": 0, "n": 0, "no": 0, "0": 0, "0.0": 0,
    "false": 0,
}  # fmt: skip


class Coded(NamedTuple):
    """A column: the number of each row's text, NO_TEXT for an empty cell, and the texts by number."""

    codes: np.ndarray  # int64 of shape (n_rows,)
    texts: list[Any]

    def worth(self, words: Mapping[str, int], where: RowNames, expected: str) -> np.ndarray:
        """What the words of a column mean, NO_TEXT for an empty cell: int64 of shape (n_rows,)."""
        meaning = [words.get(spelling(str(text)), NO_TEXT) for text in self.texts]
        worth: np.ndarray = np.array([*meaning, NO_TEXT], np.int64)[self.codes]
        unknown = (worth == NO_TEXT) & (self.codes != NO_TEXT)
        if unknown.any():
            row = int(unknown.argmax())
            raise where.error(row, f"expected {expected}, got {quote(self.text(row))}")
        return worth

    def text(self, row: int) -> Any:
        """The text of a row; None for an empty cell."""
        return None if self.codes[row] == NO_TEXT else self.texts[self.codes[row]]


class RowNames(NamedTuple):
    """How messages name a row."""

    path: str | None
    columns: dict[str, Coded]
    what: str = ""

    def error(self, row: int, problem: str) -> ValueError:
        cells = [f"{name} {quote(column.text(row))}" for name, column in self.columns.items() if column.codes[row] >= 0]
        return input_error(f"{self.what}row {row} ({', '.join(cells)}): {problem}", self.path)


def input_error(message: str, path: str | None) -> ValueError:
    return ValueError(message) if path is None else FormatError(message, path)


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_columns(
    rows: Any, needed: Iterable[str], optional: Iterable[str] = (), what: str = "rows"
) -> tuple[dict[str, Coded], str | None]:
    """The columns of a table, a list of records or a file, and its path; an optional column may be absent."""
    path = None
    if is_path(rows):
        rows, path = read_file(rows)
    try:
        return columns_by_role(columns_of(rows, what), needed, optional, what, path), path
    except TypeError as error:  # of a file, it is no fault of the call
        if path is None:
            raise
        raise FormatError(str(error), path) from None


def columns_by_role(
    table: Mapping[str, Any], needed: Iterable[str], optional: Iterable[str], what: str, path: str | None
) -> dict[str, Coded]:
    """{role: column} of a table."""
    prefix = f"{what}: " if path is None else ""
    if not any(len(values) for values in table.values()):
        raise input_error(f"{prefix}there are no rows", path)
    found: dict[str, Coded] = {}
    for role in (*needed, *optional):
        name = next((name for name in COLUMNS[role] if name in table), None)
        if name is not None:
            found[role] = coded(table[name])
        elif role in needed:
            names = " or ".join(map(repr, COLUMNS[role]))
            raise input_error(f"{prefix}expected a column {names}, got {quote(list(table), 400)}", path)
    sizes = {name: len(column.codes) for name, column in found.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"{what}: columns have different lengths: {sizes}")
    return found


def columns_of(rows: Any, what: str) -> Mapping[str, Any]:
    """{name: values} of a table."""
    if isinstance(rows, Mapping):
        return rows
    if hasattr(rows, "columns") and hasattr(rows, "iloc"):  # pandas
        return {name: rows[name] for name in rows.columns}
    if hasattr(rows, "get_columns"):  # polars
        return {column.name: column for column in rows.get_columns()}
    if hasattr(rows, "column_names") and hasattr(rows, "column"):  # Arrow
        return {name: rows.column(name) for name in rows.column_names}
    if hasattr(rows, "__arrow_c_stream__"):
        import pyarrow

        return columns_of(pyarrow.table(rows), what)
    if isinstance(rows, Iterable) and not isinstance(rows, (str, bytes)):
        return columns_of_records(list(rows), what)
    raise TypeError(f"{what} must be a table, a list of records or a path, got {type(rows).__name__}")


def columns_of_records(records: list[Any], what: str) -> dict[str, list[Any]]:
    """{name: values} of dicts; an answer with a list `nuggets`, as nuggetizer has it, is a row for each of them."""
    flat: list[Any] = []
    for place, record in enumerate(records):
        outer, parts = {}, [record]
        if isinstance(record, Mapping) and isinstance(record.get("nuggets"), (list, tuple)):
            outer = {name: value for name, value in record.items() if name not in ("nuggets", "query", "text")}
            parts = record["nuggets"]
        for part in parts:
            if not isinstance(part, Mapping):
                raise TypeError(f"{what}: row {place}: expected a dict, got {type(part).__name__}")
            flat.append({**outer, **part})
    names = dict.fromkeys(name for record in flat for name in record)
    return {name: [record.get(name) for record in flat] for name in names}


def read_file(place: Any) -> tuple[Any, str]:
    """The rows of a file, Parquet, JSON, JSON Lines, CSV or TSV by its content, and its path."""
    with files.ByteReader(place) as source:
        content, path = source.read_all(), source.path
    if content[:4] == b"PAR1":
        import pyarrow
        from pyarrow import parquet

        return parquet.read_table(pyarrow.BufferReader(content)), path
    text = content.decode("utf-8", "surrogateescape")
    head = text.lstrip()[:1]
    if head == "[":
        return parse_json(text, path, 1), path
    if head == "{":
        lines = enumerate(text.split("\n"), 1)
        return [parse_json(line, path, number) for number, line in lines if line.strip()], path
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        records = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise FormatError(f"no CSV: {error}", path) from None
    uneven = next((row for row, record in enumerate(records) if None in record or None in record.values()), None)
    if uneven is not None:
        raise FormatError(f"row {uneven} has more or fewer fields than the head", path)
    return records, path


def parse_json(text: str, path: str, number: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"no JSON: {error}", path, number) from None


def coded(values: Any) -> Coded:
    """A column of any library as a Coded; None, NaN and "" are empty cells."""
    if hasattr(values, "to_arrow"):
        values = values.to_arrow()
    if hasattr(values, "dictionary_encode"):  # Arrow
        array = values.combine_chunks() if hasattr(values, "combine_chunks") else values
        array = array if hasattr(array, "indices") else array.dictionary_encode()
        codes, texts = array.indices.cast("int64").fill_null(NO_TEXT).to_numpy(), array.dictionary.to_pylist()
    elif hasattr(values, "factorize"):  # pandas
        found, distinct = values.factorize()
        codes, texts = found.astype(np.int64), distinct.tolist()
    else:
        cells = values.tolist() if hasattr(values, "tolist") else list(values)
        try:
            numbers = {text: number for number, text in enumerate(dict.fromkeys(cells))}
        except TypeError:
            raise TypeError("expected a text or a number in each cell, got a list or a dict") from None
        codes, texts = np.fromiter(map(numbers.__getitem__, cells), np.int64, len(cells)), list(numbers)
    empty = [number for number, text in enumerate(texts) if text is None or text != text or text == ""]
    return Coded(np.where(np.isin(codes, empty), NO_TEXT, codes) if empty else codes, texts)


def refuse_empty(columns: dict[str, Coded], names: Iterable[str], where: RowNames) -> None:
    """Raise for a row without a query, a run and the like."""
    for name in names:
        if name in columns and (empty := columns[name].codes == NO_TEXT).any():
            raise where.error(int(empty.argmax()), f"the cell of {name!r} is empty")


def runs_of(columns: dict[str, Coded]) -> Coded:
    """The run of each row; all are of one where rows have no column of runs. Every text is used."""
    column = columns.get("run")
    if column is None:
        return Coded(np.zeros(len(columns["query_id"].codes), np.int64), [ONLY_RUN])
    used, codes = np.unique(column.codes, return_inverse=True)
    return Coded(codes.astype(np.int64), [column.texts[code] for code in used])


class DistinctRows(NamedTuple):
    """Rows by what they have in some columns, numbered in the order in which each comes first."""

    rows: np.ndarray  # int64 of shape (n_distinct,): where each comes first
    numbers: np.ndarray  # int64 of shape (n_rows,)

    def repeat(self) -> tuple[int, int] | None:
        """The first row that has what a row before has, and that row before it; None if all differ."""
        if len(self.rows) == len(self.numbers):
            return None
        row = int((self.rows[self.numbers] != np.arange(len(self.numbers))).argmax())
        return row, int(self.rows[self.numbers[row]])


def distinct_rows(*columns: Coded) -> DistinctRows:
    """Tell rows apart by some columns, in which no cell is empty but in the last one."""
    keys = columns[0].codes
    for column in columns[1:]:
        keys = keys * (len(column.texts) + 1) + column.codes + 1
    n = len(keys)
    if keys.max(initial=0) > DENSE * n:
        keys = np.unique(keys, return_inverse=True)[1]
    least = keys.min(initial=0)
    firsts = np.empty(int(keys.max(initial=0) - least) + 1, np.int64)
    firsts[keys[::-1] - least] = np.arange(n - 1, -1, -1)  # the first row is written last
    of_row = firsts[keys - least]
    begins = of_row == np.arange(n)
    return DistinctRows(np.flatnonzero(begins), (np.cumsum(begins) - 1)[of_row])


# ---- metrics and results ---------------------------------------------------------------------------------------------
class VerdictMetric(NamedTuple):
    """A metric of verdicts; `value` makes it from counts that are aligned by run and query."""

    name: str
    summary: str
    value: Any
    aliases: tuple[str, ...] = ()


def read_metrics(table: Table[VerdictMetric], metrics: Any) -> dict[str, VerdictMetric]:
    """{name as it was requested: metric}."""
    try:
        return {name: table.find(name) for name in metric_tuple(metrics)}
    except ValueError as error:
        raise UnknownMetricError(str(error)) from None


def quotients(counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """counts / totals, 0 where there is nothing to count."""
    return np.divide(counts, totals, out=np.zeros(np.broadcast(counts, totals).shape), where=totals > 0)


def results_of_runs(
    runs: list[Any], query_ids: list[Any], metrics: Mapping[str, VerdictMetric], counts: Any, present: np.ndarray
) -> Iterator[tuple[Any, Results]]:
    """(run, its Results), of arrays of shape (n_runs, n_queries); `present` says which answers have any row."""
    values = np.stack([metric.value(counts) for metric in metrics.values()], axis=-1)
    for place, run in enumerate(runs):
        codes = np.where(present[place], STATUS_CODES["evaluated"], STATUS_CODES["missing"]).astype(np.uint8)
        n = int(present[place].sum())
        absent = next((q for q, there in zip(query_ids, present[place], strict=True) if not there), None)
        report = Report(in_both=n, only_in_qrels=len(query_ids) - n, only_in_qrels_example=absent)
        yield run, Results(query_ids, list(metrics), values[place], codes, ["mean"] * len(metrics), report)
