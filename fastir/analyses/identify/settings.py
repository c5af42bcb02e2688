"""Settings: conventions and what departs from them, and the state of each metric under a setting.

A state is all that the mean of one metric depends on. Departures that a metric does not have do not change its state,
and so most of the thousands of settings share a few hundred states.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from fastir.errors import UnknownMetricError
from fastir.request.conventions import CONVENTIONS, Convention
from fastir.request.conventions import resolved_convention as resolved_record
from fastir.request.names import Request
from fastir.request.plan import (
    aggregate,
    apply_level,
    name_under,
    param_values,
    parse_requests,
    resolved_name,
    takes_fractions,
)

TIES_IN_ORDER = ("trec", "doc_id_asc", "input", "average", "optimistic", "pessimistic", "input_reversed")
LARGEST_CUTOFF = "the largest cutoff"  # as max_depth: as many documents as the metrics of the table need


class Definition(NamedTuple):
    """A definition: options of `evaluate` for fastir's convention, and where it was."""

    name: str
    options: dict[str, Any]
    about: str
    source: str


NGCF_ABOUT = "its ideal ranking holds the items that were retrieved, no others"
PUBLISHED = (
    Definition(
        "NGCF",
        {"gain": "binary", "ideal": "retrieved", "ties": "input", "max_depth": LARGEST_CUTOFF},
        NGCF_ABOUT,
        "xiangwang1223/neural_graph_collaborative_filtering, NGCF/utility/metrics.py; its issue 34",
    ),
    Definition(
        "NGCF",
        {"gain": "binary", "ideal": "retrieved", "ties": "input", "max_depth": 100},
        f"{NGCF_ABOUT}, of 100",
        "xiangwang1223/neural_graph_collaborative_filtering, NGCF/utility/metrics.py; its issue 34",
    ),
    Definition(
        "the first version of LightGCN's paper",
        {"gain": "binary", "ideal": "retrieved", "ties": "input", "max_depth": LARGEST_CUTOFF},
        f"the nDCG of NGCF: {NGCF_ABOUT}",
        "kuandeng/LightGCN, issues 1 and 3",
    ),
    Definition(
        "LightGCN",
        {"gain": "binary", "ties": "input"},
        "nDCG of hits, as its repository computes it",
        "kuandeng/LightGCN, evaluator/python/evaluate_foldout.py",
    ),
    Definition(
        "CodeSearchNet",
        {"gain": "exp2", "empty": "skip", "judged_only": True, "ties": "input"},
        "its NDCG leaves out documents without annotations, and queries without relevant ones",
        "github/CodeSearchNet, src/relevanceeval.py",
    ),
    Definition(
        "CodeSearchNet (full ranking)",
        {"gain": "exp2", "empty": "skip", "ties": "input"},
        "its NDCG leaves out queries without relevant documents",
        "github/CodeSearchNet, src/relevanceeval.py",
    ),
)


# ---- settings and states ---------------------------------------------------------------------------------------------
ORDER_RULES = ("ties", "score_dtype", "duplicates", "exclude")
RULES = ("queries", "ties", "score_dtype", "duplicates")
ORDERING = (*RULES, "exclude")
DEFAULT_OPTIONS = {"rel_level": 1, "max_depth": None, "judged_only": False}  # of options that no convention has
Options = tuple[tuple[str, Any], ...]  # of a setting


class DataProperties(NamedTuple):
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
        Whether a label is a fraction.
    top : int
        The largest label.
    longest : int
        The length of the longest ranking.
    ties : frozenset of str
        The precisions of scores in which some are equal; "float32" only where it makes more scores equal.
    n_qrels, n_run : int
        The number of queries in each.
    """

    shared: bool
    duplicates: bool
    own_ids: bool
    fractions: bool
    top: int
    longest: int
    ties: frozenset[str]
    n_qrels: int = 0
    n_run: int = 0


class Setting(NamedTuple):
    """A convention with options of `evaluate`; `label` is the name of a published definition."""

    convention: str
    options: Options
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
    """What one metric's mean depends on; a rule is None if it makes no difference on these data."""

    metric: str
    how: str
    queries: str
    order: tuple[Any, ...]  # a value for each of ORDER
    level: float
    depth: int | None
    judged_only: bool


def departures(facts: DataProperties) -> list[tuple[str, Any]]:
    """The options that a setting may have beside its convention, in the order in which they explain."""
    found: list[tuple[str, Any]] = []
    if not facts.shared:
        found += [("queries", "intersection"), ("queries", "qrels")]
    if facts.ties:
        found += [("ties", rule) for rule in TIES_IN_ORDER]
    found += [("gain", word) for word in ("linear", "exp2", "binary")]
    found += [("ideal", word) for word in ("judged", "retrieved", "num_ret", "full", "uncut")]
    found += [("empty", word) for word in ("zero", "skip", "one", "nan")]
    found += [("rel_level", level) for level in range(2, min(facts.top, 4) + 1)]
    found += [("max_depth", depth) for depth in (1000, 100, 50, 20, 10) if depth < facts.longest]
    if facts.duplicates:
        found += [("duplicates", rule) for rule in ("first", "last", "max", "once")]
    if facts.own_ids:
        found.append(("exclude", "query_id"))
    if "float32" in facts.ties:
        found += [("score_dtype", "float32"), ("score_dtype", "float64")]
    found.append(("average", "micro"))
    return found


def conventions(facts: DataProperties) -> list[str]:
    """Those that take these data, the default first."""
    return [
        name
        for name, record in CONVENTIONS.items()
        if not (facts.fractions and record.fractions not in ("taken", "gains"))
        and not (record.queries == "strict" and not facts.shared)
    ]


def paper_settings(deepest: int) -> Iterator[Setting]:
    """The definitions of papers, for tables with the largest cutoff `deepest`, or 0."""
    for each in PUBLISHED:
        options = {name: deepest if value == LARGEST_CUTOFF else value for name, value in each.options.items()}
        if options.get("max_depth", 1):
            yield Setting("fastir", tuple(options.items()), each.name, each.about)


class States:
    """The states of some metrics under the settings of one convention, each computed once.

    What a metric computes depends on its own parameters, and what it computes it from on the rules; most departures
    change one of both for few metrics.
    """

    def __init__(self, convention: str, meanings: list[str], facts: DataProperties) -> None:
        self.record: Convention = CONVENTIONS[convention]
        self.facts = facts
        self.requests: list[Request | None] = [self._request(meaning) for meaning in meanings]
        self._states: dict[Any, State | None] = {}
        self._metrics: dict[Any, tuple[str, str, bool, str] | None] = {}
        self._rules: dict[Any, tuple[str, tuple[Any, ...]] | None] = {}

    def _request(self, meaning: str) -> Request | None:
        """The metric of a name in the tool's dialect; None if the tool reads several in it, or none."""
        try:
            requests = parse_requests([meaning], self.record.dialect)
        except UnknownMetricError:
            return None
        return requests[0] if len(requests) == 1 else None

    def of(self, options: Options) -> tuple[State | None, ...]:
        """A state for each metric; None where the setting has no value."""
        rules = tuple(pair for pair in options if pair[0] in ORDERING)
        kept = tuple(
            {**DEFAULT_OPTIONS, **{name: value for name, value in options if name in DEFAULT_OPTIONS}}.values()
        )
        choices = [pair for pair in options if pair[0] not in ORDERING and pair[0] not in DEFAULT_OPTIONS]
        return tuple(
            None if request is None else self._state(place, request, choices, rules, kept)
            for place, request in enumerate(self.requests)
        )

    def _state(
        self, place: int, request: Request, choices: list[tuple[str, Any]], rules: Options, kept: tuple[Any, ...]
    ) -> State | None:
        own = tuple(pair for pair in choices if any(param.name == pair[0] for param in request.card.params))
        key = place, own, rules, kept
        if key not in self._states:
            self._states[key] = self._made(key, request)
        return self._states[key]

    def _made(self, key: tuple[int, Options, Options, tuple[Any, ...]], request: Request) -> State | None:
        place, choices, rules, (level, depth, judged_only) = key
        if level == 1 and self.facts.fractions:
            level = self.record.rel_level
        metric_key = place, choices, level == 1, dict(rules).get("queries")
        if metric_key not in self._metrics:
            self._metrics[metric_key] = self._metric(request, dict(choices), level == 1, dict(rules))
        metric = self._metrics[metric_key]
        if metric is None:
            return None
        text, how, any_label, name = metric
        rules_key = name, request.cutoff is not None, rules
        if rules_key not in self._rules:
            self._rules[rules_key] = self._ordered(*rules_key)
        ordered = self._rules[rules_key]
        if ordered is None or (ordered[1][0] == "average" and depth is not None):
            return None
        return State(text, how, *ordered, 0 if any_label else level, depth, judged_only)

    def _metric(
        self, request: Request, choices: dict[str, Any], usual_level: bool, rules: dict[str, Any]
    ) -> tuple[str, str, bool, str] | None:
        """The metric as fastir spells it, how it is averaged, whether any label is relevant, and its name alone."""
        record = resolved_record(self.record, {**rules, **choices})
        try:
            values = param_values(request, choices, record)
        except UnknownMetricError:
            return None
        word = record.choice(name_under(request.card, values), request.cutoff is not None, "fractions")
        if self.facts.fractions and not takes_fractions(word, request, values, not usual_level):
            return None
        if usual_level:
            request = apply_level(request, values, record)
        any_label = request.level == 0  # every judged document is relevant, which no name can say
        text = resolved_name(request._replace(level=None) if any_label else request, values)
        return text, aggregate(request, values), any_label, name_under(request.card, values)

    def _ordered(self, name: str, cut: bool, options: Options) -> tuple[str, tuple[Any, ...]] | None:
        """Which queries count, and a value for each of ORDER; None where the tool refuses the run."""
        record, chosen = self.record, dict(options)
        rules = {rule: chosen.get(rule) or record.choice(name, cut, rule, getattr(record, rule)) for rule in RULES}
        order = self._order(rules, chosen.get("exclude") or record.exclude)
        return None if order is None else ("qrels" if self.facts.shared else rules["queries"], order)

    def _order(self, rules: dict[str, Any], exclude: Any) -> tuple[Any, ...] | None:
        """A value for each of ORDER, those that make no difference as one; None where the tool refuses the run."""
        facts = self.facts
        dtype = rules["score_dtype"] if "float32" in facts.ties else "float64"
        ties = rules["ties"] if dtype in facts.ties else "trec"
        if facts.duplicates and rules["duplicates"] is None:
            return None
        return ties, dtype, rules["duplicates"] if facts.duplicates else None, exclude if facts.own_ids else None


def list_settings(
    convention: str, meanings: list[str], facts: DataProperties
) -> Iterator[tuple[Setting, tuple[State | None, ...]]]:
    """The settings of a convention in which every departure changes a state, the simplest first."""
    states = States(convention, meanings, facts)
    base = states.of(())
    yield Setting(convention, ()), base
    single: list[tuple[tuple[str, Any], tuple[State | None, ...]]] = []
    for name, value in departures(facts):
        found = states.of(((name, value),))
        if found != base:
            single.append(((name, value), found))
            yield Setting(convention, ((name, value),)), found
    for ((one, value), first), ((other, second_value), second) in itertools.combinations(single, 2):
        if one != other:
            options = (one, value), (other, second_value)
            both = states.of(options)
            if both not in (first, second, base):
                yield Setting(convention, options), both
