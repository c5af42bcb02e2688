"""The subcommands that compare two of a kind: qrels (`agreement`), leaderboards (`rank-correlation`), `similarity`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

import fastir
from fastir.checks import proportion
from fastir.cli import arguments
from fastir.cli.compare import plot_format, save_picture
from fastir.cli.eval import query_table, table_text
from fastir.cli.pool import table_output
from fastir.cli.runs import are_saved, load_saved_runs, read_qrels, read_runs, warn_of_other_options
from fastir.cli.terminal import Output, UsageError, progress_bar
from fastir.data.results.exportable import result_json, result_table
from fastir.data.results.saved_files import json_document
from fastir.evaluation.run_collections import distinct_names, file_name
from fastir.rendering import Cell, Table
from fastir.rendering.text import decimals

if TYPE_CHECKING:
    from fastir.analyses.agreement.judgments import Agreement
    from fastir.data.results.results import Results

# ---- agreement -------------------------------------------------------------------------------------------------------
STATISTICS = ("rel_level", "kappa_weights", "scale", "truth", "confidence", "n_resamples", "random_state")


def agreement_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        format = arguments.output_format(options)
        proportion("confidence", options.confidence)
    a, b = (read_qrels(options, path) for path in (options.qrels, options.other))
    with progress_bar({}):
        agreement = fastir.agreement(a, b, **{name: getattr(options, name) for name in STATISTICS})
    if format == "json":
        return Output(agreement.to_json(options.per_query))
    if options.per_query:
        return Output(table_text(agreement_by_query(agreement), options, format))
    return table_output(with_sides(result_table(agreement), options), options, format)


def with_sides(table: Table, options: argparse.Namespace) -> Table:
    """A table with a note that says what a and b are."""
    a, b = distinct_names([options.qrels, options.other], file_name)
    return table._replace(notes=[*table.notes, f"a is {a}, b is {b}."])


def agreement_by_query(agreement: Agreement) -> Table:
    head = list(next(iter(agreement.per_query.values())))
    rows = [
        [Cell(str(query_id)), *(Cell(decimals(of[name]) if name != "n" else f"{of[name]}", exact=repr(of[name]))
                                for name in head)]
        for query_id, of in agreement.per_query.items()
    ]  # fmt: skip
    return Table(["query_id", *head], rows, 1, [])


# ---- rank-correlation ------------------------------------------------------------------------------------------------
def rank_correlation_command(options: argparse.Namespace) -> Output:
    from fastir.analyses.compare.options import Options

    with arguments.argument_errors():
        format = arguments.output_format(options)
        chosen = {**arguments.evaluator_options(options), **arguments.parents_options(options)}
        metric = arguments.single_metric(options, arguments.evaluator_options(options))
        correction = None if options.correction == "none" else options.correction
        Options(test=options.test, correction=correction, confidence=options.confidence).validate()
        if options.plot is not None:
            plot_format(options.plot)
    statistics = {"test": options.test, "correction": correction, "confidence": options.confidence}
    if are_saved([options.qrels]):
        if options.runs:
            raise UsageError(f"{options.qrels} holds saved results; expected two such files, and no runs")
        if options.queries is not None:
            raise UsageError(f"--queries has no effect: {options.qrels} and {options.other} hold saved results")
        a: Mapping[str, Results]
        b: Mapping[str, Results]
        a, b = (load_saved_runs([word], options)[0] for word in (options.qrels, options.other))
        first = next(iter(a.values()))
        warn_of_other_options({options.qrels: first, options.other: next(iter(b.values()))})
        if len(first) == 1 and not arguments.requested_metrics(options):
            metric = first.names[0]
    else:
        if not options.runs:
            raise UsageError("a rank correlation takes two files of judgments and two runs or more, or saved results")
        sides = [read_qrels(options, path) for path in (options.qrels, options.other)]
        runs = read_runs(options.runs, options, 2)
        with progress_bar({}):
            a, b = (fastir.Evaluator(qrels, metric, **chosen).evaluate_many(runs) for qrels in sides)
        metric = next(iter(a.values())).names[0]
    correlation = fastir.rank_correlation(a, b, metric, **statistics, used_judge=options.used_judge)
    if options.plot is not None:
        from fastir.plots import leaderboards

        a_name, b_name = distinct_names([options.qrels, options.other], file_name)
        boards = leaderboards(correlation.a, correlation.b, metric, titles=(a_name, b_name))
        save_picture(boards.figure, options.plot)
    if format == "json":
        return Output(correlation.to_json())
    return table_output(with_sides(result_table(correlation), options), options, format)


# ---- similarity ------------------------------------------------------------------------------------------------------
DEFAULT_MEASURES = ("rbo", "overlap@10")


def similarity_command(options: argparse.Namespace) -> Output:
    """Say how alike two runs are, or of several each two."""
    from fastir.analyses.agreement.measures import read_measures

    with arguments.argument_errors():
        format = arguments.output_format(options)
        measures = arguments.metric_names(options) or list(DEFAULT_MEASURES)
        read_measures(measures)
    runs = read_runs(options.runs, options, 2)
    with progress_bar({}):
        similarities = fastir.similarity(runs, metrics=measures)
    if format == arguments.SAVED_FORMAT:
        similarities.save(options.output)
        return Output("")
    if format == "json":
        pairs = {name: result_json(each, options.per_query) for name, each in similarities.items()}
        return Output(json_document({"pairs": pairs}))
    table = query_table(similarities, None) if options.per_query else result_table(similarities)
    head = ["runs" if name == "run" else name for name in table.head]
    rows = [[cell._replace(strong=False) for cell in row] for row in table.rows]  # none is the best
    return Output(table_text(table._replace(head=head, rows=rows), options, format))
