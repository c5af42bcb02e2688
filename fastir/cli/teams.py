"""The options that name the team of each run: a file, or a pattern of the names of runs."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from fastir.cli.messages import UsageError, suggestion
from fastir.errors import FastirError, quote
from fastir.inputs import places


def add_teams_arguments(add: Callable[..., Any]) -> None:
    about = "the teams of runs: a line has a run, as its file is called, and its team (default: each run is one)"
    add("--teams", group="input", metavar="FILE", help=about)
    about = "the team is what this regular expression finds in the name of a run, its first group if it has one"
    add("--team-pattern", group="input", metavar="REGEX", help=about)


def read_teams_option(options: argparse.Namespace, runs: Iterable[str]) -> dict[Any, Any] | None:
    """{run: team}, or None without these options."""
    if options.teams is not None and options.team_pattern is not None:
        raise UsageError("--teams and --team-pattern: expected one of them")
    if options.team_pattern is not None:
        return by_pattern(options.team_pattern, runs)
    return None if options.teams is None else by_file(options.teams, list(runs))


def by_pattern(pattern: str, runs: Iterable[str]) -> dict[str, str]:
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


def by_file(path: str, runs: list[str]) -> dict[str, str]:
    """The teams in a file, which calls a run by the name of its row, by its path, or by either without endings."""
    from fastir.inputs.mappings import TEAMS, read_mapping

    stems = [places.stem(run) or run for run in runs]
    run_by_stem = {stem: run for stem, run in zip(stems, runs, strict=True) if stems.count(stem) == 1}
    run_by_stem.update({run: run for run in runs})
    teams: dict[str, str] = {}
    for word, team in read_mapping(TEAMS, path).items():
        folder, name = os.path.split(word)
        bare_name = places.stem(name) or name
        run = next(
            (
                run_by_stem[call]
                for call in (word, name, os.path.join(folder, bare_name), bare_name)
                if call in run_by_stem
            ),
            None,
        )
        if run is None:
            raise FastirError(f"{path}: there is no run {quote(word)}{suggestion(word, run_by_stem)}")
        if teams.setdefault(run, team) != team:
            raise FastirError(f"{path}: run {quote(run)} has two teams, {teams[run]} and {team}")
    for run in runs:
        if run not in teams:
            raise FastirError(f"{path}: run {quote(run)} has no team")
    return teams
