"""The files of saved results and comparisons: a head that says where the numbers come from, and a table.

    .json      {"fastir": head, ...what the object has}
    .tsv       "# fastir " and the head as JSON in the first line, then the table under the names of its columns
    .parquet   the table, with the head in the schema's metadata under "fastir"; needs pyarrow

Numbers read back exactly. A matrix of values is written a few thousand rows at a time, without an object per number.

The head begins with the kind of the object, the version of fastir, the format and a checksum, eight hexadecimal digits:

    "crc32": "1c291ca3"     the crc32 of all bytes of the file, in which these eight are 0; of Parquet, of the head and
                            of the names, types and values of the columns

It is computed while the bytes are written, and set last: 10^8 bytes take 0.02 s. Line breaks at the end of the file do
not count, because editors add and remove them, nor does how JSON is laid out, nor CRLF for LF. What is otherwise
changed or cut, of another format, or without a head is a FormatError.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from fastir._version import __version__
from fastir.declared import Record
from fastir.errors import FastirError, FormatError, quote
from fastir.rendering import BY_SUFFIX
from fastir.rendering.text import QUOTED, json_text, replacing, tsv_field

KEY = "fastir"
MARK = "# fastir "
SUFFIXES = (".tsv", ".json", ".parquet")
HEAD_BYTES = 1 << 10
FORMAT = 1  # of the files; another one is refused
CHECKSUM_KEY = "crc32"
BLANK_CHECKSUM = "0" * 8  # in the head while the checksum is computed
CHECKSUM_PREFIX = f'"{CHECKSUM_KEY}": "'.encode()  # the bytes before the checksum
CONTENT_ERRORS: tuple[type[Exception], ...] = (  # what reading a head or a body of another shape may raise
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
    NotImplementedError,
)
READERS = {  # of the kinds of saved objects
    "results": "Results.load",
    "results by run": "load_results",
    "comparison": "Comparison.load",
    "judged rankings": "JudgedRankings.load",
}
BATCH_ROWS = 1 << 13  # rows that are written at a time
SAMPLE_ROWS = 200  # of a column, to see whether its values repeat
MAX_DICTIONARY_BYTES = 1 << 16  # of a column's distinct values in Parquet; with more it has no dictionary
KIND_OF_RESULTS = b'"kind": "results'  # of one run or of several, in the head of a file of JSON
PER_QUERY = "per_query"
ColumnDict = dict[str, Any]  # lists; the last columns that are written may be float64 arrays


class ValuesByQuery:
    """{query_id: {name: value}} in types that JSON has."""

    def __init__(self, query_ids: list[Any], names: list[str], values: np.ndarray) -> None:
        self.query_ids: list[Any] = query_ids
        self.names: list[str] = names
        self.values: np.ndarray = values  # of shape (n_queries, n_names)


# ---- files: a head and a table, or one JSON object -------------------------------------------------------------------
def write(
    path: Any, what: str, head: dict[str, Any], body: Callable[[], dict[str, Any]], table: Callable[[], ColumnDict]
) -> None:
    """Write a head with a body (JSON) or with a table (the other formats), by the end of the name, atomically."""
    path = os.fsdecode(path)
    suffix = os.path.splitext(path)[1].lower()
    head = file_head(what, head)
    if suffix == ".parquet":
        columns = table()
        rows, parquet = add_checksum(path, head, columns)
        options: dict[str, Any] = {"use_dictionary": [name for name in columns if has_repeats(columns[name])] or False}
        with replacing(path) as file:
            parquet.write_table(
                rows, file, compression="zstd", dictionary_pagesize_limit=MAX_DICTIONARY_BYTES, **options
            )
        return
    parts = json_parts({KEY: head, **body()}) if suffix == ".json" else tsv_parts(head, table())
    with replacing(path) as file:
        write_with_checksum(file, parts)


def has_repeats(column: Any) -> bool:
    """Whether half of a column's first values repeat another one, so that a dictionary pays."""
    some = column[:SAMPLE_ROWS] if isinstance(column, list) else column[:SAMPLE_ROWS].tolist()
    return 2 * len(set(map(repr, some))) <= len(some)


class SavedFile(Record):
    """What a file holds: a head, and a body (of JSON) or a table (of the other formats; empty for JSON)."""

    path: str
    head: dict[str, Any]
    body: dict[str, Any] | None
    table: ColumnDict


def check_kind(path: str, head: dict[str, Any], expected: str, kinds: Sequence[str]) -> None:
    """Raise the FormatError for a file that holds another kind of object than was expected; it names what reads it."""
    kind = head["kind"]
    if kind not in kinds:
        also = f"; {READERS[kind]} reads it" if kind in READERS else ""
        raise FormatError(f"saved {kind}, expected {expected}{also}", path)


def save(path: Any, what: str, exact: Callable[[str], None], table: Callable[..., str], **options: Any) -> None:
    """Write an object by the end of the name: exactly, to be read back, or as a table, for which the options are.

    `what` is it with its article; `exact` takes the path, `table` the format and the options.
    """
    path = os.fsdecode(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix in SUFFIXES and not options:
        exact(path)
        return
    if suffix not in BY_SUFFIX:
        *suffixes, last = BY_SUFFIX if options else (*SUFFIXES, *BY_SUFFIX)
        raise ValueError(f"cannot save {what} as {path!r}: the name must end in {', '.join(suffixes)} or {last}")
    text = table(BY_SUFFIX[suffix], **options)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def file_head(what: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"kind": what, "version": __version__, "format": FORMAT, **data}


# ---- checksums -------------------------------------------------------------------------------------------------------
def add_blank_checksum(head: dict[str, Any]) -> dict[str, Any]:
    """A head with room for the checksum, before anything that a caller has named."""
    first = {name: head[name] for name in ("kind", "version", "format")}
    return {**first, CHECKSUM_KEY: BLANK_CHECKSUM, **head}


def write_with_checksum(file: BinaryIO, parts: Iterable[Any]) -> None:
    """Write parts of bytes, the first of which holds the head, and set the checksum, if there is room for one."""
    place, total, last = None, 0, b""
    for part in parts:
        if place is None:
            place = part.find(CHECKSUM_PREFIX, 0, HEAD_BYTES)
        total = zlib.crc32(last, total)
        last = part
        file.write(part)
    if place is not None and place >= 0:
        total = zlib.crc32(bytes(last).rstrip(b"\r\n"), total)
        file.seek(place + len(CHECKSUM_PREFIX))
        file.write(b"%08x" % total)
        file.seek(0, os.SEEK_END)


def has_valid_checksum(content: bytes) -> bool:
    """Whether the first bytes of a file have the checksum of all its bytes."""
    place = content.find(CHECKSUM_PREFIX, 0, HEAD_BYTES) + len(CHECKSUM_PREFIX)
    if place < len(CHECKSUM_PREFIX):
        return False
    end = len(content)
    while content[end - 1 : end] in (b"\n", b"\r"):
        end -= 1
    view = memoryview(content)
    total = zlib.crc32(view[:place])
    total = zlib.crc32(view[place + len(BLANK_CHECKSUM) : end], zlib.crc32(BLANK_CHECKSUM.encode(), total))
    return content[place : place + len(BLANK_CHECKSUM)] == b"%08x" % total


def is_reformatted(text: str) -> bool:
    """Whether JSON would have its checksum if it were laid out as `write` does it, and names no key twice."""
    import json

    data = json.loads(text, object_pairs_hook=dict_without_duplicates)
    seal, data[KEY][CHECKSUM_KEY] = data[KEY][CHECKSUM_KEY], BLANK_CHECKSUM
    return bool(seal == f"{zlib.crc32(json_text(data).rstrip().encode()):08x}")


def dict_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("duplicate key")
    return fields


def table_checksum(head: bytes, rows: Any) -> str:
    """The checksum of a pyarrow.Table under a head that has none yet."""
    total = zlib.crc32(head)
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        total = zlib.crc32(f"{name}\t{column.type}\t{column.null_count}\n".encode(), total)
        for chunk in column.chunks:
            for part in value_bytes(chunk):
                total = zlib.crc32(part, total)
    return f"{total:08x}"


def value_bytes(array: Any) -> Iterator[Any]:
    """The values of a pyarrow.Array: bytes that differ if they differ."""
    from pyarrow import types

    if types.is_string(array.type) or types.is_large_string(array.type):
        width, (_, ends, texts) = "i4" if types.is_string(array.type) else "i8", array.buffers()
        offsets = np.frombuffer(ends, f"<{width}") if ends else np.zeros(1)
        offsets = offsets[array.offset : array.offset + len(array) + 1]
        yield np.diff(offsets).astype("<i8")
        if texts is not None:
            yield memoryview(texts)[int(offsets[0]) : int(offsets[-1])]
    elif array.null_count or not (types.is_integer(array.type) or types.is_floating(array.type)):
        yield repr(array.to_pylist()).encode()
    else:
        yield np.ascontiguousarray(array.to_numpy())


@contextlib.contextmanager
def convert_errors(path: Any, kind: str, *more: type[Exception]) -> Iterator[None]:
    """Errors in the block become a FormatError: the file does not hold the kind of object that its head names."""
    try:
        yield
    except FormatError:
        raise
    except (*CONTENT_ERRORS, *more) as error:
        raise FormatError(f"{saved_object(kind)} cut or changed: {quote(error, 200)}", os.fsdecode(path)) from None


def saved_object(kind: str) -> str:
    return f"a saved {kind} that was" if kind == "comparison" else f"saved {kind} that were"


# ---- files: the formats ----------------------------------------------------------------------------------------------
def tsv_parts(head: dict[str, Any], table: ColumnDict) -> Iterator[Any]:
    """The bytes of a table under its head, part by part."""
    import json

    names = "\t".join(map(tsv_field, table))
    yield f"{MARK}{json.dumps(add_blank_checksum(head))}\n{names}\n".encode("utf-8", "surrogateescape")
    texts = [column for column in table.values() if type(column) is list]
    arrays = [column for column in table.values() if type(column) is not list]
    between = [b"\t"] * len(arrays) + [b"\n"]
    for low in range(0, len(texts[0]) if texts else 0, BATCH_ROWS):
        rows = slice(low, low + BATCH_ROWS)
        cells = [tsv_fields(column[rows]) for column in texts]
        heads = cells[0] if len(cells) == 1 else list(map("\t".join, zip(*cells, strict=True)))
        yield row_bytes(heads, [array[rows] for array in arrays], between)


def tsv_fields(column: list[Any]) -> list[str]:
    cells = column if set(map(type, column)) <= {str} else [c if isinstance(c, str) else repr(c) for c in column]
    return list(map(tsv_field, cells)) if QUOTED("".join(cells)) else cells


def json_document(data: dict[str, Any]) -> str:
    """The text of an object, which may hold ValuesByQuery."""
    content = io.BytesIO()
    write_with_checksum(content, json_parts(data))
    return content.getvalue().decode()


def json_parts(data: dict[str, Any]) -> Iterator[Any]:
    """The bytes of an object, part by part; a head has room for the checksum."""
    if KEY in data:
        data = {**data, KEY: add_blank_checksum(data[KEY])}
    mark = os.urandom(16).hex()  # replaced by the values by query; occurs only there
    matrices: list[ValuesByQuery] = []

    def mark_matrix(matrix: ValuesByQuery) -> Any:
        if not matrix.values.size:
            return {str(query_id): {} for query_id in matrix.query_ids}
        matrices.append(matrix)
        return mark

    text = json_text(data, mark_matrix)
    for matrix in matrices:
        before, text = text.split(f'"{mark}"', 1)
        yield before.encode()
        line = before[before.rindex("\n") :]
        yield from object_parts(matrix, line[: len(line) - len(line.lstrip())])
    yield text.encode()


def object_parts(matrix: ValuesByQuery, start: str) -> Iterator[Any]:
    """The bytes of {query_id: {name: value}} as `json_text` would write it; `start` begins a line: a LF and blanks."""
    from json.encoder import encode_basestring_ascii

    names = (f"{start}    {encode_basestring_ascii(name)}: ".encode() for name in matrix.names)
    between = [b": {" + next(names), *(b"," + name for name in names), f"{start}  }}".encode()]
    for low in range(0, len(matrix.query_ids), BATCH_ROWS):
        ids = map(encode_basestring_ascii, map(str, matrix.query_ids[low : low + BATCH_ROWS]))
        heads = [f",{start}  {query_id}" for query_id in ids]
        if low == 0:
            heads[0] = "{" + heads[0][1:]
        yield row_bytes(heads, list(matrix.values[low : low + BATCH_ROWS].T), between, b"null", b"Infinity")
    yield f"{start}}}".encode()


def row_bytes(heads: list[str], columns: list[Any], between: list[bytes], *special: bytes) -> np.ndarray:
    """The bytes of rows; `between` and `special` as for `rows_text`."""
    from fastir.engine.columns._number_text import rows_text

    return rows_text(heads, np.stack(columns, 1) if columns else np.empty((len(heads), 0)), between, *special)


def add_checksum(path: str, head: dict[str, Any], table: ColumnDict) -> tuple[Any, Any]:
    """A pyarrow.Table with its head in the metadata, and pyarrow.parquet."""
    import json

    pyarrow, parquet = arrow_modules(path)
    text = json.dumps(add_blank_checksum(head))
    try:
        rows = pyarrow.table(table)
    except UnicodeError:
        raise ValueError(f"cannot write {quote(path)}: an id is not UTF-8") from None
    text = text.replace(BLANK_CHECKSUM, table_checksum(text.encode(), rows), 1)
    return rows.replace_schema_metadata({KEY: text}), parquet


def arrow_modules(path: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise FastirError(f"{path}: Parquet needs pyarrow: pip install 'fastir[arrow]' ({error})") from None
    return pyarrow, parquet


def is_saved(path: Any) -> bool:
    """Whether a file begins as those that `write` makes; a file that cannot be read is none."""
    path, source = os.fsdecode(path), path
    if not os.path.isfile(path):
        return False
    if path.lower().endswith(".parquet"):
        _, parquet = arrow_modules(path)
        try:
            return KEY.encode() in (parquet.read_metadata(path).metadata or {})
        except (OSError, ValueError):
            return False
    try:
        if hasattr(source, "head"):  # of a FileSource, which read them
            first = source.head
        else:
            with open(path, "rb") as file:
                first = file.read(HEAD_BYTES)
    except OSError:
        return False
    return first.startswith(MARK.encode()) or "".join(first.decode("latin-1").split()).startswith(
        f'{{"{KEY}":{{"kind":'
    )


def read(path: Any, expected: str, *kinds: str) -> SavedFile:
    """What `write` wrote, which must be of one of these kinds."""
    saved = read_any(os.fsdecode(path))
    check_kind(saved.path, saved.head, expected, kinds)
    return saved


def read_any(path: str) -> SavedFile:
    if path.lower().endswith(".parquet"):
        head, rows = parquet_table(path)
        with convert_errors(path, head["kind"]):
            text = rows.schema.metadata[KEY.encode()]
            blank = text.replace(
                CHECKSUM_PREFIX + str(head[CHECKSUM_KEY]).encode(), CHECKSUM_PREFIX + BLANK_CHECKSUM.encode(), 1
            )
            check_checksum(path, head, table_checksum(blank, rows) == head[CHECKSUM_KEY])
            numeric = head["kind"] == "results"  # whose values are never objects
            columns = zip(rows.column_names, rows.columns, strict=True)
            table = {
                name: column.to_numpy() if numeric and str(column.type) == "double" else column.to_pylist()
                for name, column in columns
            }
            return SavedFile(path, head, None, table)
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(MARK.encode()):
        line_end = content.find(b"\n")
        head = parse_head(path, content[len(MARK) : line_end if line_end >= 0 else len(content)])
        sealed = has_valid_checksum(content)
        if not sealed and b"\r\n" in content:
            content = content.replace(b"\r\n", b"\n")
            sealed = has_valid_checksum(content)
        check_checksum(path, head, sealed)
        with convert_errors(path, head["kind"]):
            start = content.index(b"\n") + 1
            if head["kind"] == "results" and (plain := parse_numbers(content, start)) is not None:
                return SavedFile(path, head, None, plain)
            text = content[start:].decode("utf-8", "surrogateescape")
            return SavedFile(path, head, None, parse_table(path, text))
    import json

    is_whole = has_valid_checksum(content)

    def with_values(fields: dict[str, Any]) -> dict[str, Any]:
        """The object that JSON has; signals are answered where Python code runs, else only after the whole file."""
        mark = fields.get(PER_QUERY)
        if type(mark) is str and mark in matrices:
            fields[PER_QUERY] = matrices[mark]
        return fields

    try:
        as_is = not (is_whole and KIND_OF_RESULTS in content[:HEAD_BYTES])
        text, matrices = (content.decode("utf-8", "surrogateescape"), {}) if as_is else cut_values(content)
        data = json.loads(text, object_hook=with_values)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"neither JSON nor a saved table: {error}", path) from None
    head = check_head(path, data.pop(KEY, None) if isinstance(data, dict) else None)
    with convert_errors(path, head["kind"]):
        check_checksum(path, head, is_whole or is_reformatted(text))
    return SavedFile(path, head, data, {})


def cut_values(content: bytes) -> tuple[str, dict[str, ValuesByQuery]]:
    """The text of a file of JSON with a mark, which occurs only there, for the values of the queries; and these."""
    import json

    from fastir.engine.columns._number import rows_from_objects

    opening = f'"{PER_QUERY}": '.encode()
    parts, matrices, place = [], {}, 0
    while (found := content.find(opening, place)) >= 0:
        found += len(opening)
        parts.append(content[place:found])
        place = found
        if (rows := rows_from_objects(content, found)) is not None:
            *strings, values, place = rows
            ids, names = ([string.decode("utf-8", "surrogateescape") for string in some] for some in strings)
            if "\\" in "".join((*ids, *names)):
                ids, names = ([json.loads(f'"{each}"') for each in some] for some in (ids, names))
            mark = os.urandom(16).hex()
            matrices[mark] = ValuesByQuery(ids, names, values)
            parts.append(f'"{mark}"'.encode())
    return b"".join((*parts, content[place:])).decode("utf-8", "surrogateescape"), matrices


def check_checksum(path: str, head: dict[str, Any], is_valid: bool) -> None:
    if not is_valid:
        raise FormatError(f"{saved_object(head['kind'])} cut or changed: the checksum does not match", path)


def parquet_table(path: str) -> tuple[dict[str, Any], Any]:
    """The head and the pyarrow.Table of a Parquet file."""
    pyarrow, parquet = arrow_modules(path)
    with open(path, "rb") as file:
        try:
            rows = parquet.read_table(file).combine_chunks()  # here, because it reads the names of columns
        except (OSError, ValueError, pyarrow.ArrowException) as error:
            raise FormatError(f"not a Parquet file: {error}", path) from None
    return parse_head(path, (rows.schema.metadata or {}).get(KEY.encode(), b"null")), rows


def parse_head(path: str, text: str | bytes) -> dict[str, Any]:
    """A head that is written as JSON."""
    import json

    try:
        return check_head(path, json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        return check_head(path, None)


def check_head(path: str, head: Any) -> dict[str, Any]:
    """Return a head that names a kind and a known format, or raise FormatError."""
    if not isinstance(head, dict) or not isinstance(head.get("kind"), str):
        raise FormatError(f"not saved results: the head {KEY!r} that `save` writes is missing", path)
    if head.get("format", FORMAT) != FORMAT:
        raise FormatError(
            f"saved {quote(head['kind'])[1:-1]} in the format {quote(head.get('format'))}, written by fastir "
            f"{quote(head.get('version'))}; this fastir ({__version__}) reads format {FORMAT}",
            path,
        )
    return head


def parse_numbers(content: bytes, start: int) -> ColumnDict | None:
    """The columns of a table of ids and numbers; None if it is one for `parse_table`."""
    from fastir.engine.columns._number import rows_from_text

    end = content.find(b"\n", start)
    names = content[start : max(end, start)].decode("utf-8", "surrogateescape").split("\t")
    if end < 0 or len(names) < 2 or len(set(names)) < len(names) or content.find(b'"', start) >= 0:
        return None
    ids, values = rows_from_text(content, end + 1, len(names) - 1)
    return None if ids is None else {names[0]: ids, **dict(zip(names[1:], values.T, strict=True))}


CELL = r'"([^"]*(?:""[^"]*)*)"(?=[\t]|\Z)|([^\t"]*)(?=[\t]|\Z)'


def parse_table(path: str, text: str) -> ColumnDict:
    """The columns of a table as `tsv_parts` writes it, with cells of any length."""
    lines = text.rstrip("\r\n").split("\n")
    rows: list[list[str]] = []
    parts: list[str] = []  # the lines of a row with line breaks in quotation marks
    marks = 0
    for number, line in enumerate(lines, 2):
        if not parts and '"' not in line:
            rows.append(line.split("\t"))
        else:
            parts.append(line)
            marks += line.count('"')
            if marks % 2 and number < len(lines) + 1:
                continue
            rows.append(quoted_cells("\n".join(parts)))
            parts, marks = [], 0
        if len(rows[-1]) != len(rows[0]):
            raise FormatError(f"expected {len(rows[0])} fields, got {len(rows[-1])}", path, number)
    names, *cells = rows
    if len(set(names)) < len(names):
        raise FormatError("two columns have one name", path)
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}


def quoted_cells(line: str) -> list[str]:
    """The cells of a row in which some cells have quotation marks."""
    cells, place, matching = [], 0, re.compile(CELL).match
    while place <= len(line):
        cell = matching(line, place)
        if cell is None:
            raise ValueError("a quotation mark that fastir does not write")
        quoted, plain = cell.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        place = cell.end() + 1
    return cells
