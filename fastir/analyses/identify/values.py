"""A reported value: its interval by the digits that were printed, and every metric that its name may mean."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, SupportsIndex

from fastir.checks import whole_number
from fastir.errors import UnknownMetricError, quote
from fastir.request.names import NAMES, find_requests, read, spoken_names

# ---- the words of papers ---------------------------------------------------------------------------------------------
CUTOFFS = (10, 100, 5, 20, 1, 3, 50, 1000)  # which papers leave out, the most usual first
# Metrics that papers call by the name of another one, or of its family.
PAPERS = {
    "recall": ("hit_rate",), "hits": ("hit_rate",), "pair_accuracy": ("hit_rate",), "f1": ("set_f",),
}  # fmt: skip
SELDOM_MEANT = ("hits", "pair_accuracy")  # which papers do not mean by these names
CUTOFF_METRIC = "hit_rate"  # which papers give at a cutoff alone
# Metrics that are now and then reported under another one's name: tried where nothing fits.
MISTAKEN_NAMES = {
    "map": ("r_precision", "gm_map", "iprec_avg", "mrr", "precision", "set_map"),
    "recall": ("hit_rate", "relative_precision", "recall_all", "precision", "hits"),
    "precision": ("r_precision", "hit_rate", "recall", "relative_precision"),
    "r_precision": ("precision", "map"),
    "hit_rate": ("recall", "precision", "recall_all", "pair_accuracy"),
    "pair_accuracy": ("hit_rate", "precision"),
    "mrr": ("map", "hit_rate", "precision"),
    "ndcg": ("ndcg_burges", "dcg", "ncg", "map"),
    "ndcg_burges": ("ndcg", "dcg_burges"),
    "f1": ("set_f", "precision", "recall"),
    "gm_map": ("map",),
    "auc": ("pair_accuracy",),
}


def paper_names(name: str) -> list[str]:
    """fastir's names for what a paper may mean, the likeliest first: with its cutoff, or with those that are usual."""
    found = []
    for request in (read(each)[0] for each in spoken_names(name)):
        card, cutoff = request.card, request.cutoff
        if request.params or request.level:
            found.append(str(request))
            continue
        for metric in (*[card.name] * (card.name not in SELDOM_MEANT), *PAPERS.get(card.name, ())):
            if cutoff is not None:
                found.append(f"{metric}@{cutoff}")
                continue
            found += [metric] if metric != CUTOFF_METRIC else []
            found += [f"{metric}@{k}" for k in CUTOFFS if NAMES[metric].cutoff]
    return found


def mistaken_names(meaning: str) -> tuple[str, ...]:
    """Other metrics that may have been reported under a name, with its cutoff if they have one."""
    request = read(meaning)[0]
    at = "" if request.cutoff is None else f"@{request.cutoff}"
    names = MISTAKEN_NAMES.get(request.card.name, ())
    return () if request.params or request.level else tuple(name + at * NAMES[name].cutoff for name in names)


# ---- reported values -------------------------------------------------------------------------------------------------
SLACK = 1e-12  # of a mean: tools add up in other orders
MAX_PLACES = 30


class Target(NamedTuple):
    """A value that was reported.

    Attributes
    ----------
    name : str
        As it was reported.
    value, low, high : float
        The number, and the half-open interval of numbers that are printed as it.
    meanings, others : tuple of str
        Metrics that it may mean, the likeliest first; and other metrics that may have been reported under this name.
    shown : str
        The number as it was written, with its digits.
    """

    name: str
    value: float
    low: float
    high: float
    meanings: tuple[str, ...]
    others: tuple[str, ...]
    shown: str

    @property
    def places(self) -> int:
        """The decimals that were printed."""
        return len(self.shown.partition(".")[2])

    def holds(self, mean: float) -> bool:
        return self.low - SLACK <= mean < self.high + SLACK


def read_targets(values: Mapping[str, Any], digits: SupportsIndex | None) -> list[Target]:
    """The values of one run."""
    if not isinstance(values, Mapping) or not values:
        raise ValueError("values must be a dict such as {'ndcg@10': '0.2341'}, with a value at least")
    return [target(name, value, digits) for name, value in values.items()]


def target(name: str, value: Any, digits: SupportsIndex | None) -> Target:
    number, places = read_number(name, value, digits)
    meanings = find_meanings(name)
    half = Decimal(1).scaleb(-places) / 2
    check_range(name, number, meanings, half)
    low, high = float(number - half), float(number + half)
    return Target(name, float(number), low, high, meanings, mistaken_names(meanings[0]), f"{number:.{places}f}")


def read_number(name: str, value: Any, digits: SupportsIndex | None) -> tuple[Decimal, int]:
    """The number, and how many decimals of it are known: those that a string shows, or `digits`."""
    if not isinstance(value, (str, Decimal)):
        try:
            if isinstance(value, (bytes, bool)) or type(value).__name__ in ("bool", "bool_"):
                raise TypeError
            value = int(value) if hasattr(value, "__index__") else float(value)
        except (TypeError, ValueError):
            raise TypeError(f"{name}: the value must be a number or text, got {type(value).__name__}") from None
    places = None if digits is None else whole_number("digits", digits, 1)
    try:
        number = Decimal(
            value.strip() if isinstance(value, str) else value if isinstance(value, Decimal) else repr(value)
        )
    except InvalidOperation:
        raise ValueError(f"{name}: {quote(value)} is not a number") from None
    if not number.is_finite():
        raise ValueError(f"{name}: {quote(value)} is not a finite number")
    shown = max(0, -int(number.as_tuple().exponent))
    if max(shown, places or 0, number.adjusted()) > MAX_PLACES:
        raise ValueError(f"{name}: {quote(value)} has more than {MAX_PLACES} digits")
    if isinstance(value, str):
        if places is not None and places != shown:
            raise ValueError(f"{name}: {value!r} shows {shown} decimals, and digits={places}; give one of both")
        return number, shown
    if places is not None and shown > places and round(number, places) != number:
        raise ValueError(f"{name}: {value!r} has {shown} decimals, more than digits={places}")
    return number, shown if places is None else places


def check_range(name: str, number: Decimal, meanings: tuple[str, ...], half: Decimal) -> None:
    """Refuse a number that no meaning of its name can have."""
    cards = [read(meaning)[0].card for meaning in meanings]
    low, high = min(card.low for card in cards), max(card.high for card in cards)
    most = 2 * high if any(card.beyond for card in cards) else high  # some parameters give more, but no percentages
    if float(number + half) < low or float(number - half) > most:
        percent = high == 1 and 1 < number <= 100
        hint = f"; is it a percentage? then give {number / 100}" if percent else ""
        raise ValueError(f"{name}: {number} is outside of the range of {meanings[0]}, {low:g} to {high:g}{hint}")


def find_meanings(name: str) -> tuple[str, ...]:
    """fastir's names that a reported name may mean: itself, if that is how fastir writes it."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a metric must be a str, got {type(name).__name__} {quote(name)}")
    direct = is_readable(name)
    if direct and (name == name.lower() or "(" in name):
        return (name,)
    found = [*([name] if direct else []), *paper_names(name)]
    if not found:
        read(name)  # raises, with a guess
        raise UnknownMetricError(f"metric {quote(name)} means several metrics; give one of them")
    return tuple({str(read(each)[0]): each for each in reversed(found)}.values())[::-1]


def is_understood(name: str) -> bool:
    """Whether a name means a metric, in a time that grows with its length."""
    return is_readable(name) or bool(spoken_names(name))


def is_readable(name: str) -> bool:
    """Whether fastir reads it as one metric."""
    try:
        return len(find_requests(name)) == 1
    except UnknownMetricError:
        return False
