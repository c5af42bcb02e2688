"""TF-Ranking's Keras metrics of the whole list and its first documents, from their source; all weights are 1."""

from math import log2

from rankings import queries

CONVENTION = "tf-ranking"
CUTOFFS = (1, 3, 8)
QUERIES = queries(8, grades=(1, 2, 3), judged_only=True)


def VERSION():
    return "tensorflow-ranking 0.5.5, tensorflow_ranking/python/metrics_impl.py"


def dcg(labels):
    return sum((2.0**label - 1.0) / log2(rank + 1) for rank, label in enumerate(labels, 1))


def quotient(a, b):
    return a / b if b else 0.0


def bpref(labels):
    n_relevant = sum(label >= 1 for label in labels)
    bound = min(n_relevant, len(labels) - n_relevant)
    total, above = 0.0, 0
    for label in labels:
        if label >= 1:
            total += 1.0 - quotient(min(above, n_relevant), bound)
        above += label < 1
    return quotient(total, n_relevant)


def values(queries):
    found = {}
    for query in queries:
        labels = [query["relevant"][doc] for doc in query["retrieved"]]
        hits = [label >= 1 for label in labels]
        n_relevant, ideal = sum(hits), sorted(labels, reverse=True)
        found.setdefault("bpref", []).append(bpref(labels))
        for k in CUTOFFS:
            cut = hits[:k]
            precisions = sum(hit * sum(cut[:rank]) / rank for rank, hit in enumerate(cut, 1))
            of_k = {
                "mrr": max(hit / rank for rank, hit in enumerate(cut, 1)), "hit_rate": float(any(cut)),
                "precision": sum(cut) / min(k, len(labels)), "recall": quotient(sum(cut), n_relevant),
                "map": quotient(precisions, n_relevant), "ndcg": quotient(dcg(labels[:k]), dcg(ideal[:k])),
            }  # fmt: skip
            for name, value in of_k.items():
                found.setdefault(f"{name}@{k}", []).append(value)
    return found
