"""From batches of rows to columns, grouped by query, as Qrels and Run hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fastir.engine.columns._ids import Ids, ids_from_arena
from fastir.engine.columns.ids import Arena, arena_from_pieces
from fastir.engine.columns.rows import (
    occurrences,
    offsets_from_sizes,
    pair_columns,
    refused_pairs,
    repeat,
    without_duplicates,
)
from fastir.engine.join._contiguous import find_duplicates
from fastir.engine.threads import interruptible, longest_query
from fastir.errors import DuplicateError, quote, remedy, warn_caller
from fastir.inputs import misread
from fastir.inputs.roles import EVIDENCE_KINDS
from fastir.inputs.tables import Batch, Table, table


def read(
    data: Any, what: str, columns: Mapping[Any, Any] | None, duplicates: str | None, threshold: float | None = None
) -> tuple[Any, ...]:
    """All rows of a caller's table, grouped by query, as Rows takes them."""
    return columns_of(table(data, what, columns), what, duplicates, threshold)


def columns_of(source: Any, what: str, duplicates: str | None, threshold: float | None = None) -> tuple[Any, ...]:
    """A Table, or ListColumns, grouped by query, as Rows takes them."""
    if isinstance(source, Table):
        of_sets = what == "qrels" and source.evidence
        return (group_sets if of_sets else group_rows)(source, duplicates, threshold=threshold)
    if threshold is not None:
        raise ValueError("threshold is for ratings, and the table has lists of ids")
    return source.qrels_columns(duplicates) if what == "qrels" else source.run_columns(duplicates)


def group_rows(
    source: Table,
    duplicates: str | None,
    batches: Iterable[Batch] | None = None,
    rows: np.ndarray | None = None,
    threshold: float | None = None,
) -> tuple[Any, ...]:
    """All rows of a table, or of `batches` that were read of it, grouped by query, as Rows takes them.

    `rows` has the numbers of these rows in the table, if they are not all of it. With a threshold the numbers are
    ratings, and those from it on become 1, the others 0.
    """

    def source_row(row: Any) -> int:
        return int(row if rows is None else rows[row])

    what, is_run = source.what, source.what != "qrels"
    batches = list(source if batches is None else batches)
    if not batches:
        raise ValueError(f"the {what} is empty: the table has no rows")
    numbers = np.concatenate([batch.numbers for batch in batches])
    problem = None
    missing = np.isnan(numbers)
    if missing.any():
        row = int(missing.argmax())
        raise not_a_number(source, *ids_at(batches, row), source_row(row))
    if threshold is not None:
        if source.label is not None:
            raise ValueError("threshold is for ratings, and the qrels have no column of them")
        numbers = (numbers >= threshold).astype(np.float64)
    elif what == "qrels":
        check_labels(numbers, batches, source.names[-1])
        problem = None if source.label is not None else misread.misread_column(source.names[2], numbers)
    query_ids, slots = query_codes(batches)
    offsets = offsets_from_sizes(occurrences(slots, minlength=len(query_ids)))
    order = np.argsort(slots, kind="stable")
    arena = join_ids([batch.docs for batch in batches])
    arena = arena.take(order)
    numbers = numbers[order]
    pairs = interruptible(lambda: find_duplicates(ids_from_arena(arena), offsets), longest_query(offsets))
    wrong = refused_pairs(pairs, numbers, duplicates, is_run)
    repeats = wrong or pairs
    first, second = repeats[int(order[pair_columns(repeats)[1]].argmin())] if repeats else (0, 0)
    if wrong:
        query = query_ids[int(np.searchsorted(offsets, second, "right")) - 1]
        rows_of_both = source_row(order[first]), source_row(order[second])
        error = duplicate_error(source, query, arena[second : second + 1][0], *rows_of_both)
        raise error if problem is None else misread.explain_duplicate(error, None, problem)
    if problem is not None:
        warn_caller(problem)
    if not pairs:
        return query_ids, offsets, arena, numbers, source.repairs(len(numbers))
    offsets, kept, numbers = without_duplicates(offsets, numbers, pairs, duplicates, is_run)
    arena = arena.take(kept)
    return (
        query_ids,
        offsets,
        arena,
        numbers,
        {**source.repairs(len(numbers)), "duplicates": (len(pairs), f"row {source_row(order[second])}")},
    )


def group_sets(source: Table, duplicates: str | None, threshold: float | None = None) -> tuple[Any, ...]:
    """All rows of qrels with a column of sets or hops, as the columns of the union and its Evidence."""
    from fastir.inputs.evidence import columns_of_members, tabled_members

    batches = list(source.with_runs())
    by_set = group_by_run(source, duplicates, threshold, batches)
    members, repairs = tabled_members(query_codes([batch for batch, _ in batches])[0], by_set)
    kind = next(kind for kind, role in EVIDENCE_KINDS.items() if role == source.evidence)
    return columns_of_members(members, kind, repairs)


def group_by_run(
    source: Table,
    duplicates: str | None,
    threshold: float | None = None,
    read: Iterable[tuple[Batch, Ids | None]] | None = None,
) -> dict[Any, tuple[Any, ...]]:
    """{run: its rows, grouped by query, as Rows takes them} of a table of several runs; or {set: its rows} of qrels.

    `read` are its batches, if they were read.
    """
    batches, runs = [], []
    for batch, of_runs in source.with_runs() if read is None else read:
        batches.append(batch)
        runs += [] if of_runs is None else [batch._replace(queries=of_runs)]
    if not batches:
        raise ValueError(f"the {source.what} are empty: the table has no rows")
    names, slots = query_codes(runs)
    numbers = np.concatenate([batch.numbers for batch in batches])
    queries, docs = (join_ids([batch.queries for batch in batches]), join_ids([batch.docs for batch in batches]))
    order = np.argsort(slots, kind="stable")
    ranks = np.concatenate(source.ranks_by_batch) if source.ranks_by_batch else None
    rows_by_run = {}
    for name, rows in zip(names, np.split(order, np.cumsum(occurrences(slots))[:-1]), strict=True):
        batch = Batch(take_ids(queries, rows), take_ids(docs, rows), numbers[rows])
        if ranks is not None or source.ranks:
            of_run = None if ranks is None else ranks[rows[: misread.SAMPLE_ROWS]]
            source.found = misread.misread_rows(batch.queries, batch.numbers, of_run)
        try:
            rows_by_run[name] = group_rows(source, duplicates, [batch], rows, threshold)
        except (TypeError, ValueError, OverflowError) as error:
            error.args = (f"{source.evidence or 'run'} {quote(name)}: {error.args[0]}", *error.args[1:])
            raise
    return rows_by_run


def join_ids(ids: list[Ids]) -> Arena:
    """The ids of several batches as one column."""
    return arena_from_pieces([(one, 0, len(one)) for one in ids])


def take_ids(arena: Arena, rows: np.ndarray) -> Ids:
    return ids_from_arena(arena.take(rows))


def query_codes(batches: list[Batch]) -> tuple[list[Any], np.ndarray]:
    """The query ids in order of first appearance, and each row's position among them."""
    places: dict[Any, Any] = {}
    sizes, codes = [], []
    for batch in batches:
        start, n = 0, len(batch.queries)
        while start < n:
            stop = batch.queries.change(start, n)
            codes.append(places.setdefault(batch.queries[start], len(places)))
            sizes.append(stop - start)
            start = stop
    return list(places), repeat(np.array(codes, np.int64), sizes)


def check_labels(numbers: np.ndarray, batches: list[Batch], name: str) -> None:
    """Raise the error that names the first label that is out of range."""
    wrong = (np.abs(numbers) >= 2**31) & (numbers != -(2**31))
    if not wrong.any():
        return
    row = at = int(wrong.argmax())
    for batch in batches:
        if at < len(batch.docs):
            break
        at -= len(batch.docs)
    raise OverflowError(
        f"qrels: row {row}: {quote(name)} {numbers[row]:g} is out of range; expected a number from -2^31 to 2^31 - 1 "
        f"(query {batch.queries[at]}, document {batch.docs[at]})"
    )


def not_a_number(source: Table, query: Any, doc: Any, row: int) -> Exception:
    return source.wrong(
        row, f"{quote(source.names[2])} is NaN, missing or not a number (query {query}, document {doc})"
    )


def duplicate_error(source: Table, query: Any, doc: Any, first: int, later: int) -> DuplicateError:
    what = "qrels" if source.what == "qrels" else "run"
    (file, first), (other, later) = source.row_location(first), source.row_location(later)
    rows = f"rows {first} and {later}" if file == other else f"row {first} of {file} and row {later} of this file"
    return DuplicateError(
        f"{what}: duplicate document {quote(doc)} in query {quote(query)}, in {rows}; {remedy(what == 'run')}", other
    )


def ids_at(batches: list[Batch], row: int) -> tuple[Any, Any]:
    """The query id and the document id of a row."""
    for batch in batches:
        if row < len(batch.docs):
            return batch.queries[row], batch.docs[row]
        row -= len(batch.docs)
    raise IndexError(row)
