"""The options of an evaluation: their vocabulary, and the record that carries them from the front door to the plan.

`options_of` makes the record from the arguments of a public function, and checks it, once. What it holds afterwards has
one form: numbers are exact ints, a dtype is its name, choices are what `names.read_value` makes of them. So equal
requests are equal records, with one hash, and nothing behind the front door checks an option again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, get_args

import numpy as np

from fastir.errors import quote
from fastir.request import names
from fastir.threads import thread_count

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from fastir.request.conventions import Convention

TiesById = Literal["trec", "doc_id_asc"]
TiesWithoutIds = Literal["input", "optimistic", "pessimistic", "average"]
Ties = Literal[TiesById, TiesWithoutIds]
Queries = Literal["qrels", "intersection", "strict"]
Duplicates = Literal["first", "last", "max"]
Validate = Literal["full", "judged"]

TIES = get_args(Ties)
BY_ID = get_args(TiesById)
WITHOUT_IDS = get_args(TiesWithoutIds)
RANKED: Any = "ranked"  # in place of a tie rule: the documents come in rank order; no caller can ask for it
QUERIES = (None, *get_args(Queries))
SCORES = (None, "float64", "float32")
DUPLICATES = (None, *get_args(Duplicates))
VALIDATE = get_args(Validate)
WHOLE = 2**63 - 1  # the depth of a whole ranking


class Options(NamedTuple):
    """What a caller asks for beside the metrics; the docstring of `evaluate` says what each field means.

    `choices` are the parameters of metrics that were given as keywords, as (name, value) pairs.
    """

    convention: str | Convention = "fastir"
    rel_level: int = 1
    queries: Queries | None = None
    ties: Ties | None = None
    judged_only: bool = False
    max_depth: int | None = None
    score_dtype: str | None = None
    n_threads: int | None = None
    duplicates: Duplicates | None = None
    validate: Validate = "full"
    choices: tuple[tuple[str, Any], ...] = ()

    def but(self, **changed: Any) -> Options:
        """These options with some of them changed, to values that are checked already."""
        own = {name: changed.pop(name) for name in self._fields if name in changed}
        return self._replace(**own, choices=tuple({**dict(self.choices), **changed}.items()))


def options_of(given: dict[str, Any]) -> Options:
    """The options among the arguments of a call, checked.

    Parameters
    ----------
    given : dict
        The arguments by their names, as locals() has them at the top of a public function; those that are no options
        are not looked at. ``given["choices"]`` are the other keywords. A function that lacks some of the options
        passes ``DEFAULTS | locals()``.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
        An option has the wrong type or name, or is out of its range.
    """
    values = values_of(given)
    if values == UNGIVEN and type(given["rel_level"]) is int:  # 1.0 equals 1, but is refused
        return UNCHANGED
    checks = zip(values, UNGIVEN, CHECKS.values(), strict=True)
    return Options(*[value if value is default else check(value) for value, default, check in checks])


def metric_tuple(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metric names as they were given, one or many."""
    if isinstance(metrics, str):
        return (metrics,)
    try:
        given = tuple(metrics)
    except TypeError:
        raise TypeError(f"metrics must be a str or an iterable of str, got {type(metrics).__name__}") from None
    for metric in given:
        if type(metric) is not str:
            names.check_text(metric)
    return given


# ---- checks ------------------------------------------------------------------------------------------------------


def one_of(name: str, value: Any, choices: tuple) -> Any:
    """An option that must be one of some values."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {quote(value)}")
    return value


def positive(name: str, what: str, value: SupportsIndex, largest: int) -> int:
    """An option that must be an integer from 1 up."""
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {quote(value)}") from None
    if not 1 <= number <= largest:
        raise ValueError(f"{name}: {what} must be positive, from 1 to {largest}, got {number}")
    return number


def dtype_name(given: DTypeLike) -> Any:
    """The name of a NumPy dtype, or what was given if it is none."""
    try:
        return np.dtype(given).name
    except TypeError:
        return given


def checked_convention(convention: Any) -> str | Convention:
    """A convention's name, which is refused where it is looked up if there is none of that name; or a record."""
    if type(convention) is str:
        return convention
    from fastir.request import conventions

    return conventions.checked(convention)


def checked_threads(n_threads: SupportsIndex) -> int:
    thread_count(n_threads, 0)
    return n_threads.__index__()


def checked_choices(choices: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The keywords that set a parameter for all metrics that have it."""
    if not choices:
        return ()
    known = {param.name: param for card in names.CARDS for param in card.params if param.is_convention}
    checked = {}
    for name, value in choices.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the metric options are {', '.join(sorted(known))}")
        checked[name] = names.read_value(name, known[name], value)
    return tuple(checked.items())


# For each option, the function that makes the one form of what a caller gave, where that is not the default.
CHECKS: dict[str, Callable[[Any], Any]] = {
    "convention": checked_convention,
    "rel_level": lambda level: positive("rel_level", "the relevance level", level, 2**31 - 1),
    "queries": lambda queries: one_of("queries", queries, QUERIES),
    "ties": lambda ties: one_of("ties", ties, (None, *TIES)),
    "judged_only": bool,
    "max_depth": lambda depth: positive("max_depth", "the depth", depth, WHOLE),
    "score_dtype": lambda dtype: one_of("score_dtype", dtype_name(dtype), SCORES),
    "n_threads": checked_threads,
    "duplicates": lambda duplicates: one_of("duplicates", duplicates, DUPLICATES),
    "validate": lambda validate: one_of("validate", validate, VALIDATE),
    "choices": checked_choices,
}
UNCHANGED = Options()
DEFAULTS = {**UNCHANGED._asdict(), "choices": {}}
UNGIVEN = tuple(DEFAULTS.values())
values_of = operator.itemgetter(*DEFAULTS)
