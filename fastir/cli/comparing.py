"""The subcommand `fastir compare`: its options, and from evaluated files to the text that is printed."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastir.cli.arguments import (
    SAVED,
    add_output_arguments,
    add_run_arguments,
    arguments_checked,
    columns_of,
    evaluator_options,
    files_explained,
    metrics_of,
    named_runs,
    output_format,
    parents_options,
    qrels_of,
    runs_of,
    settings_of,
)
from fastir.cli.gates import rules_of
from fastir.cli.terminal import Output, watched
from fastir.errors import FastirError, quote
from fastir.evaluation.named_runs import run_names
from fastir.request.options import Options
from fastir.results.saved_files import is_saved
from fastir.text import json_text, replacing

if TYPE_CHECKING:
    from fastir.comparison.comparison import Comparison

# the options that say how runs are read and judged
JUDGING = (
    *(name for name in Options._fields if name not in ("n_threads", "choices", "validate")),
    *("parents", "aggregate", "parts", "all", "qrels_format", "run_format", "columns", "qrels_columns", "run_columns"),
)
STATISTICS = ("test", "n_resamples", "correction", "family", "confidence", "interval", "effect", "random_state")


def add_compare_arguments(add: Callable[..., Any]) -> None:
    add_run_arguments(add)
    add(
        "--fail-if",
        metavar="RULE",
        action="append",
        help="exit with 4 if a run is worse than the baseline: worse:METRIC[:ALPHA] significantly, drop:METRIC>MARGIN "
        "by more than this",
    )
    add("--baseline", metavar="RUN", help="compare every run with this one only (default: all pairs)")
    add(
        "--test",
        default="t",
        metavar="NAME",
        help="such as t, wilcoxon, sign, randomization, bootstrap, tukey (default %(default)s)",
    )
    add("--resamples", dest="n_resamples", metavar="N", type=int, default=100_000, help="default %(default)s")
    add("--correction", metavar="NAME", help="such as holm, bonferroni, bh, max-t (default: none)")
    add("--family", choices=("metric", "all"), default="metric", help="p-values that are corrected together")
    add("--confidence", metavar="SHARE", type=float, default=0.95, help="of the intervals (default %(default)s)")
    add("--interval", default="t", metavar="NAME", help="such as t, percentile, bca (default %(default)s)")
    add("--effect", default="d_z", metavar="NAME", help="the effect size (default %(default)s)")
    add("--seed", dest="random_state", metavar="N", type=int, default=0, help="of what is random (default 0)")
    add("--pairs", action="store_true", help="a row for every pair: difference, interval, p, effect, wins/ties/losses")
    add("--intervals", action="store_true", help="show the intervals of the means")
    add(
        "--format",
        choices=(*FORMATS, "parquet"),
        help="%(choices)s (default table); json, tsv, csv and parquet are exact",
    )
    add("--plot", metavar="FILE", help="draw means and differences, too; .png, .svg or .pdf")
    add_output_arguments(add)


def compare_command(options: argparse.Namespace) -> Output:
    with arguments_checked():
        rules = rules_of(options.fail_if)
        if rules and options.baseline is None:
            raise ValueError("--fail-if compares with a baseline; name it with --baseline")
        format = output_format(options)
    gated = [rule.metric for rule in rules]
    comparison = compared_results(options, gated) if is_saved(options.qrels) else compared_runs(options, gated)
    if options.plot is not None:
        draw(comparison, options.plot)
    failed = [line for rule in rules for line in rule.failures(comparison)]
    if format == SAVED:
        comparison.save(options.output)
        return Output("", failed)
    return Output(FORMATS[format](comparison, options), failed)


def compared_results(options: argparse.Namespace, gated: list[str]) -> Comparison:
    """Compare files that hold saved results, which were judged before."""
    from fastir.comparison.compare_scores import compare_scores

    unused = [name for name in JUDGING if getattr(options, name) != options.parser.get_default(name)]
    if unused:
        option = unused[0].replace("_", "-")
        options.parser.error(f"--{option} is of no use: {options.qrels} holds saved results, which were judged before")
    paths = [options.qrels, *options.runs]
    runs = dict(zip(run_names(paths), paths, strict=True))
    with arguments_checked():
        check_comparison(options, runs)
    metrics = [*metrics_of(options), *gated] if options.metrics else None
    comparison = compare_scores(runs, metrics, **statistics_of(options, runs))
    for metric in gated:
        if metric not in comparison.metrics:
            raise FastirError(f"{paths[0]}: it has no metric {quote(metric)}")
    return comparison


def compared_runs(options: argparse.Namespace, gated: list[str]) -> Comparison:
    """Judge runs, and compare them."""
    from fastir.comparison.compare import compare
    from fastir.comparison.scores import check_aggregates

    runs = named_runs(options)
    if len(runs) < 2:
        options.parser.error("comparing takes two runs or more")
    chosen = evaluator_options(options)
    with arguments_checked():
        metrics = metrics_of(options, gated)
        settings = settings_of(metrics, chosen)
        check_comparison(options, runs)
        check_aggregates(dict(zip(settings.names, settings.aggregates, strict=True)), None)
        chosen.update(parents_options(options))
    with files_explained(options), watched(runs) as notice:
        chosen.update(columns_of(options), notice=notice)
        return compare(qrels_of(options), runs_of(runs, options), metrics, **statistics_of(options, runs), **chosen)


def statistics_of(options: argparse.Namespace, runs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `compare` that say how; a baseline is called by its name or by its path."""
    baseline = next((name for name, path in runs.items() if path == options.baseline), options.baseline)
    return {"baseline": baseline, **{name: getattr(options, name) for name in STATISTICS}}


def check_comparison(options: argparse.Namespace, runs: dict[str, Any]) -> None:
    """Refuse arguments that no files can make right.

    Raises
    ------
    ValueError
    FastirError
        A library is missing.
    """
    from fastir.comparison.compare_scores import checked_options, chosen_pairs
    from fastir.stats._scipy import special

    try:
        special()
    except ImportError as error:
        raise FastirError(str(error)) from None
    statistics = statistics_of(options, runs)
    chosen_pairs(list(runs), statistics.pop("baseline"))
    checked_options(**statistics, seeds=None, n_threads=options.n_threads)
    if options.plot is not None:
        plot_format(options.plot)


def draw(comparison: Comparison, path: str) -> None:
    from fastir.plots import overview

    picture = io.BytesIO()
    overview(comparison).savefig(picture, format=plot_format(path))
    with replacing(path) as file:
        file.write(picture.getvalue())


def plot_format(path: str) -> str:
    """The suffix of a picture's name; a suffix that cannot be written is an error before any work is done."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FastirError(f"--plot needs matplotlib: pip install 'fastir[plot]' ({error})") from None
    suffix = os.path.splitext(path)[1].lower().lstrip(".")
    known = Figure().canvas.get_supported_filetypes()
    if suffix not in known:
        raise ValueError(f"--plot {path}: the name must end in {', '.join(f'.{name}' for name in sorted(known))}")
    return suffix


def tables(format: str) -> Callable[..., Any]:
    return lambda comparison, options: (
        comparison.to_table(format, rows="pairs" if options.pairs else "runs", intervals=options.intervals).rstrip("\n")
        + "\n"
    )


def as_tsv(comparison: Comparison, _: argparse.Namespace) -> str:
    from fastir.comparison.tables import pair_lines

    return pair_lines(comparison.pairs)


FORMATS: dict[str, Callable[..., Any]] = {
    "table": tables("text"),
    "markdown": tables("markdown"),
    "html": tables("html"),
    "latex": tables("latex"),
    "csv": tables("csv"),
    "json": lambda comparison, options: json_text(comparison.to_json()),
    "tsv": as_tsv,
}
