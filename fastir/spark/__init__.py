"""Evaluate runs that are Spark DataFrames or files, where their rows are, with the same numbers as on one machine.

    run: DataFrame ─ frames ─▶ its three columns, shuffled by query or as they lie
         files ─ run_files ─▶ the same, read by the workers
                                       │ mapInArrow
    qrels, metrics ─ Evaluator ─▶ tasks.states, in every partition: an Evaluator from the function's closure
                         │             │ a row per partition: the values of its queries, counts, or an error
                         ▼             ▼
                     parts.AllValues: values side by side, by the position of their query ─▶ Results ─▶ SparkResults

The values of a query are computed where its rows are, all of them in one partition, by the code that computes them on
one machine. These values come back, not their sums: a mean is then an exact sum over all queries, and its bits do
not depend on the partitions. Two passes leave the rows of a query in many partitions: there Partials come back,
with the counts from which ranks are made. Both are states of `partial`, and are merged there. The driver holds what it
holds without Spark but the run: qrels and Results.

In        DataFrames of PySpark, classic or of Spark Connect; paths of Parquet files; qrels as Evaluator takes them, too
Out       SparkResults, ResultsByRun, Comparison; RankingEvaluator for pyspark.ml
Validates the strategy, against the columns and the rules; the Evaluator all else, on the driver; rows where they are
Allocates on a worker the three columns of one partition, or of one batch in two passes; on the driver the values,
          queries × metrics
Raises    fastir's errors; errors in rows name the partition. An error in a task is returned as a value and
          raised by the driver, so that Spark neither repeats the task nor wraps the message
Uses      mapInArrow, applyInArrow and toArrow: no RDD, no SparkContext, no collect_list, and no pandas of our own

evaluation         evaluate(), evaluate_many(): the front door
frames             columns of DataFrames, the strategy, the qrels of a DataFrame
run_files          runs that are Parquet files, which the workers read
tasks              what runs in a partition; imported by the workers
two_pass           two passes over rows that stay where they are
buckets            qrels that are too large for every worker
spark_results      SparkResults and compare()
ranking_evaluator  RankingEvaluator
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastir.spark.evaluation import evaluate, evaluate_many
    from fastir.spark.ranking_evaluator import RankingEvaluator
    from fastir.spark.spark_results import SparkResults, compare

__all__ = ["RankingEvaluator", "SparkResults", "compare", "evaluate", "evaluate_many"]

# Imported at the first use of the name: workers import `tasks` alone.
MODULE_BY_NAME = {
    "RankingEvaluator": "ranking_evaluator",
    "SparkResults": "spark_results",
    "compare": "spark_results",
    "evaluate": "evaluation",
    "evaluate_many": "evaluation",
}


def __getattr__(name: str) -> object:
    if name not in MODULE_BY_NAME:
        raise AttributeError(f"module 'fastir.spark' has no attribute {name!r}")
    globals()[name] = value = getattr(importlib.import_module(f"fastir.spark.{MODULE_BY_NAME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
