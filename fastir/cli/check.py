"""The subcommand `fastir check`: all faults of runs, as a table, for a program or as a gate."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

import fastir
from fastir.analyses.check.rules import FROM_QRELS, make_rules
from fastir.cli.arguments import (
    add_options,
    add_qrels_argument,
    add_reading_arguments,
    add_runs_argument,
    argument_errors,
    output_format,
)
from fastir.cli.pool import TEXT_FORMATS, add_format_argument, table_output
from fastir.cli.runs import column_options, runs_by_name
from fastir.cli.terminal import Output, progress_bar, replace_keywords
from fastir.data.results.exportable import result_table
from fastir.inputs.places import place_name


def add_check_arguments(add: Callable[..., Any]) -> None:
    add_qrels_argument(add)
    add_runs_argument(add, "*")
    add_options(add, "max_depth", help="more documents of a query are a fault")
    add_options(add, "exactly_queries", "tag", "corpus", "examples")
    add_reading_arguments(add, repairs=False)
    add_format_argument(add, TEXT_FORMATS)


def check_command(options: argparse.Namespace) -> Output:
    """Check every run; the exit code says whether there is a fault."""
    with argument_errors():
        format = output_format(options, TEXT_FORMATS)
        if options.examples < 0:
            raise ValueError(f"--examples {options.examples}: expected 0 or more")
        make_rules(options.max_depth, FROM_QRELS, options.tag)
    options.parts, options.duplicates = False, None  # which `runs_by_name` asks for
    runs = runs_by_name(options.runs, options, None)
    with progress_bar(runs) as notice:
        checked = fastir.check(
            options.qrels,
            runs,
            max_depth=options.max_depth,
            exactly_queries=options.exactly_queries,
            tag=options.tag,
            corpus=options.corpus,
            qrels_format=options.qrels_format,
            run_format=options.run_format,
            label=options.label,
            examples=options.examples,
            progress=notice,
            **column_options(options),
        )
    checked = with_option_names(checked, place_name(options.qrels))
    text = checked.to_json() if format == "json" else table_output(result_table(checked), options, format).text
    return Output(text, [] if checked.ok else [checked.summary()])


def with_option_names(checked: fastir.Checked, qrels: str) -> fastir.Checked:
    """The same with options where texts name keywords."""
    faults = [
        fault._replace(text=replace_keywords(fault.text, "--qrels-format" if fault.file == qrels else "--run-format"))
        for fault in checked.faults
    ]
    return dataclasses.replace(checked, faults=faults)
