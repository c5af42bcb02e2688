"""The slow truth: every metric as its source defines it, in plain Python, a few lines each.

A metric sees what trec_eval lets a measure see. `x` holds the codes of the ranked documents, best first: the label of a
judged document, -2 (or any other negative label) for one that is in the pool without a judgment, -1 for one that is
not in the qrels. `judged` holds the labels of all documents of the query's qrels, retrieved or not. A document is
relevant when its label is at least `level`; `k` cuts the ranking, None is the whole of it.
"""

import ctypes
import itertools
import math
import operator
from typing import NamedTuple

import oracle_intents
import oracle_preferences
import oracle_sets
import oracle_users
from oracle_common import best_first, discounted, gains, ideal_gains, num_relevant


# ---- counts (trec_eval) ----------------------------------------------------------------------------------------
def num_q(x, judged, level):
    return 1


def num_ret(x, judged, level):
    return len(x)


def num_rel(x, judged, level):
    return num_relevant(judged, level)


def num_rel_ret(x, judged, level):
    return hits(x, judged, level)


# ---- binary relevance ------------------------------------------------------------------------------------------
def hits(x, judged, level, k=None):
    """ranx: how many of the first k are relevant."""
    return sum(code >= level for code in x[:k])


def hit_rate(x, judged, level, k=None):
    """trec_eval success: whether there is any."""
    return float(hits(x, judged, level, k) > 0)


def surfaced(x, judged, level, k=None):
    """Whether anything is ranked at all, relevant or not."""
    return float(len(x[:k]) > 0)


def false_surface(x, judged, level, k=None):
    """The same where nothing is relevant."""
    return math.nan if num_rel(x, judged, level) else surfaced(x, judged, level, k)


def false_abstention(x, judged, level):
    """Whether nothing is ranked where something is relevant."""
    return 1.0 - surfaced(x, judged, level) if num_rel(x, judged, level) else math.nan


def precision(x, judged, level, k=None, short_rankings="pad"):
    """trec_eval P and set_P: the cut-off divides even where the ranking is shorter, but in XGBoost."""
    depth = k if k and short_rankings == "pad" else len(x[:k])
    return hits(x, judged, level, k) / depth if x else 0.0


def recall(x, judged, level, k=None, recall_norm="R"):
    """trec_eval recall and set_recall; LensKit divides by at most k."""
    relevant = num_relevant(judged, level)
    if recall_norm == "min_kR":
        relevant = min(k or relevant, relevant)
    return hits(x, judged, level, k) / relevant if relevant else 0.0


def f1(x, judged, level, k=None):
    """ranx: the harmonic mean of the two (van Rijsbergen 1979)."""
    p, r = precision(x, judged, level, k), recall(x, judged, level, k)
    return 2 * p * r / (p + r) if p + r else 0.0


def r_precision(x, judged, level):
    """trec_eval Rprec: precision at the number of relevant documents."""
    relevant = num_relevant(judged, level)
    return hits(x, judged, level, relevant) / relevant if relevant else 0.0


def map_r(x, judged, level):
    """Musgrave et al. 2020: precision at the relevant documents among the first R, over R."""
    relevant = num_relevant(judged, level)
    found = [hits(x, judged, level, rank) / rank for rank, code in enumerate(x[:relevant], 1) if code >= level]
    return sum(found) / relevant if relevant else 0.0


def mrr(x, judged, level, k=None):
    """trec_eval recip_rank: one over the rank of the first relevant document."""
    return next((1 / rank for rank, code in enumerate(x[:k], 1) if code >= level), 0.0)


def average_precision(x, judged, level, k=None, ap_norm="R"):
    """trec_eval map and map_cut: the precisions at the relevant documents, over R; as LightGBM, cwl_eval or LensKit."""
    relevant = num_relevant(judged, level)
    found = [rank for rank, code in enumerate(x[:k], 1) if code >= level]
    total = sum(number / rank for number, rank in enumerate(found, 1))
    at_most = min(k or relevant, relevant)
    norm = {"R": relevant, "min_kR": at_most, "hits": len(found), "min_nkR": min(len(x), at_most)}[ap_norm]
    return total / norm if norm else 0.0


def bpref(x, judged, level, bpref_norm="min", negatives="skip"):
    """trec_eval bpref (Buckley and Voorhees 2004): how few judged non-relevant documents stand above.

    ranx takes negative labels for judged non-relevant, and divides by 0 where nothing is.
    """
    relevant = num_relevant(judged, level)
    nonrelevant = sum(label < level and (label >= 0 or negatives == "nonrel") for label in judged)
    norm = relevant if bpref_norm == "R" else min(relevant, nonrelevant)
    total, above = 0.0, 0
    for code in x:
        if code >= level:
            if bpref_norm == "min_nan" and not norm:
                return math.nan
            total += 1 - min(above, relevant) / norm if above else 1
        elif code >= 0 or (code <= -2 and negatives == "nonrel"):
            above += 1
    return total / relevant if relevant else 0.0


def rbp(x, judged, level, k=None, p=0.8, gains="binary", rbp_norm="infinite"):
    """Moffat and Zobel 2008: (1 - p) times the sum of p^(rank - 1). Scaled as trec_eval 10 means it, raw as ranx.

    A map scales the gains to 0 to 1 if they leave it; cwl shares the weights out over 1000 ranks.
    """
    top = max((label for label in judged if label > 0), default=1)
    own = gains if isinstance(gains, dict) else {}
    levels = [own.get(n, n) for n in (*range(math.floor(top) + 1), top)] + [0.0, *own.values()] if own else [0.0]
    low, high = (min(levels), max(levels)) if min(levels) < 0 or max(levels) > 1 else (0, 1)
    gain = {
        "binary": lambda code: float(code >= level),
        "scaled": lambda code: max(code, 0) / top,
        "raw": lambda code: max(code, 0),
        "map": lambda code: (own.get(code, code) - low) / (high - low) if code >= 0 or code in own else 0.0,
    }["map" if own else gains]
    norm = 1 if rbp_norm == "infinite" else 1 - p**1000
    cut = k if rbp_norm == "infinite" else min(k or 1000, 1000)
    return (1 - p) / norm * sum(gain(max(code, -2)) * p**index for index, code in enumerate(x[:cut]))


# ---- graded relevance ------------------------------------------------------------------------------------------
def cg(x, judged, level, k=None):
    """Järvelin and Kekäläinen 2002: the sum of the labels."""
    return float(sum(gains(x[:k])))


def dcg(x, judged, level, k=None, gain="linear", discount="log2"):
    """trec_eval dcg, with the gain and discount of the other traditions as choices."""
    return discounted(gains(x[:k], gain), discount)


def ndcg(x, judged, level, k=None, gain="linear", discount="log2", ideal="judged"):
    """trec_eval ndcg and ndcg_cut; ideal=retrieved sorts the list itself, as LightGBM and scikit-learn do."""
    top = discounted(best_first(ideal_gains(x if ideal == "retrieved" else judged, gain), x, k, ideal), discount)
    return dcg(x, judged, level, k, gain, discount) / top if top else 0.0


def dcg_burges(x, judged, level, k=None, discount="log2"):
    """ranx: DCG of the gain 2^label - 1."""
    return dcg(x, judged, level, k, "exp2", discount)


def ndcg_burges(x, judged, level, k=None, discount="log2", ideal="judged"):
    """ranx, gdeval: nDCG of the gain 2^label - 1."""
    return ndcg(x, judged, level, k, "exp2", discount, ideal)


def err(x, judged, level, k=None, max_grade=4):
    """Chapelle et al. 2009, as gdeval: the expected reciprocal rank at which a reader stops."""
    scale = 2.0 ** (max(0, *judged, 0) if max_grade == "query" else max_grade)
    total, still_reading = 0.0, 1.0
    for rank, gain in enumerate(gains(x[:k], "exp2"), 1):
        total += still_reading * gain / scale / rank
        still_reading *= 1 - gain / scale
    return total


def nerr(x, judged, level, k=None, max_grade=4, ideal="judged"):
    """ERR over that of the labels sorted best first."""
    best = best_first(sorted(x if ideal == "retrieved" else judged, reverse=True), x, k, ideal)
    top = err(best, judged, level, None if ideal == "uncut" else k, max_grade)
    return err(x, judged, level, k, max_grade) / top if top else 0.0


def irbu(x, judged, level, k=None, p=0.99, max_grade=4):
    """Sakai and Zeng 2019: the chance to stop at each rank, worth p^rank there."""
    scale = 2.0 ** (max(0, *judged, 0) if max_grade == "query" else max_grade)
    stops = [gain / scale for gain in gains(x[:k], "exp2")]
    reading = itertools.accumulate((1 - stop for stop in stops), operator.mul, initial=1)
    return sum(p**i * stop * chance for i, (stop, chance) in enumerate(zip(stops, reading, strict=False), 1))


def rbu(x, judged, level, k=None, p=0.8, max_grade=4, e=0.03):
    """Amigó et al. 2018, of one subtopic: each document that is read has its cost, too."""
    return irbu(x, judged, level, k, p, max_grade) - sum(p**i * e for i in range(1, len(x[:k]) + 1))


def ncg(x, judged, level, k=None):
    """Järvelin and Kekäläinen 2002: over the cumulative gain of the ideal ranking."""
    top = sum(ideal_gains(judged)[:k])
    return cg(x, judged, level, k) / top if top else 0.0


METRICS = {
    **{f.__name__: f for f in (num_q, num_ret, num_rel, num_rel_ret)},
    **{f.__name__: f for f in (hits, hit_rate, precision, recall, f1, r_precision, map_r, bpref, rbp, mrr)},
    **{f.__name__: f for f in (surfaced, false_surface, false_abstention)},
    "map": average_precision,
    **{f.__name__: f for f in (cg, ncg, dcg, dcg_burges, ndcg, ndcg_burges, err, nerr, irbu, rbu)},
    **oracle_intents.METRICS,
    **oracle_preferences.METRICS,
    **oracle_sets.METRICS,
    **oracle_users.METRICS,
}
COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", *oracle_preferences.COUNTS)
GRADED = (
    *(
        "cg", "ncg", "irbu", "rbu", "dcg", "dcg_burges", "ndcg", "ndcg_burges", "err", "nerr", "arp",
        "pfound", "q_measure",
    ),
    *oracle_users.GRADED,
)  # fmt: skip


# ---- from ids to codes -----------------------------------------------------------------------------------------
def ranking(scores, ties="trec", score_dtype="float64"):
    """Document ids, best first: score descending, then the tie rule, ids compared by their UTF-8 bytes."""
    value = float if score_dtype == "float64" else lambda score: ctypes.c_float(score).value
    by_id = list(scores) if ties == "input" else sorted(scores, key=lambda doc: doc.encode(), reverse=ties == "trec")
    return sorted(by_id, key=lambda doc: value(scores[doc]), reverse=True)


def codes(judgments, ranked, max_depth=None, judged_only=False):
    """The codes of ranked documents: cut first, then drop what has no judgment (trec_eval -M, -J)."""
    in_pool = {doc: label if label >= 0 else -2 for doc, label in judgments.items()}
    found = [in_pool.get(doc, -1) for doc in ranked[:max_depth]]
    return [code for code in found if code >= 0] if judged_only else found


# ---- requests --------------------------------------------------------------------------------------------------
class Request(NamedTuple):
    """One value: a metric, its cut-off, ranx's relevance-level suffix and its parameters."""

    name: str
    k: int | None = None
    suffix: int | None = None
    params: dict = {}

    def __str__(self):
        inside = ", ".join(f"{key}={str(value).replace(' ', '')}" for key, value in self.params.items())
        return "".join((
            self.name,
            f"({inside})" if inside else "",
            f"@{self.k}" if self.k else "",
            f"-l{self.suffix}" if self.suffix else "",
        ))  # fmt: skip

    def value(self, x, judged, rel_level=1):
        """The value for one query.

        The suffix replaces the relevance level, and labels below it lose their gain but stay judged (ranx).
        """
        level = self.suffix or rel_level
        if self.suffix:
            x = [0 if 0 <= code < level else code for code in x]
            judged = [0 if 0 <= label < level else label for label in judged]
        params = dict(self.params)
        params.pop("average", None)  # of the mean, not of the values
        if params.get("gain") == "binary":
            params["gain"] = {label: float(label >= level) for label in {*x, *judged} if label >= 0}
        if params.pop("empty_ranking", "zero") == "skip" and not x:
            return math.nan
        empty = {"one": 1.0, "skip": math.nan, "nan": math.nan}.get(params.pop("empty", "zero"))
        if empty is not None:
            worth = ideal_gains(judged, params.get("gain")) if self.name in GRADED else num_relevant(judged, level)
            if not worth:
                return empty  # nothing was judged relevant, or, for a graded metric, worth a gain
        cut = {"k": self.k} if self.k else {}
        return METRICS[self.name](x, list(judged), level, **cut, **params)


def evaluate(
    qrels, run, requests, rel_level=1, queries="qrels", ties="trec", judged_only=False, max_depth=None,
    score_dtype="float64",
):  # fmt: skip
    """{query_id: [value of each request]} in the order of the qrels; a query missing from the run ranks nothing."""
    values = {}
    for query_id, judgments in qrels.items():
        if query_id in run or queries == "qrels":
            ranked = ranking(run.get(query_id, {}), ties, score_dtype)
            x = codes(judgments, ranked, max_depth, judged_only)
            values[query_id] = [request.value(x, judgments.values(), rel_level) for request in requests]
    return values
