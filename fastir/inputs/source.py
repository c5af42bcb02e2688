"""Source: a caller's qrels or run, with its kind, its size and its first bytes, each determined once.

A dict, a Qrels and a Run are not wrapped. A file of this machine is a FileSource, a path that `open` takes. Internal
functions take a Source wherever they take a caller's object. `input_shape` is the kind of a Source; for a mapping, it
is the kind of its values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from fastir.engine.columns._dicts import is_nested
from fastir.engine.columns.id_lists import is_mapping
from fastir.engine.columns.rows import Rows
from fastir.inputs import library_tables, places, roles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.engine.columns.rows import Rows

HEAD_BYTES = 1 << 10  # that are read to recognise a format

PLACE, IN_MEMORY, IR_DATASETS, TUPLES, UNKNOWN = "place", "table in memory", "ir_datasets", "tuples", "unknown"


class Source:
    """A place of bytes, a table, or an object that is neither.

    Parameters
    ----------
    data : object
        What the caller gave.
    kind : str
        PLACE, IN_MEMORY, IR_DATASETS, TUPLES or UNKNOWN.
    """

    def __init__(self, data: Any, kind: str) -> None:
        self.data = data
        self.kind = kind

    is_file = False


class FileSource(Source, places.LocalPath):
    """A path of this machine, be it of a file, of a folder, a pattern, or of nothing."""

    def __init__(self, data: Any) -> None:
        super().__init__(data, PLACE)

    def __repr__(self) -> str:
        return repr(self.data)

    @cached_property
    def is_file(self) -> bool:  # type: ignore[override]
        """Whether it is a regular file."""
        return os.path.isfile(self.data)

    @cached_property
    def n_bytes(self) -> int:  # type: ignore[override]
        """The size of a file."""
        return os.path.getsize(self.data)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file, as they are written."""
        with open(self.data, "rb", 0) as file:
            return file.read(HEAD_BYTES)


def as_source(data: Any) -> Any:
    """What a caller brings as a Source; a mapping, a Qrels, a Run and a Source as they are."""
    if type(data) is dict or isinstance(data, (Source, Rows)):
        return data
    if not isinstance(data, str):
        if isinstance(data, Mapping):
            return data
        if library_tables.is_in_memory(data):
            return Source(data, IN_MEMORY)
    if library_tables.is_of_ir_datasets(data):
        return Source(data, IR_DATASETS)
    if isinstance(data, (str, bytes, os.PathLike)):
        return FileSource(data) if data != "-" and places.is_local(data) else Source(data, PLACE)
    if type(data) is list:
        return Source(data, TUPLES)
    return Source(data, PLACE if places.is_file_object(data) or places.is_remote(data) else UNKNOWN)


def as_file(data: Any) -> Any:
    """A path of this machine as a FileSource; anything else as it is."""
    source = as_source(data) if isinstance(data, (str, bytes, os.PathLike)) else data
    return source if isinstance(source, FileSource) else data


def data_of(source: Any) -> Any:
    """What the caller gave; a FileSource is as good as its path."""
    return source.data if isinstance(source, Source) and not isinstance(source, FileSource) else source


# ---- shapes of qrels and runs ----------------------------------------------------------------------------------------


class ArrowStream(Protocol):
    """What hands out its rows as Arrow record batches: frames, tables and readers of many libraries."""

    def __arrow_c_stream__(self, requested_schema: object | None = None, /) -> object: ...


class ArrowArray(Protocol):
    """What hands out its rows as one Arrow record batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None, /) -> tuple[object, object]: ...


class Frame(Protocol):
    """A data frame of pandas."""

    @property
    def iloc(self) -> Any: ...

    @property
    def columns(self) -> Any: ...


class Scanner(Protocol):
    """What hands out its rows as record batches: a Dataset or a Scanner of pyarrow."""

    def to_batches(self) -> Iterable[Any]: ...


class HuggingDataset(Protocol):
    """A Dataset of Hugging Face."""

    def with_format(self, type: Any = None, /) -> Any: ...


Table = (
    ArrowStream
    | ArrowArray
    | Frame
    | Scanner
    | HuggingDataset
    | Mapping[str, "ArrayLike"]
    | Iterable[tuple[Any, Any, Any]]
)

DICTS = "dicts"  # a dict whose values are dicts
LISTS = "lists"  # a mapping of each query to what it ranks or what is relevant, without numbers
PATH = "path"  # a path, or another place of bytes
COLUMNS = "columns"  # ListColumns
HELD_OBJECT = "held"  # a Qrels or a Run, as the caller of input_shape says
TABLE = "table"
OTHER_OBJECT = "other"  # some other mapping of mappings, or an object that cannot be read


def input_shape(data: Any, held: type[Rows], columns: Mapping[Any, Any] | None = None) -> str:
    """The shape of `data`; an instance of `held` needs no reading.

    A mapping is a table if it has the columns of one, whose names `columns` may say; else its keys are query ids.
    """
    if is_nested(data):
        return DICTS
    if type(data) is dict and len(data) == 1 and type(next(iter(data.values()))) is list:
        return LISTS  # a single query, for which what follows would take as long as its evaluation
    if isinstance(data, held):
        return HELD_OBJECT
    data = as_source(data)
    if isinstance(data, Source):
        if data.kind != UNKNOWN:
            return PATH if data.kind == PLACE else TABLE
        data = data.data
    from fastir.inputs.id_lists import ListColumns

    if isinstance(data, ListColumns):
        return COLUMNS
    if isinstance(data, Mapping):
        if type(data) is not dict:
            library_tables.refuse(data, held.__name__.lower())
        if len(data) > 1 and roles.has_columns(data, held.__name__.lower(), columns):
            return TABLE
        return OTHER_OBJECT if is_mapping(next(iter(data.values()), {})) else LISTS
    library_tables.refuse(data, held.__name__.lower())
    from fastir.inputs import tables

    return TABLE if tables.is_table(data) else OTHER_OBJECT
