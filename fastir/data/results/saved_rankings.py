"""Saved JudgedRankings: the arrays as .npz, or a row per query as .parquet; what decided their order is in a head.

.npz      the arrays by their names, the query ids as bytes with offsets, and the head as JSON in bytes
.parquet  query_id, missing, num_ret, and lists of ranks, labels and ideal_labels; the head in the metadata

The head has a checksum of all other data in the file: Parquet has none of its own, and a changed rank may be a rank.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from fastir.data.results.report import Report
from fastir.data.results.saved import data_from_provenance, provenance_from, report_from
from fastir.data.results.saved_files import (
    CHECKSUM_KEY,
    KEY,
    arrow_modules,
    check_checksum,
    check_kind,
    convert_errors,
    file_head,
    is_saved,
    parquet_table,
    parse_head,
)
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.errors import FormatError, quote
from fastir.rendering.text import replacing

KIND = "judged rankings"
LISTS = {"ranks": "offsets", "labels": "offsets", "ideal_labels": "ideal_offsets"}
ARRAYS = frozenset(("missing", "num_ret", *LISTS, *LISTS.values()))
BROKEN_ZIP = EOFError, OSError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error
ZIP = b"PK"  # what an .npz begins with
Saved = tuple[list[Any], dict[str, Any], dict[str, Any]]  # query ids, arrays, and the head
Made = TypeVar("Made")


def write_rankings(path: Any, query_ids: list[Any], arrays: dict[str, np.ndarray], fields: dict[str, Any]) -> None:
    """Write; see `JudgedRankings.save`."""
    suffix = ".npz" if hasattr(path, "write") else os.path.splitext(os.fsdecode(path))[1].lower()
    report = {field: getattr(fields["report"], field) for field in Report.__slots__}
    provenance = fields["provenance"] and data_from_provenance(fields["provenance"])
    integers = bool(query_ids) and type(query_ids[0]) is int
    head = file_head(KIND, {**fields, "report": report, "provenance": provenance, "integers": integers})
    head[CHECKSUM_KEY] = checksum(json.loads(json.dumps(head)), query_ids, arrays)
    buffer = io.BytesIO()
    if suffix == ".npz":
        texts = [str(query_id).encode("utf-8", "surrogateescape") for query_id in query_ids]
        ends = np.cumsum([0, *map(len, texts)])
        ids = np.frombuffer(b"".join(texts), np.uint8)
        whole: dict[str, Any] = {**arrays, "head": np.frombuffer(json.dumps(head).encode(), np.uint8)}
        np.savez_compressed(buffer, ids=ids, ends=ends, **whole)
    elif suffix == ".parquet":
        _, parquet = arrow_modules(os.fsdecode(path))
        try:
            table = arrow_table(query_ids, arrays)
        except UnicodeError:
            raise ValueError(f"cannot write {quote(path)}: an id is not UTF-8") from None
        parquet.write_table(table.replace_schema_metadata({KEY: json.dumps(head)}), buffer, compression="zstd")
    else:
        raise ValueError(f"cannot save {KIND} as {path!r}: the name must end in .npz or .parquet")
    if hasattr(path, "write"):
        path.write(buffer.getvalue())
        return
    with replacing(path) as file:
        file.write(buffer.getvalue())


def arrow_table(query_ids: list[Any], arrays: dict[str, np.ndarray]) -> Any:
    """A pyarrow.Table with a row per query."""
    pyarrow, _ = arrow_modules(KIND)
    columns = {"query_id": pyarrow.array(query_ids, None if query_ids else pyarrow.string())}
    columns |= {name: pyarrow.array(arrays[name]) for name in ("missing", "num_ret")}
    for name, offsets in LISTS.items():
        columns[name] = pyarrow.LargeListArray.from_arrays(pyarrow.array(arrays[offsets]), pyarrow.array(arrays[name]))
    return pyarrow.table(columns)


def checksum(head: dict[str, Any], query_ids: list[Any], arrays: dict[str, np.ndarray]) -> int:
    """The checksum of a head as JSON gives it back, of the ids and of the arrays."""
    text = json.dumps(
        [{name: value for name, value in head.items() if name != CHECKSUM_KEY}, query_ids], sort_keys=True
    )
    total = zlib.crc32(text.encode())
    for _, array in sorted(arrays.items()):
        total = zlib.crc32(array.astype(array.dtype.newbyteorder("<")).tobytes(), total)
    return total


def read_rankings(path: Any, make: Callable[..., Made], arrays_of: Callable[[Made], dict[str, np.ndarray]]) -> Made:
    """What was written, as `make` makes it of query ids, arrays and the other fields; `arrays_of` has its arrays."""
    name = str(getattr(path, "name", "file")) if hasattr(path, "read") else os.fsdecode(path)
    if name.lower().endswith(".parquet") and not hasattr(path, "read"):
        query_ids, arrays, head = from_parquet(name)
    elif hasattr(path, "read"):
        query_ids, arrays, head = from_npz(name, path.read())
    else:
        with open(path, "rb") as file:
            query_ids, arrays, head = from_npz(name, file.read())
    with convert_errors(name, KIND):
        fields = {name: head[name] for name in ("ties", "score_dtype", "duplicates")}
        fields |= {"report": report_from(head["report"]), "provenance": provenance_from(head.get("provenance"))}
        query_ids = list(map(int, query_ids)) if head["integers"] else query_ids
        rankings = make(query_ids, **arrays, **fields)
        check_checksum(name, head, checksum(head, query_ids, arrays_of(rankings)) == head[CHECKSUM_KEY])
        return rankings


def are_rankings(path: Any) -> bool:
    """Whether a file of this machine is called and begins as those that `write_rankings` makes."""
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".npz":
        return zipfile.is_zipfile(name)
    if suffix != ".parquet" or not is_saved(name):
        return False
    _, parquet = arrow_modules(name)
    return bool(parse_head(name, parquet.read_metadata(name).metadata[KEY.encode()])["kind"] == KIND)


def from_npz(path: str, content: bytes) -> Saved:
    if content[: len(ZIP)] != ZIP:
        raise FormatError(f"no saved {KIND}", path)
    with convert_errors(path, KIND, *BROKEN_ZIP):
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            wanted = ARRAYS | {"head", "ids", "ends"}
            for name in sorted(wanted.symmetric_difference(archive.files)):  # nothing else is unpacked: it may be vast
                raise ValueError(f"{quote(name)} is {'missing' if name in wanted else 'none of its arrays'}")
            arrays = {name: archive[name] for name in archive.files}
        head, ids, ends = (arrays.pop(name) for name in ("head", "ids", "ends"))
        text = ids.tobytes()
        query_ids = [text[start:end].decode("utf-8", "surrogateescape") for start, end in itertools.pairwise(ends)]
    head = parse_head(path, head.tobytes())
    check_kind(path, head, KIND, [KIND])
    return query_ids, arrays, head


def from_parquet(path: str) -> Saved:
    head, table = parquet_table(path)
    check_kind(path, head, KIND, [KIND])
    arrays = {}
    with convert_errors(path, KIND):
        for name in ("missing", "num_ret"):
            arrays[name] = table.column(name).to_numpy()
        for name, offsets in LISTS.items():
            lists = table.column(name).combine_chunks()
            arrays[name] = lists.flatten().to_numpy(zero_copy_only=False)
            arrays[offsets] = offsets_from_sizes(lists.value_lengths().to_numpy(zero_copy_only=False))
        return table.column("query_id").to_pylist(), arrays, head
