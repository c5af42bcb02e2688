"""From batches of rows to columns, or straight into the evaluation.

Qrels, and runs that are kept, are grouped by query here. A run that is only evaluated goes to _columns in stretches of
whole queries, and to _scatter once its rows turn out not to be grouped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any, SupportsIndex

import numpy as np

from fastir.columns._ids import joined, of_arena
from fastir.columns.ids import Arena
from fastir.columns.rows import without_duplicates
from fastir.errors import DuplicateError, quote
from fastir.inputs.tables import Batch, Table, table
from fastir.join._grouped import Columns, find_duplicates
from fastir.join._join import Tally
from fastir.join._judged import Judged
from fastir.join._ungrouped import Scattered
from fastir.request.plan import Settings
from fastir.threads import WORTH, share, share_all, thread_count

STRETCH = 1 << 16  # rows that a thread takes at a time
WINDOW = 1 << 20  # rows of a table that can be read only once that are kept, should their queries come back


def read(data: Any, what: str, columns: Mapping | None, duplicates: str | None) -> tuple:
    """All rows of a caller's table, grouped by query, as Rows takes them."""
    found = table(data, what, columns)
    if found is None:
        raise TypeError(f"{what}: expected a table, got {type(data).__name__}")
    return grouped(found, duplicates)


def grouped(found: Table, duplicates: str | None) -> tuple:
    """All rows of a table, grouped by query, as Rows takes them."""
    what = found.what
    batches = list(found)
    if not batches:
        raise ValueError(f"the {what} is empty: the table has no rows")
    numbers = np.concatenate([batch.numbers for batch in batches])
    missing = np.isnan(numbers)
    if missing.any():
        row = int(missing.argmax())
        raise not_a_number(found, *ids_at(batches, row), row)
    if what == "qrels":
        check_labels(numbers, batches, found.names[2])
    query_ids, slots = codes_of(batches)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(slots, minlength=len(query_ids)))))
    order = np.argsort(slots, kind="stable")
    docs = joined([(batch.docs, 0, len(batch.docs)) for batch in batches])
    arena = Arena(*docs.copy(0, len(docs)), docs.integers)
    arena = Arena(arena.text, arena.starts[order], arena.lengths[order], docs.integers)
    numbers = numbers[order]
    pairs = find_duplicates(of_arena(arena), offsets)
    if not pairs:
        return query_ids, offsets, arena, numbers, {}
    first, second = min(pairs, key=lambda pair: order[pair[1]])
    if duplicates is None:
        query = query_ids[int(np.searchsorted(offsets, second, "right")) - 1]
        raise repeated(what, query, arena[second : second + 1][0], int(order[first]), int(order[second]))
    offsets, kept, numbers = without_duplicates(offsets, numbers, pairs, duplicates)
    arena = Arena(arena.text, arena.starts[kept], arena.lengths[kept], arena.integers)
    return query_ids, offsets, arena, numbers, {"duplicates": (len(pairs), f"row {order[second]}")}


def codes_of(batches: list[Batch]) -> tuple[list, np.ndarray]:
    """The query ids in order of first appearance, and each row's position among them."""
    known: dict = {}
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
    raise kind(
        f"qrels: row {row}: {quote(name)} {numbers[row]:g} is not an integer from -2^31 to 2^31 - 1 "
        f"(query {batch.queries[at]}, document {batch.docs[at]})"
    )


def not_a_number(found: Table, query: Any, doc: Any, row: int) -> ValueError:
    return ValueError(
        f"{found.what}: row {row}: {quote(found.names[2])} is NaN, missing or not a number "
        f"(query {query}, document {doc})"
    )


def repeated(what: str, query: Any, doc: Any, first: int, later: int) -> DuplicateError:
    return DuplicateError(
        f"{what}: document {quote(doc)} stands twice for query {quote(query)}, in rows {first} and "
        f"{later}; duplicates='first', 'last' or 'max' would repair it"
    )


def evaluate(
    found: Table,
    judged: Judged,
    integers: bool,
    settings: Settings,
    values: np.ndarray,
    status: np.ndarray,
    n_threads: SupportsIndex | None,
) -> tuple:
    """Evaluate a table while it is read, filling values and status.

    Rows grouped by query need no memory but that of the longest query. Rows that turn out not to be are read again, or,
    where that cannot be done, taken from memory, which holds the first WINDOW rows.

    Returns
    -------
    tuple
        What Join.finish returns, the ids of the queries that the qrels do not have, as text, and the repairs.
    """
    batches = iter(found)
    head = deque(until(batches, WORTH if found.n_rows is None else 1))
    if not head:
        return Tally(), [], {}
    integer_docs = head[0].docs.integers
    threads = thread_count(n_threads, sum(len(batch.docs) for batch in head) if found.n_rows is None else found.n_rows)
    make = (
        judged,
        settings.plan,
        values,
        status,
        settings.ties,
        settings.single,
        settings.only_judged,
        threads,
        integer_docs,
    )
    kept: list[Batch] | None = None if found.again else []
    source = chain((head.popleft() for _ in range(len(head))), batches)
    join = Columns(*make)
    tasks = stretches(remember(source, kept))

    def work(t, task, number):
        queries, docs, numbers, first, stop, row = task
        pair = join.read(t, number, queries, docs, numbers, first, stop)
        if pair is not None:
            first, later = pair
            if first == later:
                raise not_a_number(found, queries[first], docs[first], first + row)
            raise repeated("run", queries[later], docs[later], first + row, later + row)
        return join.ungrouped

    problems = share(lambda t: next(tasks, None), work, threads)
    if problems and not join.ungrouped:
        raise problems[min(problems)]
    if join.ungrouped:
        if kept is not None and len(kept) and kept[-1] is None:
            raise ValueError(
                "run: the rows of a query do not stand together, and the table can be read only once; "
                "sort it by query, or pass a table in memory"
            )
        if found.again:
            batches.close()  # lets go of the stream behind it: some sources have only one at a time
        join = Scattered(*make)
        scatter(found, iter(found) if found.again else chain(kept, source), join, threads)
    tally = join.finish()
    repairs = {"integer ids read as text": (tally.ranked, "the run")} if integer_docs and not integers else {}
    foreign = sorted(join.foreign, key=join.foreign.__getitem__)
    return tally, [query.decode("utf-8", "surrogateescape") for query in foreign], repairs


def until(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """The first batches that have so many rows together."""
    for batch in batches:
        yield batch
        rows -= len(batch.docs)
        if rows <= 0:
            return


def remember(batches: Iterable[Batch], kept: list | None) -> Iterator[Batch]:
    """Pass batches on and keep them, up to WINDOW rows; a None at the end of `kept` says that there were more."""
    rows = 0
    for batch in batches:
        if kept is not None:
            rows += len(batch.docs)
            if rows > WINDOW:
                kept[:] = [None]
                kept = None
            else:
                kept.append(batch)
        yield batch


def stretches(batches: Iterable[Batch]) -> Iterator[tuple]:
    """Cut batches into stretches of whole queries: queries, docs, numbers, first, stop, row of the batch's first."""
    carried: list[tuple[Batch, int, int]] = []  # the rows of one query, which may go on in the next batch
    row = begun = 0
    size = STRETCH >> 6  # at first, because rows that are not grouped show it at once
    for batch in batches:
        start, n = 0, len(batch.docs)
        if carried and batch.queries.same(0, carried[0][0].queries, carried[0][1]):
            start = batch.queries.change(0, n)
            carried.append((batch, 0, start))
        if start < n:
            if carried:
                yield *together(carried), begun
            last = batch.queries.begin(n - 1, start)
            while start < last:
                stop = last if last - start <= size else batch.queries.change(start + size - 1, last)
                size = min(2 * size, STRETCH)
                yield *batch, start, stop, row
                start = stop
            carried = [(batch, last, n)]
            begun = row + last
        row += n
    if carried:
        yield *together(carried), begun


def together(pieces: list[tuple[Batch, int, int]]) -> tuple:
    """Rows of several batches as one stretch."""
    queries = joined([(batch.queries, first, stop) for batch, first, stop in pieces])
    docs = joined([(batch.docs, first, stop) for batch, first, stop in pieces])
    return queries, docs, np.concatenate([batch.numbers[first:stop] for batch, first, stop in pieces]), 0, len(docs)


def scatter(found: Table, batches: Iterable[Batch], join: Scattered, threads: int) -> None:
    """Evaluate rows in any order."""
    kept: list[Batch] = []
    looked: list[list] = [[] for _ in range(threads)]

    def pieces():
        for batch in batches:
            n = len(batch.docs)
            codes, hashes = np.empty(n, np.int32), np.empty(0 if join.only_judged else n, np.uint64)
            kept.append(batch)
            piece = join.add(batch.queries, batch.docs, batch.numbers, codes, hashes)
            for start in range(0, n, STRETCH):
                yield piece, start, min(start + STRETCH, n)

    def look(t, task, number):
        if join.look(t, *task):
            piece, first, stop = task
            at = first + int(np.isnan(kept[piece].numbers[first:stop]).argmax())
            row = at + sum(len(batch.docs) for batch in kept[:piece])
            raise not_a_number(found, kept[piece].queries[at], kept[piece].docs[at], row)
        looked[t].append(task)

    def count(_, t, number):
        for task in looked[t]:
            join.count(t, *task)

    share_all(pieces(), look, threads)
    join.gather(kept[0].queries.integers)
    share_all(range(threads), count, threads)
    borders = join.ranges(threads)

    def work(t, task, number):
        pair = join.settle(t, *task)
        if pair is not None:
            raise repeated("run", *ids_at(kept, pair[1]), *pair)

    share_all(pairwise(borders), work, threads)


def ids_at(batches: list[Batch], row: int) -> tuple:
    """The query id and the document id of a row."""
    for batch in batches:
        if row < len(batch.docs):
            return batch.queries[row], batch.docs[row]
        row -= len(batch.docs)
    raise IndexError(row)
