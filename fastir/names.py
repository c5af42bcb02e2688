"""Metric names: name[.digits][(param=value, ...)][@k][-lN], read without regard to case, into requests."""

import re
from dataclasses import dataclass
from typing import Any

from fastir._metrics import CARDS
from fastir.cards import Card, Param
from fastir.errors import UnknownMetricError, quote

MAX_CUTOFF = 2**63 - 1
MAX_LABEL = 2**31 - 1

GRAMMAR = re.compile(
    r"(?P<name>[a-z0-9_]+(?:-[a-z0-9_]+)*?)(?:\.(?P<dot>[0-9]+))?"
    r"(?:\((?P<params>[^()]*)\))?(?:@(?P<k>[^@()-]*(?:-[^l@()][^@()]*)?))?(?:-l(?P<level>[^@()]*))?",
    re.IGNORECASE | re.DOTALL,
)

# Metrics that people ask for and that are not here (yet), by the tool that has them; lower case, `-` written as `_`.
TOOLS = {
    "ir_measures": "accuracy alpha_dcg alpha_ndcg ap_ia bpm compat err_ia insq inst judged map_ia nerr_ia nnrbp nrbp "
                   "p_ia sdcg setap setf setrelp strecall",
    "trec_eval": "11pt_avg bing g gm_bpref gm_map ideal_dcg infap iprec iprec_at_recall ndcg_rel num_nonrel_judged_ret "
                 "rbp_resid relative_p relstring rndcg rprec_mult runid set_map set_relative_p unj utility yaap",
}  # fmt: skip
ELSEWHERE = {name: tool for tool, names in TOOLS.items() for name in names.split()}


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
    return Request(text, card, read_cutoff(text, card, match["k"]), read_level(text, match["level"]), params)


def read_cutoff(text: str, card: Card, k: str | None) -> int | None:
    if k is None:
        return None
    if not card.cutoff:
        raise UnknownMetricError(f"metric {quote(text)}: {card.name} takes no cutoff")
    if not re.fullmatch("[0-9]+", k):
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff k must be an integer from 1 up, got {quote(k)}")
    if len(k) > 30 or not 1 <= int(k) <= MAX_CUTOFF:
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff k must be between 1 and 2^63 - 1, got {k[:40]}")
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
        if param.name == name:
            return param
    known = ", ".join(param.name for param in card.params) or "none"
    raise UnknownMetricError(f"metric {quote(text)}: {card.name} has no parameter {quote(name)}; "
                             f"its parameters: {known}")


def read_params(text: str, card: Card, inside: str | None) -> dict[str, Any]:
    params: dict[str, Any] = {}
    if inside is None or not inside.strip():
        return params
    for part in inside.split(","):
        name, sign, value = part.partition("=")
        name = name.strip().lower()
        if not sign or not name:
            raise UnknownMetricError(f"metric {quote(text)}: parameters are written name=value, got {quote(part)}")
        if name in params:
            raise UnknownMetricError(f"metric {quote(text)}: parameter {quote(name)} is given twice")
        params[name] = read_value(text, param_of(text, card, name), value.strip().strip("'\""))
    return params


def read_value(where: str, param: Param, value: object) -> str | float:
    """A parameter's value from text or from Python: one of its words, or a number in its range.

    `where` is the metric that it stands in, or the parameter's own name where it is a keyword of evaluate().
    """
    if isinstance(value, str):
        for choice in param.choices:
            if value.lower() == choice.lower():
                return choice
    number = value
    if isinstance(value, str) and re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", value, re.IGNORECASE):
        number = float(value)
    low, high = param.low, param.high
    if low is not None and high is not None and isinstance(number, (int, float)) and not isinstance(number, bool):
        if low < number < high and (not param.integer or number == int(number)):
            return int(number) if param.integer else float(number)
    place = "" if where == param.name else f"metric {quote(where)}: "
    raise UnknownMetricError(f"{place}{param.name} must be {param.accepted()}, got {quote(value)}")


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
    return UnknownMetricError(f"unknown metric {quote(text)}; known metrics: {', '.join(card.name for card in CARDS)}")


def nearest(base: str, rest: str) -> list[str]:
    """Up to three metrics spelt much like this one, with its parameters and cutoff; P_5 is P@5, ndcg_cut_10 ndcg@10."""
    import difflib

    base, cutoff = re.fullmatch("(.*?)(?:(?:_cut)?_([0-9]+))?", base, re.DOTALL).groups()  # type: ignore
    tail = f"@{cutoff}{rest}" if cutoff else rest
    near = difflib.get_close_matches(base + tail, [name + tail for name in NAMES], n=len(NAMES), cutoff=0.6)
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
