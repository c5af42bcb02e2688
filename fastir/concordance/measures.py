"""The measures of how alike two rankings are: their names, what they mean, and their values for one query."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fastir.concordance import taus
from fastir.concordance._pair import Pair
from fastir.errors import UnknownMetricError, quote

VARIANTS = ("w", "a", "b")
PERSISTENCE = 0.9
ENDLESS = 1e-18  # a share of the weight that no sum shows
NEAR_ONE = 0.9999  # a persistence above which the tail is taken from its closed form


class Card(NamedTuple):
    """What a measure of similarity is: its formula in words, its range, where it is undefined, its source."""

    meaning: str
    range: str
    undefined: str
    source: str


RBO = "Webber, Moffat and Zobel 2010; with ties Corsi and Urbano 2024"
FOUND = "neither run has a document for the query"
CARDS = {
    "rbo": Card(
        "rank-biased overlap, extrapolated: (1 - p) p^(d-1) times the agreement at each depth d, with the agreement "
        "that was seen where a ranking has ended",
        "0 to 1",
        FOUND,
        RBO,
    ),
    "rbo_min": Card("rank-biased overlap if no more documents were in common", "0 to 1", FOUND, RBO),
    "rbo_res": Card("the largest rank-biased overlap that is possible less the smallest", "0 to 1", FOUND, RBO),
    "overlap": Card(
        "documents among the first k of both, divided by k, or by the longer ranking's length if that is less",
        "0 to 1",
        FOUND,
        "",
    ),
    "jaccard": Card("documents among the first k of both, divided by those of either", "0 to 1", FOUND, "Jaccard 1912"),
    "tau": Card(
        "Kendall's tau_b of the scores of documents that both have among their first k",
        "-1 to 1",
        "fewer than two of these, or all tied in one run",
        "Kendall 1945",
    ),
}
BIASED = ("rbo", "rbo_min", "rbo_res")
NOTHING_TO_COMPARE = (0.0, 0.0, 1.0)  # rank-biased overlap with an empty ranking
NAME = re.compile(r"\s*([a-z_]+)\s*(?:\((.*)\))?\s*(?:@\s*([0-9]+))?\s*")


class Measure(NamedTuple):
    """A measure as it was asked for: its card, depth (None: the whole ranking), persistence and variant of ties."""

    name: str
    k: int | None
    p: float
    ties: str


def read_measures(measures: str | Iterable[str]) -> dict[str, Measure]:
    """{name as it was asked for: Measure}."""
    asked = [measures] if isinstance(measures, str) else list(measures)
    if not asked:
        raise ValueError("there are no measures")
    return {name: read_measure(name) for name in asked}


def read_measure(name: object) -> Measure:
    if not isinstance(name, str):
        raise TypeError(f"a measure must be a str, got {type(name).__name__} {quote(name)}")
    match = NAME.fullmatch(name)
    if match is None or match[1] not in CARDS:
        raise UnknownMetricError(f"there is no measure {quote(name)}; the measures are {', '.join(CARDS)}")
    own, text, k = match[1], match[2], match[3]
    biased = own in BIASED
    if k is not None and (biased or int(k) < 1):
        raise UnknownMetricError(f"measure {quote(name)}: {'it has no cutoff' if biased else '@ must be positive'}")
    given = {}
    for part in filter(None, re.split(r"\s*,\s*", text or "")):
        key, _, value = part.partition("=")
        given[key.strip()] = value.strip()
    for key in given:
        if not biased or key not in ("p", "ties"):
            raise UnknownMetricError(f"measure {quote(name)} has no parameter {quote(key)}")
    p, ties = persistence(name, given.get("p", str(PERSISTENCE))), given.get("ties", VARIANTS[0])
    if ties not in VARIANTS:
        raise UnknownMetricError(f"measure {quote(name)}: ties must be one of {', '.join(VARIANTS)}, got {quote(ties)}")
    return Measure(own, None if k is None else int(k), p, ties)


def persistence(name: str, text: str) -> float:
    try:
        p = float(text)
    except ValueError:
        p = math.nan
    if not 0 < p < 1:
        raise UnknownMetricError(f"measure {quote(name)}: p must be between 0 and 1, got {quote(text)}")
    return p


def values_of(measures: Iterable[Measure], pair: Pair) -> list[float]:
    """The value of each measure for the current rankings of two runs."""
    sizes = pair.sizes
    known: dict[tuple[float, str], tuple[float, float, float]] = {}
    values = []
    for measure in measures:
        if not any(sizes):
            values.append(math.nan)
        elif measure.name in BIASED:
            key = measure.p, measure.ties
            if key not in known:
                known[key] = rank_biased(pair, *key) if all(sizes) else NOTHING_TO_COMPARE
            ext, low, high = known[key]
            values.append(ext if measure.name == "rbo" else low if measure.name == "rbo_min" else high - low)
        else:
            values.append(at_depth(measure, pair))
    return values


def at_depth(measure: Measure, pair: Pair) -> float:
    """The overlap, Jaccard index or tau of the first documents of both."""
    k = max(pair.sizes) if measure.k is None else measure.k
    if measure.name == "tau":
        return taus.tau_of_pairs(*pair.concordance(k))
    n, sizes = pair.in_common(k), [min(k, size) for size in pair.sizes]
    return n / max(sizes) if measure.name == "overlap" else n / (sum(sizes) - n)


def rank_biased(pair: Pair, p: float, ties: str) -> tuple[float, float, float]:
    """Extrapolated, smallest and largest rank-biased overlap of two rankings that are not empty."""
    return pair.overlap(p, VARIANTS.index(ties), tail(p, max(pair.sizes)))


@functools.lru_cache(1 << 14)
def tail(p: float, n: int) -> float:
    """The sum of p^d / d over all d above n."""
    if p > NEAR_ONE:
        seen = np.arange(1, n + 1)
        return max(0.0, -math.log1p(-p) - float((p**seen / seen).sum()))
    if p ** (n + 1) < ENDLESS:
        return 0.0
    rest = np.arange(n + 1, n + 2 + math.ceil(math.log(ENDLESS) / math.log(p)))
    return math.fsum((p**rest / rest).tolist())
