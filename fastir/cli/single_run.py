"""The subcommands `identify`, which finds the tools that give reported values, and `check`, which lists faults."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from typing import Any

import fastir
from fastir.cli import arguments
from fastir.cli.pool import table_output
from fastir.cli.runs import column_options, read_qrels, run_arguments, runs_by_name
from fastir.cli.terminal import (
    BAR_AFTER_SECONDS,
    OK,
    USAGE,
    Output,
    UsageError,
    deferred_warnings,
    progress_bar,
    replace_keywords,
)
from fastir.data.results.exportable import result_table
from fastir.errors import quote
from fastir.inputs.places import place_name


def identify_command(options: argparse.Namespace) -> Output:
    from fastir.analyses.identify.tables import read_values

    format = arguments.output_format(options)
    if bool(options.value) == bool(options.values):
        raise UsageError("expected --value METRIC=X, or --values FILE")
    unused = {"parts": False, "duplicates": None, "threshold": None, "query_ids": None, "rows": None}
    vars(options).update(unused)  # for reading
    runs = run_arguments(runs_by_name(options.runs, options, None), options)
    if len(runs) > 1 and (options.value or options.row):
        raise UsageError("several runs need --values FILE, with a row for each")
    [*names], [*given] = runs, runs.values()
    values: Any = read_values(options.values) if options.values else dict(map(value_of, options.value or ()))
    row = options.row
    if options.values and len(runs) > 1:
        values = values.select_rows(runs)
    elif options.values and row is None:
        row = names[0] if names[0] in values else None
    with deferred_warnings():
        found = fastir.identify(
            read_qrels(options),
            given[0] if len(given) == 1 else runs,
            values,
            row=row,
            ignore=options.ignore or (),
            progress=Notice(),
            n_threads=options.n_threads,
            **column_options(options),
        )
    text = found.to_json() if format == "json" else table_output(result_table(found), options, format).text
    return Output(text, code=USAGE if found.not_understood else OK)


def value_of(text: str) -> tuple[str, str]:
    name, mark, value = text.rpartition("=")
    if not (mark and name and value):
        raise UsageError(f"--value {quote(text)}: expected METRIC=X, such as ndcg@10=0.2340")
    return name, value


class Notice:
    """A line on a terminal that says how far the search is, once it has taken a second."""

    def __init__(self) -> None:
        self.start: float = time.monotonic()
        self.shown: bool = False

    def __call__(self, done: int, number: int) -> None:
        if sys.stderr is None or not sys.stderr.isatty() or time.monotonic() - self.start < BAR_AFTER_SECONDS:
            return
        ending = "\n" if done == number else ""
        print(f"\rfastir: {done} of {number} orders and depths{ending}", end="", file=sys.stderr, flush=True)


# ---- check -----------------------------------------------------------------------------------------------------------
def check_command(options: argparse.Namespace) -> Output:
    """Check every run; the exit code says whether there is a fault."""
    from fastir.analyses.check.rules import FROM_QRELS, make_rules

    with arguments.argument_errors():
        format = arguments.output_format(options)
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
