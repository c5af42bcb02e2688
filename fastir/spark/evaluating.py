"""evaluate() and evaluate_many() for runs that are DataFrames: the front door of fastir.spark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastir.checks import one_of
from fastir.errors import NoOverlapError, quote
from fastir.evaluation.evaluator import Evaluator, columns_by_side
from fastir.results.by_run import ResultsByRun
from fastir.spark import frames, merging
from fastir.spark.spark_results import SparkResults
from fastir.spark.tasks import Part


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Iterable[str],
    *,
    strategy: str = "auto",
    by: Any = None,
    **options: Any,
) -> SparkResults:
    """Evaluate a run that is a DataFrame of Spark: the numbers of `fastir.evaluate`, to the last bit.

    Parameters
    ----------
    qrels : DataFrame, or as for `fastir.evaluate`
        At most 64 MB when they are prepared, about two million judgments: they are collected, and go to every worker.
    run : DataFrame
        A row for each document, with columns as `fastir.evaluate` takes them: query_id, doc_id, and score or rank. Or
        a row for each query, with a list of ids in rank order (doc_ids, ranking, retrieved), perhaps beside a list of
        scores.
    metrics : str or iterable of str
        As for `fastir.evaluate`.
    strategy : {"auto", "shuffle", "grouped", "lists"}
        "shuffle": the rows of each query are brought together; a worker holds the columns of one partition at a time.
        "grouped": the caller knows that they already lie in one partition, and nothing is moved. "lists": a row is a
        whole ranking. "auto": "lists" for a column of lists, else "shuffle".
    by : mapping, DataFrame or None
        The group of each query, ``{query_id: group}`` or two such columns, for `SparkResults.by_group`.
    **options
        As for `fastir.evaluate`. Workers have one thread for a task, whatever n_threads is.

    Returns
    -------
    SparkResults

    Raises
    ------
    ValueError
        ``strategy="grouped"``, and the rows of a query lie in two partitions; it is named. A strategy does not fit the
        columns, or a rule goes by the order of rows, which a shuffle does not keep: ``ties="input"`` without a column
        of ranks, ``duplicates="first"`` and "last".
    FastirError
        The qrels are too large.
    UnknownMetricError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `fastir.evaluate`. An error in a row says in which partition it lies.

    Warns
    -----
    FastirWarning
        As `fastir.evaluate`.

    Notes
    -----
    One job over the run is started; another collects the qrels, if they are a DataFrame. Undefined cases are those of
    `fastir.evaluate`.
    """
    frames.check_run(run)
    groups = frames.groups_of(by)
    evaluator = prepared(qrels, metrics, options)
    chosen = frames.strategy_of(run, strategy, evaluator.prepared.columns)
    parts = merging.parts_of(frames.states_of(run, evaluator, chosen, several=False))
    results, coverage = merging.results_of(evaluator, parts)
    if not coverage.clean:
        coverage.warn(evaluator.prepared.settings.queries)
    return SparkResults(run.sparkSession, results, groups)


def evaluate_many(
    qrels: Any, runs: Any, metrics: str | Iterable[str], *, strategy: str = "shuffle", **options: Any
) -> ResultsByRun:
    """Evaluate the runs of one DataFrame, in one job.

    Parameters
    ----------
    qrels, metrics, **options
        As for `evaluate`.
    runs : DataFrame
        As `evaluate` takes a row for each document, and with a column run, system, run_id or system_id (or the one that
        `columns` says) with the name of the run of each row.
    strategy : {"shuffle", "grouped"}
        As for `evaluate`; a query of one run is what lies in one partition.

    Returns
    -------
    ResultsByRun
        {name: Results}, by name.

    Raises
    ------
    Exception
        As by `evaluate`, with the name of the run.

    Warns
    -----
    FastirWarning
        As `fastir.evaluate`, for each run, with its name.
    """
    frames.check_run(runs)
    one_of("strategy", strategy, ("shuffle", "grouped"))
    evaluator = prepared(qrels, metrics, options)
    by_name: dict[Any, list[Part]] = {}
    for part in merging.parts_of(frames.states_of(runs, evaluator, strategy, several=True)):
        by_name.setdefault(part.run, []).append(part)
    if not by_name:
        raise NoOverlapError("the runs are empty: no results, no queries")
    made = ResultsByRun()
    for name in sorted(by_name):
        try:
            results, coverage = merging.results_of(evaluator, by_name[name])
        except ValueError as error:
            error.args = (f"run {quote(name)}: {error.args[0]}", *error.args[1:])
            raise
        coverage.warn(evaluator.prepared.settings.queries, f"run {quote(name)}: ")
        made[name] = results
    return made


def prepared(qrels: Any, metrics: str | Iterable[str], options: dict[str, Any]) -> Evaluator:
    """An Evaluator, of qrels that may be a DataFrame."""
    if frames.is_frame(qrels):
        of_qrels, _ = columns_by_side(*(options.get(name) for name in ("columns", "qrels_columns", "run_columns")))
        qrels = frames.collected(qrels, of_qrels)
    return Evaluator(qrels, metrics, **options)
