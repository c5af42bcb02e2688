"""PTRanking's metrics of sorted labels, from its source; a query at a time, cutoffs within the list."""

from rankings import queries

TOOL = "wildltr/ptranking f1d366cd4355fb9f38fb97cb89b224b182d9ca87, ptranking/metric/adhoc/adhoc_metric.py"
CUTOFFS = (1, 3, 8)
QUERIES = queries(7, grades=(1, 2, 3), judged_only=True)


def gain(label):
    return 2.0**label - 1.0


def dcg(labels):
    from math import log2

    return sum(gain(label) / log2(rank + 1) for rank, label in enumerate(labels, 1))


def err(labels, top):
    total, goes_on = 0.0, 1.0
    for rank, label in enumerate(labels, 1):
        stops = gain(label) / 2.0**top
        total += goes_on * stops / rank
        goes_on *= 1.0 - stops
    return total


def precisions(labels):
    hits = [min(label, 1) for label in labels]
    return [hit * sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1)]


def quotient(a, b):
    return a / b if b else float("nan")


def values(queries):
    found = {}
    for query in queries:
        labels = [query["relevant"][doc] for doc in query["retrieved"]]
        ideal = sorted(labels, reverse=True)
        for k in CUTOFFS:
            cut, best, end = labels[:k], ideal[:k], min(k, len(labels))
            relevant = sum(min(label, 1) for label in best)
            found.setdefault(f"precision@{k}", []).append(sum(min(label, 1) for label in cut) / end)
            found.setdefault(f"map@{k}", []).append(quotient(sum(precisions(cut)), relevant))
            found.setdefault(f"nerr@{k}", []).append(quotient(err(cut, ideal[0]), err(best, ideal[0])))
            found.setdefault(f"ndcg@{k}", []).append(quotient(dcg(cut), dcg(best)))
    return found
