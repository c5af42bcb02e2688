"""Runs that are Parquet files: the workers read them, and no row passes through the JVM.

    grouped, lists, two passes   file ─▶ its rows ─▶ a state
    shuffle                      file ─▶ its rows in packs, one for each bucket of queries
                                      ─▶ the packs of a partition ─▶ their rows ─▶ a state

A file takes the role of a partition of a DataFrame. The JVM gets the few numbers of files, packs and states; a pack
is a binary value, a stream of Arrow. Spark finds the files and says what types their columns have.
"""

from __future__ import annotations

import itertools
import os
import urllib.parse
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.engine.columns._ids import encode
from fastir.spark import tasks

if TYPE_CHECKING:
    import pyarrow

PACKS = "bucket int, rows binary"  # a schema of Spark
BLOCK_ROWS = 1 << 20  # that a task has before it packs them
BUCKETS_PER_PARTITION = 4  # or more, so that partitions have about as many queries, and a worker holds few at a time
PYARROW_SCHEMES = {"file": "file", "hdfs": "hdfs", "gs": "gs", "abfs": "abfs", "abfss": "abfss"} | dict.fromkeys(
    ("s3", "s3a", "s3n"), "s3"
)  # {scheme of Spark: scheme}

Function = Callable[..., Iterator[Any]]  # of the batches of a partition, and in words where these are from


class Files(NamedTuple):
    """Files that the workers can read; the schema has the columns that are read, in their order."""

    uris: tuple[str, ...]
    schema: pyarrow.Schema


def is_paths(run: Any) -> bool:
    """Whether a run is a path or several."""
    return is_path(run) or (isinstance(run, (list, tuple)) and bool(run) and all(map(is_path, run)))


def is_path(run: Any) -> bool:
    return isinstance(run, (str, os.PathLike))


def readable_files(frame: Any) -> Files | None:
    """The files of a DataFrame that is all rows of some; None if pyarrow does not know such addresses."""
    uris = []
    for uri in frame.inputFiles():
        scheme, colon, rest = uri.partition(":")
        if scheme not in PYARROW_SCHEMES:
            return None
        uris.append(PYARROW_SCHEMES[scheme] + colon + rest)
    return Files(tuple(sorted(uris)), frame.limit(0).toArrow().schema)


def map_files(session: Any, files: Files, by_query: bool, function: Function) -> Any:
    """Map a function over the files, or over the queries in some buckets, after a shuffle of their rows."""
    n_files = len(files.uris)
    numbers = session.range(0, n_files, 1, n_files)  # of which each partition has one
    if not by_query:
        return numbers.mapInArrow(of_file(files, function), tasks.ANSWER_SCHEMA)
    packs = numbers.mapInArrow(of_file(files, make_packer(n_buckets(session))), PACKS)
    return packs.repartition("bucket").mapInArrow(of_packs(function), tasks.ANSWER_SCHEMA)


def n_buckets(session: Any) -> int:
    """Into how many buckets queries are divided, by the partitions of a shuffle."""
    return BUCKETS_PER_PARTITION * int(session.conf.get("spark.sql.shuffle.partitions"))


# ---- on a worker -----------------------------------------------------------------------------------------------------
def of_file(files: Files, function: Function) -> Function:
    """A function of the rows of a file, as one for mapInArrow over the number of a file."""

    def read_file(numbers: Iterator[Any]) -> Iterator[Any]:  # pickled by value, as in `tasks`
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from function(
                    batches_of(files.uris[number], files.schema), f"file {file_name(files.uris[number])}"
                )

    return read_file


def file_name(uri: str) -> str:
    """The name of a file, as errors show it."""
    return repr(urllib.parse.unquote(uri.removeprefix("file://")))


def batches_of(uri: str, schema: pyarrow.Schema) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of a file; columns missing from it are read from the names of its folders: run=bm25."""
    import pyarrow
    from pyarrow import dataset

    has = dataset.dataset(uri, format="parquet").schema.names
    of_folders = dataset.partitioning(pyarrow.schema([each for each in schema if each.name not in has]), flavor="hive")
    rows = dataset.dataset(uri, schema, format="parquet", partitioning=of_folders)
    return iter(rows.to_batches(columns=schema.names, use_threads=False))


def make_packer(n: int) -> Function:
    """The function that makes packs of rows, for n buckets of queries, which the first column has."""

    def packs(batches: Iterable[Any], _: str) -> Iterator[Any]:
        for rows in tasks.tables(batches, BLOCK_ROWS):
            yield pack_rows(rows, n)

    return packs


def pack_rows(rows: pyarrow.Table, n: int) -> pyarrow.RecordBatch:
    """A pack for each of n buckets that has rows."""
    import pyarrow

    coded = rows[0].combine_chunks().dictionary_encode(null_encoding="encode")
    bucket_of = np.array([zlib.crc32(encode(str(each))) % n for each in coded.dictionary.to_pylist()])
    buckets = bucket_of[coded.indices.to_numpy()]
    rising = np.argsort(buckets, kind="stable")
    [batch] = rows.take(rising).combine_chunks().to_batches()
    bounds = np.flatnonzero(np.diff(buckets[rising], prepend=-1, append=-1))
    sink, ends = pyarrow.BufferOutputStream(), [0]
    for first, end in itertools.pairwise(bounds):
        with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch.slice(first, end - first))
        ends.append(sink.tell())
    numbers = pyarrow.array(buckets[rising[bounds[:-1]]], pyarrow.int32())
    places = pyarrow.py_buffer(np.array(ends, np.int32))
    packs = pyarrow.Array.from_buffers(pyarrow.binary(), len(numbers), [None, places, sink.getvalue()])
    return pyarrow.RecordBatch.from_arrays([numbers, packs], ["bucket", "rows"])


def of_packs(function: Function) -> Function:
    """A function of the rows of a partition, as one for mapInArrow over packs."""

    def read_packs(packs: Iterator[Any]) -> Iterator[Any]:
        return function(unpack_rows(packs))

    return read_packs


def unpack_rows(packs: Iterator[Any]) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow

    for batch in packs:
        for pack in batch.column(1):
            yield from pyarrow.ipc.open_stream(pack.as_buffer())
