"""Metric names in every dialect, read without regard to case, into requests.

    fastir, ranx, ir_measures, BEIR, LightGBM, XGBoost    name[.digits][(param=value, ...)][@k][-lN][-]
    trec_eval                                             name_k  name.k,k  name_params  families  nicknames
    MTEB                                                  name_at_k

The cards say which names exist. Some names mean one thing to one tool and another to the next; such a name is read in
the dialect of the convention (`DIALECTS`; fastir's own by default), and only `read` looks at the dialect.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from fastir.declared import Param, Record, Table
from fastir.engine.measure import CARDS
from fastir.engine.measure.cards import Card, Numbers
from fastir.errors import UnknownMetricError, quote

MAX_CUTOFF = 2**63 - 1
MAX_LABEL = 2**31 - 1
MAX_WEIGHTED = 100_000  # the largest cutoff for metrics that add up a weight for each rank down to it


# trec_eval's lists, in the order in which it prints them, without runid and relstring, which are not numbers.
COUNTS = "num_q num_ret num_rel num_rel_ret"
OFFICIAL = f"{COUNTS} map gm_map Rprec bpref recip_rank iprec_at_recall P"
PREFS = "num_prefs_poss num_prefs_ful num_prefs_ful_ret simp pair avgjg"
ALL_PREFS = f"{PREFS} avgjg_Rnonrel simp_ret pair_ret avgjg_ret avgjg_Rnonrel_ret simp_imp pair_imp avgjg_imp"
SETS = "set_P set_relative_P set_recall set_map set_F"
NICKNAMES = {
    "official": OFFICIAL,
    "set": f"{COUNTS} utility {SETS}",
    "all_trec": f"{OFFICIAL} recall infAP gm_bpref Rprec_mult utility 11pt_avg binG G ndcg ndcg_rel Rndcg ndcg_cut "
    f"map_cut relative_P success {SETS} num_nonrel_judged_ret rbp rbp_resid unj",
    "qrels_jg": "map_avgjg P_avgjg Rprec_mult_avgjg",
    **{
        nickname: " ".join(f"prefs_{name}" for name in names.split())
        for nickname, names in {"prefs": PREFS, "all_prefs": ALL_PREFS}.items()
    },
}
# ir_measures' metrics that become another metric if a parameter is given.
METRICS_BY_PARAMETER = {card.becomes[0]: (card.name, card.becomes[1]) for card in CARDS if card.becomes}


@functools.cache
def grammar() -> re.Pattern[str]:
    """The form of a name, except in trec_eval and MTEB; compiled when the first name is read, not by the import."""
    return re.compile(
        r"(?P<name>[a-z0-9_α]+(?:-[a-z0-9_α]+)*?)(?:\.(?P<dot>[0-9]+))?(?:\((?P<params>[^()]*)\))?"
        r"(?:@(?P<k>[^@()-]*(?:-[^l@()-][^@()-]*)?))?(?:-l(?P<level>[^@()]*))?(?P<minus>-)?",
        re.IGNORECASE | re.DOTALL,
    )


def is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", text, re.IGNORECASE) is not None


class Request(Record):
    """One requested metric: its card, the cutoff (None: whole ranking), the relevance level and the parameters.

    `text` is the name of its value in the results; str() gives fastir's own spelling.
    """

    text: str
    card: Card
    cutoff: int | None
    level: float | None
    params: dict[str, Any]

    def relevant_from(self, level: float) -> float:
        """The label from which on documents are relevant to it, where the options say `level`."""
        return level if self.level is None else self.level

    def all_params(self) -> dict[str, Any]:
        """The value of each parameter of the card, defaults included."""
        return {param.name: self.params.get(param.name, param.default) for param in self.card.params}

    def __str__(self) -> str:
        at = self.card.at
        params = ", ".join(f"{name}={value_text(value)}" for name, value in self.params.items() if name != at)
        place = self.params.get(at) if at else self.cutoff
        return (
            self.card.name
            + (f"({params})" if params else "")
            + (f"@{value_text(place)}" if place is not None else "")
            + (f"-l{value_text(self.level)}" if self.level is not None else "")
        )


METRICS = Table("metric", CARDS, ("family",), spell=str.lower, error=UnknownMetricError)
NAMES = METRICS.spellings  # every accepted name, in lower case -> its card
FAMILIES = {card.family.lower(): card for card in CARDS if card.family}
# Families that share their name with a metric: only trec_eval's dialect reads it as the family.
SINGLE_FAMILIES = {
    name for name, card in FAMILIES.items() if name in (alias.lower() for alias in (card.name, *card.aliases))
}
DIALECT_NAMES = {(dialect, name.lower()): card for card in CARDS for dialect, name in card.only_in}
DIALECTS = tuple(dict.fromkeys(("fastir", "trec_eval", "ranx", *(dialect for dialect, _ in DIALECT_NAMES))))


def read(text: str, dialect: str = "fastir") -> list[Request]:
    """Read a name: one request, or one for each member of a family or nickname, named as trec_eval prints them."""
    check_text(text)
    if not text:
        raise UnknownMetricError("the metric name is empty; expected a metric such as 'ndcg@10'")
    try:
        if requests := find_requests(text, dialect):
            return requests
    except UnknownMetricError as error:
        from fastir.request.suggest import guess_error

        raise guess_error(text, error, is_metric) from None
    from fastir.request.suggest import unknown_error

    raise unknown_error(text, is_metric)


def find_requests(text: str, dialect: str = "fastir") -> list[Request]:
    """The requests for a name, as `read` returns them; empty if there is no such name."""
    base, at, place = text.partition("@")
    if base.isascii() and base.replace("_", "").isalnum() and (place.isascii() and place.isdigit() if at else True):
        parts: Any = base, None, None, place or None, None, None  # most names: compiling the grammar takes long
    else:
        match = grammar().fullmatch(text) if len(text) < 1000 else None
        parts = match and match.groups()
    if parts is not None:
        name, dot, inside, k, level, minus = parts
        name = name.lower()
        card = DIALECT_NAMES.get((dialect, name)) or NAMES.get(name)
        family = len(name) == len(text) and name in FAMILIES and (dialect == "trec_eval" or name not in SINGLE_FAMILIES)
        if card is not None and card.at_r and k in ("R", "r"):
            card, k = NAMES[card.at_r], None
        if card is not None and not family and (dot is None or card.dot is not None):
            pairs = read_pairs(text, inside) if inside else []
            if dialect == "ranx" and card.dot is not None and dot is None and k is not None and k.isdecimal():
                dot, k = k, None
            if dot is not None and card.dot is not None:
                pairs.append((card.dot, f"0.{dot}"))
            if minus is not None:
                pairs.append(("empty", "zero"))
            return [make_request(text, card, pairs, k, level)]
    return read_trec(text) if len(text) < 10_000 else []


def read_card(text: str, table: Table[Card]) -> Request:
    """Read ``name(param=value, ...)@k`` of cards that are no metrics; the request has every parameter."""
    check_text(text)
    match = grammar().fullmatch(re.sub(r"\s", "", text)) if len(text) < 1000 else None
    name, dot, inside, k, level, minus = match.groups() if match is not None else (text[:64], *[None] * 5)
    card = table.find(name)
    if match is None or dot or level or minus:
        raise UnknownMetricError(f"{table.kind} {quote(text)} is malformed; expected name(param=value, ...)@k")
    request = make_request(text, card, read_pairs(text, inside) if inside else [], k, None)
    return request._replace(params=request.all_params())


def split(word: str) -> list[str]:
    """The names in a word, between commas outside of brackets; a number is another cutoff of the name before it."""
    if is_metric(word):  # such as trec_eval's utility.1,-1,0,0
        return [word]
    names: list[str] = []
    for part in between_commas(word):
        if names and re.fullmatch(r"[\d.]+", part.strip()):
            base, at, _ = names[-1].rpartition("@")
            if at:
                names.append(f"{base}@{part.strip()}")
            else:  # trec_eval's own way, as in P.5,10
                names[-1] += f",{part.strip()}"
        elif part.strip():
            names.append(part.strip())
    return names


def between_commas(word: str) -> list[str]:
    """The parts of a word between its commas outside of brackets."""
    return re.split(r",(?![^()]*\))", word)


def is_metric(text: str) -> bool:
    """Whether a text is the name of a metric."""
    try:
        return bool(find_requests(text))
    except UnknownMetricError:
        return False


def spoken_names(text: str) -> list[str]:
    """The metrics that a name outside the grammar means, such as "nDCG at 10"; may be empty."""
    from fastir.request.suggest import find_meanings

    return find_meanings(text, is_metric)


def metric_text(metric: Any) -> str:
    """The name of a metric as a plain str; a measure of ir_measures, recognised by its module, prints its name."""
    if is_measure(metric):
        return str(metric)
    check_text(metric)
    if hasattr(metric, "function"):
        raise TypeError(
            f"metric {quote(str.__str__(metric))} is a custom metric, which has no formula, and this call needs a "
            "formula; the evaluate functions, Evaluator, Partial, Spark and compare take custom metrics"
        )
    return str.__str__(metric)


def is_measure(metric: object) -> bool:
    """Whether an object is a measure of ir_measures, which is not imported for it."""
    return type(metric).__module__.startswith("ir_measures.") and hasattr(metric, "NAME")


def check_text(metric: object) -> None:
    """Refuse a metric's name that is not a string."""
    refuse_mapping(metric)
    if not isinstance(metric, str):
        raise TypeError(f"a metric must be a str such as 'ndcg@10', got {type(metric).__name__} {quote(metric)}")


def refuse_mapping(metrics: object) -> None:
    """Refuse a mapping such as ``{"ndcg": 10}``: only its keys would be read. Values of None say nothing."""
    if not isinstance(metrics, Mapping) or all(value is None for value in metrics.values()):
        return
    names = [f"{name}@{k}" for name, value in metrics.items() if "@" not in str(name) for k in as_cutoffs(value)]
    written = ", ".join(map(repr, names[:4])) or "a cutoff behind the name, as in 'ndcg@10'"
    got = f"{type(metrics).__name__} {quote(metrics)}"
    raise TypeError(f"metrics must be a str or an iterable of str, got {got}; write {written}")


def as_cutoffs(value: object) -> list[int]:
    """The cutoffs in a value of a mapping that is given instead of metrics; none if it holds anything else."""
    several = value if isinstance(value, (list, tuple, range)) else [value]
    return [k for k in several if isinstance(k, int) and not isinstance(k, bool) and k > 0]


def read_pairs(text: str, inside: str) -> list[tuple[str, str]]:
    """The (name, value) pairs between parentheses."""
    pairs = []
    for part in re.split(r",(?![^{]*\})", inside) if "{" in inside else inside.split(",") if inside.strip() else ():
        name, sign, value = part.partition("=")
        name = name.strip().lower()
        if not sign or not name:
            raise UnknownMetricError(f"metric {quote(text)}: parameters are written name=value, got {quote(part)}")
        pairs.append((name, value.strip().strip("'\"")))
    return pairs


def make_request(text: str, card: Card, pairs: list[tuple[str, str]], k: str | None, level: str | None) -> Request:
    """The request for a card, from texts: parameters by name, the text behind @, and the relevance level."""
    if k is not None and card.at is not None:
        pairs.append((card.at, k))
        k = None
    params: dict[str, Any] = {}
    for name, value in pairs:
        if card.name in METRICS_BY_PARAMETER.get(name, ()):
            card = NAMES[METRICS_BY_PARAMETER[name][value.lower() != "false"]]
            if name == "relative":
                continue
        if name == "rel" and not card.graded:
            twice, level = level is not None, value
        elif name == "cutoff" and card.cutoff:
            twice, k = k is not None, value
        elif name == "judged_only" and card.reads:
            twice = name in params
            params[name] = read_flag(text, name, value)
        else:
            param = find_param(text, card, name)
            twice = param.name in params
            params[param.name] = read_value(text, param, value)
        if twice:
            raise UnknownMetricError(f"metric {quote(text)}: {quote(name)} is given twice")
    return Request(text, card, read_cutoff(text, card, k), read_level(text, level), params)


def read_trec(text: str) -> list[Request]:
    """The requests for a name that only trec_eval or MTEB would write; empty if it is not such a name."""
    lower = text.lower()
    if lower in NICKNAMES:
        return [request for name in NICKNAMES[lower].split() for request in read(name, "trec_eval")]
    if lower in FAMILIES:
        return [member(FAMILIES[lower], value) for value in FAMILIES[lower].members]
    base, _, k = lower.rpartition("_at_")
    if base in NAMES and NAMES[base].cutoff and k.isdecimal():
        return [make_request(text, NAMES[base], [], k, None)]
    ends = [i for i, letter in enumerate(lower) if letter in "_." and lower[:i] in NAMES]
    if not ends:
        return []
    base, separator, rest = lower[: ends[-1]], text[ends[-1]], text[ends[-1] + 1 :]
    if base in FAMILIES:
        card = FAMILIES[base]
        values = rest.split(",")
        if not all(map(is_number, values)):
            return []
        requests = [make_request(text, card, [], value, None) for value in values]
        if separator == "_" and len(requests) == 1:
            return requests
        wanted: set[Any] = {request.params[card.at] if card.at else request.cutoff for request in requests}
        return [member(card, value) for value in sorted(wanted)]
    return read_trec_params(text, NAMES[base], rest.split(","))


def member(card: Card, value: float) -> Request:
    """A member of a card's family, named as trec_eval prints it."""
    if card.at is None:
        return Request(f"{card.family}_{value}", card, int(value), None, {})
    printed = f"{value:.2f}" if round(value, 2) == value else repr(value)
    return Request(f"{card.family}_{printed}", card, None, None, {card.at: value})


def read_trec_params(text: str, card: Card, parts: list[str]) -> list[Request]:
    """trec_eval's parameters: by position, as utility_1,-1,0,0; by name, as rbp_p=0.8; or gains, as ndcg_1=3,2=9."""
    if not any("=" in part for part in parts):
        first = card.params[: card.positional]
        if first and first[0].many:
            parts = ["{" + ",".join(parts) + "}"]
        if not first or len(first) != len(parts):
            return []
        pairs = [(param.name, part) for param, part in zip(first, parts, strict=True)]
        return [make_request(text, card, pairs, None, None)]
    split = [part.partition("=") for part in parts]
    pairs = [(name.lower(), value) for name, _, value in split if not is_number(name)]
    gains = ",".join(f"{name}:{value}" for name, _, value in split if is_number(name))
    if gains:
        mapping = [param.name for param in card.params if param.mapping]
        pairs += [(name, f"{{{gains}}}") for name in mapping]
        if not mapping:
            return []
    return [make_request(text, card, pairs, None, None)]


def read_cutoff(text: str, card: Card, k: str | None) -> int | None:
    if k is None or card.at is not None:
        return card.depth
    if not card.cutoff:
        raise UnknownMetricError(f"metric {quote(text)}: {card.name} takes no cutoff")
    if not (k.isascii() and k.isdigit()):
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff k must be an integer from 1 up, got {quote(k)}")
    if len(k) > 30 or not 1 <= int(k) <= MAX_CUTOFF:
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff k must be between 1 and 2^63 - 1, got {k[:40]}")
    if card.depth is not None and int(k) > MAX_WEIGHTED:
        raise UnknownMetricError(f"metric {quote(text)}: the cutoff of {card.name} must be at most {MAX_WEIGHTED}")
    return int(k)


def read_level(text: str, level: str | None) -> float | None:
    if level is None:
        return None
    number = float(level) if is_number(level) else 0.0
    if not 0 < number <= MAX_LABEL:
        raise UnknownMetricError(
            f"metric {quote(text)}: the relevance level must be a number above 0 and at most {MAX_LABEL}, "
            f"got {quote(level)}"
        )
    return int(number) if number == int(number) else number


def find_param(text: str, card: Card, name: str) -> Param:
    for param in card.params:
        if name in (param.name.lower(), *param.aliases):
            return param
    params = ", ".join(param.name for param in card.params) or "none"
    raise UnknownMetricError(
        f"metric {quote(text)}: {card.name} has no parameter {quote(name)}; its parameters: {params}"
    )


def read_value(where: str, param: Param, value: object) -> Any:
    """A parameter's value from text or from Python: one of its words, a number in its range, or gains of labels.

    `where` is the metric that has it, or the parameter's own name where it is a keyword of evaluate().
    """
    if isinstance(value, (str, bool)):
        word = str(value).lower()
        for choice in param.choices:
            if word == choice.lower():
                return choice
        for synonym, choice in param.synonyms:
            if word == synonym:
                return choice
    number = None if param.many else as_number(value)
    if number is not None and param.holds(number):
        return int(number) if param.integer else float(number)
    value_read = read_gains(value) if param.mapping else read_numbers(value, param) if param.many else None
    if value_read is not None:
        return value_read
    place = "" if where == param.name else f"metric {quote(where)}: "
    raise UnknownMetricError(f"{place}{param.name} must be {param.accepted_text()}, got {quote(value)}")


def read_flag(text: str, name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise UnknownMetricError(f"metric {quote(text)}: {name} must be true or false, got {quote(value)}")
    return value.lower() == "true"


def as_number(value: object) -> Any:
    """A number, which may be written as text; else None."""
    if isinstance(value, str) and is_number(value):
        return float(value)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def read_gains(value: Any) -> Gains | None:
    """{label: gain} or its text as Gains, None if it is something else."""
    if isinstance(value, str):
        inside = re.fullmatch(r"\{(.*)\}", value, re.DOTALL)
        if inside is None:
            return None
        pairs = [tuple(as_number(part.strip()) for part in pair.split(":")) for pair in inside[1].split(",")]
    elif hasattr(value, "items"):
        pairs = [(as_number(label), as_number(gain)) for label, gain in value.items()]
    else:
        return None
    if not pairs or any(len(pair) != 2 or None in pair for pair in pairs):
        return None
    if any(
        not -2 <= label <= MAX_LABEL or (label < 0 and label != int(label)) or abs(gain) > 1e300
        for label, gain in pairs
    ):
        return None
    gains = Gains((int(label) if label == int(label) else float(label), float(gain)) for label, gain in pairs)
    return gains if len(gains) == len(pairs) else None


def read_numbers(value: Any, param: Param) -> Numbers | None:
    """{0.25, 0.5} from text as Numbers, in ascending order; None if it is something else."""
    inside = re.fullmatch(r"\{(.*)\}", value, re.DOTALL) if isinstance(value, str) else None
    numbers = [as_number(part.strip()) for part in inside[1].split(",")] if inside else []
    if None in numbers or not 1 <= len(numbers) <= param.many or not all(map(param.holds, numbers)):
        return None
    return Numbers(sorted(numbers))


class Gains(dict[float, float]):
    """{label: gain}, printed in the form of a metric's name; immutable, so that it can be hashed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __str__(self) -> str:
        return "{" + ", ".join(f"{label}:{value_text(gain)}" for label, gain in self.items()) + "}"


def value_text(value: object) -> str:
    """A parameter's value in the form of a metric's name."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(int(value)) if isinstance(value, float) and abs(value) < 1e15 and value == int(value) else str(value)
