"""The methods of fusion and the norms of scores, each declared once, as a card: names, formula, source and numbers.

What a document counts in a run is its feature, and the rule says how features become one score (_recipe). In formulas
s_r is the document's score in run r after the norm, i_r its rank from 1, w_r the weight of the run, n_r the length of
the ranking, m how many documents all rankings of the query have together, c how many runs have the document; sums go
over the runs that have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fastir.checks import meant
from fastir.errors import quote

Params = Mapping[str, Any]
LACKING = math.log(0.001 / 0.999)  # the log-odds of a document that a run lacks, for BayesFuse
SEGMENTS = np.diff([0, *(10 * 2**k - 5 for k in range(10))])  # ranks of each segment of SegFuse: 5, 10, 20, ...


class Param(NamedTuple):
    """A number that a method takes; `grid` is what tune tries: first, last, step."""

    name: str
    default: float | None  # None: it must be given
    low: float
    high: float
    grid: tuple[float, float, float]
    whole: bool = False
    learning: bool = False  # of what tune learns, not of what fuse applies


class Method(NamedTuple):
    """A method of fusion.

    `table` makes numbers by rank, of shape (n_runs or 1, width), from the length of the longest ranking and the
    parameters; `factors` numbers by how many runs have a document, of shape (n_runs,), from the counts 1, 2, ...
    `learnt` names what tune learns from judgments, one list for each run.
    """

    name: str
    title: str
    formula: str
    source: str
    lacks: str  # what a document counts in a run that lacks it
    feature: str = "score"
    rule: str = "linear"
    absent: float = 0.0
    weights: str = ""  # "needed", "optional", or nothing
    params: tuple[Param, ...] = ()
    table: Callable[[int, Params], Any] | None = None
    factors: Callable[[np.ndarray, Params], np.ndarray] | None = None
    learnt: str = ""
    aliases: tuple[str, ...] = ()
    differs: str = ""  # from ranx, or ranx from the paper

    @property
    def reads_scores(self) -> bool:
        return self.feature in ("score", "segments")


class Norm(NamedTuple):
    """A norm of the scores of one ranking; those of an empty one stay none."""

    name: str
    formula: str
    aliases: tuple[str, ...] = ()
    differs: str = ""


FOX = "Fox and Shaw, Combination of Multiple Searches, TREC-2, 1993"
LEE = "Lee, Analyses of Multiple Evidence Combination, SIGIR 1997, doi:10.1145/258525.258587"
MOURAO = "Mourao, Martins and Magalhaes, NovaSearch at TREC 2013 Federated Web Search Track, TREC 2013"
CORMACK = "Cormack, Clarke and Buettcher, Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning "
CORMACK += "Methods, SIGIR 2009, doi:10.1145/1571941.1572114"
BAILEY = "Bailey et al., Retrieval Consistency in the Presence of Query Variations, SIGIR 2017, "
BAILEY += "doi:10.1145/3077136.3080839"
WU = "Wu and Crestani, Data Fusion with Estimated Weights, CIKM 2002, doi:10.1145/584792.584908"
ASLAM = "Aslam and Montague, Models for Metasearch, SIGIR 2001, doi:10.1145/383952.384007"
MONTAGUE = "Montague and Aslam, Condorcet Fusion for Improved Retrieval, CIKM 2002, doi:10.1145/584792.584881"
LILLIS_2006 = "Lillis et al., ProbFuse: a Probabilistic Approach to Data Fusion, SIGIR 2006, "
LILLIS_2006 += "doi:10.1145/1148170.1148197"
LILLIS_2008 = "Lillis et al., Extending Probabilistic Data Fusion Using Sliding Windows, ECIR 2008, "
LILLIS_2008 += "doi:10.1007/978-3-540-78646-7_33"
LILLIS_2010 = "Lillis et al., Estimating Probabilities for Effective Data Fusion, SIGIR 2010, "
LILLIS_2010 += "doi:10.1145/1835449.1835508"
SHOKOUHI = "Shokouhi, Segmentation of Search Engine Results for Effective Data-Fusion, ECIR 2007, "
SHOKOUHI += "doi:10.1007/978-3-540-71496-5_19"
LARGE = "ranx counts 1e9 in a run that lacks the document, which shows where scores are larger"
CIRCLES = "the paper sorts by majorities and leaves open where ties and circles of them end; here documents stand by "
CIRCLES += "Borda points before that, in ranx in the order of a set of strings, and a tie there is a win"
NAN = math.nan


def ranks(width: int) -> np.ndarray:
    return np.arange(1.0, width + 1)


def padded(lists: Any, absent: float = 0.0) -> np.ndarray:
    """Lists of numbers as the rows of a matrix."""
    rows = [np.asarray(row, float) for row in lists]
    table = np.full((len(rows), max(map(len, rows))), absent)
    for row, numbers in zip(table, rows, strict=True):
        row[: len(numbers)] = numbers
    return table


def sums_before(lists: Any) -> np.ndarray:
    """The sum of the numbers before each rank, and of all."""
    return np.pad(np.cumsum(padded(lists), 1), ((0, 0), (1, 0)))


def inverse_squares(width: int, params: Params) -> Any:
    return [1.0 / ranks(width) ** 2]


# A parameter that says nothing by itself has no default, as in ranx.
K = Param("k", 60, 0, math.inf, (10, 100, 10))
PHI = Param("phi", None, 0, 1, (0.01, 1, 0.01))
GAMMA = Param("gamma", None, -math.inf, math.inf, (0.01, 1, 0.01))
SIGMA = Param("sigma", 0.01, 0, 1, (0.01, 1, 0.01))
W = Param("w", None, 0, 1 << 40, (1, 100, 1), whole=True)
N_SEGMENTS = Param("n_segments", None, 1, 1 << 20, (1, 100, 1), whole=True, learning=True)

METHODS = (
    Method(
        *("sum", "CombSUM", "sum of s_r", FOX, "0"),
        aliases=("combsum", "comb_sum"),
    ),
    Method(
        *("min", "CombMIN", "smallest s_r", FOX, "is left out"),
        rule="min",
        absent=NAN,
        aliases=("combmin", "comb_min"),
        differs=LARGE,
    ),
    Method(
        *("max", "CombMAX", "largest s_r", FOX, "is left out"),
        rule="max",
        absent=NAN,
        aliases=("combmax", "comb_max"),
        differs=LARGE.replace("1e9", "-1e9").replace("larger", "smaller"),
    ),
    Method(
        *("med", "CombMED", "median of s_r", FOX, "is left out"),
        rule="median",
        absent=NAN,
        aliases=("combmed", "comb_med", "median"),
    ),
    Method(
        *("anz", "CombANZ", "sum of s_r / c", FOX, "is left out"),
        rule="mean",
        absent=NAN,
        aliases=("combanz", "comb_anz", "mean"),
        differs="the paper divides by the scores that are not 0, here and in ranx all that there are count",
    ),
    Method(
        *("mnz", "CombMNZ", "sum of s_r * c", FOX, "0, and it is not in c"),
        rule="counted",
        absent=NAN,
        factors=lambda c, p: c,
        aliases=("combmnz", "comb_mnz"),
        differs="the paper multiplies by the scores that are not 0, here and in ranx all that there are count",
    ),
    Method(
        *("gmnz", "CombGMNZ", "sum of s_r * c^gamma", LEE, "0, and it is not in c"),
        rule="counted",
        absent=NAN,
        params=(GAMMA,),
        factors=lambda c, p: c ** p["gamma"],
        aliases=("combgmnz", "comb_gmnz"),
    ),
    Method(
        *("isr", "ISR", "sum of 1 / i_r^2 * c", MOURAO, "0, and it is not in c"),
        feature="table",
        rule="counted",
        absent=NAN,
        table=inverse_squares,
        factors=lambda c, p: c,
        aliases=("inverse_square_rank",),
    ),
    Method(
        *("log_isr", "logISR", "sum of 1 / i_r^2 * ln(c)", MOURAO, "0, and it is not in c"),
        feature="table",
        rule="counted",
        absent=NAN,
        table=inverse_squares,
        factors=lambda c, p: np.log(c),
        aliases=("logisr",),
    ),
    Method(
        *("logn_isr", "logN-ISR", "sum of 1 / i_r^2 * ln(c + sigma)", MOURAO, "0, and it is not in c"),
        feature="table",
        rule="counted",
        absent=NAN,
        params=(SIGMA,),
        table=inverse_squares,
        factors=lambda c, p: np.log(c + p["sigma"]),
        aliases=("lognisr",),
    ),
    Method(
        *("rrf", "Reciprocal Rank Fusion", "sum of w_r / (k + i_r)", CORMACK, "0"),
        feature="table",
        weights="optional",
        params=(K,),
        table=lambda width, p: [1.0 / (p["k"] + ranks(width))],
        aliases=("reciprocal_rank_fusion", "reciprocal_rank"),
        differs="ranx has no weights; without them each counts 1",
    ),
    Method(
        *("rbc", "Rank-Biased Centroids", "sum of (1 - phi) * phi^(i_r - 1)", BAILEY, "0"),
        feature="table",
        params=(PHI,),
        table=lambda width, p: [(1.0 - p["phi"]) * p["phi"] ** (ranks(width) - 1.0)],
        aliases=("rank_biased_centroids",),
    ),
    Method(
        *("wsum", "weighted sum", "sum of w_r * s_r", WU, "0"),
        weights="needed",
        aliases=("weighted_sum", "linear", "convex_combination"),
    ),
    Method(
        *("mixed", "Mixed", "sum of w_r * s_r * sqrt(c)", WU, "0, and it is not in c"),
        rule="counted",
        absent=NAN,
        weights="needed",
        factors=lambda c, p: np.sqrt(c),
    ),
    Method(
        *("wmnz", "WMNZ", "sum of s_r * sum of w_r", WU, "0, and its weight is left out"),
        rule="product",
        absent=NAN,
        weights="needed",
        aliases=("weighted_mnz",),
    ),
    Method(
        *("bordafuse", "BordaFuse", "sum of m - i_r + 1", ASLAM, "(m - n_r + 1) / 2"),
        feature="borda",
        aliases=("borda", "borda_fuse"),
    ),
    Method(
        *("w_bordafuse", "weighted BordaFuse", "sum of w_r * (m - i_r + 1)", ASLAM, "(m - n_r + 1) / 2"),
        feature="borda",
        weights="needed",
        aliases=("weighted_bordafuse", "weighted_borda"),
    ),
    Method(
        *("condorcet", "Condorcet", "m, m - 1, ..., 1 in the order of majorities", MONTAGUE, "it stands last"),
        feature="borda",
        rule="majority",
        aliases=("condorcet_fuse",),
        differs=CIRCLES,
    ),
    Method(
        *("w_condorcet", "weighted Condorcet", "the same, a run having w_r votes", MONTAGUE, "it stands last"),
        feature="borda",
        rule="majority",
        weights="needed",
        aliases=("weighted_condorcet",),
        differs=CIRCLES,
    ),
    Method(
        *("mapfuse", "MAPFuse", "sum of AP_r / i_r", LILLIS_2010, "0"),
        feature="table",
        table=lambda width, p: np.array(p["map_scores"], float)[:, None] / ranks(width),
        learnt="map_scores",
    ),
    Method(
        *("posfuse", "PosFuse", "sum of P_r(relevant at i_r)", LILLIS_2010, "0"),
        feature="table",
        table=lambda width, p: padded(p["probs"]),
        learnt="probs",
    ),
    Method(
        *("probfuse", "ProbFuse", "sum of P_r(relevant in part j) / j", LILLIS_2006, "0"),
        feature="parts",
        params=(N_SEGMENTS,),
        table=lambda width, p: padded(p["probs"]),
        learnt="probs",
    ),
    Method(
        *("segfuse", "SegFuse", "sum of P_r(relevant in segment) * (s_r + 1)", SHOKOUHI, "0"),
        feature="segments",
        table=lambda width, p: np.repeat(padded(p["probs"]), SEGMENTS, axis=1),
        learnt="probs",
    ),
    Method(
        *("slidefuse", "SlideFuse", "sum of the mean P_r(relevant) of ranks i_r - w to i_r + w", LILLIS_2008, "0"),
        feature="window",
        params=(W,),
        table=lambda width, p: sums_before(p["probs"]),
        learnt="probs",
    ),
    Method(
        *("bayesfuse", "BayesFuse", "sum of log-odds of relevance at i_r", ASLAM, "ln(0.001 / 0.999)"),
        feature="table",
        absent=LACKING,
        table=lambda width, p: padded(p["log_odds"], LACKING),
        learnt="log_odds",
        differs="ranx reads what stands behind its odds for ranks below 1000, here these count as lacking",
    ),
)

NORMS = (
    Norm("min-max", "(s - min) / (max - min)", ("minmax",)),
    Norm("min-max-inverted", "(max - s) / (max - min), for scores of which small ones are good", ("minmax_inverted",)),
    Norm("max", "s / max"),
    Norm("sum", "(s - min) / (sum of s - n * min)"),
    Norm("zmuv", "(s - mean) / standard deviation", ("z_score", "zscore", "standard")),
    Norm("rank", "1 - (i - 1) / n"),
    Norm(
        "borda",
        "1 - (i - 1) / m, and 1/2 - (n - 1) / 2m for each document that this run lacks and another has",
        differs="methods that go by ranks read those of the run before this norm; in ranx they read a set of strings",
    ),
)


def spelling(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def by_name(cards: Any) -> dict[str, Any]:
    return {spelling(name): card for card in cards for name in (card.name, *card.aliases)}


METHOD_BY_NAME: dict[str, Method] = by_name(METHODS)
NORM_BY_NAME: dict[str, Norm] = by_name(NORMS)


def find_card(option: str, name: Any, cards: Mapping[str, Any], listed: Any) -> Any:
    card = cards.get(spelling(name)) if isinstance(name, str) else None
    if card is None:
        names = ", ".join(card.name for card in listed)
        raise ValueError(f"unknown {option} {quote(name)}{meant(name, cards) or f'; expected one of {names}'}")
    return card


def find_method(name: Any) -> Method:
    """The card of a method, by its name or another one of it.

    Raises
    ------
    ValueError
        There is none.
    """
    return find_card("method", name, METHOD_BY_NAME, METHODS)


def find_norm(name: Any) -> str | None:
    """The name of a norm, None for none.

    Raises
    ------
    ValueError
        There is none.
    """
    return None if name is None else find_card("norm", name, NORM_BY_NAME, NORMS).name
