"""trec_eval's output: the lines of each measure with its parameters, made of the core's metrics, and their text.

The measures, their order and their sets come from names.NICKNAMES and the cards. This file adds the rest: the two
measures that are not numbers, how the program reads parameters and names the results, and how it prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastir.engine.measure.cards import Card
from fastir.errors import quote
from fastir.request.names import FAMILIES, NAMES, NICKNAMES, is_number

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
    """The values that are printed under one name.

    Attributes
    ----------
    name : str
    metrics : tuple of str
        The core's metrics that the value is made of.
    how : str
        A key of FORMATS, and how the queries' values become one: an aggregate of Results; "each" has none, "whole" is
        the sum over all queries of the qrels.
    make : function
        Makes the column of values, one for each query, from the columns of the metrics.
    """

    name: str
    metrics: tuple[str, ...]
    how: str = "mean"
    make: Callable[..., np.ndarray] = lambda column: column


class Table(NamedTuple):
    """The values of some queries: {metric: column}, a value for each query."""

    query_ids: list[str]
    columns: dict[str, np.ndarray]


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
