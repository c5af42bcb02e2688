"""The measures of how alike two rankings are: their names, what they mean, and their values for one query."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fastir.concordance import taus
from fastir.concordance._overlap import rbo
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
NAME = re.compile(r"\s*([a-z_]+)\s*(?:\((.*)\))?\s*(?:@\s*([0-9]+))?\s*")


class Measure(NamedTuple):
    """A measure as it was asked for: its card, depth (None: the whole ranking), persistence and variant of ties."""

    name: str
    k: int | None
    p: float
    ties: str


class Paired(NamedTuple):
    """Two rankings of one query.

    Attributes
    ----------
    a, b : float64 arrays
        Their scores, which do not rise.
    place : int64 array
        For each document of `a` its place in `b`, from 0, or -1.
    """

    a: np.ndarray
    b: np.ndarray
    place: np.ndarray


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


def values_of(measures: Iterable[Measure], pair: Paired) -> list[float]:
    """The value of each measure."""
    known: dict[tuple[float, str], tuple[float, float, float]] = {}
    values = []
    for measure in measures:
        if not len(pair.a) and not len(pair.b):
            values.append(math.nan)
        elif measure.name in BIASED:
            key = measure.p, measure.ties
            if key not in known:
                known[key] = rank_biased(pair, *key)
            ext, low, high = known[key]
            values.append({"rbo": ext, "rbo_min": low, "rbo_res": high - low}[measure.name])
        else:
            values.append(at_depth(measure, pair))
    return values


def at_depth(measure: Measure, pair: Paired) -> float:
    """The overlap, Jaccard index or tau of the first documents of both."""
    k = max(len(pair.a), len(pair.b)) if measure.k is None else measure.k
    place = pair.place[:k]
    common = np.flatnonzero((place >= 0) & (place < k))
    n, sizes = len(common), (min(k, len(pair.a)), min(k, len(pair.b)))
    if measure.name == "overlap":
        return n / max(sizes)
    if measure.name == "jaccard":
        return n / (sum(sizes) - n)
    return taus.tau_b(pair.a[common], pair.b[place[common]])


def rank_biased(pair: Paired, p: float, ties: str) -> tuple[float, float, float]:
    """Extrapolated, smallest and largest rank-biased overlap."""
    if not len(pair.a) or not len(pair.b):
        return 0.0, 0.0, 1.0
    short, long, place = pair
    if len(short) > len(long):
        short, long = long, short
        place = np.full(len(pair.b), -1)
        found = np.flatnonzero(pair.place >= 0)
        place[pair.place[found]] = found
    n = len(long)
    return rbo(short, long, place, p, VARIANTS.index(ties), tail(p, n), np.empty((5, n + 1), np.int64), np.empty(n + 1))


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
