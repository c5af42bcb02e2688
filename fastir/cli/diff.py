"""The subcommand `fastir diff`: what changed between two runs, or two saved results, and on which queries."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import fastir
from fastir.cli import arguments
from fastir.cli.compare import metrics_of_saved
from fastir.cli.eval import evaluate_words
from fastir.cli.gates import Rule, failures, for_each_metric, parse_rules
from fastir.cli.runs import are_saved, load_saved_runs, warn_of_other_options
from fastir.cli.terminal import Output, UsageError, tell
from fastir.data.results.changes import ResultsDiff
from fastir.data.results.exportable import result_json
from fastir.data.results.results import Results
from fastir.engine.measure import DEFAULT_METRICS
from fastir.errors import quote
from fastir.evaluation.run_collections import distinct_names, file_name, stem
from fastir.rendering import Cell, Table, render
from fastir.rendering.text import decimals, json_text, signed_text
from fastir.request.plan import Settings


def diff_command(options: argparse.Namespace) -> Output:
    if len(options.files) not in (2, 3) or (len(options.files) == 3 and options.qrels is not None):
        raise UsageError("expected OLD and NEW with --qrels QRELS, or QRELS OLD NEW, or two files of saved results")
    *qrels, options.old, options.new = options.files
    options.qrels = qrels[0] if qrels else options.qrels
    with arguments.argument_errors():
        wanted = arguments.requested_metrics(options)
        rules = parse_rules(options.fail_if)
        needed = [*(wanted or DEFAULT_METRICS), *(rule.metric for rule in rules)]
        settings = arguments.settings_from(list(dict.fromkeys(needed)), arguments.evaluator_options(options))
        arguments.parents_options(options)
        format = arguments.output_format(options)
    if options.queries is not None and are_saved([options.old]) and are_saved([options.new]):
        raise UsageError(f"--queries has no effect: {options.old} and {options.new} hold saved results")
    old, new = (read_results(word, options, settings) for word in (options.old, options.new))
    pairs, alone = pair_runs(old, new, options)
    for line in alone:
        if not rules:  # which a run without its counterpart does not pass
            tell("warning", line)
    any(warn_of_other_options({options.old: was, options.new: now}) for was, now in pairs.values())
    changes = {name: metric_changes(was, now, wanted, options) for name, (was, now) in pairs.items()}
    names = {name: name if len(pairs) > 1 else options.new for name in pairs}
    failed = [
        line for name, (was, now) in pairs.items() for line in broken_rules(rules, names[name], was, now, options)
    ]
    failed += [f"{line}, so that --fail-if has nothing to compare it with" for line in alone if rules]
    return Output(text_in(format, changes, options), failed, rules)


def broken_rules(rules: list[Rule], name: str, old: Results, new: Results, options: argparse.Namespace) -> list[str]:
    """Why a run fails, a line for each rule that its change breaks."""
    if not rules:
        return []
    from fastir.analyses.compare.compare_scores import compare_scores

    metrics = metrics_of_saved([rule.metric for rule in rules], {options.old: old, options.new: new}, options)
    rules = for_each_metric(rules, metrics, arguments.evaluator_options(options))
    was, now = options.old, f"{name} (new)" if name == options.old else name
    return failures(rules, compare_scores({now: new, was: old}, metrics, baseline=was))


def text_in(format: str, changes: dict[str, list[ResultsDiff]], options: argparse.Namespace) -> str:
    """What is printed of the changes of each run."""
    if format == "json":
        parts = {name: [result_json(change) for change in part] for name, part in changes.items()}
        return json_text({"runs": parts} if len(parts) > 1 else next(iter(parts.values())))
    if format == "markdown":
        name = file_name if options.names == "file" else stem
        return markdown_table(changes, *distinct_names([options.old, options.new], name))
    if format != "table":
        return "\n".join(change.to_table(format).rstrip("\n") + "\n" for part in changes.values() for change in part)
    heads = {name: f"run {name}\n\n" if len(changes) > 1 else "" for name in changes}
    return "\n\n".join(heads[name] + "\n\n".join(map(repr, part)) for name, part in changes.items()) + "\n"


def read_results(word: str, options: argparse.Namespace, settings: Settings) -> Mapping[str, Results]:
    """{name: Results} of saved results, or of runs."""
    if are_saved([word]):
        return load_saved_runs([word], options)[0]
    if options.qrels is None:
        raise UsageError(f"{word} holds no saved results; for runs, --qrels says where the judgments are")
    return evaluate_words([word], options, settings)


def pair_runs(
    old: Mapping[str, Results], new: Mapping[str, Results], options: argparse.Namespace
) -> tuple[dict[str, tuple[Results, Results]], list[str]]:
    """{name: old and new Results} of the runs that both sides have, and a line on those that only one side has.

    Names do not matter where each side has one run.
    """
    if len(old) == len(new) == 1:
        return {next(iter(new)): (*old.values(), *new.values())}, []  # type: ignore[dict-item]
    names = [name for name in new if name in old]
    if not names:
        raise fastir.FastirError(
            f"no run in common: {options.old} has {', '.join(old)}, and {options.new} has {', '.join(new)}"
        )
    alone = {
        options.old: [name for name in old if name not in new],
        options.new: [name for name in new if name not in old],
    }
    lines = [f"only {word} has {', '.join(runs)}" for word, runs in alone.items() if runs]
    return {name: (old[name], new[name]) for name in names}, lines


def metric_changes(old: Results, new: Results, wanted: list[str], options: argparse.Namespace) -> list[ResultsDiff]:
    """The changes of each metric of a run."""
    names = wanted or [name for name in new.names if name in old]
    check_metrics(old, new, names, options)
    if not names:
        raise fastir.FastirError(f"no metric in common: {', '.join(old.names)} and {', '.join(new.names)}")
    return [new.diff(old, name, options.top) for name in names if not old.aggregates[name].startswith("count")]


def check_metrics(old: Results, new: Results, names: list[str], options: argparse.Namespace) -> None:
    """Refuse a metric that is missing from one side."""
    for name in names:
        if name not in new or name not in old:
            side, results = (options.old, old) if name not in old else (options.new, new)
            having = ", ".join(map(quote, results.names))
            raise fastir.FastirError(f"{side}: it has no metric {quote(name)}; it has {having}")


def markdown_table(changes: dict[str, list[ResultsDiff]], was: str, now: str) -> str:
    """A table of the means, and below it the queries of each metric, folded: for a comment on a pull request."""
    several = len(changes) > 1
    head = [*["run"] * several, "metric", was, now, "change", "gained", "lost"]
    rows, parts = [], []
    for name, change in ((name, change) for name, part in changes.items() for change in part):
        cells = (
            change.metric,
            decimals(change.other_mean),
            decimals(change.mean),
            signed_text(change.mean - change.other_mean),
            str(change.n_gains),
            str(change.n_losses),
        )
        rows.append([Cell(text) for text in (*[name] * several, *cells)])
        if change.gains or change.losses:
            title = f"{name}: {change.metric}" if several else change.metric
            table = change.to_table("markdown")
            parts.append(f"<details><summary>{title} by query</summary>\n\n{table}\n</details>\n")
    return "\n".join([render(Table(head, rows, 1 + several, []), "markdown"), *parts])
