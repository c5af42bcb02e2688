"""The subcommand `fastir eval`: runs against judgments, a row for every run, and gates on the means."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import fastir
from fastir.cli import arguments
from fastir.cli.gates import failures, for_each_metric, parse_bounds
from fastir.cli.runs import column_options, hold_rankings, qrels_argument, read_qrels, run_arguments, runs_by_name
from fastir.cli.terminal import Output, UsageError, progress_bar
from fastir.data.qrels import as_qrels
from fastir.data.results.by_run import ResultsByRun
from fastir.data.results.exportable import result_json, result_table
from fastir.data.results.results import Results
from fastir.data.results.saved_files import json_document
from fastir.evaluation.rules import without_qrels_options
from fastir.rendering import Cell, Table, render, swap_axes
from fastir.rendering.text import json_text, round_text, tsv_text
from fastir.request.directions import best_first
from fastir.request.plan import Settings

if TYPE_CHECKING:
    from fastir.analyses.bounds.result import Bounds
    from fastir.data.results.statistics import IntervalOptions


def interval_options(options: argparse.Namespace) -> IntervalOptions | None:
    """What --ci, --interval and --confidence say."""
    choices = {"method": options.interval, "confidence": options.confidence}
    choices = {name: value for name, value in choices.items() if value is not None}
    if not options.ci:
        if choices:
            raise ValueError(f"--{'interval' if 'method' in choices else 'confidence'}: it belongs to --ci")
        return None
    if options.ties_report:
        raise ValueError("--ci: --ties-report prints the range of each mean over the orders of equal scores")
    if options.bounds:
        raise ValueError("--ci: --bounds prints the bounds of single values, which have no interval")
    if writes_parquet(options):
        raise ValueError("--ci: intervals are not written as Parquet; use csv, tsv or json")
    from fastir.data.results.statistics import IntervalOptions
    from fastir.stats._checks import check_scipy

    intervals = IntervalOptions(**choices).check()
    if intervals.method == "bca":
        check_scipy()
    return intervals


def eval_command(options: argparse.Namespace) -> Output:
    """Evaluate every run; the qrels are read once."""
    given = None
    if options.schema or options.json is not None:
        from fastir.cli import json_object

        if options.schema:
            return Output(json_text(json_object.schemas()))
        given = json_object.read_object(options)
    with arguments.argument_errors():
        bounds = parse_bounds(options.fail_under, options.fail_over)
        needed = [*(bound.metric for bound in bounds), *arguments.sort_words(options)]
        metrics = arguments.metrics_or_default(options, needed)
        chosen = arguments.evaluator_options(options)
        settings = arguments.settings_from(metrics, chosen)
        bounds = for_each_metric(bounds, settings.names, chosen)
        arguments.parents_options(options)
        check_bounds(options)
        if not options.ties_report and any(bound.is_tie_range for bound in bounds):
            raise ValueError("--fail-over tie-range: it belongs to --ties-report")
        intervals = interval_options(options)
        format = arguments.output_format(options)
        sort = arguments.sort_metric(options, settings.names, chosen, format)
    if options.qrels is None and given is None:
        raise UsageError("expected the judgments and runs, or judged rankings")
    if (options.bounds or options.ties_report) and any(map(hold_rankings, (options.qrels, *options.runs))):
        raise UsageError(
            f"{table_option(options)}: it needs the judgments and runs, and judged rankings do not name documents"
        )
    bounds_by_run = run_bounds(options.runs, options, settings) if options.bounds else {}
    if bounds_by_run:
        results = ResultsByRun((name, each.value) for name, each in bounds_by_run.items())
    elif given is not None:
        from fastir.cli import json_object

        results = json_object.evaluate_object(given, options, settings)
    else:
        results = evaluate_words(options.runs, options, settings)
    if sort is not None:
        means = {name: result[sort] for name, result in results.items()}
        results = ResultsByRun((name, results[name]) for name in best_first(means, sort))
    failed = failures(bounds, results)
    tables: dict[str, Any] = {name: bounds_by_run[name] for name in results} if bounds_by_run else {}
    if options.ties_report:
        tables = {name: each.ties() for name, each in results.items()}
    if tables:
        return Output(tables_text(tables, options, format), failed, bounds)
    if format == arguments.SAVED_FORMAT and intervals is None:
        (next(iter(results.values())) if len(results) == 1 else results).save(options.output)
        return Output("", failed, bounds)
    return Output(output_text(results, options, format, intervals), failed, bounds)


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
    chosen = {**arguments.evaluator_options(options), **arguments.parents_options(options), **column_options(options)}
    chosen["ties_report"] = getattr(options, "ties_report", False)  # which `fastir diff` does not have
    with progress_bar(runs) as notice:
        evaluator = fastir.Evaluator(qrels_argument(options), settings.metrics, **chosen)
        return evaluator.evaluate_many(run_arguments(runs, options), progress=notice)


def output_text(
    results: ResultsByRun, options: argparse.Namespace, format: str, intervals: IntervalOptions | None
) -> str:
    """The text to print, or to write to a file together with intervals."""
    per_query = options.per_query
    if format == arguments.SAVED_FORMAT:
        format, per_query = suffix_format(options), True
    if format == "json":
        return runs_document({name: result_json(result, per_query, intervals) for name, result in results.items()})
    if options.per_query:
        table = query_table(results, intervals)
    else:
        table = result_table(results, interval=intervals, columns=format in ("csv", "tsv"))
    text = table_text(table, options, format)
    return text if intervals is None else text.rstrip("\n") + "\n"  # notes end without one


def suffix_format(options: argparse.Namespace) -> str:
    """The format that the name of the file of -o has, if there is one."""
    return os.path.splitext(options.output or "")[1][1:].lower()


def writes_parquet(options: argparse.Namespace) -> bool:
    return "parquet" in (options.format, suffix_format(options))


def runs_document(by_run: Mapping[Any, Any]) -> str:
    """JSON of one run, or of several by their names."""
    return json_document({"runs": by_run} if len(by_run) > 1 else next(iter(by_run.values())))


def tables_text(by_run: dict[str, Any], options: argparse.Namespace, format: str) -> str:
    """The text of --bounds or --ties-report, to print or to write to a file."""
    if format == arguments.SAVED_FORMAT:
        format = suffix_format(options)
    if format == "json":
        return runs_document({name: result_json(each) for name, each in by_run.items()})
    return table_text(metric_table(by_run), options, format).rstrip("\n") + "\n"


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
    aggregates = next(iter(results.values())).aggregates

    def cells(row: dict[str, float]) -> list[Cell]:
        return [Cell(round_text(row[name], how), exact=repr(row[name])) for name, how in aggregates.items()]

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
        each_mean = {name: list(mean_intervals(each, intervals).values()) for name, each in results.items()}
        bound_rows = {name: interval_rows(found) for name, found in each_mean.items()}
        rows += [
            [Cell(end), *[Cell(str(name))] * several, *bound_rows[name][end]]
            for end in ("low", "high")
            for name in bound_rows
        ]
    return Table(["query_id", *["run"] * several, *aggregates], rows, 1 + several, notes)


# ---- --bounds: how far unjudged documents could change the values of each run ----------------------------------------
def table_option(options: argparse.Namespace) -> str:
    """The option that prints a table of its own instead of the means; empty without one."""
    return "--bounds" if options.bounds else "--ties-report" if options.ties_report else ""


def check_bounds(options: argparse.Namespace) -> None:
    """Refuse what has no meaning with --bounds or --ties-report, or without them."""
    if options.bounds and options.ties_report:
        raise ValueError("--ties-report: --bounds prints a table of its own")
    if table := table_option(options):
        if options.per_query:
            raise ValueError(f"--per-query: {table} prints a row for every metric, not for every query")
        if writes_parquet(options):
            raise ValueError(f"{table}: its table is not written as Parquet; use csv, tsv or json")
    own = {"--max-label": options.max_label, "--pool-depth": options.pool_depth, "--unseen": options.unseen}
    for name, value in own.items():
        if not options.bounds and value is not None:
            raise ValueError(f"{name}: it belongs to --bounds")


def run_bounds(words: Sequence[str], options: argparse.Namespace, settings: Settings) -> dict[str, Bounds]:
    """Return the Bounds of the runs that the words name; the qrels are read once."""
    from fastir.analyses.bounds.bounds import bounds

    runs = run_arguments(runs_by_name(words, options, settings.options.duplicates), options)
    chosen = {**arguments.evaluator_options(options), **arguments.parents_options(options), **column_options(options)}
    sides = chosen.get("qrels_columns") or chosen.get("columns")
    qrels = as_qrels(qrels_argument(options), sides, settings.options.duplicates)
    limits: dict[str, Any] = {"max_label": options.max_label, "pool_depth": options.pool_depth}
    limits["unseen"] = options.unseen or 0
    with progress_bar(runs):
        return {
            name: bounds(qrels, run, settings.metrics, **limits, **without_qrels_options(chosen))
            for name, run in runs.items()
        }


def metric_table(by_run: Mapping[str, Any]) -> Table:
    """A row for every metric, of several runs for every run and metric."""
    tables = {name: result_table(each) for name, each in by_run.items()}
    first = next(iter(tables.values()))
    if len(tables) == 1:
        return first
    rows = [[Cell(str(name)), *row] for name, table in tables.items() for row in table.rows]
    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    return Table(["run", *first.head], rows, 2, list(notes))
