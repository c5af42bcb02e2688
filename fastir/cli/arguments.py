"""The arguments that several commands share: metrics and options, from words to what the functions take."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from fastir.cli.commands import PEOPLE_FORMATS, QRELS_FORMAT
from fastir.cli.terminal import UsageError
from fastir.data.results.saved_files import SUFFIXES
from fastir.engine.measure import CARDS, DEFAULT_METRICS
from fastir.errors import quote
from fastir.inputs.parents import check_aggregate
from fastir.rendering import BY_SUFFIX
from fastir.request.names import is_metric, split
from fastir.request.options import OF_DOCUMENTS, Options, check_options, metric_tuple
from fastir.request.plan import Settings, compile_settings

STDIN = "-"
METRICS_OPTION = ("-m", "--metrics")
FORMAT_BY_SUFFIX = {
    **{suffix: suffix[1:] for suffix in SUFFIXES},
    **BY_SUFFIX,
    ".txt": "table",
    ".qrels": QRELS_FORMAT,
}  # {end: format}
SAVED_FORMAT = "saved"  # the format of what `save` writes and `load` reads


def output_format(options: argparse.Namespace) -> str:
    """The format of the output, for which no other option is one of another format alone."""
    format = format_option(options, options.parser.words("format"))
    if getattr(options, "formulas", False) and format != "csv":
        raise ValueError(f"--formulas: it is for csv, and the format is {format}")
    return format


def format_option(options: argparse.Namespace, formats: Sequence[str]) -> str:
    """Return the format of --format, else of the file name of -o, possibly SAVED, else a table.

    `formats` are the formats of the command; .txt is the name of any of them.
    """
    suffix = "" if options.output is None else os.path.splitext(options.output)[1].lower()
    if options.format == "parquet" and suffix != ".parquet":
        raise ValueError("--format parquet: it is written to a file, which -o names, and ends in .parquet")
    named = {end: format for end, format in FORMAT_BY_SUFFIX.items() if format in formats}
    if options.format is not None:
        if named.get(suffix, options.format) not in ("table", options.format):
            raise ValueError(f"-o {options.output} and --format {options.format} disagree")
        return SAVED_FORMAT if options.format == "parquet" else str(options.format)
    if options.output is None:
        return "table"
    if suffix not in named:
        raise ValueError(f"-o {options.output}: the name must end in {', '.join(named)}; or say --format")
    return SAVED_FORMAT if suffix in SUFFIXES and "parquet" in formats else named[suffix]


# ---- metrics -------------------------------------------------------------------------------------------------------
def metrics_or_default(options: argparse.Namespace, more: Sequence[str] = ()) -> list[str]:
    """Return the metrics of -m, or the default ones, and `more`."""
    return list(dict.fromkeys([*(requested_metrics(options) or DEFAULT_METRICS), *more]))


def requested_metrics(options: argparse.Namespace) -> list[str]:
    named = metric_names(options)
    return named + every_metric(options) if options.all else named


def metric_names(options: argparse.Namespace) -> list[str]:
    """The names behind all -m."""
    names = []
    for word in options.metrics or ():
        names_in_word = split(word)
        if not names_in_word:
            raise UsageError(f"-m {quote(word)}: the name is empty; expected one such as ndcg@10")
        names += names_in_word
    return names


def single_metric(options: argparse.Namespace, chosen: dict[str, Any]) -> str:
    """Return the only metric of -m, or the first default one."""
    if getattr(options, "all", False):
        raise ValueError("--all: expected one metric")
    words = metric_names(options) or [DEFAULT_METRICS[0]]
    names = settings_from(words, chosen).names
    if len(names) > 1:
        raise ValueError(f"-m {' '.join(words)}: expected one metric, got {len(names)}")
    return words[0]


def metrics_of_word(word: str, measured: Collection[str], chosen: dict[str, Any]) -> list[str]:
    """Return the metrics that a word means, by their names in results: a list, a family or an alias."""
    return [word] if word in measured else list(settings_from([word], chosen).names)


def sort_words(options: argparse.Namespace) -> list[str]:
    """The metrics that --sort needs."""
    return [] if options.sort in (None, "none") else [options.sort]


def sort_metric(
    options: argparse.Namespace, measured: Sequence[str], chosen: dict[str, Any], format: str
) -> str | None:
    """The metric of --sort as results name it, else the first one where people read the format."""
    if not sort_words(options):
        return measured[0] if options.sort is None and format in PEOPLE_FORMATS else None
    names = metrics_of_word(options.sort, measured, chosen)
    if len(names) != 1:
        raise ValueError(f"--sort {options.sort}: expected one metric, got {len(names)}")
    return names[0]


def spread(words: Sequence[str]) -> list[str]:
    """Arguments in which each metric that follows one -m has a -m of its own; a file ends the list of metrics.

    argparse would give all words that follow to the option, and leave none for the files.
    """
    spreaded: list[str] = []
    before, listing = "", False
    for word in words:
        if before in METRICS_OPTION:
            listing = True
        elif listing:
            listing = word[:1] != "-" and (all(map(is_metric, split(word))) or may_be_misspelt(word))
            spreaded += [METRICS_OPTION[0]] if listing else []
        spreaded.append(word)
        before = word
    return spreaded


NAME_PATTERN = r"[^\W\d]\w*(\(.*\))?"


def may_be_misspelt(word: str) -> bool:
    """Whether a word that no metric is called looks more like a metric than like a file."""
    return not os.path.exists(word) and ("@" in word or all(re.fullmatch(NAME_PATTERN, name) for name in split(word)))


def every_metric(options: argparse.Namespace) -> list[str]:
    """Return the names of all cards that are a metric without parameters, under these options."""
    names = []
    for card in CARDS:
        with contextlib.suppress(TypeError, ValueError):
            settings_from([card.name], evaluator_options(options))
            if not (card.groups or card.sampled):
                names.append(card.name)
    return names


def settings_from(metrics: list[str], chosen: dict[str, Any]) -> Settings:
    """The settings of the request, before any file is read."""
    for metric in metrics:
        if os.path.exists(metric) and not is_metric(metric):
            raise UsageError(f"-m {metric}: this is a file; -m takes names of metrics, such as -m ndcg@10")
    return compile_settings(metric_tuple(metrics), check_options(**chosen, choices={}))


def evaluator_options(options: argparse.Namespace) -> dict[str, Any]:
    chosen = {name: value for name, value in vars(options).items() if name in Options._fields}
    return {**chosen, "validate": getattr(options, "validate", None) or ("judged" if options.parts else "full")}


def parents_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options that no Settings have: the parents of run ids, and what is known of documents."""
    check_aggregate(options.parents, options.aggregate, options.duplicates)
    chosen = {"parents": options.parents, "aggregate": options.aggregate, "exclude": options.exclude}
    for name in OF_DOCUMENTS:
        if (value := getattr(options, name)) is not None:  # a str of weights or costs names a column
            chosen[name] = pathlib.Path(value) if name in ("doc_weights", "doc_costs") else value
    return chosen


# ---- what is wrong -------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def argument_errors() -> Iterator[None]:
    """Errors in the block are errors in the arguments."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(str(error)) from error
