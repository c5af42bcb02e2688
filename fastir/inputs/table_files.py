"""Files that hold a table, CSV, JSONL and Parquet: pyarrow makes batches of them, which go where any table goes.

pyarrow gets the unpacked bytes of a CSV or JSONL file, and is told the types of the columns, so that ids stay as they
are written and no text is taken for a date; numbers in CSV are read by _number, like those of TREC.
"""

from __future__ import annotations

import contextlib
import os
from typing import ClassVar

from fastir.columns._number import numbers_of
from fastir.columns.line_formats import NUMBER_PROBLEMS
from fastir.errors import FormatError, quote
from fastir.inputs import table_rows, tables
from fastir.inputs.files import Source, name_of

BLOCK = 1 << 20  # bytes that pyarrow parses at a time; a line must fit
ROWS = 1 << 16  # rows that it decodes at a time
MESSAGE = 400  # characters of its messages, which may quote all of a line


def read(path, is_run, format, duplicates, columns, watch=None):
    """Read a file as columns; see `formats`."""
    with opened(path, is_run, format, columns, watch) as (table, repairs):
        *found, more = table_rows.grouped(table, duplicates)
    return *found, {**repairs, **{kind: (count, f"{name_of(path)}: {place}") for kind, (count, place) in more.items()}}


@contextlib.contextmanager
def opened(path, is_run, format, columns, watch):
    """The file as a Table, and the repairs in it; whatever is wrong with what it holds is a FormatError."""
    what = "run" if is_run else "qrels"
    name = name_of(path)
    library(name)
    with contextlib.ExitStack() as files:

        def fresh():
            file = files.enter_context(FILES[format](path))
            file.look()
            return file

        def rows(names):
            file = first.pop() if first else fresh()
            empty = True
            for batch in file.batches(names):
                if watch is not None:
                    watch(file.position())
                for readers in tables.read_arrow(batch, names, []):
                    yield [*readers[:2], file.numbers_reader(readers[2])]
                empty = empty and not batch.num_rows
            if empty:
                raise FormatError(f"the {what} is empty: the table has no rows", name)

        try:
            first = [fresh()]
            repairs = first[0].repairs
            yield tables.Table(what, first[0].names, columns, rows, os.path.isfile(path)), repairs
        except FormatError as error:
            if error.path is not None:
                raise
            raise type(error)(str(error), name) from None
        except (TypeError, ValueError, OverflowError, NotImplementedError, library().ArrowException) as error:
            raise FormatError(str(error)[:MESSAGE], name) from None
        except OSError as error:  # pyarrow's, of what a file holds, have no number
            if error.errno is None:
                raise FormatError(str(error)[:MESSAGE], name) from None
            raise OSError(error.errno, error.strerror, name) from None


def library(path=None):
    """pyarrow."""
    try:
        import pyarrow
    except ImportError:
        raise FormatError("CSV, JSONL and Parquet need pyarrow: pip install 'fastir[arrow]'", path) from None
    return pyarrow


class Text(Source):
    """A text file as pyarrow reads it; look() finds the names of the columns."""

    closed = False

    def close(self):
        """pyarrow calls this when it has no more use for the file, which is closed by its own block."""

    def first_line(self):
        """The first line that is not blank, and what was read behind it."""
        head = self.read(BLOCK)
        lines = head.lstrip(b"\r\n")
        while b"\n" not in lines and (block := self.read(BLOCK)):
            lines += block
        line, _, rest = lines.partition(b"\n")
        if not line.strip():
            raise FormatError("the file is empty", self.path)
        return line.rstrip(b"\r").decode("utf-8", "surrogateescape"), lines, rest

    def numbers_reader(self, reader):
        return reader

    def ended(self):
        """Whether nothing is left to read."""
        self.carried = self.carried or self.read(1)
        return not self.carried


class Csv(Text):
    """Comma separated values below a header."""

    def look(self):
        import csv

        line, _, self.carried = self.first_line()
        try:
            self.names = next(csv.reader([line]))
        except csv.Error as error:
            raise FormatError(f"the header is malformed: {error}", self.path, 1) from None

    def batches(self, names):
        if self.ended():
            return []
        pyarrow = library()
        from pyarrow import csv as reader

        types = dict.fromkeys(names, pyarrow.string())
        return reader.open_csv(
            pyarrow.PythonFile(self, "r"),
            reader.ReadOptions(use_threads=False, block_size=BLOCK, column_names=self.names),
            reader.ParseOptions(newlines_in_values=True),
            reader.ConvertOptions(check_utf8=False, include_columns=names, column_types=types),
        )

    def numbers_reader(self, reader):
        return Decimals(reader)


class Decimals:
    """A column of numbers as text."""

    def __init__(self, reader):
        self.reader = reader

    def numbers(self, what, name, row):
        texts = self.reader.ids(what, name, row)
        numbers, at, problem = numbers_of(texts)
        if at >= 0:
            raise ValueError(f"{what}: row {row + at}: {name} {quote(texts[at])} {NUMBER_PROBLEMS[problem]}")
        return numbers


class Jsonl(Text):
    """A JSON object per line, all with ids like those of the first one."""

    def look(self):
        import json

        line, self.carried, _ = self.first_line()
        try:
            self.first = json.loads(line, parse_int=lambda digits: 0)  # only the kind of an id matters here
        except json.JSONDecodeError as error:
            raise FormatError(f"malformed JSON at character {error.colno}: {error.msg}", self.path, 1) from None
        except RecursionError:
            raise FormatError("malformed JSON: nested too deeply", self.path, 1) from None
        if not isinstance(self.first, dict):
            raise FormatError(f"expected a JSON object on every line, got {quote(line)}", self.path, 1)
        self.names = list(self.first)

    def batches(self, names):
        pyarrow = library()
        from pyarrow import json as reader

        kinds = [pyarrow.int64() if type(self.first[name]) is int else pyarrow.string() for name in names[:2]]
        schema = pyarrow.schema(list(zip(names, [*kinds, pyarrow.float64()], strict=True)))
        return reader.open_json(
            pyarrow.PythonFile(self, "r"),
            reader.ReadOptions(use_threads=False, block_size=BLOCK),
            reader.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )


class Parquet:
    """A Parquet file, which has no packing but its own."""

    repairs: ClassVar[dict[str, tuple[int, str]]] = {}

    def __init__(self, path):
        self.file = open(path, "rb")  # noqa: SIM115

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def look(self):
        from pyarrow.parquet import ParquetFile

        self.table = ParquetFile(self.file, buffer_size=BLOCK, pre_buffer=False)
        self.names = self.table.schema_arrow.names

    def batches(self, names):
        return self.table.iter_batches(ROWS, columns=list(names), use_threads=False)

    def position(self):
        return self.file.tell()

    def numbers_reader(self, reader):
        return reader


FILES = {"csv": Csv, "jsonl": Jsonl, "parquet": Parquet}
