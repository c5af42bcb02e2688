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

from fastir.declared import Param, Table, spelling

Params = Mapping[str, Any]
LACKING_LOG_ODDS = math.log(0.001 / 0.999)  # the log-odds of a document that is not in a run, for BayesFuse
SEGMENTS = np.diff([0, *(10 * 2**k - 5 for k in range(10))])  # ranks of each segment of SegFuse: 5, 10, 20, ...
LACKS = {  # what a document counts in a run without it, by rule; elsewhere that run is left out
    "linear": "0",
    "counted": "0, and it is not in c",
    "product": "0, and its weight is left out",
    "majority": "it stands last",
}


class Method(NamedTuple):
    """A method of fusion.

    `table` makes numbers by rank, of shape (n_runs or 1, width), from the length of the longest ranking and the
    parameters; `factors` numbers by how many runs have a document, of shape (n_runs,), from the counts 1, 2, ...
    `learnt` names what tune learns from judgments, one list for each run. `grid` is what tune tries of the parameter:
    first, last, step; `learning` says that the parameter is of what tune learns, not of what fuse applies.
    """

    name: str
    title: str
    formula: str
    source: str
    rule: str = "linear"
    feature: str = "score"
    weights: str = ""  # "needed", "optional", or nothing
    param: Param | None = None
    table: Callable[[int, Params], Any] | None = None
    factors: Callable[[np.ndarray, Params], np.ndarray] | None = None
    learnt: str = ""
    aliases: tuple[str, ...] = ()  # beside the name and the title
    differs: str = ""  # from ranx, or ranx from the paper
    grid: tuple[float, float, float] = (0.01, 1, 0.01)
    learning: bool = False

    @property
    def reads_scores(self) -> bool:
        return self.feature in ("score", "segments")

    @property
    def tunable(self) -> bool:
        return bool(self.weights == "needed" or self.param or self.learnt)

    @property
    def absent(self) -> float:
        """What a document counts in a run without it; NaN: that run is left out."""
        return LACKING_LOG_ODDS if self.learnt == "log_odds" else 0.0 if self.rule == "linear" else math.nan

    @property
    def lacks(self) -> str:
        """The same in words."""
        special = {"log_odds": "ln(0.001 / 0.999)"} if self.learnt else {"borda": "(m - n_r + 1) / 2"}
        words = LACKS.get(self.rule, "is left out")
        return special.get(self.learnt or self.feature, words) if self.rule == "linear" else words


class Norm(NamedTuple):
    """A norm of the scores of one ranking; an empty ranking stays empty."""

    name: str
    formula: str
    aliases: tuple[str, ...] = ()
    differs: str = ""


FOX = "Fox and Shaw, Combination of Multiple Searches, TREC-2, 1993"
LEE = "Lee, SIGIR 1997, doi:10.1145/258525.258587"
MOURAO = "Mourao, Martins and Magalhaes, NovaSearch at TREC 2013 Federated Web Search Track, TREC 2013"
CORMACK = "Cormack, Clarke and Buettcher, SIGIR 2009, doi:10.1145/1571941.1572114"
BAILEY = "Bailey et al., SIGIR 2017, doi:10.1145/3077136.3080839"
WU = "Wu and Crestani, CIKM 2002, doi:10.1145/584792.584908"
ASLAM = "Aslam and Montague, SIGIR 2001, doi:10.1145/383952.384007"
MONTAGUE = "Montague and Aslam, CIKM 2002, doi:10.1145/584792.584881"
PROB = "Lillis et al., SIGIR 2006, doi:10.1145/1148170.1148197"
SLIDE = "Lillis et al., ECIR 2008, doi:10.1007/978-3-540-78646-7_33"
MAP = "Lillis et al., SIGIR 2010, doi:10.1145/1835449.1835508"
SHOKOUHI = "Shokouhi, ECIR 2007, doi:10.1007/978-3-540-71496-5_19"
LARGE = "ranx counts 1e9 in a run that lacks the document, which shows where scores are larger"
SMALL = LARGE.replace("1e9", "-1e9").replace("larger", "smaller")
ZEROS = "the paper counts the scores that are not 0, here and in ranx all that there are count"
UNWEIGHTED = "ranx has no weights; without them each counts 1"
CIRCLES = "the paper sorts by majorities and leaves open where ties and circles of them end; here documents stand by "
CIRCLES += "Borda points before that, in ranx in the order of a set of strings, and a tie there is a win"
BELOW = "ranx reads what stands behind its odds for ranks below 1000, here these count as lacking"


def ranks(width: int) -> np.ndarray:
    return np.arange(1.0, width + 1)


def pad_lists(lists: Any, absent: float = 0.0) -> np.ndarray:
    """Lists of numbers as the rows of a matrix."""
    table = np.full((len(lists), max(map(len, lists))), absent)
    for row, numbers in zip(table, lists, strict=True):
        row[: len(numbers)] = numbers
    return table


# A parameter that says nothing by itself has no default, as in ranx.
K = Param("k", 60, "added to each rank", (), 0, math.inf, closed=True)
PHI = Param("phi", None, "how much the next rank counts", (), 0, 1, closed=True)
GAMMA = Param("gamma", None, "the exponent of c", (), -math.inf, math.inf, closed=True)
SIGMA = Param("sigma", 0.01, "added to c", (), 0, 1, closed=True)
W = Param("w", None, "ranks on each side", (), 0, 1 << 40, integer=True, closed=True)
N_SEGMENTS = Param("n_segments", None, "parts of a ranking", (), 1, 1 << 20, integer=True, closed=True)

# fmt: off
METHODS = Table("method", (
    Method("sum", "CombSUM", "sum of s_r", FOX),
    Method("min", "CombMIN", "smallest s_r", FOX, "min", differs=LARGE),
    Method("max", "CombMAX", "largest s_r", FOX, "max", differs=SMALL),
    Method("med", "CombMED", "median of s_r", FOX, "median", aliases=("median",)),
    Method("anz", "CombANZ", "sum of s_r / c", FOX, "mean", aliases=("mean",), differs=ZEROS),
    Method("mnz", "CombMNZ", "sum of s_r * c", FOX, "counted", factors=lambda c, p: c, differs=ZEROS),
    Method("gmnz", "CombGMNZ", "sum of s_r * c^gamma", LEE, "counted",
           param=GAMMA, factors=lambda c, p: c ** p["gamma"]),
    Method("isr", "ISR", "sum of 1 / i_r^2 * c", MOURAO, "counted", "table",
           table=lambda n, p: [1.0 / ranks(n) ** 2], factors=lambda c, p: c, aliases=("inverse_square_rank",)),
    Method("log_isr", "logISR", "sum of 1 / i_r^2 * ln(c)", MOURAO, "counted", "table",
           table=lambda n, p: [1.0 / ranks(n) ** 2], factors=lambda c, p: np.log(c)),
    Method("logn_isr", "logN-ISR", "sum of 1 / i_r^2 * ln(c + sigma)", MOURAO, "counted", "table",
           param=SIGMA, table=lambda n, p: [1.0 / ranks(n) ** 2], factors=lambda c, p: np.log(c + p["sigma"])),
    Method("rrf", "Reciprocal Rank Fusion", "sum of w_r / (k + i_r)", CORMACK, "linear", "table", "optional",
           K, lambda n, p: [1.0 / (p["k"] + ranks(n))], aliases=("reciprocal_rank",), differs=UNWEIGHTED,
           grid=(10, 100, 10)),
    Method("rbc", "Rank-Biased Centroids", "sum of (1 - phi) * phi^(i_r - 1)", BAILEY, "linear", "table", "",
           PHI, lambda n, p: [(1.0 - p["phi"]) * p["phi"] ** (ranks(n) - 1.0)]),
    Method("wsum", "weighted sum", "sum of w_r * s_r", WU, weights="needed", aliases=("linear", "convex_combination")),
    Method("mixed", "Mixed", "sum of w_r * s_r * sqrt(c)", WU, "counted", weights="needed",
           factors=lambda c, p: np.sqrt(c)),
    Method("wmnz", "WMNZ", "sum of s_r * sum of w_r", WU, "product", weights="needed", aliases=("weighted_mnz",)),
    Method("bordafuse", "BordaFuse", "sum of m - i_r + 1", ASLAM, "linear", "borda", aliases=("borda",)),
    Method("w_bordafuse", "weighted BordaFuse", "sum of w_r * (m - i_r + 1)", ASLAM, "linear", "borda", "needed",
           aliases=("weighted_borda",)),
    Method("condorcet", "Condorcet", "m, m - 1, ..., 1 in the order of majorities", MONTAGUE, "majority", "borda",
           aliases=("condorcet_fuse",), differs=CIRCLES),
    Method("w_condorcet", "weighted Condorcet", "the same, a run having w_r votes", MONTAGUE, "majority", "borda",
           "needed", differs=CIRCLES),
    Method("mapfuse", "MAPFuse", "sum of AP_r / i_r", MAP, "linear", "table",
           table=lambda n, p: np.array(p["map_scores"], float)[:, None] / ranks(n), learnt="map_scores"),
    Method("posfuse", "PosFuse", "sum of P_r(relevant at i_r)", MAP, "linear", "table",
           table=lambda n, p: pad_lists(p["probs"]), learnt="probs"),
    Method("probfuse", "ProbFuse", "sum of P_r(relevant in part j) / j", PROB, "linear", "parts", "",
           N_SEGMENTS, lambda n, p: pad_lists(p["probs"]), learnt="probs", grid=(1, 100, 1), learning=True),
    Method("segfuse", "SegFuse", "sum of P_r(relevant in segment) * (s_r + 1)", SHOKOUHI, "linear", "segments",
           table=lambda n, p: np.repeat(pad_lists(p["probs"]), SEGMENTS, axis=1), learnt="probs"),
    Method("slidefuse", "SlideFuse", "sum of the mean P_r(relevant) of ranks i_r - w to i_r + w", SLIDE, "linear",
           "window", "", W, lambda n, p: np.pad(np.cumsum(pad_lists(p["probs"]), 1), ((0, 0), (1, 0))), learnt="probs",
           grid=(1, 100, 1)),
    Method("bayesfuse", "BayesFuse", "sum of log-odds of relevance at i_r", ASLAM, "linear", "table",
           table=lambda n, p: pad_lists(p["log_odds"], LACKING_LOG_ODDS), learnt="log_odds", differs=BELOW),
), ("title",), ("title", "formula", "lacks", "source", "differs"))
# fmt: on

HALVES = "1 - (i - 1) / m, and 1/2 - (n - 1) / 2m for each document that this run lacks and another has"
SETS = "methods that go by ranks read those of the run before this norm; in ranx they read a set of strings"
NO_NORM = Norm("none", "s")
NORMS = Table(
    "norm",
    (
        Norm("min-max", "(s - min) / (max - min)"),
        Norm("min-max-inverted", "(max - s) / (max - min), for scores of which small ones are good"),
        Norm("max", "s / max"),
        Norm("sum", "(s - min) / (sum of s - n * min)"),
        Norm("zmuv", "(s - mean) / standard deviation", ("z_score", "standard")),
        Norm("rank", "1 - (i - 1) / n"),
        Norm("borda", HALVES, differs=SETS),
    ),
)
NORMS_AND_NONE = Table(NORMS.kind, (NO_NORM, *NORMS.values()))


def find_norm(name: Any) -> str | None:
    """The name of a norm, None for none; ValueError if there is none of this name."""
    return None if name is None or (isinstance(name, str) and spelling(name) == NO_NORM.name) else NORMS.find(name).name
