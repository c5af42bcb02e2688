"""The formats of files: for each the function that reads it, the one that writes it, and the ends of file names.

A reader is called with (path, is_run, duplicates, watch), and one of lines perhaps with `only`, and returns (query_ids,
offsets, ids, numbers, repairs), as `trec.read` says; `table_files` reads the formats of TABLES. A writer is called with
a binary file, a ``{query_id: {doc_id: number}}`` (or an object that can be read like it), and is_run.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fastir.checks import check_choice
from fastir.engine.columns.ids import encode
from fastir.engine.columns.line_formats import QRELS_ONLY
from fastir.engine.columns.other_formats import HEADER
from fastir.errors import FormatError, quote
from fastir.inputs import files, places
from fastir.inputs.source import as_source
from fastir.request.options import DUPLICATES

if TYPE_CHECKING:
    from fastir.inputs.files import Path, Watch
    from fastir.inputs.writers import Nested


def read_lines(
    path: Path, is_run: bool, duplicates: str | None, watch: Watch | None, only: bytes | None = None, *, format: str
) -> tuple:
    """What `trec.read` returns; the reader of lines is imported by the first call."""
    from fastir.inputs import trec

    return trec.read(path, is_run, duplicates, watch, format, only)


def read_json(path: Path, is_run: bool, duplicates: str | None, watch: Watch | None, query_ids: Any = None) -> tuple:
    """What `json_files.read` returns; json is imported by the first call."""
    from fastir.inputs import json_files

    return json_files.read(path, is_run, duplicates, watch, query_ids)


def read_quepid(path: Path, is_run: bool, duplicates: str | None, watch: Watch | None) -> tuple:
    """What `quepid.read` returns; csv is imported by the first call."""
    from fastir.inputs import quepid

    return quepid.read(path, is_run, duplicates, watch)


LINES = ("trec", "trec_eval", "beir", "msmarco")
RUN_READERS: dict[str, Callable[..., tuple]] = {  # of formats that runs and qrels have
    **{format: functools.partial(read_lines, format=format) for format in LINES},
    "json": read_json,
    "quepid": read_quepid,
}
QRELS_READERS: dict[str, Callable[..., tuple]] = {  # of formats that no run has
    format: functools.partial(read_lines, format=format) for format in QRELS_ONLY
}
READERS = RUN_READERS | QRELS_READERS
TREC = ("trec", "trec_eval")  # what files are whose names say nothing: the latter in the conventions of tools
TABLES = ("csv", "jsonl", "parquet")  # read by table_files
WRITERS = ("trec", "json", "parquet")  # functions of writers
PARQUET = b"PAR1"  # its first bytes
SUFFIXES = {".json": "json", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}  # else TREC


def file_format(path: Any, lines: str = "trec") -> str:
    """The format that the name of a place stands for, .gz and .zst do not count.

    A folder stands for Parquet, and so does a pattern unless it is one of JSON files.

    Any other name stands for `lines`, unless the file begins with BEIR's header. A file object without such a name is
    Parquet if its first bytes say so.
    """
    name = places.place_name(path)
    if files.file_packing(name):
        name = os.path.splitext(name)[0]
    by_suffix = SUFFIXES.get(os.path.splitext(name)[1].lower())
    if places.is_many(path):
        return "json" if by_suffix == "json" else "parquet"
    return by_suffix or begun_as(path) or lines


def begun_as(path: Any) -> str | None:
    """The format that the first bytes of a file tell, None if they tell none or could be read only once.

    What the file is damaged by is found by whoever reads it.
    """
    is_object = places.is_file_object(path)
    if not (places.reopens(path) if is_object else places.on_disk(path)):
        return None
    length = 2 * len(HEADER)
    try:
        head = places.opened(path).read(length) if is_object else as_source(path).head[:length]
        if is_object and head.startswith(PARQUET):
            return "parquet"
        if files.packed_as(head[: files.HEAD]):
            with files.ByteReader(path) as source:
                head = source.read(length)
    except (FormatError, OSError):
        return None
    line = head.removeprefix(files.BOM).partition(b"\n")[0]
    return "beir" if line.strip() == HEADER.encode() else None


def read(
    path: Any,
    is_run: bool,
    format: str | None,
    duplicates: str | None,
    columns: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    threshold: float | None = None,
    only: str | None = None,
    query_ids: Any = None,
) -> tuple[Any, ...]:
    """Read a file in a format; None is the format of its name.

    Parameters
    ----------
    path : str or path
    is_run : bool
    format : str or None
    duplicates : None, "first", "last", "max" or "once"
    columns : mapping or None
        The names of a table's columns, as for `tables.Table`; other formats ignore it.
    watch : function of (position), or None
        Called repeatedly with the number of bytes read of the file, 0 if unknown; may raise.
    threshold : float or None
        The numbers of a table are ratings, and those from it on become 1, the others 0.
    only : str or None
        The one query that is wanted; a file of lines is then read without keeping the rows of others.
    query_ids : list of str, path or None
        The queries of JSON files of search responses, as `search_responses.given_ids` takes them.

    Returns
    -------
    tuple
        query_ids, offsets, ids, numbers, repairs: see `trec.read`.

    Raises
    ------
    ValueError
        The format or the rule for duplicates does not exist, or qrels are to be read from standard input; a threshold
        is given for a file that is no table, or query ids for one that is no JSON.
    FormatError, DuplicateError, OSError
        The file does not have the expected content, or cannot be read.
    """
    check_choice("format", format, (None, *TABLES, *(RUN_READERS if is_run else READERS)))
    check_choice("duplicates", duplicates, DUPLICATES)
    if not is_run and isinstance(path, str) and path == "-":
        raise ValueError("qrels cannot be read from standard input; expected a path")
    format = format or file_format(path)
    if query_ids is not None:
        if format != "json":
            raise ValueError(f"query_ids is for responses of searches in JSON, got format {format!r}")
        from fastir.inputs import search_responses

        return read_json(path, is_run, duplicates, watch, search_responses.given_ids(query_ids))
    if format in TABLES:
        from fastir.inputs import table_files

        return table_files.read(path, is_run, format, duplicates, columns, watch, threshold)
    if threshold is not None:
        raise ValueError(f"threshold is for ratings in a table, {', '.join(TABLES)}; got format {format!r}")
    if only is not None and format in LINES:
        return READERS[format](path, is_run, duplicates, watch, encode(only))
    return READERS[format](path, is_run, duplicates, watch)


def write(path: Path, data: Nested, is_run: bool, format: str | None) -> None:
    """Save judgments or rankings in one step; None is the format of the name.

    Raises
    ------
    ValueError
        The format cannot be written, or cannot hold an id or a number.
    OSError
        The file cannot be written; its old content is untouched.
    """
    from fastir.inputs import writers

    check_choice("format", format, (None, *WRITERS))
    path = os.fsdecode(path)
    format = format or file_format(path)
    if format not in WRITERS or (format == "parquet" and files.file_packing(path)):
        what = "packed Parquet" if format in WRITERS else format
        raise ValueError(f"cannot write {quote(path)}: {what} can only be read; expected {', '.join(WRITERS)}")

    with files.created(path) as file:
        try:
            getattr(writers, format)(file, data, is_run)
        except ValueError as error:
            raise ValueError(f"cannot write {quote(path)}: {error}") from None
