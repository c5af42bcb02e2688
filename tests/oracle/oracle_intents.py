"""The slow truth of diversity metrics, as ndeval computes them: over documents and the subtopics that each serves.

A ranking is a list of sets, the subtopics of the document at each rank; `pool` maps each relevant document to its set.
"""

import math

from oracle_common import num_relevant


def novelty(ranking, alpha):
    """For each rank, its subtopics, each worth (1 - alpha)^(documents above that serve it)."""
    seen, values = {}, []
    for subtopics in ranking:
        values.append(sum((1 - alpha) ** seen.get(s, 0) for s in sorted(subtopics)))
        for s in subtopics:
            seen[s] = seen.get(s, 0) + 1
    return values


def greedy(pool, alpha, depth=None):
    """The ideal ranking: next comes the most novel document; of several, the one with the largest id."""
    ranking, left = [], sorted(pool, key=lambda doc: str(doc).encode(), reverse=True)
    while left and (depth is None or len(ranking) < depth):
        best = max(left, key=lambda doc: novelty([*ranking, pool[doc]], alpha)[-1])
        ranking.append(pool[best])
        left.remove(best)
    return ranking


def subtopics(pool):
    return set().union(*pool.values())


def cascade(ranking, pool, alpha, k, weight):
    number = len(subtopics(pool))
    norm = number * sum((1 - alpha) ** (i - 1) * weight(i) for i in range(1, k + 1))
    return sum(n * weight(i) for i, n in enumerate(novelty(ranking[:k], alpha), 1)) / norm if number else 0.0


def log_weight(i):
    return math.log(2) / math.log(i + 1)


def alpha_dcg(ranking, pool, k=20, alpha=0.5, rank_one="normalised"):
    return raw(ranking, k, rank_one) or cascade(ranking, pool, alpha, k, log_weight)


def err_ia(ranking, pool, k=20, alpha=0.5, rank_one="normalised"):
    return raw(ranking, k, rank_one) or cascade(ranking, pool, alpha, k, lambda i: 1 / i)


def raw(ranking, k, rank_one):
    """What ndeval prints at k = 1: how many subtopics the first document serves."""
    return float(len(ranking[0])) if ranking and k == 1 and rank_one == "raw" else 0.0


def nrbp(ranking, pool, alpha=0.5, beta=0.5):
    number = len(subtopics(pool))
    total = sum(n * beta**i for i, n in enumerate(novelty(ranking, alpha)))
    return (1 - (1 - alpha) * beta) * total / number if number else 0.0


def against_ideal(metric):
    def normalised(ranking, pool, k=None, alpha=0.5, **params):
        cut = {"k": k} if k else {}
        top = metric(greedy(pool, alpha, k or (20 if metric is not nrbp else None)), pool, alpha=alpha, **cut, **params)
        return metric(ranking, pool, alpha=alpha, **cut, **params) / top if top else 0.0

    return normalised


def map_ia(ranking, pool):
    values = []
    for s in subtopics(pool):
        ranks = [rank for rank, served in enumerate(ranking, 1) if s in served]
        values.append(sum(n / rank for n, rank in enumerate(ranks, 1)) / sum(s in served for served in pool.values()))
    return sum(values) / len(values) if values else 0.0


def p_ia(ranking, pool, k=None):
    number, depth = len(subtopics(pool)), k or len(ranking)
    return sum(map(len, ranking[:k])) / (depth * number) if number and depth else 0.0


def st_recall(ranking, pool, k=None):
    number = len(subtopics(pool))
    return len(set().union(*ranking[:k])) / number if number else 0.0


INTENTS = {
    **{f.__name__: f for f in (alpha_dcg, err_ia, nrbp, map_ia, p_ia, st_recall)},
    **{name: against_ideal(f) for name, f in (("alpha_ndcg", alpha_dcg), ("nerr_ia", err_ia), ("nnrbp", nrbp))},
}


def of_one(metric):
    """The same metric of plain qrels, which are one subtopic."""

    def plain(x, judged, level, k=None, **params):
        pool = {index: {0} for index in range(num_relevant(judged, level))}
        ranking = [{0} if code >= level else set() for code in x]
        return metric(ranking, pool, **({"k": k} if k else {}), **params)

    return plain


METRICS = {name: of_one(metric) for name, metric in INTENTS.items()}
