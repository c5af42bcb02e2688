"""The subcommands about fusion: `fuse`, which makes one run of several, and `tune`, which finds the weights for it."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

import fastir
from fastir.checks import whole_number
from fastir.cli import arguments
from fastir.cli.commands import COMMANDS
from fastir.cli.compare import plot_format, save_picture
from fastir.cli.parser import Parser
from fastir.cli.pool import file_output, table_output
from fastir.cli.runs import read_qrels, read_runs
from fastir.cli.terminal import Output, UsageError, progress_bar
from fastir.data.results.exportable import result_json, result_table
from fastir.errors import quote
from fastir.rendering.text import json_text

if TYPE_CHECKING:
    pass


def param_options(words: list[str] | None) -> dict[str, float]:
    """The parameters of --param."""
    params: dict[str, float] = {}
    for word in words or ():
        name, mark, text = word.partition("=")
        try:
            number = float(text)
        except ValueError:
            mark = ""
        if not mark or not name:
            raise UsageError(f"--param {quote(word)}: expected NAME=NUMBER, such as k=60")
        params[name] = int(number) if number.is_integer() else number
    return params


# ---- fuse ------------------------------------------------------------------------------------------------------------
def weights_option(text: str | None) -> Any:
    """The weights of --run-weights: a list, or {run: weight}."""
    if text is None:
        return None
    fields = [field.rpartition("=") for field in text.split(",")]
    try:
        values = [float(value) for _, _, value in fields]
    except ValueError:
        raise UsageError(f"--run-weights {quote(text)}: expected numbers, such as 0.3,0.7") from None
    named = [name for name, mark, _ in fields if mark]
    if named and len(named) < len(fields):
        raise UsageError(f"--run-weights {quote(text)}: some have a run and some have none")
    return dict(zip(named, values, strict=True)) if named else values


def fuse_command(options: argparse.Namespace) -> Output:
    """Fuse runs, and write the result."""
    with arguments.argument_errors():
        weights = weights_option(options.run_weights)
        params: dict[str, Any] = {**param_options(options.param)}
        if options.duplicates == "once":
            raise ValueError("--duplicates once: not possible, because a fused run has every document once")
    runs = read_runs(options.runs, options, 2)
    with arguments.argument_errors(), progress_bar({}):
        for name in ("max_depth", "ties", "n_threads"):
            params[name] = getattr(options, name)
        fused = fastir.fuse(runs, options.method, options.norm, weights, **params)
    if options.output is not None:
        fused.save(options.output)
        return Output("")
    from fastir.inputs import writers

    return file_output(lambda file: writers.trec(file, fused, True))


# ---- tune ------------------------------------------------------------------------------------------------------------
TUNE_OPTIONS = (
    *("grid", "n_trials", "folds", "random_state", "segments", "ties", "rel_level", "convention", "n_threads"),
)


def tune_command(options: argparse.Namespace) -> Output:
    """Choose the weights or the parameter of a fusion, and print what they are worth on other queries."""
    with arguments.argument_errors():
        format = arguments.output_format(options)
        if options.per_query and format != "json":
            raise ValueError(f"--per-query: it is for json, and the format is {format}")
        metric = arguments.single_metric(options, {"rel_level": options.rel_level, "convention": options.convention})
        params = param_options(options.param)
        whole_number("--folds", options.folds, 2)
        if options.plot is not None:
            plot_format(options.plot)
    qrels = read_qrels(options)
    runs = read_runs(options.runs, options, 2)
    chosen = {name: getattr(options, name) for name in TUNE_OPTIONS}
    with arguments.argument_errors(), progress_bar({}):
        tuning = fastir.tune(qrels, runs, metric, options.method, options.norm, params=params, **chosen)
    if options.run is not None:
        how: dict[str, Any] = {**tuning.params, "ties": options.ties, "n_threads": options.n_threads}
        fastir.fuse(runs, tuning.method, tuning.norm, tuning.weights, **how).save(options.run)
    if options.plot is not None:
        save_picture(tuning.plot().figure, options.plot)
    if format == "json":
        return Output(json_text(result_json(tuning, options.per_query)))
    output = table_output(result_table(tuning), options, format)
    command = fuse_words(options, tuning) if format == "table" else []
    return output._replace(text=f"{output.text}\n{shlex.join(command)}\n") if command else output


def fuse_words(options: argparse.Namespace, tuning: fastir.Tuning) -> list[str]:
    """The command that makes the tuned run; empty if it has parameters that were learnt from judgments."""
    if not all(isinstance(value, (int, float)) for value in tuning.params.values()):
        return []
    weights = None if tuning.weights is None else ",".join(repr(float(weight)) for weight in tuning.weights.values())
    params = [f"{name}={value!r}" for name, value in tuning.params.items()]
    chosen = {**vars(options), "run_weights": weights, "param": params, "output": None, "max_depth": None}
    words = ["fastir", "fuse", *options.runs]
    for action in Parser(COMMANDS["fuse"])._actions:
        value = chosen.get(action.dest)
        if action.option_strings and value not in (None, False, [], action.default):
            for each in value if isinstance(value, list) else [value]:
                words += [action.option_strings[-1], *([] if each is True else [str(each)])]
    return words
