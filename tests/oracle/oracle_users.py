"""The slow truth, continued: graded sums of trec_eval, and models of a reader (C/W/L, residuals, compatibility).

`x`, `judged`, `level` and `k` are those of oracle.py.
"""

import math
import operator

from oracle_common import best_first, discounted, gains, ideal_gains, num_relevant


# ---- trec_eval's graded metrics ------------------------------------------------------------------------------------
def ideal_dcg(x, judged, level, k=None, gain="linear", discount="log2", ideal="judged"):
    best = ideal_gains(x if ideal == "retrieved" else judged, gain)
    return discounted(best_first(best, x, k, ideal), discount)


def ndcg_rel(x, judged, level, gain="linear"):
    values, best = gains(x, gain), ideal_gains(judged, gain)
    m = len(best)
    if not m:
        return 0.0
    ranks = [rank for rank, value in enumerate(values, 1) if value > 0]
    total = sum(discounted(values[:i]) / discounted(best[:i]) for i in ranks)
    total += (m - len(ranks)) * discounted(values) / discounted(best)
    return max(total / m, 0.0)


def r_ndcg(x, judged, level, gain="linear"):
    values, best = gains(x, gain), ideal_gains(judged, gain)
    m = len(best)
    if not m or not num_relevant(judged, level):
        return 0.0
    points = [p for p in range(1, m + 1) if p == m or best[p - 1] != best[p]]
    terms = [discounted(values[:p]) / discounted(best[:p]) for p in points]
    if len(x) >= m + 2:
        terms.append(discounted(values) / discounted(best))
    return sum(terms) / len(terms)


def g(x, judged, level, gain="linear"):
    values, best = gains(x, gain), ideal_gains(judged, gain)
    total = 0.0
    for i, value in enumerate(values, 1):
        if value:
            cost = sum(max(best[j], 1) if j < len(best) else 1 for j in range(i))
            total += value / math.log2(2 + max(cost - sum(values[:i]), 0))
    return total / sum(best) if best else 0.0


# ---- residual of rbp -----------------------------------------------------------------------------------------------
def rbp_resid(x, judged, level, k=None, p=0.9, tail="unjudged"):
    x = x[:k]
    open_ranks = [rank for rank, code in enumerate(x) if code < 0]
    if not open_ranks and tail == "unjudged":
        return 0.0
    return p ** len(x) + (1 - p) * sum(p**rank for rank in open_ranks)


# ---- C/W/L (Moffat, Bailey, Scholer and Thomas 2017) ---------------------------------------------------------------
DEPTH = 1000


def cwl(x, max_rel, min_rel, go_on):
    """Expected gain per document read; go_on(i, gain, sum of gains) is the chance to go from rank i to i + 1."""
    scaled = [(min(max(code, 0, min_rel), max_rel) - min_rel) / (max_rel - min_rel) for code in x[:DEPTH]]
    weights, total = [1.0], 0.0
    for i, gain in enumerate((scaled + [0.0] * DEPTH)[: DEPTH - 1], 1):
        total += gain
        weights.append(weights[-1] * go_on(i, gain, total))
        if not weights[-1]:
            break  # nobody reads on
    return sum(map(operator.mul, weights, scaled)) / math.fsum(weights)


def insq(x, judged, level, max_rel=1, min_rel=0, T=1):
    return cwl(x, max_rel, min_rel, lambda i, gain, total: ((i + 2 * T - 1) / (i + 2 * T)) ** 2)


def inst(x, judged, level, max_rel=1, min_rel=0, T=1):
    return cwl(x, max_rel, min_rel, lambda i, gain, total: ((i + 2 * T - total - 1) / (i + 2 * T - total)) ** 2)


def bpm(x, judged, level, k=None, max_rel=1, min_rel=0, T=1):
    return cwl(x, max_rel, min_rel, lambda i, gain, total: float(total < T and i < (k or DEPTH)))


def sdcg(x, judged, level, k=None, max_rel=1, min_rel=0):
    return cwl(x, max_rel, min_rel, lambda i, *_: (i < (k or DEPTH)) * math.log2(i + 1) / math.log2(i + 2))


def nerr8(x, judged, level, k=None, max_rel=1, min_rel=0):
    return cwl(x, max_rel, min_rel, lambda i, gain, _: (i < (k or DEPTH)) * (1 - gain))


def nerr9(x, judged, level, k=None, max_rel=1, min_rel=0):
    return cwl(x, max_rel, min_rel, lambda i, gain, _: (i < (k or DEPTH)) * i / (i + 1) * (1 - gain))


def nerr10(x, judged, level, max_rel=1, min_rel=0, p=0.9):
    return cwl(x, max_rel, min_rel, lambda i, gain, _: p * (1 - gain))


def nerr11(x, judged, level, max_rel=1, min_rel=0, T=1):
    return cwl(x, max_rel, min_rel, lambda i, gain, _: ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - gain))


def tbg(x, judged, level, max_rel=1, min_rel=0, h=224):
    return cwl(x, max_rel, min_rel, lambda i, *_: 2 ** (-1 / h))


def u_measure(x, judged, level, max_rel=1, min_rel=0, L=1000):
    def weight(i):
        return max(0.0, 1 - (i - 1) / L) if i < DEPTH else 0.0

    return cwl(x, max_rel, min_rel, lambda i, *_: weight(i + 1) / weight(i) if weight(i) else 0.0)


# ---- compatibility (Clarke et al. 2020) ----------------------------------------------------------------------------
def compat(x, judged, level, p=0.95, depth="max", normalize="true"):
    """Rank-biased overlap of two lists of documents: a retrieved one is its rank, another has a name of its own."""
    retrieved = list(enumerate(x, 1))
    labels = [label for label in judged if label > 0]
    for _, code in retrieved:
        if code > 0:
            labels.remove(code)
    ideal = [*(pair for pair in retrieved if pair[1] > 0), *((f"not retrieved {i}", v) for i, v in enumerate(labels))]
    ideal = [name for name, _ in sorted(ideal, key=lambda pair: -pair[1])]
    run = [rank for rank, _ in retrieved]
    if not ideal or not run:
        return 0.0
    depths = range(1, (max(len(run), len(ideal)) if depth == "max" else depth) + 1)

    def overlap(a, b):
        return sum(p ** (d - 1) * len(set(a[:d]) & set(b[:d])) / d for d in depths)

    top = overlap(ideal, ideal) if normalize == "true" else sum(p ** (d - 1) for d in depths)
    return overlap(run, ideal) / top


METRICS = {
    **{f.__name__: f for f in (ideal_dcg, ndcg_rel, r_ndcg, g, rbp_resid, insq, inst, bpm, sdcg, nerr8, nerr9, nerr10)},
    **{f.__name__: f for f in (nerr11, tbg, u_measure, compat)},
}
GRADED = tuple(name for name in METRICS if name != "rbp_resid")
