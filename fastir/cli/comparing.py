"""The subcommand `fastir compare`: its options, and from evaluated files to the text that is printed."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastir.cli.arguments import (
    add_output_arguments,
    add_run_arguments,
    arguments_checked,
    columns_of,
    evaluator_options,
    files_explained,
    metrics_of,
    named_runs,
    parents_options,
    qrels_of,
    runs_of,
    settings_of,
)
from fastir.cli.gates import rules_of
from fastir.cli.terminal import Output, watched
from fastir.errors import FastirError
from fastir.results.saved_files import SUFFIXES as SAVED
from fastir.text import json_text, replacing

if TYPE_CHECKING:
    from fastir.comparison.comparison import Comparison
    from fastir.request.plan import Settings

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
    add("--format", choices=tuple(FORMATS), default="table", help="%(choices)s; json, tsv and csv are exact")
    add("--plot", metavar="FILE", help="draw means and differences, too; .png, .svg or .pdf")
    add_output_arguments(add)


def compare_command(options: argparse.Namespace) -> Output:
    runs = named_runs(options)
    if len(runs) < 2:
        options.usage_error("comparing takes two runs or more")
    chosen = evaluator_options(options)
    with arguments_checked():
        rules = rules_of(options.fail_if)
        if rules and options.baseline is None:
            raise ValueError("--fail-if compares with a baseline; name it with --baseline")
        options.baseline = baseline_of(options, runs)
        options.metrics = metrics_of(options, [rule.metric for rule in rules])
        check_comparison(options, runs, settings_of(options.metrics, chosen))
        chosen.update(parents_options(options))
    with files_explained(options), watched(runs) as notice:
        comparison = compared(options, qrels_of(options), runs_of(runs, options), chosen, notice)
    failed = [line for rule in rules for line in rule.failures(comparison)]
    if options.output is not None and options.format == "table" and options.output.lower().endswith(SAVED):
        comparison.save(options.output)
        return Output("", failed)
    return Output(FORMATS[options.format](comparison, options), failed)


def check_comparison(options: argparse.Namespace, runs: dict[str, Any], settings: Settings) -> None:
    """Refuse arguments that no files can make right.

    Raises
    ------
    ValueError
    FastirError
        A library is missing.
    """
    from fastir.comparison.compare_scores import checked_options, chosen_pairs
    from fastir.comparison.scores import check_aggregates
    from fastir.stats._scipy import special

    try:
        special()
    except ImportError as error:
        raise FastirError(str(error)) from None
    checked_options(**{name: getattr(options, name) for name in STATISTICS}, seeds=None, n_threads=options.n_threads)
    check_aggregates(dict(zip(settings.names, settings.aggregates, strict=True)), None)
    chosen_pairs(list(runs), options.baseline)
    if options.plot is not None:
        plot_format(options.plot)


def baseline_of(options: argparse.Namespace, runs: dict[str, str]) -> str | None:
    """The run that is called so, or whose path that is."""
    return next((name for name, path in runs.items() if path == options.baseline), options.baseline)


def compared(
    options: argparse.Namespace,
    qrels: Any,
    runs: dict[str, Any],
    chosen: dict[str, Any],
    notice: Callable[..., Any],
) -> Comparison:
    """Evaluate, compare, draw.

    Parameters
    ----------
    options : Namespace
    qrels : path or Qrels
    runs : {name: path or Run}
    chosen : dict
        The options for an Evaluator.
    notice : function of (name, position)
        As for Evaluator.evaluate_many.
    """
    from fastir.comparison.compare import compare

    statistics = {name: getattr(options, name) for name in STATISTICS}
    chosen = {**chosen, **columns_of(options)}
    comparison = compare(qrels, runs, options.metrics, baseline=options.baseline, notice=notice, **statistics, **chosen)
    if options.plot is not None:
        from fastir.plots import overview

        picture = io.BytesIO()
        overview(comparison).savefig(picture, format=plot_format(options.plot))
        with replacing(options.plot) as file:
            file.write(picture.getvalue())
    return comparison


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
