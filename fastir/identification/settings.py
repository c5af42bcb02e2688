"""Settings: conventions and what departs from them, and the state of each metric under a setting.

A state is all that the mean of one metric depends on. Departures that a metric does not have leave its state as it is,
and so most of the thousands of settings share a few hundred states.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from fastir.errors import UnknownMetricError
from fastir.identification.published import KEPT, PUBLISHED
from fastir.request.conventions import CONVENTIONS, Convention
from fastir.request.conventions import resolved_convention as resolved_record
from fastir.request.names import Request
from fastir.request.plan import aggregate, leveled, name_under, param_values, parse_requests, resolved

ORDER = ("ties", "score_dtype", "duplicates", "exclude")
RULES = ("queries", "ties", "score_dtype", "duplicates")


class Facts(NamedTuple):
    """What of qrels and run decides which departures there are.

    Attributes
    ----------
    shared : bool
        Whether qrels and run have the same queries.
    duplicates : bool
        Whether a query has a document twice.
    own_ids : bool
        Whether a document is called like its query.
    fractions : bool
        Whether a label is not whole.
    top : int
        The largest label.
    longest : int
        The length of the longest ranking.
    ties : frozenset of str
        The precisions of scores in which some are equal.
    """

    shared: bool
    duplicates: bool
    own_ids: bool
    fractions: bool
    top: int
    longest: int
    ties: frozenset[str]


class Setting(NamedTuple):
    """A convention with options of `evaluate`; `label` is the name of a published definition."""

    convention: str
    options: tuple[tuple[str, Any], ...]
    label: str = ""
    about: str = ""

    @property
    def cost(self) -> float:
        """How much it takes to say: a departure is one, a published definition less."""
        return 0.5 if self.label else len(self.options)

    def __str__(self) -> str:
        if self.label:
            return f"{self.label}: {self.about}"
        options = ", ".join(f"{name}={value}" for name, value in self.options)
        return f"{self.convention} with {options}" if options else self.convention


class State(NamedTuple):
    """What one metric's mean depends on; None of a rule stands for what makes no difference on these data."""

    metric: str
    how: str
    queries: str
    order: tuple[Any, ...]  # a value for each of ORDER
    level: float
    depth: int | None
    judged_only: bool


def departures(facts: Facts) -> list[tuple[str, Any]]:
    """The options that a setting may have beside its convention, in the order in which they explain."""
    found: list[tuple[str, Any]] = []
    if not facts.shared:
        found += [("queries", "intersection"), ("queries", "qrels")]
    if facts.ties:
        found += [("ties", rule) for rule in ("trec", "doc_id_asc", "input", "average", "optimistic", "pessimistic")]
    found += [("gain", word) for word in ("linear", "exp2", "binary")]
    found += [("ideal", word) for word in ("judged", "retrieved", "num_ret", "full")]
    found += [("empty", word) for word in ("zero", "skip", "one", "nan")]
    found += [("rel_level", level) for level in range(2, min(facts.top, 4) + 1)]
    found += [("max_depth", depth) for depth in (1000, 100, 50, 20, 10) if depth < facts.longest]
    if facts.duplicates:
        found += [("duplicates", rule) for rule in ("first", "last", "max", "once")]
    if facts.own_ids:
        found.append(("exclude", "query_id"))
    if "float32" in facts.ties:
        found += [("score_dtype", "float32"), ("score_dtype", "float64")]
    return found


def conventions(facts: Facts) -> list[str]:
    """Those that take these data, the default first."""
    return [
        name
        for name, record in CONVENTIONS.items()
        if not (facts.fractions and record.fractions != "taken")
        and not (record.queries == "strict" and not facts.shared)
    ]


def published(deepest: int) -> Iterator[Setting]:
    """The definitions of papers, for tables whose largest cutoff is `deepest`, or 0."""
    for each in PUBLISHED:
        options = {name: deepest if value == KEPT else value for name, value in each.options.items()}
        if options.get("max_depth", 1):
            yield Setting("fastir", tuple(options.items()), each.name, each.about)


class States:
    """The states of some metrics under the settings of one convention, made one departure at a time."""

    def __init__(self, convention: str, meanings: list[str], facts: Facts) -> None:
        self.record: Convention = CONVENTIONS[convention]
        self.facts = facts
        self.requests: list[Request | None] = [self._request(meaning) for meaning in meanings]

    def _request(self, meaning: str) -> Request | None:
        """The metric of a name in the tool's dialect; None if the tool reads several in it, or none."""
        try:
            requests = parse_requests([meaning], self.record.dialect)
        except UnknownMetricError:
            return None
        return requests[0] if len(requests) == 1 else None

    def of(self, options: dict[str, Any]) -> tuple[State | None, ...]:
        """A state for each metric; None where the setting has no value."""
        rules = {name: value for name, value in options.items() if name in (*RULES, "exclude")}
        kept = {"rel_level": 1, "max_depth": None, "judged_only": False}
        kept |= {name: value for name, value in options.items() if name in kept}
        choices = {name: value for name, value in options.items() if name not in rules and name not in kept}
        record = resolved_record(self.record, {**rules, **choices})
        return tuple(None if each is None else self._state(each, record, choices, kept) for each in self.requests)

    def _state(
        self, request: Request, record: Convention, choices: dict[str, Any], kept: dict[str, Any]
    ) -> State | None:
        card, cut = request.card, request.cutoff is not None
        try:
            values = param_values(request, choices, record)
        except UnknownMetricError:
            return None
        if kept["rel_level"] == 1:
            request = leveled(request, values, record)
        name = name_under(card, values)
        rules = {rule: record.choice(name, cut, rule, getattr(record, rule)) for rule in RULES}
        order = self._order(rules, record.exclude)
        if order is None or (order[0] == "average" and kept["max_depth"] is not None):
            return None
        queries = "qrels" if self.facts.shared else rules["queries"]
        any_label = request.level == 0  # every judged document is relevant, which no name can say
        return State(
            resolved(request._replace(level=None) if any_label else request, values),
            aggregate(request, values),
            queries,
            order,
            0 if any_label else kept["rel_level"],
            kept["max_depth"],
            kept["judged_only"],
        )

    def _order(self, rules: dict[str, Any], exclude: Any) -> tuple[Any, ...] | None:
        """A value for each of ORDER, those that make no difference as one; None where the tool refuses the run."""
        facts = self.facts
        dtype = rules["score_dtype"] if "float32" in facts.ties else "float64"
        ties = rules["ties"] if dtype in facts.ties else "trec"
        if facts.duplicates and rules["duplicates"] is None:
            return None
        return ties, dtype, rules["duplicates"] if facts.duplicates else None, exclude if facts.own_ids else None


def settings_of(
    convention: str, meanings: list[str], facts: Facts
) -> Iterator[tuple[Setting, tuple[State | None, ...]]]:
    """The settings of a convention whose departures all change a state, the simplest first."""
    states = States(convention, meanings, facts)
    base = states.of({})
    yield Setting(convention, ()), base
    single: list[tuple[tuple[str, Any], tuple[State | None, ...]]] = []
    for name, value in departures(facts):
        found = states.of({name: value})
        if found != base:
            single.append(((name, value), found))
            yield Setting(convention, ((name, value),)), found
    for ((one, value), first), ((other, second_value), second) in itertools.combinations(single, 2):
        if one != other:
            options = {one: value, other: second_value}
            both = states.of(options)
            if both not in (first, second, base):
                yield Setting(convention, tuple(options.items())), both
