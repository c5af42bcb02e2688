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

from fastir.evaluation.evaluator import Evaluator, Sides, evaluator_of
from fastir.join._counts import FIELDS, Counts
from fastir.qrels import Qrels
from fastir.spark import tasks
from fastir.spark.merging import all_missing

if TYPE_CHECKING:
    import pyarrow

    from fastir.inputs.parents import AnyParents
    from fastir.request.options import Options
    from fastir.runs.coverage import Repairs

NONE_YET = Qrels.from_dict({"": {"": 0}})  # in place of qrels that are in no driver
KEY = "bucket"  # the name of a column
JUDGMENTS = 1 << 17  # in a bucket, about
OF_A_PARTITION = 4  # buckets, or more: a worker holds the rows of one at a time


class Request(NamedTuple):
    """What an Evaluator of any qrels is made from."""

    metrics: tuple[Any, ...]
    options: Options
    columns: Sides
    parents: AnyParents | None

    def evaluator(self, qrels: Any, weights: Mapping[Any, float] | None = None, **options: Any) -> Evaluator:
        changed = self.options.replace(**options)
        return evaluator_of(qrels, self.metrics, changed, self.columns, weights, self.parents)


class Bucket(NamedTuple):
    """What a bucket comes to.

    Attributes
    ----------
    partition : int
        Its number.
    query_ids : list
        Those of the qrels.
    lacking : float64 array of shape (n_queries, n_metrics)
        The values of these queries for a run that lacks them.
    repairs : dict
        Of the qrels.
    parts : list of Part
        One for each run; places are those in this bucket.
    """

    partition: int
    query_ids: list[Any]
    lacking: np.ndarray
    repairs: Repairs
    parts: list[tasks.Part]


# ---- on a worker ---------------------------------------------------------------------------------------------------


def states(pickled: bytes, runs_in: tasks.RunsIn, of_qrels: Sequence[str], of_run: Sequence[str]) -> Callable[..., Any]:
    """The function for applyInArrow of a pickled Request; the names are those of the columns of both sides."""
    by_digest = tasks.digested([pickled])

    def of_bucket(key: tuple[Any, ...], judgments: pyarrow.Table, rows: pyarrow.Table) -> pyarrow.Table:
        return bucket_states(by_digest, runs_in, key[0].as_py(), named(judgments, of_qrels), named(rows, of_run))

    return of_bucket


def named(table: pyarrow.Table, names: Sequence[str]) -> pyarrow.Table:
    return table.drop_columns([KEY]).rename_columns(list(names))


def bucket_states(
    pickles: Mapping[str, bytes], runs_in: tasks.RunsIn, number: int, judgments: pyarrow.Table, rows: pyarrow.Table
) -> pyarrow.Table:
    import pyarrow

    def read() -> list[Bucket]:
        [request] = tasks.kept(pickles)
        return [bucket_of(request, runs_in, number, judgments, rows)]

    return pyarrow.table({"state": tasks.answers(read, "bucket", number)})


def bucket_of(
    request: Request, runs_in: tasks.RunsIn, number: int, judgments: pyarrow.Table, rows: pyarrow.Table
) -> Bucket:
    """Evaluate the queries of a bucket."""
    if judgments.num_rows == 0:
        n_metrics = len(request.metrics)
        found = runs_in(rows, request.columns[1] or {}, request.options.duplicates)
        foreign = [tasks.foreign_part(query_ids(), n_metrics, number, name) for name, _, query_ids in found]
        return Bucket(number, [], np.empty((0, n_metrics)), {}, foreign)
    evaluator = request.evaluator(judgments, queries="qrels")
    qrels = evaluator._prepared.qrels
    parts = []
    if rows.num_rows:
        parts = tasks.parts_in(runs_in, request.evaluator(qrels, queries="intersection"), rows, number)
    return Bucket(number, list(qrels), all_missing(evaluator)[0].values, qrels._repairs, parts)


# ---- on the driver -------------------------------------------------------------------------------------------------


def mapped(qrels: Any, run: Any, n_judgments: int, function: Any) -> Any:
    """What a function makes of the buckets of two DataFrames whose columns are numbered, those of queries 0."""
    partitions = int(run.sparkSession.conf.get("spark.sql.shuffle.partitions"))
    n_buckets = max(OF_A_PARTITION * partitions, n_judgments // JUDGMENTS)
    left, right = (
        frame.selectExpr("*", f"pmod(xxhash64(cast(`0` AS string)), {n_buckets}) AS {KEY}").groupBy(KEY)
        for frame in (qrels, run)
    )
    return left.cogroup(right).applyInArrow(function, tasks.SCHEMA)


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


def together(buckets: list[Bucket], evaluator: Evaluator) -> tuple[list[tasks.Part], np.ndarray]:
    """The Parts of all buckets, placed as an Evaluator of all queries has them, and the values of absent queries."""
    places = evaluator._prepared.qrels._places()
    lacking = np.empty((len(places), len(evaluator._prepared.settings.names)))
    parts = []
    for bucket in buckets:
        at = np.array([places[query_id] for query_id in bucket.query_ids], np.int64)
        lacking[at] = bucket.lacking
        parts += [moved(part, at) for part in bucket.parts]
    return parts, lacking


def moved(part: tasks.Part, at: np.ndarray) -> tasks.Part:
    """A Part whose queries stand elsewhere, in the order of their places there."""
    places = at[part.places]
    order = np.argsort(places)
    counts = Counts().plus(part.counts)
    for name in FIELDS:
        if name.endswith("_example") and getattr(counts, name) >= 0:
            setattr(counts, name, int(at[getattr(counts, name)]))
    return part._replace(places=places[order], values=part.values[order], status=part.status[order], counts=counts)
