"""Source: a caller's qrels or run, with its kind, its size and its first bytes, each determined once.

A dict, a Qrels and a Run are not wrapped. A file of this machine is a FileSource, a path that `open` takes. Internal
functions take a Source wherever they take a caller's object.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from fastir.engine.columns.rows import Rows
from fastir.inputs import library_tables, places

HEAD_BYTES = 1 << 10  # that are read to recognise a format

PLACE, IN_MEMORY, IR_DATASETS, TUPLES, UNKNOWN = "place", "table in memory", "ir_datasets", "tuples", "unknown"


class Source:
    """A source of bytes, a table, or an object that is neither: a PLACE, IN_MEMORY, IR_DATASETS, TUPLES or UNKNOWN."""

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
        """The first bytes of a file, before decompression."""
        with open(self.data, "rb", 0) as file:
            return file.read(HEAD_BYTES)


def as_source(data: Any) -> Any:
    """A caller's object as a Source; a mapping, a Qrels, a Run and a Source unchanged."""
    if type(data) is dict or isinstance(data, (Source, Rows)):
        return data
    if not isinstance(data, str):
        if isinstance(data, Mapping):
            return data
        if library_tables.is_in_memory(data):
            return Source(data, IN_MEMORY)
    if library_tables.is_of_ir_datasets(data):
        return Source(data, IR_DATASETS)
    if places.is_path(data):
        return FileSource(data) if data != "-" and places.is_local(data) else Source(data, PLACE)
    if type(data) is list:
        return Source(data, TUPLES)
    if places.is_file_object(data) or places.is_remote(data):
        return Source(data, PLACE)
    table = library_tables.convert(data)
    return Source(data, UNKNOWN) if table is data else as_source(table)


def as_file(data: Any) -> Any:
    """A path of this machine as a FileSource; any other object unchanged."""
    source = as_source(data) if places.is_path(data) else data
    return source if isinstance(source, FileSource) else data


def data_of(source: Any) -> Any:
    """What the caller gave; a FileSource is as good as its path."""
    return source.data if isinstance(source, Source) and not isinstance(source, FileSource) else source
