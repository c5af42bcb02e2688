"""Fusion by the sources' definitions, in plain Python: a few lines for each method and norm, written to be read."""

import math
import statistics


def ranked(scores):
    """The documents in rank order: the higher score first, of equal ones the larger id."""
    return sorted(scores, key=lambda doc: (scores[doc], doc), reverse=True)


def order_of(scores, norm):
    if norm == "min-max-inverted":
        scores = {doc: -score for doc, score in scores.items()}
    return ranked(scores)


def normed(norm, scores, candidates):
    """The scores of one ranking after a norm."""
    values, order = list(scores.values()), order_of(scores, norm)
    if norm == "borda":
        lacking = 0.5 - (len(order) - 1) / (2 * max(len(candidates), 1))
        return {doc: 1 - order.index(doc) / len(candidates) if doc in scores else lacking for doc in candidates}
    if norm is None or not values:
        return dict(scores)
    low, high, mean = min(values), max(values), sum(values) / len(values)
    by_name = {
        "min-max": lambda s: (s - low) / max(high - low, 1e-9),
        "min-max-inverted": lambda s: (high - s) / max(high - low, 1e-9),
        "max": lambda s: s / max(high, 1e-9),
        "sum": lambda s: (s - low) / max(sum(values) - low * len(values), 1e-9),
        "zmuv": lambda s: (s - mean) / max(statistics.pstdev(values), 1e-9),
    }
    if norm == "rank":
        return {doc: 1 - place / len(order) for place, doc in enumerate(order)}
    return {doc: by_name[norm](score) for doc, score in scores.items()}


def fused(method, norm, rankings, weights=None, **params):
    """{doc: score} of one query, from {doc: score} of each run."""
    candidates = sorted({doc for scores in rankings for doc in scores}, reverse=True)
    weights = weights or [1.0] * len(rankings)
    orders = [order_of(scores, norm) for scores in rankings]
    scores = [normed(norm, each, candidates) for each in rankings]
    if "condorcet" in method:
        return by_majority(candidates, orders, weights)
    return {doc: METHODS[method](doc, scores, orders, weights, len(candidates), params) for doc in candidates}


def had(doc, scores):
    return [each[doc] for each in scores if doc in each]


def by_rank(worth):
    """A sum over runs of what the document's rank is worth there."""

    def method(doc, scores, orders, weights, m, params):
        places = [order.index(doc) + 1 if doc in order else None for order in orders]
        return sum(w * worth(i, params) for w, i in zip(weights, places, strict=True) if i is not None)

    return method


def inverse_squares(factor):
    def method(doc, scores, orders, weights, m, params):
        places = [order.index(doc) + 1 for order in orders if doc in order]
        return sum(1 / i**2 for i in places) * factor(len(places), params)

    return method


def by_score(combine):
    return lambda doc, scores, orders, weights, m, params: combine(had(doc, scores), params)


def wsum(doc, scores, orders, weights, m, params):
    return sum(w * each.get(doc, 0) for w, each in zip(weights, scores, strict=True))


def mixed(doc, scores, orders, weights, m, params):
    return wsum(doc, scores, orders, weights, m, params) * math.sqrt(len(had(doc, scores)))


def wmnz(doc, scores, orders, weights, m, params):
    return sum(had(doc, scores)) * sum(w for w, each in zip(weights, scores, strict=True) if doc in each)


def borda(doc, scores, orders, weights, m, params):
    points = [m - order.index(doc) if doc in order else (m - len(order) + 1) / 2 for order in orders]
    return sum(w * p for w, p in zip(weights, points, strict=True))


def of_table(doc, scores, orders, weights, m, params):
    (lists,) = params.values()
    absent = math.log(0.001 / 0.999) if "log_odds" in params else 0
    total = 0
    for values, order in zip(lists, orders, strict=True):
        place = order.index(doc) if doc in order else len(values)
        total += values[place] if place < len(values) else absent
    return total


def mapfuse(doc, scores, orders, weights, m, params):
    aps = params["map_scores"]
    return sum(ap / (order.index(doc) + 1) for ap, order in zip(aps, orders, strict=True) if doc in order)


def probfuse(doc, scores, orders, weights, m, params):
    total = 0
    for probs, order in zip(params["probs"], orders, strict=True):
        if doc in order:
            part = order.index(doc) // math.ceil(len(order) / len(probs))
            total += probs[part] / (part + 1)
    return total


def segfuse(doc, scores, orders, weights, m, params):
    total, ends = 0, [10 * 2**k - 5 for k in range(10)]
    for probs, order, each in zip(params["probs"], orders, scores, strict=True):
        if doc in order:
            total += probs[sum(end <= order.index(doc) for end in ends)] * (each[doc] + 1)
    return total


def slidefuse(doc, scores, orders, weights, m, params):
    total, w = 0, params["w"]
    for probs, order in zip(params["probs"], orders, strict=True):
        if doc in order:
            first, last = max(order.index(doc) - w, 0), min(order.index(doc) + w, len(order) - 1)
            total += sum(probs[first : last + 1]) / (last - first + 1)
    return total


def by_majority(candidates, orders, weights):
    """Documents by Borda points, then merged by who wins against whom."""

    def place(order, doc):
        return order.index(doc) if doc in order else len(order)

    def lead(a, b):
        return sum(
            w * ((place(o, a) < place(o, b)) - (place(o, a) > place(o, b)))
            for w, o in zip(weights, orders, strict=True)
        )

    def merge(docs):
        if len(docs) < 2:
            return docs
        left, right = merge(docs[: len(docs) // 2]), merge(docs[len(docs) // 2 :])
        merged = []
        while left and right:
            merged.append(right.pop(0) if lead(right[0], left[0]) > 0 else left.pop(0))
        return merged + left + right

    points = {doc: borda(doc, None, orders, weights, len(candidates), {}) for doc in candidates}
    docs = merge(sorted(candidates, key=lambda doc: (points[doc], doc), reverse=True))
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


METHODS = {
    "sum": by_score(lambda s, p: sum(s)), "min": by_score(lambda s, p: min(s)),
    "max": by_score(lambda s, p: max(s)), "med": by_score(lambda s, p: statistics.median(s)),
    "anz": by_score(lambda s, p: sum(s) / len(s)), "mnz": by_score(lambda s, p: sum(s) * len(s)),
    "gmnz": by_score(lambda s, p: sum(s) * len(s) ** p["gamma"]), "isr": inverse_squares(lambda c, p: c),
    "log_isr": inverse_squares(lambda c, p: math.log(c)),
    "logn_isr": inverse_squares(lambda c, p: math.log(c + p["sigma"])),
    "rrf": by_rank(lambda i, p: 1 / (p["k"] + i)),
    "rbc": by_rank(lambda i, p: (1 - p["phi"]) * p["phi"] ** (i - 1)), "wsum": wsum, "mixed": mixed,
    "wmnz": wmnz, "bordafuse": borda, "w_bordafuse": borda, "posfuse": of_table, "bayesfuse": of_table,
    "mapfuse": mapfuse, "probfuse": probfuse, "segfuse": segfuse, "slidefuse": slidefuse,
}  # fmt: skip
