"""The subcommand `fastir explain`: where the values of one query of a run come from."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import fastir
from fastir.cli.arguments import (
    DEFAULT_METRICS,
    UsageError,
    add_judging_arguments,
    add_metrics_option,
    add_qrels_argument,
    arguments_checked,
    chosen_metrics,
    evaluator_options,
    parents_options,
    settings_from,
)
from fastir.cli.messages import meant
from fastir.cli.runs import column_options, named_runs, read_qrels, run_arguments
from fastir.cli.terminal import Output, watched
from fastir.errors import FastirError, quote


def add_explain_arguments(add: Callable[..., Any]) -> None:
    add_qrels_argument(add)
    add("run", metavar="RUN", help="a ranking, as for `fastir eval`; - is standard input")
    add("query", metavar="QUERY", help="the id of a query of the judgments")
    add_metrics_option(add, " ".join(DEFAULT_METRICS))
    add_judging_arguments(add)
    add("-o", "--output", metavar="FILE", help="write to a file instead, in one step")


def explain_command(options: argparse.Namespace) -> Output:
    with arguments_checked():
        chosen = {**evaluator_options(options), **parents_options(options)}
        settings = settings_from(chosen_metrics(options), evaluator_options(options))
    runs = run_arguments(named_runs([options.run], options, settings.options.duplicates), options)
    if len(runs) != 1:
        raise UsageError(f"{options.run}: expected one run, got {len(runs)}")
    qrels = read_qrels(options)
    query_ids = {str(query_id): query_id for query_id in qrels}
    if options.query not in query_ids:
        unknown = f"there is no query {quote(options.query)}{meant(options.query, query_ids)}"
        raise FastirError(f"{options.qrels}: {unknown}")
    [run] = runs.values()
    with watched({}):
        explanation = fastir.explain(
            qrels, run, query_ids[options.query], settings.metrics, **chosen, **column_options(options)
        )
    return Output(f"{explanation}\n")
