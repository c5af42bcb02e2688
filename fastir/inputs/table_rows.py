"""From batches of rows to columns, grouped by query, as Qrels and Run hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fastir.columns._ids import joined, of_arena
from fastir.columns.ids import Arena
from fastir.columns.rows import refused, without_duplicates
from fastir.errors import DuplicateError, quote, remedy
from fastir.inputs.tables import Batch, Table, table
from fastir.join._grouped import find_duplicates
from fastir.threads import longest, within_reach


def read(
    data: Any, what: str, columns: Mapping[Any, Any] | None, duplicates: str | None, threshold: float | None = None
) -> tuple[Any, ...]:
    """All rows of a caller's table, grouped by query, as Rows takes them."""
    return grouped(table(data, what, columns), duplicates, None, threshold)


def grouped(
    found: Table, duplicates: str | None, batches: Iterable[Batch] | None = None, threshold: float | None = None
) -> tuple[Any, ...]:
    """All rows of a table, or of `batches` that were read of it, grouped by query, as Rows takes them.

    With a threshold the numbers are ratings, and those from it on become 1, the others 0.
    """
    what = found.what
    batches = list(found if batches is None else batches)
    if not batches:
        raise ValueError(f"the {what} is empty: the table has no rows")
    numbers = np.concatenate([batch.numbers for batch in batches])
    missing = np.isnan(numbers)
    if missing.any():
        row = int(missing.argmax())
        raise not_a_number(found, *ids_at(batches, row), row)
    if threshold is not None:
        numbers = (numbers >= threshold).astype(np.float64)
    elif what == "qrels":
        check_labels(numbers, batches, found.names[2])
    query_ids, slots = codes_of(batches)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(slots, minlength=len(query_ids)))))
    order = np.argsort(slots, kind="stable")
    docs = joined([(batch.docs, 0, len(batch.docs)) for batch in batches])
    arena = Arena(*docs.copy(0, len(docs)), docs.integers)
    arena = Arena(arena.text, arena.starts[order], arena.lengths[order], docs.integers)
    numbers = numbers[order]
    pairs = within_reach(lambda: find_duplicates(of_arena(arena), offsets), longest(offsets))
    if not pairs:
        return query_ids, offsets, arena, numbers, {}
    wrong = refused(pairs, numbers, duplicates, what == "run")
    first, second = min(wrong or pairs, key=lambda pair: order[pair[1]])
    if wrong:
        query = query_ids[int(np.searchsorted(offsets, second, "right")) - 1]
        raise repeated(what, query, arena[second : second + 1][0], int(order[first]), int(order[second]))
    offsets, kept, numbers = without_duplicates(offsets, numbers, pairs, duplicates, what == "run")
    arena = Arena(arena.text, arena.starts[kept], arena.lengths[kept], arena.integers)
    return query_ids, offsets, arena, numbers, {"duplicates": (len(pairs), f"row {order[second]}")}


def codes_of(batches: list[Batch]) -> tuple[list[Any], np.ndarray]:
    """The query ids in order of first appearance, and each row's position among them."""
    known: dict[Any, Any] = {}
    sizes, codes = [], []
    for batch in batches:
        start, n = 0, len(batch.queries)
        while start < n:
            stop = batch.queries.change(start, n)
            codes.append(known.setdefault(batch.queries[start], len(known)))
            sizes.append(stop - start)
            start = stop
    return list(known), np.repeat(np.array(codes, np.int64), sizes)


def check_labels(numbers: np.ndarray, batches: list[Batch], name: str) -> None:
    """Raise the error that names the first label that is not an integer of 32 bits."""
    wrong = (numbers != np.trunc(numbers)) | (np.abs(numbers) >= 2**31) & (numbers != -(2**31))
    if not wrong.any():
        return
    row = at = int(wrong.argmax())
    for batch in batches:
        if at < len(batch.docs):
            break
        at -= len(batch.docs)
    kind = OverflowError if numbers[row] == np.trunc(numbers[row]) else TypeError
    advice = "; for ratings Qrels.from_table and from_file have threshold=" if kind is TypeError else ""
    raise kind(
        f"qrels: row {row}: {quote(name)} {numbers[row]:g} is not an integer from -2^31 to 2^31 - 1 "
        f"(query {batch.queries[at]}, document {batch.docs[at]}){advice}"
    )


def not_a_number(found: Table, query: Any, doc: Any, row: int) -> ValueError:
    return ValueError(
        f"{found.what}: row {row}: {quote(found.names[2])} is NaN, missing or not a number "
        f"(query {query}, document {doc})"
    )


def repeated(what: str, query: Any, doc: Any, first: int, later: int) -> DuplicateError:
    return DuplicateError(
        f"{what}: document {quote(doc)} stands twice for query {quote(query)}, in rows {first} and "
        f"{later}; {remedy(what == 'run')}"
    )


def ids_at(batches: list[Batch], row: int) -> tuple[Any, Any]:
    """The query id and the document id of a row."""
    for batch in batches:
        if row < len(batch.docs):
            return batch.queries[row], batch.docs[row]
        row -= len(batch.docs)
    raise IndexError(row)
