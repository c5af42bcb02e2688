"""Quepid's CSV files: ratings are qrels, and a case or snapshot with positions of documents is a run.

They are read without pyarrow, line by line: an unrated query has a line without a document, which a table may not have.
A book of judgments has a column of ratings for each rater, behind the query and the document.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.engine.columns.ids import Arena
from fastir.engine.columns.line_formats import bare
from fastir.errors import FormatError, quote
from fastir.inputs.files import ByteReader
from fastir.inputs.grouping import gather
from fastir.inputs.json_files import wrong_label
from fastir.inputs.roles import ROLES, check_roles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastir.inputs.files import Path, Watch

QUERY = ("query", "query text", "query_text")
DOC = ("docid", "doc id", "doc_id")
RATING = ("rating",)
POSITION = ("doc position",)
SNAPSHOT = ("snapshot name",)


def read(
    path: Path,
    is_run: bool,
    duplicates: str | None,
    watch: Watch | None = None,
    columns: Mapping[Any, Any] | None = None,
    threshold: float | None = None,
) -> tuple[Any, ...]:
    """Read a file as columns; see `formats`.

    A document without a rating is left out of qrels, and so is a query without ratings. A query without documents has
    an empty ranking.
    """
    check_roles(columns or {}, ROLES)
    with ByteReader(path) as source:
        content = source.read_all(watch)
    path = source.path
    what = "run" if is_run else "qrels"
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig", "surrogateescape"), newline=""), strict=True)
    queries: list[str] = []
    first_rows: list[int] = []
    doc_ids: list[str] = []
    numbers: list[float] = []
    line_number: list[int] = []
    try:
        header = next((line for line in lines if line), None)
        if header is None:
            raise FormatError(f"the {what} file is empty", path)
        named = {role: (str(name).strip().lower(),) for role, name in (columns or {}).items()}
        query_at, doc_at = (
            column(header, named.get(role, usual), path) for role, usual in (("query_id", QUERY), ("doc_id", DOC))
        )
        numbers_at = number_columns(header, is_run, named.get("label"), {query_at, doc_at}, path)
        snapshot = Snapshot(header, path)
        for line in lines:
            if not line:
                continue
            cells = line if len(line) >= len(header) else line + [""] * (len(header) - len(line))
            query_id, doc_id = cells[query_at], cells[doc_at]
            snapshot.check(cells, lines.line_num)
            given = [at for at in numbers_at if is_run or (doc_id and cells[at])]
            if not given:
                continue
            if not queries or queries[-1] != query_id:
                queries.append(query_id)
                first_rows.append(len(doc_ids))
            for at in given if doc_id else ():
                doc_ids.append(doc_id)
                column_name = header[at] if len(numbers_at) > 1 else None
                numbers.append(parse_number(cells[at], is_run, (query_id, doc_id, column_name), path, lines.line_num))
                line_number.append(lines.line_num)
    except csv.Error as error:
        raise FormatError(f"malformed CSV: {error}", path, lines.line_num) from None
    if not queries:
        raise FormatError(f"the {what} {'is' if is_run else 'are'} empty: no query", path)
    labels = np.array(numbers)
    *columns_read, repairs = gather(
        queries,
        np.array(first_rows),
        Arena.of(doc_ids),
        labels if threshold is None else (labels >= threshold).astype(float),
        is_run,
        duplicates,
        path,
        line_number.__getitem__,
        watch,
    )
    return *columns_read, {**source.repairs, **repairs}


def number_columns(
    header: list[str], is_run: bool, named: tuple[str, ...] | None, others: set[int], path: str
) -> list[int]:
    """The positions of the columns of numbers: one, or those of all raters in a book of judgments."""
    names = {name.strip().lower() for name in header}
    if is_run or named or not names.isdisjoint(RATING) or len(header) == len(others):
        return [column(header, POSITION if is_run else named or RATING, path)]
    return [place for place in range(len(header)) if place not in others]


def column(header: list[str], names: tuple[str, ...], path: str) -> int:
    """The position of the column with one of these names."""
    for place, name in enumerate(header):
        if name.strip().lower() in names:
            return place
    columns = ", ".join(map(bare, header[:10]))
    raise FormatError(f"the file has no column {quote(names[0])}; its columns are {columns}", path, 1)


class Snapshot:
    """The snapshot that the lines belong to, where the file says one."""

    at: int | None

    def __init__(self, header: list[str], path: str) -> None:
        self.at = next((place for place, name in enumerate(header) if name.strip().lower() in SNAPSHOT), None)
        self.name: str | None = None
        self.path = path

    def check(self, cells: list[str], line: int) -> None:
        """Raise an error for a line of another snapshot: two are two runs."""
        if self.at is None:
            return
        if self.name is None:
            self.name = cells[self.at]
        if cells[self.at] != self.name:
            raise FormatError(
                f"the file holds several snapshots, such as {quote(self.name)} and {quote(cells[self.at])}",
                self.path,
                line,
            )


def parse_number(text: str, is_run: bool, place: tuple[str, str, str | None], path: str, line: int) -> float:
    """A label; or the score of a position: the higher, the lower the position."""
    try:
        number = float(text)
    except ValueError:
        problem: str | None = "is not a number"
    else:
        problem = ("is not a position" if not number >= 0 else None) if is_run else wrong_label(number)
    if problem:
        query_id, doc_id, name = place
        where = f"query {bare(query_id)}, document {bare(doc_id)}" + (f", column {bare(name)}" if name else "")
        raise FormatError(f"{'position' if is_run else 'label'} {quote(text)} {problem} ({where})", path, line)
    return -number if is_run else number
