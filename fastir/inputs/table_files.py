"""Files that hold a table, CSV, TSV, JSONL, Parquet and Arrow: pyarrow makes batches, which are read like any table.

pyarrow gets the unpacked bytes of a CSV or JSONL file and the types of the columns, so that ids stay as they are
written and no text is taken for a date; numbers in CSV are read by _number, like numbers in TREC files. Usual lines of
JSONL are read by _json, in half the time.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fastir.engine.columns._arrow import Batches
from fastir.engine.columns._ids import ids_from_arena, ids_from_integers
from fastir.engine.columns._number import numbers_from_texts
from fastir.engine.columns._parsing import rows_from_json_lines
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import NUMBER_PROBLEMS
from fastir.engine.columns.other_formats import hint_for_markup
from fastir.errors import FormatError, quote
from fastir.inputs import misread, roles, table_rows, tables
from fastir.inputs.arrow_files import ArrowFile
from fastir.inputs.column_readers import ParsedColumn
from fastir.inputs.files import ByteReader, Repairs, Watch
from fastir.inputs.id_lists import NO_IDS, columns_from_batches, lists_by_query
from fastir.inputs.list_cells import CellError
from fastir.inputs.parquet_files import Parquet, SplitTable
from fastir.inputs.places import place_name, reopens

HEAD_BYTES = 1 << 16  # bytes of a text file whose ranks are looked at
BLOCK_BYTES = 1 << 20  # bytes that pyarrow parses at a time; a line must fit
NULL_LINE = re.compile(rb"^[ \t\r]*null", re.MULTILINE)
TEXT, INTEGER, NUMBER = 0, 1, 2  # kinds of fields, as rows_from_json_lines counts them
JSON_WORDS = {str: "a string", int: "an integer", float: "a number", bool: "a truth value", dict: "an object"}
JSON_WORDS |= {list: "a list", type(None): "null"}
EMPTY_FORMS = ("null", "a list of nothing")  # which null and lists of any kind may stand beside
WHOLE_FLOAT = re.compile(r"-?[0-9]+\.0")
WHOLE_FLOATS = "ids with .0 read as whole numbers"  # a kind of repair
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
        read_rows = table_rows.columns_of(table, "run" if is_run else "qrels", duplicates, threshold)
    query_ids, offsets, ids, numbers, more, *evidence = read_rows
    placed = {kind: (count, f"{place_name(path)}: {place}") for kind, (count, place) in more.items()}
    return query_ids, offsets, ids, numbers, {**repairs, **placed}, *evidence


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
) -> Iterator[tuple[Any, Repairs]]:
    """The file as a Table, or as ListColumns, and its repairs; an error in its content is a FormatError."""
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
            lists = None if what == "runs" else roles.list_roles(what, first[0].names, columns, first[0].list_columns)
            if lists is not None:
                yield lists_by_query(columns_of_file(first.pop(), lists), what), repairs
                return
            table = tables.Table(what, first[0].names, columns, rows, reopens(path))
            table.starts = starts
            if table.rank is not None and what == "run":
                ranks = first_ranks(first[0], table.rank)
                table.read_ranks = lambda *_: ranks
            if format == "parquet" and table.again:
                table.split = files.enter_context(SplitTable(fresh, watch))
                table.n_rows = None if first[0].several else first[0].table.metadata.num_rows
            yield table, repairs


def columns_of_file(file: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The columns of a file that was looked at, by their roles; an error in a row of text names its line."""
    wanted = list(names.values())
    numbers = [name for role, name in names.items() if role in NO_IDS]
    read = file.list_batches(wanted, numbers) if hasattr(file, "list_batches") else file.batches(wanted)
    batches = (batch for rows in read for batch in Batches(rows))
    try:
        return columns_from_batches(batches, {role: (name, wanted.index(name)) for role, name in names.items()})
    except CellError as error:
        raise FormatError(str(error), None, file.line_of(error.row)) from None


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
        raise type(error)(error.args[0], name, error.line) from None
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
        raise FormatError(
            "CSV, TSV, JSONL, Parquet and Arrow need pyarrow: pip install 'fastir[arrow]'", path
        ) from None
    return pyarrow


class Text(ByteReader):
    """A text file as pyarrow reads it; look() finds the names of the columns, `list_columns` those of lists."""

    carried: bytes
    closed: bool = False
    list_columns: Collection[str] = ()

    def line_of(self, row: int) -> int | None:
        """The line on which a row begins, if the file can be read again."""
        return next(itertools.islice(self.row_lines(), row, None), None)

    def row_lines(self) -> Iterator[int]:
        """The lines on which rows begin."""
        raise NotImplementedError

    def text_again(self) -> str:
        """All of the file, nothing if it cannot be read again."""
        if not reopens(self.place):
            return ""
        with type(self)(self.place) as file:
            return file.read_all().decode("utf-8", "surrogateescape")

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
    mark = ","

    def __init__(self, path: Any) -> None:
        super().__init__(path)
        self.cut: dict[int, bool] = {}  # the places of ids that lose their .0

    def look(self) -> None:
        import csv

        line, _, self.carried = self.first_line()
        try:
            self.names: list[str] = next(csv.reader([line], delimiter=self.mark))
        except csv.Error as error:
            raise FormatError(f"the header is malformed: {error}", self.path, 1) from None

    def head(self, name: str) -> list[str]:
        """The cells of a column in the first rows."""
        import csv

        lines = [line.decode("utf-8", "surrogateescape") for line in self.head_lines()]
        try:
            return [row[name] for row in csv.DictReader(lines, self.names, delimiter=self.mark)]
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
            reader.ParseOptions(delimiter=self.mark, newlines_in_values=True),
            reader.ConvertOptions(check_utf8=False, include_columns=names, column_types=types),
        )

    def row_lines(self) -> Iterator[int]:
        """The lines on which the rows below the header begin."""
        import csv

        lines, before, has_header = self.text_again().splitlines(keepends=True), 0, False
        reader = csv.reader(lines, delimiter=self.mark)
        with contextlib.suppress(csv.Error):
            for row in reader:
                if row and has_header:
                    yield before + 1
                before, has_header = reader.line_num, has_header or bool(row)

    def readers(self, readers: list[Any]) -> list[Any]:
        ids = [WholeTexts(reader, self, place) for place, reader in enumerate(readers[:2])]
        return [*ids, *map(Decimals, readers[2:3]), *readers[3:]]


class Tsv(Csv):
    """The same with tabs."""

    mark = "\t"


class WholeTexts:
    """A column of ids as text: if all are whole numbers as floats are written, 1.0, they lose the .0.

    The first rows decide that, and `file` keeps it in its repairs.
    """

    def __init__(self, reader: Any, file: Csv, place: int) -> None:
        self.reader: Any = reader
        self.file: Any = file
        self.place: Any = place

    def ids(self, what: str, name: str, row: int) -> Any:
        ids = self.reader.ids(what, name, row)
        cut = self.file.cut
        if cut.get(self.place) is False or not len(ids):
            return ids
        if self.place not in cut and not WHOLE_FLOAT.fullmatch(ids[0]):
            cut[self.place] = False
            return ids
        text, starts, lengths = ids.copy(0, len(ids))
        odd = next((i for i in range(len(ids)) if not WHOLE_FLOAT.fullmatch(ids[i])), None)
        if odd is not None and cut.get(self.place):
            raise ValueError(
                f"{what}: row {row + odd}: {quote(name)} {quote(ids[odd])} is no whole number, as those before are"
            )
        cut[self.place] = odd is None
        if odd is not None:
            return ids
        count = self.file.repairs.get(WHOLE_FLOATS, (0, ""))[0]
        self.file.repairs[WHOLE_FLOATS] = (count + len(ids), name)
        return ids_from_arena(Arena(text, starts, lengths - 2))


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
        self.list_columns: set[str] = {name for name, value in self.first.items() if isinstance(value, list)}

    def lines_again(self) -> Iterator[tuple[int, str]]:
        """The number and text of the lines that are not blank."""
        return ((number, line) for number, line in enumerate(self.text_again().split("\n"), 1) if line.strip())

    def row_lines(self) -> Iterator[int]:
        """The lines with objects."""
        return (number for number, _ in self.lines_again())

    def head(self, name: str) -> list[Any]:
        """The values of a column in the first rows."""
        import json

        return [json.loads(line)[name] for line in self.head_lines() if line.strip()]

    def plain_rows(self, names: tuple[Any, ...]) -> Iterator[list[ParsedColumn]]:
        """The rows down to the first that is unusual, which pyarrow will read from there: it takes twice as long."""
        kinds = [INTEGER if type(self.first[name]) is int else TEXT for name in names]
        for _ in tables.number_names(names):
            kinds[tables.NUMBER_POSITION] = NUMBER
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
        numbers = tables.number_names(names)
        ids = {name: id_type(self.first[name]) for name in names if name not in numbers}
        return self.read_rows([*{**ids, **dict.fromkeys(numbers, import_pyarrow().float64())}.items()])

    def list_batches(self, names: Sequence[str], numbers: Collection[str]) -> Iterator[Any]:
        """The rows of columns of ids, and of lists of ids, or of numbers, where the first row has one."""
        types = []
        for name in names:
            value = self.first[name]
            if not isinstance(value, list):
                types.append((name, id_type(value)))
                continue
            value = value or next((each for each in first_ranks(self, name) or () if each), None) or [""]
            kind = import_pyarrow().float64() if name in numbers else id_type(value[0])
            types.append((name, import_pyarrow().list_(kind)))
        try:
            yield from self.read_rows(types)
        except import_pyarrow().ArrowInvalid:
            for name in names:
                self.refuse_other_forms(name)
            raise

    def refuse_other_forms(self, name: str) -> None:
        """Raise the error that names the first line with another form of a field than those before, if there is one."""
        import json

        first: dict[str, int] = {}
        for number, line in self.lines_again():
            try:
                form = json_form(json.loads(line).get(name))
            except (ValueError, AttributeError, RecursionError):
                return  # pyarrow says it better
            if form in EMPTY_FORMS:
                continue
            first.setdefault(form, number)
            if len(first) > 1 or " and " in form or "objects" in form or "lists" in form:
                before, line_before = next(iter(first.items()))
                others = f", where line {line_before} has {before}" if len(first) > 1 else ""
                raise FormatError(f"{name}: {form}{others}; expected lists of strings, or of integers", None, number)

    def read_rows(self, types: list[tuple[str, Any]]) -> Iterable[Any]:
        """The rows of columns of these types."""
        pyarrow = import_pyarrow()
        from pyarrow import json as reader

        schema = pyarrow.schema(types)
        return reader.open_json(
            pyarrow.PythonFile(WithoutNulls(self), "r"),
            reader.ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
            reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )


class WithoutNulls:
    """JSON Lines for pyarrow, whose process ends at a block of nothing but null: a line that begins so is refused."""

    closed = False

    def __init__(self, file: Jsonl) -> None:
        self.file = file
        self.begin = b""  # of the last line that was read

    def read(self, size: int) -> bytes:
        content = self.file.read(size)
        lines = self.begin + content
        if b"null" in lines and NULL_LINE.search(lines):
            raise FormatError("expected a JSON object on every line, got null", self.file.path)
        self.begin = lines[lines.rfind(b"\n") + 1 :][:HEAD_BYTES]
        return content

    def close(self) -> None:
        """pyarrow calls this when it has no more use for the file."""


def json_form(value: Any) -> str:
    """What the value of a field is, in words."""
    if not isinstance(value, list):
        return JSON_WORDS[type(value)]
    return "a list of " + (
        " and ".join(sorted({f"{JSON_WORDS[type(each)].split()[-1]}s" for each in value})) or "nothing"
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


FILES: dict[str, Any] = {"csv": Csv, "tsv": Tsv, "jsonl": Jsonl, "parquet": Parquet, "arrow": ArrowFile}
