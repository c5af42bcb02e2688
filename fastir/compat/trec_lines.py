"""The measures of trec_eval as it prints them: names and parameters in, lines to print out, made of the core's metrics.

The measures, their order and their sets come from names.NICKNAMES and the cards; here stands what these do not know:
two measures that are no numbers, what the program calls a measure with parameters, and how it prints each kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastir.cards import Card
from fastir.errors import quote
from fastir.names import FAMILIES, NAMES, NICKNAMES, is_number

USAGE, UNREADABLE, NOT_COMPUTED, NO_QUERIES = 1, 2, 4, 7    # exit codes

TEXTS = {"runid": "tag of the run's last line", "relstring": "labels of the first documents, a character each"}
LONGEST = 10_000        # documents of a relstring
MARKS = np.array([*".-0123456789>"])    # what relstring shows for -2, in the pool without a judgment, to 10 and above

# What the program has in its order of measures and the set all_trec has not, before which of that set.
BEFORE = {"num_q": "runid", "recall": "relstring", "ndcg": "dcg ideal_dcg", "rbp": f"{NICKNAMES['qrels_jg']} yaap"}
MEASURES = " ".join(f"{BEFORE.get(name, '')} {name}" for name in NICKNAMES["all_trec"].split()).split()
SETS = {nickname: {"runid", "num_q", *names.split()} for nickname, names in NICKNAMES.items()}
SETS["all_trec"].add("relstring")
NEW = {"rbp", "rbp_resid", "unj", "dcg", "ideal_dcg"}   # in version 10

# How a value is printed for a query and for all of them; empty where it is not.
FORMATS = {
    "mean": ("%6.4f", "%6.4f"), "sum": ("%d", "%d"), "count": ("", "%d"), "geometric": ("", "%6.4f"),
    "each": ("%d", ""), "whole": ("", "%d"), "relstring": ("'%s'", ""), "runid": ("", "%s"),
}  # fmt: skip


class Refusal(Exception):
    """An end without output: the exit code, and why."""

    def __init__(self, code: int, reason: object) -> None:
        super().__init__(reason)
        self.code = code


class Line(NamedTuple):
    """What is printed under one name.

    Attributes
    ----------
    name : str
    metrics : tuple of str
        The core's metrics that the value is made of.
    how : str
        A key of FORMATS, and what becomes of the queries' values: as aggregates of Results; "each" is for queries
        alone, "whole" the sum over all queries of the qrels.
    make : function
        Makes the column of values, one for each query, from those of the metrics.
    """

    name: str
    metrics: tuple[str, ...]
    how: str = "mean"
    make: Callable[..., np.ndarray] = lambda column: column


def marked(asked: list[str], known: list[str]) -> dict[str, str]:
    """The measures that were asked for, in the program's order, with the first parameters that each was given."""
    wanted: set[str] = set()
    params: dict[str, str] = {}
    for text in asked:
        name, dot, rest = text.partition(".")
        found = SETS.get(name, {name}).intersection(known)
        if not found or (dot and not rest):
            reason = "nothing stands behind the dot" if found else "it is unknown; -h lists those that there are"
            raise Refusal(USAGE, f"measure {quote(text)}: {reason}")
        wanted |= found
        if dot:
            params.setdefault(name, rest)
    return {name: params.get(name, "") for name in known if name in wanted}


def about(name: str) -> str:
    """What a measure is, in a phrase."""
    return TEXTS.get(name) or card_of(name).summary


def card_of(name: str) -> Card:
    return FAMILIES.get(name.lower()) or NAMES[name.lower()]


def lines_of(name: str, params: str, groups: bool, complete: bool, n_docs: int) -> list[Line]:
    """The lines of a measure: one, or one for each cutoff.

    Parameters
    ----------
    name, params : str
        Measures that take no parameters ignore them.
    groups : bool
        Whether the qrels have groups of judges.
    complete : bool
        Whether all queries of the qrels count; then num_rel of them all is that of labels above 0.
    n_docs : int
        Documents in the collection.
    """
    if name == "runid":
        return [Line(name, (), "runid")]
    if name != "num_q" and (name in SETS["qrels_jg"]) != groups:
        raise Refusal(NOT_COMPUTED, f"measure {name} is not defined on qrels {'with' if groups else 'without'} groups "
                                    "of judges; -R says which kind they are")
    shown = f"{name}_{params}" if params else name
    if name == "relstring":
        return [Line(shown, relstring_metrics(params or "10"), name, relstring_of)]
    card = card_of(name)
    if card.family.lower() == name.lower():
        return cutoff_lines(name, params, card)
    if name == "num_rel" and complete:
        return [Line(name, (name,), "each"), Line(name, ("num_rel-l1",), "whole")]
    if params and name == "11pt_avg":
        points = sorted(numbers(name, params), reverse=True)
        return [Line(shown, tuple(f"iprec@{x!r}" for x in points), make=average_of)]
    if params and card.positional:
        return [Line(shown, (positional(name, params, card, n_docs),))]
    if params and any(param.mapping or param.name == "p" for param in card.params):
        return [Line(shown, (paired(name, params, card),))]
    return [Line(name, (name,), card.aggregate)]


# ---- parameters ----------------------------------------------------------------------------------------------------


def numbers(name: str, params: str) -> list[float]:
    parts = params.split(",")
    if not all(map(is_number, parts)):
        raise Refusal(UNREADABLE, f"measure {name} takes numbers with commas between them, got {quote(params)}")
    return list(map(float, parts))


def cutoff_lines(name: str, params: str, card: Card) -> list[Line]:
    """A line for each cutoff, without its fraction, or for each recall point or multiple."""
    values = numbers(name, params) if params else list(card.members)
    if card.at is None:
        values = [int(min(value, 2.0**62)) for value in values]
    if len(set(values)) < len(values) or card.at is None and min(values) < 1:
        raise Refusal(UNREADABLE, f"measure {name}: cutoffs must be from 1 up and differ, got {quote(params)}")
    room = len(name) + 9    # the program's, for names with a multiple
    return [Line(f"{name}_{value:3.2f}"[:room] if card.at else f"{name}_{value}", (f"{card.name}@{value!r}",))
            for value in sorted(values)]


def positional(name: str, params: str, card: Card, n_docs: int) -> str:
    """The core's metric for parameters that are known by their places."""
    values = numbers(name, params)
    named = [param.name for param in card.params[:card.positional]]
    if len(values) != len(named) > 1:
        raise Refusal(NOT_COMPUTED, f"measure {name} takes {len(named)} numbers, got {quote(params)}")
    pairs = list(zip(named, values, strict=False))
    return metric_of(card, pairs + [("n_docs", n_docs) for param in card.params if param.name == "n_docs"])


def paired(name: str, params: str, card: Card) -> str:
    """The core's metric for parameters such as 1=3,2=9 and p=0.8; other names are ignored."""
    pairs = [part.split("=") for part in params.split(",")]
    if not all(len(pair) == 2 and is_number(pair[1]) for pair in pairs):
        raise Refusal(UNREADABLE, f"measure {name} takes name=number with commas between them, got {quote(params)}")
    gains = ",".join(f"{int(key)}:{float(value)!r}" for key, value in pairs if key.lstrip("+-").isdecimal())
    found = [(param.name, f"{{{gains}}}") for param in card.params if param.mapping and gains]
    found += [pair for pair in pairs for param in card.params if pair[0] == param.name == "p"]
    return metric_of(card, found) if found else name


def metric_of(card: Card, pairs: list[Any]) -> str:
    return f"{card.name}({','.join(f'{key}={value}' for key, value in pairs)})"


# ---- values made of several metrics --------------------------------------------------------------------------------


def average_of(*columns: np.ndarray) -> np.ndarray:
    total = np.zeros(len(columns[0]))
    for column in columns:
        total += column
    return total / len(columns)


def relstring_metrics(params: str) -> tuple[str, ...]:
    """What tells the label of each of the first documents: with codes for gains, what it adds to dcg."""
    length = int(numbers("relstring", params)[0])
    if length > LONGEST:
        raise Refusal(UNREADABLE, f"measure relstring shows {LONGEST} labels at most, got {quote(params)}")
    return "num_ret", *(f"dcg(gain={{-1:-1,-2:-2}})@{k}" for k in range(1, length + 1))


def relstring_of(num_ret: np.ndarray, *dcg: np.ndarray) -> np.ndarray:
    added = np.diff([np.zeros(len(num_ret)), *dcg], axis=0)
    labels = np.rint(added.T * np.log2(np.arange(2, len(dcg) + 2)))
    marks = MARKS[np.minimum(labels, 10).astype(int) + 2]
    return np.array(["".join(row[:int(n)]) for row, n in zip(marks, num_ret, strict=True)], object)
