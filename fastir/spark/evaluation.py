"""evaluate() and evaluate_many() for runs that are DataFrames, or files: the front door of fastir.spark."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from fastir.checks import check_choice, refuse_options
from fastir.data.qrels import GroupedQrels
from fastir.data.results.by_run import ResultsByRun
from fastir.data.results.results import Results, set_best
from fastir.errors import FastirError, NoOverlapError, quote
from fastir.evaluation.composites.per_metric import best_values
from fastir.evaluation.composites.weights import means_over, quotients
from fastir.evaluation.drivers.coverage import Coverage, without_missing
from fastir.evaluation.evaluator import Evaluator
from fastir.evaluation.partial.partial import result_of
from fastir.evaluation.partial.values import AllValues
from fastir.evaluation.rules import Sides, columns_by_side
from fastir.inputs import roles
from fastir.request.custom import custom_among
from fastir.request.options import TIES_BY_INPUT, metric_tuple, query_rule
from fastir.request.plan import order_rules, refuse_small
from fastir.spark import buckets, frames, tasks, two_pass
from fastir.spark.spark_results import SparkResults
from fastir.spark.tasks import RunsIn, RunState

if TYPE_CHECKING:
    from fastir.evaluation.keywords import EvaluateOptions

# What a worker does not have.
OF_DOCUMENTS = ("forbidden", "forbidden_level", "unanswerable", "doc_groups", "target", "doc_costs")


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Iterable[str],
    *,
    strategy: Literal["auto", "shuffle", "grouped", "two-pass", "lists"] = "auto",
    by: Any = None,
    **options: Unpack[EvaluateOptions],
) -> SparkResults:
    """Evaluate a run that is a Spark DataFrame or Parquet files; the numbers equal `fastir.evaluate`.

    Parameters
    ----------
    qrels : DataFrame, or as for `fastir.evaluate`
        Qrels of up to 64 MB when prepared, about two million judgments, are collected and sent to every worker. Larger
        qrels are joined with the run in buckets of queries. Then both are shuffled, whatever the strategy, and the
        results have their queries in the order of ids.
    run : DataFrame, or path or paths of Parquet files
        Files are cheaper: the workers read them with pyarrow, each file in one task, and only states, or packs of rows,
        pass through the JVM. They need addresses of local files, S3, GCS, HDFS or Azure that pyarrow on the workers can
        open with its own credentials; files at others, and files beside large qrels, are read by Spark. A path may be
        a folder; folders such as run=bm25 are columns.
        A row for each document, with columns as for `fastir.evaluate`: query_id, doc_id, and score or rank. Beside
        scores, rank or position, or ``columns={"score": name, "rank": name}``, is the order of rows, which is read only
        where a rule goes by it. Or a row for each query, with a list of ids in rank order (doc_ids, ranking, retrieved)
        and optionally an aligned list of scores.
    metrics : str or iterable of str
        As for `fastir.evaluate`.
    strategy : {"auto", "shuffle", "grouped", "two-pass", "lists"}
        "shuffle": the rows of each query are moved to one partition; a worker holds the columns of one partition at a
        time. "grouped": the rows of each query are already in one partition, and nothing is moved. "two-pass": nothing
        is moved, but the run is read twice, first to find the scores of the judged documents, then to count the rows
        before them; a worker holds one batch of rows at a time. It checks only judged documents for duplicates, and so
        needs ``validate="judged"``. It takes less processor time than "shuffle" over files, and more over a
        DataFrame: use it there for queries too large for a worker, or for clusters with slow disks or network.
        "lists": a row is a whole ranking. "auto": "lists" for a column of lists; "two-pass" for
        ``validate="judged"``, unless another option rules it out; else "shuffle".
    by : str, mapping, DataFrame or None
        The segment of each query for `SparkResults.by_segment`. The name of a column of the qrels or the run, in which
        all rows of a query have the same value; ``{query_id: segment}``; or a DataFrame with these two columns.
    **options
        As for `fastir.evaluate`. A task on a worker has one thread, whatever n_threads is.

    Returns
    -------
    SparkResults

    Raises
    ------
    ValueError
        With ``strategy="grouped"``, the rows of a query are in two partitions; the message names the query. A strategy
        does not fit the columns or the options. A rule depends on the order of rows, which Spark does not keep:
        ``ties="input"`` and "input_reversed", and ``duplicates="first"`` and "last", need a column of ranks or
        positions. This column has a missing value, or one twice in a query. The run has other rows in the second of
        two passes. A query has no group, or two.
    FastirError
        The qrels are too large for two passes. Or they are too large to send to every worker, and they have groups, or
        they are a DataFrame and `queries` is a collection of ids.
    UnknownMetricError, DuplicateError, NoOverlapError, TypeError, ValueError, OverflowError
        As by `fastir.evaluate`. An error in a row names its partition, bucket or file.
    RuntimeError
        The run is files, and there is no active session.

    Warns
    -----
    FastirWarning
        As by `fastir.evaluate`.

    Notes
    -----
    It starts one job over the run, or two for two passes. Other jobs collect the qrels and the groups if they are in
    DataFrames. For undefined cases see `fastir.evaluate`.
    """
    check_choice("strategy", strategy, frames.STRATEGIES)
    frame = frames.frame_of(run)
    judge = make_judge(qrels, frame, metrics, options)
    chosen = frames.choose_strategy(frame, strategy, judge.evaluator)
    columns = frames.columns_read(run, frame, chosen, judge.evaluator)
    groups = frames.groups_by_query(by, qrels, frame, judge.columns)
    check_segments(groups, by, judge)
    custom = judge.evaluator.rules.custom
    if custom is not None and judge.judgments is not None:
        raise FastirError(
            f"metric {quote(custom.custom[0].name)}: a custom metric gets judged rankings on the driver, and the qrels "
            f"take more than {frames.MAX_EVALUATOR_BYTES} bytes when prepared; evaluate some of the queries at a time"
        )
    if judge.judgments is None and (chosen == "two-pass" or custom is not None):
        of_run = two_pass.results if chosen == "two-pass" else functools.partial(two_pass.rank_run, strategy=chosen)
        results = of_run(frame, columns, judge.evaluator)
        return SparkResults(frame.sparkSession, results, frames.groups_of_results(groups, by, results.query_ids))
    refuse_large(strategy)
    by_row = functools.partial(tasks.run_from_rows, order=columns.order)
    runs_in = tasks.run_from_lists if chosen == "lists" else by_row
    evaluator, runs, absent = evaluate_run(judge, frame, columns, runs_in, chosen == "shuffle")
    frames.check_one_run({each.run for each in runs}, columns)
    results, coverage = merge_runs(evaluator, runs, absent, by_ranks(chosen, columns))
    if not coverage.is_complete:
        coverage.warn(evaluator.rules.settings.queries)
    return SparkResults(frame.sparkSession, results, frames.groups_of_results(groups, by, results.query_ids))


def evaluate_many(
    qrels: Any,
    runs: Any,
    metrics: str | Iterable[str],
    *,
    strategy: Literal["auto", "shuffle", "grouped", "two-pass", "lists"] = "auto",
    **options: Unpack[EvaluateOptions],
) -> ResultsByRun:
    """Evaluate all runs in one DataFrame, or in files, in one job, or in the two of two passes.

    Parameters
    ----------
    qrels, metrics, **options
        As for `evaluate`.
    runs : DataFrame, or path or paths of Parquet files
        As for `evaluate`, with a row for each document or for each ranking; and with the name of each row's run in the
        column run, system, run_id or system_id, or the one named in `columns`.
    strategy : {"auto", "shuffle", "grouped", "two-pass", "lists"}
        As for `evaluate`; for "grouped" the rows of a query of one run must be in one partition. "two-pass" reads all
        runs at once: a worker holds the state of each run in its partition, in the second pass about 80 bytes for each
        judgment. If the first pass gave more than 64 MB, compressed, the second one takes some of the runs at a time.

    Returns
    -------
    ResultsByRun
        {name: Results}, in the order of the names.

    Raises
    ------
    Exception
        As by `evaluate`, with the name of the run.

    Warns
    -----
    FastirWarning
        As by `fastir.evaluate`, for each run, with its name.
    """
    check_choice("strategy", strategy, frames.STRATEGIES)
    frame = frames.frame_of(runs)
    metrics = metric_tuple(metrics)  # which refuses metrics of the caller's own
    judge = make_judge(qrels, frame, metrics, options)
    chosen = frames.choose_strategy(frame, strategy, judge.evaluator, several=True)
    columns = frames.columns_read(runs, frame, chosen, judge.evaluator, several=True)
    if judge.judgments is None and chosen == "two-pass":
        results_by_name = many_in_two_passes(judge.evaluator, frame, columns)
    else:
        refuse_large(strategy)
        results_by_name = many_in_one_pass(judge, frame, columns, chosen)
    if not results_by_name:
        raise NoOverlapError("the runs are empty: no results, no queries")
    return ResultsByRun(results_by_name)


def many_in_two_passes(evaluator: Evaluator, runs: Any, columns: frames.RunColumns) -> dict[Any, Any]:
    """{run: its Results}, in the order of the names."""
    results_by_name = {}
    partials = two_pass.partials(runs, columns, evaluator, True)
    for name in sorted(partials):
        with tasks.name_run_in_errors(name):
            results_by_name[name] = result_of(partials.pop(name), name)
    return results_by_name


def many_in_one_pass(judge: Judge, runs: Any, columns: frames.RunColumns, strategy: str) -> dict[Any, Any]:
    """{run: its Results}, in the order of the names."""
    by_row = functools.partial(tasks.runs_from_rows, order=columns.order)
    runs_in = tasks.runs_from_lists if strategy == "lists" else by_row
    evaluator, run_values, absent = evaluate_run(judge, runs, columns, runs_in, strategy == "shuffle")
    by_name: dict[Any, list[RunState]] = {}
    for each in run_values:
        by_name.setdefault(each.run, []).append(each)
    results_by_name: dict[Any, Any] = {}
    for name in sorted(by_name):
        with tasks.name_run_in_errors(name):
            results, coverage = merge_runs(evaluator, by_name[name], absent, by_ranks(strategy, columns))
        coverage.warn(evaluator.rules.settings.queries, name)
        results_by_name[name] = results
    return results_by_name


def by_ranks(strategy: str, columns: frames.RunColumns) -> bool:
    """Whether the run has ranks instead of scores, so that equal ranks leave the order of rows open."""
    return strategy != "lists" and columns.order is None


def refuse_large(strategy: str) -> None:
    """Refuse two passes over qrels that are too large for every worker."""
    if strategy == "two-pass":
        raise FastirError(
            f"qrels: two passes take at most {frames.MAX_EVALUATOR_BYTES} bytes when prepared; "
            "strategy='shuffle' takes more"
        )


def check_segments(groups: Mapping[Any, Any] | None, by: Any, judge: Judge) -> None:
    """Refuse segments without a query that counts, before any job over the run, as far as the qrels can tell.

    Queries of the intersection are known after it; but one of them has to have a group.
    """
    prepared = judge.evaluator.rules.prepared
    if groups is None:
        return
    query_ids = list(prepared.qrels)
    if prepared.qrels is buckets.NO_QRELS:
        ids = judge.judgments.select(judge.judgments.columns[0]).distinct().toArrow()[0]
        query_ids = sorted(ids.drop_null().to_pylist())
    grouped = frames.groups_of_queries(groups, by, query_ids)
    ungrouped = [query_id for query_id in query_ids if query_id not in grouped]
    if prepared.settings.queries != "intersection" and ungrouped:
        raise ValueError(
            f"by: query {ungrouped[0]!r} has no group; queries='intersection' leaves out queries missing from the run"
        )
    if ungrouped and not grouped:
        raise ValueError(f"by: no query of the qrels has a group, such as {ungrouped[0]!r}")


class Judge(NamedTuple):
    """What runs are evaluated with, by one Evaluator in every worker, or by one for each bucket of queries.

    `columns` are the column names that the caller gave, of qrels and run. Judgments that are too large for every worker
    are a DataFrame with the columns `names`; if they are too large for the driver, the Evaluator has none of them.
    """

    evaluator: Evaluator
    columns: Sides
    weights: Any = None
    judgments: Any = None
    n_judgments: int = 0
    names: tuple[str, ...] = ()

    def request(self) -> buckets.Request:
        prepared, settings = self.evaluator.rules.prepared, self.evaluator.rules.settings
        options = settings.options.replace(n_threads=1)
        return buckets.Request(settings.metrics, options, self.columns, prepared.parents)


def make_judge(qrels: Any, run: Any, metrics: str | Iterable[str], options: EvaluateOptions) -> Judge:
    """Prepare qrels, which may be a DataFrame; the run's session holds those that are too large."""
    refuse_options("spark", options, ("ties_report",), "parts are not put together with their ties")
    refuse_options("spark", options, OF_DOCUMENTS, "workers have labels of documents and weights alone; use evaluate")
    metrics, _ = custom_among(metrics)
    sides = columns_by_side(options.get("columns"), options.get("qrels_columns"), options.get("run_columns"))
    weights = options.get("weights")
    if frames.is_frame(qrels):
        names = roles.find_columns("qrels", qrels.columns, sides[0] or {})
        rule, query_ids = query_rule(options.get("queries"))
        rule_options: Any = {**options, "weights": None, "queries": rule}
        rule_options["doc_weights"] = None if options.get("doc_weights") is None else {}
        plain = Evaluator(buckets.NO_QRELS, metrics, **rule_options)
        collected = frames.select_columns(qrels, names).limit(frames.MAX_JUDGMENTS + 1).toArrow()
        if collected.num_rows > frames.MAX_JUDGMENTS:
            refuse_weights(options)
            if query_ids is not None:
                raise FastirError(
                    f"queries: the qrels have more than {frames.MAX_JUDGMENTS} judgments, and of such a DataFrame "
                    "queries cannot choose query ids; filter the DataFrame by them"
                )
            return Judge(plain, sides, weights, frames.number_columns(qrels, names), qrels.count(), names)
        column = options.get("doc_weights")
        if isinstance(column, str):
            options = {**options, "doc_weights": frames.weights_in(qrels, names, column)}
        qrels = collected
    evaluator = Evaluator(qrels, metrics, **options)
    if len(frames.pickle_evaluator(evaluator)) <= frames.MAX_EVALUATOR_BYTES:
        return Judge(evaluator, sides)
    refuse_weights(options)
    held = evaluator.rules.qrels
    if isinstance(held, GroupedQrels):
        raise FastirError(
            f"qrels: more than {frames.MAX_EVALUATOR_BYTES} bytes when prepared, and with groups; "
            "evaluate some of the queries at a time"
        )
    judgments = frames.qrels_frame(run.sparkSession, held)
    return Judge(evaluator, (None, sides[1]), weights, judgments, held.columns.n_rows, frames.QRELS_COLUMNS)


def refuse_weights(options: EvaluateOptions) -> None:
    """Refuse weights of documents if the qrels are too large for every worker: buckets have labels alone."""
    if options.get("doc_weights") is not None:
        raise FastirError(
            f"doc_weights: the qrels take more than {frames.MAX_EVALUATOR_BYTES} bytes when prepared, "
            "and then have labels alone; evaluate some of the queries at a time"
        )


def evaluate_run(
    judge: Judge, run: Any, columns: frames.RunColumns, runs_in: RunsIn, shuffles: bool
) -> tuple[Evaluator, list[RunState], np.ndarray | None]:
    """Return an Evaluator that knows all queries, a run's values, and the values of missing queries, if need be."""
    evaluator = judge.evaluator
    if judge.judgments is None:
        function = tasks.states(
            [frames.pickle_evaluator(evaluator, queries="intersection")],
            functools.partial(tasks.values, runs_in),
            columns.names,
        )
        keys = columns.keys if shuffles else ()
        return evaluator, frames.collect_answers(frames.map_partitions(run, columns, keys, function)), None
    request = judge.request()
    function = buckets.states(frames.dump_pickle(request), runs_in, judge.names, columns.names)
    rows = frames.number_columns(run, columns.names)
    answers = frames.collect_answers(buckets.map_buckets(judge.judgments, rows, judge.n_judgments, function))
    if not answers:
        raise NoOverlapError("the qrels are empty: no judgments, no queries to evaluate")
    if evaluator.rules.qrels is buckets.NO_QRELS:
        evaluator = buckets.with_all_queries(answers, request, judge.weights)
    return evaluator, *buckets.join_buckets(answers, evaluator)


def merge_runs(
    evaluator: Evaluator, runs: list[RunState], absent: np.ndarray | None, ranked: bool
) -> tuple[Results, Coverage]:
    """The Results of one run, and the Coverage, which has not warned.

    `absent` are the values of queries that are missing from the run (None: the Evaluator's), and `ranked` says that the
    order of rows can only be the order of ranks.
    """
    queries, query_ids = evaluator.rules.settings.queries, list(evaluator.rules.qrels)
    base, coverage_of_none = buckets.absent_values(evaluator)
    total = AllValues(query_ids, np.array(base.values if absent is None else absent))
    for each in runs:
        total.merge(each.state)
    n_tied, tied = total.counts["tied_queries"]
    rules = [order_rules(each.settings)["ties"] for each in evaluator.rules.prepared.evaluators()]
    by_input = [rule for rule in rules if rule in TIES_BY_INPUT]
    if ranked and n_tied and by_input:
        raise ValueError(
            f"run: two documents have one rank, and ties={by_input[0]!r} depends on the order of rows, which Spark "
            f"does not keep (query {query_ids[tied]})"
        )
    coverage = total.coverage(coverage_of_none.prepared)
    coverage.check(queries)
    values, status = total.values, total.status
    refuse_small(evaluator.rules.settings.sizes, values, query_ids)
    if queries == "intersection":
        query_ids, values, status = without_missing(query_ids, values, status)
    best = best_values(evaluator.rules.prepared, query_ids)
    for name, column in best.items():
        [divisor] = means_over(column[:, None], len(column))
        place = base.names.index(name)
        values[:, place] = quotients(values[:, place], divisor)
    aggregates = list(base.aggregates.values())
    results = Results(
        query_ids, base.names, values, status, aggregates, coverage, evaluator.rules.weights, evaluator.rules.provenance
    )
    return set_best(results, best), coverage
