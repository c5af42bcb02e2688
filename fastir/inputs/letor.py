"""Files for learning to rank, and scores for their lines.

    LETOR, SVMrank, RankLib   ``label qid:query feature:value ... # document``; LETOR has ``#docid = document``
    LIBSVM                    the same without qid, as LightGBM and XGBoost read it: a file beside it, of the same name
                              and .query or .group behind it, has the number of lines of each query, from query 0 on
    scores                    a number on each line, for the lines of one of these: a run

Features are not read. A document without an id is called by its position in its query, from 0 up.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns._number import numbers_from_texts
from fastir.engine.columns._parsing import label_lines
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
    numbers: np.ndarray  # of the lines
    repairs: Repairs


def read(
    path: Any, is_run: bool, duplicates: str | None, watch: Watch | None = None, rows: Any = None
) -> tuple[Any, ...]:
    """Read a file as columns; see `formats`. A run is a file of scores for the lines of the file `rows`."""
    lines = read_labels(rows if is_run else path, None if is_run else watch)
    values, repairs = lines.labels, lines.repairs
    if is_run:
        name, scores, repairs = number_lines(path, "score", watch)
        if len(scores) != len(values):
            raise FormatError(f"the file has {len(scores)} scores, but {lines.path} has {len(values)} rows", name)
        values = scores
    columns = lines.queries, lines.first_rows, lines.ids, values
    *columns_read, more = gather(*columns, is_run, duplicates, lines.path, lambda row: int(lines.numbers[row]), watch)
    return *columns_read, {**repairs, **more}


def read_labels(path: Any, watch: Watch | None) -> LabelLines:
    """The labels, queries and documents of the lines."""
    with ByteReader(path) as source:
        content = source.read_all(watch)
    numbers, label_at, label_n, qid_at, qid_n, doc_at, doc_n = label_lines(content)
    n, text = len(numbers), np.frombuffer(content, np.uint8)
    if not n:
        raise FormatError("the qrels are empty: no judgment lines", source.path)
    labels = read_numbers(Arena(text, label_at, label_n), "label", source.path, numbers)
    if (qid_n > 0).any():
        refuse_gap(qid_n > 0, "query (qid:...) behind the label", source.path, numbers)
        qids, changes, queries = ids_from_arena(Arena(text, qid_at, qid_n)), [0], []
        while changes[-1] < n:
            queries.append(qids[changes[-1]])
            changes.append(qids.change(changes[-1], n))
        first_rows = np.array(changes[:-1])
    else:
        sizes = group_sizes(path, source.path, n)
        first_rows, queries = offsets_from_sizes(sizes)[:-1], list(map(str, range(len(sizes))))
    ids = Arena(text, doc_at, doc_n)
    if (doc_n > 0).any():
        refuse_gap(doc_n > 0, "document behind '#'", source.path, numbers)
    else:
        ids = Arena.of(positions(queries, np.diff(first_rows, append=n).tolist()))
    return LabelLines(source.path, queries, first_rows, ids, labels, numbers, source.repairs)


def positions(queries: list[str], sizes: list[int]) -> list[str]:
    """The position of each row in its query, whose stretches of rows have these sizes."""
    done: dict[str, int] = {}
    ids: list[str] = []
    for query, size in zip(queries, sizes, strict=True):
        first = done.get(query, 0)
        done[query] = first + size
        ids += map(str, range(first, first + size))
    return ids


def refuse_gap(there: np.ndarray, what: str, path: str, numbers: np.ndarray) -> None:
    """Raise FormatError for the first line that lacks what others have."""
    if not there.all():
        with_it = numbers[there.argmax()]
        raise FormatError(f"the line has no {what}, as line {with_it} has one", path, int(numbers[there.argmin()]))


def read_numbers(column: Arena, what: str, path: str, numbers: np.ndarray) -> np.ndarray:
    """Labels or scores from their texts, which stand on lines of these numbers."""
    ids = ids_from_arena(column)
    values, row, problem = numbers_from_texts(ids)
    if row < 0 and what == "label" and not fit_labels(values):
        row, problem = next(row for row, value in enumerate(values) if wrong_label(value)), "range"
    if row >= 0:
        raise FormatError(f"{what} {quote(ids[row])} {NUMBER_PROBLEMS[problem]}", path, int(numbers[row]))
    return values


def number_lines(path: Any, what: str, watch: Watch | None) -> tuple[str, np.ndarray, Repairs]:
    """The name of a file, the number on each line that is not blank, and repairs."""
    with ByteReader(path) as source:
        content = source.read_all(watch)
    numbers, at, n, _, more, *_ = label_lines(content)
    if (more != -1).any():
        line = int(numbers[(more != -1).argmax()])
        raise FormatError(f"the line has more than one field; expected a {what}", source.path, line)
    values = read_numbers(Arena(np.frombuffer(content, np.uint8), at, n), what, source.path, numbers)
    return source.path, values, source.repairs


def group_sizes(path: Any, name: str, n: int) -> np.ndarray:
    """The sizes of queries, from the file beside a file without qid."""
    stem = os.path.splitext(name)[0] if files.file_packing(name) else name
    beside = [stem + suffix for suffix in GROUP_SUFFIXES]
    found = next((file for file in beside if places.on_disk(path) and os.path.isfile(file)), None)
    if found is None:
        raise FormatError(
            f"the lines have no query: expected qid:... behind the label, or the sizes of queries in {beside[0]}", name
        )
    _, sizes, _ = number_lines(found, "size of a query", None)
    wrong = (sizes < 0) | (sizes != np.trunc(sizes))
    if wrong.any():
        place = int(wrong.argmax())
        raise FormatError(f"the size of query {place} is {sizes[place]:g}, expected a whole number", found)
    if sizes.sum() != n:
        raise FormatError(f"the sizes of {len(sizes)} queries sum to {sizes.sum():.0f}, but {name} has {n} rows", found)
    return sizes.astype(np.int64)
