"""Saved JudgedRankings: the arrays as .npz, or a row per query as .parquet; what decided their order is in a head.

.npz      the arrays by their names, the query ids as bytes with offsets, and the head as JSON in bytes
.parquet  query_id, missing, num_ret, and lists of ranks, labels and ideal_labels; the head in the metadata
"""

from __future__ import annotations

import io
import itertools
import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np

from fastir.errors import FormatError, quote
from fastir.results.report import Report
from fastir.results.saved_files import KEY, arrow_modules, checked_head, head_of
from fastir.text import replacing

KIND = "judged rankings"
LISTS = {"ranks": "offsets", "labels": "offsets", "ideal_labels": "ideal_offsets"}
BROKEN = (  # what reading a file of bytes that were changed may raise
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)
Saved = tuple[list[Any], dict[str, Any], dict[str, Any]]  # query ids, arrays, and the other fields


def write_rankings(path: Any, query_ids: list[Any], arrays: dict[str, np.ndarray], fields: dict[str, Any]) -> None:
    """Write; see `JudgedRankings.save`."""
    suffix = ".npz" if hasattr(path, "write") else os.path.splitext(os.fsdecode(path))[1].lower()
    report = {name: getattr(fields["report"], name) for name in Report.__slots__}
    head = head_of(KIND, {**fields, "report": report, "integers": bool(query_ids) and type(query_ids[0]) is int})
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


def read_rankings(path: Any) -> Saved:
    """What was written; that the arrays fit is not checked here.

    Raises
    ------
    FormatError
        It was not written by `write_rankings`, or was cut.
    """
    if hasattr(path, "read"):
        path, content = str(getattr(path, "name", "file")), path.read()
        query_ids, arrays, head = from_npz(path, content)
    elif os.fsdecode(path).lower().endswith(".parquet"):
        query_ids, arrays, head = from_parquet(os.fsdecode(path))
    else:
        with open(path, "rb") as file:
            path, content = os.fsdecode(path), file.read()
        query_ids, arrays, head = from_npz(path, content)
    try:
        report = {**head["report"], "repairs": {kind: tuple(of) for kind, of in head["report"]["repairs"].items()}}
        fields = {**{name: head[name] for name in ("ties", "score_dtype", "duplicates")}, "report": Report(**report)}
        return list(map(int, query_ids)) if head["integers"] else query_ids, arrays, fields
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{KIND} that were cut or changed: {error}", path) from None


def own_head(path: str, text: bytes) -> dict[str, Any]:
    head = checked_head(path, text)
    if head["kind"] != KIND:
        raise FormatError(f"it holds {head['kind']}, not {KIND}", path)
    return head


def from_npz(path: str, content: bytes) -> Saved:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as given:
            arrays = {name: given[name] for name in given.files}
        head, ids, ends = (arrays.pop(name) for name in ("head", "ids", "ends"))
        text = ids.tobytes()
        query_ids = [text[start:end].decode("utf-8", "surrogateescape") for start, end in itertools.pairwise(ends)]
    except BROKEN as error:
        raise FormatError(f"no saved {KIND}, or cut or changed: {error}", path) from None
    return query_ids, arrays, own_head(path, head.tobytes())


def from_parquet(path: str) -> Saved:
    _, parquet = arrow_modules(path)
    with open(path, "rb") as file:
        try:
            table = parquet.read_table(file).combine_chunks()
        except (OSError, ValueError) as error:
            raise FormatError(f"no Parquet file: {error}", path) from None
    head = own_head(path, (table.schema.metadata or {}).get(KEY.encode(), b"null"))
    arrays = {}
    try:
        for name in ("missing", "num_ret"):
            arrays[name] = table.column(name).to_numpy()
        for name, offsets in LISTS.items():
            lists = table.column(name).combine_chunks()
            arrays[name] = lists.flatten().to_numpy(zero_copy_only=False)
            arrays[offsets] = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False))])
        query_ids = table.column("query_id").to_pylist()
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise FormatError(f"{KIND} that were cut or changed: {error}", path) from None
    return query_ids, arrays, head
