"""Arrow IPC: files and streams, which Feather's second version is, too; pyarrow reads them batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from fastir.inputs import places
from fastir.inputs.misread import SAMPLE_ROWS

MAGIC = b"ARROW1"  # of a file; a stream has none


class ArrowFile:
    """A file of Arrow IPC as a table; it is compressed only inside, by Arrow."""

    repairs: ClassVar[dict[str, tuple[int, str]]] = {}

    def __init__(self, path: Any) -> None:
        self.file: Any = places.open_bytes(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def look(self) -> None:
        import pyarrow
        from pyarrow import ipc

        self.source: Any = pyarrow.PythonFile(self.file, "r")
        is_file = self.file.read(len(MAGIC)) == MAGIC
        self.file.seek(0)
        self.table: Any = ipc.open_file(self.source) if is_file else ipc.open_stream(self.source)
        self.names: list[str] = self.table.schema.names
        self.list_columns: set[str] = list_names(self.table.schema)

    def batches(self, names: tuple[Any, ...]) -> Iterator[Any]:
        """The batches with these columns."""
        n = getattr(self.table, "num_record_batches", None)
        for batch in self.table if n is None else map(self.table.get_batch, range(n)):
            yield batch.select(list(names))

    def head(self, name: str) -> Any:
        """The values of a column in the first rows of a file; a stream cannot be looked at before it is read."""
        return self.table.get_batch(0).column(name)[:SAMPLE_ROWS].to_numpy(zero_copy_only=False)

    def position(self) -> int:
        return self.file.tell()

    def readers(self, readers: list[Any]) -> list[Any]:
        return readers


def list_names(schema: Any) -> set[str]:
    """The names of the columns of lists."""
    from pyarrow import types

    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list
    return {field.name for field in schema if any(is_kind(field.type) for is_kind in kinds)}
