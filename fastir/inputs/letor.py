"""Files for learning to rank, and scores for their lines.

    LETOR, SVMrank, RankLib   ``label qid:query feature:value ... # document``; LETOR has ``#docid = document``
    LIBSVM                    the same without qid, as LightGBM and XGBoost read it: a file beside it, of the same name
                              and .query or .group behind it, has the number of lines of each query, from query 0 on
    scores                    a number on each line, for the lines of one of these: a run

Features are not read. A document without an id is called by its position in its query, from 0 up.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns._number import numbers_from_texts
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import NUMBER_PROBLEMS
from fastir.engine.columns.rows import offsets_from_sizes
from fastir.errors import FormatError, quote
from fastir.inputs import files, places
from fastir.inputs.files import ByteReader, Repairs, Watch
from fastir.inputs.grouping import gather
from fastir.inputs.json_files import fit_labels, wrong_label

GROUP_SUFFIXES = (".query", ".group")  # of LightGBM, of XGBoost


class LabelLines(NamedTuple):
    """The lines of a file."""

    path: str
    queries: list[str]
    first_rows: np.ndarray
    ids: Arena
    labels: np.ndarray
    numbers: Sequence[int]  # of the lines
    repairs: Repairs


def read(
    path: Any, is_run: bool, duplicates: str | None, watch: Watch | None = None, rows: Any = None
) -> tuple[Any, ...]:
    """Read a file as columns; see `formats`. A run is a file of scores for the lines of the file `rows`."""
    lines = read_labels(rows if is_run else path, None if is_run else watch)
    values, repairs = lines.labels, lines.repairs
    if is_run:
        texts, numbers, repairs = number_lines(path, watch)
        name = places.place_name(path)
        if len(texts) != len(lines.numbers):
            raise FormatError(f"the file has {len(texts)} scores, but {lines.path} has {len(lines.numbers)} rows", name)
        values = read_numbers(texts, "score", name, numbers)
    *columns, more = gather(*lines[1:4], values, is_run, duplicates, lines.path, lines.numbers.__getitem__, watch)
    return *columns, {**repairs, **more}


def read_labels(path: Any, watch: Watch | None) -> LabelLines:
    """The labels, queries and documents of the lines."""
    labels: list[bytes] = []
    qids: list[bytes | None] = []
    docs: list[bytes | None] = []
    numbers: list[int] = []
    with ByteReader(path) as source:
        content = source.read_all(watch)
    for number, line in enumerate(content.split(b"\n"), 1):
        before, _, comment = line.partition(b"#")
        fields = before.split(None, 2)
        if not fields:
            continue
        labels.append(fields[0])
        qids.append(fields[1][4:] if len(fields) > 1 and fields[1].startswith(b"qid:") else None)
        docs.append(document_in(comment) if comment else None)
        numbers.append(number)
    if not labels:
        raise FormatError("the qrels are empty: no judgment lines", source.path)
    values = read_numbers(labels, "label", source.path, numbers)
    if qids.count(None) < len(qids):
        refuse_gap(qids, "query (qid:...) behind the label", source.path, numbers)
        changes = [row for row, qid in enumerate(qids) if not row or qid != qids[row - 1]]
        queries = [text_of(qids[row]) for row in changes]
    else:
        sizes = group_sizes(path, source.path, len(labels))
        changes = offsets_from_sizes(sizes)[:-1].tolist()
        queries = list(map(str, range(len(sizes))))
    first_rows = np.array(changes, np.int64)
    if docs.count(None) < len(docs):
        refuse_gap(docs, "document behind '#'", source.path, numbers)
        ids = Arena.of(list(map(text_of, docs)))
    else:
        ids = Arena.of(positions(queries, np.diff(first_rows, append=len(labels)).tolist()))
    return LabelLines(source.path, queries, first_rows, ids, values, numbers, source.repairs)


def document_in(comment: bytes) -> bytes | None:
    """The document that a comment begins with, perhaps behind "docid ="."""
    words = comment.replace(b"docid =", b"", 1).replace(b"docid=", b"", 1).split(None, 1)
    return words[0].removesuffix(b";") if words else None


def text_of(field: Any) -> str:
    return field.decode("utf-8", "surrogateescape")


def positions(queries: list[str], sizes: list[int]) -> list[str]:
    """The position of each row in its query, whose stretches of rows have these sizes."""
    done: dict[str, int] = {}
    ids: list[str] = []
    for query, size in zip(queries, sizes, strict=True):
        first = done.get(query, 0)
        done[query] = first + size
        ids += map(str, range(first, first + size))
    return ids


def refuse_gap(column: list[bytes | None], what: str, path: str, numbers: Sequence[int]) -> None:
    """Raise FormatError for the first line that lacks what others have."""
    if None in column:
        with_it = next(number for number, field in zip(numbers, column, strict=True) if field is not None)
        row = column.index(None)
        raise FormatError(f"the line has no {what}, as line {with_it} has one", path, numbers[row])


def read_numbers(texts: list[bytes], what: str, path: str, numbers: Sequence[int]) -> np.ndarray:
    """Labels or scores from their texts, which stand on lines of these numbers."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    column = Arena(np.frombuffer(b"".join(texts), np.uint8), np.cumsum(lengths) - lengths, lengths)
    values, row, problem = numbers_from_texts(ids_from_arena(column))
    if row < 0 and what == "label" and not fit_labels(values):
        row, problem = next(row for row, value in enumerate(values) if wrong_label(value)), "range"
    if row >= 0:
        raise FormatError(f"{what} {quote(text_of(texts[row]))} {NUMBER_PROBLEMS[problem]}", path, numbers[row])
    return values


def number_lines(path: Any, watch: Watch | None) -> tuple[list[bytes], list[int], Repairs]:
    """The text of the number on each line that is not blank, the numbers of these lines, and repairs."""
    with ByteReader(path) as source:
        lines = [line.strip() for line in source.read_all(watch).split(b"\n")]
    numbers = [number for number, line in enumerate(lines, 1) if line]
    return [lines[number - 1] for number in numbers], numbers, source.repairs


def group_sizes(path: Any, name: str, n: int) -> list[int]:
    """The sizes of queries, from the file beside a file without qid."""
    stem = os.path.splitext(name)[0] if files.file_packing(name) else name
    beside = [stem + suffix for suffix in GROUP_SUFFIXES]
    found = next((file for file in beside if places.on_disk(path) and os.path.isfile(file)), None)
    if found is None:
        raise FormatError(
            f"the lines have no query: expected qid:... behind the label, or the sizes of queries in {beside[0]}", name
        )
    texts, numbers, _ = number_lines(found, None)
    for text, number in zip(texts, numbers, strict=True):
        if not text.isdigit():
            raise FormatError(f"the size of a query is {quote(text_of(text))}, expected a whole number", found, number)
    sizes = list(map(int, texts))
    if sum(sizes) != n:
        raise FormatError(f"the sizes of {len(sizes)} queries sum to {sum(sizes)}, but {name} has {n} rows", found)
    return sizes
