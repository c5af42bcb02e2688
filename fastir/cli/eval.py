"""The subcommand `fastir eval`: runs against judgments, a row for every run, and gates on the means."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import fastir
from fastir.cli.arguments import (
    SAVED_FORMAT,
    add_options,
    add_output_arguments,
    add_run_arguments,
    add_sort_argument,
    argument_errors,
    evaluator_options,
    metrics_or_default,
    output_format,
    parents_options,
    settings_from,
    sort_metric,
)
from fastir.cli.bounds import add_bounds_arguments, bounds_table, check_bounds, run_bounds
from fastir.cli.gates import failures, for_each_metric, parse_bounds
from fastir.cli.messages import UsageError
from fastir.cli.runs import column_options, hold_rankings, qrels_argument, read_qrels, run_arguments, runs_by_name
from fastir.cli.terminal import Output, progress_bar
from fastir.data.results.by_run import ResultsByRun
from fastir.data.results.exportable import result_json, result_table
from fastir.data.results.results import Results
from fastir.data.results.saved_files import json_document
from fastir.rendering import Cell, Table, render, swap_axes
from fastir.rendering.text import round_text, tsv_text
from fastir.request.directions import best_first
from fastir.request.plan import Settings

if TYPE_CHECKING:
    from fastir.analyses.bounds.result import Bounds
    from fastir.data.results.statistics import IntervalOptions

FORMATS = ("table", "markdown", "latex", "html", "csv", "tsv", "json", "parquet")


def add_eval_arguments(add: Callable[..., Any]) -> None:
    add("-q", "--per-query", action="store_true", help="a row for every query, then the mean")
    add("--transpose", action="store_true", help="a column for every run, and a row for every metric")
    add(
        "--format",
        choices=FORMATS,
        help="%(choices)s (default table); the last four are exact, the others round to 4 decimals",
    )
    about = "exit with 4 if the mean of any run is below"
    add("--fail-under", group="gates", metavar="METRIC=VALUE", action="append", help=about)
    add(
        "--fail-over",
        group="gates",
        metavar="METRIC=VALUE",
        action="append",
        help="exit with 4 if the mean of any run is above VALUE, for a metric of which less is better",
    )
    add_run_arguments(add, "*", "; if QRELS is judged rankings, each RUN is too")
    add_interval_arguments(add)
    add_bounds_arguments(add)
    add_sort_argument(add)
    add_output_arguments(add)


def add_interval_arguments(add: Callable[..., Any]) -> None:
    about = "show a confidence interval for each mean (kind: --interval, level: --confidence)"
    add("--ci", group="statistics", action="store_true", help=about)
    add_options(add, "interval", default=None, help="%(choices)s (default percentile)")
    add_options(add, "confidence", default=None, help="of the intervals (default 0.95)")


def interval_options(options: argparse.Namespace) -> IntervalOptions | None:
    """What --ci, --interval and --confidence say."""
    choices = {"method": options.interval, "confidence": options.confidence}
    choices = {name: value for name, value in choices.items() if value is not None}
    if not options.ci:
        if choices:
            raise ValueError(f"--{'interval' if 'method' in choices else 'confidence'}: it belongs to --ci")
        return None
    if options.bounds:
        raise ValueError("--ci: --bounds prints the bounds of single values, which have no interval")
    if options.format == "parquet" or os.path.splitext(options.output or "")[1].lower() == ".parquet":
        raise ValueError("--ci: intervals are not written as Parquet; use csv, tsv or json")
    from fastir.data.results.statistics import IntervalOptions
    from fastir.stats._checks import check_scipy

    intervals = IntervalOptions(**choices).checked()
    if intervals.method in ("bca", "t"):
        check_scipy()
    return intervals


def eval_command(options: argparse.Namespace) -> Output:
    """Evaluate every run; the qrels are read once."""
    with argument_errors():
        bounds = parse_bounds(options.fail_under, options.fail_over)
        sorts = [] if options.sort is None else [options.sort]
        metrics = metrics_or_default(options, [bound.metric for bound in bounds] + sorts)
        chosen = evaluator_options(options)
        settings = settings_from(metrics, chosen)
        bounds = for_each_metric(bounds, settings.names, chosen)
        sort = sort_metric(options, settings.names, chosen)
        parents_options(options)
        check_bounds(options)
        intervals = interval_options(options)
        format = output_format(options, FORMATS)
    if options.bounds and any(map(hold_rankings, (options.qrels, *options.runs))):
        raise UsageError("--bounds: it needs the judgments and runs, and judged rankings do not name documents")
    bounds_by_run = run_bounds(options.runs, options, settings) if options.bounds else {}
    results = (
        ResultsByRun((name, each.value) for name, each in bounds_by_run.items())
        if bounds_by_run
        else evaluate_words(options.runs, options, settings)
    )
    if sort is not None:
        means = {name: result[sort] for name, result in results.items()}
        results = ResultsByRun((name, results[name]) for name in best_first(means, sort))
    failed = failures(bounds, results)
    if bounds_by_run:
        return Output(bounds_text({name: bounds_by_run[name] for name in results}, options, format), failed)
    if format == SAVED_FORMAT and intervals is None:
        (next(iter(results.values())) if len(results) == 1 else results).save(options.output)
        return Output("", failed)
    return Output(output_text(results, options, format, intervals), failed)


def evaluate_words(words: Sequence[str], options: argparse.Namespace, settings: Settings) -> ResultsByRun:
    """Return the Results of the runs that the words name."""
    judgments_are_runs = options.qrels is not None and hold_rankings(options.qrels)
    if not words and not judgments_are_runs:
        raise UsageError("expected the judgments and runs, or judged rankings")
    if judgments_are_runs or (not options.parts and hold_rankings(words[0])):
        from fastir.cli.judged import judged_runs

        qrels = None if judgments_are_runs else read_qrels(options)
        files = [options.qrels, *words] if judgments_are_runs else words
        return ResultsByRun(judged_runs(files, options, settings, qrels))
    runs = runs_by_name(words, options, settings.options.duplicates)
    chosen = {**evaluator_options(options), **parents_options(options), **column_options(options)}
    with progress_bar(runs) as notice:
        evaluator = fastir.Evaluator(qrels_argument(options), settings.metrics, **chosen)
        return evaluator.evaluate_many(run_arguments(runs, options), progress=notice)


def output_text(
    results: ResultsByRun, options: argparse.Namespace, format: str, intervals: IntervalOptions | None
) -> str:
    """The text to print, or to write to a file together with intervals."""
    per_query = options.per_query
    if format == SAVED_FORMAT:
        format, per_query = suffix_format(options), True
    if format == "json":
        runs = {name: result_json(result, per_query, intervals) for name, result in results.items()}
        return json_document({"runs": runs} if len(runs) > 1 else next(iter(runs.values())))
    columns = format in ("csv", "tsv")
    table = (
        query_table(results, intervals)
        if options.per_query
        else result_table(results, interval=intervals, columns=columns)
    )
    text = table_text(table, options, format)
    return text if intervals is None else text.rstrip("\n") + "\n"  # notes end without one


def suffix_format(options: argparse.Namespace) -> str:
    """The format that the name of the file of -o has."""
    return os.path.splitext(options.output)[1][1:].lower()


def bounds_text(bounds_by_run: dict[str, Bounds], options: argparse.Namespace, format: str) -> str:
    """The text of --bounds, to print or to write to a file."""
    if format == SAVED_FORMAT:
        format = suffix_format(options)
    if format == "json":
        runs = {name: result_json(each) for name, each in bounds_by_run.items()}
        return json_document({"runs": runs} if len(runs) > 1 else next(iter(runs.values())))
    return table_text(bounds_table(bounds_by_run), options, format).rstrip("\n") + "\n"


def table_text(table: Table, options: argparse.Namespace, format: str) -> str:
    """A table in a format that is no JSON."""
    if getattr(options, "transpose", False):
        table = swap_axes(table)
    if format == "tsv":
        return tsv_text(
            [table.head, *([cell.text if cell.exact is None else cell.exact for cell in row] for row in table.rows)]
        )
    return render(table, "text" if format == "table" else format, formulas=options.formulas)


def query_table(results: Mapping[Any, Results], intervals: IntervalOptions | None) -> Table:
    """A row for every query, of several runs for every query and run, and then the means, and their intervals."""
    hows = next(iter(results.values())).aggregates

    def cells(row: dict[str, float]) -> list[Cell]:
        return [Cell(round_text(row[name], how), exact=repr(row[name])) for name, how in hows.items()]

    tables = {name: result.to_dict() for name, result in results.items()}
    means = {name: dict(result) for name, result in results.items()}
    several = len(results) > 1
    queries = dict.fromkeys(query for table in tables.values() for query in table)
    rows = [
        [Cell(str(query)), *[Cell(str(name))] * several, *cells(table[query])]
        for query in queries
        for name, table in tables.items()
        if query in table
    ]
    rows += [[Cell("mean"), *[Cell(str(name))] * several, *cells(mean)] for name, mean in means.items()]
    notes = []
    if intervals is not None:
        from fastir.data.results.statistics import interval_rows, mean_intervals

        notes = [str(intervals)]
        bound_rows = {
            name: interval_rows(list(mean_intervals(each, intervals).values())) for name, each in results.items()
        }
        rows += [
            [Cell(end), *[Cell(str(name))] * several, *bound_rows[name][end]]
            for end in ("low", "high")
            for name in bound_rows
        ]
    return Table(["query_id", *["run"] * several, *hows], rows, 1 + several, notes)
