"""The formats of files, each a line here: who reads it, who writes it, and by what names a file is known to be one.

A reader is called with (path, is_run, duplicates, watch) and returns (query_ids, offsets, ids, numbers, repairs), as
`trec.read` says; `table_files` reads those of TABLES. A writer is called with a binary file, ``{query_id: {doc_id:
number}}`` or what can be read like it, and is_run.
"""

import functools
import os

from fastir.columns.line_formats import WITH_GROUPS
from fastir.errors import quote
from fastir.inputs import files, trec
from fastir.request.options import DUPLICATES, one_of


def read_json(path, is_run, duplicates, watch):
    from fastir.inputs import json_files

    return json_files.read(path, is_run, duplicates, watch)


READERS = {
    "trec": trec.read,
    "beir": functools.partial(trec.read, format="beir"),
    "msmarco": functools.partial(trec.read, format="msmarco"),
    "json": read_json,
    **{format: functools.partial(trec.read, format=format) for format in WITH_GROUPS},
}
TABLES = ("csv", "jsonl", "parquet")  # read by table_files
WRITERS = ("trec", "json", "parquet")  # functions of writers
SUFFIXES = {".json": "json", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}  # else TREC


def format_of(path):
    """The format that a file's name stands for; .gz and .zst do not count."""
    name = os.fsdecode(path)
    if files.packing_of(name):
        name = os.path.splitext(name)[0]
    return SUFFIXES.get(os.path.splitext(name)[1].lower(), "trec")


def read(path, is_run, format, duplicates, columns=None, watch=None):
    """What the reader of a format makes of a file; None is the format of its name.

    columns : dict or None
        As for `tables.Table`; of no use but for tables.
    watch : function of (position), or None
        Called now and then with how much of the file was read, 0 where that is unknown; may raise.
    """
    one_of("format", format, (None, *TABLES, *(name for name in READERS if not is_run or name not in WITH_GROUPS)))
    one_of("duplicates", duplicates, DUPLICATES)
    if not is_run and path == "-":
        raise ValueError("qrels cannot be read from standard input; expected a path")
    format = format or format_of(path)
    if format in TABLES:
        from fastir.inputs import table_files

        return table_files.read(path, is_run, format, duplicates, columns, watch)
    return READERS[format](path, is_run, duplicates, watch)


def write(path, data, is_run, format):
    """Save judgments or rankings in one step; None is the format of the name."""
    one_of("format", format, (None, *WRITERS))
    path = os.fsdecode(path)
    format = format or format_of(path)
    if format not in WRITERS or (format == "parquet" and files.packing_of(path)):
        what = "packed Parquet" if format in WRITERS else format
        raise ValueError(f"cannot write {quote(path)}: {what} can only be read; expected {', '.join(WRITERS)}")
    from fastir.inputs import writers

    with files.created(path) as file:
        try:
            getattr(writers, format)(file, data, is_run)
        except ValueError as error:
            raise ValueError(f"cannot write {quote(path)}: {error}") from None
