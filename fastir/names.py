"""Metric names: name[.digits][(param=value, ...)][@k][-lN], read without regard to case, into requests."""

import re
from dataclasses import dataclass
from typing import Any

from fastir.cards import Card, Param
from fastir.catalogue import CARDS
from fastir.errors import UnknownMetricError, quote

MAX_CUTOFF = 2**63 - 1
MAX_LABEL = 2**31 - 1
MAX_WEIGHTED = 100_000      # where all ranks down to the cutoff have a weight that is added up

GRAMMAR = re.compile(
    r"(?P<name>[a-z0-9_]+(?:-[a-z0-9_]+)*?)(?:\.(?P<dot>[0-9]+))?"
    r"(?:\((?P<params>[^()]*)\))?(?:@(?P<k>[^@()-]*(?:-[^l@()][^@()]*)?))?(?:-l(?P<level>[^@()]*))?",
    re.IGNORECASE | re.DOTALL,
)

# What people ask for and what is no metric here, by the tool that has it; lower case, `-` written as `_`.
TOOLS = {"trec_eval": "relstring runid"}
ELSEWHERE = {name: tool for tool, names in TOOLS.items() for name in names.split()}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """One metric as asked for: its card, the cutoff (None: whole ranking), the relevance level and the parameters."""

    text: str
    card: Card
    cutoff: int | None
    level: int | None
    params: dict[str, Any]


def spellings() -> dict[str, Card]:
    """Every accepted name, in lower case -> its card."""
    return {name.lower(): card for card in CARDS for name in (card.name, *card.aliases)}


NAMES = spellings()


def parse(text: str) -> Request:
    """Read one metric name.

    Raises
    ------
    TypeError
        The name is not a string.
    UnknownMetricError
        The name, a parameter or the cutoff does not exist or is out of range.
    """
    if not isinstance(text, str):
        raise TypeError(f"a metric must be a str such as 'ndcg@10', got {type(text).__name__} {quote(text)}")
    if not text:
        raise UnknownMetricError("the metric name is empty; expected a metric such as 'ndcg@10'")
    match = GRAMMAR.fullmatch(text) if len(text) < 1000 else None
    if match is None:
        raise unknown(text)
    card = NAMES.get(match["name"].lower())
    if card is None:
        raise unknown(text)
    params = read_params(text, card, match["params"])
    if match["dot"] is not None:
        if card.dot is None or card.dot in params:
            raise unknown(text)
        params[card.dot] = read_value(text, param_of(text, card, card.dot), f"0.{match['dot']}")
    if card.at is not None and match["k"] is not None:
        if card.at in params:
            raise UnknownMetricError(f"metric {quote(text)}: parameter {quote(card.at)} is given twice")
        params[card.at] = read_value(text, param_of(text, card, card.at), match["k"])
    return Request(text, card, read_cutoff(text, card, match["k"]), read_level(text, match["level"]), params)


def read_cutoff(text: str, card: Card, k: str | None) -> int | None:
    if k is None or card.at is not None:
        return card.depth
    if not card.cutoff:
        raise UnknownMetricError(f"metric {quote(text)}: {card.name} takes no cutoff")
    if not re.fullmatch("[0-9]+", k):
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff k must be an integer from 1 up, got {quote(k)}")
    if len(k) > 30 or not 1 <= int(k) <= MAX_CUTOFF:
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff k must be between 1 and 2^63 - 1, got {k[:40]}")
    if card.depth is not None and int(k) > MAX_WEIGHTED:
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff of {card.name} must be at most {MAX_WEIGHTED}")
    return int(k)


def read_level(text: str, level: str | None) -> int | None:
    if level is None:
        return None
    if not re.fullmatch("[0-9]{1,10}", level) or not 1 <= int(level) <= MAX_LABEL:
        raise UnknownMetricError(f"metric {quote(text)}: the relevance level must be an integer from 1 up, "
                                 f"got {quote(level)}")
    return int(level)


def param_of(text: str, card: Card, name: str) -> Param:
    for param in card.params:
        if name in (param.name.lower(), *param.aliases):
            return param
    known = ", ".join(param.name for param in card.params) or "none"
    raise UnknownMetricError(f"metric {quote(text)}: {card.name} has no parameter {quote(name)}; "
                             f"its parameters: {known}")


def read_params(text: str, card: Card, inside: str | None) -> dict[str, Any]:
    params: dict[str, Any] = {}
    if inside is None or not inside.strip():
        return params
    for part in re.split(r",(?![^{]*\})", inside):
        name, sign, value = part.partition("=")
        name = name.strip().lower()
        if not sign or not name:
            raise UnknownMetricError(f"metric {quote(text)}: parameters are written name=value, got {quote(part)}")
        param = param_of(text, card, name)
        if param.name in params:
            raise UnknownMetricError(f"metric {quote(text)}: parameter {quote(name)} is given twice")
        params[param.name] = read_value(text, param, value.strip().strip("'\""))
    return params


def read_value(where: str, param: Param, value: object) -> Any:
    """A parameter's value from text or from Python: one of its words, a number in its range, or gains of labels.

    `where` is the metric that it stands in, or the parameter's own name where it is a keyword of evaluate().
    """
    if isinstance(value, str):
        for choice in param.choices:
            if value.lower() == choice.lower():
                return choice
    number = number_of(value)
    if number is not None and param.holds(number):
        return int(number) if param.integer else float(number)
    gains = read_gains(value) if param.mapping else None
    if gains is not None:
        return gains
    place = "" if where == param.name else f"metric {quote(where)}: "
    raise UnknownMetricError(f"{place}{param.name} must be {param.accepted()}, got {quote(value)}")


def number_of(value: object) -> Any:
    """A number, also one written as text; else None."""
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return float(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def read_gains(value: Any) -> "Gains | None":
    """{label: gain} or its text as Gains, None if it is something else."""
    if isinstance(value, str):
        inside = re.fullmatch(r"\{(.*)\}", value, re.DOTALL)
        if inside is None:
            return None
        pairs = [tuple(number_of(part.strip()) for part in pair.split(":")) for pair in inside[1].split(",")]
    elif hasattr(value, "items"):
        pairs = [(number_of(label), number_of(gain)) for label, gain in value.items()]
    else:
        return None
    if not pairs or any(len(pair) != 2 or None in pair for pair in pairs):
        return None
    if any(label != label // 1 or not -2 <= label <= MAX_LABEL or abs(gain) > 1e300 for label, gain in pairs):
        return None
    gains = Gains((int(label), float(gain)) for label, gain in pairs)
    return gains if len(gains) == len(pairs) else None


class Gains(dict):
    """{label: gain}, which prints as it is written in a metric's name."""

    def __str__(self) -> str:
        return "{" + ", ".join(f"{label}:{gain:g}" for label, gain in self.items()) + "}"


def unknown(text: str) -> UnknownMetricError:
    """The error for a name that does not exist, with the nearest that do."""
    base, rest = re.fullmatch(r"(.*?)((?:[@(.].*|-l[0-9]*)?)", text[:200], re.DOTALL).groups()  # type: ignore
    base = base[:64].lower()
    tool = ELSEWHERE.get(re.sub(r"_[0-9]+$", "", base.replace("-", "_")))
    if tool:
        return UnknownMetricError(f"metric {quote(text)} is not supported; {tool} has it")
    if base in NAMES:
        return UnknownMetricError(f"metric {quote(text)} is malformed; expected name(param=value, ...)@k-lN")
    near = nearest(base, rest) or nearest(base, "")
    if near:
        return UnknownMetricError(f"unknown metric {quote(text)}; did you mean {' or '.join(map(repr, near))}?")
    return UnknownMetricError(f"unknown metric {quote(text)}; fastir.metrics() lists the {len(CARDS)} that there are")


def nearest(base: str, rest: str) -> list[str]:
    """Up to three metrics spelt much like this one, with its parameters and cutoff; P_5 is P@5, ndcg_cut_10 ndcg@10."""
    import difflib

    base, cutoff = re.fullmatch("(.*?)(?:(?:_cut)?_([0-9]+))?", base, re.DOTALL).groups()  # type: ignore
    tail = f"@{cutoff}{rest}" if cutoff else rest
    alike = [name + tail for name in NAMES if difflib.SequenceMatcher(None, base, name).ratio() >= 0.5]
    near = difflib.get_close_matches(base + tail, alike, n=len(NAMES), cutoff=0.6)
    return [guess for guess in near if is_metric(guess)][:3]


def is_metric(text: str) -> bool:
    try:
        parse(text)
    except UnknownMetricError:
        return False
    return True


def explain(metric: str) -> str:
    """Say what a metric name means.

    Parameters
    ----------
    metric : str
        A metric name such as ``"ndcg@10"``.

    Returns
    -------
    str
        A line each: summary, names, formula, depth, the value of each parameter with the values that it takes, range,
        aggregation, undefined cases, source, and where other programs differ.

    Raises
    ------
    UnknownMetricError
        No metric is called so, or it has no such cutoff or parameter.
    TypeError
        The name is not a str.
    """
    request = parse(metric)
    card = request.card
    lines = [f"{metric}: {card.summary}", f"  canonical name  {card.name}"]
    if card.aliases:
        lines.append(f"  also written    {', '.join(card.aliases)}")
    lines.append(f"  formula         {card.formula}")
    if card.cutoff:
        first = f"the first {request.cutoff} documents; places that a shorter ranking lacks hold nothing"
        lines.append(f"  depth           {'the whole ranking' if request.cutoff is None else first}")
    if card.groups:
        lines.append("  groups          averaged over the subtopics or groups of judges of the qrels")
    if request.level is not None:
        lines.append(f"  relevant        label >= {request.level}; lower labels have no gain")
    for param in card.params:
        value = request.params.get(param.name, param.default)
        lines.append(f"  {param.name:<15} {value}  ({param.accepted()}; {param.meaning})")
    lines.append(f"  range           {card.range}")
    lines.append(f"  over queries    {card.aggregate}")
    lines.append(f"  undefined       {card.undefined}")
    lines.append(f"  source          {card.source}")
    if card.differs:
        lines.append(f"  differs         {card.differs}")
    return "\n".join(lines)


def metrics() -> tuple[Card, ...]:
    """The cards of all metrics: what each is called, means and accepts.

    Returns
    -------
    tuple of Card
        In the order of the documentation: counts, binary metrics, graded metrics.
    """
    return CARDS
