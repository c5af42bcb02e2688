"""The command line of trec_eval: its options in, its output and its exit codes out.

Same: the options below, short, long and abbreviated, at any position; names, order, formats and rounding of the
output, by version 10 or, as an option, 9 (scores as float32, its recall points, its -c); sums in the program's order.
Oddities are
copied: the first parameters of a measure win; num_rel of all queries ignores -l under -c; under -c a missing ranking is
a ranking of one unjudged document, which leaves no trace in the measures without parameters.

Different on purpose: a missing ranking is skipped without -c, as version 9 does and the help of 10 says; rbp scales
gains as it means to; gains less than 1 apart are sorted, and gains of dcg, ideal_dcg and ndcg kept apart; recall
points have the value 0 in an empty ranking, and the points of 11pt_avg are sorted; labels that are all negative make an
ordinary query; G is finite where unjudged documents have gains; Rndcg is 0 under -l 0 for a query with only labels of
0. Real-valued labels are truncated, as the program does, with a warning; 1e3 is 1000. Text instead of a number is an
error, in files and in options, and so are duplicate documents anywhere, gains given twice for a label, recall
points outside of 0 to 1, p outside of it, cutoffs and -M below 1, -l and -N below 0. Comments are skipped, files may be
compressed, and there may be several runs. Messages are fastir's own.

Preferences (-R prefs, -R qrels_prefs) that contradict each other end the program by a signal, here they are an error.

Not offered: other formats of runs (-T), and the text that the program prints about its work with -D 1 and more.
"""

from __future__ import annotations

import contextlib
import getopt
import math
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastir._version import __version__
from fastir.data.qrels import Preferences, Qrels
from fastir.data.results.results import Results
from fastir.engine.measure._grades import count_fractions
from fastir.engine.measure.cards import Card
from fastir.errors import DuplicateError, FastirWarning, FormatError, NoOverlapError, quote, warn_caller
from fastir.evaluation.evaluator import Evaluator
from fastir.inputs import files, formats
from fastir.inputs.places import place_name
from fastir.rendering.text import align_columns, counted
from fastir.request.names import FAMILIES, NAMES, NICKNAMES, is_number, read

__all__ = ("output",)

DUMMY_DOCUMENT = "no document"  # the document of a missing ranking: no id in a file has a blank
BLOCK_BYTES = 1 << 20
PREFERENCE_OPTIONS = {"ties": "doc_id_asc", "judged_only": False}  # how the program reads runs for preferences

OPTIONS = (  # letter, word, what it takes, what it does
    ("h", "help", "", "print this; fastir metrics NAME says more of one"),
    ("v", "version", "", "print the version"),
    ("q", "query_eval_wanted", "", "print the values of every query, too"),
    ("m", "measure", "M[.PARAMS]", "a measure or a set of them (default official); -m again for each more"),
    ("c", "complete_rel_info_wanted", "", "count all queries of the qrels, also without a ranking"),
    ("l", "level_for_rel", "N", "the lowest label that is relevant (default 1)"),
    ("n", "nosummary", "", "do not print the values of all queries together"),
    ("J", "Judged_docs_only", "", "drop documents without a judgment from the rankings"),
    ("M", "Max_retrieved_per_topic", "N", "cut every ranking after N documents"),
    ("N", "Number_docs_in_coll", "N", "documents in the collection, for utility (default 0)"),
    ("R", "Rel_info_format", "FORMAT", "qrels (default), qrels_jg: column 2 is a group of judges, qrels_prefs"),
    ("T", "Results_format", "FORMAT", "of runs: trec_results (default), the only one"),
    ("Z", "Zscore", "FILE", "print z-scores; the lines of FILE are query, measure, mean, standard deviation"),
    ("D", "Debug_level", "N[.QUERY]", "evaluate this query alone; what the program tells of its work is not printed"),
    ("o", "Output_old_results_format", "", "without effect, as in the program"),
    ("", "trec-eval-version", "N", "whose numbers: 10 (default) or 9"),
)
USAGE_LINE = "usage: fastir trec_eval [options] QRELS RUN [RUN ...]\n"
HELP = """
Evaluate a run (- is standard input) against qrels, and print what trec_eval prints: a line per measure with its
name, the query or "all", and the value, separated by tabs. Several runs are printed one after the other, as if each
were alone, with the run's name as given here and a tab before every line. Nothing is printed unless all of them can be
evaluated.

{options}
PARAMS are numbers with commas between them: cutoffs, as in P.5,10; recall points, as in iprec_at_recall.0.2,0.5;
multiples of R, as in Rprec_mult.1.5; weights, as in utility.1,-1,0,0; x, as in set_F.2; the number of labels, as in
relstring.20; or the gains of labels, and p, as in ndcg.1=3.5,2=9 and rbp.p=0.8.

{measures}
{sets}
exit status: 0 fine, 1 usage, 2 a file or a parameter, 3 output, memory or internal, 4 a measure that cannot be
computed or a duplicate document, 7 no query in common, 130 interrupted
"""


# ---- records and tables of measures --------------------------------------------------------------------------------
# Measures, their order and their sets come from NICKNAMES and the cards. Added here: the two measures that are not
# numbers, how the program reads parameters and names the results, and how it prints.

USAGE, UNREADABLE, NOT_COMPUTED, NO_QUERIES = 1, 2, 4, 7  # exit codes

TEXT_MEASURES = {"runid": "tag of the run's last line", "relstring": "labels of the first documents, a character each"}
LABEL_MARKS = np.array([*".-0123456789>"])  # of relstring: in the pool without a judgment, not in it, 0 to 9, above
RELSTRING_DOCUMENTS = 10_000  # documents of relstring

# Measures that are not in the set all_trec, and the member of the set before which the program prints each.
BEFORE = {
    "num_q": "runid",
    "recall": "relstring",
    "ndcg": "dcg ideal_dcg",
    "rbp": f"{NICKNAMES['all_prefs']} {NICKNAMES['qrels_jg']} yaap",
}
MEASURES = " ".join(f"{BEFORE.get(name, '')} {name}" for name in NICKNAMES["all_trec"].split()).split()
SETS = {nickname: {"runid", "num_q", *names.split()} for nickname, names in NICKNAMES.items()}
SETS["all_trec"].add("relstring")
# The set that -R makes possible.
SET_BY_FORMAT = {"qrels_jg": "qrels_jg", "qrels_prefs": "all_prefs", "prefs": "all_prefs"}
NEW_MEASURES = {"rbp", "rbp_resid", "unj", "dcg", "ideal_dcg"}  # in version 10
WIPED_MEASURES = ("num_ret", "utility", "rbp_resid", "relstring")  # and unj: by version 10 if the ranking is missing
LOG_FLOOR = math.log(1e-5)  # of the terms of a geometric mean
NO_Z_SCORE = -1e6  # the z-score of a value with an unknown mean

# How a value is printed for a query and for all queries; empty if it is not printed.
FORMATS = {
    "mean": ("%6.4f", "%6.4f"),
    "sum": ("%d", "%d"),
    "count": ("", "%d"),
    "geometric": ("", "%6.4f"),
    "each": ("%d", ""),
    "whole": ("", "%d"),
    "relstring": ("'%s'", ""),
    "runid": ("", "%s"),
}


class Refusal(Exception):
    """An end without output: the exit code, and why."""

    def __init__(self, code: int, reason: object) -> None:
        super().__init__(reason)
        self.code = code


class Options(NamedTuple):
    """The other options.

    `new` is version 10, `level` 0 makes all judged documents relevant, `query` is the only one that is evaluated, and
    `norms` has, by query and name of the value, the mean and the standard deviation that make a z-score of it.
    """

    by_query: bool
    summary: bool
    complete: bool
    judged_only: bool
    level: int
    depth: int | None
    n_docs: int
    format: str
    new: bool
    query: str | None = None
    norms: dict[str, dict[str, tuple[float, float]]] | None = None


class Line(NamedTuple):
    """The values that are printed under one name: what `make` makes of the columns of the core's metrics.

    `how` is a key of FORMATS, and how the queries' values become one: an aggregate of Results; "each" has none, "whole"
    is the sum over all queries of the qrels.
    """

    name: str
    metrics: tuple[str, ...]
    how: str = "mean"
    make: Callable[..., np.ndarray] = lambda column: column


class Table(NamedTuple):
    """The values of some queries: {metric: column}, a value for each query."""

    query_ids: list[str]
    columns: dict[str, np.ndarray]


# ---- the program --------------------------------------------------------------------------------------------------
def output(arguments: list[str], progress: Callable[..., Any]) -> str:
    """The output of the program.

    `progress` makes, of {name: path}, a context manager that shows how far these files have been read, by calls of its
    method notice(name, position).
    """
    flags, measures, paths = parse_arguments(arguments)
    new = choice(flags, "trec-eval-version", ("10", "9"), USAGE) == "10"
    supported = [name for name in MEASURES if new or name not in NEW_MEASURES]
    if "v" in flags:
        return f"fastir {__version__} trec_eval, which prints what trec_eval {10 if new else 9} does\n"
    wanted = choose_measures(measures or ["official"], supported)
    if "h" in flags:
        return help_text(supported)
    if len(paths) < 2:
        raise Refusal(USAGE, f"expected qrels and a run, got {len(paths)} files; {USAGE_LINE}")
    options = Options(
        "q" in flags,
        "n" not in flags,
        "c" in flags,
        "J" in flags,
        parse_int(flags, "l", 0, 1),
        parse_int(flags, "M", 1, None),
        parse_int(flags, "N", 0, 0),
        choice(flags, "R", ("qrels", *SET_BY_FORMAT), UNREADABLE),
        new,
        debugged_query(flags.get("D", "0")),
        read_norms(flags["Z"]) if "Z" in flags else None,
    )
    choice(flags, "T", ("trec_results",), UNREADABLE)
    with translate_errors({}, NOT_COMPUTED if options.format == "qrels" else UNREADABLE):
        qrels = read_qrels(paths[0], options.format)
    runs: dict[str, str] = {}
    with contextlib.ExitStack() as stack, translate_errors(runs):
        for path in paths[1:]:
            runs[path] = readable_path(path, stack)
        lines = [line for name, params in wanted.items() for line in output_lines(name, params, options)]
        texts = evaluate_lines(qrels, runs, lines, options, progress)
    if len(paths) == 2:
        return texts[paths[1]]
    return "".join(f"{path}\t{line}\n" for path in paths[1:] for line in texts[path].split("\n")[:-1])


# ---- arguments -----------------------------------------------------------------------------------------------------
def parse_arguments(arguments: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """The options by their letters, the chosen measures, and the files."""
    letters = "".join(letter + ":" * bool(takes) for letter, _, takes, _ in OPTIONS if letter)
    words = [word + "=" * bool(takes) for _, word, takes, _ in OPTIONS]
    keys = {name: letter or word for letter, word, *_ in OPTIONS for name in (f"-{letter}", f"--{word}")}
    try:
        pairs, paths = getopt.gnu_getopt(arguments, letters, words)
    except getopt.GetoptError as error:
        raise Refusal(USAGE, f"{error}; {USAGE_LINE}") from None
    return {keys[name]: value for name, value in pairs}, [value for name, value in pairs if keys[name] == "m"], paths


def choice(flags: dict[str, str], key: str, choices: tuple[str, ...], code: int) -> str:
    """The value of an option that has choices, the first if it was not given; with another it ends with `code`."""
    value = flags.get(key, choices[0])
    if value not in choices:
        raise Refusal(code, f"{'-' if len(key) == 1 else '--'}{key} must be {' or '.join(choices)}, got {quote(value)}")
    return value


def parse_int(flags: dict[str, str], letter: str, lowest: int, default: Any) -> Any:
    text = flags.get(letter)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) >= lowest):
        raise Refusal(USAGE, f"-{letter} must be a whole number from {lowest} up, got {quote(text)}")
    return int(text)


def debugged_query(text: str) -> str | None:
    """The query of -D LEVEL.QUERY, None for all; a level says nothing here."""
    level, dot, query_id = text.partition(".")
    if not (level.isascii() and level.isdigit()):
        raise Refusal(USAGE, f"-D must be a whole number, or one with a dot and a query behind it, got {quote(text)}")
    if level.strip("0"):
        warn_caller(f"-D {level}: trec_eval then prints what it does, this command does not; fastir explain does")
    return query_id if dot else None


def read_norms(path: str) -> dict[str, dict[str, tuple[float, float]]]:
    try:
        with files.ByteReader(path) as source:
            data = b"".join(iter(lambda: source.read(BLOCK_BYTES), b""))
    except OSError as error:
        raise Refusal(UNREADABLE, error) from error
    return parse_norms(data.splitlines(), path)


def help_text(supported: list[str]) -> str:
    options = [[f"-{letter}" if letter else "", f"--{word}", takes, does] for letter, word, takes, does in OPTIONS]
    sets = [[nickname, " ".join(name for name in supported if name in names)] for nickname, names in SETS.items()]
    return USAGE_LINE + HELP.format(
        options=align_columns(options, left=4),
        sets=align_columns(sets, left=2),
        measures=align_columns([[name, about(name)] for name in supported], left=2),
    )


# ---- files ---------------------------------------------------------------------------------------------------------
@contextlib.contextmanager
def translate_errors(runs: dict[str, str], twice: int = NOT_COMPUTED) -> Iterator[None]:
    """Give errors their exit codes, `twice` to duplicates, and in messages the name of a run to the copy of it."""
    codes = ((DuplicateError, twice), (NoOverlapError, NO_QUERIES))
    try:
        yield
    except (OSError, ValueError, OverflowError) as error:
        if isinstance(error, FormatError):
            names: dict[str | None, str] = {file: place_name(path) for path, file in runs.items()}
            error.path = names.get(error.path, error.path)
        raise Refusal(next((code for kind, code in codes if isinstance(error, kind)), UNREADABLE), error) from error


def read_qrels(path: str, format: str) -> Qrels:
    """The qrels, with groups in the order in which the program adds up their values."""
    if format != "qrels_jg":
        return truncate_qrels(Qrels.from_file(path, "trec" if format == "qrels" else format), path)
    qrels = truncate_qrels(Qrels.from_file(path, format), path).to_dict()
    in_order = {
        query: {group: judged[group] for group in sorted(judged, key=encode_id)} for query, judged in qrels.items()
    }
    return Qrels.from_dict(in_order)


def truncate_qrels(qrels: Qrels, path: str) -> Qrels:
    """Truncate labels to the digits before the point, as the program does."""
    if isinstance(qrels, Preferences) or qrels.columns.numbers.dtype == np.int32:
        return qrels
    columns = qrels.columns
    n, _ = count_fractions(columns.numbers, columns.offsets)
    warn_caller(
        f"{path}: {counted(n, 'real-valued label', 'real-valued labels')} ({columns.first_fraction()[1]}); "
        "trec_eval reads the digits before the point, 0.92 as 0, and so does this command; fastir eval keeps fractions"
    )
    return Qrels.from_dict(truncate_labels(qrels.to_dict()))


def truncate_labels(judged: Any) -> Any:
    """Truncate the labels of nested dicts."""
    return {key: truncate_labels(value) for key, value in judged.items()} if isinstance(judged, dict) else int(judged)


def readable_path(path: str, stack: contextlib.ExitStack) -> str:
    """Return a run's path, or a copy if it can be read only once or its name means another format."""
    if os.path.isfile(path) and formats.file_format(path) in ("trec", "beir"):
        return path
    from tempfile import TemporaryDirectory

    copy = os.path.join(stack.enter_context(TemporaryDirectory()), "run")
    with files.ByteReader(path) as source, open(copy, "wb") as file:
        while block := source.read(BLOCK_BYTES):
            file.write(block)
    return copy


def run_tag(path: str) -> str:
    """The sixth field of the last line that has six fields and is not a comment."""
    with open(path, "rb") as file:
        compressed = files.packing_from_bytes(file.read(files.MAGIC_BYTES))
        size, length = file.seek(0, os.SEEK_END), 1 << 16
        while not compressed:
            file.seek(max(0, size - length))
            data = file.read() if length >= size else file.read().partition(b"\n")[2]
            tag = last_tag(data)
            if tag or length >= size:
                return tag
            length *= 8
    tag, rest = "", b""
    with files.ByteReader(path) as source:
        while block := source.read(BLOCK_BYTES):
            data, _, rest = (rest + block).rpartition(b"\n")
            tag = last_tag(data) or tag
    return last_tag(rest) or tag


def last_tag(data: bytes) -> str:
    for line in reversed(data.split(b"\n")):
        fields = line.split()
        if len(fields) > 5 and not line.startswith(b"#"):
            return fields[5].decode("utf-8", "surrogateescape")
    return ""


# ---- evaluation ----------------------------------------------------------------------------------------------------
def evaluate_lines(
    qrels: Qrels, runs: dict[str, str], lines: list[Line], options: Options, progress: Callable[..., Any]
) -> dict[str, str]:
    """The text of each run."""
    metrics = list(dict.fromkeys(["num_q", *(metric for line in lines for metric in line.metrics)]))
    texts = {}
    with progress(runs) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", FastirWarning)
        judges = make_evaluators(qrels, metrics, options)
        by_judge = [evaluate_runs(judge, runs, bar.notice, options) for judge in judges]
        for path, file in runs.items():
            table = join_results([results[path] for results in by_judge if path in results], metrics)
            present = set(table.query_ids)
            missing = {
                query_id: {DUMMY_DOCUMENT: 1.0} for query_id in qrels if options.complete and query_id not in present
            }
            unanswered = join_results([judge.evaluate(missing) for judge in judges if missing], metrics)
            tag = run_tag(file) if any(line.how == "runid" for line in lines) else ""
            texts[path] = output_text(lines, table, unanswered, tag, options)
    return texts


def make_evaluators(qrels: Qrels, metrics: list[str], options: Options) -> list[Evaluator]:
    """The Evaluators of the metrics: one; or two for level 0, which is level 1 when all labels are raised by one."""
    chosen: dict[str, Any] = {
        "convention": "trec_eval-10" if options.new else "trec_eval-9",
        "unranked": "zero",
        "judged_only": options.judged_only,
        "max_depth": options.depth,
    }
    if SET_BY_FORMAT.get(options.format) == "all_prefs":
        return [Evaluator(qrels, metrics, **chosen | PREFERENCE_OPTIONS)]
    if options.level:
        return [Evaluator(qrels, metrics, rel_level=options.level, **chosen)]
    graded = [metric for metric in metrics if is_graded(metric)]
    judges = [Evaluator(raise_labels(qrels.to_dict()), [m for m in metrics if m not in graded], **chosen)]
    return [*judges, Evaluator(qrels, graded, **chosen)] if graded else judges


def is_graded(metric: str) -> bool:
    """Whether raised labels would change a metric: it takes labels as gains, or has a level of its own."""
    request = read(metric, "trec_eval")[0]
    return request.card.graded or request.level is not None or any(param.mapping for param in request.card.params)


def raise_labels(judged: Any) -> Any:
    """Nested dicts of labels, in which each label from 0 up is raised by one."""
    if isinstance(judged, dict):
        return {key: raise_labels(value) for key, value in judged.items()}
    return judged + (judged >= 0)


def evaluate_runs(judge: Evaluator, runs: dict[str, str], notice: Callable[..., Any], options: Options) -> Any:
    """{path: Results} of the runs; where that is allowed, without runs that have no query in common with the qrels."""
    try:
        return judge.evaluate_many(runs, progress=notice)
    except NoOverlapError:
        if not (options.complete and options.new):
            raise
    results = {}
    for path, file in runs.items():
        with contextlib.suppress(NoOverlapError):
            results[path] = judge.evaluate(file)
    return results


def join_results(parts: list[Results], metrics: list[str]) -> Table:
    """Join the values of one run that was evaluated in parts; empty without parts."""
    if not parts:
        return Table([], dict.fromkeys(metrics, np.empty(0)))
    columns = {name: column for part in parts for name, column in zip(part.names, part.values.T, strict=True)}
    return Table(list(map(str, parts[0].query_ids)), columns)


# ---- measures ------------------------------------------------------------------------------------------------------
def choose_measures(words: list[str], measures: list[str]) -> dict[str, str]:
    """The chosen measures in the program's order, each with the first parameters that it was given."""
    wanted: set[str] = set()
    params: dict[str, str] = {}
    for text in words:
        name, dot, rest = text.partition(".")
        names = SETS.get(name, {name}).intersection(measures)
        if not names or (dot and not rest):
            reason = "nothing follows the dot" if names else "there is none; -h lists those that there are"
            raise Refusal(USAGE, f"measure {quote(text)}: {reason}")
        wanted |= names
        if dot:
            params.setdefault(name, rest)
    return {name: params.get(name, "") for name in measures if name in wanted}


def find_card(name: str) -> Card:
    return FAMILIES.get(name.lower()) or NAMES[name.lower()]


def about(name: str) -> str:
    """The description of a measure, in a phrase."""
    return TEXT_MEASURES.get(name) or find_card(name).summary


def output_lines(name: str, params: str, options: Options) -> list[Line]:
    """The lines of a measure: one, or one for each cutoff. A measure that takes no parameters ignores them."""
    if name == "runid":
        return [Line(name, (), "runid")]
    set_name = next((nickname for nickname in SET_BY_FORMAT.values() if name in SETS[nickname]), None)
    if name != "num_q" and set_name != SET_BY_FORMAT.get(options.format):
        raise Refusal(
            NOT_COMPUTED,
            f"measure {name} is not defined on judgments of the format {options.format}; -R says which they have",
        )
    shown = f"{name}_{params}" if params else name
    if name == "relstring":
        return [Line(shown, relstring_metrics(params or "10"), name, relstrings)]
    card = find_card(name)
    if card.family.lower() == name.lower():
        return cutoff_lines(name, params, card)
    if name == "num_rel" and options.complete:
        return [Line(name, (name,), "each"), Line(name, ("num_rel-l1",), "whole")]
    if params and card.positional:
        return [Line(shown, (positional(name, params, card, options.n_docs),))]
    if params and any(param.mapping or param.name == "p" for param in card.params):
        return [Line(shown, (metric_with_params(name, params, card),))]
    return [Line(name, (name,), card.aggregate)]


def numbers(name: str, params: str) -> list[float]:
    parts = params.split(",")
    if not all(map(is_number, parts)):
        raise Refusal(UNREADABLE, f"measure {name} takes numbers with commas between them, got {quote(params)}")
    return list(map(float, parts))


def cutoff_lines(name: str, params: str, card: Card) -> list[Line]:
    """A line for each cutoff, without its fraction, or for each recall point or multiple."""
    values: list[Any] = numbers(name, params) if params else list(card.members)
    if card.at is None:
        values = [int(min(value, 2.0**62)) for value in values]
    if len(set(values)) < len(values) or (card.at is None and min(values) < 1):
        low = "" if card.at else "be from 1 up and "
        raise Refusal(UNREADABLE, f"measure {name}: cutoffs must {low}differ, got {quote(params)}")
    room = len(name) + 9  # the program's buffer for such a name
    return [
        Line(f"{name}_{value:3.2f}"[:room] if card.at else f"{name}_{value}", (f"{card.name}@{value!r}",))
        for value in sorted(values)
    ]


def positional(name: str, params: str, card: Card, n_docs: int) -> str:
    """The core's metric for parameters by position."""
    values: list[Any] = numbers(name, params)
    named = [param.name for param in card.params[: card.positional]]
    if card.params[0].many:
        values = [f"{{{params}}}"]
    if len(values) != len(named) > 1:
        raise Refusal(NOT_COMPUTED, f"measure {name} takes {len(named)} numbers, got {quote(params)}")
    pairs = list(zip(named, values, strict=False))
    return metric_text(card, pairs + [("n_docs", n_docs) for param in card.params if param.name == "n_docs"])


def metric_with_params(name: str, params: str, card: Card) -> str:
    """The core's metric for parameters such as 1=3,2=9 and p=0.8; other names are ignored."""
    pairs = [part.split("=") for part in params.split(",")]
    if not all(len(pair) == 2 and is_number(pair[1]) for pair in pairs):
        raise Refusal(UNREADABLE, f"measure {name} takes name=number with commas between them, got {quote(params)}")
    gains = ",".join(f"{int(key)}:{float(value)!r}" for key, value in pairs if key.lstrip("+-").isdecimal())
    chosen: list[Any] = [(param.name, f"{{{gains}}}") for param in card.params if param.mapping and gains]
    chosen += [pair for pair in pairs for param in card.params if pair[0] == param.name == "p"]
    return metric_text(card, chosen) if chosen else name


def metric_text(card: Card, pairs: list[Any]) -> str:
    return f"{card.name}({','.join(f'{key}={value}' for key, value in pairs)})"


# ---- labels --------------------------------------------------------------------------------------------------------
def relstring_metrics(params: str) -> tuple[str, ...]:
    """The metrics that reveal the labels of the first documents: with codes as gains, dcg grows by the label's code."""
    length = int(numbers("relstring", params)[0])
    if length > RELSTRING_DOCUMENTS:
        raise Refusal(UNREADABLE, f"measure relstring shows {RELSTRING_DOCUMENTS} labels at most, got {quote(params)}")
    return "num_ret", *(f"dcg(gain={{-1:-1,-2:-2}})@{k}" for k in range(1, length + 1))


def relstrings(num_ret: np.ndarray, *dcg: np.ndarray) -> np.ndarray:
    added = np.diff([np.zeros(len(num_ret)), *dcg], axis=0).T
    labels = np.rint(added * np.log2(np.arange(2, len(dcg) + 2)))
    marks = LABEL_MARKS[np.minimum(labels, 10).astype(int) + 2]
    return np.array(["".join(row[: int(n)]) for row, n in zip(marks, num_ret, strict=True)], object)


# ---- text ----------------------------------------------------------------------------------------------------------
def output_text(lines: list[Line], table: Table, missing: Table, tag: str, options: Options) -> str:
    """Return the output for a run: the lines of every query, then of all; `missing` are values of missing rankings."""
    whole = {metric: np.concatenate((column, missing.columns[metric])) for metric, column in table.columns.items()}
    query_ids, n = table.query_ids + missing.query_ids, len(table.query_ids) + len(missing.query_ids)
    columns = whole
    if not options.new:
        query_ids, columns = table
    is_missing = np.arange(len(query_ids)) >= len(table.query_ids)
    chosen = (place for place, query_id in enumerate(query_ids) if options.query in (None, query_id))
    order = sorted(chosen, key=lambda place: encode_id(query_ids[place]))
    if options.query is not None and not order:
        raise Refusal(NO_QUERIES, f"-D: no query {quote(options.query)} has both judgments and a ranking")
    n = n if options.complete else len(order)
    shape, rows, summary = "", [], ""
    for line in lines:
        each, together = (text * wanted for text, wanted in zip(FORMATS[line.how], options[:2], strict=True))
        shown = f"{line.name:<22}".replace("%", "%%")
        if options.norms is not None and line.name not in TEXT_MEASURES and line.how != "relstring":
            each, together, shown = each and "%6.4f", together and "%6.4f", f"Z{shown}"
        if line.how in ("runid", "whole"):
            total = tag if line.how == "runid" else whole[line.metrics[0]].sum()
        elif each or together:
            values = line.make(*(columns[metric] for metric in line.metrics))
            if line.name in WIPED_MEASURES or line.name.startswith("unj"):
                values = np.where(is_missing, "" if line.how == "relstring" else 0.0, values)
            values = values[order]
            if line.how == "geometric":
                values = np.array(list(map(math.log, values.tolist())))
            if options.norms is not None and line.how not in ("relstring", "count"):
                values = z_scores(line, values, [options.norms.get(query_ids[place], {}) for place in order])
            total = combine(line.how, values, n) if together else 0.0
        if each:
            shape += f"{shown}\t\0\t{each}\n"
            rows.append(values.tolist())
        if together:
            summary += f"{shown}\tall\t{together}\n" % total
    texts = [
        shape.replace("\0", query_ids[place].replace("%", "%%")) % row
        for place, row in zip(order, zip(*rows, strict=True), strict=bool(rows))
    ]
    return "".join(texts) + summary


def z_scores(line: Line, values: np.ndarray, norms: list[dict[str, tuple[float, float]]]) -> np.ndarray:
    """Values, of a geometric mean their logarithms, in standard deviations from the mean of their query."""
    standardised = np.full(len(values), NO_Z_SCORE)
    for place, (value, query_norms) in enumerate(zip(values.tolist(), norms, strict=True)):
        if line.name in query_norms:
            mean, deviation = query_norms[line.name]
            if deviation:
                standardised[place] = (value - mean) / deviation
            elif value == mean:
                standardised[place] = 0.0
    return standardised


def parse_norms(lines: list[bytes], path: str) -> dict[str, dict[str, tuple[float, float]]]:
    """{query: {name of the value: (mean, standard deviation)}} of the lines of a file."""
    norms: dict[str, dict[str, tuple[float, float]]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.decode("utf-8", "surrogateescape").split()
        if len(fields) != 4 or not all(map(is_number, fields[2:])):
            expected = "expected 4 fields (query measure mean deviation), the last two of them numbers"
            raise Refusal(UNREADABLE, f"{path}:{number}: {expected}, got {quote(' '.join(fields))}")
        query_norms = norms.setdefault(fields[0], {})
        if fields[1] in query_norms:
            raise Refusal(
                UNREADABLE, f"{path}:{number}: duplicate measure {quote(fields[1])} in query {quote(fields[0])}"
            )
        query_norms[fields[1]] = float(fields[2]), float(fields[3])
    if not norms:
        raise Refusal(UNREADABLE, f"{path}: the file is empty; expected a line for each query and measure")
    return norms


def encode_id(text: str) -> bytes:
    """An id as the program compares it."""
    return text.encode("utf-8", "surrogateescape")


def combine(how: str, values: np.ndarray, n: int) -> float:
    """One number for the values, or logarithms, of n queries, 0 for missing values; sums are in the queries' order."""
    if how == "count":
        return n
    if how == "geometric":
        total = 0.0
        for logarithm in values.tolist():
            total += logarithm
        return math.exp((total + (n - len(values)) * LOG_FLOOR) / n)
    total = float(np.cumsum(values)[-1]) + 0.0
    return total if how == "sum" else total / n
