"""Several sets of judgments, one behind the other: which of their rows are about one document of a query."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.engine.columns._firsts import first_rows
from fastir.engine.columns.rows import occurrences, offsets_from_sizes, repeat, sums

if TYPE_CHECKING:
    from fastir.data.qrels import QrelsColumns


class Stacked(NamedTuple):
    """The rows of all sides, in their order; what `first_rows` says of them; and the rows without a label."""

    query_ids: list[Any]
    of_query: np.ndarray  # int64: for each row the position of its query
    doc_ids: list[Any]
    labels: list[np.ndarray]  # of each side
    firsts: np.ndarray
    rows: np.ndarray
    offsets: np.ndarray
    n_open: int
    example: tuple[Any, Any] | None


def stack_judgments(sides: Sequence[QrelsColumns], keeps_open: bool) -> Stacked:
    """Stack the judgments of several sides, whose ids are of one kind.

    Rows with a negative label, which is none, are left out, but `keeps_open` keeps those of the first side. Queries are
    in order of first appearance: all of the first side, and those of the others that have a row.
    """
    places: dict[Any, int] = {}
    doc_ids: list[Any] = []
    of_query, labels = [], []
    n_open, example = 0, None
    for is_later, columns in enumerate(sides):
        ids, sizes, numbers = columns.ids[:], np.diff(columns.offsets), columns.numbers
        kept = numbers >= 0
        if not (keeps_open and not is_later) and not kept.all():
            sizes, numbers = sums(kept, columns.offsets), numbers[kept]
            n_open += len(kept) - len(numbers)
            example = example or row_ids(columns, int(np.argmin(kept)))
            ids = list(itertools.compress(ids, kept.tolist()))
        found = [
            places.setdefault(query_id, len(places)) if n or not is_later else 0
            for query_id, n in zip(columns.query_ids, sizes.tolist(), strict=True)
        ]
        doc_ids += ids
        labels.append(numbers)
        of_query.append(repeat(np.array(found, np.int64), sizes))
    queries = np.concatenate(of_query)
    offsets = offsets_from_sizes(occurrences(queries, minlength=len(places)))
    firsts, rows, offsets = first_rows(doc_ids, np.argsort(queries, kind="stable"), offsets)
    return Stacked(list(places), queries, doc_ids, labels, firsts, rows, offsets, n_open, example)


def row_ids(columns: QrelsColumns, row: int) -> tuple[Any, Any]:
    """The query and the document of a row."""
    return columns.query_ids[int(np.searchsorted(columns.offsets, row, "right")) - 1], columns.ids[row : row + 1][0]
