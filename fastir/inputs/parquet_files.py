"""Parquet: one file, or the files of a folder or pattern, as one table, with the columns of hive partitions.

The files are read one after the other, so that each keeps its own types and an error can name its file and row; or in
row groups, which a `SplitTable` hands to threads, each with files of its own.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from fastir.errors import FormatError
from fastir.inputs import places
from fastir.inputs.arrow_files import list_names
from fastir.inputs.column_readers import FileColumn
from fastir.inputs.misread import SAMPLE_ROWS
from fastir.inputs.tables import read_arrow

if TYPE_CHECKING:
    from fastir.inputs.files import Watch

BATCH_ROWS = 1 << 16  # rows that pyarrow decodes at a time
BUFFER_BYTES = 1 << 20  # bytes that it reads at a time
LOCK_SECONDS = 1.0  # seconds


class Group(NamedTuple):
    """A row group, with the footer of its file, which is parsed once."""

    part: places.Part
    footer: Any
    number: int
    first: int  # row in its file
    row: int  # the same in the table
    position: int  # bytes of the files before, plus (about) of the rows before in this file


class Parquet:
    """Parquet files as one table; they are compressed only inside, by Parquet."""

    open_files: contextlib.ExitStack
    part: places.Part

    repairs: ClassVar[dict[str, tuple[int, str]]] = {}

    def __init__(self, path: Any) -> None:
        self.parts: list[places.Part] = places.place_parts(path)
        self.several: bool = places.is_many(path)
        self.open_files = contextlib.ExitStack()
        self.file: Any = None
        self.done: int = 0  # bytes of the files before
        self.before: int = 0  # rows of them
        self.name: str = ""
        self.starts: dict[str, int] = {}  # of several files: the row of the table where each begins

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.open_files.close()

    def look(self) -> None:
        self.whole: set[str] = whole_numbers(self.parts)
        self.table: Any = self.open_part(self.parts[0])
        self.names: list[str] = self.column_names(self.parts[0])
        self.list_columns: set[str] = list_names(self.table.schema_arrow)

    def open_part(self, part: places.Part, footer: Any = None) -> Any:
        """A part as pyarrow's ParquetFile; the part before it is closed."""
        from pyarrow.parquet import ParquetFile

        self.open_files.close()
        self.part, self.name = part, places.place_name(part.place)
        self.file = self.open_files.enter_context(contextlib.closing(places.open_bytes(part.place)))
        with self.name_errors():
            return ParquetFile(self.file, metadata=footer, buffer_size=BUFFER_BYTES, pre_buffer=False)

    def switch_part(self, part: places.Part, names: tuple[Any, ...], footer: Any = None) -> None:
        """Open another part, which must have these columns, too."""
        self.table = self.open_part(part, footer)
        names_of_part = self.column_names(part)
        missing = next((name for name in names if name not in names_of_part), None)
        if missing is not None:
            raise FormatError(f"the file has no column {missing!r}, which the others have", self.name)

    def column_names(self, part: places.Part) -> list[str]:
        """The names of the columns of the part that is open."""
        in_file = self.table.schema_arrow.names
        return [*in_file, *(name for name in part.partition if name not in in_file)]

    def batches(self, names: tuple[Any, ...]) -> Iterator[Any]:
        row = 0
        for number, part in enumerate(self.parts):
            if number:
                self.done += self.file.tell()
                self.switch_part(part, names)
            self.begin(row)
            for batch in self.rows(part, names):
                yield batch
                self.before += batch.num_rows
            row += self.before
            self.before = 0

    def groups(self) -> Iterator[Group]:
        """The row groups of all parts."""
        position = row = 0
        for number, part in enumerate(self.parts):
            if number:
                self.table = self.open_part(part)
            self.begin(row)
            footer, first, size = self.table.metadata, 0, places.place_size(part.place)
            for group in range(footer.num_row_groups):
                place = position + size * first // max(footer.num_rows, 1)
                yield Group(part, footer, group, first, row + first, place)
                first += footer.row_group(group).num_rows
            position += size
            row += first

    def begin(self, row: int) -> None:
        """Note where the part that is open begins, if it is one of several."""
        if self.several:
            self.starts[self.name] = row

    def group_batches(self, group: Group, names: tuple[Any, ...]) -> Iterator[Any]:
        """The batches of a row group."""
        if self.part is not group.part:
            self.switch_part(group.part, names, group.footer)
        self.before = group.first
        for batch in self.rows(group.part, names, [group.number]):
            yield batch
            self.before += batch.num_rows

    def rows(self, part: places.Part, names: tuple[Any, ...], groups: list[int] | None = None) -> Iterator[Any]:
        """The batches of the part that is open, or of some of its row groups, with these columns."""
        in_file = set(self.table.schema_arrow.names)
        with self.name_errors():
            for batch in self.table.iter_batches(
                BATCH_ROWS, groups, [name for name in names if name in in_file], False
            ):
                for name, text in part.partition.items():
                    if name in names and name not in in_file:
                        batch = batch.append_column(name, self.partition_column(name, text, batch.num_rows))
                yield batch

    def partition_column(self, name: str, text: str, n: int) -> Any:
        """The column of a partition."""
        import pyarrow

        if text == places.NULL_PARTITION:
            return pyarrow.nulls(n, pyarrow.string())
        return pyarrow.repeat(int(text) if name in self.whole else text, n)

    @contextlib.contextmanager
    def name_errors(self) -> Iterator[None]:
        """Within it, pyarrow's errors about one of several files name it."""
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, NotImplementedError) as error:
            if not self.several:
                raise
            raise FormatError(str(error), self.name) from None

    def head(self, name: str) -> Any:
        """The values of a column in the first rows of the part that is open."""
        batch = next(self.table.iter_batches(SAMPLE_ROWS, columns=[name], use_threads=False), None)
        return None if batch is None else batch.column(0).to_numpy(zero_copy_only=False)

    def position(self) -> int:
        return self.done + self.file.tell()

    def readers(self, readers: list[Any]) -> list[Any]:
        return [FileColumn(reader, self.name, self.before) for reader in readers] if self.several else readers


class SplitTable:
    """A table in Parquet files, of which threads read a row group each.

    Parameters
    ----------
    fresh : function
        Makes a Parquet that has been looked at, for one thread.
    watch : function of (position), or None
        Called with the number of bytes that have been read, of two passes half as many.
    """

    fresh: Callable[[], Parquet]
    watch: Watch | None

    def __init__(self, fresh: Callable[[], Parquet], watch: Watch | None) -> None:
        self.fresh, self.watch = fresh, watch
        self.files: dict[int, Parquet] = {}  # by thread
        self.locks: dict[int, threading.Lock] = {}  # of each: held while it reads
        self.closed: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True
        for lock in self.locks.values():
            lock.acquire(timeout=LOCK_SECONDS)  # of Ctrl-C: a thread may have a batch in its hands

    def rows(self, enough: int) -> int:
        """How many rows the table has, or at least `enough`; opens no more files than it must."""
        rows = 0
        for group in self.fresh().groups():
            rows += group.footer.row_group(group.number).num_rows
            if rows >= enough:
                break
        return rows

    def groups(self, number: int) -> Iterator[Group]:
        """The row groups of all parts, for the pass of this number."""
        file = self.fresh()
        size = sum(places.place_size(part.place) for part in file.parts)
        for group in file.groups():
            if self.watch is not None:
                self.watch((number * size + group.position) // 2)
            yield group

    def read(self, t: int, group: Group, names: tuple[Any, ...]) -> Iterator[list[Any]]:
        """The readers of the batches of a row group, for thread t."""
        if t not in self.files:
            self.files[t], self.locks[t] = self.fresh(), threading.Lock()
        file = self.files[t]
        batches = file.group_batches(group, names)
        while not self.closed:
            with self.locks[t]:
                batch = next(batches, None) if not self.closed else None
            if batch is None:
                return
            for readers in read_arrow(batch, names, []):
                yield file.readers(readers)


def whole_numbers(parts: list[places.Part]) -> set[str]:
    """The columns of partitions with only integers as Python writes them."""
    texts: dict[str, set[str]] = {}
    for part in parts:
        for name, text in part.partition.items():
            texts.setdefault(name, set()).add(text)
    return {name for name, values in texts.items() if all(map(is_whole, values - {places.NULL_PARTITION}))}


def is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text and abs(int(text)) < 2**63
    except ValueError:
        return False
