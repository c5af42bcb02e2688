"""The subcommand `fastir diff`: what changed between two runs, or two saved results, and on which queries."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import fastir
from fastir.cli.arguments import (
    DEFAULT_METRICS,
    METRICS_OPTION,
    UsageError,
    add_output_arguments,
    arguments_checked,
    settings_of,
    split,
)
from fastir.cli.terminal import Output, watched
from fastir.errors import quote
from fastir.evaluation.named_runs import run_names
from fastir.rendering import Cell, Table, rendered
from fastir.results.changes import ResultsDiff
from fastir.results.results import Results
from fastir.results.saved_files import is_saved
from fastir.text import decimals, json_text, signed

FORMATS = ("table", "markdown", "json")
BY_SUFFIX = {".md": "markdown", ".json": "json"}


def add_diff_arguments(add: Callable[..., Any]) -> None:
    add("old", metavar="OLD", help="a run, or results that `fastir eval -o` or Results.save wrote")
    add("new", metavar="NEW", help="the same; changes are from OLD to NEW")
    add("--qrels", metavar="QRELS", help="the judgments, for runs")
    add(*METRICS_OPTION, metavar="METRIC", action="append", help="default: all that both results have")
    add("--top", metavar="N", type=int, default=10, help="how many gains and losses to list (default %(default)s)")
    add("--markdown", dest="format", action="store_const", const="markdown", help="for a pull request")
    add("--format", choices=FORMATS, help="%(choices)s (default table)")
    add("--convention", metavar="TOOL", default="fastir", help="of runs, as for `fastir eval`")
    add_output_arguments(add)


def diff_command(options: argparse.Namespace) -> Output:
    with arguments_checked():
        wanted = [name for word in options.metrics or () for name in split(word)]
        settings_of(wanted or list(DEFAULT_METRICS), {"convention": options.convention})
        if options.top < 1:
            raise ValueError(f"--top {options.top}: expected 1 or more")
    old, new = (results_of(path, options, wanted) for path in (options.old, options.new))
    names = wanted or [name for name in new.names if name in old]
    for name in names:
        if name not in new or name not in old:
            side = options.old if name not in old else options.new
            raise fastir.FastirError(f"{side}: it has no metric {quote(name)}")
    if not names:
        raise fastir.FastirError(f"no metric in common: {', '.join(old.names)} and {', '.join(new.names)}")
    format = options.format or BY_SUFFIX.get(os.path.splitext(options.output or "")[1].lower(), "table")
    changes = [new.diff(old, name, options.top) for name in names if not old.aggregates[name].startswith("count")]
    if format == "json":
        return Output(json_text([change.to_json() for change in changes]), [])
    if format == "markdown":
        was, now = run_names([options.old, options.new])
        return Output(markdown(changes, was, now), [])
    return Output("\n\n".join(map(repr, changes)) + "\n", [])


def markdown(changes: list[ResultsDiff], was: str, now: str) -> str:
    """A table of the means, and below it the queries of each metric, folded: for a comment on a pull request."""
    head = ["metric", was, now, "change", "gain", "lose"]
    rows = [
        [
            Cell(change.metric),
            Cell(decimals(change.other_mean)),
            Cell(decimals(change.mean)),
            Cell(signed(change.mean - change.other_mean)),
            Cell(str(change.n_gains)),
            Cell(str(change.n_losses)),
        ]
        for change in changes
    ]
    parts = [rendered(Table(head, rows, 1, []), "markdown")]
    for change in changes:
        if change.gains or change.losses:
            table = change.to_table("markdown")
            parts.append(f"<details><summary>{change.metric} by query</summary>\n\n{table}\n</details>\n")
    return "\n".join(parts)


def results_of(path: str, options: argparse.Namespace, metrics: list[str]) -> Results:
    """Saved results, or those of a run."""
    if is_saved(path):
        return Results.load(path)
    if options.qrels is None:
        raise UsageError(f"{path} holds no saved results; for runs, --qrels says where the judgments are")
    with watched({path: path}) as notice:
        evaluator = fastir.Evaluator(options.qrels, metrics or DEFAULT_METRICS, convention=options.convention)
        return evaluator.evaluate_many({path: path}, notice=notice)[path]
