"""The arguments that several commands share: files, metrics and options, from words to what the functions take."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import fastir
from fastir.evaluation.evaluator import columns_by_side
from fastir.evaluation.named_runs import run_names, runs_in
from fastir.inputs import places
from fastir.inputs.formats import READERS, TABLES, WITH_GROUPS
from fastir.inputs.parents import check_aggregate
from fastir.rendering import BY_SUFFIX
from fastir.request.conventions import CONVENTIONS
from fastir.request.names import CARDS, is_metric
from fastir.request.options import AGGREGATES, DUPLICATES, QUERIES, SCORES, TIES, Options, metric_tuple, options_of
from fastir.request.plan import Settings, compile_settings
from fastir.results.saved_files import SUFFIXES

STDIN = "-"
QRELS_FORMATS = (*READERS, *TABLES)
RUN_FORMATS = tuple(name for name in QRELS_FORMATS if name not in WITH_GROUPS)
DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "precision@10", "recall@100")
METRICS_OPTION = ("-m", "--metrics")
SAVED = "saved"  # the format of what `save` writes and `load` reads


class UsageError(fastir.FastirError):
    """Arguments that mean nothing, whatever the files hold."""


def add_run_arguments(add: Callable[..., Any]) -> None:
    add("qrels", metavar="QRELS", help="judgments; a TREC file has query, iteration, document, label")
    add(
        "runs",
        metavar="RUN",
        nargs="+",
        help="rankings; a TREC file has query, Q0, document, rank, score, tag. A folder or a pattern such as 'runs/*' "
        "is all files in it, each a run of its own; a folder of hive partitions is a run for each run=... or "
        "system=..., else one run; - is standard input. Files may be packed (.gz, .zst)",
    )
    add("--parts", action="store_true", help="the Parquet files of a folder or a pattern are the parts of one run")
    add("--qrels-format", choices=QRELS_FORMATS, help="%(choices)s (default: by its name, else trec)")
    add("--run-format", choices=RUN_FORMATS, help="of all runs: %(choices)s (default: by their names, else trec)")
    add(
        "--columns", metavar="FIELD=NAME,...", help="of tables, such as query_id=qid,score=sim, where names are unusual"
    )
    add("--qrels-columns", metavar="FIELD=NAME,...", help="the same of the qrels alone")
    add("--run-columns", metavar="FIELD=NAME,...", help="the same of the runs alone")
    add(
        *METRICS_OPTION,
        metavar="METRIC",
        action="append",
        help=f"such as ndcg@10 map, ndcg@10,map or ndcg@1,3,5 (default: {' '.join(DEFAULT_METRICS)})",
    )
    add("--all", action="store_true", help="all metrics that these judgments allow")
    add("--rel-level", metavar="N", type=int, default=1, help="the lowest relevant label (default 1)")
    add("--queries", choices=QUERIES[1:], help="which ones count (default qrels)")
    add("--ties", choices=TIES, help="order of equal scores (default trec)")
    add("--judged-only", action="store_true", help="drop unjudged documents from the rankings")
    add("--max-depth", metavar="N", type=int, help="cut every ranking after N documents")
    add("--duplicates", choices=DUPLICATES[1:], help="which line of a document counts (default: refuse)")
    add("--parents", metavar="FILE", help="the document of each id of the runs: two columns, an id and its document")
    add("--aggregate", choices=AGGREGATES, default="max", help="of the scores of a document's parts (default max)")
    add("--score-dtype", choices=SCORES[1:], help="how scores are compared (default float64)")
    add("--convention", choices=tuple(CONVENTIONS), default="fastir", metavar="TOOL", help="whose numbers: %(choices)s")
    add("--threads", dest="n_threads", metavar="N", type=int, help="number of threads (default: as the work needs)")


def add_output_arguments(add: Callable[..., Any]) -> None:
    add("-o", "--output", metavar="FILE", help="write to a file instead, in one step")
    add("--color", choices=("auto", "always", "never"), default="auto", help="of the best numbers (default auto)")


def output_format(options: argparse.Namespace) -> str:
    """The format that was asked for, else that of the name of the file of -o, which may be SAVED, else a table.

    Raises
    ------
    ValueError
        The name of the file says nothing of its format, or Parquet has no file.
    """
    suffix = "" if options.output is None else os.path.splitext(options.output)[1].lower()
    if options.format == "parquet" and suffix != ".parquet":
        raise ValueError("--format parquet: it is written to a file, which -o names, and ends in .parquet")
    if options.format not in (None, "parquet"):
        return str(options.format)
    if options.output is None:
        return "table"
    if suffix in SUFFIXES:
        return SAVED
    if suffix not in BY_SUFFIX:
        raise ValueError(
            f"-o {options.output}: the name must end in {', '.join((*SUFFIXES, *BY_SUFFIX))}; or say --format"
        )
    return "table" if suffix == ".txt" else BY_SUFFIX[suffix]


# ---- metrics -------------------------------------------------------------------------------------------------------


def metrics_of(options: argparse.Namespace, more: Sequence[str] = ()) -> list[str]:
    """The metrics that were asked for, and some more; the default ones if none were."""
    named = [name for word in options.metrics or () for name in split(word)]
    if options.all:
        named += every_metric(options)
    return list(dict.fromkeys([*(named or DEFAULT_METRICS), *more]))


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


def may_be_misspelt(word: str) -> bool:
    """Whether a word that no metric is called looks more like a metric than like a file."""
    return not os.path.exists(word) and ("@" in word or word.isidentifier())


def split(word: str) -> list[str]:
    """The names in a word, between commas outside of brackets; a number is another cutoff of the name before it."""
    names: list[str] = []
    for part in between_commas(word):
        if names and re.fullmatch(r"[\d.]+", part):
            base, at, _ = names[-1].rpartition("@")
            if at:
                names.append(f"{base}@{part}")
            else:  # trec_eval's own way, as in P.5,10
                names[-1] += f",{part}"
        elif part.strip():
            names.append(part.strip())
    return names


def between_commas(word: str) -> list[str]:
    """The parts of a word between its commas outside of brackets."""
    return re.split(r",(?![^()]*\))", word)


def every_metric(options: argparse.Namespace) -> list[str]:
    """The names of all cards that stand for a metric without more words, under these options."""
    names = []
    for card in CARDS:
        with contextlib.suppress(TypeError, ValueError):
            settings_of([card.name], evaluator_options(options))
            if not card.groups:
                names.append(card.name)
    return names


def settings_of(metrics: list[str], chosen: dict[str, Any]) -> Settings:
    """What was asked, before any file is read."""
    return compile_settings(metric_tuple(metrics), options_of(**chosen, choices={}))


def evaluator_options(options: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name, value in vars(options).items() if name in Options._fields}


def parents_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options that no Settings have: what the ids of runs stand for."""
    check_aggregate(options.parents, options.aggregate, options.duplicates)
    return {"parents": options.parents, "aggregate": options.aggregate}


# ---- files ---------------------------------------------------------------------------------------------------------


def named_runs(options: argparse.Namespace) -> dict[str, Any]:
    """{name of its row: path} of every run."""
    runs = [path for word in options.runs for path in files_of(word, options.parts)]
    if runs.count(STDIN) > 1:
        options.parser.error("standard input (-) can be read only once")
    return dict(zip(run_names(runs), runs, strict=True))


def files_of(word: str, parts: bool) -> list[Any]:
    """The runs of a folder or a pattern, in order; any other word is a path."""
    return runs_in(word) if not parts and places.is_many(word) else [word]


def columns_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options of `evaluate` that name the columns of tables."""
    return {name: names_in(name, getattr(options, name)) for name in ("columns", "qrels_columns", "run_columns")}


def names_in(option: str, text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(field and mark and name for field, mark, name in pairs):
        option = option.replace("_", "-")
        raise UsageError(f"--{option} {text}: expected FIELD=NAME, such as query_id=qid,score=sim")
    return {field: name for field, _, name in pairs}


def qrels_of(options: argparse.Namespace) -> Any:
    """The qrels, read here only if their format is not that of their name."""
    if options.qrels_format is None:
        return options.qrels
    columns, _ = columns_by_side(*columns_of(options).values())
    return fastir.Qrels.from_file(options.qrels, options.qrels_format, options.duplicates, columns)


def runs_of(runs: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    if options.run_format is None:
        return runs
    _, columns = columns_by_side(*columns_of(options).values())
    read = fastir.Run.from_file
    return {name: read(path, options.run_format, options.duplicates, columns) for name, path in runs.items()}


# ---- what is wrong -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def arguments_checked() -> Iterator[None]:
    """What is wrong in here is wrong in the arguments."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(str(error)) from error


@contextlib.contextmanager
def files_explained(options: argparse.Namespace) -> Iterator[None]:
    """A keyword of a function, in a message about a file, is called as its option here."""
    try:
        yield
    except fastir.FormatError as error:
        option = "--qrels-format" if error.path == options.qrels else "--run-format"
        raise fastir.FastirError(re.sub(r"format='(\w+)'", rf"{option} \1", str(error))) from error
