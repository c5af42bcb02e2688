"""Checks of options that several parts of fastir take: each returns the value or raises an error that names it."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any, SupportsFloat, SupportsIndex, TypeVar

from fastir.errors import DuplicateError, quote

Value = TypeVar("Value")
MIN_BEGINNING = 3  # letters of a word that suffice to suggest it


def check_choice(name: str, value: Value, choices: Iterable[Any]) -> Value:
    """An option that must be one of some values."""
    words = tuple(choices)
    if value not in words:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, words))}, got {quote(value)}{suggest_choice(value, words)}"
        )
    return value


def refuse_options(function: str, options: Iterable[str], refused: Collection[str], why: str) -> None:
    """Raise TypeError for an option that a function does not take; `why` says where it belongs."""
    if given := [name for name in options if name in refused]:
        raise TypeError(f"{function} has no option {' or '.join(map(repr, given))}; {why}")


def suggest_choice(typed: object, choices: Iterable[Any]) -> str:
    """The end of a message about a word that is none of those known: the nearest of them, if one is near."""
    import difflib

    words = {letters(word): word for word in choices if isinstance(word, str)}
    text = letters(typed) if isinstance(typed, str) else ""
    near = difflib.get_close_matches(text, words, 1, 0.75)
    if not near and len(text) >= MIN_BEGINNING:
        near = [word for word in words if word.startswith(text)] or [word for word in words if text.startswith(word)]
    return f"; did you mean {words[near[0]]!r}?" if near else ""


def letters(word: str) -> str:
    """A word without what people spell in different ways: case, hyphens and underscores."""
    return word.lower().replace("_", "").replace("-", "")


def positive_integer(name: str, what: str, value: SupportsIndex, largest: int) -> int:
    """An option that must be an integer from 1 up; `what` says in the message what it counts."""
    number = integer(name, value)
    if not 1 <= number <= largest:
        raise ValueError(f"{name}: {what} must be positive, from 1 to {largest}, got {quote(number)}")
    return number


def whole_number(name: str, value: SupportsIndex, least: int, largest: int | None = None) -> int:
    """An option that must be an integer from `least` up."""
    number = integer(name, value)
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {quote(number)}")
    if largest is not None and number > largest:
        raise ValueError(f"{name} must be at most {largest}, got {quote(number)}")
    return number


def integer(name: str, value: SupportsIndex) -> int:
    """An option that must be an integer, of Python or of NumPy."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {type(value).__name__} {quote(value)}") from None


def number(name: str, value: SupportsFloat, least: float = -math.inf, open: bool = False) -> float:
    """An option that must be one number from `least` up, or above it if the range is open there; not NaN."""
    if isinstance(value, bool) or hasattr(value, "__len__"):
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {quote(value)}")
    try:
        real = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {quote(value)}") from None
    except OverflowError:
        raise OverflowError(f"{name} is too large for a float: {quote(value)}") from None
    if real != real and least == -math.inf:
        raise ValueError(f"{name} must be a number, got nan")
    if not (real > least if open else real >= least):
        raise ValueError(f"{name} must be {'above' if open else 'at least'} {least:g}, got {real!r}")
    return real


def mapping(name: str, value: Any, expected: str, labelled: bool = False) -> Mapping[Any, Any]:
    """An option that must be a mapping, or that has items as one has, such as a pandas Series with an index of ids.

    `labelled` refuses the default index of pandas, 0 to n - 1, which carries no ids.
    """
    if isinstance(value, Mapping):
        return value
    if hasattr(value, "columns") and hasattr(value, "iloc"):
        raise TypeError(
            f"{name} must be a Series with the ids as its index, or a dict, got a DataFrame; choose its column, as "
            "frame.set_index(name_of_ids)[name_of_values] does"
        )
    if not hasattr(value, "items") or getattr(value, "ndim", 1) != 1:
        raise TypeError(f"{name} must {expected}, got {type(value).__name__}")
    items = list(value.items())
    index = getattr(value, "index", None)
    if labelled and items and (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1):
        raise TypeError(f"{name}: a Series must have the ids as its index, got a default RangeIndex")
    places: dict[Any, int] = {}
    for place, (key, _) in enumerate(items):
        if places.setdefault(key, place) < place:
            raise DuplicateError(
                f"{name}: duplicate id {quote(key)} in the index, at positions {places[key]} and {place}"
            )
    return dict(items)


def flag(name: str, value: object) -> bool:
    """An option that must be True or False, of Python or of NumPy: a text such as "no" would count as True."""
    if value is True or value is False:
        return value
    if type(value).__name__ not in ("bool", "bool_"):  # NumPy's has either name
        raise TypeError(f"{name} must be True or False, got {type(value).__name__} {quote(value)}")
    return bool(value)


def proportion(name: str, value: SupportsFloat) -> float:
    """An option that must be a number between 0 and 1."""
    real = number(name, value)
    if not 0 < real < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return real
