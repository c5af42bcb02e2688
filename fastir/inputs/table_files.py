"""Files that hold a table, CSV, JSONL and Parquet: pyarrow makes batches of them, which are read like any table.

pyarrow gets the unpacked bytes of a CSV or JSONL file and the types of the columns, so that ids stay as they are
written and no text is taken for a date; numbers in CSV are read by _number, like numbers in TREC files. Usual lines of
JSONL are read by _json, in half the time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from fastir.engine.columns._ids import ids_from_arena, ids_from_integers
from fastir.engine.columns._json import rows_from_json_lines
from fastir.engine.columns._number import numbers_from_texts
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import NUMBER_PROBLEMS
from fastir.engine.columns.other_formats import hint_for_markup
from fastir.errors import FormatError, quote
from fastir.inputs import misread, table_rows, tables
from fastir.inputs.column_readers import ParsedColumn
from fastir.inputs.files import ByteReader, Repairs, Watch
from fastir.inputs.parquet_files import Parquet, SplitTable
from fastir.inputs.places import place_name, reopens

HEAD_BYTES = 1 << 16  # bytes of a text file whose ranks are looked at
BLOCK_BYTES = 1 << 20  # bytes that pyarrow parses at a time; a line must fit
TEXT, INTEGER, NUMBER = 0, 1, 2  # kinds of fields, as rows_from_json_lines counts them
MAX_MESSAGE_CHARACTERS = 400  # characters of its messages, which may quote all of a line


def read(
    path: Any,
    is_run: bool,
    format: str,
    duplicates: str | None,
    columns: Mapping[Any, Any] | None,
    watch: Watch | None = None,
    threshold: float | None = None,
) -> tuple[Any, ...]:
    """Read a file as columns; see `formats`."""
    with open_table(path, "run" if is_run else "qrels", format, columns, watch) as (table, repairs):
        *columns_read, more = table_rows.group_rows(table, duplicates, threshold=threshold)
    return *columns_read, {
        **repairs,
        **{kind: (count, f"{place_name(path)}: {place}") for kind, (count, place) in more.items()},
    }


def read_columns(path: Any, format: str) -> Any:
    """All columns of a file as Arrow data, ids as they are written; an error in its content is a FormatError."""
    name = place_name(path)
    pyarrow = import_pyarrow(name)
    try:
        with FILES[format](path) as file:
            file.look()
            return pyarrow.Table.from_batches(list(file.batches(tuple(file.names))))
    except (TypeError, ValueError, NotImplementedError, pyarrow.ArrowException) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(str(error)[:MAX_MESSAGE_CHARACTERS], name) from None


@contextlib.contextmanager
def open_table(
    path: Any, what: str, format: str, columns: Mapping[Any, Any] | None, watch: Watch | None
) -> Iterator[tuple[tables.Table, Repairs]]:
    """The file as a Table, and its repairs; an error in its content is a FormatError."""
    name = place_name(path)
    starts: dict[str, int] = {}  # of all readers, which see the same files
    with contextlib.ExitStack() as files:

        def fresh() -> Any:
            file = files.enter_context(FILES[format](path))
            file.look()
            if format == "parquet":
                file.starts = starts
            return file

        def rows(names: tuple[Any, ...]) -> Iterator[list[Any]]:
            file = first.pop() if first else fresh()
            empty = True
            for readers in file.plain_rows(names) if format == "jsonl" else ():
                if watch is not None:
                    watch(file.position())
                yield readers
                empty = False
            for batch in file.batches(names):
                if watch is not None:
                    watch(file.position())
                for readers in tables.read_arrow(batch, names, []):
                    yield file.readers(readers)
                empty = empty and not batch.num_rows
            if empty:
                raise FormatError(f"the {what} is empty: the table has no rows", name)

        with convert_errors(name):
            first = [fresh()]
            repairs = first[0].repairs
            table = tables.Table(what, first[0].names, columns, rows, reopens(path))
            table.starts = starts
            if table.rank is not None and what == "run":
                ranks = first_ranks(first[0], table.rank)
                table.read_ranks = lambda *_: ranks
            if format == "parquet" and table.again:
                table.split = files.enter_context(SplitTable(fresh, watch))
                table.n_rows = None if first[0].several else first[0].table.metadata.num_rows
            yield table, repairs


def first_ranks(file: Any, name: str) -> Any:
    """The column of ranks in the first rows; nothing if they cannot be read: who reads the rows says what is wrong."""
    try:
        return file.head(name)
    except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
        return None


@contextlib.contextmanager
def convert_errors(name: str) -> Iterator[None]:
    """Within it, what is raised about the content of a file is a FormatError that names the file."""
    import_pyarrow(name)
    try:
        yield
    except FormatError as error:
        if error.path is not None:
            raise
        raise type(error)(str(error), name) from None
    except (TypeError, ValueError, OverflowError, NotImplementedError, import_pyarrow().ArrowException) as error:
        raise FormatError(str(error)[:MAX_MESSAGE_CHARACTERS], name) from None
    except OSError as error:  # pyarrow's, of what a file holds, have no number
        if error.errno is None:
            raise FormatError(str(error)[:MAX_MESSAGE_CHARACTERS], name) from None
        raise OSError(error.errno, error.strerror, name) from None


def import_pyarrow(path: str | None = None) -> Any:
    """The module pyarrow, or the error that says how to install it."""
    try:
        import pyarrow
    except ImportError:
        raise FormatError("CSV, JSONL and Parquet need pyarrow: pip install 'fastir[arrow]'", path) from None
    return pyarrow


class Text(ByteReader):
    """A text file as pyarrow reads it; look() finds the names of the columns."""

    carried: bytes
    closed: bool = False

    def close(self) -> None:
        """pyarrow calls this when it has no more use for the file, which is closed by its own block."""

    def first_line(self) -> tuple[str, bytes, bytes]:
        """The first line that is not blank, and the bytes that were read after it."""
        head = self.read(BLOCK_BYTES)
        lines = head.lstrip(b"\r\n")
        while b"\n" not in lines and (block := self.read(BLOCK_BYTES)):
            lines += block
        line, _, rest = lines.partition(b"\n")
        if not line.strip():
            raise FormatError("the file is empty", self.path)
        if b"\0" in line:
            raise FormatError("the file holds a NUL byte; it looks truncated, binary or UTF-16", self.path)
        return line.rstrip(b"\r").decode("utf-8", "surrogateescape"), lines, rest

    def readers(self, readers: list[Any]) -> list[Any]:
        """The readers of a batch, as the format needs them."""
        return readers

    def head_lines(self) -> list[bytes]:
        """The first whole lines of what has been read and not used yet."""
        lines = self.carried[:HEAD_BYTES].split(b"\n")
        return lines[: -1 if len(self.carried) > HEAD_BYTES else None][: misread.SAMPLE_ROWS]

    def is_at_end(self) -> bool:
        """Whether nothing is left to read."""
        self.carried = self.carried or self.read(1)
        return not self.carried


class Csv(Text):
    """Comma separated values below a header."""

    carried: bytes

    def look(self) -> None:
        import csv

        line, _, self.carried = self.first_line()
        try:
            self.names: list[str] = next(csv.reader([line]))
        except csv.Error as error:
            raise FormatError(f"the header is malformed: {error}", self.path, 1) from None

    def head(self, name: str) -> list[str]:
        """The cells of a column in the first rows."""
        import csv

        lines = [line.decode("utf-8", "surrogateescape") for line in self.head_lines()]
        try:
            return [row[name] for row in csv.DictReader(lines, self.names)]
        except csv.Error as error:
            raise ValueError(str(error)) from None

    def batches(self, names: tuple[Any, ...]) -> Iterable[Any]:
        if self.is_at_end():
            return []
        pyarrow = import_pyarrow()
        from pyarrow import csv as reader

        types = dict.fromkeys(names, pyarrow.string())
        return reader.open_csv(
            pyarrow.PythonFile(self, "r"),
            reader.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=self.names),
            reader.ParseOptions(newlines_in_values=True),
            reader.ConvertOptions(check_utf8=False, include_columns=names, column_types=types),
        )

    def readers(self, readers: list[Any]) -> list[Any]:
        return [*readers[:2], *map(Decimals, readers[2:3]), *readers[3:]]


class Decimals:
    """A column of numbers as text."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader

    def numbers(self, what: str, name: str, row: int) -> np.ndarray:
        texts = self.reader.ids(what, name, row)
        numbers, at, problem = numbers_from_texts(texts)
        if at >= 0:
            raise ValueError(f"{what}: row {row + at}: {name} {quote(texts[at])} {NUMBER_PROBLEMS[problem]}")
        return numbers

    def wide_integers(self) -> None:
        return None


class Jsonl(Text):
    """A JSON object per line; all ids have the types of the first line's."""

    carried: bytes

    def look(self) -> None:
        import json

        line, self.carried, _ = self.first_line()
        try:
            self.first: Any = json.loads(line, parse_int=lambda digits: 0)  # only the kind of an id matters here
        except json.JSONDecodeError as error:
            message = f"malformed JSON at character {error.colno}: {error.msg}{hint_for_markup(line[:80])}"
            raise FormatError(message, self.path, 1) from None
        except RecursionError:
            raise FormatError("malformed JSON: nested too deeply", self.path, 1) from None
        if not isinstance(self.first, dict):
            raise FormatError(f"expected a JSON object on every line, got {quote(line)}", self.path, 1)
        self.names: list[str] = list(self.first)

    def head(self, name: str) -> list[Any]:
        """The values of a column in the first rows."""
        import json

        return [json.loads(line)[name] for line in self.head_lines() if line.strip()]

    def plain_rows(self, names: tuple[Any, ...]) -> Iterator[list[ParsedColumn]]:
        """The rows down to the first that is unusual, which pyarrow will read from there: it takes twice as long."""
        kinds = [INTEGER if type(self.first[name]) is int else TEXT for name in names]
        kinds[tables.NUMBER_POSITION : tables.NUMBER_POSITION + 1] = [NUMBER] * (len(names) > tables.NUMBER_POSITION)
        fields = [name.encode("utf-8", "surrogateescape") for name in names]
        used = stop = 1
        while used == stop > 0 and (content := self.read(BLOCK_BYTES)):
            stop = len(content) if self.is_at_end() else content.rfind(b"\n") + 1
            block = content[:stop]
            columns, n, used = rows_from_json_lines(block, fields, kinds)
            self.carried = content[used:] + self.carried
            if n:
                yield [
                    ParsedColumn(values_of(block, kind, column)) for kind, column in zip(kinds, columns, strict=True)
                ]

    def batches(self, names: tuple[Any, ...]) -> Iterable[Any]:
        if self.is_at_end():
            return []
        numbers = names[tables.NUMBER_POSITION :][:1]
        ids = {name: id_type(self.first[name]) for name in names if name not in numbers}
        return self.read_rows([*{**ids, **dict.fromkeys(numbers, import_pyarrow().float64())}.items()])

    def list_batches(self, names: tuple[Any, ...]) -> Iterable[Any]:
        """The rows of columns of ids, and of lists of ids where the first row has one."""
        types = []
        for name in names:
            value = self.first[name]
            listed = isinstance(value, list)
            kind = id_type(value[0] if listed and value else value)
            types.append((name, import_pyarrow().list_(kind) if listed else kind))
        return self.read_rows(types)

    def read_rows(self, types: list[tuple[str, Any]]) -> Iterable[Any]:
        """The rows of columns of these types."""
        pyarrow = import_pyarrow()
        from pyarrow import json as reader

        schema = pyarrow.schema(types)
        return reader.open_json(
            pyarrow.PythonFile(self, "r"),
            reader.ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
            reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )


def values_of(block: bytes, kind: int, column: tuple[np.ndarray, ...]) -> Any:
    """The Ids, or the numbers, of a column of a block that rows_from_json_lines read."""
    if kind == NUMBER:
        return column[0]
    if kind == INTEGER:
        return ids_from_integers(column[0])
    starts, lengths = column
    return ids_from_arena(Arena(np.frombuffer(block, np.uint8), starts, lengths))


def id_type(value: Any) -> Any:
    """The Arrow type of ids like this one."""
    return import_pyarrow().int64() if type(value) is int else import_pyarrow().string()


FILES: dict[str, Any] = {"csv": Csv, "jsonl": Jsonl, "parquet": Parquet}
