"""The subcommand `fastir explain`: where the values of one query of a run come from."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import fastir
from fastir.cli import arguments
from fastir.cli.runs import column_options, read_qrels, run_arguments, runs_by_name
from fastir.cli.terminal import Output, UsageError, progress_bar, suggestion
from fastir.engine.measure import DEFAULT_METRICS
from fastir.errors import FastirError, quote
from fastir.request.names import is_metric, split


def add_explain_arguments(add: Callable[..., Any]) -> None:
    arguments.add_qrels_argument(add)
    add("run", metavar="RUN", help="a ranking, as for `fastir eval`; - is standard input")
    about = "the id of a query of the judgments; with --convention A --convention B it may be left out"
    add("query", metavar="QUERY", nargs="?", help=about)
    arguments.add_metrics_option(add, " ".join(DEFAULT_METRICS))
    arguments.add_judging_arguments(add)
    add("-o", "--output", metavar="FILE", help="write to a file instead (atomically)")


def explain_command(options: argparse.Namespace) -> Output:
    take_query_from_metrics(options)
    with arguments.argument_errors():
        chosen = {**arguments.evaluator_options(options), **arguments.parents_options(options)}
        settings = arguments.settings_from(arguments.metrics_or_default(options), arguments.evaluator_options(options))
    runs = run_arguments(runs_by_name([options.run], options, settings.options.duplicates), options)
    if len(runs) != 1:
        raise UsageError(f"{options.run}: expected one run, got {len(runs)}")
    pair = getattr(options, "conventions", [])
    if len(pair) > 2:
        raise UsageError(f"--convention: expected two at most, got {len(pair)}")
    if options.query is None and len(pair) < 2:
        raise UsageError("expected QUERY before -m, or --convention twice, to compare two of them")
    qrels = read_qrels(options)
    query_ids = {str(query_id): query_id for query_id in qrels}
    if options.query is not None and options.query not in query_ids:
        unknown = f"there is no query {quote(options.query)}{suggestion(options.query, query_ids)}"
        raise FastirError(f"{options.qrels}: {unknown}")
    [run] = runs.values()
    if len(pair) == 2:
        return compare_explanations(
            qrels, run, query_ids.get(options.query), settings.metrics, pair, {**chosen, **column_options(options)}
        )
    with progress_bar({}):
        explanation = fastir.explain(
            qrels, run, query_ids[options.query], settings.metrics, **chosen, **column_options(options)
        )
    return Output(f"{explanation}\n")


def take_query_from_metrics(options: argparse.Namespace) -> None:
    """Take the word behind -m for QUERY that is a query of the judgments and no metric, where QUERY is missing."""
    if options.query is not None:
        return
    others = [word for word in options.metrics or () if word and not all(map(is_metric, split(word)))]
    if len(others) == 1 and others[0] in set(map(str, read_qrels(options))):
        options.query = others[0]
        options.metrics = [word for word in options.metrics if word != others[0]] or None


def compare_explanations(
    qrels: fastir.Qrels, run: Any, query_id: Any, metrics: Sequence[str], pair: Sequence[str], chosen: dict[str, Any]
) -> Output:
    """Where two conventions part, for each metric, and both rankings of the query, up to where they do."""
    texts = []
    del chosen["convention"]
    for metric in metrics:
        with progress_bar({}):
            found = fastir.explain_conventions(qrels, run, query_id, metric, (pair[0], pair[1]), **chosen)
        texts.append(f"{found}\n")
        for name, explanation in zip(found.conventions, found.explained or (), strict=False):
            texts.append(f"{name}: {explanation}\n")
    return Output("\n".join(texts))
