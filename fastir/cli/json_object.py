"""`fastir eval --json`: one JSON object of judgments and rankings in, one of values out, as its schemas say."""

from __future__ import annotations

import argparse
import importlib.resources
import json
import sys
from collections.abc import Mapping
from typing import Any, cast

import fastir
from fastir.cli import arguments
from fastir.cli.arguments import STDIN
from fastir.cli.commands import READING
from fastir.cli.terminal import UsageError, deferred_warnings, option
from fastir.data.results.by_run import ResultsByRun
from fastir.errors import FormatError
from fastir.request.options import OF_DOCUMENTS
from fastir.request.plan import Settings

LIST_OPTIONS = ("rel_level", "judged_only", "max_depth", "n_threads", "duplicates", "convention")  # of evaluate_lists


def schemas() -> dict[str, Any]:
    """The JSON schemas of the object that is read ("input") and of the one that is printed ("output")."""
    text = importlib.resources.files("fastir.cli").joinpath("schemas.json").read_text("utf-8")
    return cast("dict[str, Any]", json.loads(text))


def read_object(options: argparse.Namespace) -> dict[str, Any]:
    """The object of --json; its metrics become those of the options."""
    table = "--bounds" if options.bounds else "--ties-report" if options.ties_report else None
    if options.qrels is not None or table:
        raise UsageError(f"{table or options.qrels}: --json reads one object, and no files")
    for name in (*READING.split(), "parents", "exclude", *OF_DOCUMENTS):
        if getattr(options, name) != options.parser.get_default(name):
            raise UsageError(f"{option(name)} has no effect: --json reads one object, and no files")
    if options.format not in (None, "json"):
        raise UsageError(f"--format {options.format}: --json prints JSON")
    name = "standard input" if options.json == STDIN else options.json
    try:
        if options.json == STDIN:
            given = json.load(sys.stdin.buffer)
        else:
            with open(options.json, "rb") as file:
                given = json.load(file)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"it is no JSON: {error}", path=name) from None
    sides = [each["required"] for each in schemas()["input"]["oneOf"]]
    if not isinstance(given, dict) or set(given) - {"metrics"} not in map(set, sides):
        got = ", ".join(map(repr, given)) if isinstance(given, dict) else type(given).__name__
        wanted = "; ".join(" and ".join(map(repr, side)) for side in sides)
        raise FormatError(f"expected an object with {wanted}, and perhaps 'metrics'; got {got}", path=name)
    for name in ("queries", "ties", "score_dtype", "min_score", "validate") * ("retrieved" in given):
        if getattr(options, name) is not None:
            raise UsageError(f"{option(name)} has no effect on lists")
    if "metrics" in given and options.metrics:
        raise UsageError("-m: the object has metrics, too")
    options.format = "json"
    if "metrics" in given:
        options.metrics = [given["metrics"]] if isinstance(given["metrics"], str) else given["metrics"]
        if not isinstance(options.metrics, list) or not all(isinstance(each, str) for each in options.metrics):
            raise FormatError("'metrics' must be a list of names, such as ['ndcg@10']", path=name)
    return given


def evaluate_object(given: Mapping[str, Any], options: argparse.Namespace, settings: Settings) -> ResultsByRun:
    """The Results of what the object has."""
    chosen = arguments.evaluator_options(options)
    with deferred_warnings():
        if "retrieved" in given:
            chosen = {name: value for name, value in chosen.items() if name in LIST_OPTIONS}
            result = fastir.evaluate_lists(given["retrieved"], given["relevant"], settings.metrics, **chosen)
            return ResultsByRun([("run", result)])
        runs = given["runs"] if "runs" in given else {"run": given["run"]}
        return fastir.evaluate_many(given["qrels"], runs, settings.metrics, **chosen)
