"""What runs in a partition: its rows and an Evaluator in, one row with a pickle out.

The Evaluator comes as bytes in the closure of the function, as Spark Connect has no broadcast variables. A worker makes
it once and keeps it by the digest of the bytes: workers live longer than tasks. Errors in the rows are results like
others, and the driver raises them.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir.errors import FastirError, NoOverlapError
from fastir.evaluation.accumulator import Accumulator
from fastir.evaluation.coverage import MISSING, Counts, Repairs
from fastir.evaluation.named_runs import named_runs
from fastir.inputs import ranking_lists, tables
from fastir.run import Run

if TYPE_CHECKING:
    import pyarrow

    from fastir.evaluation.evaluator import Evaluator

SCHEMA = "state binary"  # of the rows that come back
REFUSALS = (FastirError, TypeError, ValueError, OverflowError)  # of the caller's rows
KEPT: dict[str, Any] = {}  # what this worker made of bytes, by their digest: the last one


class Failure(NamedTuple):
    """What is wrong with the rows of one partition."""

    partition: int
    error: Exception


class Part(NamedTuple):
    """The queries of one run in one partition.

    Attributes
    ----------
    partition : int
    run : str, int or None
        The name of the run, if there are several.
    places : int64 array of shape (n,)
        The positions in the qrels of the queries that are in both, rising.
    values : float64 array of shape (n, n_metrics)
    status : uint8 array of shape (n,)
    counts : Counts
    n_run : int
        How many queries the run has here.
    foreign : list
        One of them that the qrels do not have, if there is one.
    repairs : dict
    """

    partition: int
    run: Any
    places: np.ndarray
    values: np.ndarray
    status: np.ndarray
    counts: Counts
    n_run: int
    foreign: list[Any]
    repairs: Repairs


class Total(NamedTuple):
    """The exact sums over the queries of one partition."""

    partition: int
    total: Accumulator


Read = Callable[[Any, "pyarrow.Table", int], list[Any]]  # of what was in the closure, rows, and the partition's number


def states(pickled: bytes, read: Read, names: Sequence[str]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """The function for mapInArrow that hands the rows of a partition to `read`, with the object that was pickled.

    `names` are those of their columns. `read` returns a list of what is to come back; an empty partition has nothing.
    """
    digest = hashlib.sha256(pickled).hexdigest()

    def of_partition(batches: Iterable[Any]) -> Iterator[Any]:  # pickled by value: its globals are this module's
        return partition_states(pickled, digest, read, names, batches)

    return of_partition


def partition_states(
    pickled: bytes, digest: str, read: Read, names: Sequence[str], batches: Iterable[Any]
) -> Iterator[Any]:
    import pyarrow
    from pyspark import TaskContext

    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    try:
        found = read(kept(pickled, digest), pyarrow.Table.from_batches(held).rename_columns(names), partition)
    except REFUSALS as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (f"{error.args[0]} (in partition {partition}, whose rows are counted from 0)", *error.args[1:])
        found = [Failure(partition, error.with_traceback(None))]
    rows = pyarrow.array([pickle.dumps(each) for each in found], pyarrow.binary())
    yield pyarrow.RecordBatch.from_arrays([rows], ["state"])


def kept(pickled: bytes, digest: str) -> Any:
    """The object that was pickled, which this worker may have already."""
    if digest not in KEPT:
        KEPT.clear()
        KEPT[digest] = pickle.loads(pickled)
    return KEPT[digest]


# ---- what is read of the rows --------------------------------------------------------------------------------------


def rows_of_a_run(evaluator: Evaluator, rows: pyarrow.Table, partition: int) -> list[Part]:
    """A row for each document of a ranking."""
    return [part(evaluator, rows, partition, None, lambda: queries_of(evaluator, rows))]


def lists_of_a_run(evaluator: Evaluator, rows: pyarrow.Table, partition: int) -> list[Part]:
    """A row for each ranking."""
    prepared = evaluator.prepared
    run = Run(*ranking_lists.read(rows, prepared.columns, prepared.settings.options.duplicates))
    return [part(evaluator, run, partition, None, functools.partial(list, run))]


def rows_of_runs(evaluator: Evaluator, rows: pyarrow.Table, partition: int) -> list[Part]:
    """A row for each document of a ranking of one of several runs."""
    prepared = evaluator.prepared
    runs = named_runs(rows, prepared.columns, prepared.settings.options.duplicates)
    return [part(evaluator, run, partition, name, functools.partial(list, run)) for name, run in runs]


def part(evaluator: Evaluator, run: Any, partition: int, name: Hashable, query_ids: Callable[[], list[Any]]) -> Part:
    """Evaluate the queries that are in both."""
    try:
        results, coverage = evaluator.results_of(run, 1)
    except NoOverlapError:
        ids = query_ids()
        nothing = np.empty((0, len(evaluator.prepared.settings.names)))
        return Part(
            partition, name, np.empty(0, np.int64), nothing, np.empty(0, np.uint8), Counts(), len(ids), ids[:1], {}
        )
    tally = coverage.tally
    counts = Counts(*(getattr(tally, field) for field in Counts._fields))
    places = np.flatnonzero(coverage.status != MISSING)
    foreign = coverage.only_in_run()[:1]
    # The repairs name what was repeated, each with its place.
    counts = counts._replace(repeated=0, repeated_example=-1)
    status = coverage.status[places]
    return Part(partition, name, places, results.values, status, counts, coverage.n_run, foreign, coverage.run_repairs)


def queries_of(evaluator: Evaluator, rows: pyarrow.Table) -> list[Any]:
    """The distinct queries of a table of rows."""
    columns: Mapping[Any, Any] = evaluator.prepared.columns or {}
    query = tables.find_columns("run", rows.column_names, columns)[0]
    return rows[query].unique().to_pylist()


def totals(made_of: tuple[Any, ...], rows: pyarrow.Table, partition: int) -> list[Total]:
    """A row for each document, with a label and a score: the sums for RankingEvaluator."""
    metric, options, columns = made_of
    total = Accumulator(metric, **options)
    total.update(rows, columns=columns)
    return [Total(partition, total)]
