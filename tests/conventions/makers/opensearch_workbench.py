"""The Search Relevance Workbench: a plugin of a server, so these values are computed as its Evaluation.java says.

It rounds each value to two decimals; its threshold of relevance is 1 for labels of 0 and 1.
"""

import math

from rankings import queries

CONVENTION = "opensearch-workbench"
DIGITS = 2.3  # half a unit of the second decimal
QUERIES = queries(22, grades=(1,), repeats=False)


def VERSION():
    return "search-relevance, Evaluation at 0b75cf8"


def values(queries):
    found = {}
    for query in queries:
        for k in (1, 3, 10):
            hits = [query["relevant"].get(doc, 0) for doc in query["retrieved"]][:k]
            for name, value in evaluation(hits, query["relevant"].values(), k).items():
                found.setdefault(f"{name}@{k}", []).append(math.floor(value * 100 + 0.5) / 100)
    return found


def evaluation(hits, ratings, k):
    """The metrics of the ratings of the first k documents, 0 for one without, and of all rated documents."""
    num_rel, found = sum(rating > 0 for rating in ratings), [rank for rank, rating in enumerate(hits, 1) if rating > 0]
    ideal = dcg(sorted(ratings, reverse=True)[:k])
    return {
        "precision": len(found) / len(hits) if hits else 0.0, "recall": len(found) / num_rel if num_rel else 0.0,
        "map": sum(n / rank for n, rank in enumerate(found, 1)) / num_rel if found else 0.0,
        "mrr": 1 / found[0] if found else 0.0, "dcg": dcg(hits), "ndcg": dcg(hits) / ideal if ideal else 0.0,
    }  # fmt: skip


def dcg(ratings):
    return sum((2**rating - 1) / math.log2(rank + 1) for rank, rating in enumerate(ratings, 1))
