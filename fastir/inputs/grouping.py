"""Rows in the order of a file become columns grouped by query; a duplicate document is refused or repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fastir.engine.columns._ids import encode, ids_from_arena
from fastir.engine.columns.ids import Arena
from fastir.engine.columns.rows import occurrences, offsets_from_sizes, refused_pairs, repeat, without_duplicates
from fastir.engine.join._contiguous import find_duplicates
from fastir.engine.join._trec_stream import duplicate_error
from fastir.engine.threads import interruptible, longest_query

if TYPE_CHECKING:
    from fastir.inputs.files import Repairs, Watch


def gather(
    queries: list[str],
    first_rows: np.ndarray,
    ids: Arena,
    numbers: np.ndarray,
    is_run: bool,
    duplicates: str | None,
    path: str,
    line_of: Callable[[int], int] | None = None,
    watch: Watch | None = None,
    is_grouped: bool = False,
) -> tuple[list[str], np.ndarray, Arena, np.ndarray, Repairs]:
    """Group rows by query: query_ids, offsets, ids, numbers and repairs as from a reader (see `formats`).

    `queries` has the query id of each stretch of rows, which begins at `first_rows`; an id may come back, unless
    `is_grouped`. `line_of` gives the number of a row's line, if the file `path` has lines. `watch` is called repeatedly
    with the position, and may raise.
    """
    repairs: Repairs = {}
    query_ids = queries if is_grouped else list(dict.fromkeys(queries))
    offsets = np.append(first_rows, len(ids)).astype(np.int64, copy=False)
    rows: range | np.ndarray = range(len(ids))
    if len(query_ids) < len(queries):
        slots = {query: slot for slot, query in enumerate(query_ids)}
        slot_of_row = repeat(np.array([slots[query] for query in queries]), np.diff(offsets))
        rows = np.argsort(slot_of_row, kind="stable")
        ids, numbers = ids.take(rows), numbers[rows]
        offsets = offsets_from_sizes(occurrences(slot_of_row, minlength=len(query_ids)))
    pairs = interruptible(lambda: find_duplicates(ids_from_arena(ids), offsets, watch), longest_query(offsets))
    if pairs:
        line = (lambda row: line_of(int(rows[row]))) if line_of else (lambda row: None)
        wrong = refused_pairs(pairs, numbers, duplicates, is_run)
        if wrong:
            first, second = min(wrong, key=lambda pair: rows[pair[1]])
            query = query_ids[int(np.searchsorted(offsets, second, "right")) - 1]
            doc = encode(ids[second : second + 1][0])
            raise duplicate_error(doc, encode(query), line(first), line(second), path, is_run)
        repairs["duplicates"] = (len(pairs), f"{path}:{line(pairs[0][1])}" if line_of else path)
        offsets, kept, numbers = without_duplicates(offsets, numbers, pairs, duplicates, is_run)
        ids = ids.take(kept)
    return query_ids, offsets, ids, numbers, repairs
