"""The arguments that several commands share: metrics and options, from words to what the functions take."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from fastir.cli.terminal import UsageError, suggestion
from fastir.data.results.saved_files import SUFFIXES
from fastir.declared import Table
from fastir.engine.measure import CARDS, DEFAULT_METRICS
from fastir.errors import quote
from fastir.inputs.parents import check_aggregate
from fastir.rendering import BY_SUFFIX
from fastir.request.conventions_table import NAMES
from fastir.request.names import is_metric, split
from fastir.request.option_rows import BY_NAME, TITLES
from fastir.request.options import Options, check_options, metric_tuple
from fastir.request.plan import Settings, compile_settings

STDIN = "-"
FORMATS = ("table", "markdown", "latex", "html", "csv", "tsv", "json", "parquet")  # of results
METRICS_OPTION = ("-m", "--metrics")
METRIC_NAMES = tuple(card.name for card in CARDS)
QRELS_FORMAT = "qrels"  # the format of documents that are to be judged
FORMAT_BY_SUFFIX = {
    **{suffix: suffix[1:] for suffix in SUFFIXES},
    **BY_SUFFIX,
    ".txt": "table",
    ".qrels": QRELS_FORMAT,
}  # {end: format}
SAVED_FORMAT = "saved"  # the format of what `save` writes and `load` reads


class LazyChoices:
    """Choices that are imported at the first use, because their module takes long to import.

    As an argument's `type`, choices from a table take every spelling of its names.
    """

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        self.read = read

    def __call__(self, word: str) -> str:
        choices = self.read()
        return choices.canonical(word) if isinstance(choices, Table) else word

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())


def add_run_arguments(add: Callable[..., Any], number: str = "+", instead: str = "") -> None:
    """The judgments, which may be something else `instead`, a `number` of runs, and how they are judged."""
    add_qrels_argument(add, instead=instead)
    add_runs_argument(add, number)
    add_metrics_option(add, " ".join(DEFAULT_METRICS))
    add_judging_arguments(add)


def add_qrels_argument(add: Callable[..., Any], name: str = "qrels", metavar: str = "QRELS", instead: str = "") -> None:
    add(name, metavar=metavar, help=f"judgments; a TREC file has query, iteration, document, label{instead}")


def add_runs_argument(add: Callable[..., Any], number: str = "+") -> None:
    about = (
        "rankings; a TREC file has query, Q0, document, rank, score, tag. Each file in a folder or a pattern such "
        "as 'runs/*' is a run, except the judgments. A folder of hive partitions has a run for each run=... or "
        "system=..., a table one for each name in its column run or system; without these it is one run. - is standard "
        "input. Files may be compressed (.gz, .zst)"
    )
    add("runs", metavar="RUN", nargs=number, help=about)


def add_metrics_option(add: Callable[..., Any], default: str) -> None:
    about = f"such as ndcg@10 map, ndcg@10,map or ndcg@1,3,5 (default: {default})"
    add(*METRICS_OPTION, group="metrics", metavar="METRIC", action="append", help=about).words = METRIC_NAMES


def add_metric_option(add: Callable[..., Any]) -> None:
    about = f"one metric, such as map (default: {DEFAULT_METRICS[0]})"
    add(*METRICS_OPTION, group="metrics", metavar="METRIC", action="append", help=about).words = METRIC_NAMES


def add_reading_arguments(add: Callable[..., Any], qrels: bool = True, runs: bool = True, repairs: bool = True) -> None:
    """How files are read: of judgments, of runs or of both; whether what they hold may be changed by it."""
    if runs and repairs:
        about = (
            "read the Parquet or JSON files of a folder or a pattern as the parts of one run; Parquet rows in no "
            "order are read twice and not kept"
        )
        add("--parts", group="input", action="store_true", help=about)
    names = {
        "qrels_format": qrels,
        "run_format": runs,
        "query_ids": runs and repairs,
        "rows": runs and repairs,
        "names": runs,
        "columns": True,
        "qrels_columns": qrels and runs,
        "run_columns": qrels and runs,
        "label": qrels,
        "threshold": qrels and repairs,
        "duplicates": repairs,
    }
    add_options(add, *(name for name, wanted in names.items() if wanted))


def label(text: str) -> float:
    """A label above 0 from text: an int, if it is whole."""
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a number above 0")
    return int(number) if number.is_integer() else number


def positive_int(text: str) -> int:
    """An int from 1 up."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: expected 1 or more")
    return int(text)


PARSERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "count": positive_int,
    "float": float,
    "label": label,
}


def add_options(add: Callable[..., Any], *names: str, **changed: Any) -> None:
    """Options as their rows say; `changed` holds what is otherwise in a command, such as `help` or `default`."""
    for name in names:
        row = BY_NAME[name]
        if name == "convention":
            add_convention(add)
        elif row.type == "bool":
            add(row.option(), group=TITLES[name], action="store_true", **{"help": row.help, **changed})
        else:
            settings: dict[str, Any] = {"type": PARSERS[row.parse], "default": row.default, "help": row.help}
            choices = LazyChoices(row.words) if row.choices else None
            settings |= {"dest": name, "choices": choices, "type": choices or settings["type"]}
            settings |= {"metavar": row.metavar} if row.metavar else {}
            add(row.option(), group=TITLES[name], **{**settings, **changed})


def add_rule_arguments(add: Callable[..., Any]) -> None:
    """How runs that were read are judged."""
    add("--all", group="metrics", action="store_true", help="all metrics that these judgments allow")
    add_options(add, "rel_level", "queries", "ties", "judged_only", "max_depth", "score_dtype", "convention")
    add_options(add, "n_threads")


def add_convention(add: Callable[..., Any]) -> None:
    about = f"the tool to agree with: {', '.join(NAMES)}, or TOOL-VERSION (default fastir)"
    kept: dict[str, Any] = {"type": convention_name, "default": "fastir", "action": OrderedAction}
    add("--convention", group="metrics", metavar="TOOL", help=about, **kept).words = NAMES


class OrderedAction(argparse.Action):
    """The last convention counts, and `conventions` has all: `explain` compares two."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.convention = values
        namespace.conventions = [*getattr(namespace, "conventions", ()), values]


def convention_name(text: str) -> str:
    """The name of a convention: what a tool is called, perhaps with a version."""
    if text in NAMES:
        return text
    from fastir.request.conventions import check_convention

    try:
        return str(check_convention(text))
    except ValueError as error:
        unknown = f"there is no {quote(text)}{suggestion(text, NAMES)}"
        versions = str(error).removeprefix("convention ")
        raise argparse.ArgumentTypeError(unknown if " must be one of " in str(error) else versions) from None


def add_judging_arguments(add: Callable[..., Any]) -> None:
    """How runs are read and judged; saved results have been."""
    add_reading_arguments(add)
    add_rule_arguments(add)
    add_options(add, "validate", default=None)
    add_options(add, "parents", "aggregate", "exclude", "doc_weights")


def add_sort_argument(add: Callable[..., Any]) -> None:
    add("--sort", metavar="METRIC", help="order the runs by this metric, the best first").words = METRIC_NAMES


def add_output_arguments(add: Callable[..., Any]) -> None:
    add("-o", "--output", metavar="FILE", help="write to a file instead (atomically)")
    add("--formulas", action="store_true", help="leave texts in csv unchanged, also with = + - @ in front")
    add("--color", choices=("auto", "always", "never"), default="auto", help="colour the best numbers (default auto)")


def output_format(options: argparse.Namespace, formats: Sequence[str]) -> str:
    """The format of the output, for which no other option is one of another format alone."""
    format = format_option(options, formats)
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


def sort_metric(options: argparse.Namespace, measured: Collection[str], chosen: dict[str, Any]) -> str | None:
    """The metric of --sort as results name it, None without the option."""
    if options.sort is None:
        return None
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
    """Return the options that no Settings have: the parents of run ids, and the weights of documents."""
    check_aggregate(options.parents, options.aggregate, options.duplicates)
    chosen = {"parents": options.parents, "aggregate": options.aggregate, "exclude": options.exclude}
    if options.doc_weights is not None:
        chosen["doc_weights"] = pathlib.Path(options.doc_weights)
    return chosen


# ---- what is wrong -------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def argument_errors() -> Iterator[None]:
    """Errors in the block are errors in the arguments."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(str(error)) from error
