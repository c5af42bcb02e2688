"""Runs that are tables, in memory or in a file: evaluated batch by batch while they are read.

Rows that are grouped by query go to the join in stretches of whole queries (`Columns`). Once they turn out not to be
grouped, the evaluator may read them again (`reread`); else all of them go to a join of rows in any order (`Scattered`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from fastir.data.run import Run
from fastir.engine.columns._ids import ids_from_arena
from fastir.engine.columns.ids import Arena, join_ids
from fastir.engine.join._contiguous import Columns
from fastir.engine.join._counts import Counts
from fastir.engine.join._dicts import is_few
from fastir.engine.join._scattered import Scattered
from fastir.engine.threads import PARALLEL_ROWS, interruptible, share, share_all, thread_count
from fastir.evaluation.drivers.coverage import Coverage
from fastir.evaluation.drivers.in_memory import few_or_all, from_run
from fastir.inputs import tables
from fastir.inputs.table_rows import duplicate_error, group_rows, ids_at, not_a_number
from fastir.inputs.tables import Batch, Table

if TYPE_CHECKING:
    from fastir.evaluation.drivers.prepared import Task

STRETCH_ROWS = 1 << 16  # rows that a thread takes at a time
TASKS_PER_THREAD = 8  # for each thread, so that a slow one does not hold up the others
WINDOW_ROWS = 1 << 20  # rows that are kept of a table that can be read only once, in case their queries come back


def from_table(task: Task) -> Coverage:
    """Evaluate a caller's table."""
    return from_table_or_lists(task.with_run(tables.table(task.run, "run", task.prepared.columns)))


def from_table_or_lists(task: Task) -> Coverage:
    """Evaluate a Table, or ListColumns."""
    if isinstance(task.run, Table):
        return from_rows(task)
    from fastir.evaluation.drivers.id_lists import from_list_columns

    return from_list_columns(task)


def from_table_file(task: Task, form: str) -> Coverage:
    """Evaluate a file of rows of the format `form`."""
    from fastir.inputs import table_files

    with table_files.open_table(task.run, "run", form, task.prepared.columns, task.watch) as (table, repairs):
        coverage = from_table_or_lists(task.with_run(table))
    coverage.run_repairs = {**repairs, **coverage.run_repairs}
    coverage.is_complete = coverage.is_complete and not repairs
    return coverage


def from_rows(task: Task) -> Coverage:
    """Evaluate a Table while it is read.

    Rows grouped by query need memory only for the longest query. Rows that turn out not to be grouped are read again,
    or, if the table can be read only once, taken from memory, which holds the first WINDOW_ROWS.
    """
    prepared = task.prepared
    table: Table = task.run
    if table.ranks:
        prepared.refuse_unscored(f"column {table.names[2]!r} has")
    with_parents = prepared.stand_for is not None
    batches = read_batches(table, with_parents)
    n_rows = table.n_rows if table.n_rows is not None or table.split is None else table.split.rows(PARALLEL_ROWS)
    head = deque(first_batches(batches, PARALLEL_ROWS if n_rows is None else 1))
    if not head:
        return Coverage(prepared, task.status, Counts(), 0, [], {})
    integer_docs = head[0].docs.integers
    n_rows = sum(len(batch.docs) for batch in head) if n_rows is None else n_rows
    threads = thread_count(task.n_threads, n_rows)
    arguments = prepared.join_rules(), task.values, task.status, threads, integer_docs
    kept: list[Batch | None] | None = None if table.again else []
    source = chain((head.popleft() for _ in range(len(head))), batches)
    join: Columns | Scattered
    join = Columns(*arguments)
    gather(table, remember(source, kept), join, threads)
    if join.ungrouped:
        if kept and kept[-1] is None:
            raise ValueError(
                "run: the rows of a query are not contiguous, and the table can be read only once; "
                "sort it by query, or pass a table in memory"
            )
        if table.again:
            batches.close()  # releases the stream behind it: some sources allow only one at a time
            head.clear()
            del join  # and what it holds of the run
            coverage = prepared.reread(task, threads)
            if coverage is not None:
                return coverage
        again = read_batches(table, with_parents) if table.again else chain(filter(None, kept or ()), source)
        if with_parents:
            held = Run(*group_rows(table, prepared.settings.options.duplicates, again))
            return from_run(task._replace(run=held, watch=None))
        join = Scattered(n_rows, *arguments)
        scatter(table, again, join, threads)
    rows = few_met(task, join)
    counts = join.finish(rows)
    as_text = integer_docs and not prepared.qrels.columns.integers
    repairs = table.repairs(counts.n_ranked_docs)
    if as_text:
        repairs["integer ids read as text"] = counts.n_ranked_docs, "the run"
    queries = sorted(join.unknown_queries, key=join.unknown_queries.__getitem__)
    unknown_queries = [query.decode("utf-8", "surrogateescape") for query in queries]
    return few_or_all(task, counts, counts.n_matched_queries + len(unknown_queries), unknown_queries, repairs, rows)


def few_met(task: Task, join: Columns | Scattered) -> list[int] | None:
    """The positions of the queries that a join of grouped rows met, if they are few; None: all are to be filled."""
    if task.min_missing_queries is None or not isinstance(join, Columns):
        return None
    met = join.rows_met()
    return met if is_few(task.prepared.judged, len(met), task.min_missing_queries) else None


def read_batches(table: Table, with_parents: bool) -> Generator[Batch, None, None]:
    """Yield the batches of a table; with parents, ids of documents become text, as the parents may be text."""
    for batch in table:
        if with_parents and batch.docs.integers:
            batch = batch._replace(docs=ids_from_arena(Arena(*batch.docs.copy(0, len(batch.docs)))))
        yield batch


def gather(table: Table, batches: Iterable[Batch], join: Columns, threads: int) -> None:
    """Evaluate rows that are grouped by query; it ends early, with `join.ungrouped`, if they turn out not to be."""
    tasks = stretches(batches)

    def work(t: int, task: Any, number: int) -> None:
        queries, docs, numbers, first, stop, row = task
        rows = stop - first if stop - first > 2 * STRETCH_ROWS else 0  # it is one query
        pair = interruptible(lambda: join.read(t, number, queries, docs, numbers, first, stop), rows)
        if pair is not None:
            first, later = pair
            if first == later:
                raise not_a_number(table, queries[first], docs[first], first + row)
            raise duplicate_error(table, queries[later], docs[later], first + row, later + row)
        return join.ungrouped

    problems = share(lambda t: next(tasks, None), work, threads)
    if problems and not join.ungrouped:
        raise problems[min(problems)]


def first_batches(batches: Iterator[Batch], rows: int) -> Iterator[Batch]:
    """The first batches, until they have `rows` rows together."""
    for batch in batches:
        yield batch
        rows -= len(batch.docs)
        if rows <= 0:
            return


def remember(batches: Iterable[Batch], kept: list[Batch | None] | None) -> Iterator[Batch]:
    """Pass batches on and keep them, up to WINDOW rows; a None at the end of `kept` says that there were more."""
    rows = 0
    for batch in batches:
        if kept is not None:
            rows += len(batch.docs)
            if rows > WINDOW_ROWS:
                kept[:] = [None]
                kept = None
            else:
                kept.append(batch)
        yield batch


def stretches(batches: Iterable[Batch]) -> Iterator[tuple[Any, ...]]:
    """Cut batches into stretches of whole queries: queries, docs, numbers, first, stop, row of the batch's first."""
    carried: list[tuple[Batch, int, int]] = []  # the rows of one query, which may go on in the next batch
    row = begun = 0
    size = STRETCH_ROWS >> 6  # small at first, because ungrouped rows are then found out at once
    for batch in batches:
        start, n = 0, len(batch.docs)
        if carried and batch.queries.same(0, carried[0][0].queries, carried[0][1]):
            start = batch.queries.change(0, n)
            carried.append((batch, 0, start))
        if start < n:
            if carried:
                yield join_rows(carried, begun)
            last = batch.queries.begin(n - 1, start)
            while start < last:
                stop = last if last - start <= size else batch.queries.change(start + size - 1, last)
                size = min(2 * size, STRETCH_ROWS)
                yield *batch, start, stop, row
                start = stop
            carried = [(batch, last, n)]
            begun = row + last
        row += n
    if carried:
        yield join_rows(carried, begun)


def join_rows(pieces: list[tuple[Batch, int, int]], row: int) -> tuple[Any, ...]:
    """Join the rows of several batches from row `row` on; the rows of a single batch are not copied."""
    if len(pieces) == 1:
        batch, first, stop = pieces[0]
        return *batch, first, stop, row - first
    queries = join_ids([(batch.queries, first, stop) for batch, first, stop in pieces])
    docs = join_ids([(batch.docs, first, stop) for batch, first, stop in pieces])
    numbers = np.concatenate([batch.numbers[first:stop] for batch, first, stop in pieces])
    return queries, docs, numbers, 0, len(docs), row


def scatter(table: Table, batches: Iterable[Batch], join: Scattered, threads: int) -> None:
    """Evaluate rows in any order."""
    kept: list[Batch] = []
    duplicates = join.duplicates
    cuts: list[tuple[int, int, int]] = []

    def pieces() -> Iterator[tuple[int, int, int]]:
        for batch in batches:
            n = len(batch.docs)
            kept.append(batch)
            piece = join.add(batch.queries, batch.docs, batch.numbers, np.empty(n, np.int32))
            for start in range(0, n, STRETCH_ROWS):
                cuts.append((piece, start, min(start + STRETCH_ROWS, n)))
                yield cuts[-1]

    def count(t: int, task: Any, number: int) -> None:
        if join.count(t, *task):
            piece, first, stop = task
            at = first + int(np.isnan(kept[piece].numbers[first:stop]).argmax())
            row = at + sum(len(batch.docs) for batch in kept[:piece])
            raise not_a_number(table, kept[piece].queries[at], kept[piece].docs[at], row)

    share_all(pieces(), lambda t, task, number: join.probe(t, *task), threads)
    join.gather(kept[0].queries.integers)
    share_all(cuts, count, threads)
    rows = join.sum_up()
    tasks = TASKS_PER_THREAD * threads
    if duplicates is not None:
        share_all(parts(duplicates.n_buckets, tasks), lambda t, task, number: duplicates.compare(t, *task), threads)
        if duplicates.gather():
            share_all(cuts, lambda t, task, number: join.mark(t, *task), threads)
            join.gather_marked()

    def settle(evaluate: Callable[..., Any], t: int, *task: Any) -> None:
        pair = interruptible(lambda: evaluate(t, *task), rows)
        if pair is not None:
            raise duplicate_error(table, *ids_at(kept, pair[1]), *pair)

    share_all(range(join.n_ranges), lambda t, task, number: settle(join.settle, t, task), threads)
    again = join.ranges_again(tasks if threads > 1 else 1)
    share_all(again, lambda t, task, number: settle(join.settle_again, t, *task), threads)


def parts(n: int, most: int) -> Iterator[tuple[int, int]]:
    """The numbers from 0 to n in at most so many stretches."""
    size = -(-n // most)
    return ((start, min(start + size, n)) for start in range(0, n, size))
