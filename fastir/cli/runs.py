"""The runs of a command line: files, folders, patterns and long tables, and results that were saved.

Every run that a word names comes with a name: the name of its row.
"""

from __future__ import annotations

import argparse
import errno
import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import fastir
from fastir.checks import suggest_choice
from fastir.cli.arguments import STDIN
from fastir.cli.terminal import UsageError, keywords, option, progress_bar, tell
from fastir.data.qrels import Qrels, as_qrels
from fastir.data.results.results import Results
from fastir.data.results.saved_files import is_saved
from fastir.errors import quote
from fastir.evaluation.rules import columns_by_side
from fastir.evaluation.run_collections import input_files, make_runs, run_names, runs_without
from fastir.inputs import formats, places, roles
from fastir.rendering.text import input_at
from fastir.request.options import OF_DOCUMENTS, Options
from fastir.request.provenance import differing_options

# the options that say how runs are read and judged
JUDGING_OPTIONS = (
    *(name for name in Options._fields if name not in ("n_threads", "choices")),
    *OF_DOCUMENTS,
    *(
        "parents",
        "aggregate",
        "exclude",
        "parts",
        "all",
        "threshold",
        "label",
        "qrels_format",
    ),
    *("run_format", "query_ids", "rows"),
    *("columns", "qrels_columns", "run_columns"),
)

NON_FILE_OPTIONS = ("metrics", "query", "sort", "without")  # options with words that are no files


def expand_words(words: Sequence[str], parts: bool = False, judgments: Sequence[Any] = ()) -> list[Any]:
    """The files of words, in order; a folder or a pattern is all files in it, unless these are the parts of one run.

    Files of judgments that lie in a folder of runs are left out of it, which a warning says.
    """
    files: list[Any] = []
    warn = functools.partial(tell, "warning")
    for word in words:
        many = word != STDIN and places.is_many(word)
        if not many and word != STDIN and places.is_local(word) and not os.path.exists(word):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), word)
        files += runs_without(judgments, word, warn) if many and not parts else [word]
    return files


def refuse_overwriting(options: argparse.Namespace) -> None:
    """Refuse an output file that the command also reads, or writes twice."""
    names = [name for name in ("output", "plot", "run") if f"--{name}" in options.parser.flags()]
    outputs = {name: path for name in names if (path := getattr(options, name)) is not None}
    values = {name: value for name, value in vars(options).items() if name not in (*outputs, *NON_FILE_OPTIONS)}
    words = [word for value in values.values() for word in (value if isinstance(value, list) else [value])]
    for name, path in outputs.items():
        for word in words:
            if isinstance(word, str) and input_at(path, input_files(word)) is not None:
                raise UsageError(f"{option(name)} {path}: {quote(word)} is an input and would be overwritten")
    for (one, path), (other, same) in itertools.combinations(outputs.items(), 2):
        if os.path.realpath(path) == os.path.realpath(same):
            raise UsageError(f"--{one} and --{other} are the same file, {path}")


# ---- runs that are judged here ---------------------------------------------------------------------------------------
def runs_by_name(words: Sequence[str], options: argparse.Namespace, duplicates: str | None) -> dict[str, Any]:
    """{name of its row: path, or Run} of every run; a table with a column of runs has several."""
    judgments = [path for name in ("qrels", "other") if (path := getattr(options, name, None)) is not None]
    files = expand_words(words, options.parts, judgments)
    if files.count(STDIN) > 1:
        raise UsageError("standard input (-) can be read only once")
    runs: dict[str, Any] = {}
    for name, file in zip(option_names(files, options), files, strict=True):
        refuse_saved(file)
        for inner, run in (long_table(file, options, duplicates) or {None: file}).items():
            run_name = name if inner is None else str(inner)
            runs[f"{name}: {run_name}" if run_name in runs else run_name] = run
    return runs


def option_names(files: Sequence[Any], options: argparse.Namespace) -> list[str]:
    """The names of runs, by --names."""
    try:
        return run_names(files, options.names, options.run_format)
    except fastir.FastirError:
        raise
    except ValueError as error:
        raise UsageError(str(error)) from None


def refuse_saved(file: Any) -> None:
    """Say which commands take results, if a file holds them."""
    if places.on_disk(file) and is_saved(file):
        raise fastir.FastirError(
            f"{places.place_name(file)} holds saved results, which are already evaluated; "
            "`fastir compare` and `fastir diff` take them"
        )
    if is_rankings(file):
        raise fastir.FastirError(f"{places.place_name(file)} holds judged rankings; `fastir eval` takes them")


def is_rankings(file: Any) -> bool:
    """Whether a file holds judged rankings."""
    if not places.on_disk(file) or not os.fsdecode(file).lower().endswith((".npz", ".parquet")):
        return False
    from fastir.data.results.saved_rankings import are_rankings

    return are_rankings(file)


def hold_rankings(word: str) -> bool:
    """Whether a word is a file of judged rankings, or a folder or a pattern with such files."""
    if word == STDIN or not places.is_local(word):
        return False
    return any(map(is_rankings, expand_words([word]) if places.is_many(word) else [word]))


def long_table(file: Any, options: argparse.Namespace, duplicates: str | None) -> dict[Any, fastir.Run] | None:
    """{name: Run} of a table with a column of runs, be it of several files that are its parts; None of any other."""
    form = options.run_format or formats.file_format(file)
    whole = places.on_disk(file) or (options.parts and places.is_many(file))
    if form not in formats.TABLE_FORMATS or not whole:
        return None
    from fastir.inputs import table_files, table_rows

    _, columns = columns_by_side(*column_options(options).values())
    name = places.place_name(file)
    with table_files.convert_errors(name), table_files.FILES[form](file) as opened:
        opened.look()
        usual = roles.usual_names("runs", columns or {})["run"]
        column = next((column for column in usual if column in opened.names), None)
        if column is None:
            return None
        if options.parts and (only := only_value(opened, column)) is not None:
            return {only: file}
    with table_files.open_table(file, "runs", form, columns, None) as (table, _):
        return make_runs(table_rows.group_by_run(table, duplicates))


def only_value(opened: Any, column: str) -> str | None:
    """The only value of a column of a file that was looked at, if it has one."""
    values: set[Any] = set()
    for batch in opened.batches((column,)):
        values.update(batch.column(0).unique().to_pylist())
        if len(values) > 1:
            return None
    return str(values.pop()) if values and None not in values else None


def column_options(options: argparse.Namespace, reads_qrels: bool = False) -> dict[str, Any]:
    """The options of `evaluate` that name the columns of tables.

    Those of the qrels are None where `qrels_argument` reads the qrels, which is the one call that `reads_qrels`.
    """
    names = "columns", "qrels_columns", "run_columns"
    named = {name: names_in(name, getattr(options, name, None)) for name in names}
    return named if reads_qrels or not has_format_options(options) else {**named, "qrels_columns": None}


def has_format_options(options: argparse.Namespace) -> bool:
    """Whether an option says more of the format of the qrels than their name."""
    return any(getattr(options, name, None) is not None for name in ("qrels_format", "threshold", "label"))


def names_in(keyword: str, text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(field and mark and name for field, mark, name in pairs):
        raise UsageError(f"{option(keyword)} {text}: expected FIELD=NAME, such as query_id=qid,score=sim")
    for field, _, _ in pairs:
        if field not in roles.ROLES:
            fields = ", ".join(roles.ROLES)
            raise UsageError(
                f"{option(keyword)}: there is no field {field!r}{suggest_choice(field, roles.ROLES)}; expected {fields}"
            )
    return {field: name for field, _, name in pairs}


def qrels_argument(options: argparse.Namespace) -> Any:
    """The qrels, read here only if an option says more of their format than their name."""
    if places.is_local(options.qrels):
        refuse_saved(options.qrels)
    if not has_format_options(options):
        return options.qrels
    columns, _ = columns_by_side(**column_options(options, True), label=options.label)
    read = fastir.Qrels.from_file
    return read(options.qrels, options.qrels_format, options.duplicates, columns, options.threshold)


def read_qrels(options: argparse.Namespace, path: str | None = None) -> Qrels:
    """The judgments, or others at a path, read once for several uses."""
    at = argparse.Namespace(**{**vars(options), "qrels": path or options.qrels})
    columns, _ = columns_by_side(*column_options(options).values())
    return as_qrels(qrels_argument(at), columns, options.duplicates)


def read_runs(words: Sequence[str], options: argparse.Namespace, least: int = 1) -> dict[str, fastir.Run]:
    """{name of its row: Run} of words, `least` in number; a bar shows how far they are read."""
    runs = runs_by_name(words, options, options.duplicates)
    if len(runs) < least:
        raise UsageError(f"expected {least} runs or more, got {len(runs)}")
    _, columns = columns_by_side(*column_options(options).values())
    read = {}
    with progress_bar(runs) as notice:
        for name, run in runs.items():
            watch = functools.partial(notice, name)
            read[name] = run if isinstance(run, fastir.Run) else read_run(run, options, columns, watch)
    return read


def read_run(path: str, options: argparse.Namespace, columns: Any, watch: Callable[[int], None]) -> fastir.Run:
    form = options.run_format
    if form is None and getattr(options, "convention", "fastir") != "fastir":
        form = formats.file_format(path, "trec_eval")
    given = {"query_ids": options.query_ids, "rows": options.rows}
    return fastir.Run(*formats.read(path, True, form, options.duplicates, columns, watch, **given))


def run_arguments(runs: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """The runs, read here only if --run-format, --query-ids or --rows says how."""
    given = {"query_ids": options.query_ids, "rows": options.rows}
    if options.run_format is None and not any(given.values()):
        return runs
    _, columns = columns_by_side(*column_options(options).values())
    return {
        name: run
        if isinstance(run, fastir.Run)
        else fastir.Run.from_file(run, options.run_format, options.duplicates, columns, **given)
        for name, run in runs.items()
    }


# ---- results that were judged before ---------------------------------------------------------------------------------
def are_saved(words: Sequence[str]) -> bool:
    """Whether the first file of these words holds saved results."""
    file = expand_words(words)[0]
    return places.on_disk(file) and is_saved(file)


def refuse_options(options: argparse.Namespace, names: Sequence[str], word: str, held: str, why: str = "") -> None:
    """Refuse options that have no effect, because the file of a word holds what was judged before."""
    for name in names:
        if getattr(options, name) != options.parser.get_default(name):
            raise UsageError(f"{option(name)} has no effect: {word} holds {held}{why}")
    if options.names == "tag":
        raise UsageError(f"--names tag: {word} holds {held}, which have no tags")


def load_saved_runs(words: Sequence[str], options: argparse.Namespace) -> tuple[dict[str, Results], dict[str, str]]:
    """{name: Results} of files of one run, named by the file, and of several, named as they were; {name: its file}.

    If two of these have one name, the names of runs from files of several begin with the name of the file.
    """
    names = [name for name in JUDGING_OPTIONS if name != "queries"]
    refuse_options(options, names, words[0], "saved results", ", which are already evaluated")
    files = expand_words(words)
    saved: list[tuple[str, Any, Mapping[Any, Results]]] = []
    for name, file in zip(option_names(files, options), files, strict=True):
        loaded = fastir.load_results(file)
        saved.append((name, file, {None: loaded} if isinstance(loaded, Results) else loaded))
    run_names = [name if inner is None else inner for name, _, runs in saved for inner in runs]
    results, paths = {}, {}
    for name, file, runs in saved:
        for inner, of_run in runs.items():
            unique = name if inner is None else f"{name}: {inner}" if run_names.count(inner) > 1 else inner
            results[unique] = of_run
            paths[unique] = file if inner is None else unique
    return results, paths


def warn_of_other_options(runs: Mapping[str, Results]) -> bool:
    """Say of a run that was judged under other options than the first which ones these are; whether there is one."""
    first, *others = runs
    for name in others:
        unlike = option_differences(runs[first], runs[name])
        if unlike:
            tell("warning", f"{quote(first)} and {quote(name)} were judged under other options: {', '.join(unlike)}")
            return True
    return False


def option_differences(one: Results, other: Results) -> list[str]:
    """The options that differ between two Results, each with both values; none where one does not know its own."""
    if one.provenance is None or other.provenance is None:
        return []
    found = differing_options(one.provenance, other.provenance)
    return [f"{option(name) if name in keywords() else name} ({a} and {b})" for name, (a, b) in found.items()]
