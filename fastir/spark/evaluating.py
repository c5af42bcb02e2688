"""evaluate() and evaluate_many() for runs that are DataFrames: the front door of fastir.spark."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastir.checks import one_of
from fastir.errors import FastirError, NoOverlapError, quote
from fastir.evaluation.evaluator import Evaluator, Sides, columns_by_side
from fastir.inputs import roles
from fastir.qrels import GroupedQrels
from fastir.request.options import query_rule
from fastir.results.by_run import ResultsByRun
from fastir.spark import buckets, frames, merging, tasks, two_pass
from fastir.spark.spark_results import SparkResults
from fastir.spark.tasks import Part, RunsIn


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
        Up to 64 MB when they are prepared, about two million judgments, they are collected and go to every worker.
        Larger ones meet the rows of the run in buckets of queries; both are shuffled, whatever the strategy, and the
        queries of the results are in the order of their ids.
    run : DataFrame
        A row for each document, with columns as `fastir.evaluate` takes them: query_id, doc_id, and score or rank. Or
        a row for each query, with a list of ids in rank order (doc_ids, ranking, retrieved), perhaps beside a list of
        scores.
    metrics : str or iterable of str
        As for `fastir.evaluate`.
    strategy : {"auto", "shuffle", "grouped", "two-pass", "lists"}
        "shuffle": the rows of each query are brought together; a worker holds the columns of one partition at a time.
        "grouped": the caller knows that they already lie in one partition, and nothing is moved. "two-pass": nothing is
        moved, but the run is read twice; first to find the scores of the judged documents, then to count the rows
        before them; a worker holds one batch of rows at a time. It looks for duplicates only among judged documents,
        and so needs ``validate="judged"``. On one node it takes more processor time than "shuffle", and is for queries
        that are too large for a worker, and for clusters whose disks or network are slow. "lists": a row is a whole
        ranking. "auto": "lists" for a column of lists; "two-pass" for ``validate="judged"``, unless another option is
        refused there; else "shuffle".
    by : str, mapping, DataFrame or None
        The segment of each query for `SparkResults.by_segment`: the name of a column of the qrels or the run, in which
        all rows of a query have one value; ``{query_id: segment}``; or a DataFrame of two such columns.
    **options
        As for `fastir.evaluate`. Workers have one thread for a task, whatever n_threads is.

    Returns
    -------
    SparkResults

    Raises
    ------
    ValueError
        ``strategy="grouped"``, and the rows of a query lie in two partitions; it is named. A strategy does not fit the
        columns or the options, or a rule goes by the order of rows, which Spark does not keep: ``ties="input"`` and
        ``duplicates="first"`` and "last" need a column of ranks. The run has other rows in the second of two passes. A
        query has no group or two.
    FastirError
        The qrels are too large for two passes; or they are too large for every worker, and have groups, or are a
        DataFrame of which `queries` chooses query ids.
    UnknownMetricError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `fastir.evaluate`. An error in a row says in which partition or bucket it lies.

    Warns
    -----
    FastirWarning
        As `fastir.evaluate`.

    Notes
    -----
    One job over the run is started, by two passes two; others collect the qrels, if they are a DataFrame, and the
    groups, if they are in one. Undefined cases are those of `fastir.evaluate`.
    """
    frames.check_run(run)
    one_of("strategy", strategy, frames.STRATEGIES)
    judge = judge_of(qrels, run, metrics, options)
    chosen = frames.strategy_of(run, strategy, judge.evaluator)
    names = frames.columns_of(run, chosen, judge.evaluator)
    groups = frames.groups_of(by, qrels, run, judge.columns)
    if chosen == "two-pass" and judge.judgments is None:
        results = two_pass.results_of(run, names, judge.evaluator)
        return SparkResults(run.sparkSession, results, frames.fitting(groups, by, results.query_ids))
    if strategy == "two-pass":
        raise FastirError(
            f"qrels: two passes take at most {frames.MOST_BYTES} bytes when prepared; strategy='shuffle' takes more"
        )
    runs_in = tasks.lists_of_a_run if chosen == "lists" else tasks.rows_of_a_run
    evaluator, parts, lacking = judged(judge, run, names, runs_in, chosen == "shuffle")
    merging.check_one_run({part.run for part in parts}, names)
    if chosen != "lists":
        merging.check_ranks(evaluator, parts)
    results, coverage = merging.results_of(evaluator, parts, lacking)
    if not coverage.is_complete:
        coverage.warn(evaluator._prepared.settings.queries)
    return SparkResults(run.sparkSession, results, frames.fitting(groups, by, results.query_ids))


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
        As for `evaluate`; a query of one run is what lies in one partition. Others do not tell runs apart.

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
    judge = judge_of(qrels, runs, metrics, options)
    names = frames.columns_of(runs, strategy, judge.evaluator, several=True)
    evaluator, parts, lacking = judged(judge, runs, names, tasks.rows_of_runs, strategy == "shuffle")
    by_name: dict[Any, list[Part]] = {}
    for part in parts:
        by_name.setdefault(part.run, []).append(part)
    if not by_name:
        raise NoOverlapError("the runs are empty: no results, no queries")
    made: dict[Any, Any] = {}
    for name in sorted(by_name):
        try:
            merging.check_ranks(evaluator, by_name[name])
            results, coverage = merging.results_of(evaluator, by_name[name], lacking)
        except ValueError as error:
            error.args = (f"run {quote(name)}: {error.args[0]}", *error.args[1:])
            raise
        coverage.warn(evaluator._prepared.settings.queries, f"run {quote(name)}: ")
        made[name] = results
    return ResultsByRun(made)


class Judge(NamedTuple):
    """What runs are evaluated with, by one Evaluator in every worker, or by one for each bucket of queries.

    Attributes
    ----------
    evaluator : Evaluator
        If there are too many judgments for the driver, it has none of them, only metrics and options.
    columns : tuple
        The names of the columns of the qrels and of the run that were given.
    weights : mapping or None
    judgments : DataFrame or None
        All of them, if they are too large for every worker.
    n_judgments : int
    names : tuple of str
        Those of the columns of the judgments.
    """

    evaluator: Evaluator
    columns: Sides
    weights: Any = None
    judgments: Any = None
    n_judgments: int = 0
    names: tuple[str, ...] = ()

    def request(self) -> buckets.Request:
        prepared, settings = self.evaluator._prepared, self.evaluator._prepared.settings
        options = settings.options.replace(n_threads=1)
        return buckets.Request(settings.metrics, options, self.columns, prepared.parents)


def judge_of(qrels: Any, run: Any, metrics: str | Iterable[str], options: dict[str, Any]) -> Judge:
    """Prepare qrels, which may be a DataFrame; the run's session holds those that are too large.

    Raises
    ------
    FastirError
        They are too large, and have groups, or `queries` are ids.
    """
    sides = columns_by_side(*(options.get(name) for name in ("columns", "qrels_columns", "run_columns")))
    weights = options.get("weights")
    if frames.is_frame(qrels):
        names = roles.find_columns("qrels", qrels.columns, sides[0] or {})
        rule, query_ids = query_rule(options.get("queries"))
        plain = Evaluator(buckets.NONE_YET, metrics, **{**options, "weights": None, "queries": rule})
        collected = frames.collected(qrels, names)
        if collected is None:
            if query_ids is not None:
                raise FastirError(
                    f"queries: the qrels have more than {frames.MOST_JUDGMENTS} judgments, and of such a DataFrame "
                    "queries cannot choose query ids; filter the DataFrame by them"
                )
            return Judge(plain, sides, weights, frames.numbered(qrels, names), qrels.count(), names)
        qrels = collected
    evaluator = Evaluator(qrels, metrics, **options)
    if len(frames.pickled(evaluator)) <= frames.MOST_BYTES:
        return Judge(evaluator, sides)
    held = evaluator._prepared.qrels
    if isinstance(held, GroupedQrels):
        raise FastirError(
            f"qrels: more than {frames.MOST_BYTES} bytes when prepared, and with groups; evaluate some of the queries "
            "at a time"
        )
    return Judge(
        evaluator, (None, sides[1]), weights, frames.of_qrels(run.sparkSession, held), held._n_rows, frames.OF_QRELS
    )


def judged(
    judge: Judge, run: Any, names: Sequence[str], runs_in: RunsIn, shuffles: bool
) -> tuple[Evaluator, list[Part], np.ndarray | None]:
    """An Evaluator that knows all queries, the Parts of a run, and values of queries that it lacks, if need be."""
    evaluator = judge.evaluator
    if judge.judgments is None:
        function = tasks.states(
            [frames.pickled(evaluator, queries="intersection")], functools.partial(tasks.parts, runs_in), names
        )
        return evaluator, merging.parts_of(frames.mapped(run, names, shuffles, function)), None
    request = judge.request()
    function = buckets.states(frames.dumped(request), runs_in, judge.names, names)
    rows = frames.numbered(run, names)
    found = merging.parts_of(buckets.mapped(judge.judgments, rows, judge.n_judgments, function))
    if not found:
        raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
    if evaluator._prepared.qrels is buckets.NONE_YET:
        evaluator = buckets.with_all_queries(found, request, judge.weights)
    return evaluator, *buckets.together(found, evaluator)
