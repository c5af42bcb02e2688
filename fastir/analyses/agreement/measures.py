"""The measures of how alike two rankings are: their names, what they mean, and their values for one query."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fastir.analyses.agreement._ranking_pair import RankingPair
from fastir.engine.measure.cards import Param
from fastir.errors import UnknownMetricError, quote
from fastir.request.names import refuse_mapping
from fastir.stats import taus

NEGLIGIBLE_WEIGHT = 1e-18  # a share of the weight that no sum shows
NEAR_ONE = 0.9999  # a persistence above which the tail is taken from its closed form


class Card(NamedTuple):
    """What a measure of similarity is: all that is said of it anywhere.

    Attributes
    ----------
    name : str
    summary : str
        What it is, without the first word's capital.
    params : tuple of Param
    cutoff : bool
        Whether its name may end in ``@k``.
    range, undefined, source : str
    """

    name: str
    summary: str
    params: tuple[Param, ...]
    cutoff: bool
    range: str
    undefined: str
    source: str

    def place(self) -> str:
        """What may follow the name."""
        return "@k" if self.cutoff else ""


RBO = "Webber, Moffat and Zobel 2010; with ties Corsi and Urbano 2024"
FOUND = "neither run has a document for the query"
P = Param("p", 0.9, "the chance of going on from each rank to the next", low=0, high=1)
TIES = Param(
    "ties",
    "w",
    "tied documents share a place (w); each counts by the share of their orders that have it so high, whose mean the "
    "value is where the rankings are equally long (a); corrected for what ties leave open (b)",
    choices=("w", "a", "b"),
)
BIASED = {
    "rbo": "rank-biased overlap, extrapolated: (1 - p) p^(d-1) times the agreement at each depth d, with the "
    "agreement that was seen where a ranking has ended",
    "rbo_min": "rank-biased overlap if no more documents were in common",
    "rbo_res": "the largest rank-biased overlap that is possible less the smallest",
}
CARDS = {
    card.name: card
    for card in (
        *(Card(name, summary, (P, TIES), False, "0 to 1", FOUND, RBO) for name, summary in BIASED.items()),
        Card(
            "overlap",
            "documents among the first k of both, divided by k, or by the longer ranking's length if that is less",
            (),
            True,
            "0 to 1",
            FOUND,
            "set overlap",
        ),
        Card(
            "jaccard",
            "documents among the first k of both, divided by those of either",
            (),
            True,
            "0 to 1",
            FOUND,
            "Jaccard 1912",
        ),
        Card(
            "tau",
            "Kendall's tau_b of the scores of documents that both have among their first k",
            (),
            True,
            "-1 to 1",
            "fewer than two of these, or all tied in one run",
            "Kendall 1945",
        ),
    )
}
NOTHING_TO_COMPARE = (0.0, 0.0, 1.0)  # rank-biased overlap with an empty ranking
NAME = re.compile(r"\s*+([a-z_]++)\s*+(?:\((.*)\))?\s*+(?:@\s*+([0-9]++))?\s*+")


class Measure(NamedTuple):
    """A measure as the caller wrote it: its card, depth (None: the whole ranking), persistence and variant of ties."""

    card: Card
    k: int | None
    p: float
    ties: str

    @property
    def name(self) -> str:
        return self.card.name


def read_measures(measures: str | Iterable[str]) -> dict[str, Measure]:
    """{name as the caller wrote it: Measure}."""
    refuse_mapping(measures)
    names = [measures] if isinstance(measures, str) else list(measures)
    if not names:
        raise ValueError("there are no metrics")
    return {name: read_measure(name) for name in names}


def is_measure(name: object) -> bool:
    """Whether a name is that of a measure, whatever follows it."""
    match = NAME.fullmatch(name) if isinstance(name, str) else None
    return match is not None and match[1] in CARDS


def read_measure(name: object) -> Measure:
    if not isinstance(name, str):
        raise TypeError(f"a measure must be a str, got {type(name).__name__} {quote(name)}")
    match = NAME.fullmatch(name)
    if match is None or not is_measure(name):
        raise UnknownMetricError(f"there is no measure {quote(name)}; the measures are {', '.join(CARDS)}")
    card, text, k = CARDS[match[1]], match[2], match[3]
    if k is not None and not (card.cutoff and int(k) > 0):
        raise UnknownMetricError(
            f"measure {quote(name)}: {'@ must be positive' if card.cutoff else 'it has no cutoff'}"
        )
    params = {}
    for part in filter(None, map(str.strip, (text or "").split(","))):
        key, _, value = part.partition("=")
        params[key.strip()] = value.strip()
    for key in params:
        if key not in (param.name for param in card.params):
            raise UnknownMetricError(f"measure {quote(name)} has no parameter {quote(key)}")
    p, ties = persistence(name, params.get("p", str(P.default))), params.get("ties", TIES.choices[0])
    if ties not in TIES.choices:
        allowed = ", ".join(TIES.choices)
        raise UnknownMetricError(f"measure {quote(name)}: ties must be one of {allowed}, got {quote(ties)}")
    return Measure(card, None if k is None else int(k), p, ties)


def persistence(name: str, text: str) -> float:
    try:
        p = float(text)
    except ValueError:
        p = math.nan
    if not 0 < p < 1:
        raise UnknownMetricError(f"measure {quote(name)}: p must be between 0 and 1, got {quote(text)}")
    return p


def explained(name: str) -> str:
    """Say what the name of a measure means, a line each as `fastir.metric` prints of a metric."""
    measure = read_measure(name)
    card = measure.card
    depth = "whole rankings" if measure.k is None else f"the first {measure.k} documents"
    lines = {"depth": depth} if card.cutoff else {}
    for param in card.params:
        lines[param.name] = f"{getattr(measure, param.name)}  ({param.accepted()}; {param.meaning})"
    lines.update(range=card.range, undefined=card.undefined, source=card.source)
    return "\n".join([f"{name}: {card.summary}", *(f"  {what:<15} {text}" for what, text in lines.items())])


def pair_values(measures: Iterable[Measure], pair: RankingPair) -> list[float]:
    """The value of each measure for the current rankings of two runs."""
    sizes = pair.sizes
    overlaps: dict[tuple[float, str], tuple[float, float, float]] = {}
    values = []
    for measure in measures:
        if not any(sizes):
            values.append(math.nan)
        elif measure.name in BIASED:
            key = measure.p, measure.ties
            if key not in overlaps:
                overlaps[key] = rank_biased(pair, *key) if all(sizes) else NOTHING_TO_COMPARE
            ext, low, high = overlaps[key]
            values.append(ext if measure.name == "rbo" else low if measure.name == "rbo_min" else high - low)
        else:
            values.append(at_depth(measure, pair))
    return values


def at_depth(measure: Measure, pair: RankingPair) -> float:
    """The overlap, Jaccard index or tau of the first documents of both."""
    k = max(pair.sizes) if measure.k is None else measure.k
    if measure.name == "tau":
        return taus.tau_of_pairs(*pair.concordance(k))
    n, sizes = pair.in_common(k), [min(k, size) for size in pair.sizes]
    return n / max(sizes) if measure.name == "overlap" else n / (sum(sizes) - n)


def rank_biased(pair: RankingPair, p: float, ties: str) -> tuple[float, float, float]:
    """Extrapolated, smallest and largest rank-biased overlap of two rankings that are not empty."""
    return pair.rank_biased(p, TIES.choices.index(ties), tail(p, max(pair.sizes)))


@functools.lru_cache(1 << 14)
def tail(p: float, n: int) -> float:
    """The sum of p^d / d over all d above n."""
    if p > NEAR_ONE:
        seen = np.arange(1, n + 1)
        return max(0.0, -math.log1p(-p) - float((p**seen / seen).sum()))
    if p ** (n + 1) < NEGLIGIBLE_WEIGHT:
        return 0.0
    rest = np.arange(n + 1, n + 2 + math.ceil(math.log(NEGLIGIBLE_WEIGHT) / math.log(p)))
    return math.fsum((p**rest / rest).tolist())
