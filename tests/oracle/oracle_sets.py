"""The slow truth, continued: what else trec_eval and ir_measures make of relevant or not, and of recall points.

`x`, `judged`, `level` and `k` are those of oracle.py.
"""

import itertools
import math
import statistics
from fractions import Fraction

from oracle_common import gains, ideal_gains, num_relevant

EPSILON = 1e-5


def relevant_ranks(x, level):
    return [rank for rank, code in enumerate(x, 1) if code >= level]


def num_nonrel_judged_ret(x, judged, level):
    return sum(0 <= code < level for code in x)


def relative_precision(x, judged, level, k=None):
    """trec_eval relative_P, set_relative_P; BEIR R_cap."""
    best = min(k or len(x), num_relevant(judged, level))
    return sum(code >= level for code in x[:k]) / best if best else 0.0


def set_f(px, judged, level, k=None, x=1, f_weight="x"):
    """trec_eval set_F; its parameter is not beta but its square."""
    x = Fraction(x) ** 2 if f_weight == "beta" else x
    found, relevant = sum(code >= level for code in px[:k]), num_relevant(judged, level)
    if not found:
        return 0.0
    p, r = Fraction(found, k or len(px)), Fraction(found, relevant)
    return float((Fraction(x) + 1) * p * r / (r + Fraction(x) * p))


def f_beta(x, judged, level, k=None, beta=1):
    """van Rijsbergen 1979."""
    return set_f(x, judged, level, k, Fraction(beta) ** 2)


def set_map(x, judged, level):
    found, relevant = sum(code >= level for code in x), num_relevant(judged, level)
    return found**2 / (len(x) * relevant) if found else 0.0


def utility(x, judged, level, p1=1, p2=-1, p3=0, p4=0, n_docs=0):
    """trec_eval: the contingency table, each cell with its worth."""
    n, found, relevant = len(x), sum(code >= level for code in x), num_relevant(judged, level)
    return p1 * found + p2 * (n - found) + p3 * (relevant - found) + p4 * (n_docs + found - n - relevant)


def average_precision(x, judged, level, k=None):
    relevant = num_relevant(judged, level)
    found = relevant_ranks(x[:k], level)
    return sum(number / rank for number, rank in enumerate(found, 1)) / relevant if relevant else 0.0


def gm_map(x, judged, level):
    return max(average_precision(x, judged, level), 1e-5)


def r_precision_mult(codes, judged, level, x=1):
    """trec_eval Rprec_mult: the old rounding, which is almost up."""
    depth = int(x * num_relevant(judged, level) + 0.9)
    return sum(code >= level for code in codes[:depth]) / depth if depth else 0.0


def yaap(x, judged, level):
    relevant = num_relevant(judged, level)
    total = relevant * average_precision(x, judged, level)
    return math.log((1 + total) / (1 + relevant - total))


def bin_g(x, judged, level):
    relevant = num_relevant(judged, level)
    found = relevant_ranks(x, level)
    total = sum(1 / math.log2(2 + rank - number) for number, rank in enumerate(found, 1))
    return total / relevant if relevant else 0.0


def pair_accuracy(x, judged, level, k=None, no_hit="skip"):
    """ir_measures Accuracy, by looking at every pair; RePlay has 0 where no relevant document is found."""
    good = [rank for rank, code in enumerate(x[:k]) if code >= level]
    bad = [rank for rank, code in enumerate(x[:k]) if code < level]
    if not good:
        return 0.0 if no_hit == "zero" else math.nan
    return sum(a < b for a in good for b in bad) / (len(good) * len(bad)) if bad else 1.0


def auc(x, judged, level, k=None, one_class="skip"):
    """Hanley and McNeil 1982: how many of the pairs of a relevant document and another are in the right order."""
    found, n = len(relevant_ranks(x[:k], level)), len(x[:k])
    if found in (0, n):
        return math.nan if one_class == "skip" else 0.0
    return pair_accuracy(x, judged, level, k)


def mean_rank(x, judged, level):
    """Lin et al. 2015: the mean of the relevant documents' ranks."""
    ranks = relevant_ranks(x, level)
    return sum(ranks) / len(ranks) if ranks else math.nan


def recall_all(x, judged, level, k=None):
    """LongMemEval: whether all relevant documents are among the first k; at least one there must be."""
    relevant = num_relevant(judged, level)
    return float(0 < relevant == len(relevant_ranks(x[:k], level)))


def over_ranks(function):
    """A metric that is this function of the relevant documents' ranks, NaN (or 0) without one."""

    def metric(x, judged, level, no_hit="skip"):
        ranks = relevant_ranks(x, level)
        return function(ranks) if ranks else 0.0 if no_hit == "zero" else math.nan

    return metric


def amr(x, judged, level):
    """Berrendorf et al. 2020: over what a random order is expected to have."""
    return mean_rank(x, judged, level) / statistics.mean(range(1, len(x) + 1)) if x else math.nan


def amri(x, judged, level):
    """Berrendorf et al. 2020: 1 at best, 0 for a random order; PyKEEN has 0 for a single candidate."""
    if not relevant_ranks(x, level):
        return math.nan
    expected = statistics.mean(range(1, len(x) + 1))
    return 1 - (mean_rank(x, judged, level) - 1) / (expected - 1) if expected > 1 else 0.0


# ---- technology-assisted review ----------------------------------------------------------------------------------
def in_collection(judged, n_docs):
    """How many documents there are: as many as somebody says, or those of the qrels."""
    return sum(label >= 0 for label in judged) if n_docs == "judged" else n_docs


def wss(x, judged, level, target=0.95, wanted="up", n_docs=None):
    """Cohen et al. 2006: the share that is not read where the recall is reached, over what sampling would leave."""
    size, relevant = in_collection(judged, n_docs), num_relevant(judged, level)
    need = (round if wanted == "nearest" else math.ceil)(Fraction(str(target)) * relevant)
    found = [0, *relevant_ranks(x, level)]
    read = found[need] if need < len(found) else size
    return (size - read) / size - (1 - target) if relevant else 0.0


def ncg_share(x, judged, level, share=0.1, n_docs=None):
    """tar_eval: the relevant documents that are found where such a share is read."""
    depth, relevant = round(in_collection(judged, n_docs) * share), num_relevant(judged, level)
    return len(relevant_ranks(x[:depth], level)) / relevant if relevant else 0.0


def hit_rate_share(x, judged, level, share=0.1, n_docs=None):
    """Whether a relevant document is among such a share of the candidates."""
    depth = round(in_collection(judged, n_docs) * share)
    return float(bool(relevant_ranks(x[:depth], level)))


def loss_er(x, judged, level, k=None, b=100.0, n_docs=None):
    """Cormack and Grossman 2015, as tar_eval: squared losses of recall and of effort."""
    size, relevant, shown = in_collection(judged, n_docs), num_relevant(judged, level), x[:k]
    found = len(relevant_ranks(shown, level)) / relevant if relevant else 0
    effort = (b / size) ** 2 * (len(shown) / (relevant + b)) ** 2 if size else 0
    return (1 - found) ** 2 + effort


def fallout(x, judged, level, k=None, n_docs=None):
    """van Rijsbergen 1974: the share of what is not relevant that is retrieved."""
    others = in_collection(judged, n_docs) - num_relevant(judged, level)
    return sum(code < level for code in x[:k]) / others if others else 0.0


# ---- learning to rank, multilabel classification, NTCIR ----------------------------------------------------------
def arp(x, judged, level):
    """TF-Ranking: the mean position, weighted by the labels."""
    total = sum(gains(x))
    return sum(gain * rank for rank, gain in enumerate(gains(x), 1)) / total if total else math.nan


def label_ranking_loss(x, judged, level):
    """Tsoumakas et al. 2010: the share of pairs in the wrong order; scikit-learn has 0 where there is none."""
    right = pair_accuracy(x, judged, level)
    return 1 - right if relevant_ranks(x, level) else 0.0


def pfound(x, judged, level, k=None, decay=0.85, max_grade=4):
    """CatBoost: a reader finds it here, or goes on with the chance `decay`."""
    top = max(0, *judged, 0) if max_grade == "query" else max_grade
    look, total = 1.0, 0.0
    for gain in gains(x[:k]):
        found = gain / top if gain else 0.0
        total += look * found
        look *= (1 - found) * decay
    return total


def q_measure(x, judged, level, beta=1.0, gain="linear"):
    """Sakai 2007: precision and cumulative gain together, blended by beta."""
    own, best = gains(x, gain), ideal_gains(judged, gain)
    found = [rank for rank, value in enumerate(own, 1) if value > 0]
    cumulated = list(itertools.accumulate(max(value, 0) for value in own))
    cumulated_best = list(itertools.accumulate(best + [0] * len(own)))
    total = 0.0
    for number, rank in enumerate(found, 1):
        total += (number + beta * cumulated[rank - 1]) / (rank + beta * cumulated_best[rank - 1])
    return total / len(best) if best else 0.0


# ---- recall points -------------------------------------------------------------------------------------------------
def iprec(x, judged, level, recall=0.0, rounding="v10", unranked="zero"):
    """trec_eval iprec_at_recall, which divides 0 by 0 where nothing is ranked and nothing is wanted."""
    product = recall * num_relevant(judged, level)
    exact = Fraction(product)
    wanted = math.floor(exact + Fraction(1, 2)) if rounding == "v10" else int(product + 0.9)
    if unranked == "nan" and not x and not wanted:
        return math.nan
    found = relevant_ranks(x, level)
    precisions = [number / rank for number, rank in enumerate(found, 1)]
    return max(precisions[max(wanted - 1, 0) :], default=0.0)


def iprec_avg(x, judged, level, points=tuple(point / 10 for point in range(11)), rounding="v10", unranked="zero"):
    return sum(iprec(x, judged, level, point, rounding, unranked) for point in sorted(points)) / len(points)


# ---- incomplete judgments, coverage --------------------------------------------------------------------------------
def gm_bpref(x, judged, level):
    from oracle import bpref

    return max(bpref(x, judged, level), 1e-5)


def inf_ap(x, judged, level):
    """Yilmaz and Aslam 2006 as in trec_eval."""
    total = 0.0
    for index, code in enumerate(x):
        if code >= level:
            above = x[:index]
            a, b = sum(c >= level for c in above), sum(0 <= c < level for c in above)
            u = sum(c <= -2 for c in above)
            rank = index + 1
            share = (a + b + u) / index * (a + EPSILON) / (a + b + 2 * EPSILON) if index else 0
            total += 1 / rank + index / rank * share
    relevant = num_relevant(judged, level)
    return total / relevant if relevant else 0.0


def unjudged(x, judged, level, k=None):
    return sum(code < 0 for code in x[:k]) / (k or len(x)) if x else 0.0


def judged_share(x, judged, level, k=None):
    return sum(code != -1 for code in x[:k]) / len(x[:k]) if x else 0.0


METRICS = {
    **{f.__name__: f for f in (num_nonrel_judged_ret, relative_precision, set_f, f_beta, set_map, utility, gm_map)},
    **{f.__name__: f for f in (r_precision_mult, yaap, bin_g, pair_accuracy, iprec, iprec_avg, gm_bpref, inf_ap)},
    "auc": auc, "mean_rank": mean_rank, "recall_all": recall_all, "first_rel": over_ranks(min),
    "last_rel": over_ranks(max), "median_rank": over_ranks(statistics.median),
    "gmean_rank": over_ranks(statistics.geometric_mean), "hmean_rank": over_ranks(statistics.harmonic_mean),
    "amr": amr, "amri": amri, "hit_rate_share": hit_rate_share,
    **{f.__name__: f for f in (wss, ncg_share, loss_er, fallout, arp, label_ranking_loss, pfound, q_measure)},
    "unjudged": unjudged, "hole": unjudged, "judged": judged_share, "map_avgjg": average_precision,
    "precision_avgjg": lambda x, judged, level, k=None: (
        sum(code >= level for code in x[:k]) / (k or len(x)) if x else 0.0
    ),
    "r_precision_mult_avgjg": r_precision_mult,
}  # fmt: skip
