"""The subcommands about pools: `pool`, `contributions`, `leave-one-out`, `to-judge` and `merge-qrels`."""

from __future__ import annotations

import argparse
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import fastir
from fastir.checks import suggest_choice
from fastir.cli import arguments
from fastir.cli.commands import QRELS_FORMAT
from fastir.cli.eval import table_text
from fastir.cli.runs import read_qrels, read_runs
from fastir.cli.terminal import Output, UsageError, option, progress_bar
from fastir.data.results.exportable import result_table, result_title
from fastir.errors import FastirError, quote
from fastir.inputs import places
from fastir.rendering import Cell, Table
from fastir.rendering.text import json_text, without_nan


def table_output(table: Table, options: argparse.Namespace, format: str) -> Output:
    return Output(table_text(table, options, format).rstrip("\n") + "\n")


def file_output(write: Callable[[io.BytesIO], None]) -> Output:
    """The bytes of a writer of files as Output."""
    file = io.BytesIO()
    write(file)
    return Output(file.getvalue().decode("utf-8", "surrogateescape"))


def list_output(
    rows: Sequence[Any], table: Table, head: dict[str, Any], options: argparse.Namespace, format: str
) -> Output:
    """The output for documents: named tuples that begin with query_id and doc_id, and an empty table for them."""
    if format == "json":
        return Output(json_text({**head, "documents": [row._asdict() for row in rows]}, str))
    if format == QRELS_FORMAT:
        from fastir.analyses.pools.pool import write_qrels

        return file_output(lambda file: write_qrels(file, rows))
    cells = [[value_cell(value) for value in row] for row in rows]
    return table_output(table._replace(rows=cells), options, format)


def value_cell(value: Any) -> Cell:
    if isinstance(value, float):
        return Cell(f"{value:.4g}", exact=repr(value))
    return Cell(",".join(map(str, value)) if isinstance(value, tuple) else str(value))


# ---- pool ------------------------------------------------------------------------------------------------------------
def refuse_qrels_options(options: argparse.Namespace) -> None:
    """Raise ValueError for an option of judgments, which there are none of."""
    for name in ("qrels_format", "qrels_columns", "threshold", "label"):
        if getattr(options, name) is not None:
            raise ValueError(f"{option(name)}: it is of judgments, and there is no --qrels")


def pool_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        format = arguments.output_format(options)
        if options.qrels is None:
            refuse_qrels_options(options)
    qrels = None if options.qrels is None else read_qrels(options)
    pool = fastir.pool(read_runs(options.runs, options), options.pool_depth)
    rows = list(pool) if qrels is None else pool.unjudged(qrels)
    note = result_title(pool) + ("." if qrels is None else f"; {len(rows)} of them are not judged.")
    head = {"runs": pool.runs, "pool_depth": pool.pool_depth, "n_pooled": len(pool)}
    return list_output(rows, Table(["query_id", "doc_id", "runs"], [], 3, [note]), head, options, format)


# ---- the teams of runs: a file, or a pattern of their names ----------------------------------------------------------
def read_teams_option(options: argparse.Namespace, runs: Iterable[str]) -> dict[Any, Any] | None:
    """{run: team}, or None without these options."""
    if options.teams is not None and options.team_pattern is not None:
        raise UsageError("--teams and --team-pattern: expected one of them")
    if options.team_pattern is not None:
        return teams_by_pattern(options.team_pattern, runs)
    return None if options.teams is None else teams_by_file(options.teams, list(runs))


def teams_by_pattern(pattern: str, runs: Iterable[str]) -> dict[str, str]:
    try:
        find = re.compile(pattern).search
    except re.error as error:
        raise UsageError(f"--team-pattern {pattern}: {error}") from None
    teams = {}
    for run in runs:
        match = find(run)
        team = match and match[min(match.re.groups, 1)]
        if not team:
            raise FastirError(f"--team-pattern {pattern}: it does not match the name of run {quote(run)}")
        teams[run] = team
    return teams


def teams_by_file(path: str, runs: list[str]) -> dict[str, str]:
    """The teams in a file, which calls a run by the name of its row, by its path, or by either without endings."""
    from fastir.inputs.mappings import TEAMS, read_mapping

    stems = [places.stem(run) or run for run in runs]
    run_by_stem = {stem: run for stem, run in zip(stems, runs, strict=True) if stems.count(stem) == 1}
    run_by_stem.update({run: run for run in runs})
    teams: dict[str, str] = {}
    for word, team in read_mapping(TEAMS, path).items():
        folder, name = os.path.split(word)
        bare_name = places.stem(name) or name
        calls = (word, name, os.path.join(folder, bare_name), bare_name)
        run = next((run_by_stem[call] for call in calls if call in run_by_stem), None)
        if run is None:
            raise FastirError(f"{path}: there is no run {quote(word)}{suggest_choice(word, run_by_stem)}")
        if teams.setdefault(run, team) != team:
            raise FastirError(f"{path}: run {quote(run)} has two teams, {teams[run]} and {team}")
    for run in runs:
        if run not in teams:
            raise FastirError(f"{path}: run {quote(run)} has no team")
    return teams


# ---- contributions and leave-one-out ---------------------------------------------------------------------------------
def contributions_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        format = arguments.output_format(options)
    qrels, runs = read_qrels(options), read_runs(options.runs, options)
    teams = read_teams_option(options, runs)
    contributions = fastir.contributions(
        qrels, runs, teams=teams, pool_depth=options.pool_depth, rel_level=options.rel_level
    )
    if format == "json":
        return Output(contributions.to_json(per_query=False))
    return table_output(result_table(contributions), options, format)


def leave_one_out_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        format = arguments.output_format(options)
        chosen = {name: value for name, value in arguments.evaluator_options(options).items() if value is not None}
        metrics = list(arguments.settings_from(arguments.metrics_or_default(options), chosen).metrics)
        if options.without is not None and format == "json":
            raise ValueError("--without: JSON has all runs without their own teams; use csv or tsv")
    qrels, runs = read_qrels(options), read_runs(options.runs, options)
    teams = read_teams_option(options, runs)
    with progress_bar({}):
        left_out = fastir.leave_one_out(qrels, runs, metrics, teams=teams, pool_depth=options.pool_depth, **chosen)
    if format == "json":
        return Output(left_out.to_json(per_query=False))
    return table_output(result_table(left_out, team=options.without), options, format)


# ---- to-judge and merge-qrels ----------------------------------------------------------------------------------------
def to_judge_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        format = arguments.output_format(options)
        chosen = {"rel_level": options.rel_level, "convention": options.convention}
        metric = arguments.single_metric(options, chosen)
    qrels, runs = read_qrels(options), read_runs(options.runs, options, 2)
    with progress_bar({}):
        selection = fastir.to_judge(
            qrels, runs, metric, options.budget, pool_depth=options.pool_depth, max_label=options.max_label, **chosen
        )
    head = {name: getattr(selection, name) for name in ("metric", "n_unjudged", "uncertainty", "covered")}
    head = {name: without_nan(value) if isinstance(value, float) else value for name, value in head.items()}
    table = Table(["query_id", "doc_id", "influence", "n_runs"], [], 2, [f"{result_title(selection)}."])
    return list_output(selection.candidates, table, head, options, format)


def merge_qrels_command(options: argparse.Namespace) -> Output:
    if options.duplicates == "once":
        raise UsageError("--duplicates once is for runs; expected first, last or max")
    sides = [read_qrels(options, path) for path in (options.qrels, *options.more)]
    with progress_bar({}):
        merged = fastir.merge_qrels(*sides, duplicates=options.duplicates)
    if options.output is not None:
        merged.save(options.output)
        return Output("")
    from fastir.inputs import writers

    return file_output(lambda file: writers.trec(file, merged, is_run=False))
