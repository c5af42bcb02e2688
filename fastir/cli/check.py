"""The subcommand `fastir check`: all faults of runs, as a table, for a program or as a gate."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

import fastir
from fastir.analyses.check.rules import OF_QRELS, make_rules
from fastir.cli.arguments import (
    add_qrels_argument,
    add_reading_arguments,
    add_runs_argument,
    arguments_checked,
    output_format,
)
from fastir.cli.messages import worded
from fastir.cli.pool import TEXTS, add_format_argument, at_least_1, table_output
from fastir.cli.runs import column_options, named_runs
from fastir.cli.terminal import Output, watched
from fastir.data.results.exportable import result_table
from fastir.inputs.places import place_name


def add_check_arguments(add: Callable[..., Any]) -> None:
    add_qrels_argument(add)
    add_runs_argument(add)
    add("--max-depth", metavar="K", type=int, help="more documents of a query are a fault")
    about = "the queries that each run must have, and no other one: ids or topics (default: those of the qrels)"
    add("--exactly-queries", metavar="FILE", default=OF_QRELS, help=about)
    add("--tag", metavar="PATTERN", help="a regular expression that tags must match, such as 'team[0-9]+'")
    about = "how many faults of each kind the table shows (default %(default)s); json has all"
    add("--examples", metavar="N", type=int, default=3, help=about)
    add_reading_arguments(add, repairs=False)
    add_format_argument(add, TEXTS)


def check_command(options: argparse.Namespace) -> Output:
    """Check every run; the exit code says whether there is a fault."""
    with arguments_checked():
        format = output_format(options, TEXTS)
        at_least_1(options, "max_depth")
        if options.examples < 0:
            raise ValueError(f"--examples {options.examples}: expected 0 or more")
        make_rules(options.max_depth, OF_QRELS, options.tag)
    options.parts, options.duplicates = False, None  # which `named_runs` asks for
    runs = named_runs(options.runs, options, None)
    with watched(runs) as notice:
        checked = fastir.check(
            options.qrels,
            runs,
            max_depth=options.max_depth,
            exactly_queries=options.exactly_queries,
            tag=options.tag,
            qrels_format=options.qrels_format,
            run_format=options.run_format,
            examples=options.examples,
            notice=notice,
            **column_options(options),
        )
    checked = in_words_of_the_command(checked, place_name(options.qrels))
    text = checked.to_json() if format == "json" else table_output(result_table(checked), options, format).text
    return Output(text, [] if checked.ok else [checked.summary()])


def in_words_of_the_command(checked: fastir.Checked, qrels: str) -> fastir.Checked:
    """The same with options where texts name keywords."""
    faults = [
        fault._replace(text=worded(fault.text, "--qrels-format" if fault.file == qrels else "--run-format"))
        for fault in checked.faults
    ]
    return dataclasses.replace(checked, faults=faults)
