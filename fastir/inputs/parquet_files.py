"""Parquet: one file, or the files of a folder or pattern, as one table, with the columns of hive partitions.

The files are read one after the other, so that each keeps its own types and an error can name its file and row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from fastir.errors import FormatError
from fastir.inputs import places
from fastir.inputs.tables import OfPart

ROWS = 1 << 16  # rows that pyarrow decodes at a time
BUFFER = 1 << 20  # bytes that it reads at a time


class Parquet:
    """Parquet files as one table; they are packed in their own way only."""

    repairs: ClassVar[dict[str, tuple[int, str]]] = {}

    def __init__(self, path: Any) -> None:
        self.parts: list[places.Part] = places.parts_of(path)
        self.several: bool = places.is_many(path)
        self.open_files = contextlib.ExitStack()
        self.file: Any = None
        self.done: int = 0  # bytes of the files before
        self.before: int = 0  # rows of them
        self.name: str = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.open_files.close()

    def look(self) -> None:
        self.whole: set[str] = whole_numbers(self.parts)
        self.table: Any = self.opened(self.parts[0])
        self.names: list[str] = self.columns_of(self.parts[0])

    def opened(self, part: places.Part) -> Any:
        """A part as pyarrow's ParquetFile; the part before it is closed."""
        from pyarrow.parquet import ParquetFile

        self.open_files.close()
        self.name = places.name_of(part.place)
        self.file = self.open_files.enter_context(contextlib.closing(places.opened(part.place)))
        with self.naming():
            return ParquetFile(self.file, buffer_size=BUFFER, pre_buffer=False)

    def columns_of(self, part: places.Part) -> list[str]:
        """The names of the columns of the part that is open."""
        own = self.table.schema_arrow.names
        return [*own, *(name for name in part.partition if name not in own)]

    def batches(self, names: tuple[Any, ...]) -> Iterator[Any]:
        for number, part in enumerate(self.parts):
            if number:
                self.done += self.file.tell()
                self.table = self.opened(part)
                known = self.columns_of(part)
                missing = next((name for name in names if name not in known), None)
                if missing is not None:
                    raise FormatError(f"the file has no column {missing!r}, which the others have", self.name)
            for batch in self.rows(part, names):
                yield batch
                self.before += batch.num_rows
            self.before = 0

    list_batches = batches

    def rows(self, part: places.Part, names: tuple[Any, ...]) -> Iterator[Any]:
        """The batches of the part that is open, with these columns."""
        own = set(self.table.schema_arrow.names)
        with self.naming():
            for batch in self.table.iter_batches(
                ROWS, columns=[name for name in names if name in own], use_threads=False
            ):
                for name, text in part.partition.items():
                    if name in names and name not in own:
                        batch = batch.append_column(name, self.constant(name, text, batch.num_rows))
                yield batch

    def constant(self, name: str, text: str, n: int) -> Any:
        """The column of a partition."""
        import pyarrow

        if text == places.NULL:
            return pyarrow.nulls(n, pyarrow.string())
        return pyarrow.repeat(int(text) if name in self.whole else text, n)

    @contextlib.contextmanager
    def naming(self) -> Iterator[None]:
        """Within it, pyarrow's errors about one of several files name it."""
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, NotImplementedError) as error:
            if not self.several:
                raise
            raise FormatError(str(error), self.name) from None

    def position(self) -> int:
        return self.done + self.file.tell()

    def readers(self, readers: list[Any]) -> list[Any]:
        return [OfPart(reader, self.name, self.before) for reader in readers] if self.several else readers


def whole_numbers(parts: list[places.Part]) -> set[str]:
    """The columns of partitions all of whose values are integers as Python writes them."""
    texts: dict[str, set[str]] = {}
    for part in parts:
        for name, text in part.partition.items():
            texts.setdefault(name, set()).add(text)
    return {name for name, found in texts.items() if all(map(is_whole, found - {places.NULL}))}


def is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text and abs(int(text)) < 2**63
    except ValueError:
        return False
