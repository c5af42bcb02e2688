"""Qrels that are too large for every worker: both sides come together by buckets of queries, each with an Evaluator.

    qrels ─┐ pmod(xxhash64(query_id as a string), n_buckets)
           ├─▶ cogroup ─▶ the judgments and the rows of one bucket ─▶ the values of its queries
    run ───┘

A bucket is a group, not a query: many queries share one, and its judgments are prepared together. The values come back
with the ids of the queries, which give their order where the driver has no qrels: no partition has a say in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastir._version import __version__
from fastir.data.qrels import Qrels
from fastir.data.run import Run
from fastir.evaluation.evaluator import Evaluator, make_evaluator
from fastir.evaluation.partial.values import Values
from fastir.evaluation.rules import EvaluationRequest, Sides
from fastir.spark import run_files, tasks

if TYPE_CHECKING:
    import pyarrow

    from fastir.data.results.results import Results
    from fastir.evaluation.drivers.coverage import Coverage, Repairs
    from fastir.inputs.parents import AnyParents
    from fastir.request.options import Options

NO_QRELS = Qrels.from_dict({"": {"": 0}})  # for qrels that are not on the driver
BUCKET_COLUMN = "bucket"  # the name of a column
JUDGMENTS_PER_BUCKET = 1 << 17  # about


class Request(NamedTuple):
    """The arguments of an Evaluator, except its qrels."""

    metrics: tuple[Any, ...]
    options: Options
    columns: Sides
    parents: AnyParents | None

    def evaluator(self, qrels: Any, weights: Mapping[Any, float] | None = None, **options: Any) -> Evaluator:
        changed = self.options.replace(**options)
        return make_evaluator(EvaluationRequest(qrels, self.metrics, changed, self.columns, weights, self.parents))


class Bucket(NamedTuple):
    """The results of a bucket of queries, with the repairs of its qrels; runs have positions in this bucket.

    `absent` are the values of a run without the queries, float64 of shape (n_queries, n_metrics).
    """

    partition: int
    query_ids: list[Any]
    absent: np.ndarray
    repairs: Repairs
    runs: list[tasks.RunState]


# ---- on a worker ---------------------------------------------------------------------------------------------------
def states(
    pickled: bytes, runs_in: tasks.RunsIn, qrels_names: Sequence[str], run_names: Sequence[str]
) -> Callable[..., Any]:
    """Return the function for applyInArrow of a pickled Request; the names are the column names of both sides."""
    by_digest, version = tasks.digest_pickles([pickled]), __version__

    def evaluate_group(key: tuple[Any, ...], judgments: pyarrow.Table, rows: pyarrow.Table) -> pyarrow.Table:
        return bucket_states(
            by_digest,
            version,
            runs_in,
            key[0].as_py(),
            restore_names(judgments, qrels_names),
            restore_names(rows, run_names),
        )

    return evaluate_group


def restore_names(table: pyarrow.Table, names: Sequence[str]) -> pyarrow.Table:
    return table.drop_columns([BUCKET_COLUMN]).rename_columns(list(names))


def bucket_states(
    pickles: Mapping[str, bytes],
    version: str,
    runs_in: tasks.RunsIn,
    number: int,
    judgments: pyarrow.Table,
    rows: pyarrow.Table,
) -> pyarrow.Table:
    import pyarrow

    def read() -> list[Bucket]:
        [request] = tasks.load_pickles(pickles, version)
        return [evaluate_bucket(request, runs_in, number, judgments, rows)]

    return pyarrow.Table.from_batches([tasks.answers(read, number, f"bucket {number}")])


def evaluate_bucket(
    request: Request, runs_in: tasks.RunsIn, number: int, judgments: pyarrow.Table, rows: pyarrow.Table
) -> Bucket:
    """Evaluate the queries of a bucket."""
    if judgments.num_rows == 0:
        n_metrics = len(request.metrics)
        runs = runs_in(rows, request.columns[1] or {}, request.options.duplicates)
        only_in_run = [
            tasks.RunState(number, name, Values.from_unknown_queries(query_ids(), n_metrics, number))
            for name, _, query_ids in runs
        ]
        return Bucket(number, [], np.empty((0, n_metrics)), {}, only_in_run)
    evaluator = request.evaluator(judgments, queries="qrels")
    qrels = evaluator.rules.qrels
    values = []
    if rows.num_rows:
        values = tasks.values_in(runs_in, request.evaluator(qrels, queries="intersection"), rows, number)
    return Bucket(number, list(qrels), absent_values(evaluator)[0].values, qrels.columns.repairs, values)


def absent_values(evaluator: Evaluator) -> tuple[Results, Coverage]:
    """Return the values of all queries for a run without them: the run has one query, with an empty ranking."""
    settings = evaluator.rules.settings
    options = settings.options.replace(queries="qrels")
    plain = make_evaluator(EvaluationRequest(evaluator.rules.qrels, settings.metrics, options))
    return plain.rules.evaluate_one(Run.from_dict({next(iter(plain.rules.qrels)): []}), 1)


# ---- on the driver -------------------------------------------------------------------------------------------------
def map_buckets(qrels: Any, run: Any, n_judgments: int, function: Any) -> Any:
    """A function applied to the buckets of two DataFrames. Their columns are numbered; column 0 has the queries."""
    n_buckets = max(run_files.n_buckets(run.sparkSession), n_judgments // JUDGMENTS_PER_BUCKET)
    left, right = (
        frame.selectExpr("*", f"pmod(xxhash64(cast(`0` AS string)), {n_buckets}) AS {BUCKET_COLUMN}").groupBy(
            BUCKET_COLUMN
        )
        for frame in (qrels, run)
    )
    return left.cogroup(right).applyInArrow(function, tasks.ANSWER_SCHEMA)


def with_all_queries(buckets: list[Bucket], request: Request, weights: Mapping[Any, float] | None) -> Evaluator:
    """An Evaluator that knows the queries of all buckets, though not their judgments."""
    query_ids = sorted(query_id for bucket in buckets for query_id in bucket.query_ids)
    n = len(query_ids)
    repairs: Repairs = {}
    for bucket in buckets:
        for kind, (count, place) in bucket.repairs.items():
            before, first = repairs.get(kind, (0, place))
            repairs[kind] = before + count, first
    qrels = Qrels(query_ids, np.arange(n + 1), [""] * n, np.zeros(n, np.int32), repairs)
    return request.evaluator(qrels, weights)


def join_buckets(buckets: list[Bucket], evaluator: Evaluator) -> tuple[list[tasks.RunState], np.ndarray]:
    """Return the values of all buckets at an Evaluator's positions, and the values of absent queries."""
    places = evaluator.rules.qrels.columns.places()
    absent = np.empty((len(places), len(evaluator.rules.settings.names)))
    runs = []
    for bucket in buckets:
        at = np.array([places[query_id] for query_id in bucket.query_ids], np.int64)
        absent[at] = bucket.absent
        runs += [each._replace(state=each.state.at_positions(at)) for each in bucket.runs]
    return runs, absent
