"""Judgments and rankings as text that reads back as the same ids, integers as their decimals, and the same numbers."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from fastir.engine.columns._ids import encode
from fastir.engine.columns._number_text import rows_text
from fastir.engine.columns.line_formats import bare
from fastir.engine.columns.rows import Rows
from fastir.errors import quote
from fastir.inputs.files import BOM, packing_from_bytes
from fastir.inputs.table_files import import_pyarrow

Nested = Rows | Mapping[Any, Mapping[Any, Any]]  # read by its keys alone, a query at a time

BATCH_ROWS = 1 << 18  # rows that are written to Parquet at a time
FORBIDDEN_CHARACTERS = re.compile("[ \t\n\v\f\r\0]")


def trec(file: BinaryIO, data: Nested, is_run: bool) -> None:
    """Write TREC lines; the rank is by descending score, then descending id."""
    begun = False
    for query_id, docs, numbers in columns(data):
        check_fields([query_id], "query")
        check_fields(docs, "document")
        if query_id.startswith("#"):
            raise ValueError(f"query id {quote(query_id)} begins with '#', like a comment of TREC; JSON can hold it")
        if not docs:
            raise ValueError(f"query {quote(query_id)} has no documents, which TREC lines cannot hold; JSON can")
        text: Any
        if is_run:
            heads = [f"{query_id} Q0 {doc} {rank} " for doc, rank in zip(docs, ranks(docs, numbers), strict=True)]
            text = rows_text(heads, np.array(numbers, float)[:, None], [b"", b" fastir\n"])
        else:
            lines_text = "".join([f"{query_id} 0 {doc} {label}\n" for doc, label in zip(docs, numbers, strict=True)])
            text = lines_text.encode("utf-8", "surrogateescape")
        first = bytes(text[:4])
        if not begun and (first.startswith(BOM) or packing_from_bytes(first)):
            raise ValueError(f"query id {quote(query_id)} begins like a file of another kind; JSON can hold it")
        begun = True
        file.write(text)


def groups(file: BinaryIO, data: Nested) -> None:
    """Write {query_id: {group_id: {doc_id: label}}} as TREC lines, the group as the iteration."""
    for query_id in data:
        for group_id, docs in data[query_id].items():
            query, group, ids = str(query_id), str(group_id), list(map(str, docs))
            check_fields([query], "query")
            check_fields([group], "group")
            check_fields(ids, "document")
            rows = zip(ids, docs.values(), strict=True)
            text = "".join([f"{query} {group} {doc} {label}\n" for doc, label in rows])
            file.write(text.encode("utf-8", "surrogateescape"))


def preferences(file: BinaryIO, data: dict[Any, Any]) -> None:
    """Write {query_id: {judge: {part: {doc_id: level}}}} as lines of five fields; a part without a name is called 0."""
    for query_id, judges in data.items():
        for judge, parts in judges.items():
            for part, docs in parts.items():
                fields, ids = [str(query_id), str(judge), str(part) or "0"], list(map(str, docs))
                for field, what in zip(fields, ("query", "judge", "part"), strict=True):
                    check_fields([field], what)
                check_fields(ids, "document")
                rows = zip(ids, docs.values(), strict=True)
                text = "".join([f"{' '.join(fields)} {doc} {level!r}\n" for doc, level in rows])
                file.write(text.encode("utf-8", "surrogateescape"))


def sample(file: BinaryIO, labels: Nested, numbers: Nested, format: str) -> None:
    """Write the labels of a sample with their strata, or with their probabilities as prels, all chosen by method 1."""
    for query_id in labels:
        query, docs, beside = str(query_id), labels[query_id], numbers[query_id]
        check_fields([query], "query")
        check_fields(list(map(str, docs)), "document")
        for doc_id, label in docs.items():
            number = beside.get(doc_id, "NA")
            fields = (query, 0, doc_id, number, label) if format == "strata" else (query, doc_id, label, 1, number)
            file.write((" ".join(map(str, fields)) + "\n").encode("utf-8", "surrogateescape"))


def json(file: BinaryIO, data: Nested, is_run: bool) -> None:
    """Write an object of objects, a line per query."""
    from json import dumps

    begin = "{"
    for query_id, docs, numbers in columns(data):
        check_text([query_id], "query")
        check_text(docs, "document")
        try:
            text = f"{begin}{dumps(query_id)}: {dumps(dict(zip(docs, numbers, strict=True)), allow_nan=False)}"
        except ValueError:
            place = next(place for place, number in enumerate(numbers) if number in (float("inf"), float("-inf")))
            where = f"query {bare(query_id)}, document {bare(docs[place])}"
            raise ValueError(f"JSON has no number for {numbers[place]} ({where})") from None
        file.write(text.encode())
        begin = ",\n"
    file.write(b"}\n" if begin != "{" else b"{}\n")


def parquet(file: BinaryIO, data: Nested, is_run: bool) -> None:
    """Write the columns query_id, doc_id and score or label; integer ids stay integers."""
    pyarrow = import_pyarrow()
    from pyarrow.parquet import ParquetWriter

    first = next(((query_id, doc_id) for query_id in data for doc_id in data[query_id]), ("", ""))
    kinds = [pyarrow.int64() if type(id) is int else pyarrow.string() for id in first]
    whole = not is_run and all(type(label) is int for query_id in data for label in data[query_id].values())
    number = ("score" if is_run else "label", pyarrow.int32() if whole else pyarrow.float64())
    schema = pyarrow.schema([*zip(("query_id", "doc_id"), kinds, strict=True), number])
    with ParquetWriter(file, schema) as writer:
        for rows in batches(data):
            try:
                arrays = [pyarrow.array(column, kind) for column, kind in zip(rows, schema.types, strict=True)]
            except UnicodeEncodeError as error:
                text = quote(error.object)
                raise ValueError(f"{text} is not UTF-8 text, which Parquet needs; JSON can hold it") from None
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def batches(data: Nested) -> Iterator[tuple[list[Any], list[Any], list[Any]]]:
    """The three columns as lists, some queries at a time."""
    rows: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for query_id in data:
        docs = data[query_id]
        if not docs:
            raise ValueError(f"query {quote(query_id)} has no documents, which a table cannot hold; JSON can")
        for column, more in zip(rows, ([query_id] * len(docs), docs, docs.values()), strict=True):
            column.extend(more)
        if len(rows[0]) >= BATCH_ROWS:
            yield rows
            rows = ([], [], [])
    yield rows


def columns(data: Nested) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Each query's id, document ids and numbers; integer ids as their decimal text."""
    for query_id in data:
        row = data[query_id]
        yield str(query_id), list(map(str, row)), list(row.values())


def ranks(docs: list[str], scores: list[float]) -> Sequence[int]:
    """The rank of each document, from 1."""
    if all(map(operator.gt, scores, itertools.islice(scores, 1, None))):
        return range(1, len(docs) + 1)
    places = [0] * len(docs)
    order = sorted(zip(scores, map(encode, docs), range(len(docs)), strict=True), reverse=True)
    for rank, (_, _, place) in enumerate(order, 1):
        places[place] = rank
    return places


def check_fields(ids: list[str], what: str) -> None:
    """Refuse ids that cannot be a field of a line."""
    if not all(ids) or FORBIDDEN_CHARACTERS.search("".join(ids)):
        bad = next(id for id in ids if not id or FORBIDDEN_CHARACTERS.search(id))
        raise ValueError(f"{what} id {quote(bad)} is empty or holds white space or NUL; JSON can hold it")
    check_text(ids, what)


def check_text(ids: Iterable[str], what: str) -> None:
    """Refuse ids with surrogates, unless each surrogate encodes a byte that is not UTF-8."""
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        for id in ids:
            if encode(id).decode("utf-8", "surrogateescape") != id:
                raise ValueError(f"{what} id {quote(id)} holds surrogates, which are not text") from None
