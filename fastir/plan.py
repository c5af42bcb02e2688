"""What was asked, checked and compiled once: metrics that can share a walk are put together in a Plan."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, SupportsIndex, get_args

import numpy as np

from fastir import names
from fastir._measure import Plan
from fastir.cards import READS, Param
from fastir.errors import quote
from fastir.threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

Ties = Literal["trec", "doc_id_asc", "input"]
Queries = Literal["qrels", "intersection", "strict"]
Duplicates = Literal["first", "last", "max"]
Validate = Literal["full", "judged"]

WHOLE = 2**63 - 1
TIES = get_args(Ties)
QUERIES = (None, *get_args(Queries))
SCORES = ("float64", "float32")
DUPLICATES = (None, *get_args(Duplicates))
VALIDATE = get_args(Validate)
READS_OF_GAIN = {-2: READS.index("pool"), -1: READS.index("all")}


@dataclass(frozen=True, slots=True)
class Settings:
    """A plan with what belongs to it: names as typed, how each is averaged, what labels must not exceed, options."""

    names: list[str]
    aggregates: list[str]
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
    metrics: tuple[str, ...], rel_level: SupportsIndex, queries: Queries | None, ties: Ties, judged_only: bool,
    max_depth: SupportsIndex | None, score_dtype: DTypeLike, n_threads: SupportsIndex | None,
    duplicates: Duplicates | None, validate: Validate, choices: dict[str, str | float],
) -> Settings:
    """Check and compile metric names and options; equal requests share one answer.

    Parameters
    ----------
    metrics : tuple of str
    rel_level, queries, ties, judged_only, max_depth, score_dtype, n_threads, duplicates, validate
        As for `evaluate`.
    choices : dict
        Its other keywords.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
    """
    options = (rel_level, queries, ties, judged_only, max_depth, score_dtype, n_threads, duplicates,
               validate)
    try:
        return compiled(metrics, *options, tuple(choices.items()))
    except TypeError:       # an option that cannot be hashed; or one that compile_settings refuses again
        return compile_settings(metrics, *options, tuple(choices.items()))


def requests(metrics: Iterable[str], dialect: str = "fastir") -> list[names.Request]:
    """The requests behind an iterable of names, each once; a family or nickname stands for its members."""
    found: dict[str, names.Request] = {}
    for metric in metrics:
        for request in names.read(metric, dialect):
            found.setdefault(request.text, request)
    if not found:
        raise names.UnknownMetricError("no metric given: the list is empty")
    return list(found.values())


def conventions(choices: dict[str, str | float]) -> dict[str, str | float]:
    """Check the keywords that set a parameter for all metrics that have it."""
    known = {param.name: param for card in names.CARDS for param in card.params if param.is_convention}
    checked = {}
    for name, value in choices.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the metric options are {', '.join(sorted(known))}")
        checked[name] = names.read_value(name, known[name], value)
    return checked


def compile_settings(
    metrics: tuple[str, ...], rel_level: SupportsIndex, queries: Queries | None, ties: Ties, judged_only: bool,
    max_depth: SupportsIndex | None, score_dtype: DTypeLike, n_threads: SupportsIndex | None,
    duplicates: Duplicates | None, validate: Validate, choices: tuple[tuple[str, str | float], ...],
) -> Settings:
    one_of("queries", queries, QUERIES)
    one_of("ties", ties, TIES)
    one_of("score_dtype", dtype_name(score_dtype), SCORES)
    one_of("duplicates", duplicates, DUPLICATES)
    one_of("validate", validate, VALIDATE)
    thread_count(n_threads, 0)
    level = positive("rel_level", "the relevance level", rel_level, 2**31 - 1)
    depth = WHOLE if max_depth is None else positive("max_depth", "the depth", max_depth, WHOLE)
    asked = requests(metrics)
    plan, limits = compile_plan(asked, level, bool(judged_only), depth, conventions(dict(choices)))
    return Settings([r.text for r in asked], [r.card.aggregate for r in asked], plan, level, limits, queries,
                    TIES.index(ties), np.dtype(score_dtype) == np.float32, duplicates, validate == "judged", n_threads)


compiled: Callable[..., Settings] = functools.lru_cache(256, typed=True)(compile_settings)


def compile_plan(
    asked: list[names.Request], level: int, judged_only: bool, depth: int, chosen: dict[str, str | float]
) -> tuple[Plan, list[tuple[int, str, str]]]:
    """The Plan of some requests, and the limits (largest label, metric, why) that they set."""
    views: dict[tuple, tuple[set[int], bool]] = {}
    resolved, limits, reads = [], [], []
    for request in asked:
        card = request.card
        values = {p.name: request.params.get(p.name, chosen.get(p.name, p.default)) for p in card.params}
        gain = values.get("gain", card.gain)
        own = next((value for value in values.values() if isinstance(value, names.Gains)), {})
        view = (
            request.level or level,
            request.level or (0 if own else 1),
            gain == "exp2",
            tuple(sorted(own.items())),
            values.get("discount") == "jk2",
            values.get("ideal") == "retrieved",
        )
        cutoff = request.cutoff or WHOLE
        cutoffs, wants_gain = views.get(view, (set(), False))
        cutoffs.add(cutoff)
        views[view] = (cutoffs, wants_gain or card.graded or bool(own))
        reads += [READS.index(card.reads), *(READS_OF_GAIN.get(label, READS.index("judged")) for label in own)]
        if gain == "exp2":
            limits.append((1000, request.text, "an exponential gain"))
        if "max_grade" in values:
            top = values["max_grade"]
            limits.append((1000 if top == "query" else top, request.text, f"max_grade={top}"))
        if "min_rel" in values and not values["min_rel"] < values["max_rel"]:
            raise names.UnknownMetricError(f"metric {quote(request.text)}: min_rel must be below max_rel, got "
                                           f"{values['min_rel']} and {values['max_rel']}")
        numbers = [number_for(param, values[param.name]) for param in card.params]
        resolved.append((card, view, cutoff, numbers, values.get("empty") == "skip"))
    places = {view: (i, sorted(cutoffs)) for i, (view, (cutoffs, _)) in enumerate(views.items())}
    plan = Plan(
        [(*view[:3], dict(view[3]), *view[4:], wants_gain, sorted(cutoffs))
         for view, (cutoffs, wants_gain) in views.items()],
        [(card.name, places[view][0], places[view][1].index(cutoff), numbers, skip, card.graded,
          READS.index(card.reads))
         for card, view, cutoff, numbers, skip in resolved],
        max(reads),
        judged_only,
        depth,
    )
    return plan, limits


def number_for(param: Param, value: Any) -> float:
    """A parameter's value as the kernels see it: a word is its position, gains of labels the one after the last."""
    if value == "query":
        return -1.0
    if isinstance(value, names.Gains):
        return float(len(param.choices))
    return float(param.choices.index(value) if value in param.choices else value)


def dtype_name(given: DTypeLike) -> object:
    """The name of a NumPy dtype, or what was given if it is none."""
    try:
        return np.dtype(given).name
    except TypeError:
        return given


def one_of(name: str, value: object, choices: tuple) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {quote(value)}")


def positive(name: str, what: str, value: SupportsIndex, largest: int) -> int:
    """An option that must be an integer from 1 up."""
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {quote(value)}") from None
    if not 1 <= number <= largest:
        raise ValueError(f"{name}: {what} must be positive, from 1 to {largest}, got {number}")
    return number
