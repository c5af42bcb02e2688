"""The answer to a metric that does not exist: the nearest ones that do. Imported only when a name is unknown.

It knows neither the grammar nor the registry: the tables of names and the test whether a text is a metric are
arguments.
"""

import difflib
import re
from collections.abc import Callable, Mapping

from fastir.engine.measure.cards import Card
from fastir.errors import UnknownMetricError, quote

# Metrics that people look for and fastir does not have, with the tool that has them; lower case, `-` written as `_`.
TOOLS = {"trec_eval": "relstring runid"}
# Of all lists together, or of properties of the items: no means over queries, as metrics have here.
NO_MEANS = "coverage catalog_coverage catalogue_coverage item_coverage gini gini_index novelty diversity serendipity"
ELSEWHERE = {name: tool for tool, names in TOOLS.items() for name in names.split()}


def unknown(
    text: str,
    is_metric: Callable[[str], bool],
    names: Mapping[str, Card],
    local: Mapping[tuple[str, str], Card],
) -> UnknownMetricError:
    """The error for a metric that does not exist, with the nearest ones that do.

    Parameters
    ----------
    text : str
        The name that does not exist.
    is_metric : function of str
        Whether a text is the name of a metric.
    names : mapping of str to Card
        The spellings that are understood in every dialect, in lower case.
    local : mapping of (dialect, str) to Card
        The spellings that only one dialect understands.
    """
    base, rest = re.fullmatch(r"(.*?)((?:[@(.].*|-l[0-9]*)?)", text[:200], re.DOTALL).groups()  # type: ignore
    base = base[:64].lower()
    plain = re.sub(r"_[0-9]+$", "", base.replace("-", "_"))
    if plain in (*NO_MEANS.split(), "intra_list_diversity", "ild"):
        return UnknownMetricError(
            f"metric {quote(text)} is not supported: it does not depend on the ranks of relevant "
            "documents; RecTools and Recommenders have metrics of coverage, novelty and diversity"
        )
    tool = ELSEWHERE.get(plain)
    if tool:
        return UnknownMetricError(f"metric {quote(text)} is not supported; {tool} has it")
    meanings = [
        f"{card.name + rest!r} to {dialect}"
        for (dialect, name), card in local.items()
        if name == base and is_metric(card.name + rest)
    ]
    if meanings:
        return UnknownMetricError(f"metric {quote(text)} means {', '.join(meanings)}; ask for one of these")
    if base in names:
        return UnknownMetricError(f"metric {quote(text)} is malformed; expected name(param=value, ...)@k-lN")
    near = nearest(base, rest, is_metric, names) or nearest(base, "", is_metric, names)
    if near:
        return UnknownMetricError(f"unknown metric {quote(text)}; did you mean {' or '.join(map(repr, near))}?")
    count = len({card.name for card in names.values()})
    return UnknownMetricError(f"unknown metric {quote(text)}; fastir.metrics() lists all {count}")


def nearest(base: str, rest: str, is_metric: Callable[[str], bool], names: Mapping[str, Card]) -> list[str]:
    """Up to three metrics with a similar spelling, and this one's parameters and cutoff; ndgc_10 is near ndcg@10."""
    base, cutoff = re.fullmatch("(.*?)(?:(?:_cut|_at)?_([0-9]+))?", base, re.DOTALL).groups()  # type: ignore
    tail = f"@{cutoff}{rest}" if cutoff else rest
    alike = {
        name + tail: card.name + tail
        for name, card in names.items()
        if name.isascii() and difflib.SequenceMatcher(None, base, name).ratio() >= 0.5
    }
    swapped = [guess for guess in alike if sorted(guess) == sorted(base + tail)]  # two letters, nearly always
    near = [*swapped, *difflib.get_close_matches(base + tail, alike, n=len(names), cutoff=0.6)]
    guesses = dict.fromkeys(alike[guess] if alike[guess] in near else guess for guess in near)
    return [guess for guess in guesses if is_metric(guess)][:3]
