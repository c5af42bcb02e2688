"""The shape of a caller's qrels or run: for a Source, what it is; for a mapping, what its values are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from fastir.engine.columns._dicts import is_nested
from fastir.engine.columns.id_lists import is_mapping
from fastir.inputs import library_tables, roles
from fastir.inputs.source import PLACE, UNKNOWN, Source, as_source

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastir.engine.columns.rows import Rows

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

DICTS = "dicts"  # a dict of dicts
LISTS = "lists"  # a mapping of each query to what it ranks or what is relevant, without numbers
PATH = "path"  # a path, or another source of bytes
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
