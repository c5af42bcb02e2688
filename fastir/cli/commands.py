"""The command line: files in, one table out.

Everything is evaluated before anything is printed, so that standard output is complete or empty. Messages go to
standard error, one line each. A usage error has argparse's own message and our exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, Self

import fastir
from fastir.cli.compare import add_compare_arguments, check_comparison, compared
from fastir.inputs.formats import READERS, TABLES, WITH_GROUPS
from fastir.inputs.parents import check_aggregate
from fastir.request.conventions import CONVENTIONS
from fastir.request.options import AGGREGATES, DUPLICATES, QUERIES, SCORES, TIES, Options, metric_tuple, options_of
from fastir.request.plan import Settings, compile_settings
from fastir.results.results import Results
from fastir.text import aligned, json_text, rounded, tsv_text

OK, USAGE, INPUT, FAILURE, INTERRUPTED = 0, 1, 2, 3, 130
INPUT_ERRORS = (fastir.FastirError, OSError, TypeError, ValueError, OverflowError)
STDIN = "-"
QRELS_FORMATS = (*READERS, *TABLES)
RUN_FORMATS = tuple(name for name in QRELS_FORMATS if name not in WITH_GROUPS)
PATIENCE = 1.0  # seconds of work before a progress bar appears

EXAMPLE = """\
example:
  fastir eval examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 -m map -m recall@100
  zcat big.run.gz | fastir eval qrels.txt - -m mrr@10 -q --format tsv
  fastir compare examples/qrels.txt examples/bm25.run examples/dense.run -m ndcg@10 --test randomization --pairs

exit status: 0 fine, 1 usage, 2 input, 3 output, memory or internal, 130 interrupted
"""


# ---- arguments -------------------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose usage errors end with our exit code instead of 2, which means bad input here."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.format_usage()}fastir: error: {message}\n")


def parser() -> Parser:
    layout: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "epilog": EXAMPLE}
    layout["allow_abbrev"] = False
    about = "Evaluate rankings against relevance judgments, exactly and fast."
    root = Parser(prog="fastir", description=about, **layout)
    root.add_argument("--version", action="version", version=f"fastir {fastir.__version__}")
    commands = root.add_subparsers(metavar="COMMAND", required=True)

    evaluate = commands.add_parser("eval", help="evaluate one run or several", **layout)
    evaluate.set_defaults(command=evaluate_command, usage_error=evaluate.error)
    evaluate.add_argument("-q", "--per-query", action="store_true", help="a row for every query, then the mean")
    evaluate.add_argument(
        "--format", choices=FORMATS, default="table", help="tsv and json are exact, the others round to 4 decimals"
    )
    add_run_arguments(evaluate.add_argument)

    compare = commands.add_parser("compare", help="say which of several runs is better, and how sure that is", **layout)
    compare.set_defaults(command=compare_command, usage_error=compare.error)
    add_compare_arguments(compare.add_argument)
    add_run_arguments(compare.add_argument)

    metrics = commands.add_parser("metrics", help="list the metrics")
    metrics.set_defaults(command=metrics_command)
    metrics.add_argument("--markdown", action="store_true", help="the whole reference: formulas, sources, examples")

    conventions = commands.add_parser("conventions", help="list the tools whose numbers --convention gives")
    conventions.set_defaults(command=conventions_command)
    conventions.add_argument(
        "--markdown", action="store_true", help="what each answers where tools differ, by examples"
    )

    explain = commands.add_parser("explain", help="say what a metric means")
    explain.set_defaults(command=explain_command)
    explain.add_argument("metric", metavar="METRIC")

    commands.add_parser("trec_eval", help="trec_eval's command line: the same options, the same output")
    return root


def add_run_arguments(add: Callable[..., Any]) -> None:
    add("qrels", metavar="QRELS", help="TREC qrels file: query, iteration, document, label (.gz is unpacked)")
    add("runs", metavar="RUN", nargs="+", help="TREC run file: query, Q0, document, rank, score, tag; or - for stdin")
    add("--qrels-format", choices=QRELS_FORMATS, help="default: by its name, else trec")
    add("--run-format", choices=RUN_FORMATS, help="of all runs; default: by their names, else trec")
    add("-m", dest="metrics", metavar="METRIC", action="append", required=True, help="such as ndcg@10; -m for each one")
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


# ---- commands: options in, the text to print out ---------------------------------------------------------------


def evaluate_command(options: argparse.Namespace) -> str:
    """The results of every run under the name of its column; the qrels are read once."""
    runs, chosen = named_runs(options), evaluator_options(options)
    with arguments_checked():
        settings_of(options.metrics, chosen)
        parents = parents_options(options)
    with files_explained(options), watched(runs) as notice:
        evaluator = fastir.Evaluator(qrels_of(options), options.metrics, **chosen, **parents)
        results = evaluator.evaluate_many(runs_of(runs, options), notice=notice)
    return FORMATS[options.format](results, options.per_query)


def compare_command(options: argparse.Namespace) -> str:
    runs = named_runs(options)
    if len(runs) < 2:
        options.usage_error("comparing takes two runs or more")
    chosen = evaluator_options(options)
    with arguments_checked():
        check_comparison(options, runs, settings_of(options.metrics, chosen))
        chosen.update(parents_options(options))
    with files_explained(options), watched(runs) as notice:
        return compared(options, qrels_of(options), runs_of(runs, options), chosen, notice)


def metrics_command(options: argparse.Namespace) -> str:
    if options.markdown:
        from fastir.cli.reference_text import reference

        return reference()
    names = (card.name + (f"[{card.place()}]" if card.place() else "") for card in fastir.metrics())
    about = ([", ".join(card.aliases), card.summary] for card in fastir.metrics())
    rows = ([name, *words] for name, words in zip(names, about, strict=True))
    return aligned([["metric", "also written", "what it is"], *rows], left=3)


def conventions_command(options: argparse.Namespace) -> str:
    if options.markdown:
        from fastir.cli.conventions_text import page

        return page()
    return aligned([["convention", "what it is"], *([name, each.about] for name, each in CONVENTIONS.items())], left=2)


def explain_command(options: argparse.Namespace) -> str:
    with arguments_checked():
        return f"{fastir.explain(options.metric)}\n"


def trec_eval_command(arguments: list[str]) -> int:
    """Run `fastir trec_eval`, which has options of its own; returns the exit code."""
    from fastir.compat import trec_eval

    try:
        return write(trec_eval.output(arguments, Progress))
    except trec_eval.Refusal as refusal:
        tell("error", one_line(refusal.__cause__ or refusal))
        return refusal.code


def named_runs(options: argparse.Namespace) -> dict[str, str]:
    """{name of its column: path} of every run."""
    if options.runs.count(STDIN) > 1:
        options.usage_error("standard input (-) can be read only once")
    return dict(zip(column_names(options.runs), options.runs, strict=True))


def settings_of(metrics: list[str], chosen: dict[str, Any]) -> Settings:
    """What was asked, before any file is read."""
    return compile_settings(metric_tuple(metrics), options_of(**chosen, choices={}))


def qrels_of(options: argparse.Namespace) -> Any:
    """The qrels, read here only if their format is not that of their name."""
    if options.qrels_format is None:
        return options.qrels
    return fastir.Qrels.from_file(options.qrels, options.qrels_format, options.duplicates)


def runs_of(runs: dict[str, str], options: argparse.Namespace) -> dict[str, Any]:
    if options.run_format is None:
        return runs
    return {name: fastir.Run.from_file(path, options.run_format, options.duplicates) for name, path in runs.items()}


def evaluator_options(options: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name, value in vars(options).items() if name in Options._fields}


def parents_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options that no Settings have: what the ids of runs stand for."""
    check_aggregate(options.parents, options.aggregate, options.duplicates)
    return {"parents": options.parents, "aggregate": options.aggregate}


def column_names(runs: Sequence[str]) -> list[str]:
    """A name for every run: its file's, the path if two files share a name, with a number if a path comes twice."""
    files = [os.path.basename(run) for run in dict.fromkeys(runs)]
    wanted = [run if files.count(os.path.basename(run)) > 1 else os.path.basename(run) for run in runs]
    names: list[str] = []
    for name in wanted:
        tries = (name, *(f"{name} ({number})" for number in range(2, len(runs) + 1)))
        names.append(next(name for name in tries if name not in names))
    return names


class UsageError(fastir.FastirError):
    """Arguments that mean nothing, whatever the files hold."""


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


# ---- tables ----------------------------------------------------------------------------------------------------


def rows_of(results: dict[str, Results], per_query: bool, text: Callable[..., Any]) -> tuple[list[list[str]], int]:
    """The rows to print, the header first, and how many columns are labels; `text` writes a value of a metric.

    Means: a row per metric, a column per run. Per query: of one run, a row per query and a column per metric; of
    several, a row per query and metric and a column per run, empty where a run has no such query; then the means.
    """
    tables = [result.to_dict() for result in results.values()] if per_query else []
    hows = next(iter(results.values())).aggregates
    means = {name: [text(result[name], how) for result in results.values()] for name, how in hows.items()}
    if not per_query:
        return [["metric", *results], *([name, *row] for name, row in means.items())], 1
    if len(results) == 1:
        rows = ([query, *map(text, row.values(), hows.values())] for query, row in tables[0].items())
        return [["query", *hows], *rows, ["mean", *(mean for [mean] in means.values())]], 1
    rows = (
        [query, name, *(text(table[query][name], how) if query in table else "" for table in tables)]
        for query in dict.fromkeys(query for table in tables for query in table)
        for name, how in hows.items()
    )
    return [["query", "metric", *results], *rows, *(["mean", name, *row] for name, row in means.items())], 2


def as_table(results: dict[str, Results], per_query: bool) -> str:
    return aligned(*rows_of(results, per_query, rounded))


def as_markdown(results: dict[str, Results], per_query: bool) -> str:
    rows, left = rows_of(results, per_query, rounded)
    rows = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in rows]
    rule = [":---"] * left + ["---:"] * (len(rows[0]) - left)
    return "".join(f"| {' | '.join(row)} |\n" for row in [rows[0], rule, *rows[1:]])


def as_tsv(results: dict[str, Results], per_query: bool) -> str:
    rows, _ = rows_of(results, per_query, lambda value, _: repr(value))
    return tsv_text(rows)


def as_json(results: dict[str, Results], per_query: bool) -> str:
    """The JSON of one run as Results.save writes it, or of several, each under its name."""
    runs = {name: result.to_json(per_query) for name, result in results.items()}
    return json_text({"runs": runs} if len(runs) > 1 else next(iter(runs.values())))


FORMATS = {"table": as_table, "tsv": as_tsv, "json": as_json, "markdown": as_markdown}


# ---- standard error: messages and the progress bar -------------------------------------------------------------


def tell(kind: str, message: str) -> None:
    """Write one line to standard error, if that is open."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"fastir: {kind}:", " ".join(message.split("\n")), file=sys.stderr, flush=True)


@contextlib.contextmanager
def watched(runs: dict[str, str]) -> Iterator[Callable[[str, int], None]]:
    """A progress bar for the work of a block, which reports through the value; warnings are shown after the bar."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fastir.FastirWarning)
        try:
            with Progress(runs) as progress:
                yield progress.notice
        finally:
            for warning in caught:
                tell("warning", str(warning.message))


class Progress:
    """A bar over the bytes of the runs, on a terminal, once the work has taken a second; silent anywhere else.

    It has a thread of its own, and adds up the bytes read of all runs, several of which may be read at the same time.
    """

    def __init__(self, runs: dict[str, str]) -> None:
        self.sizes: dict[str, int] = {
            name: os.path.getsize(run) if os.path.isfile(run) else 0 for name, run in runs.items()
        }
        self.total: int = sum(self.sizes.values())
        self.read: dict[str, int] = dict.fromkeys(runs, 0)
        self.finished: threading.Event = threading.Event()
        self.thread: threading.Thread = threading.Thread(target=self.show, daemon=True)

    def __enter__(self) -> Self:
        if sys.stderr is not None and sys.stderr.isatty():
            self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.finished.set()
        if self.thread.is_alive():
            self.thread.join()

    def notice(self, name: str, position: int) -> None:
        """Report a run's position, from any thread; the bar does not go back if a file is read a second time."""
        self.read[name] = min(max(position, self.read[name]), self.sizes[name])

    @property
    def done(self) -> int:
        return sum(self.read.values())

    def show(self) -> None:
        if self.finished.wait(PATIENCE):
            return
        with contextlib.suppress(ImportError):
            from tqdm import tqdm

            tqdm.monitor_interval = 0  # no second thread
            scale: dict[str, Any] = {"total": self.total or None, "initial": self.done, "unit": "B", "unit_scale": True}
            with tqdm(**scale, leave=False, file=sys.stderr) as bar:
                while not self.finished.wait(0.1):
                    bar.n = self.done
                    bar.refresh()


# ---- standard output, exit codes -------------------------------------------------------------------------------


def write(text: str) -> int:
    """Write and flush standard output; returns the exit code.

    A reader that has stopped reading, as `head` does, is not an error.
    """
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
        return OK
    except BrokenPipeError:
        code = OK
    except OSError as error:
        tell("error", f"cannot write to standard output: {error.strerror or error}")
        code = FAILURE
    if sys.stdout is not None:
        # otherwise the buffered text would fail once more when the interpreter ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error) or type(error).__name__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    try:
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        if arguments[:1] == ["trec_eval"]:
            return trec_eval_command(arguments[1:])
        options = parser().parse_args(arguments)
        return write(options.command(options))
    except SystemExit as end:
        return int(end.code or write(""))
    except KeyboardInterrupt:
        tell("error", "interrupted")
        return INTERRUPTED
    except UsageError as error:
        tell("error", one_line(error))
        return USAGE
    except INPUT_ERRORS as error:
        tell("error", one_line(error))
        return INPUT
    except MemoryError:
        tell("error", "out of memory")
        return FAILURE
    except Exception as error:
        traceback.print_exc()
        tell("error", f"internal error, please report it: {type(error).__name__}: {error}")
        return FAILURE
