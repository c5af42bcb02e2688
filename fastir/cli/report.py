"""The subcommand `fastir report`: a page of HTML about several runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import fastir
from fastir.cli.arguments import (
    UsageError,
    add_run_arguments,
    arguments_checked,
    chosen_metrics,
    evaluator_options,
    parents_options,
    settings_from,
)
from fastir.cli.compare import add_statistics_arguments, check_comparison
from fastir.cli.pool import at_least_1
from fastir.cli.runs import column_options, named_runs, qrels_argument, run_arguments
from fastir.cli.terminal import Output, watched


def add_report_arguments(add: Callable[..., Any]) -> None:
    add_run_arguments(add)
    add_statistics_arguments(add)
    add("--depth", metavar="K", type=int, default=10, help="how many ranks are shown (default %(default)s)")
    add("-o", "--output", metavar="FILE", required=True, help="the page, which is written in one step")


def report_command(options: argparse.Namespace) -> Output:
    """Write the page; nothing is printed."""
    chosen = evaluator_options(options)
    with arguments_checked():
        at_least_1(options, "depth")
        metrics = chosen_metrics(options)
        settings = settings_from(metrics, chosen)
        chosen.update(parents_options(options))
    runs = named_runs(options.runs, options, settings.options.duplicates)
    if len(runs) < 2:
        raise UsageError("a report takes two runs or more")
    with arguments_checked():
        statistics = check_comparison(options, runs)
    with watched(runs) as notice:
        chosen.update(column_options(options), notice=notice)
        fastir.write_report(
            options.output,
            qrels_argument(options),
            run_arguments(runs, options),
            metrics,
            depth=options.depth,
            **statistics,
            **chosen,
        )
    return Output("")
