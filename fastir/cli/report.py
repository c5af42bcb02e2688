"""The subcommand `fastir report`: a page of HTML about several runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import fastir
from fastir.cli.arguments import add_options, add_run_arguments
from fastir.cli.compare import add_statistics_arguments, judged_and_compared
from fastir.cli.terminal import Output, progress_bar


def add_report_arguments(add: Callable[..., Any]) -> None:
    add_run_arguments(add)
    add_statistics_arguments(add)
    add_options(add, "k", default=10)
    add("-o", "--output", metavar="FILE", required=True, help="the page, which is written atomically")


def report_command(options: argparse.Namespace) -> Output:
    """Write the page; nothing is printed."""
    runs, arguments, chosen = judged_and_compared(options, "a report")
    with progress_bar(runs) as notice:
        chosen.update(progress=notice)
        fastir.write_report(*arguments, options.output, k=options.k, **chosen)
    return Output("")
