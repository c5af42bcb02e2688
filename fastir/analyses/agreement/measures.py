"""The measures of how alike two rankings are: their names, what they mean, and their values for one query."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from fastir.analyses.agreement._ranking_pair import RankingPair
from fastir.declared import Param, Table
from fastir.engine.measure.cards import Card
from fastir.errors import UnknownMetricError
from fastir.request.names import Request, read_card, refuse_mapping
from fastir.stats import taus

NEGLIGIBLE_WEIGHT = 1e-18  # a fraction of the weight that no sum shows
NEAR_ONE = 0.9999  # a persistence above which the tail is taken from its closed form


RBO = "Webber, Moffat and Zobel 2010; with ties Corsi and Urbano 2024"
FOUND = "neither run has a document for the query"
P = Param("p", 0.9, "the chance of going on from each rank to the next", low=0, high=1)
TIES = Param(
    "ties",
    "w",
    "tied documents share a rank (w); each counts by the fraction of the tie's orders that rank it so high: the mean "
    "over these orders, if the rankings are equally long (a); as a, corrected for the information that ties lose (b)",
    choices=("w", "a", "b"),
)
BIASED = {
    "rbo": "rank-biased overlap, extrapolated: (1 - p) p^(d-1) times the agreement at each depth d, with the "
    "agreement that was seen where a ranking has ended",
    "rbo_min": "rank-biased overlap if no more documents were in common",
    "rbo_res": "the largest rank-biased overlap that is possible less the smallest",
}
NO_JUDGMENTS: dict[str, Any] = {"reads": "", "graded": True}
SHARED_DOCUMENTS = "documents among the first k of both, divided by"

# fmt: off
MEASURES = Table("measure", (
    *(Card(name, summary, "", FOUND, (RBO,), params=(P, TIES), **NO_JUDGMENTS) for name, summary in BIASED.items()),
    Card("overlap", f"{SHARED_DOCUMENTS} k, or by the longer ranking's length if that is less", "", FOUND,
         ("set overlap",), cutoff=True, **NO_JUDGMENTS),
    Card("jaccard", f"{SHARED_DOCUMENTS} the documents of either", "", FOUND, ("Jaccard 1912",),
         cutoff=True, **NO_JUDGMENTS),
    Card("tau", "Kendall's tau_b of the scores of documents that both have among their first k", "",
         "fewer than two of these, or all tied in one run", ("Kendall 1945",), low=-1, cutoff=True, **NO_JUDGMENTS),
), spell=str.lower, error=UnknownMetricError)
# fmt: on
NOTHING_TO_COMPARE = (0.0, 0.0, 1.0)  # rank-biased overlap with an empty ranking


def read_measures(measures: str | Iterable[str]) -> dict[str, Request]:
    """{name as the caller wrote it: its request, with all parameters}."""
    refuse_mapping(measures)
    names = [measures] if isinstance(measures, str) else list(measures)
    if not names:
        raise ValueError("there are no metrics")
    return {name: read_card(name, MEASURES) for name in names}


def is_measure(name: str) -> bool:
    """Whether a name is a measure's, whatever follows it."""
    return name.partition("(")[0].partition("@")[0].strip().lower() in MEASURES.spellings


def explain(name: str) -> str:
    """Say what the name of a measure means, a line each as `fastir.metric` prints of a metric."""
    measure = read_card(name, MEASURES)
    card = measure.card
    depth = "whole rankings" if measure.cutoff is None else f"the first {measure.cutoff} documents"
    lines = {"depth": depth} if card.cutoff else {}
    for param in card.params:
        lines[param.name] = f"{measure.params[param.name]}  ({param.accepted_text()}; {param.meaning})"
    lines.update(range=card.range, undefined=card.undefined, source=card.source)
    return "\n".join([f"{name}: {card.summary}", *(f"  {what:<15} {text}" for what, text in lines.items())])


def pair_values(measures: Iterable[Request], pair: RankingPair) -> list[float]:
    """The value of each measure for the current rankings of two runs."""
    sizes = pair.sizes
    overlaps: dict[tuple[float, str], tuple[float, float, float]] = {}
    values = []
    for measure in measures:
        if not any(sizes):
            values.append(math.nan)
        elif measure.card.name in BIASED:
            key = measure.params["p"], measure.params["ties"]
            if key not in overlaps:
                overlaps[key] = rank_biased(pair, *key) if all(sizes) else NOTHING_TO_COMPARE
            ext, low, high = overlaps[key]
            values.append(ext if measure.card.name == "rbo" else low if measure.card.name == "rbo_min" else high - low)
        else:
            values.append(at_depth(measure, pair))
    return values


def at_depth(measure: Request, pair: RankingPair) -> float:
    """The overlap, Jaccard index or tau of the first documents of both."""
    k = max(pair.sizes) if measure.cutoff is None else measure.cutoff
    if measure.card.name == "tau":
        return taus.tau_of_pairs(*pair.concordance(k))
    n, sizes = pair.in_common(k), [min(k, size) for size in pair.sizes]
    return n / max(sizes) if measure.card.name == "overlap" else n / (sum(sizes) - n)


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
