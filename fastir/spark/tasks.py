"""What runs in a partition: its rows and an Evaluator in, rows with a pickle each out.

What the function needs comes as bytes in its closure, as Spark Connect has no broadcast variables. A worker unpickles
it once and keeps it by the digest of the bytes: workers live longer than tasks. Errors in the rows are results like
others, and the driver raises them.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import hashlib
import itertools
import pickle
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir._version import __version__
from fastir.data.run import Run
from fastir.engine.columns._ids import encode
from fastir.engine.columns.rows import occurrences
from fastir.errors import FastirError, quote
from fastir.evaluation.accumulator import Accumulator
from fastir.evaluation.composites.per_metric import without_division
from fastir.evaluation.labels import evaluate_scores
from fastir.evaluation.partial.partial import add_rows, share_tables, take_unknown, trust_order
from fastir.evaluation.partial.states import check_version
from fastir.evaluation.partial.values import Values, first_by_bytes
from fastir.evaluation.run_collections import name_the_run, runs_by_name
from fastir.inputs import id_lists, roles
from fastir.inputs.tables import read_label_table

if TYPE_CHECKING:
    import pyarrow

    from fastir.evaluation.evaluator import Evaluator
    from fastir.evaluation.partial.partial import Partial

ANSWER_COLUMNS = ("bucket", "state")  # of the rows that come back
ANSWER_SCHEMA = "bucket int, state binary"
REFUSALS = (FastirError, TypeError, ValueError, OverflowError)  # of the caller's rows
LOADED_BY_DIGEST: dict[str, Any] = {}  # what this worker unpickled for its last task, by the digests of the bytes


class Failure(NamedTuple):
    """What is wrong with the rows of one partition, or bucket."""

    partition: int
    error: Exception


class RunState(NamedTuple):
    """What is known of one run in some partitions, of which `partition` is one; its name, if the rows have one.

    `state` are Values, a compressed Partial, or an Accumulator. The states of one `bucket` are merged by one task.
    """

    partition: int
    run: Any
    state: Any
    bucket: int = 0


class UnknownQueries(NamedTuple):
    """Queries of one bucket and one partition that are missing from the qrels: {run: ids}."""

    partition: int
    bucket: int
    by_run: dict[Any, list[str]]


class UnknownCount(NamedTuple):
    """How many queries of one run are missing from the qrels, in some buckets, and the first by its bytes."""

    partition: int
    run: Any
    n: int
    first: str


def compress_partial(partial: Partial) -> bytes:
    """Pickle and compress a Partial: nearly all of its numbers are one and the same."""
    return zlib.compress(pickle.dumps(partial), 1)


def load_partial(state: bytes) -> Partial:
    partial: Partial = pickle.loads(zlib.decompress(state))
    return partial


Read = Callable[..., list[Any]]  # of what was in the closure, a RecordBatchReader, and the partition's number


def states(pickles: Iterable[bytes], read: Read, names: Sequence[str]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for mapInArrow that hands the rows of a partition to `read`, with the objects that were pickled.

    `names` are the column names. `read` returns a list of the objects that come back; an empty partition has none.
    """
    by_digest, version = digest_pickles(pickles), __version__

    def evaluate_partition(  # pickled by value: its globals are this module's
        batches: Iterable[Any], place: str = ""
    ) -> Iterator[Any]:
        return partition_states(by_digest, version, read, names, iter(batches), place)

    return evaluate_partition


def digest_pickles(pickles: Iterable[bytes]) -> dict[str, bytes]:
    return {hashlib.sha256(pickled).hexdigest(): pickled for pickled in pickles}


def partition_states(
    pickles: Mapping[str, bytes], version: str, read: Read, names: Sequence[str], batches: Iterator[Any], place: str
) -> Iterator[Any]:
    import pyarrow
    from pyspark import TaskContext

    named = (pyarrow.RecordBatch.from_arrays(batch.columns, names) for batch in batches if batch.num_rows)
    first = next(named, None)
    if first is None:
        return
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    rows = pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], named))
    place = place or f"partition {partition}"
    answered = answers(lambda: read(*load_pickles(pickles, version), rows, partition), partition, place)
    collections.deque(batches, 0)  # Spark ends a worker that leaves rows unread
    yield answered


def answers(read: Callable[[], list[Any]], number: int, place: str) -> pyarrow.RecordBatch:
    """Return rows with pickled answers, or with the error and the location in words."""
    import pyarrow

    try:
        results = read()
    except REFUSALS as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (f"{error.args[0]} (in {place}; its rows are counted from 0)", *error.args[1:])
        results = [Failure(number, error.with_traceback(None))]
    buckets = pyarrow.array([getattr(each, "bucket", 0) for each in results], pyarrow.int32())
    return pyarrow.RecordBatch.from_arrays(
        [buckets, pyarrow.array([pickle.dumps(each) for each in results], pyarrow.binary())], ANSWER_COLUMNS
    )


def load_pickles(pickles: Mapping[str, bytes], version: str) -> list[Any]:
    """Unpickle objects of a version of fastir, unless this worker has them already."""
    check_version(version, "a worker was sent what was pickled by")
    for digest in LOADED_BY_DIGEST.keys() - pickles.keys():
        del LOADED_BY_DIGEST[digest]
    for digest in pickles.keys() - LOADED_BY_DIGEST.keys():
        LOADED_BY_DIGEST[digest] = pickle.loads(pickles[digest])
    return [LOADED_BY_DIGEST[digest] for digest in pickles]


# ---- the runs in some rows -----------------------------------------------------------------------------------------

RunIn = tuple[Hashable, Any, Callable[[], list[Any]]]  # the name of a run, its rows, and what gives its query ids
RunsIn = Callable[["pyarrow.Table", Mapping[Any, Any], "str | None"], Iterator[RunIn]]


def run_from_rows(
    rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None, order: str | None = None
) -> Iterator[RunIn]:
    """A row for each document of a ranking."""
    query, _, _, *run = roles.find_columns("run", rows.column_names, columns)
    rows = in_order(rows, "run", columns, duplicates, order)
    name = rows[run[0]][0].as_py() if run else None
    yield name, rows, lambda: rows[query].unique().to_pylist()


def runs_from_rows(
    rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None, order: str | None = None
) -> Iterator[RunIn]:
    """A row for each document of a ranking of one of several runs."""
    for name, run in runs_by_name(in_order(rows, "runs", columns, duplicates, order), columns, duplicates):
        yield name, run, functools.partial(list, run)


def run_from_lists(rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None) -> Iterator[RunIn]:
    """A row for each ranking."""
    run = Run(*id_lists.read_rankings(rows, columns, duplicates))
    yield None, run, functools.partial(list, run)


def runs_from_lists(rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None) -> Iterator[RunIn]:
    """Yield the runs of rows that have a ranking each; the last column has the names of runs."""
    for name, place in places_by_run(rows, rows.column_names[-1]):
        with name_run_in_errors(name):
            run = Run(*id_lists.read_rankings(rows.take(place), columns, duplicates))
        yield name, run, functools.partial(list, run)


def places_by_run(rows: pyarrow.Table, column: str) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield the name of each run in a column, and the positions of its rows."""
    names = rows[column].combine_chunks()
    if names.null_count:
        raise ValueError(f"runs: {quote(column)} is null, the name of a run is missing")
    coded = names.dictionary_encode()
    codes = coded.indices.to_numpy()
    places = np.split(np.argsort(codes, kind="stable"), np.cumsum(occurrences(codes))[:-1])
    return zip(coded.dictionary.to_pylist(), places, strict=True)


@contextlib.contextmanager
def name_run_in_errors(run: Any) -> Iterator[None]:
    """Errors say which of several runs they are about."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        name_the_run(error, run)
        raise


def in_order(
    rows: pyarrow.Table, what: str, columns: Mapping[Any, Any], duplicates: str | None, order: str | None
) -> pyarrow.Table:
    """Sort rows in the order that the rules follow: by a column, or by rank if the first or last copy counts."""
    query, _, number, *run = roles.find_columns(what, rows.column_names, columns)
    if order is None:
        by_rank = duplicates in ORDER_RULES and roles.is_rank(number, columns)
        return rows.sort_by([(number, "ascending")]) if by_rank else rows
    positions = rows[order].to_numpy()
    if positions.dtype.kind not in "iuf":
        raise TypeError(f"{what}: {quote(order)}, the order of the rows, must be numeric, got {rows[order].type}")
    missing = np.isnan(positions)
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"{what}: row {row}: {quote(order)}, the order of the rows, is missing or not a number")
    codes = [rows[name].combine_chunks().dictionary_encode().indices.to_numpy(False) for name in (query, *run)]
    rising = np.lexsort((positions, *codes))
    same = np.logical_and.reduce([np.diff(column[rising]) == 0 for column in (positions, *codes)])
    if same.any():
        row = int(rising[same.argmax()])
        raise ValueError(
            f"{what}: two documents of query {quote(rows[query][row].as_py())} have {positions[row]} in the column "
            f"{quote(order)}, the order of the rows, which rules go by"
        )
    return rows.take(rising)


ORDER_RULES = ("first", "last")


# ---- what is read of the rows --------------------------------------------------------------------------------------
def values(runs_in: RunsIn, evaluator: Evaluator, rows: pyarrow.RecordBatchReader, partition: int) -> list[RunState]:
    """The values of the runs in some rows, which are read by one of the functions above."""
    return values_in(runs_in, evaluator, rows.read_all(), partition)


def values_in(runs_in: RunsIn, evaluator: Evaluator, rows: pyarrow.Table, partition: int) -> list[RunState]:
    prepared = without_division(evaluator.rules.prepared)
    runs = runs_in(rows, prepared.columns or {}, prepared.settings.options.duplicates)
    return [
        RunState(partition, name, Values.from_run(prepared, evaluator.rules.retrieved(run), partition, query_ids))
        for name, run, query_ids in runs
    ]


def one_pass(
    several: bool,
    reads_all: bool,
    spread: int,
    evaluator: Evaluator,
    after: Mapping[Any, bytes] | None,
    rows: pyarrow.RecordBatchReader,
    partition: int,
) -> list[Any]:
    """One of two passes over the rows of one run or of several, some batches at a time.

    The states of a run go to at most `spread` buckets; `after` has the merged first pass of each run, compressed, and
    `reads_all` is as for `EvaluationRules.empty_partial`.
    """
    partials: dict[Any, Partial] = {}
    if several:
        for name, some, row_numbers in rows_by_run(rows):
            with name_run_in_errors(name):
                if name not in partials:
                    partials[name] = begin_pass(evaluator, after, reads_all, name, partials.values())
                add_rows(partials[name], some, row_numbers)
    else:
        name, rows = first_run(evaluator, rows)
        partials[name] = begin_pass(evaluator, after, reads_all, name, ())
        partials[name].add(rows)
    unknown: dict[int, dict[Any, list[str]]] = {}
    for name, partial in partials.items():
        for query_id in take_unknown(partial):
            bucket = zlib.crc32(encode(query_id)) % UNKNOWN_BUCKETS
            unknown.setdefault(bucket, {}).setdefault(name, []).append(query_id)
    states: list[Any] = []
    for name, partial in partials.items():
        bucket = (zlib.crc32(encode(repr(name))) + partition % spread) % MAX_BUCKETS
        states.append(RunState(partition, name, compress_partial(partial), bucket))
    return states + [UnknownQueries(partition, bucket, by_run) for bucket, by_run in unknown.items()]


MAX_BUCKETS = 1 << 31
UNKNOWN_BUCKETS = 64  # of query ids, each counted by one task
BLOCK_ROWS = 1 << 17  # of several runs, so that each has many of them
BLOCK_BYTES = 1 << 28  # that a task puts together


def rows_by_run(rows: pyarrow.RecordBatchReader) -> Iterator[tuple[Any, pyarrow.Table, np.ndarray]]:
    """Yield the name of a run from the last column, some of its rows, and their positions."""
    column, n_before = rows.schema.names[-1], 0
    for table in tables(rows, BLOCK_ROWS):
        for name, places in places_by_run(table, column):
            some = table if len(places) == len(table) else table.take(places)
            yield name, some.drop_columns([column]), n_before + places
        n_before += len(table)


def tables(batches: Iterable[pyarrow.RecordBatch], enough: int) -> Iterator[pyarrow.Table]:
    """Batches put together until they have enough rows, or bytes."""
    import pyarrow

    held: list[pyarrow.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in batches:
        held.append(batch)
        n_rows += len(batch)
        n_bytes += batch.nbytes
        if n_rows >= enough or n_bytes >= BLOCK_BYTES:
            yield pyarrow.Table.from_batches(held).combine_chunks()
            held, n_rows, n_bytes = [], 0, 0
    if n_rows:
        yield pyarrow.Table.from_batches(held).combine_chunks()


def begin_pass(
    evaluator: Evaluator, after: Mapping[Any, bytes] | None, reads_all: bool, run: Any, others: Iterable[Partial]
) -> Partial:
    """Return the Partial of a run in one of two passes; the Partials of several runs share what they can."""
    if after is not None and run not in after:
        raise ValueError("run: it has rows in the second pass and none in the first; both must see the same parts")
    partial = evaluator.rules.empty_partial("two-pass", None if after is None else load_partial(after[run]), reads_all)
    for other in itertools.islice(others, 1):
        share_tables(partial, other)
    return partial


def rank_queries(
    strategy: Any, order: str | None, evaluator: Evaluator, rows: pyarrow.RecordBatchReader, partition: int
) -> list[RunState]:
    """Return the ranks of all judged documents of whole queries of one run; `order` is the column to sort by."""
    partial, name = evaluator.rules.empty_partial(strategy, None, True), None
    if strategy != "lists":  # rows of lists name no run
        name, rows = first_run(evaluator, rows)
    if order is not None:
        rows = in_order(rows.read_all(), "run", evaluator.rules.columns or {}, None, order)
        trust_order(partial)
    partial.add(rows)
    return [RunState(partition, name, compress_partial(partial))]


def first_run(evaluator: Evaluator, rows: pyarrow.RecordBatchReader) -> tuple[Any, pyarrow.RecordBatchReader]:
    """The name of the first run of some rows, if they have one, and the rows."""
    import pyarrow

    _, _, _, *run = roles.find_columns("run", rows.schema.names, evaluator.rules.columns or {})
    first = rows.read_next_batch()
    rows = pyarrow.RecordBatchReader.from_batches(rows.schema, itertools.chain([first], rows))
    return first[run[0]][0].as_py() if run else None, rows


def merge_states(rows: pyarrow.RecordBatchReader, partition: int) -> list[Any]:
    """The merged states of each run in some buckets, and the counts of its unknown queries; or failures."""
    answers = [pickle.loads(state) for batch in rows for state in batch["state"].to_pylist()]
    failures = [each for each in answers if isinstance(each, Failure)]
    if failures:
        return failures
    totals: dict[Any, Partial] = {}
    unknown: dict[Any, set[str]] = {}
    for answer in answers:
        if isinstance(answer, UnknownQueries):
            for name, query_ids in answer.by_run.items():
                unknown.setdefault(name, set()).update(query_ids)
        elif answer.run in totals:
            totals[answer.run].merge(load_partial(answer.state))
        else:
            totals[answer.run] = load_partial(answer.state)
    counts = [
        UnknownCount(partition, name, len(query_ids), *first_by_bytes(query_ids)) for name, query_ids in unknown.items()
    ]
    return [RunState(partition, name, compress_partial(total)) for name, total in totals.items()] + counts


def totals(arguments: tuple[Any, ...], rows: pyarrow.RecordBatchReader, partition: int) -> list[RunState]:
    """A row for each document, with a label and a score: the sums for RankingEvaluator."""
    metric, options, columns = arguments
    total, table = Accumulator(metric, **options), rows.read_all()
    total.update(table, columns=columns)
    refuse_open_order(table, metric, options, columns)
    return [RunState(partition, None, total)]


def refuse_open_order(rows: pyarrow.Table, metric: str, options: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    """Refuse equal scores that leave a value to the order of rows: the lowest label first, or the highest."""
    of_order = []
    for order in ("ascending", "descending"):
        sorted_rows = rows.sort_by([(columns["query_id"], "ascending"), (columns["label"], order)])
        of_order.append(evaluate_scores(**read_label_table(sorted_rows, columns), metrics=metric, **options))
        if not of_order[0].report.queries_with_ties:
            return
    least, most = (each.values[:, 0] for each in of_order)
    apart = np.flatnonzero((least != most) & ~(np.isnan(least) & np.isnan(most)))
    if len(apart):
        raise ValueError(
            f"scores: documents of query {quote(of_order[0].query_ids[apart[0]])} have one score and different labels, "
            "and Spark does not keep the order of rows; give options={'ties': 'pessimistic'}, 'optimistic' or 'average'"
        )
