"""The subcommand `fastir report`: a page of HTML about several runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import fastir
from fastir.cli.arguments import add_run_arguments, arguments_checked
from fastir.cli.compare import add_statistics_arguments, judged_and_compared
from fastir.cli.pool import at_least_1
from fastir.cli.terminal import Output, watched


def add_report_arguments(add: Callable[..., Any]) -> None:
    add_run_arguments(add)
    add_statistics_arguments(add)
    add("--depth", metavar="K", type=int, default=10, help="how many ranks are shown (default %(default)s)")
    add("-o", "--output", metavar="FILE", required=True, help="the page, which is written in one step")


def report_command(options: argparse.Namespace) -> Output:
    """Write the page; nothing is printed."""
    with arguments_checked():
        at_least_1(options, "depth")
    runs, arguments, chosen = judged_and_compared(options, "a report")
    with watched(runs) as notice:
        chosen.update(notice=notice)
        fastir.write_report(options.output, *arguments, depth=options.depth, **chosen)
    return Output("")
