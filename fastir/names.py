"""Metric names: name[.digits][(param=value, ...)][@k][-lN], read without regard to case, into requests."""

import re
from dataclasses import dataclass

from fastir._metrics import CARDS
from fastir.errors import UnknownMetricError, quote

MAX_CUTOFF = 2**63 - 1
MAX_LABEL = 2**31 - 1

GRAMMAR = re.compile(
    r"(?P<name>[a-z0-9_]+(?:-[a-z0-9_]+)*?)(?:\.(?P<dot>[0-9]+))?"
    r"(?:\((?P<params>[^()]*)\))?(?:@(?P<k>[^@()-]*(?:-[^l@()][^@()]*)?))?(?:-l(?P<level>[^@()]*))?",
    re.IGNORECASE | re.DOTALL,
)

# Metrics of other tools that people ask for and that are not here (yet).
ELSEWHERE = {
    "alpha_ndcg": "ir_measures", "alpha_dcg": "ir_measures", "err_ia": "ir_measures", "nerr_ia": "ir_measures",
    "nrbp": "ir_measures", "nnrbp": "ir_measures", "strecall": "ir_measures", "compat": "ir_measures",
    "judged": "ir_measures", "inst": "ir_measures", "insq": "ir_measures", "bpm": "ir_measures", "sdcg": "ir_measures",
    "infap": "trec_eval", "gm_map": "trec_eval", "gm_bpref": "trec_eval", "11pt_avg": "trec_eval", "iprec": "trec_eval",
    "utility": "trec_eval", "yaap": "trec_eval", "unj": "trec_eval", "rndcg": "trec_eval", "binq": "trec_eval",
    "rbp_resid": "trec_eval", "ndcg_rel": "trec_eval",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """One metric as asked for: its card, the cutoff (None: whole ranking), the relevance level and the parameters."""

    text: str
    card: object
    cutoff: int | None
    level: int | None
    params: dict


def spellings():
    """Every accepted name, in lower case -> its card."""
    return {name.lower(): card for card in CARDS for name in (card.name, *card.aliases)}


NAMES = spellings()


def parse(text):
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


def read_cutoff(text, card, k):
    if k is None:
        return None
    if not card.cutoff:
        raise UnknownMetricError(f"metric {quote(text)}: {card.name} takes no cutoff")
    if not re.fullmatch("[0-9]+", k):
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff must be an integer from 1 up, got {quote(k)}")
    if len(k) > 30 or not 1 <= int(k) <= MAX_CUTOFF:
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff must be between 1 and 2^63 - 1, got {k[:40]}")
    return int(k)


def read_level(text, level):
    if level is None:
        return None
    if not re.fullmatch("[0-9]{1,10}", level) or not 1 <= int(level) <= MAX_LABEL:
        raise UnknownMetricError(f"metric {quote(text)}: the relevance level must be an integer from 1 up, got {quote(level)}")
    return int(level)


def param_of(text, card, name):
    for param in card.params:
        if param.name == name:
            return param
    known = ", ".join(param.name for param in card.params) or "none"
    raise UnknownMetricError(f"metric {quote(text)}: {card.name} has no parameter {quote(name)}; its parameters: {known}")


def read_params(text, card, inside):
    params = {}
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


def read_value(where, param, value):
    """A parameter's value from text or from Python: one of its words, or a number in its range."""
    if isinstance(value, str):
        for choice in param.choices:
            if value.lower() == choice.lower():
                return choice
    number = value
    if isinstance(value, str) and re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", value, re.IGNORECASE):
        number = float(value)
    if param.low is not None and isinstance(number, (int, float)) and not isinstance(number, bool):
        if param.low < number < param.high and (not param.integer or number == int(number)):
            return int(number) if param.integer else float(number)
    words = list(param.choices)
    if param.low is not None:
        kind = "an integer" if param.integer else "a number"
        words.append(f"{kind} between {param.low:g} and {param.high:g} (exclusive)")
    raise UnknownMetricError(f"metric {quote(where)}: {param.name} must be {' or '.join(words)}, got {quote(value)}")


def unknown(text):
    """The error for a name that does not exist, with the nearest that do."""
    import difflib

    base, rest = re.match(r"([^@(.]*)(.*)", text, re.DOTALL).groups()
    base = base[:64].lower()
    if base in ELSEWHERE:
        return UnknownMetricError(f"metric {quote(text)} is not supported; {ELSEWHERE[base]} has it")
    if base in NAMES:
        return UnknownMetricError(f"metric {quote(text)} is malformed; expected name(param=value, ...)@k-lN")
    tail = rest if len(rest) < 40 else ""
    near = difflib.get_close_matches(base + tail, [name + tail for name in NAMES], n=3, cutoff=0.6)
    if near:
        return UnknownMetricError(f"unknown metric {quote(text)}; did you mean {' or '.join(map(repr, near))}?")
    return UnknownMetricError(f"unknown metric {quote(text)}; known metrics: {', '.join(card.name for card in CARDS)}")


def explain(metric):
    """Say what a metric name means.

    Parameters
    ----------
    metric : str
        A metric name such as ``"ndcg@10"``.

    Returns
    -------
    str
        Summary, formula, undefined cases, parameters in force and source, a line each.

    Raises
    ------
    UnknownMetricError, TypeError
        As `evaluate` would.
    """
    request = parse(metric)
    card = request.card
    depth = "the whole ranking" if request.cutoff is None else f"the first {request.cutoff} documents"
    lines = [f"{metric}: {card.summary}", f"  canonical name  {card.name}"]
    if card.aliases:
        lines.append(f"  also written    {', '.join(card.aliases)}")
    lines.append(f"  formula         {card.formula}")
    if card.cutoff:
        lines.append(f"  depth           {depth}")
    if request.level is not None:
        lines.append(f"  relevant        label >= {request.level}; lower labels have no gain")
    for param in card.params:
        value = request.params.get(param.name, param.default)
        lines.append(f"  {param.name:<15} {value}  ({param.meaning})")
    lines += [f"  range           {card.range}", f"  over queries    {card.aggregate}", f"  undefined       {card.undefined}"]
    lines.append(f"  source          {card.source}")
    if card.differs:
        lines.append(f"  differs         {card.differs}")
    return "\n".join(lines)


def metrics():
    """The cards of all metrics, in the order of the documentation.

    Returns
    -------
    tuple of Card
    """
    return CARDS
