"""The options of an evaluation: their vocabulary, and the record that carries them from the front door to the plan.

`options_of` makes the record from the arguments of a public function, and checks it, once. Its values then have one
form: numbers are exact ints, a dtype is its name, and choices are read by `names.read_value`. So equal requests are
equal records with equal hashes, and no option is checked again behind the front door.
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
RANKED: Any = object()  # in place of a tie rule: the documents come in rank order; callers cannot choose it
QUERIES = (None, *get_args(Queries))
SCORES = (None, "float64", "float32")
DUPLICATES = (None, *get_args(Duplicates))
VALIDATE = get_args(Validate)
MAX_LABEL = 2**31 - 1
WHOLE = 2**63 - 1  # the depth of a whole ranking


class Options(NamedTuple):
    """A caller's options beside the metrics; the docstring of `evaluate` says what each field means.

    `choices`, the last field, are the parameters of metrics that were given as keywords: (name, value) pairs.
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
        """These options with some of them replaced by values that are already checked."""
        own = {name: changed.pop(name) for name in self._fields if name in changed}
        return self._replace(**own, choices=tuple({**dict(self.choices), **changed}.items()))


def options_of(given: dict[str, Any]) -> Options:
    """The options among the arguments of a call, checked.

    Parameters
    ----------
    given : dict
        The arguments by their names, as locals() has them at the top of a public function; other arguments are ignored.
        ``given["choices"]`` are the remaining keywords. A function that lacks some of the options passes ``DEFAULTS |
        locals()``.

    Raises
    ------
    UnknownMetricError, TypeError, ValueError
        An option has the wrong type or name, or is out of its range.
    """
    asked = Options(*values_of(given))
    changed: dict[str, Any] = {}
    if type(asked.convention) is not str:  # an unknown name is refused where it is looked up
        changed["convention"] = checked_convention(asked.convention)
    if type(asked.rel_level) is not int or not 1 <= asked.rel_level <= MAX_LABEL:
        changed["rel_level"] = positive("rel_level", "the relevance level", asked.rel_level, MAX_LABEL)
    if asked.queries is not None:
        one_of("queries", asked.queries, QUERIES)
    if asked.ties is not None and asked.ties is not RANKED:
        one_of("ties", asked.ties, (None, *TIES))
    if type(asked.judged_only) is not bool:
        changed["judged_only"] = bool(asked.judged_only)
    if asked.max_depth is not None:
        changed["max_depth"] = positive("max_depth", "the depth", asked.max_depth, WHOLE)
    if asked.score_dtype is not None:
        changed["score_dtype"] = one_of("score_dtype", dtype_name(asked.score_dtype), SCORES)
    if asked.n_threads is not None and (type(asked.n_threads) is not int or asked.n_threads < 1):
        changed["n_threads"] = thread_count(asked.n_threads, 0)
    if asked.duplicates is not None:
        one_of("duplicates", asked.duplicates, DUPLICATES)
    if asked.validate != "full":
        one_of("validate", asked.validate, VALIDATE)
    if given["choices"]:
        changed["choices"] = choices_of(given["choices"])
    return asked._replace(**changed) if changed else asked


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


def one_of(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
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
    """The name of a NumPy dtype; any other value is returned as it is."""
    try:
        return np.dtype(given).name
    except TypeError:
        return given


def checked_convention(convention: Any) -> str | Convention:
    """A record of choices; its file is imported only for callers who pass one."""
    from fastir.request import conventions

    return conventions.checked(convention)


def choices_of(choices: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The keywords that set a parameter for all metrics that have it."""
    known = {param.name: param for card in names.CARDS for param in card.params if param.is_convention}
    checked = {}
    for name, value in choices.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the metric options are {', '.join(sorted(known))}")
        checked[name] = names.read_value(name, known[name], value)
    return tuple(checked.items())


DEFAULTS: dict[str, Any] = {**Options()._asdict(), "choices": {}}
values_of: Callable[[dict[str, Any]], tuple[Any, ...]] = operator.itemgetter(*Options._fields[:-1])
