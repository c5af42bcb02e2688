"""The answer to a metric that does not exist: the nearest that do. Imported when one is asked for."""

import difflib
import re

from fastir.errors import UnknownMetricError, quote
from fastir.request.names import CARDS, LOCAL, NAMES, read

# What people ask for and what is no metric here, by the tool that has it; lower case, `-` written as `_`.
TOOLS = {"trec_eval": "relstring runid prefs all_prefs"}
ELSEWHERE = {name: tool for tool, names in TOOLS.items() for name in names.split()}


def unknown(text: str) -> UnknownMetricError:
    """The error for a name that does not exist, with the nearest that do."""
    base, rest = re.fullmatch(r"(.*?)((?:[@(.].*|-l[0-9]*)?)", text[:200], re.DOTALL).groups()  # type: ignore
    base = base[:64].lower()
    tool = ELSEWHERE.get(re.sub(r"_[0-9]+$", "", base.replace("-", "_")))
    if tool:
        return UnknownMetricError(f"metric {quote(text)} is not supported; {tool} has it")
    meanings = [
        f"{card.name + rest!r} to {dialect}"
        for (dialect, name), card in LOCAL.items()
        if name == base and is_metric(card.name + rest)
    ]
    if meanings:
        return UnknownMetricError(f"metric {quote(text)} means {', '.join(meanings)}; ask for one of these")
    if base in NAMES:
        return UnknownMetricError(f"metric {quote(text)} is malformed; expected name(param=value, ...)@k-lN")
    near = nearest(base, rest) or nearest(base, "")
    if near:
        return UnknownMetricError(f"unknown metric {quote(text)}; did you mean {' or '.join(map(repr, near))}?")
    return UnknownMetricError(f"unknown metric {quote(text)}; fastir.metrics() lists the {len(CARDS)} that there are")


def nearest(base: str, rest: str) -> list[str]:
    """Up to three metrics spelt much like this one, with its parameters and cutoff; ndgc_10 is near ndcg@10."""
    base, cutoff = re.fullmatch("(.*?)(?:(?:_cut|_at)?_([0-9]+))?", base, re.DOTALL).groups()  # type: ignore
    tail = f"@{cutoff}{rest}" if cutoff else rest
    alike = {
        name + tail: card.name + tail
        for name, card in NAMES.items()
        if name.isascii() and difflib.SequenceMatcher(None, base, name).ratio() >= 0.5
    }
    near = difflib.get_close_matches(base + tail, alike, n=len(NAMES), cutoff=0.6)
    own = dict.fromkeys(alike[guess] if alike[guess] in near else guess for guess in near)
    return [guess for guess in own if is_metric(guess)][:3]


def is_metric(text: str) -> bool:
    try:
        read(text)
    except UnknownMetricError:
        return False
    return True
