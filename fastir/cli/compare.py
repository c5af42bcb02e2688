"""The subcommands `compare` and `report`: from runs or saved results to the text, the picture or the page."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import fastir
from fastir.checks import suggest_choice
from fastir.cli import arguments
from fastir.cli.gates import failures, for_each_metric, parse_rules
from fastir.cli.runs import (
    are_saved,
    column_options,
    load_saved_runs,
    qrels_argument,
    run_arguments,
    runs_by_name,
    warn_of_other_options,
)
from fastir.cli.terminal import Output, UsageError, progress_bar, tell
from fastir.engine.measure import FALSE_SURFACE
from fastir.errors import FastirError, UnknownMetricError, quote
from fastir.rendering.text import replacing
from fastir.request.directions import best_first

if TYPE_CHECKING:
    from fastir.analyses.compare.comparison import Comparison
    from fastir.analyses.compare.records import Mean, System
    from fastir.data.results.results import Results
    from fastir.request.plan import Settings

STATISTICS = ("test", "n_resamples", "correction", "family", "confidence", "interval", "effect", "random_state")


def compare_command(options: argparse.Namespace) -> Output:
    with arguments.argument_errors():
        rules = parse_rules(options.fail_if)
        if rules and options.baseline is None:
            raise ValueError("--fail-if compares with a baseline; name it with --baseline")
        format = arguments.output_format(options)
        latex_label = take_latex_label(options, format)
    needed = [*(rule.metric for rule in rules), *arguments.sort_words(options)]
    comparison = (compare_saved if are_saved([options.qrels]) else compare_runs)(options, needed)
    with arguments.argument_errors():
        rules = for_each_metric(rules, comparison.metrics, arguments.evaluator_options(options))
        sort = arguments.sort_metric(options, comparison.metrics, arguments.evaluator_options(options), format)
    if sort is not None:
        means = {mean.run: mean.mean for mean in comparison.means if mean.metric == sort}
        comparison = with_runs_in(best_first(means, sort), comparison)
    if options.plot is not None:
        from fastir.plots import overview

        save_picture(overview(comparison), options.plot)
    failed = failures(rules, comparison)
    if format == arguments.SAVED_FORMAT:
        comparison.save(options.output)
        return Output("", failed, rules)
    return Output(comparison_text(comparison, options, format, latex_label), failed, rules)


def take_latex_label(options: argparse.Namespace, format: str) -> str | None:
    """The text of --label, which in any other case is the label of rows without one."""
    if not isinstance(options.label, str):
        return None
    label, options.label = options.label, None
    if format != "latex":
        raise ValueError(f"--label {label}: a text is for latex, and the format is {format}")
    return label


def compare_saved(options: argparse.Namespace, needed: list[str]) -> Comparison:
    """Compare files that hold saved results, which are already evaluated."""
    from fastir.analyses.compare.compare_scores import compare_scores

    if options.bounds:
        raise UsageError("--bounds: saved results do not say which documents are unjudged; give the judgments and runs")
    words = [options.qrels, *options.runs]
    runs, paths = load_saved_runs(words, options)
    if len(runs) < 2:
        raise UsageError(f"comparing takes two runs or more; {options.qrels} holds the results of one")
    with arguments.argument_errors():
        statistics = check_comparison(options, paths)
    warn_of_other_options(runs)
    needed = metrics_of_saved(needed, runs, options)
    metrics = arguments.metrics_or_default(options, needed) if options.metrics else None
    with progress_bar({}):
        return compare_scores(runs, metrics, queries=options.queries, **statistics)


def metrics_of_saved(words: list[str], results: Mapping[str, Results], options: argparse.Namespace) -> list[str]:
    """Return the metrics of rules and of --sort; all saved results have to have them."""
    names: list[str] = []
    for word in words:
        for place, of_run in results.items():
            try:
                meant = arguments.metrics_of_word(word, of_run.names, arguments.evaluator_options(options))
            except UnknownMetricError:
                meant = [word]
            if absent := [name for name in meant if name not in of_run]:
                having = ", ".join(map(quote, of_run.names))
                raise FastirError(f"{place}: it has no metric {quote(absent[0])}; it has {having}")
            names += meant
    return list(dict.fromkeys(names))


def compare_runs(options: argparse.Namespace, needed: list[str]) -> Comparison:
    """Judge runs, and compare them."""
    from fastir.analyses.compare.compare import compare

    if not options.runs:
        raise UsageError("comparing takes the judgments and two runs or more, or saved results")
    runs, inputs, chosen = comparison_inputs(options, "comparing", needed)
    with progress_bar(runs) as notice:
        chosen.update(progress=notice)
        return compare(*inputs, bounds=options.bounds, **chosen)


def comparison_inputs(
    options: argparse.Namespace, what: str, needed: Sequence[str] = ()
) -> tuple[dict[str, Any], tuple[Any, Any, list[str]], dict[str, Any]]:
    """The runs by name; qrels, runs and metrics as `compare` takes them; and its options, which are right."""
    from fastir.analyses.compare.scores import check_aggregates

    chosen = arguments.evaluator_options(options)
    with arguments.argument_errors():
        metrics = arguments.metrics_or_default(options, needed)
        settings = arguments.settings_from(metrics, chosen)
        if options.all:
            metrics = testable_metrics(settings, [*arguments.metric_names(options), *needed])
            settings = arguments.settings_from(metrics, chosen)
        if hasattr(options, "sort"):
            arguments.sort_metric(options, settings.names, chosen, "")
        check_aggregates(dict(zip(settings.names, settings.aggregates, strict=True)), None)
        chosen.update(arguments.parents_options(options))
    runs = runs_by_name(options.runs, options, settings.options.duplicates)
    if len(runs) < 2:
        raise UsageError(f"{what} takes two runs or more")
    with arguments.argument_errors():
        chosen.update(check_comparison(options, runs))
    chosen.update(column_options(options))
    return runs, (qrels_argument(options), run_arguments(runs, options), metrics), chosen


def testable_metrics(settings: Settings, named: Sequence[str]) -> list[str]:
    """The metrics of --all but those that are not compared and not named; notes say which are left out."""
    left_out = [
        name
        for name, how in zip(settings.names, settings.aggregates, strict=True)
        if how.startswith("geometric") and name not in named
    ]
    if left_out:
        tell("note", f"--all is without {', '.join(left_out)}: no test here compares geometric means")
    if FALSE_SURFACE in settings.names and FALSE_SURFACE not in named:
        tell("note", f"--all is without {FALSE_SURFACE}: it is of queries without a relevant document alone")
        left_out.append(FALSE_SURFACE)
    return [name for name in settings.names if name not in left_out]


def with_runs_in(runs: list[Any], comparison: Comparison) -> Comparison:
    """Return the comparison, also of its segments, with the runs in another order."""

    def place(record: Mean | System) -> tuple[int, int]:
        return comparison.metrics.index(record.metric), runs.index(record.run)

    return type(comparison)(
        *(runs, comparison.metrics, comparison.query_ids),
        comparison.values[:, :, [comparison.runs.index(run) for run in runs]],
        lambda: (comparison.verdicts, sorted(comparison.means, key=place), comparison.method),
        lambda: comparison.pairs,
        lambda: sorted(comparison.systems, key=place),
        {segment: with_runs_in(runs, part) for segment, part in comparison.segments.items()},
    )


def check_comparison(options: argparse.Namespace, paths: dict[str, Any]) -> dict[str, Any]:
    """The keywords of `compare` that say how; a baseline is called by its name or by its path."""
    from fastir.analyses.compare.options import Options

    statistics = {name: getattr(options, name) for name in STATISTICS}
    statistics["correction"] = None if options.correction == "none" else options.correction
    checked = Options(**statistics, n_threads=options.n_threads).validate()
    statistics["segments"], statistics["clusters"] = options.segments, options.clusters
    try:
        checked._replace(segments=options.segments).check_scipy()
    except ImportError as error:
        raise FastirError(str(error)) from None
    if getattr(options, "plot", None) is not None:
        plot_format(options.plot)
    if options.baseline is None:
        return statistics
    name_of_path = {path if isinstance(path, str) else name: name for name, path in paths.items()}
    baseline = options.baseline if options.baseline in paths else name_of_path.get(options.baseline)
    if baseline is None:
        raise ValueError(
            f"--baseline {options.baseline}: there is no such run"
            f"{suggest_choice(options.baseline, [*paths, *name_of_path])}; "
            f"the runs are {', '.join(list(paths)[:10])}{', ...' if len(paths) > 10 else ''}"
        )
    return {**statistics, "baseline": baseline}


def save_picture(figure: Any, path: str) -> None:
    picture = io.BytesIO()
    figure.savefig(picture, format=plot_format(path))
    with replacing(path) as file:
        file.write(picture.getvalue())


def plot_format(path: str) -> str:
    """The suffix of a picture's name; a suffix that cannot be written is an error before any work is done."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FastirError(f"--plot needs matplotlib: pip install 'fastir[plot]' ({error})") from None
    suffix = os.path.splitext(path)[1].lower().lstrip(".")
    suffixes = Figure().canvas.get_supported_filetypes()
    if suffix not in suffixes:
        raise ValueError(f"--plot {path}: the name must end in {', '.join(f'.{name}' for name in sorted(suffixes))}")
    return suffix


# ---- report ----------------------------------------------------------------------------------------------------------
DEFAULT_REPORT = "report.html"


def report_command(options: argparse.Namespace) -> Output:
    """Write the page; nothing is printed."""
    path = options.output or DEFAULT_REPORT
    if options.runs[-1].lower().endswith((".html", ".htm")):
        raise UsageError(f"{options.runs[-1]}: the page is named by -o, as in -o {options.runs[-1]}")
    runs, inputs, chosen = comparison_inputs(options, "a report")
    with progress_bar(runs) as notice:
        chosen.update(progress=notice)
        chosen.update({name: getattr(options, name) for name in ("k", "title", "topics", "doc_titles")})
        fastir.write_report(*inputs, path, **chosen)
    if options.output is None:
        tell("note", f"the report is {path}")
    return Output("")


# ---- the formats of a comparison -------------------------------------------------------------------------------------
def comparison_text(comparison: Comparison, options: argparse.Namespace, format: str, label: str | None) -> str:
    """A comparison in one of the FORMATS except Parquet."""
    if format == "json":
        return comparison.to_json(per_query=False)
    if format == "tsv":
        from fastir.analyses.compare.tables import pair_lines

        return pair_lines(comparison.pairs, {segment: part.pairs for segment, part in comparison.segments.items()})
    shape = {name: getattr(options, name) for name in ("intervals", "transpose", "formulas")}
    name = "text" if format == "table" else format
    rows = "pairs" if options.pairs else "runs"
    return comparison.to_table(name, rows=rows, label=label, **shape).rstrip("\n") + "\n"
