"""The option --bounds of `fastir eval`: how far unjudged documents could change the values of each run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastir.cli.arguments import add_options, evaluator_options, parents_options
from fastir.cli.runs import column_options, qrels_argument, run_arguments, runs_by_name
from fastir.cli.terminal import progress_bar
from fastir.data.qrels import as_qrels
from fastir.data.results.exportable import result_table
from fastir.rendering import Cell, Table

if TYPE_CHECKING:
    from fastir.analyses.bounds.result import Bounds
    from fastir.request.plan import Settings


def add_bounds_arguments(add: Callable[..., Any]) -> None:
    add(
        "--bounds",
        group="statistics",
        action="store_true",
        help="a row for every metric: the smallest and largest value by the labels of retrieved unjudged documents",
    )
    add_options(add, "max_label")
    add_options(add, "pool_depth", help="documents below this rank stay unjudged (default: none)")
    add_options(add, "unseen", default=None)


def check_bounds(options: argparse.Namespace) -> None:
    """Refuse what has no meaning with --bounds, or without it."""
    if options.bounds and options.per_query:
        raise ValueError("--per-query: --bounds prints a row for every metric, not for every query")
    if options.bounds and (options.format == "parquet" or os.path.splitext(options.output or "")[1] == ".parquet"):
        raise ValueError("--bounds: a table of bounds is not written as Parquet; use csv, tsv or json")
    own = {"--max-label": options.max_label, "--pool-depth": options.pool_depth, "--unseen": options.unseen}
    for name, value in own.items():
        if not options.bounds and value is not None:
            raise ValueError(f"{name}: it belongs to --bounds")


def run_bounds(words: Sequence[str], options: argparse.Namespace, settings: Settings) -> dict[str, Bounds]:
    """Return the Bounds of the runs that the words name; the qrels are read once."""
    from fastir.analyses.bounds.bounds import bounds

    runs = run_arguments(runs_by_name(words, options, settings.options.duplicates), options)
    chosen = {**evaluator_options(options), **parents_options(options), **column_options(options)}
    sides = chosen.get("qrels_columns") or chosen.get("columns")
    qrels = as_qrels(qrels_argument(options), sides, settings.options.duplicates)
    limits: dict[str, Any] = {"max_label": options.max_label, "pool_depth": options.pool_depth}
    limits["unseen"] = options.unseen or 0
    with progress_bar(runs):
        return {name: bounds(qrels, run, settings.metrics, **limits, **chosen) for name, run in runs.items()}


def bounds_table(bounds_by_run: Mapping[str, Bounds]) -> Table:
    """A row for every metric, of several runs for every run and metric."""
    tables = {name: result_table(each) for name, each in bounds_by_run.items()}
    first = next(iter(tables.values()))
    if len(tables) == 1:
        return first
    rows = [[Cell(str(name)), *row] for name, table in tables.items() for row in table.rows]
    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    return Table(["run", *first.head], rows, 2, list(notes))
