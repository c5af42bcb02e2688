"""The files of saved results and comparisons: a head that says where the numbers come from, and a table.

    .json      {"fastir": head, ...what the object has}
    .tsv       "# fastir " and the head as JSON in the first line, then the table under the names of its columns
    .parquet   the table, with the head in the schema's metadata under "fastir"; needs pyarrow

Numbers read back exactly. A file without a head is refused. A matrix of values is written a few thousand rows at a
time, without an object per number.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from collections.abc import Callable, Iterator
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from fastir._version import __version__
from fastir.errors import FastirError, FormatError, quote
from fastir.text import QUOTED, json_text, replacing, tsv_field

if TYPE_CHECKING:
    import numpy as np

KEY = "fastir"
MARK = "# fastir "
SUFFIXES = (".tsv", ".json", ".parquet")
PEEKED = 1 << 10
READERS = {  # of the kinds of saved objects
    "results": "Results.load",
    "results by run": "load_results",
    "comparison": "Comparison.load",
    "judged rankings": "JudgedRankings.load",
}
BATCH = 1 << 13  # rows that are written at a time
Table = dict[str, Any]  # lists; the last columns that are written may be float64 arrays


@dataclasses.dataclass(frozen=True)
class ValuesByQuery:
    """What stands in JSON for {query_id: {name: value}}."""

    query_ids: list[Any]
    names: list[str]
    values: np.ndarray  # of shape (n_queries, n_names)


# ---- files: a head and a table, or one JSON object -------------------------------------------------------------------


def write(
    path: Any, what: str, head: dict[str, Any], body: Callable[[], dict[str, Any]], table: Callable[[], Table]
) -> None:
    """Write a head with a body (JSON) or with a table (the other formats), by the end of the name, in one step.

    Raises
    ------
    ValueError
        An id cannot be written.
    FastirError
        pyarrow is not installed.
    OSError
    """
    path = os.fsdecode(path)
    suffix = os.path.splitext(path)[1].lower()
    head = head_of(what, head)
    if suffix == ".parquet":
        parts = iter((parquet_bytes(path, head, table()),))
    elif suffix == ".json":
        parts = json_parts({KEY: head, **body()})
    else:
        parts = tsv_parts(head, table())
    with replacing(path) as file:
        file.writelines(parts)


def refuse_kind(path: Any, head: dict[str, Any], expected: str) -> None:
    """Raise the FormatError for a file that holds another kind of object than was expected; it names what reads it."""
    kind = head["kind"]
    reader = READERS.get(kind)
    also = f"; {reader} reads it" if reader else ""
    raise FormatError(f"saved {kind}, expected {expected}{also}", os.fsdecode(path))


def save(path: Any, what: str, exact: Callable[[str], None], table: Callable[..., str], **options: Any) -> None:
    """Write an object by the end of the name: exactly, to be read back, or as a table, for which the options are.

    Parameters
    ----------
    path : str or path
    what : str
        What it is, with its article.
    exact : function of the path
    table : function of (format, **options)

    Raises
    ------
    ValueError
        The name has another end.
    OSError
    """
    from fastir.rendering import BY_SUFFIX

    path = os.fsdecode(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix in SUFFIXES and not options:
        exact(path)
        return
    if suffix not in BY_SUFFIX:
        *known, last = BY_SUFFIX if options else (*SUFFIXES, *BY_SUFFIX)
        raise ValueError(f"cannot save {what} as {path!r}: the name must end in {', '.join(known)} or {last}")
    text = table(BY_SUFFIX[suffix], **options)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def head_of(what: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"kind": what, "version": __version__, **data}


def tsv_parts(head: dict[str, Any], table: Table) -> Iterator[Any]:
    """The bytes of a table under its head, part by part."""
    names = "\t".join(map(tsv_field, table))
    yield f"{MARK}{json.dumps(head)}\n{names}\n".encode("utf-8", "surrogateescape")
    texts = [column for column in table.values() if type(column) is list]
    arrays = [column for column in table.values() if type(column) is not list]
    between = [b"\t"] * len(arrays) + [b"\n"]
    for low in range(0, len(texts[0]) if texts else 0, BATCH):
        rows = slice(low, low + BATCH)
        cells = [tsv_fields(column[rows]) for column in texts]
        heads = cells[0] if len(cells) == 1 else list(map("\t".join, zip(*cells, strict=True)))
        yield rows_of(heads, [array[rows] for array in arrays], between)


def tsv_fields(column: list[Any]) -> list[str]:
    cells = [cell if isinstance(cell, str) else repr(cell) for cell in column]
    return list(map(tsv_field, cells)) if QUOTED("".join(cells)) else cells


def json_document(data: dict[str, Any]) -> str:
    """The text of an object, which may hold ValuesByQuery."""
    return b"".join(json_parts(data)).decode()


def json_parts(data: dict[str, Any]) -> Iterator[Any]:
    """The bytes of an object, part by part."""
    mark = os.urandom(16).hex()  # stands for the values by query, and nowhere else
    matrices: list[ValuesByQuery] = []

    def marked(matrix: ValuesByQuery) -> Any:
        if not matrix.values.size:
            return {str(query_id): {} for query_id in matrix.query_ids}
        matrices.append(matrix)
        return mark

    text = json_text(data, marked)
    for matrix in matrices:
        before, text = text.split(f'"{mark}"', 1)
        yield before.encode()
        line = before[before.rindex("\n") :]
        yield from object_parts(matrix, line[: len(line) - len(line.lstrip())])
    yield text.encode()


def object_parts(matrix: ValuesByQuery, start: str) -> Iterator[Any]:
    """The bytes of {query_id: {name: value}} as `json_text` would write it; `start` begins a line: a LF and blanks."""
    names = (f"{start}    {encode_basestring_ascii(name)}: ".encode() for name in matrix.names)
    between = [b": {" + next(names), *(b"," + name for name in names), f"{start}  }}".encode()]
    for low in range(0, len(matrix.query_ids), BATCH):
        ids = map(encode_basestring_ascii, map(str, matrix.query_ids[low : low + BATCH]))
        heads = [f",{start}  {query_id}" for query_id in ids]
        if low == 0:
            heads[0] = "{" + heads[0][1:]
        yield rows_of(heads, list(matrix.values[low : low + BATCH].T), between, b"null", b"Infinity")
    yield f"{start}}}".encode()


def rows_of(heads: list[str], columns: list[Any], between: list[bytes], *special: bytes) -> np.ndarray:
    """The bytes of rows; `between` and `special` as for `rows_text`."""
    import numpy as np

    from fastir.columns._number_text import rows_text

    return rows_text(heads, np.stack(columns, 1) if columns else np.empty((len(heads), 0)), between, *special)


def parquet_bytes(path: str, head: dict[str, Any], table: Table) -> bytes:
    pyarrow, parquet = arrow_modules(path)
    try:
        rows = pyarrow.table(table).replace_schema_metadata({KEY: json.dumps(head)})
    except UnicodeError:
        raise ValueError(f"cannot write {quote(path)}: an id is not UTF-8") from None
    buffer = io.BytesIO()
    parquet.write_table(rows, buffer)
    return buffer.getvalue()


def arrow_modules(path: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise FastirError(f"{path}: Parquet needs pyarrow: pip install 'fastir[arrow]' ({error})") from None
    return pyarrow, parquet


def is_saved(path: Any) -> bool:
    """Whether a file begins as those that `write` makes; a file that cannot be read is none."""
    path = os.fsdecode(path)
    if not os.path.isfile(path):
        return False
    if path.lower().endswith(".parquet"):
        _, parquet = arrow_modules(path)
        try:
            return KEY.encode() in (parquet.read_metadata(path).metadata or {})
        except (OSError, ValueError):
            return False
    try:
        with open(path, "rb") as file:
            first = file.read(PEEKED)
    except OSError:
        return False
    return first.startswith(MARK.encode()) or "".join(first.decode("latin-1").split()).startswith(
        f'{{"{KEY}":{{"kind":'
    )


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any] | None, Table]:
    """The head of a saved file, its body if it is JSON (else None), and its table if it is not (else empty).

    Raises
    ------
    FormatError
        It was not written by `write`, or was cut or changed.
    FastirError
        pyarrow is not installed.
    OSError
    """
    path = os.fsdecode(path)
    if path.lower().endswith(".parquet"):
        head, rows = parquet_table(path)
        return head, None, {name: rows.column(name).to_pylist() for name in rows.column_names}
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    if text.startswith(MARK):
        first, _, rest = text.partition("\n")
        return checked_head(path, first[len(MARK) :]), None, table_of(path, rest)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise FormatError(f"neither JSON nor a saved table: {error}", path) from None
    return checked_head(path, json.dumps(data.pop(KEY, None) if isinstance(data, dict) else None)), data, {}


def parquet_table(path: str) -> tuple[dict[str, Any], Any]:
    """The head and the pyarrow.Table of a Parquet file."""
    pyarrow, parquet = arrow_modules(path)
    with open(path, "rb") as file:
        try:
            rows = parquet.read_table(file).combine_chunks()  # here, because it reads the names of columns
        except (OSError, ValueError, pyarrow.ArrowException) as error:
            raise FormatError(f"no Parquet file: {error}", path) from None
    return checked_head(path, (rows.schema.metadata or {}).get(KEY.encode(), b"null")), rows


def checked_head(path: str, text: str | bytes) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except ValueError:
        head = None
    if not isinstance(head, dict) or not isinstance(head.get("kind"), str):
        raise FormatError(f"no saved results: it lacks the head {KEY!r} that `save` writes", path)
    return head


def table_of(path: str, text: str) -> Table:
    names, *rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True) if text else [[]]
    for number, row in enumerate(rows, 3):
        if len(row) != len(names):
            raise FormatError(f"expected {len(names)} fields, got {len(row)}", path, number)
    columns = list(map(list, zip(*rows, strict=True))) if rows else [[] for _ in names]
    return dict(zip(names, columns, strict=True))
