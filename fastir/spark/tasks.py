"""What runs in a partition: its rows and an Evaluator in, rows with a pickle each out.

What the function needs comes as bytes in its closure, as Spark Connect has no broadcast variables. A worker unpickles
it once and keeps it by the digest of the bytes: workers live longer than tasks. Errors in the rows are results like
others, and the driver raises them.
"""

from __future__ import annotations

import collections
import functools
import hashlib
import itertools
import pickle
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir._version import __version__
from fastir.columns.rows import occurrences
from fastir.errors import FastirError, quote
from fastir.evaluation.accumulator import Accumulator
from fastir.evaluation.run_collections import named_runs
from fastir.inputs import ranking_lists, roles
from fastir.parts.strategies import check_version
from fastir.parts.values import Values
from fastir.rule_sets.per_metric import undivided
from fastir.run import Run

if TYPE_CHECKING:
    import pyarrow

    from fastir.evaluation.evaluator import Evaluator
    from fastir.parts.partial import Partial

SCHEMA = "state binary"  # of the rows that come back
REFUSALS = (FastirError, TypeError, ValueError, OverflowError)  # of the caller's rows
KEPT: dict[str, Any] = {}  # what this worker unpickled for its last task, by the digests of the bytes


class Failure(NamedTuple):
    """What is wrong with the rows of one partition, or bucket."""

    partition: int
    error: Exception


class RunValues(NamedTuple):
    """The values of one run in one partition; its name, if the rows have one."""

    partition: int
    run: Any
    values: Values


class Passed(NamedTuple):
    """The state of some partitions after one of two passes.

    Attributes
    ----------
    partition : int
        One of them.
    runs : set
        The names of runs that rows have there.
    state : bytes
        A Partial, pickled and packed: nearly all of its numbers are one and the same.
    """

    partition: int
    runs: set[Any]
    state: bytes

    @classmethod
    def of(cls, partition: int, runs: set[Any], partial: Partial) -> Passed:
        return cls(partition, runs, zlib.compress(pickle.dumps(partial), 1))

    def partial(self) -> Partial:
        partial: Partial = pickle.loads(zlib.decompress(self.state))
        return partial


class Total(NamedTuple):
    """The exact sums over the queries of one partition."""

    partition: int
    total: Accumulator


Read = Callable[..., list[Any]]  # of what was in the closure, a RecordBatchReader, and the partition's number


def states(pickles: Iterable[bytes], read: Read, names: Sequence[str]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for mapInArrow that hands the rows of a partition to `read`, with the objects that were pickled.

    `names` are those of their columns. `read` returns a list of what is to come back; an empty partition has nothing.
    """
    by_digest, version = digested(pickles), __version__

    def evaluate_partition(batches: Iterable[Any]) -> Iterator[Any]:  # pickled by value: its globals are this module's
        return partition_states(by_digest, version, read, names, iter(batches))

    return evaluate_partition


def digested(pickles: Iterable[bytes]) -> dict[str, bytes]:
    return {hashlib.sha256(pickled).hexdigest(): pickled for pickled in pickles}


def partition_states(
    pickles: Mapping[str, bytes], version: str, read: Read, names: Sequence[str], batches: Iterator[Any]
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
    answered = answers(lambda: read(*kept(pickles, version), rows, partition), "partition", partition)
    collections.deque(batches, 0)  # Spark ends a worker that leaves rows unread
    yield pyarrow.RecordBatch.from_arrays([answered], ["state"])


def answers(read: Callable[[], list[Any]], what: str, number: int) -> pyarrow.Array:
    """What was read, pickled, or why it could not be."""
    import pyarrow

    try:
        results = read()
    except REFUSALS as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (f"{error.args[0]} (in {what} {number}, whose rows are counted from 0)", *error.args[1:])
        results = [Failure(number, error.with_traceback(None))]
    return pyarrow.array([pickle.dumps(each) for each in results], pyarrow.binary())


def kept(pickles: Mapping[str, bytes], version: str) -> list[Any]:
    """The objects that were pickled by a version of fastir, which this worker may have already.

    Raises
    ------
    FormatError
        The worker has another version.
    """
    check_version(version, "a worker was sent what was pickled by")
    for digest in KEPT.keys() - pickles.keys():
        del KEPT[digest]
    for digest in pickles.keys() - KEPT.keys():
        KEPT[digest] = pickle.loads(pickles[digest])
    return [KEPT[digest] for digest in pickles]


# ---- the runs in some rows -----------------------------------------------------------------------------------------

RunIn = tuple[Hashable, Any, Callable[[], list[Any]]]  # the name of a run, its rows, and what gives its query ids
RunsIn = Callable[["pyarrow.Table", Mapping[Any, Any], "str | None"], Iterator[RunIn]]


def run_from_rows(rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None) -> Iterator[RunIn]:
    """A row for each document of a ranking."""
    query, _, _, *run = roles.find_columns("run", rows.column_names, columns)
    rows = by_rank(rows, "run", columns, duplicates)
    name = rows[run[0]][0].as_py() if run else None
    yield name, rows, lambda: rows[query].unique().to_pylist()


def runs_from_rows(rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None) -> Iterator[RunIn]:
    """A row for each document of a ranking of one of several runs."""
    for name, run in named_runs(by_rank(rows, "runs", columns, duplicates), columns, duplicates):
        yield name, run, functools.partial(list, run)


def run_from_lists(rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None) -> Iterator[RunIn]:
    """A row for each ranking."""
    run = Run(*ranking_lists.read(rows, columns, duplicates))
    yield None, run, functools.partial(list, run)


def runs_from_lists(rows: pyarrow.Table, columns: Mapping[Any, Any], duplicates: str | None) -> Iterator[RunIn]:
    """A row for each ranking of one of several runs, whose names are the last column."""
    names = rows.column(rows.num_columns - 1).combine_chunks()
    if names.null_count:
        raise ValueError(f"runs: {quote(rows.column_names[-1])} is null, the name of a run is missing")
    coded = names.dictionary_encode()
    codes = coded.indices.to_numpy()
    for name, place in zip(
        coded.dictionary.to_pylist(),
        np.split(np.argsort(codes, kind="stable"), np.cumsum(occurrences(codes))[:-1]),
        strict=True,
    ):
        try:
            run = Run(*ranking_lists.read(rows.take(place), columns, duplicates))
        except (TypeError, ValueError, OverflowError) as error:
            error.args = (f"run {quote(name)}: {error.args[0]}", *error.args[1:])
            raise
        yield name, run, functools.partial(list, run)


def by_rank(rows: pyarrow.Table, what: str, columns: Mapping[Any, Any], duplicates: str | None) -> pyarrow.Table:
    """The rows in the order of their ranks, where the first or the last of several counts."""
    number = roles.find_columns(what, rows.column_names, columns)[2]
    ordered = duplicates in BY_ORDER and roles.is_rank(number, columns)
    return rows.sort_by([(number, "ascending")]) if ordered else rows


BY_ORDER = ("first", "last")

# ---- what is read of the rows --------------------------------------------------------------------------------------


def values(runs_in: RunsIn, evaluator: Evaluator, rows: pyarrow.RecordBatchReader, partition: int) -> list[RunValues]:
    """The values of the runs in some rows, which are read by one of the functions above."""
    return values_in(runs_in, evaluator, rows.read_all(), partition)


def values_in(runs_in: RunsIn, evaluator: Evaluator, rows: pyarrow.Table, partition: int) -> list[RunValues]:
    prepared = undivided(evaluator._prepared)
    runs = runs_in(rows, prepared.columns or {}, prepared.settings.options.duplicates)
    return [
        RunValues(partition, name, Values.from_run(prepared, run, partition, query_ids))
        for name, run, query_ids in runs
    ]


def one_pass(
    evaluator: Evaluator, after: Partial | None, rows: pyarrow.RecordBatchReader, partition: int
) -> list[Passed]:
    """One of two passes over the rows, a batch at a time; `after` is the merged first one."""
    return added(evaluator.partial(strategy="two-pass", after=after), evaluator, rows, partition)


def ranked(strategy: Any, evaluator: Evaluator, rows: pyarrow.RecordBatchReader, partition: int) -> list[Passed]:
    """Where the judged documents of whole queries stand."""
    partial = evaluator.partial(strategy=strategy)
    if strategy != "lists":  # whose rows name no run
        return added(partial, evaluator, rows, partition)
    partial.add(rows)
    return [Passed.of(partition, set(), partial)]


def added(partial: Partial, evaluator: Evaluator, rows: pyarrow.RecordBatchReader, partition: int) -> list[Passed]:
    """A Partial with the rows, and the names of their runs."""
    import pyarrow

    _, _, _, *run = roles.find_columns("run", rows.schema.names, evaluator._prepared.columns or {})
    first = rows.read_next_batch()
    runs = {first[name][0].as_py() for name in run}
    partial.add(pyarrow.RecordBatchReader.from_batches(rows.schema, itertools.chain([first], rows)))
    return [Passed.of(partition, runs, partial)]


def merged(rows: pyarrow.RecordBatchReader, partition: int) -> list[Any]:
    """The merged state of some partitions after one pass, or their failures."""
    passes = [pickle.loads(state) for batch in rows for state in batch["state"].to_pylist()]
    failures = [each for each in passes if isinstance(each, Failure)]
    if failures:
        return failures
    total = passes[0].partial()
    for passed in passes[1:]:
        total.merge(passed.partial())
    return [Passed.of(partition, set().union(*(passed.runs for passed in passes)), total)]


def totals(arguments: tuple[Any, ...], rows: pyarrow.RecordBatchReader, partition: int) -> list[Total]:
    """A row for each document, with a label and a score: the sums for RankingEvaluator."""
    metric, options, columns = arguments
    total = Accumulator(metric, **options)
    total.update(rows.read_all(), columns=columns)
    return [Total(partition, total)]
