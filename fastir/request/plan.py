"""What was asked, checked and compiled once: metrics that can share a walk are put together in a Plan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, get_args

import numpy as np

from fastir.checks import one_of, positive
from fastir.errors import quote
from fastir.measure._measure import Plan
from fastir.measure._registry import has_expected
from fastir.request import names
from fastir.request.compiler import WHOLE, compile_plan
from fastir.threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.request.conventions import Convention

Ties = Literal["trec", "doc_id_asc", "input", "optimistic", "pessimistic", "average"]
Queries = Literal["qrels", "intersection", "strict"]
Duplicates = Literal["first", "last", "max"]
Validate = Literal["full", "judged"]

TIES = get_args(Ties)
BY_ID = ("trec", "doc_id_asc")
RANKED: Any = object()  # in place of a tie rule: the documents come in rank order
QUERIES = (None, *get_args(Queries))
SCORES = (None, "float64", "float32")
DUPLICATES = (None, *get_args(Duplicates))
VALIDATE = get_args(Validate)


@dataclass(frozen=True, slots=True, eq=False, repr=False)  # made at every import: each method costs time
class Settings:
    """A plan with what belongs to it: names as typed, how each is averaged, what labels must not exceed, options.

    `parts` are the metrics by their rules {"queries", "ties", "score_dtype", "judged_only"} and by whether they are
    pooled, where not all have the same.
    """

    requests: list[names.Request]
    names: list[str]
    values: list[dict[str, Any]]
    aggregates: list[str]
    convention: Callable[[], Convention]
    parts: list[tuple[list[names.Request], dict[str, Any], bool]]
    plan: Plan
    level: int
    label_limits: list[tuple[int, str, str]]
    queries: Queries | None
    ties: int
    single: bool
    duplicates: Duplicates | None
    only_judged: bool
    n_threads: SupportsIndex | None


def metric_tuple(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metric names as they were given, one or many."""
    if isinstance(metrics, str):
        return (metrics,)
    try:
        return tuple(metrics)
    except TypeError:
        raise TypeError(f"metrics must be a str or an iterable of str, got {type(metrics).__name__}") from None


def settings(
    metrics: tuple[str, ...],
    convention: str | Convention,
    rel_level: SupportsIndex,
    queries: Queries | None,
    ties: Ties | None,
    judged_only: bool,
    max_depth: SupportsIndex | None,
    score_dtype: DTypeLike | None,
    n_threads: SupportsIndex | None,
    duplicates: Duplicates | None,
    validate: Validate,
    choices: dict[str, Any],
) -> Settings:
    """Check and compile metric names and options; equal requests share one answer.

    Parameters
    ----------
    metrics : tuple of str
    convention, rel_level, queries, ties, judged_only, max_depth, score_dtype, n_threads, duplicates, validate
        As for `evaluate`; `ties` may be RANKED.
    choices : dict
        Its other keywords.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
    """
    options = (
        convention,
        rel_level,
        queries,
        ties,
        judged_only,
        max_depth,
        score_dtype,
        n_threads,
        duplicates,
        validate,
    )
    try:
        return compiled(metrics, *options, tuple(choices.items()))
    except TypeError:  # an option that cannot be hashed; or one that compile_settings refuses again
        return compile_settings(metrics, *options, tuple(choices.items()))


def without_ids(
    metrics: str | Iterable[str],
    convention: str | Convention,
    rel_level: SupportsIndex,
    ties: Ties | None,
    judged_only: bool,
    max_depth: SupportsIndex | None,
    score_dtype: DTypeLike | None,
    n_threads: SupportsIndex | None,
    choices: dict[str, Any],
) -> tuple[Settings, list[tuple[list[int], Settings]]]:
    """The Settings of metrics of documents that have scores and no ids, and those of each set of rules among them.

    The latter stand behind the columns of their metrics, and their `ties` are "input" where the convention would ask
    for ids.
    """
    if ties in BY_ID:
        raise ValueError(
            f"ties={ties!r} needs document ids, which there are none of here; expected one of "
            f"{', '.join(map(repr, TIES[len(BY_ID) :]))}"
        )
    names_given = metric_tuple(metrics)

    def make(texts, ties, judged_only, score_dtype):
        return settings(
            texts,
            convention,
            rel_level,
            None,
            ties,
            judged_only,
            max_depth,
            score_dtype,
            n_threads,
            None,
            "full",
            choices,
        )

    whole = make(names_given, ties, judged_only, score_dtype)
    if not whole.parts:
        by_id = TIES[whole.ties] in BY_ID
        return whole, [
            (list(range(len(whole.names))), make(names_given, "input", judged_only, score_dtype) if by_id else whole)
        ]
    parts = []
    for requests, rules, pooled in whole.parts:
        if pooled:
            raise names.UnknownMetricError(
                f"metric {quote(requests[0].text)} needs document ids, which there are none of here"
            )
        own = make(
            tuple(request.text for request in requests),
            "input" if rules["ties"] in BY_ID else rules["ties"],
            rules["judged_only"],
            rules["score_dtype"],
        )
        parts.append(([whole.requests.index(request) for request in requests], own))
    return whole, parts


def requests(metrics: Iterable[str], dialect: str = "fastir") -> list[names.Request]:
    """The requests behind an iterable of names, each once; a family or nickname stands for its members."""
    found: dict[str, names.Request] = {}
    for metric in metrics:
        for request in names.read(metric, dialect):
            found.setdefault(request.text, request)
    if not found:
        raise names.UnknownMetricError("no metric given: the list is empty")
    return list(found.values())


def checked_choices(choices: dict[str, Any]) -> dict[str, Any]:
    """Check the keywords that set a parameter for all metrics that have it."""
    known = {param.name: param for card in names.CARDS for param in card.params if param.is_convention}
    checked = {}
    for name, value in choices.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the metric options are {', '.join(sorted(known))}")
        checked[name] = names.read_value(name, known[name], value)
    return checked


def compile_settings(
    metrics: tuple[str, ...],
    convention: str | Convention,
    rel_level: SupportsIndex,
    queries: Queries | None,
    ties: Ties | None,
    judged_only: bool,
    max_depth: SupportsIndex | None,
    score_dtype: DTypeLike | None,
    n_threads: SupportsIndex | None,
    duplicates: Duplicates | None,
    validate: Validate,
    choices: tuple[tuple[str, Any], ...],
) -> Settings:
    one_of("queries", queries, QUERIES)
    one_of("ties", None if ties is RANKED else ties, (None, *TIES))
    score_dtype = dtype_name(score_dtype)
    one_of("score_dtype", score_dtype, SCORES)
    one_of("duplicates", duplicates, DUPLICATES)
    one_of("validate", validate, VALIDATE)
    thread_count(n_threads, 0)
    level = positive("rel_level", "the relevance level", rel_level, 2**31 - 1)
    depth = WHOLE if max_depth is None else positive("max_depth", "the depth", max_depth, WHOLE)
    rules = {"queries": queries, "ties": None if ties is RANKED else ties, "score_dtype": score_dtype}
    chosen = checked_choices(dict(choices))
    given = {**{name: value for name, value in rules.items() if value is not None}, **chosen}
    record = None
    if convention != "fastir":
        record = record_of(convention, given)
        rules = {name: getattr(record, name) for name in rules}
    asked = requests(metrics, "fastir" if record is None else record.dialect)
    values = [values_of(request, chosen, record) for request in asked]
    parts = parts_of(asked, {**rules, "judged_only": bool(judged_only)}, record)
    if ties is RANKED:
        check_ranked(parts)
        parts = []
    average = rules["ties"] == "average" and ties is not RANKED and not parts
    if average:
        check_average(asked, values, depth)
    plan, limits = compile_plan(asked, values, level, bool(judged_only), depth, average)
    return Settings(
        asked,
        [r.text for r in asked],
        values,
        list(map(aggregate, asked, values)),
        functools.partial(record_of, convention, given),
        parts,
        plan,
        level,
        limits,
        rules["queries"],
        TIES.index(rules["ties"] or "trec"),
        rules["score_dtype"] == "float32",
        duplicates,
        validate == "judged",
        n_threads,
    )


def record_of(convention: Any, given: dict[str, Any]) -> Convention:
    """The convention with the caller's options; its file is read only where somebody wants to see one."""
    from fastir.request import conventions

    return conventions.record_of(convention, given)


def parts_of(asked: list[names.Request], rules: dict[str, Any], record: Convention | None) -> list:
    """Settings.parts; empty where one set of rules is good for all metrics."""
    parts: dict[tuple, list[names.Request]] = {}
    for request in asked:
        card, own = request.card, dict(rules)
        if record is not None:
            own.update((rule, record.choice(card.name, request.cutoff is not None, rule, own[rule])) for rule in rules)
        own["judged_only"] = request.params.get("judged_only", own["judged_only"])
        parts.setdefault((*own.values(), card.pooled is not None), []).append(request)
    if parts.keys() == {(*rules.values(), False)}:
        return []
    return [(requests, dict(zip(rules, chosen, strict=True)), pooled) for (*chosen, pooled), requests in parts.items()]


def check_ranked(parts: list) -> None:
    """Refuse what labels in rank order do not tell."""
    for requests, _, pooled in parts:
        text = quote(requests[0].text)
        if pooled:
            raise names.UnknownMetricError(f"metric {text} needs document ids, labels in rank order have none")
        if "judged_only" in requests[0].params:
            raise names.UnknownMetricError(f"metric {text}: judged_only is an option here, for all metrics at once")


compiled: Callable[..., Settings] = functools.lru_cache(256, typed=True)(compile_settings)


def check_average(asked: list[names.Request], all_values: list[dict[str, Any]], depth: int) -> None:
    """Refuse what has no closed form as an expected value over the orders of equal scores."""
    if depth != WHOLE:
        raise ValueError("max_depth: ties='average' cannot cut rankings, give the metrics a cutoff instead")
    for request, values in zip(asked, all_values, strict=True):
        varies = values.get("ap_norm") == "hits" and request.cutoff is not None
        if varies or not has_expected(request.card.name):
            where = " with ap_norm=hits and a cutoff" if varies else ""
            raise ValueError(
                f"metric {quote(request.text)}: ties='average' is not possible, because its expected "
                f"value has no closed form here{where}"
            )


def values_of(request: names.Request, chosen: dict[str, Any], record: Convention | None) -> dict[str, Any]:
    """The value of every parameter: the metric's own, else the option's, else the convention's."""
    card, cut = request.card, request.cutoff is not None
    values = {p.name: p.default for p in card.params}
    if record is not None:
        values = {name: record.choice(card.name, cut, name, default) for name, default in values.items()}
    values.update((name, value) for name, value in chosen.items() if name in values)
    values.update(request.params)
    return values


def aggregate(request: names.Request, values: dict[str, Any]) -> str:
    """How the values of the queries become one number, as Results takes it."""
    stays = any(value in ("nan", "min_nan") for value in values.values())
    return request.card.aggregate + "_or_nan" * stays


def dtype_name(given: DTypeLike | None) -> Any:
    """The name of a NumPy dtype, or what was given if it is none."""
    if given is None:  # NumPy's own reading of that is float64
        return None
    try:
        return np.dtype(given).name
    except TypeError:
        return given
