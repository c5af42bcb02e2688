"""The subcommand `fastir explain`: where the values of one query of a run come from."""

from __future__ import annotations

import argparse
from typing import Any

import fastir
from fastir.checks import suggest_choice
from fastir.cli import arguments
from fastir.cli.runs import column_options, read_qrels, run_arguments, runs_by_name
from fastir.cli.terminal import Output, UsageError, progress_bar
from fastir.errors import FastirError, quote
from fastir.rendering.text import counted
from fastir.request.names import is_metric, split
from fastir.request.plan import Settings


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
        unknown = f"there is no query {quote(options.query)}{suggest_choice(options.query, query_ids)}"
        raise FastirError(f"{options.qrels}: {unknown}")
    [run] = runs.values()
    if len(pair) == 2:
        return compare_explanations(
            qrels, run, query_ids.get(options.query), settings, options, {**chosen, **column_options(options)}
        )
    with progress_bar({}):
        explanation = fastir.explain(
            qrels, run, query_ids[options.query], settings.metrics, **chosen, **column_options(options)
        )
    return Output(f"{cut_explanation(explanation, options, settings)}\n")


def cut_explanation(explanation: fastir.Explanation, options: argparse.Namespace, settings: Settings) -> str:
    """The first ranks of an explanation, as --depth or the cutoffs say, and how many documents stand below these.

    By the cutoffs alone, a document stays that contributes to a value.
    """
    cutoffs = [request.cutoff for request in settings.compiled[0]]
    depth = options.depth if options.depth or None in cutoffs else max(cutoffs)  # type: ignore[type-var]
    if depth is None:
        return str(explanation)
    shown: list[fastir.Document] = []
    left_out: list[fastir.Document] = []
    for document in explanation.documents:
        contributes = options.depth is None and any(document.contribution.values())
        (shown if contributes or (document.rank or 0) <= depth else left_out).append(document)
    state = explanation.query_id, explanation.status, explanation.values, explanation.base
    text = str(type(explanation)(*state, lambda: (shown, explanation.missing)))
    n_relevant = sum((document.label or 0) >= options.rel_level for document in left_out)
    n_below = counted(len(left_out), "document", "documents")
    return f"{text}\n{n_below} below, {n_relevant} of them relevant; --depth shows more" if left_out else text


def take_query_from_metrics(options: argparse.Namespace) -> None:
    """Take the word behind -m for QUERY that is a query of the judgments and no metric, where QUERY is missing."""
    if options.query is not None:
        return
    others = [word for word in options.metrics or () if word and not all(map(is_metric, split(word)))]
    if len(others) == 1 and others[0] in set(map(str, read_qrels(options))):
        options.query = others[0]
        options.metrics = [word for word in options.metrics if word != others[0]] or None


def compare_explanations(
    qrels: fastir.Qrels,
    run: Any,
    query_id: Any,
    settings: Settings,
    options: argparse.Namespace,
    chosen: dict[str, Any],
) -> Output:
    """Where two conventions part, for each metric, and both rankings of the query, up to where they do."""
    texts = []
    del chosen["convention"]
    pair = options.conventions
    for metric in settings.metrics:
        with progress_bar({}):
            found = fastir.explain_conventions(qrels, run, query_id, metric, (pair[0], pair[1]), **chosen)
        texts.append(f"{found}\n")
        for name, explanation in zip(found.conventions, found.explained or (), strict=False):
            texts.append(f"{name}: {cut_explanation(explanation, options, settings)}\n")
    return Output("\n".join(texts))
