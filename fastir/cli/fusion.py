"""The subcommands about fusion: `fuse`, which makes one run of several, and `tune`, which finds the weights for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import fastir
from fastir.checks import whole_number
from fastir.cli import arguments
from fastir.cli.compare import plot_format, save_picture
from fastir.cli.pool import TEXT_FORMATS, add_format_argument, file_output, table_output
from fastir.cli.runs import read_qrels, read_runs
from fastir.cli.terminal import Output, UsageError, progress_bar
from fastir.data.results.exportable import result_json, result_table
from fastir.declared import Table
from fastir.errors import quote
from fastir.rendering.text import json_text

if TYPE_CHECKING:
    from fastir.analyses.fusion.cards import Method, Norm

TIES = ("trec", "doc_id_asc", "input")


def methods() -> Table[Method]:
    from fastir.analyses.fusion.cards import METHODS

    return METHODS


def norms() -> Table[Norm]:
    from fastir.analyses.fusion.cards import NO_NORM, NORMS

    return Table(NORMS.kind, [NO_NORM, *NORMS.values()])


def add_fusion_arguments(add: Callable[..., Any], names: Callable[[], Table[Method]], method: str, norm: str) -> None:
    choices = arguments.LazyChoices(names)
    add("--method", type=choices, choices=choices, default=method, help="%(choices)s (default %(default)s)")
    about = "how the scores of each ranking are made comparable: %(choices)s (default %(default)s)"
    choices = arguments.LazyChoices(norms)
    add("--norm", type=choices, choices=choices, default=norm, help=about)
    add("--param", metavar="NAME=NUMBER", action="append", default=[], help="of the method, such as k=60")
    about = "which of equal scores comes first: the larger id, the smaller one, or the one that came first: %(choices)s"
    arguments.add_options(add, "ties", choices=TIES, default="trec", help=f"{about} (default %(default)s)")
    arguments.add_options(add, "n_threads")


def param_options(words: list[str]) -> dict[str, float]:
    """The parameters of --param."""
    params: dict[str, float] = {}
    for word in words:
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
def add_fuse_arguments(add: Callable[..., Any]) -> None:
    arguments.add_runs_argument(add)
    add_fusion_arguments(add, methods, "rrf", "none")
    arguments.add_options(add, "run_weights")
    arguments.add_options(add, "max_depth", help="how many documents of each query are written (default: all)")
    arguments.add_reading_arguments(add, qrels=False)
    add("-o", "--output", metavar="FILE", help="a .run, .json or .parquet file, atomically (default: print TREC)")


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
def add_tune_arguments(add: Callable[..., Any]) -> None:
    arguments.add_qrels_argument(add)
    arguments.add_runs_argument(add)
    arguments.add_metric_option(add)
    add_fusion_arguments(add, lambda: methods().only(lambda card: card.tunable), "wsum", "min-max")
    about = "step of the weights from 0 to 1, or of the parameter (default: .01 for two runs, .05 for three and four)"
    add("--grid", metavar="STEP", type=float, help=about)
    add("--trials", dest="n_trials", metavar="N", type=int, help="the number of random settings, instead of a grid")
    about = "parts of the queries, each scored with what the others choose (default %(default)s)"
    add("--folds", metavar="N", type=int, default=5, help=about)
    arguments.add_options(add, "random_state")
    about = "a query and its segment on each line; folds get a fraction of each segment"
    arguments.add_options(add, "segments", help=about)
    add("--plot", metavar="FILE", help="draw the metric against the weights, too; .png, .svg or .pdf")
    arguments.add_reading_arguments(add)
    arguments.add_options(add, "rel_level", "convention")
    add("-q", "--per-query", action="store_true", help="in json, the cross-validated value of every query")
    add_format_argument(add, TEXT_FORMATS)


TUNE_OPTIONS = (
    *("grid", "n_trials", "folds", "random_state", "segments", "ties", "rel_level", "convention", "n_threads"),
)


def tune_command(options: argparse.Namespace) -> Output:
    """Choose the weights or the parameter of a fusion, and print what they are worth on other queries."""
    with arguments.argument_errors():
        format = arguments.output_format(options, TEXT_FORMATS)
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
    if options.plot is not None:
        save_picture(tuning.plot().figure, options.plot)
    if format == "json":
        return Output(json_text(result_json(tuning, options.per_query)))
    return table_output(result_table(tuning), options, format)
